//! Data files, delete files and the manifest entries that list them, as rows (spec, "Manifests").
//!
//! Rows serve writers and single files. Scans read [`super::columns::ManifestColumns`] instead.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crate::spec::types::FieldId;
use crate::spec::value::Value;

/// What a file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum DataContent {
    /// Rows.
    Data = 0,
    /// Positions of deleted rows, or a deletion vector.
    PositionDeletes = 1,
    /// Keys of deleted rows.
    EqualityDeletes = 2,
}

/// Format of a data or delete file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum FileFormat {
    Parquet,
    Avro,
    Orc,
    Puffin,
}

impl FileFormat {
    /// The name in manifests, upper case.
    pub fn as_str(self) -> &'static str {
        match self {
            FileFormat::Parquet => "PARQUET",
            FileFormat::Avro => "AVRO",
            FileFormat::Orc => "ORC",
            FileFormat::Puffin => "PUFFIN",
        }
    }

    /// The format of this name, in any case.
    pub fn from_name(name: &str) -> Option<Self> {
        [
            FileFormat::Parquet,
            FileFormat::Avro,
            FileFormat::Orc,
            FileFormat::Puffin,
        ]
        .into_iter()
        .find(|f| f.as_str().eq_ignore_ascii_case(name))
    }
}

impl fmt::Display for FileFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A partition tuple: the values of the spec's fields in order; `None` is null.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PartitionTuple(pub Vec<Option<Value>>);

/// A data or delete file with its metrics.
#[derive(Debug, Clone, PartialEq)]
pub struct DataFile {
    /// Data or deletes.
    pub content: DataContent,
    /// Location, exactly as written.
    pub file_path: Arc<str>,
    /// Format.
    pub file_format: FileFormat,
    /// The spec it was written with. Not stored in the entry: inherited from the manifest.
    pub spec_id: i32,
    /// Partition values in the order of that spec.
    pub partition: PartitionTuple,
    /// Number of rows (of deletes: of delete records; of a deletion vector: its cardinality).
    pub record_count: i64,
    /// Length in bytes of the whole file.
    pub file_size_in_bytes: i64,
    /// Bytes on disk per column.
    pub column_sizes: BTreeMap<FieldId, i64>,
    /// Values per column, nulls and NaN included.
    pub value_counts: BTreeMap<FieldId, i64>,
    /// Nulls per column.
    pub null_value_counts: BTreeMap<FieldId, i64>,
    /// NaNs per column.
    pub nan_value_counts: BTreeMap<FieldId, i64>,
    /// Lower bounds in binary single-value form.
    pub lower_bounds: BTreeMap<FieldId, Vec<u8>>,
    /// Upper bounds in binary single-value form.
    pub upper_bounds: BTreeMap<FieldId, Vec<u8>>,
    /// Key metadata, when encrypted.
    pub key_metadata: Option<Vec<u8>>,
    /// Offsets at which the file may be split, ascending.
    pub split_offsets: Vec<i64>,
    /// Ids of the key columns. Equality deletes only.
    pub equality_ids: Vec<FieldId>,
    /// Sort order the file was written with.
    pub sort_order_id: Option<i32>,
    /// First `_row_id` of its rows; `None` until inherited (v3 data files).
    pub first_row_id: Option<i64>,
    /// The only data file whose rows it deletes (position deletes, always for deletion vectors).
    pub referenced_data_file: Option<Arc<str>>,
    /// Offset of the deletion vector's blob in its puffin file.
    pub content_offset: Option<i64>,
    /// Length of that blob in bytes.
    pub content_size_in_bytes: Option<i64>,
}

impl DataFile {
    /// A file with required values only.
    pub fn new(content: DataContent, file_path: impl AsRef<str>, file_format: FileFormat) -> Self {
        DataFile {
            content,
            file_path: Arc::from(file_path.as_ref()),
            file_format,
            spec_id: 0,
            partition: PartitionTuple::default(),
            record_count: 0,
            file_size_in_bytes: 0,
            column_sizes: BTreeMap::new(),
            value_counts: BTreeMap::new(),
            null_value_counts: BTreeMap::new(),
            nan_value_counts: BTreeMap::new(),
            lower_bounds: BTreeMap::new(),
            upper_bounds: BTreeMap::new(),
            key_metadata: None,
            split_offsets: Vec::new(),
            equality_ids: Vec::new(),
            sort_order_id: None,
            first_row_id: None,
            referenced_data_file: None,
            content_offset: None,
            content_size_in_bytes: None,
        }
    }

    /// Whether this is a deletion vector: a puffin blob of deleted positions.
    pub fn is_deletion_vector(&self) -> bool {
        self.content == DataContent::PositionDeletes && self.file_format == FileFormat::Puffin
    }
}

/// What a manifest entry says about its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum ManifestStatus {
    /// Carried over from an earlier snapshot.
    Existing = 0,
    /// Added by the entry's snapshot.
    Added = 1,
    /// Removed by the entry's snapshot.
    Deleted = 2,
}

/// An entry of a manifest. Values that are inherited are filled in when read.
#[derive(Debug, Clone, PartialEq)]
pub struct ManifestEntry {
    /// Status.
    pub status: ManifestStatus,
    /// The snapshot that added (or for deleted entries removed) the file; `None` until inherited.
    pub snapshot_id: Option<i64>,
    /// Data sequence number; `None` until inherited.
    pub sequence_number: Option<i64>,
    /// Sequence number of the snapshot that added the file; `None` until inherited.
    pub file_sequence_number: Option<i64>,
    /// The file.
    pub data_file: Arc<DataFile>,
}

impl ManifestEntry {
    /// Whether the file is part of the snapshot.
    pub fn is_live(&self) -> bool {
        self.status != ManifestStatus::Deleted
    }
}
