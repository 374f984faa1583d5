//! Rows that follow from table metadata alone: made at once, one projected column after another.

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions, StringArray, StringViewArray};
use arrow::datatypes::{DataType, Field, SchemaRef as ArrowSchemaRef};
use datafusion::common::stats::Precision;
use datafusion::error::Result;
use futures::StreamExt;
use futures::stream::{self, BoxStream};

use super::exec::RowSource;
use super::state::TableState;
use crate::arrow::schema::UTC;

/// The rows of a metadata table that needs nothing but table metadata.
#[derive(Debug)]
pub(super) struct StaticRows {
    pub(super) state: Arc<TableState>,
    pub(super) len: usize,
    /// Makes a column of the table, whole.
    pub(super) column: fn(&TableState, &Field) -> Result<ArrayRef>,
}

impl RowSource for StaticRows {
    fn row_count(&self) -> Precision<usize> {
        Precision::Exact(self.len)
    }

    fn open(
        self: Arc<Self>,
        _partition: usize,
        schema: ArrowSchemaRef,
        batch_size: usize,
    ) -> BoxStream<'static, Result<RecordBatch>> {
        let columns = schema.fields().iter().map(|f| (self.column)(&self.state, f));
        let whole = columns
            .collect::<Result<Vec<_>>>()
            .and_then(|columns| batch(schema, columns, self.len));
        match whole {
            Ok(whole) => stream::iter(slices(&whole, batch_size).map(Ok).collect::<Vec<_>>()).boxed(),
            Err(e) => stream::once(async { Err(e) }).boxed(),
        }
    }
}

/// A batch of so many rows, also when it has no columns.
pub(super) fn batch(schema: ArrowSchemaRef, columns: Vec<ArrayRef>, rows: usize) -> Result<RecordBatch> {
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    Ok(RecordBatch::try_new_with_options(schema, columns, &options)?)
}

/// A batch in pieces of at most so many rows.
pub(super) fn slices(whole: &RecordBatch, rows: usize) -> impl Iterator<Item = RecordBatch> + '_ {
    let starts = (0..whole.num_rows()).step_by(rows.max(1));
    starts.map(move |start| whole.slice(start, rows.min(whole.num_rows() - start)))
}

/// Text as columns have it at top level, or as fields of structs do.
pub(super) fn text<'a>(data_type: &DataType, values: impl Iterator<Item = Option<&'a str>>) -> ArrayRef {
    match data_type {
        DataType::Utf8View => Arc::new(values.collect::<StringViewArray>()),
        _ => Arc::new(values.collect::<StringArray>()),
    }
}

/// Times of commits, given in milliseconds since epoch; those past what microseconds can tell become null.
pub(super) fn times(values_ms: impl Iterator<Item = Option<i64>>) -> ArrayRef {
    let micros = values_ms.map(|ms| ms.and_then(|ms| ms.checked_mul(1000)));
    let micros: arrow::array::TimestampMicrosecondArray = micros.collect();
    Arc::new(micros.with_timezone(UTC))
}

/// A column that the table does not have: its schema and its rows disagree.
pub(super) fn no_such_column(field: &Field) -> Result<ArrayRef> {
    datafusion::common::internal_err!("the metadata table makes no column '{}'", field.name())
}
