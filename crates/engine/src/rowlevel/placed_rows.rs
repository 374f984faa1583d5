//! New rows that wait in memory: those that come in the place of old ones, by file and position, and those of no place.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{Array, AsArray, BooleanArray, RecordBatch};
use arrow::compute::{cast, filter_record_batch, interleave_record_batch};
use arrow::datatypes::{DataType, Int64Type, Schema as ArrowSchema, SchemaRef};
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::SendableRecordBatchStream;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use futures::StreamExt;

use super::split::PLACE_COLUMNS;

/// Rows as [`super::split::Places::Told`] gives them.
#[derive(Debug, Default)]
pub(super) struct PlacedRows {
    /// Their columns without the places.
    batches: Vec<RecordBatch>,
    /// Which rows are not taken yet.
    left: Vec<Vec<bool>>,
    files: BTreeMap<Arc<str>, Vec<Place>>,
    /// Rows of no place.
    new_rows: usize,
}

/// Where a row comes from and belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    position: u64,
    batch: usize,
    row: usize,
}

/// Rows that take the places of others in one file.
#[derive(Debug)]
pub(super) struct RowsInPlace {
    /// Ascending.
    pub(super) positions: Vec<u64>,
    pub(super) rows: RecordBatch,
}

impl PlacedRows {
    /// Rows in their places.
    pub(super) fn new(batches: Vec<RecordBatch>) -> Result<Self> {
        let mut placed = PlacedRows::default();
        for batch in &batches {
            placed.place(batch)?;
        }
        placed.keep(batches)
    }

    /// The same rows, whose places do not matter.
    pub(super) fn anywhere(batches: Vec<RecordBatch>) -> Result<Self> {
        PlacedRows {
            new_rows: batches.iter().map(RecordBatch::num_rows).sum(),
            ..PlacedRows::default()
        }
        .keep(batches)
    }

    fn keep(mut self, batches: Vec<RecordBatch>) -> Result<Self> {
        self.left = batches.iter().map(|batch| vec![true; batch.num_rows()]).collect();
        self.batches = batches.iter().map(rows_without_places).collect::<Result<_>>()?;
        Ok(self)
    }

    fn place(&mut self, batch: &RecordBatch) -> Result<()> {
        let number = self.left.len();
        self.left.push(Vec::new());
        let files = cast(batch.column(0), &DataType::Utf8View)?;
        let files = files.as_string_view();
        let positions = batch.column(1).as_primitive_opt::<Int64Type>().ok_or_else(misplaced)?;
        let mut start = 0;
        while start < batch.num_rows() {
            if files.is_null(start) || positions.is_null(start) {
                self.new_rows += 1;
                start += 1;
                continue;
            }
            // Rows of one file come together as a rule.
            let file = files.value(start);
            let same = |row: &usize| files.is_valid(*row) && positions.is_valid(*row) && files.value(*row) == file;
            let end = (start..batch.num_rows())
                .find(|row| !same(row))
                .unwrap_or(batch.num_rows());
            if !self.files.contains_key(file) {
                self.files.insert(Arc::from(file), Vec::new());
            }
            let places = self.files.get_mut(file).ok_or_else(misplaced)?;
            for row in start..end {
                places.push(Place {
                    position: u64::try_from(positions.value(row)).map_err(|_| misplaced())?,
                    batch: number,
                    row,
                });
            }
            start = end;
        }
        Ok(())
    }

    /// Whether there are rows of no place.
    pub(super) fn has_new_rows(&self) -> bool {
        self.new_rows > 0
    }

    /// Whether rows are left that belong into a file.
    pub(super) fn has_placed_rows(&self) -> bool {
        !self.files.is_empty()
    }

    /// Whether rows belong into a file.
    pub(super) fn has_rows_of(&self, file: &str) -> bool {
        self.files.contains_key(file)
    }

    /// Takes the rows of a file.
    pub(super) fn take(&mut self, file: &str) -> Result<Option<RowsInPlace>> {
        let Some(mut places) = self.files.remove(file) else {
            return Ok(None);
        };
        places.sort_unstable();
        let mut indices = Vec::with_capacity(places.len());
        for place in &places {
            self.left[place.batch][place.row] = false;
            indices.push((place.batch, place.row));
        }
        let batches: Vec<&RecordBatch> = self.batches.iter().collect();
        Ok(Some(RowsInPlace {
            positions: places.iter().map(|place| place.position).collect(),
            rows: interleave_record_batch(&batches, &indices)?,
        }))
    }

    /// All rows that were not taken.
    pub(super) fn rest(self) -> Result<Vec<RecordBatch>> {
        let mut rest = Vec::new();
        for (batch, left) in self.batches.into_iter().zip(self.left) {
            let batch = match left.iter().all(|left| *left) {
                true => batch,
                false => filter_record_batch(&batch, &BooleanArray::from(left))?,
            };
            if batch.num_rows() > 0 {
                rest.push(batch);
            }
        }
        Ok(rest)
    }
}

/// The rows of a stream, whose places do not matter.
pub(super) fn stream_without_places(stream: SendableRecordBatchStream) -> Result<SendableRecordBatchStream> {
    let schema = without_places(&stream.schema())?;
    let rows = stream.map(|batch| rows_without_places(&batch?));
    Ok(Box::pin(RecordBatchStreamAdapter::new(schema, rows)))
}

/// The schema of rows whose places do not matter.
pub(super) fn without_places(schema: &ArrowSchema) -> Result<SchemaRef> {
    let columns: Vec<usize> = (PLACE_COLUMNS.min(schema.fields().len())..schema.fields().len()).collect();
    Ok(Arc::new(schema.project(&columns)?))
}

fn rows_without_places(batch: &RecordBatch) -> Result<RecordBatch> {
    let columns: Vec<usize> = (PLACE_COLUMNS..batch.num_columns()).collect();
    Ok(batch.project(&columns)?)
}

fn misplaced() -> DataFusionError {
    DataFusionError::Internal("a changed row has no position in its file".to_string())
}
