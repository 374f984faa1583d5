//! Takes the input of a row-level change apart: which rows of files change, and the new rows.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, GenericByteViewArray, RecordBatch, StringViewArray, UInt32Array,
    new_null_array,
};
use arrow::compute::{cast, filter_record_batch, take};
use arrow::datatypes::{
    ByteViewType, DataType, Field, Int32Type, Int64Type, Schema as ArrowSchema, SchemaRef as ArrowSchemaRef,
};
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

/// Whether new rows tell where they belong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Places {
    /// File and position of the row that changes stand before the table's columns; both NULL for a row that is new.
    Told,
    /// There are none.
    Dropped,
}

/// Columns that [`Places::Told`] puts before the table's.
pub(super) const PLACE_COLUMNS: usize = 2;

/// Splits streams of one execution.
#[derive(Debug, Clone)]
pub(super) struct Split {
    changed: Arc<ChangedRows>,
    /// The schema of new rows.
    rows: ArrowSchemaRef,
    keys: Arc<[String]>,
    lineage: RowLineage,
    places: Places,
}

impl Split {
    pub(super) fn new(input: &ArrowSchema, target: &RowTarget, changed: Arc<ChangedRows>, places: Places) -> Self {
        let rows = new_rows_schema(input, target.keys.len(), target.lineage());
        Split {
            rows: match places {
                Places::Told => with_places(input, rows),
                Places::Dropped => rows,
            },
            places,
            changed,
            keys: Arc::from(target.keys.as_slice()),
            lineage: target.lineage(),
        }
    }

    /// Splits rows that have values of updated columns alone, and tell where they belong.
    pub(super) fn of_updates(input: &ArrowSchema, target: &RowTarget, changed: Arc<ChangedRows>) -> Self {
        let rows = new_rows_schema(input, target.keys.len(), RowLineage::Assigned);
        Split {
            rows: with_places(input, rows),
            changed,
            keys: Arc::from(target.keys.as_slice()),
            lineage: RowLineage::Assigned,
            places: Places::Told,
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
        let mut columns = match self.places {
            Places::Told => batch.columns()[..PLACE_COLUMNS].to_vec(),
            Places::Dropped => Vec::new(),
        };
        columns.extend_from_slice(&batch.columns()[LEADING_COLUMNS..last]);
        if self.lineage == RowLineage::Stored {
            // A row that changes takes the sequence number of the commit.
            columns.push(new_null_array(&DataType::Int64, batch.num_rows()));
        }
        let rows = RecordBatch::try_new(Arc::clone(&self.rows), columns)?;
        let rows = filter_record_batch(&rows, &is_new)?;
        let rows = match self.places {
            Places::Told => compact(&rows)?,
            Places::Dropped => rows,
        };
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

fn with_places(input: &ArrowSchema, rows: ArrowSchemaRef) -> ArrowSchemaRef {
    if rows.fields().is_empty() {
        return rows;
    }
    let places = input.fields().iter().take(PLACE_COLUMNS);
    let places = places.map(|f| Arc::new(f.as_ref().clone().with_nullable(true)));
    Arc::new(ArrowSchema::new(
        places.chain(rows.fields().iter().cloned()).collect::<Vec<_>>(),
    ))
}

/// The rows without the memory of other rows, as they wait for long.
fn compact(rows: &RecordBatch) -> Result<RecordBatch> {
    let columns = rows.columns().iter().enumerate().map(|(at, column)| {
        Ok(match column.data_type() {
            DataType::Utf8View if at == 0 => shared(column.as_string_view())?,
            DataType::Utf8View => compact_views(column.as_string_view()).unwrap_or_else(|| Arc::clone(column)),
            DataType::BinaryView => compact_views(column.as_binary_view()).unwrap_or_else(|| Arc::clone(column)),
            _ => Arc::clone(column),
        })
    });
    let columns: Result<Vec<ArrayRef>> = columns.collect();
    Ok(RecordBatch::try_new(rows.schema(), columns?)?)
}

/// `None` where at least half of the memory is the rows' own.
fn compact_views<T: ByteViewType>(views: &GenericByteViewArray<T>) -> Option<ArrayRef> {
    let held: usize = views.data_buffers().iter().map(|buffer| buffer.capacity()).sum();
    (held / 2 > views.total_buffer_bytes_used()).then(|| Arc::new(views.gc()) as ArrayRef)
}

/// The same values, each held once: files of rows are few.
fn shared(values: &StringViewArray) -> Result<ArrayRef> {
    let mut distinct: HashMap<&str, u32> = HashMap::new();
    let mut last: Option<(&str, u32)> = None;
    let indices = values.iter().map(|value| {
        let value = value?;
        let index = match last {
            Some((same, index)) if same == value => index,
            _ => {
                let next = distinct.len() as u32;
                *distinct.entry(value).or_insert(next)
            }
        };
        last = Some((value, index));
        Some(index)
    });
    let indices: UInt32Array = indices.collect();
    let mut distinct: Vec<(&str, u32)> = distinct.into_iter().collect();
    distinct.sort_unstable_by_key(|(_, index)| *index);
    let distinct = StringViewArray::from_iter_values(distinct.into_iter().map(|(value, _)| value));
    Ok(take(&distinct.gc(), &indices, None)?)
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

#[cfg(test)]
mod tests {
    use arrow::array::StringViewBuilder;

    use super::*;

    /// Rows of a filter hold blocks of which they use little; files are a few texts, however many rows there are.
    #[test]
    fn waiting_rows_hold_little_more_than_they_are() {
        const ROWS: usize = 1000;
        let path = |row: usize| format!("a path that is longer than a view {}", row / 700);
        let mut paths = StringViewBuilder::new().with_fixed_block_size(64 << 20);
        let mut texts = StringViewBuilder::new().with_fixed_block_size(64 << 20);
        for row in 0..ROWS {
            if row == 5 {
                paths.append_null();
            } else {
                paths.append_value(path(row));
            }
            texts.append_value(format!("a text that is longer than a view {row}"));
        }
        let (paths, texts): (ArrayRef, ArrayRef) = (Arc::new(paths.finish()), Arc::new(texts.finish()));
        let rows = RecordBatch::try_from_iter([("_file", paths), ("s", texts)]).unwrap();
        let compacted = compact(&rows).unwrap();
        assert_eq!(compacted, rows);
        assert!(rows.get_array_memory_size() > 100 << 20);
        let views = 2 * ROWS * size_of::<u128>();
        assert!(compacted.column(0).get_array_memory_size() < views);
        assert!(compacted.get_array_memory_size() < views + ROWS * 64);
    }
}
