//! View metadata (view spec). The JSON form is in [`super::view_metadata_json`].

use std::sync::Arc;

use serde_json::{Map as JsonMap, Value as Json};

use super::schema::SchemaRef;
use super::snapshot::Properties;
use super::unknown_fields::UnknownFields;

/// The state of a view.
#[derive(Debug, Clone, PartialEq)]
pub struct ViewMetadata {
    /// Stable id.
    pub view_uuid: uuid::Uuid,
    /// Version of the view format; 1 is the only one.
    pub format_version: i32,
    /// Base location.
    pub location: String,
    /// All schemas.
    pub schemas: Vec<SchemaRef>,
    /// Id of the current version.
    pub current_version_id: i32,
    /// Kept versions.
    pub versions: Vec<Arc<ViewVersion>>,
    /// Changes of the current version, oldest first.
    pub version_log: Vec<ViewVersionLogEntry>,
    /// Properties.
    pub properties: Properties,
    /// Fields this version of the engine does not know, kept as read.
    pub extra: UnknownFields,
}

/// One definition of a view.
#[derive(Debug, Clone, PartialEq)]
pub struct ViewVersion {
    /// Id.
    pub version_id: i32,
    /// Id of the schema of its result.
    pub schema_id: i32,
    /// Creation time, milliseconds since epoch.
    pub timestamp_ms: i64,
    /// Facts about its creation, such as `engine-name`.
    pub summary: Properties,
    /// The definition in one or more dialects.
    pub representations: Vec<ViewRepresentation>,
    /// Catalog of names without one; `None` is the view's own.
    pub default_catalog: Option<String>,
    /// Namespace of names without one.
    pub default_namespace: Vec<String>,
    /// Fields this version of the engine does not know, kept as read.
    pub extra: UnknownFields,
}

/// A definition in one dialect.
#[derive(Debug, Clone, PartialEq)]
pub enum ViewRepresentation {
    /// SQL text.
    Sql {
        /// The SELECT statement.
        sql: String,
        /// Its dialect, such as `spark`.
        dialect: String,
        /// Fields this version of the engine does not know, kept as read.
        extra: UnknownFields,
    },
    /// A representation of a type we don't know, kept as read.
    Other(JsonMap<String, Json>),
}

/// The current version changed at this time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ViewVersionLogEntry {
    /// The version that became current.
    pub version_id: i32,
    /// Milliseconds since epoch.
    pub timestamp_ms: i64,
    /// Fields this version of the engine does not know, kept as read.
    pub extra: UnknownFields,
}

impl ViewMetadata {
    /// The version of this id.
    pub fn version_by_id(&self, version_id: i32) -> Option<&Arc<ViewVersion>> {
        self.versions.iter().find(|v| v.version_id == version_id)
    }

    /// The current version. The reader and the builder make sure that it exists.
    pub fn current_version(&self) -> &Arc<ViewVersion> {
        self.version_by_id(self.current_version_id).unwrap_or(&self.versions[0])
    }

    /// The schema of this id.
    pub fn schema_by_id(&self, schema_id: i32) -> Option<&SchemaRef> {
        self.schemas.iter().find(|s| s.schema_id() == schema_id)
    }
}
