//! What a statement gives back.

use std::sync::Arc;
use std::time::Duration;

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
    /// A committed write.
    Written(WriteReport),
}

/// What a write did to its table. [`Display`](std::fmt::Display) tells it in one line.
#[derive(Debug, Clone, PartialEq)]
pub struct WriteReport {
    /// The statement's first word, such as `INSERT`.
    pub statement: &'static str,
    /// The table, with its catalog and namespace.
    pub table: String,
    /// Rows that were added.
    pub rows: u64,
    /// Files that were added.
    pub files: usize,
    /// Length of the added files in bytes.
    pub bytes: u64,
    /// The new snapshot; `None` when there was nothing to commit.
    pub snapshot_id: Option<i64>,
    /// How long it took.
    pub duration: Duration,
    /// What the user should look at, a line each.
    pub warnings: Vec<String>,
}

impl std::fmt::Display for WriteReport {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (rows, files) = (count(self.rows, "row"), count(self.files as u64, "file"));
        write!(f, "{} {rows} in {files}", self.statement)?;
        if self.files > 0 {
            write!(f, " ({})", size(self.bytes))?;
        }
        if let Some(id) = self.snapshot_id {
            write!(f, ", snapshot {id}")?;
        }
        write!(f, ", {:.2} s", self.duration.as_secs_f64())?;
        self.warnings.iter().try_for_each(|w| write!(f, "; warning: {w}"))
    }
}

fn count(n: u64, what: &str) -> String {
    let plural = if n == 1 { "" } else { "s" };
    format!("{n} {what}{plural}")
}

/// A size in the largest binary unit of which there is at least one.
fn size(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let mut value = bytes as f64;
    let mut unit = "B";
    for larger in UNITS {
        if value < 1024.0 {
            break;
        }
        value /= 1024.0;
        unit = larger;
    }
    match unit {
        "B" => format!("{bytes} B"),
        unit => format!("{value:.1} {unit}"),
    }
}

impl std::fmt::Debug for Output {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Output::Rows(stream) => f.debug_tuple("Rows").field(&stream.schema()).finish(),
            Output::Done(line) => f.debug_tuple("Done").field(line).finish(),
            Output::Written(report) => f.debug_tuple("Written").field(report).finish(),
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
            Output::Done(_) | Output::Written(_) => Ok(Vec::new()),
        }
    }

    /// The rows' schema; empty for a statement that only did something.
    pub fn schema(&self) -> SchemaRef {
        match self {
            Output::Rows(stream) => stream.schema(),
            Output::Done(_) | Output::Written(_) => Arc::new(Schema::empty()),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_say_what_they_did() {
        let report = WriteReport {
            statement: "INSERT",
            table: "lake.db.t".to_string(),
            rows: 2,
            files: 1,
            bytes: 1_229,
            snapshot_id: Some(7),
            duration: Duration::from_millis(54),
            warnings: Vec::new(),
        };
        assert_eq!(
            report.to_string(),
            "INSERT 2 rows in 1 file (1.2 KiB), snapshot 7, 0.05 s"
        );
        let nothing = WriteReport {
            rows: 0,
            files: 0,
            bytes: 0,
            snapshot_id: None,
            warnings: vec!["look".to_string()],
            ..report
        };
        assert_eq!(nothing.to_string(), "INSERT 0 rows in 0 files, 0.05 s; warning: look");
        assert_eq!(
            [size(0), size(1023), size(1024), size(u64::MAX)],
            ["0 B", "1023 B", "1.0 KiB", "16.0 EiB"]
        );
    }
}
