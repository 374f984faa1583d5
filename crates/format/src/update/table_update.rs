//! Updates and requirements of tables, as the REST catalog's `UpdateTableRequest` names them.

use crate::spec::partition::PartitionSpec;
use crate::spec::schema::Schema;
use crate::spec::snapshot::{Properties, Snapshot, SnapshotRef};
use crate::spec::sort::SortOrder;
use crate::spec::table_metadata::{EncryptedKey, FormatVersion, PartitionStatisticsFile, StatisticsFile};
use crate::spec::types::FieldId;

/// The id that stands for the schema, spec or order added last by an earlier update of the same commit.
pub const LAST_ADDED: i32 = -1;

/// One change of table metadata.
#[derive(Debug, Clone, PartialEq)]
pub enum TableUpdate {
    /// Sets the uuid; only on a table that has none.
    AssignUuid(uuid::Uuid),
    /// Raises the format version.
    UpgradeFormatVersion(FormatVersion),
    /// Adds a schema. An equal one already there is reused. Its id is chosen by the builder.
    AddSchema(Schema),
    /// Makes a schema current; [`LAST_ADDED`] allowed.
    SetCurrentSchema(i32),
    /// Adds a partition spec. An equal one is reused. Its id is chosen by the builder.
    AddSpec(PartitionSpec),
    /// Makes a spec the default; [`LAST_ADDED`] allowed.
    SetDefaultSpec(i32),
    /// Adds a sort order. An equal one is reused. Its id is chosen by the builder.
    AddSortOrder(SortOrder),
    /// Makes an order the default; [`LAST_ADDED`] allowed.
    SetDefaultSortOrder(i32),
    /// Adds a snapshot, on no branch yet.
    AddSnapshot(Snapshot),
    /// Sets a branch or tag.
    SetSnapshotRef {
        /// Name of the ref.
        name: String,
        /// What it points to.
        reference: SnapshotRef,
    },
    /// Removes snapshots and the refs to them.
    RemoveSnapshots(Vec<i64>),
    /// Removes a ref.
    RemoveSnapshotRef(String),
    /// Sets the base location.
    SetLocation(String),
    /// Sets properties.
    SetProperties(Properties),
    /// Removes properties.
    RemoveProperties(Vec<String>),
    /// Sets the statistics file of a snapshot.
    SetStatistics(StatisticsFile),
    /// Removes the statistics file of a snapshot.
    RemoveStatistics(i64),
    /// Sets the partition statistics file of a snapshot.
    SetPartitionStatistics(PartitionStatisticsFile),
    /// Removes the partition statistics file of a snapshot.
    RemovePartitionStatistics(i64),
    /// Removes specs that no file uses.
    RemovePartitionSpecs(Vec<i32>),
    /// Removes schemas that no snapshot uses.
    RemoveSchemas(Vec<i32>),
    /// Adds an encryption key.
    AddEncryptionKey(EncryptedKey),
    /// Removes an encryption key.
    RemoveEncryptionKey(String),
}

/// What must hold of a table before a change is applied.
#[derive(Debug, Clone, PartialEq)]
pub enum TableRequirement {
    /// The table must not exist.
    NotExist,
    /// The uuid must be this.
    UuidMatch(uuid::Uuid),
    /// The ref must point to this snapshot; `None`: it must not exist.
    RefSnapshotIdMatch {
        /// Name of the ref.
        name: String,
        /// The snapshot.
        snapshot_id: Option<i64>,
    },
    /// The highest column id must be this.
    LastAssignedFieldIdMatch(FieldId),
    /// The current schema must be this.
    CurrentSchemaIdMatch(i32),
    /// The highest partition field id must be this.
    LastAssignedPartitionIdMatch(FieldId),
    /// The default spec must be this.
    DefaultSpecIdMatch(i32),
    /// The default sort order must be this.
    DefaultSortOrderIdMatch(i32),
}
