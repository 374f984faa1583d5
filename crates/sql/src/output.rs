//! What a statement gives back.

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, RecordBatch, StringArray};
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::execution::SendableRecordBatchStream;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use tarn_format::{Error, Result};

/// The result of a statement.
pub enum Output {
    /// Rows, as they come.
    Rows(SendableRecordBatchStream),
    /// Nothing to show but what was done, in one line.
    Done(String),
}

impl std::fmt::Debug for Output {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Output::Rows(stream) => f.debug_tuple("Rows").field(&stream.schema()).finish(),
            Output::Done(line) => f.debug_tuple("Done").field(line).finish(),
        }
    }
}

impl Output {
    /// All rows at once; none for a statement that only did something.
    ///
    /// # Errors
    /// What running the query met.
    pub async fn collect(self) -> Result<Vec<RecordBatch>> {
        match self {
            Output::Rows(stream) => datafusion::physical_plan::common::collect(stream)
                .await
                .map_err(crate::error::from_engine),
            Output::Done(_) => Ok(Vec::new()),
        }
    }

    /// The rows' schema; empty for a statement that only did something.
    pub fn schema(&self) -> SchemaRef {
        match self {
            Output::Rows(stream) => stream.schema(),
            Output::Done(_) => Arc::new(Schema::empty()),
        }
    }

    /// Rows of text.
    ///
    /// # Errors
    /// Never for rows as long as `columns`.
    pub fn text<const N: usize>(columns: [&str; N], rows: Vec<[Option<String>; N]>) -> Result<Output> {
        let fields: Vec<Field> = columns.iter().map(|c| Field::new(*c, DataType::Utf8, true)).collect();
        let schema = Arc::new(Schema::new(fields));
        let column = |i: usize| -> ArrayRef { Arc::new(StringArray::from_iter(rows.iter().map(|r| r[i].as_deref()))) };
        let batch = RecordBatch::try_new(Arc::clone(&schema), (0..N).map(column).collect());
        let batch = batch.map_err(|e| Error::corrupt("rows do not fit their columns").with_source(e))?;
        Ok(Output::batch(batch))
    }

    /// Rows that are there already.
    pub fn batch(batch: RecordBatch) -> Output {
        let schema = batch.schema();
        let stream = futures::stream::iter([Ok(batch)]);
        Output::Rows(Box::pin(RecordBatchStreamAdapter::new(schema, stream)))
    }
}
