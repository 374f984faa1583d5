//! Table metadata (spec, "Table Metadata"): the whole state of a table as one immutable value.
//!
//! The JSON form is in `super::table_metadata_json`; changes are made only by
//! [`crate::update::MetadataBuilder`], which keeps the spec's writer rules.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::Arc;

use super::partition::PartitionSpec;
use super::schema::SchemaRef;
use super::snapshot::{MAIN_BRANCH, Properties, Snapshot, SnapshotRef};
use super::sort::SortOrder;
use super::types::FieldId;
use super::unknown_fields::UnknownFields;

/// Version of the table format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs)]
pub enum FormatVersion {
    V1 = 1,
    V2 = 2,
    V3 = 3,
}

impl FormatVersion {
    /// The version of this number, if known.
    pub fn from_number(number: i64) -> Option<Self> {
        match number {
            1 => Some(FormatVersion::V1),
            2 => Some(FormatVersion::V2),
            3 => Some(FormatVersion::V3),
            _ => None,
        }
    }

    /// 1, 2 or 3.
    pub fn number(self) -> u8 {
        self as u8
    }
}

impl fmt::Display for FormatVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.number())
    }
}

/// An entry of the snapshot log: the current snapshot changed at this time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SnapshotLogEntry {
    /// Milliseconds since epoch.
    pub timestamp_ms: i64,
    /// The snapshot that became current.
    pub snapshot_id: i64,
    /// Fields this version of the engine does not know, kept as read.
    pub extra: UnknownFields,
}

/// An entry of the metadata log: an earlier metadata file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MetadataLogEntry {
    /// Milliseconds since epoch.
    pub timestamp_ms: i64,
    /// Location of the file.
    pub metadata_file: String,
    /// Fields this version of the engine does not know, kept as read.
    pub extra: UnknownFields,
}

/// A blob in a statistics file.
#[derive(Debug, Clone, PartialEq)]
pub struct BlobMetadata {
    /// Blob type, such as `apache-datasketches-theta-v1`.
    pub blob_type: String,
    /// The snapshot it was computed from.
    pub snapshot_id: i64,
    /// Sequence number of that snapshot.
    pub sequence_number: i64,
    /// The fields it describes.
    pub fields: Vec<FieldId>,
    /// Properties, such as `ndv`.
    pub properties: Properties,
    /// Fields this version of the engine does not know, kept as read.
    pub extra: UnknownFields,
}

/// A table statistics file (puffin).
#[derive(Debug, Clone, PartialEq)]
pub struct StatisticsFile {
    /// The snapshot it belongs to.
    pub snapshot_id: i64,
    /// Location.
    pub statistics_path: String,
    /// Length of the file in bytes.
    pub file_size_bytes: i64,
    /// Length of the puffin footer in bytes.
    pub file_footer_size_bytes: i64,
    /// Base64 key metadata, when encrypted.
    pub key_metadata: Option<String>,
    /// Its blobs.
    pub blob_metadata: Vec<BlobMetadata>,
    /// Fields this version of the engine does not know, kept as read.
    pub extra: UnknownFields,
}

/// A partition statistics file.
#[derive(Debug, Clone, PartialEq)]
pub struct PartitionStatisticsFile {
    /// The snapshot it belongs to.
    pub snapshot_id: i64,
    /// Location.
    pub statistics_path: String,
    /// Length of the file in bytes.
    pub file_size_bytes: i64,
    /// Fields this version of the engine does not know, kept as read.
    pub extra: UnknownFields,
}

/// A key that encrypts other keys (v3).
#[derive(Debug, Clone, PartialEq)]
pub struct EncryptedKey {
    /// Id.
    pub key_id: String,
    /// Base64 of the encrypted key and its metadata.
    pub encrypted_key_metadata: String,
    /// Id of the key that encrypts it.
    pub encrypted_by_id: Option<String>,
    /// Properties.
    pub properties: Properties,
    /// Fields this version of the engine does not know, kept as read.
    pub extra: UnknownFields,
}

