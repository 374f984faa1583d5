//! Columns encoded anew: old values, new ones in their places, and rows that go left out.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, Int64Array, RecordBatch};
use arrow::compute::{filter, interleave};
use arrow::datatypes::{FieldRef, Int64Type, Schema as ArrowSchema};
use arrow::error::ArrowError;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use parquet::arrow::arrow_writer::{ArrowColumnChunk, ArrowColumnWriter, compute_leaves};
use tarn_format::{Error, Result};

use super::super::float_metrics::FloatMetrics;
use super::super::parquet_file::write_error;
use super::FilePatch;
use super::column_bytes::{ColumnBytes, read_error};
use super::row_groups::GroupPlan;
use super::source::SourceFile;
use crate::arrow::schema::field_id;
use crate::scan::MetadataColumn;

/// Rows that are read and encoded at a time.
const BATCH_ROWS: usize = 8192;

/// A column of a row group: one of the table's, with all columns below it.
pub(super) struct ColumnValues {
    pub(super) source: Arc<SourceFile>,
    pub(super) patch: Arc<FilePatch>,
    pub(super) group: GroupPlan,
    /// Its index among the stored columns.
    pub(super) column: usize,
    pub(super) field: FieldRef,
    /// What the old file has of it; `None` where that is nothing, or does not matter.
    pub(super) bytes: Option<ColumnBytes>,
}

/// A column that is encoded.
pub(super) struct EncodedColumn {
    pub(super) chunks: Vec<ArrowColumnChunk>,
    pub(super) floats: FloatMetrics,
}

impl ColumnValues {
    /// Encodes the column, whose leaves have these writers.
    pub(super) fn encode(self, mut writers: Vec<ArrowColumnWriter>) -> Result<EncodedColumn> {
        let mut floats = FloatMetrics::default();
        let mut append = |rows: Range<u64>, old: Option<&ArrayRef>| {
            let values = self.left(&rows, self.values(&rows, old)?)?;
            floats.update(&self.batch(Arc::clone(&values))?);
            let leaves = compute_leaves(&self.field, &values).map_err(write_error)?;
            for (leaf, writer) in leaves.iter().zip(&mut writers) {
                writer.write(leaf).map_err(write_error)?;
            }
            Ok(())
        };
        match &self.bytes {
            Some(bytes) => self.for_each_batch(bytes, |rows, old| append(rows, Some(old)))?,
            None => {
                let mut start = self.group.rows.start;
                while start < self.group.rows.end {
                    let end = self.group.rows.end.min(start + BATCH_ROWS as u64);
                    append(start..end, None)?;
                    start = end;
                }
            }
        }
        let chunks: parquet::errors::Result<Vec<_>> = writers.into_iter().map(ArrowColumnWriter::close).collect();
        Ok(EncodedColumn {
            chunks: chunks.map_err(write_error)?,
            floats,
        })
    }

    /// What metrics need of the old values where those stay.
    pub(super) fn floats(self) -> Result<FloatMetrics> {
        let mut floats = FloatMetrics::default();
        if let Some(bytes) = &self.bytes {
            self.for_each_batch(bytes, |_, old| {
                floats.update(&self.batch(Arc::clone(old))?);
                Ok(())
            })?;
        }
        Ok(floats)
    }

    fn for_each_batch(
        &self,
        bytes: &ColumnBytes,
        mut take: impl FnMut(Range<u64>, &ArrayRef) -> Result<()>,
    ) -> Result<()> {
        let mut start = self.group.rows.start;
        for batch in self.reader(bytes.clone()).map_err(read_error)? {
            let batch = batch.map_err(|e| read_error(e.into()))?;
            let end = start + batch.num_rows() as u64;
            take(start..end, batch.column(0))?;
            start = end;
        }
        match start == self.group.rows.end {
            true => Ok(()),
            false => Err(Error::corrupt("a column has fewer rows than its row group")),
        }
    }

