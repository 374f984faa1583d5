//! Sort orders (spec, "Sorting").

use serde::{Deserialize, Serialize};

use super::types::FieldId;
use super::unknown_fields::UnknownFields;
use crate::transform::Transform;

/// Ascending or descending.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum SortDirection {
    Asc,
    Desc,
}

/// Where nulls go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum NullOrder {
    #[serde(rename = "nulls-first")]
    First,
    #[serde(rename = "nulls-last")]
    Last,
}

/// One field of a sort order.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SortField {
    /// The source column ids, see [`super::partition::PartitionField::source_ids`].
    pub source_ids: Vec<FieldId>,
    /// The transform.
    pub transform: Transform,
    /// The direction.
    pub direction: SortDirection,
    /// Where nulls go.
    pub null_order: NullOrder,
    /// Fields this version of the engine does not know, kept as read.
    pub extra: UnknownFields,
}

/// How rows are sorted inside a file. Order 0 is always unsorted.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct SortOrder {
    /// Id, unique in the table; 0 means unsorted.
    pub order_id: i32,
    /// Fields, most significant first.
    pub fields: Vec<SortField>,
    /// Fields this version of the engine does not know, kept as read.
    pub extra: UnknownFields,
}

impl SortOrder {
    /// Order 0.
    pub fn unsorted() -> Self {
        SortOrder::default()
    }

    /// Whether it orders nothing.
    pub fn is_unsorted(&self) -> bool {
        self.fields.is_empty()
    }
}
