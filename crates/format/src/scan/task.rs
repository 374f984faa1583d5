//! What a plan is made of: one data file to read, with the deletes that apply and the filter that remains.

use std::fmt;
use std::sync::Arc;

use super::filter::RowMatch;
use super::manifest_entries::ManifestEntries;
use crate::deletes::{DeleteKind, DeleteTask};
use crate::expr::BoundPredicate;
use crate::manifest::columns::FieldMetrics;
use crate::manifest::data_file::{DataFile, FileFormat, PartitionTuple};
use crate::spec::types::FieldId;

/// One data file to read: a row of its manifest's columns. Cheap to clone; holds no copy of paths or statistics.
#[derive(Clone)]
pub struct FileScanTask {
    pub(super) entries: Arc<ManifestEntries>,
    pub(super) row: u32,
    pub(super) sequence_number: i64,
    pub(super) deletes: Arc<[DeleteTask]>,
    pub(super) residual: Arc<BoundPredicate>,
    pub(super) row_match: RowMatch,
}

/// The statistics of one column in one file.
#[derive(Debug, Clone, Copy)]
pub struct ColumnStatistics<'a> {
    metrics: &'a FieldMetrics,
    row: usize,
}

impl<'a> ColumnStatistics<'a> {
    /// Bytes on disk.
    pub fn column_size(&self) -> Option<i64> {
        self.metrics.column_size.get(self.row)
    }

    /// Values, nulls and NaN included.
    pub fn value_count(&self) -> Option<i64> {
        self.metrics.value_count.get(self.row)
    }

    /// Nulls.
    pub fn null_count(&self) -> Option<i64> {
        self.metrics.null_count.get(self.row)
    }

    /// NaNs.
    pub fn nan_count(&self) -> Option<i64> {
        self.metrics.nan_count.get(self.row)
    }

    /// Lower bound in binary single-value form; of long strings and bytes only a prefix. Never NaN.
    pub fn lower_bound(&self) -> Option<&'a [u8]> {
        self.metrics.lower_bound.get(self.row)
    }

    /// Upper bound in binary single-value form; of long strings and bytes a raised prefix. Never NaN.
    pub fn upper_bound(&self) -> Option<&'a [u8]> {
        self.metrics.upper_bound.get(self.row)
    }
}

impl FileScanTask {
    fn row(&self) -> usize {
        self.row as usize
    }

    /// The manifest the file is listed in.
    pub fn entries(&self) -> &Arc<ManifestEntries> {
        &self.entries
    }

    /// Location of the file, exactly as written.
    pub fn path(&self) -> &str {
        self.entries.columns.path(self.row())
    }

    /// Format of the file.
    pub fn file_format(&self) -> FileFormat {
        self.entries.columns.file_format(self.row())
    }

    /// Length in bytes. May be wrong in the wild.
    pub fn file_size_in_bytes(&self) -> i64 {
        self.entries.columns.file_size_in_bytes(self.row())
    }

    /// Rows before deletes.
    pub fn record_count(&self) -> i64 {
        self.entries.columns.record_count(self.row())
    }

    /// The spec it was written with.
    pub fn spec_id(&self) -> i32 {
        self.entries.spec_id()
    }

    /// Partition values in the order of that spec.
    pub fn partition(&self) -> &PartitionTuple {
        self.entries.columns.partition(self.row())
    }

    /// Data sequence number.
    pub fn sequence_number(&self) -> i64 {
        self.sequence_number
    }

    /// Sequence number of the snapshot that added the file; `None` where a writer did not know it.
    pub fn file_sequence_number(&self) -> Option<i64> {
        let inheritance = self.entries.inheritance();
        inheritance.file_sequence_number(&self.entries.columns, self.row())
    }

    /// The snapshot that added the file.
    pub fn snapshot_id(&self) -> Option<i64> {
        self.entries.snapshot_id(self.row())
    }

    /// `_row_id` of its first row; `None` where the table assigns none.
    pub fn first_row_id(&self) -> Option<i64> {
        self.entries.first_row_id(self.row())
    }

    /// Id of the sort order it was written with.
    pub fn sort_order_id(&self) -> Option<i32> {
        let id = self.entries.columns.sort_order_id.get(self.row())?;
        i32::try_from(id).ok()
    }

    /// Offsets at which it may be split; empty when unknown, or not kept in the plan
    /// (see [`super::Statistics::All`]).
    pub fn split_offsets(&self) -> &[i64] {
        self.entries.columns.split_offsets.get(self.row())
    }

    /// Key metadata, when encrypted.
    pub fn key_metadata(&self) -> Option<&[u8]> {
        self.entries.columns.key_metadata.get(self.row())
    }

    /// Statistics of a column; `None` when there are none or they are not kept in the plan. They describe the file
    /// before deletes.
    pub fn statistics(&self, field_id: FieldId) -> Option<ColumnStatistics<'_>> {
        let metrics = self.entries.columns.metrics_of(field_id)?;
        Some(ColumnStatistics {
            metrics,
            row: self.row(),
        })
    }

    /// The deletes to apply.
    pub fn deletes(&self) -> &Arc<[DeleteTask]> {
        &self.deletes
    }

    /// Bytes of deletes that a reader must fetch.
    pub fn delete_size_in_bytes(&self) -> u64 {
        let sizes = self.deletes.iter().map(|d| d.content_size_in_bytes().max(0) as u64);
        sizes.fold(0, u64::saturating_add)
    }

    /// The part of the scan's filter that the file's partition does not prove.
    pub fn residual(&self) -> &Arc<BoundPredicate> {
        &self.residual
    }

    /// Whether all rows of the file, as far as partition and statistics prove it, match the scan's filter.
    pub fn row_match(&self) -> RowMatch {
        self.row_match
    }

    /// Rows that are left after deletes: `None` when position or equality deletes apply, whose effect is not known
    /// before reading them, or counts make no sense.
    pub fn live_record_count(&self) -> Option<u64> {
        let mut rows = u64::try_from(self.record_count()).ok()?;
        for delete in self.deletes.iter() {
            if delete.kind() != DeleteKind::DeletionVector {
                return None;
            }
            rows = rows.checked_sub(u64::try_from(delete.record_count()).ok()?)?;
        }
        Some(rows)
    }

    /// The file as a value of its own, with the statistics that are kept in the plan.
    pub fn data_file(&self) -> DataFile {
        self.entries.data_file(self.row())
    }
}

impl fmt::Debug for FileScanTask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FileScanTask")
            .field("path", &self.path())
            .field("partition", &self.partition())
            .field("deletes", &self.deletes)
            .field("residual", &self.residual)
            .finish_non_exhaustive()
    }
}
