//! What becomes of the deleted rows of a batch.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, BooleanArray, RecordBatch};
use arrow::buffer::BooleanBuffer;
use arrow::compute::filter_record_batch;
use arrow::datatypes::Int64Type;
use datafusion::error::{DataFusionError, Result};
use tarn_format::deletes::deletion_vector::DeletionVector;

use super::file_planner::BatchStage;
use crate::deletes::key_column::KeyColumn;
use crate::deletes::key_table::KeyTable;

/// Whether a scan shows deleted rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DeletedRows {
    /// It does not.
    LeftOut,
    /// It does, and column `_deleted` tells which they are.
    Marked,
}

/// Finds the deleted rows in the batches of one file.
#[derive(Debug)]
pub(super) struct DeletedRowsFilter {
    /// How many columns the query asked for: others follow them.
    pub(super) width: usize,
    /// Data sequence number of the file.
    pub(super) sequence_number: i64,
    pub(super) keys: Vec<KeyTest>,
    pub(super) positions: Option<PositionTest>,
    /// Where a batch has `_deleted`, when rows are marked.
    pub(super) marks: Option<Vec<usize>>,
}

/// Rows deleted by their keys.
#[derive(Debug)]
pub(super) struct KeyTest {
    pub(super) table: Arc<KeyTable>,
    /// Where a batch has the key columns.
    pub(super) columns: Vec<(usize, KeyColumn)>,
}

/// Rows deleted by their positions.
#[derive(Debug)]
pub(super) struct PositionTest {
    pub(super) deleted: Arc<DeletionVector>,
    /// Where a batch has the positions.
    pub(super) column: usize,
}

impl BatchStage for DeletedRowsFilter {
    /// The batch as the query sees it.
    ///
    /// # Errors
    /// Arrow's, when the batch has other columns.
    fn batch(&self, batch: RecordBatch) -> Result<RecordBatch> {
        let deleted = self.deleted(&batch)?;
        let own: Vec<usize> = (0..self.width).collect();
        let own = batch.project(&own)?;
        match &self.marks {
            Some(marks) => mark(own, marks, deleted),
            None if deleted.count_set_bits() == 0 => Ok(own),
            None => Ok(filter_record_batch(&own, &BooleanArray::new(!&deleted, None))?),
        }
    }
}

impl DeletedRowsFilter {
    fn deleted(&self, batch: &RecordBatch) -> Result<BooleanBuffer> {
        let mut deleted = BooleanBuffer::new_unset(batch.num_rows());
        for test in &self.keys {
            let values = |(index, key): &(usize, KeyColumn)| Ok(key.values(column(batch, *index)?)?);
            let values = test.columns.iter().map(values).collect::<Result<Vec<ArrayRef>>>()?;
            deleted = &deleted | &test.table.deleted(&values, self.sequence_number)?;
        }
        if let Some(test) = &self.positions {
            let positions = column(batch, test.column)?.as_primitive_opt::<Int64Type>();
            let positions = positions.ok_or_else(|| missing("positions"))?.values();
            let is_deleted = |i: usize| test.deleted.contains(positions[i] as u64);
            deleted = &deleted | &BooleanBuffer::collect_bool(positions.len(), is_deleted);
        }
        Ok(deleted)
    }
}

fn mark(batch: RecordBatch, marks: &[usize], deleted: BooleanBuffer) -> Result<RecordBatch> {
    if marks.is_empty() {
        return Ok(batch);
    }
    let marked: ArrayRef = Arc::new(BooleanArray::new(deleted, None));
    let (schema, mut columns, _) = batch.into_parts();
    for index in marks {
        if let Some(column) = columns.get_mut(*index) {
            *column = Arc::clone(&marked);
        }
    }
    Ok(RecordBatch::try_new(schema, columns)?)
}

fn column(batch: &RecordBatch, index: usize) -> Result<&ArrayRef> {
    batch.columns().get(index).ok_or_else(|| missing("keys"))
}

fn missing(what: &str) -> DataFusionError {
    DataFusionError::Internal(format!("a batch of a file with deletes has no {what}"))
}
