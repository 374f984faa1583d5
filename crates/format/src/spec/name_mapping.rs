//! Name mappings: field ids for data files written without them (spec, "Name Mapping Serialization").

use serde::{Deserialize, Serialize};

use super::types::FieldId;

/// The table property that holds the mapping.
pub const DEFAULT_NAME_MAPPING: &str = "schema.name-mapping.default";

/// Names by which fields of files without ids are found. An empty mapping maps nothing: every column is null.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct NameMapping {
    /// Top-level fields.
    pub fields: Vec<MappedField>,
}

/// The names of one field.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct MappedField {
    /// The field id; `None` maps the names to nothing.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub field_id: Option<FieldId>,
    /// The names.
    #[serde(default)]
    pub names: Vec<String>,
    /// Fields below.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<MappedField>,
}
