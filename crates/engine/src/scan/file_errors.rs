//! What is told when a data file cannot be read: the file, the table, the snapshot, and what to do.

use std::error::Error as StdError;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::error::ArrowError;
use datafusion::error::{DataFusionError, Result};
use datafusion::parquet::errors::ParquetError;
use tarn_format::{Error, ErrorKind};

use super::file_planner::BatchStage;
use crate::external;

/// Which state of which table is read.
#[derive(Debug)]
pub(crate) struct ReadState {
    pub(crate) table: String,
    /// `None` for an empty table.
    pub(crate) snapshot_id: Option<i64>,
}

/// Explains the errors of reading one file.
#[derive(Debug)]
pub(super) struct FileErrors {
    file: String,
    state: Arc<ReadState>,
}

impl FileErrors {
    pub(super) fn new(file: &str, state: Arc<ReadState>) -> Self {
        FileErrors {
            file: file.to_string(),
            state,
        }
    }
}

impl BatchStage for FileErrors {
    fn batch(&self, batch: RecordBatch) -> Result<RecordBatch> {
        Ok(batch)
    }

    fn error(&self, error: DataFusionError) -> DataFusionError {
        let error = match error {
            DataFusionError::External(inner) => match inner.downcast::<Error>() {
                Ok(own) => return external(self.completed(*own)),
                Err(inner) => DataFusionError::External(inner),
            },
            other => other,
        };
        let told = match cause(&error) {
            Cause::Other => return error,
            Cause::Missing => gone(),
            Cause::Unreadable => Error::new(
                ErrorKind::Io,
                "a data file cannot be read now: check the store and run the statement again",
            ),
            Cause::Broken => Error::corrupt(
                "a data file is broken: restore it from a copy, or read a snapshot from before it was added",
            ),
        };
        external(self.completed(told).with_source(error))
    }
}

impl FileErrors {
    /// The error with what it does not say yet.
    fn completed(&self, error: Error) -> Error {
        let snapshot = self.state.snapshot_id.map(|id| id.to_string());
        let pairs = [
            ("file", &self.file),
            ("table", &self.state.table),
            ("snapshot", &snapshot.unwrap_or_default()),
        ];
        let known: Vec<&str> = error.context().iter().map(|(key, _)| *key).collect();
        let missing = pairs.map(|(key, value)| (!known.contains(&key)).then(|| (key, value.clone())));
        let error = match error.kind() {
            // The store's own words say nothing of what to do.
            ErrorKind::NotFound => error
                .context()
                .iter()
                .fold(gone(), |e, (key, value)| e.with_context(key, value)),
            _ => error,
        };
        let missing = missing.into_iter().flatten();
        missing.fold(error, |e, (key, value)| e.with_context(key, value))
    }
}

fn gone() -> Error {
    Error::new(
        ErrorKind::NotFound,
        "a file of the table is gone: the snapshot that is read was expired, or the file was removed by hand; \
         run the statement again to read the table as it is now",
    )
}

/// Why a file could not be read.
#[derive(Debug, PartialEq, Eq)]
enum Cause {
    /// It is not there.
    Missing,
    /// The store failed.
    Unreadable,
    /// Its bytes are no data file.
    Broken,
    /// It is explained already, or does not lie in the file: memory that ran out, a division by zero in a filter.
    Other,
}

fn cause(error: &DataFusionError) -> Cause {
    let mut next: Option<&(dyn StdError + 'static)> = Some(error);
    let mut found = Cause::Other;
    while let Some(error) = next {
        if error.is::<Error>() {
            return Cause::Other;
        }
        match error.downcast_ref::<object_store::Error>() {
            Some(object_store::Error::NotFound { .. }) => return Cause::Missing,
            Some(_) => found = Cause::Unreadable,
            None => {}
        }
        match error.downcast_ref::<DataFusionError>() {
            Some(DataFusionError::ResourcesExhausted(_)) => return Cause::Other,
            Some(DataFusionError::ObjectStore(_) | DataFusionError::IoError(_)) => found = Cause::Unreadable,
            Some(DataFusionError::ParquetError(_)) => found = Cause::Broken,
            _ => {}
        }
        match error.downcast_ref::<ParquetError>() {
            Some(ParquetError::NYI(_)) => return Cause::Other,
            Some(ParquetError::External(_)) | None => {}
            Some(_) => found = Cause::Broken,
        }
        if let Some(ArrowError::ParquetError(_)) = error.downcast_ref() {
            found = Cause::Broken;
        }
        next = match error.downcast_ref::<Arc<DataFusionError>>() {
            // The source of an `Arc` is that of its error, which would be passed over.
            Some(shared) => Some(shared.as_ref()),
            None => error.source(),
        };
    }
    found
}