/// The state of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct TableMetadata {
    /// Format version.
    pub format_version: FormatVersion,
    /// Stable id; absent in some v1 tables.
    pub table_uuid: Option<uuid::Uuid>,
    /// Base location, without trailing slash.
    pub location: String,
    /// Highest sequence number given; 0 in v1.
    pub last_sequence_number: i64,
    /// When this metadata was written, milliseconds since epoch.
    pub last_updated_ms: i64,
    /// Highest column id ever given.
    pub last_column_id: FieldId,
    /// All schemas.
    pub schemas: Vec<SchemaRef>,
    /// Id of the current schema.
    pub current_schema_id: i32,
    /// All partition specs.
    pub partition_specs: Vec<Arc<PartitionSpec>>,
    /// Id of the spec that writers use.
    pub default_spec_id: i32,
    /// Highest partition field id ever given; 999 before the first.
    pub last_partition_id: FieldId,
    /// All sort orders.
    pub sort_orders: Vec<Arc<SortOrder>>,
    /// Id of the order that writers use.
    pub default_sort_order_id: i32,
    /// Table properties.
    pub properties: Properties,
    /// Id of the current snapshot; `None` for an empty table. Always that of `main`.
    pub current_snapshot_id: Option<i64>,
    /// All kept snapshots.
    pub snapshots: Vec<Arc<Snapshot>>,
    /// Changes of the current snapshot, oldest first.
    pub snapshot_log: Vec<SnapshotLogEntry>,
    /// Earlier metadata files, oldest first.
    pub metadata_log: Vec<MetadataLogEntry>,
    /// Branches and tags. `main` is here whenever there is a current snapshot.
    pub refs: BTreeMap<String, SnapshotRef>,
    /// Statistics files.
    pub statistics: Vec<StatisticsFile>,
    /// Partition statistics files.
    pub partition_statistics: Vec<PartitionStatisticsFile>,
    /// First row id of the next snapshot that adds rows (v3); 0 below v3.
    pub next_row_id: i64,
    /// Encryption keys (v3).
    pub encryption_keys: Vec<EncryptedKey>,
    /// Fields this version of the engine does not know, kept as read.
    pub extra: UnknownFields,
}

/// Shared table metadata.
pub type TableMetadataRef = Arc<TableMetadata>;

impl TableMetadata {
    /// The schema of this id.
    pub fn schema_by_id(&self, schema_id: i32) -> Option<&SchemaRef> {
        self.schemas.iter().find(|s| s.schema_id() == schema_id)
    }

    /// The current schema. The reader and the builder make sure that it exists.
    pub fn current_schema(&self) -> &SchemaRef {
        self.schema_by_id(self.current_schema_id).unwrap_or(&self.schemas[0])
    }

    /// The spec of this id.
    pub fn spec_by_id(&self, spec_id: i32) -> Option<&Arc<PartitionSpec>> {
        self.partition_specs.iter().find(|s| s.spec_id == spec_id)
    }

    /// The spec that writers use. The reader and the builder make sure that it exists.
    pub fn default_spec(&self) -> &Arc<PartitionSpec> {
        self.spec_by_id(self.default_spec_id)
            .unwrap_or(&self.partition_specs[0])
    }

    /// The sort order of this id.
    pub fn sort_order_by_id(&self, order_id: i32) -> Option<&Arc<SortOrder>> {
        self.sort_orders.iter().find(|s| s.order_id == order_id)
    }

    /// The order that writers use. The reader and the builder make sure that it exists.
    pub fn default_sort_order(&self) -> &Arc<SortOrder> {
        self.sort_order_by_id(self.default_sort_order_id)
            .unwrap_or(&self.sort_orders[0])
    }

    /// The snapshot of this id.
    pub fn snapshot_by_id(&self, snapshot_id: i64) -> Option<&Arc<Snapshot>> {
        self.snapshots.iter().find(|s| s.snapshot_id == snapshot_id)
    }

    /// The current snapshot; `None` for an empty table.
    pub fn current_snapshot(&self) -> Option<&Arc<Snapshot>> {
        self.current_snapshot_id.and_then(|id| self.snapshot_by_id(id))
    }

    /// The snapshot that a branch or tag points to.
    pub fn snapshot_for_ref(&self, name: &str) -> Option<&Arc<Snapshot>> {
        match self.refs.get(name) {
            Some(r) => self.snapshot_by_id(r.snapshot_id),
            None if name == MAIN_BRANCH => self.current_snapshot(),
            None => None,
        }
    }

    /// A snapshot and its ancestors that are still kept, newest first. Bounded by the number of snapshots.
    pub fn ancestors_of(&self, snapshot_id: i64) -> Vec<&Arc<Snapshot>> {
        let by_id: HashMap<i64, &Arc<Snapshot>> = self.snapshots.iter().map(|s| (s.snapshot_id, s)).collect();
        let mut chain = Vec::new();
        let mut next = by_id.get(&snapshot_id).copied();
        while let Some(snapshot) = next {
            // Parents that form a ring are corrupt; they must not be followed forever.
            if chain.len() >= self.snapshots.len() {
                break;
            }
            chain.push(snapshot);
            next = snapshot.parent_snapshot_id.and_then(|id| by_id.get(&id).copied());
        }
        chain
    }

    /// The sequence number of the next snapshot.
    pub fn next_sequence_number(&self) -> i64 {
        match self.format_version {
            FormatVersion::V1 => 0,
            FormatVersion::V2 | FormatVersion::V3 => self.last_sequence_number.saturating_add(1),
        }
    }
}
