//! Takes the input of a row-level change apart: which rows of files change, and the new rows.

use std::sync::Arc;

use arrow::array::{Array, AsArray, BooleanArray, RecordBatch, new_null_array};
use arrow::compute::{cast, filter_record_batch};
use arrow::datatypes::{DataType, Field, Int32Type, Int64Type, Schema as ArrowSchema, SchemaRef as ArrowSchemaRef};
use arrow::util::display::array_value_to_string;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::SendableRecordBatchStream;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use futures::StreamExt;
use tarn_format::Error;

use super::changed_rows::{ChangedRows, Fate};
use super::target::{LEADING_COLUMNS, RowAction, RowTarget};
use crate::external;
use crate::scan::MetadataColumn;
use crate::write::row_lineage::RowLineage;

/// Splits streams of one execution.
#[derive(Debug, Clone)]
pub(super) struct Split {
    changed: Arc<ChangedRows>,
    /// The schema of new rows.
    rows: ArrowSchemaRef,
    keys: Arc<[String]>,
    lineage: RowLineage,
}

impl Split {
    pub(super) fn new(input: &ArrowSchema, target: &RowTarget, changed: Arc<ChangedRows>) -> Self {
        Split {
            rows: new_rows_schema(input, target.keys.len(), target.lineage()),
            changed,
            keys: Arc::from(target.keys.as_slice()),
            lineage: target.lineage(),
        }
    }

    pub(super) fn rows_schema(&self) -> &ArrowSchemaRef {
        &self.rows
    }

    /// The new rows of a stream; rows of files are taken down on the way.
    pub(super) fn stream(&self, input: SendableRecordBatchStream) -> SendableRecordBatchStream {
        let split = self.clone();
        let rows = input.filter_map(move |batch| {
            let rows = batch.and_then(|batch| split.batch(&batch));
            async move { rows.transpose() }
        });
        Box::pin(RecordBatchStreamAdapter::new(Arc::clone(&self.rows), rows))
    }

    fn batch(&self, batch: &RecordBatch) -> Result<Option<RecordBatch>> {
        if batch.num_rows() == 0 {
            return Ok(None);
        }
        let actions = actions(batch)?;
        self.take_down(batch, &actions)?;
        if self.rows.fields().is_empty() {
            return Ok(None);
        }
        let inserted = actions.iter().filter(|a| **a == RowAction::Insert).count();
        self.changed.add_inserted(inserted as u64);
        let is_new: BooleanArray = actions
            .iter()
            .map(|a| Some(matches!(a, RowAction::Update | RowAction::Insert)))
            .collect();
        let last = batch.num_columns() - self.keys.len();
        let mut columns = batch.columns()[LEADING_COLUMNS..last].to_vec();
        if self.lineage == RowLineage::Stored {
            // A row that changes takes the sequence number of the commit.
            columns.push(new_null_array(&DataType::Int64, batch.num_rows()));
        }
        let rows = RecordBatch::try_new(Arc::clone(&self.rows), columns)?;
        let rows = filter_record_batch(&rows, &is_new)?;
        Ok((rows.num_rows() > 0).then_some(rows))
    }

    fn take_down(&self, batch: &RecordBatch, actions: &[RowAction]) -> Result<()> {
        let files = cast(batch.column(0), &DataType::Utf8View)?;
        let files = files.as_string_view();
        let positions = batch.column(1).as_primitive_opt::<Int64Type>().ok_or_else(malformed)?;
        let mut start = 0;
        while start < batch.num_rows() {
            if files.is_null(start) || actions[start] == RowAction::Insert {
                start += 1;
                continue;
            }
            // Rows of one file come together as a rule.
            let file = files.value(start);
            let same = |i: &usize| files.is_valid(*i) && files.value(*i) == file && actions[*i] != RowAction::Insert;
            let end = (start + 1..batch.num_rows())
                .find(|i| !same(i))
                .unwrap_or(batch.num_rows());
            let rows = (start..end).map(|i| {
                let position = u64::try_from(positions.value(i)).unwrap_or(u64::MAX);
                let fate = match actions[i] {
                    RowAction::Delete => Fate::Goes,
                    RowAction::Update => Fate::Changes,
                    RowAction::Keep | RowAction::Insert => Fate::Stays,
                };
                (i, position, fate)
            });
            if let Some(row) = self.changed.add(file, rows).map_err(external)? {
                return Err(external(self.met_again(batch, row, positions.value(row), file)));
            }
            start = end;
        }
        Ok(())
    }

    fn met_again(&self, batch: &RecordBatch, row: usize, position: i64, file: &str) -> Error {
        let first = batch.num_columns() - self.keys.len();
        let keys: Vec<String> = (first..batch.num_columns())
            .zip(self.keys.iter())
            .map(|(i, name)| {
                let value = array_value_to_string(batch.column(i), row);
                let value = value.ok().filter(|_| batch.column(i).is_valid(row));
                format!("{name} = {}", value.unwrap_or_else(|| "NULL".to_string()))
            })
            .collect();
        let shown = match keys.is_empty() {
            true => format!("row {position} of {file}"),
            false => format!("the one with {}", keys.join(", ")),
        };
        Error::invalid(format!(
            "a row of the target, {shown}, is matched by more than one row of the source: leave one source row for each"
        ))
    }
}

/// The schema of new rows. NULLs are the writer's business.
fn new_rows_schema(input: &ArrowSchema, key_columns: usize, lineage: RowLineage) -> ArrowSchemaRef {
    let last = input.fields().len().saturating_sub(key_columns);
    let fields = input.fields().iter().take(last).skip(LEADING_COLUMNS);
    let mut fields: Vec<_> = fields
        .map(|f| Arc::new(f.as_ref().clone().with_nullable(true)))
        .collect();
    if lineage == RowLineage::Stored && !fields.is_empty() {
        let last_updated = MetadataColumn::LastUpdatedSequenceNumber.name();
        fields.push(Arc::new(Field::new(last_updated, DataType::Int64, true)));
    }
    Arc::new(ArrowSchema::new(fields))
}

fn actions(batch: &RecordBatch) -> Result<Vec<RowAction>> {
    let numbers = batch.column(2).as_primitive_opt::<Int32Type>().ok_or_else(malformed)?;
    let actions = numbers
        .values()
        .iter()
        .map(|n| RowAction::from_number(*n).ok_or_else(malformed));
    actions.collect()
}

fn malformed() -> DataFusionError {
    DataFusionError::Internal("a row-level change has a malformed input".to_string())
}
