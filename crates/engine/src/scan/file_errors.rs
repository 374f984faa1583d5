//! What is told when a data file cannot be read: the file, the table, the snapshot, and what to do.

use std::fmt;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::error::ArrowError;
use datafusion::error::{DataFusionError, Result};
use datafusion::parquet::errors::ParquetError;
use tarn_format::{Error, ErrorKind};

use super::file_planner::BatchStage;
use crate::error_chain::causes;
use crate::external;

/// What is told of files that say themselves that they are encrypted, and of those that cannot be read and have a key in their
/// manifest entry (spec, "Data File Fields", `key_metadata`). A key alone says nothing: there are files with one in plain text.
pub(crate) const ENCRYPTED: &str =
    "the file is encrypted, which cannot be read yet: read the table with an engine that has its keys";

/// Whether there is a key. Some writers say that there is none by no bytes.
pub(crate) fn has_key(metadata: Option<&[u8]>) -> bool {
    metadata.is_some_and(|key| !key.is_empty())
}

/// That a Parquet file's footer is encrypted, as the reader of footers tells it.
#[derive(Debug)]
pub(crate) struct EncryptedFooter;

impl fmt::Display for EncryptedFooter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the footer is encrypted")
    }
}

impl std::error::Error for EncryptedFooter {}

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
    has_key: bool,
    state: Arc<ReadState>,
}

impl FileErrors {
    /// Of a file with this key in its manifest entry.
    pub(super) fn new(file: &str, key: Option<&[u8]>, state: Arc<ReadState>) -> Self {
        FileErrors {
            file: file.to_string(),
            has_key: has_key(key),
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
            Cause::Encrypted => Error::unsupported(ENCRYPTED),
            Cause::Broken if self.has_key => Error::unsupported(ENCRYPTED),
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
        // The store's own words say nothing of what to do.
        let error = match error.kind() {
            ErrorKind::NotFound => with_pairs(gone(), error.context().to_vec()),
            ErrorKind::Corrupt if self.has_key && error.context().iter().all(|(key, _)| *key != "data file") => {
                with_pairs(Error::unsupported(ENCRYPTED), error.context().to_vec())
            }
            _ => error,
        };
        let mut pairs = vec![("file", self.file.clone()), ("table", self.state.table.clone())];
        pairs.extend(self.state.snapshot_id.map(|id| ("snapshot", id.to_string())));
        pairs.retain(|(key, _)| error.context().iter().all(|(known, _)| known != key));
        with_pairs(error, pairs)
    }
}

fn with_pairs(error: Error, pairs: Vec<(&'static str, String)>) -> Error {
    pairs
        .into_iter()
        .fold(error, |e, (key, value)| e.with_context(key, value))
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
    /// It cannot be read without keys.
    Encrypted,
    /// The store failed.
    Unreadable,
    /// Its bytes are no data file.
    Broken,
    /// It is explained already, or does not lie in the file: memory that ran out, a division by zero in a filter.
    Other,
}

fn cause(error: &DataFusionError) -> Cause {
    let mut found = Cause::Other;
    for error in causes(error) {
        if error.is::<Error>() {
            return Cause::Other;
        }
        if error.is::<EncryptedFooter>() {
            return Cause::Encrypted;
        }
        match error.downcast_ref::<object_store::Error>() {
            Some(object_store::Error::NotFound { .. }) => return Cause::Missing,
            Some(_) => found = Cause::Unreadable,
            None => {}
        }
        match error.downcast_ref::<DataFusionError>() {
            Some(DataFusionError::ResourcesExhausted(_)) => return Cause::Other,
            Some(DataFusionError::IoError(_)) => found = Cause::Unreadable,
            _ => {}
        }
        match error.downcast_ref::<ParquetError>() {
            Some(ParquetError::NYI(_)) => return Cause::Other,
            // Filters that the reader evaluates fail with Arrow's errors.
            Some(ParquetError::External(_) | ParquetError::ArrowError(_)) | None => {}
            Some(_) => found = Cause::Broken,
        }
        match error.downcast_ref::<ArrowError>() {
            Some(ArrowError::ParquetError(text)) if is_of_parquet(text) => found = Cause::Broken,
            _ => {}
        }
    }
    found
}

/// Whether Parquet's reader failed by itself, not by what it was given. Only the text of its error is left by then.
fn is_of_parquet(text: &str) -> bool {
    !["Arrow: ", "External: "]
        .iter()
        .any(|of_others| text.starts_with(of_others))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn explained(error: DataFusionError) -> Option<ErrorKind> {
        let state = ReadState {
            table: "db.t".to_string(),
            snapshot_id: Some(7),
        };
        let DataFusionError::External(told) = FileErrors::new("a.parquet", None, Arc::new(state)).error(error) else {
            return None;
        };
        let told = told.downcast::<Error>().unwrap();
        let text = told.to_string();
        assert!(
            ["file: a.parquet", "table: db.t", "snapshot: 7"]
                .iter()
                .all(|t| text.contains(t)),
            "{text}"
        );
        Some(told.kind())
    }

    #[test]
    fn what_lies_in_the_file_is_explained() {
        let missing = || object_store::Error::NotFound {
            path: "a.parquet".to_string(),
            source: "no such file".into(),
        };
        let generic = || object_store::Error::Generic {
            store: "s3",
            source: "busy".into(),
        };
        let in_parquet =
            |e: object_store::Error| DataFusionError::ParquetError(Box::new(ParquetError::External(Box::new(e))));
        for (error, kind) in [
            (in_parquet(missing()), ErrorKind::NotFound),
            (DataFusionError::ObjectStore(Box::new(missing())), ErrorKind::NotFound),
            (in_parquet(generic()), ErrorKind::Io),
            (DataFusionError::Shared(Arc::new(in_parquet(generic()))), ErrorKind::Io),
            (
                DataFusionError::ParquetError(Box::new(ParquetError::EOF("short".to_string()))),
                ErrorKind::Corrupt,
            ),
            (
                ArrowError::from(ParquetError::General("no page".to_string())).into(),
                ErrorKind::Corrupt,
            ),
            (
                DataFusionError::External(Box::new(Error::not_found("file not found"))),
                ErrorKind::NotFound,
            ),
            (
                DataFusionError::ParquetError(Box::new(ParquetError::External(Box::new(EncryptedFooter)))),
                ErrorKind::Unsupported,
            ),
            (
                DataFusionError::External(Box::new(Error::unsupported("encrypted"))),
                ErrorKind::Unsupported,
            ),
        ] {
            let shown = error.to_string();
            assert_eq!(explained(error), Some(kind), "{shown}");
        }
    }

    #[test]
    fn what_does_not_lie_in_the_file_is_left_alone() {
        let division = || ParquetError::from(ArrowError::DivideByZero);
        for error in [
            DataFusionError::ResourcesExhausted("memory".to_string()),
            DataFusionError::Execution("no such time zone".to_string()),
            ArrowError::DivideByZero.into(),
            DataFusionError::ParquetError(Box::new(division())),
            ArrowError::from(division()).into(),
        ] {
            let shown = error.to_string();
            assert_eq!(explained(error), None, "{shown}");
        }
    }
}
