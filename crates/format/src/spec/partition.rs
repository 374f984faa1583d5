//! Partition specs (spec, "Partitioning").

use super::types::FieldId;
use super::unknown_fields::UnknownFields;
use crate::transform::Transform;

/// The first id given to partition fields.
pub const PARTITION_FIELD_ID_START: FieldId = 1000;

/// One field of a partition spec.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PartitionField {
    /// The source column ids. All known transforms take exactly one; v3 allows several (`source-ids`).
    pub source_ids: Vec<FieldId>,
    /// Id of the partition field, unique in a table over all specs.
    pub field_id: FieldId,
    /// Name, unique in the spec.
    pub name: String,
    /// The transform.
    pub transform: Transform,
    /// Fields this version of the engine does not know, kept as read.
    pub extra: UnknownFields,
}

impl PartitionField {
    /// The single source column id; `None` for a multi-argument transform.
    pub fn source_id(&self) -> Option<FieldId> {
        match self.source_ids.as_slice() {
            [id] => Some(*id),
            _ => None,
        }
    }
}

/// How rows are grouped into files.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct PartitionSpec {
    /// Id, unique in the table.
    pub spec_id: i32,
    /// Fields in order of the partition tuple.
    pub fields: Vec<PartitionField>,
    /// Fields this version of the engine does not know, kept as read.
    pub extra: UnknownFields,
}

impl PartitionSpec {
    /// Spec 0 without fields.
    pub fn unpartitioned() -> Self {
        PartitionSpec::default()
    }

    /// Whether no field partitions anything (no fields, or only void ones).
    pub fn is_unpartitioned(&self) -> bool {
        self.fields.iter().all(|f| f.transform == Transform::Void)
    }
}
