//! DataFusion's errors as Tarn's: one line that says what failed.

use datafusion::error::DataFusionError;
use tarn_format::{Error, ErrorKind};

/// The error of a failed plan or query. A Tarn error inside it comes out as it was.
pub fn from_engine(error: DataFusionError) -> Error {
    match unwrap(error) {
        Ok(error) => error,
        Err(error) => {
            let kind = match error.find_root() {
                // What was tried when memory ran out does not matter to the user.
                DataFusionError::ResourcesExhausted(message) => {
                    let line = message.lines().next().unwrap_or_default();
                    return Error::new(ErrorKind::ResourcesExhausted, line);
                }
                DataFusionError::NotImplemented(_) => ErrorKind::Unsupported,
                DataFusionError::IoError(_) | DataFusionError::ObjectStore(_) => ErrorKind::Io,
                _ => ErrorKind::InvalidInput,
            };
            Error::new(kind, message(&error))
        }
    }
}

fn unwrap(error: DataFusionError) -> Result<Error, DataFusionError> {
    match error {
        DataFusionError::External(inner) => match inner.downcast::<Error>() {
            Ok(error) => Ok(*error),
            Err(inner) => Err(DataFusionError::External(inner)),
        },
        DataFusionError::Context(context, inner) => {
            unwrap(*inner).map_err(|inner| DataFusionError::Context(context, Box::new(inner)))
        }
        DataFusionError::Diagnostic(_, inner) => unwrap(*inner),
        DataFusionError::Shared(inner) => match inner.as_ref() {
            DataFusionError::External(e) => match e.downcast_ref::<Error>() {
                Some(e) => Ok(Error::new(e.kind(), e.to_string())),
                None => Err(DataFusionError::Shared(inner)),
            },
            _ => Err(DataFusionError::Shared(inner)),
        },
        other => Err(other),
    }
}

/// The first line, without the names of DataFusion's layers.
fn message(error: &DataFusionError) -> String {
    let text = error.strip_backtrace();
    let line = text.lines().next().unwrap_or_default();
    let mut rest = line;
    for prefix in [
        "Error during planning: ",
        "Execution error: ",
        "External error: ",
        "Arrow error: ",
        "Schema error: ",
        "Optimizer rule ",
        "Invalid argument error: ",
        "Cast error: ",
    ] {
        rest = rest.strip_prefix(prefix).unwrap_or(rest);
    }
    rest.to_string()
}