    fn reader(&self, bytes: ColumnBytes) -> parquet::errors::Result<ParquetRecordBatchReader> {
        let metadata = self.source.reader.clone();
        let projection = ProjectionMask::roots(metadata.parquet_schema(), [self.column]);
        ParquetRecordBatchReaderBuilder::new_with_metadata(bytes, metadata)
            .with_row_groups(vec![self.group.at])
            .with_projection(projection)
            .with_batch_size(BATCH_ROWS)
            .build()
    }

    fn batch(&self, values: ArrayRef) -> Result<RecordBatch> {
        let schema = Arc::new(ArrowSchema::new(vec![Arc::clone(&self.field)]));
        RecordBatch::try_new(schema, vec![values]).map_err(misfit)
    }

    /// The values of these rows, new ones included.
    fn values(&self, rows: &Range<u64>, old: Option<&ArrayRef>) -> Result<ArrayRef> {
        let updated = self.patch.updated.within(rows);
        let id = field_id(&self.field);
        if id == Some(MetadataColumn::RowId.field_id()) {
            return Ok(self.row_ids(rows, old));
        }
        if id == Some(MetadataColumn::LastUpdatedSequenceNumber.field_id()) {
            return Ok(self.sequence_numbers(rows, old, updated));
        }
        let new = self.patch.updated.column(self.column).filter(|_| !updated.is_empty());
        match (old, new) {
            (Some(old), None) => Ok(Arc::clone(old)),
            (_, Some(new)) if updated.len() as u64 == rows.end - rows.start => {
                Ok(new.slice(updated.start, updated.len()))
            }
            (Some(old), Some(new)) => {
                let mut indices: Vec<(usize, usize)> = (0..old.len()).map(|row| (0, row)).collect();
                for (at, position) in (updated.start..).zip(&self.patch.updated.positions[updated]) {
                    indices[(position - rows.start) as usize] = (1, at);
                }
                interleave(&[old.as_ref(), new.as_ref()], &indices).map_err(misfit)
            }
            (None, _) => Err(Error::corrupt("a column lacks the values of rows that do not change")),
        }
    }

    /// Ids that rows keep; none where they never had one.
    fn row_ids(&self, rows: &Range<u64>, old: Option<&ArrayRef>) -> ArrayRef {
        let first = self.source.task.first_row_id();
        let positions = rows.clone().enumerate();
        let ids = positions.map(|(row, position)| {
            let inherited = || first?.checked_add(i64::try_from(position).ok()?);
            stored(old, row).or_else(inherited)
        });
        Arc::new(Int64Array::from_iter(ids))
    }

    /// The commits that last changed rows; nothing for this one's rows, whose commit is to come.
    fn sequence_numbers(&self, rows: &Range<u64>, old: Option<&ArrayRef>, updated: Range<usize>) -> ArrayRef {
        let task = &self.source.task;
        let inherited = task.first_row_id().map(|_| task.sequence_number());
        let mut updated = self.patch.updated.positions[updated].iter().peekable();
        let numbers =
            rows.clone().enumerate().map(
                |(row, position)| match updated.next_if(|changed| **changed == position) {
                    Some(_) => None,
                    None => stored(old, row).or(inherited),
                },
            );
        Arc::new(Int64Array::from_iter(numbers))
    }

    /// The values of rows that stay.
    fn left(&self, rows: &Range<u64>, values: ArrayRef) -> Result<ArrayRef> {
        let Some(kept) = &self.group.kept else {
            return Ok(values);
        };
        let start = (rows.start - self.group.rows.start) as usize;
        let kept = kept.slice(start, values.len());
        if kept.count_set_bits() == kept.len() {
            return Ok(values);
        }
        filter(&values, &BooleanArray::new(kept, None)).map_err(misfit)
    }
}

fn stored(old: Option<&ArrayRef>, row: usize) -> Option<i64> {
    let old = old?.as_primitive_opt::<Int64Type>()?;
    old.is_valid(row).then(|| old.value(row))
}

fn misfit(e: ArrowError) -> Error {
    Error::corrupt("values of a data file do not fit their column").with_source(e)
}
