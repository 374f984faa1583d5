//! A decoded manifest as columns (struct of arrays).
//!
//! One value per entry in each column. Strings and bytes lie in one buffer per column. Metrics are kept only
//! for the projected fields, bounds as bytes in binary single-value form. Partition tuples are kept once each.
//! Inherited values (snapshot ids, sequence numbers, first row ids) are not applied here, because the same
//! manifest may be cached for several snapshots: see [`super::inherit`].

use std::collections::BTreeMap;

use super::data_file::{FileFormat, PartitionTuple};
use crate::spec::types::FieldId;

/// Optional 64-bit values: a dense vector and a validity bitmap that is absent when all are valid.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct OptionalLongs {
    /// Values; unspecified where invalid. Empty when no entry has one.
    pub values: Vec<i64>,
    /// One bit per entry, least significant first; `None` when every entry has a value.
    pub validity: Option<Vec<u64>>,
}

/// Optional byte strings, in one buffer.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct OptionalBytes {
    /// `len + 1` offsets into `data`. Empty when no entry has a value.
    pub offsets: Vec<u32>,
    /// The bytes.
    pub data: Vec<u8>,
    /// As [`OptionalLongs::validity`].
    pub validity: Option<Vec<u64>>,
}

/// Optional lists of 64-bit values, in one buffer.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LongLists {
    /// `len + 1` offsets into `values`. Empty when every list is empty or absent.
    pub offsets: Vec<u32>,
    /// The values.
    pub values: Vec<i64>,
}

/// The metrics of one field over all entries.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FieldMetrics {
    /// Bytes on disk.
    pub column_size: OptionalLongs,
    /// Values, nulls and NaN included.
    pub value_count: OptionalLongs,
    /// Nulls.
    pub null_count: OptionalLongs,
    /// NaNs.
    pub nan_count: OptionalLongs,
    /// Lower bounds.
    pub lower_bound: OptionalBytes,
    /// Upper bounds.
    pub upper_bound: OptionalBytes,
}

/// Which fields' metrics are decoded.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum MetricsProjection {
    /// None.
    None,
    /// Those of these fields, sorted.
    Fields(Vec<FieldId>),
    /// All, and also split offsets, equality ids, key metadata of every entry.
    All,
}

/// A manifest's entries as columns.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ManifestColumns {
    /// Number of entries.
    pub len: usize,
    /// [`super::data_file::ManifestStatus`] as number.
    pub status: Vec<u8>,
    /// As stored.
    pub snapshot_id: OptionalLongs,
    /// As stored.
    pub sequence_number: OptionalLongs,
    /// As stored.
    pub file_sequence_number: OptionalLongs,
    /// [`super::data_file::DataContent`] as number; 0 where the manifest has no such column.
    pub content: Vec<u8>,
    /// Locations; always valid.
    pub file_path: OptionalBytes,
    /// Formats.
    pub file_format: Vec<FileFormat>,
    /// Index of each entry's tuple in `partitions`.
    pub partition_index: Vec<u32>,
    /// The distinct partition tuples, in the order of the manifest's spec.
    pub partitions: Vec<PartitionTuple>,
    /// Rows.
    pub record_count: Vec<i64>,
    /// Bytes.
    pub file_size_in_bytes: Vec<i64>,
    /// Sort order ids.
    pub sort_order_id: OptionalLongs,
    /// As stored.
    pub first_row_id: OptionalLongs,
    /// Data file that position deletes refer to.
    pub referenced_data_file: OptionalBytes,
    /// Offset of a deletion vector's blob.
    pub content_offset: OptionalLongs,
    /// Length of that blob.
    pub content_size_in_bytes: OptionalLongs,
    /// Split offsets.
    pub split_offsets: LongLists,
    /// Key column ids of equality deletes.
    pub equality_ids: LongLists,
    /// Key metadata.
    pub key_metadata: OptionalBytes,
    /// Metrics of the projected fields.
    pub metrics: BTreeMap<FieldId, FieldMetrics>,
}
