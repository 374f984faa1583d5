//! What becomes of the deleted rows of a batch.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, BooleanArray, BooleanBufferBuilder, RecordBatch};
use arrow::buffer::BooleanBuffer;
use arrow::datatypes::Int64Type;
use datafusion::error::{DataFusionError, Result};
use tarn_format::deletes::deletion_vector::DeletionVector;

use super::file_planner::BatchStage;
use super::live_rows::without_rows;
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

impl PositionTest {
    fn deleted(&self, positions: &[i64]) -> BooleanBuffer {
        let mut deleted = BooleanBufferBuilder::new(positions.len());
        match following_rows(positions) {
            Some(rows) => {
                deleted.append_n(positions.len(), false);
                for position in self.deleted.iter_in(rows.clone()) {
                    deleted.set_bit((position - rows.start) as usize, true);
                }
            }
            None => positions
                .iter()
                .for_each(|position| deleted.append(self.deleted.contains(*position as u64))),
        }
        deleted.finish()
    }
}

/// The positions as a range, when each is that of the row after the last.
fn following_rows(positions: &[i64]) -> Option<Range<u64>> {
    let first = u64::try_from(*positions.first()?).ok()?;
    let next = positions.get(1..).unwrap_or_default();
    // Without an early end, many are compared at a time.
    let gaps = positions
        .iter()
        .zip(next)
        .fold(0, |gaps, (a, b)| gaps | (b.wrapping_sub(*a) ^ 1));
    (gaps == 0).then(|| first..first + positions.len() as u64)
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
        // Its columns are nobody else's then.
        drop(batch);
        match &self.marks {
            Some(marks) => mark(own, marks, deleted),
            None => without_rows(own, &deleted),
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
            deleted = &deleted | &test.deleted(positions);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deleted_rows_are_found_whether_or_not_all_rows_between_are_read() {
        let deleted: Vec<u64> = (0..100_000).filter(|i| i % 97 == 3 || (500..700).contains(i)).collect();
        let test = PositionTest {
            deleted: Arc::new(DeletionVector::from_positions(deleted.iter().copied()).unwrap()),
            column: 0,
        };
        let batches: [Vec<i64>; 6] = [
            (0..8192).collect(),
            (99_000..101_000).collect(),
            (0..9000).step_by(3).collect(),
            // As many as lie between the first and the last, but others.
            vec![500, 3, 502],
            vec![100],
            vec![],
        ];
        for positions in batches {
            let found: Vec<bool> = test.deleted(&positions).iter().collect();
            let expected: Vec<bool> = positions.iter().map(|p| deleted.contains(&(*p as u64))).collect();
            assert_eq!(found, expected);
        }
    }
}
