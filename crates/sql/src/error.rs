//! DataFusion's errors as Tarn's: one line that says what failed.

use std::error::Error as StdError;

use datafusion::arrow::error::ArrowError;
use datafusion::error::DataFusionError;
use datafusion::parquet::errors::ParquetError;
use tarn_engine::error_chain::causes;
use tarn_format::{Error, ErrorKind};

/// The error of a failed plan or query. A Tarn error anywhere among its causes comes out as it was.
pub fn from_engine(error: DataFusionError) -> Error {
    let error = match owned(error) {
        Ok(error) => return error,
        Err(error) => error,
    };
    let chain: Vec<_> = causes(&error).collect();
    let own = chain.iter().find_map(|e| e.downcast_ref::<Error>()).map(|own| {
        let line = Error::new(own.kind(), own.message());
        let line = own
            .context()
            .iter()
            .fold(line, |e, (key, value)| e.with_context(key, value));
        (line, own.cause())
    });
    let (told, cause) = own.unwrap_or_else(|| {
        let kind = chain.iter().filter_map(|e| kind_of(*e)).next_back();
        let line = message(&error);
        (Error::new(kind.unwrap_or(ErrorKind::InvalidInput), line), None)
    });
    told.retelling(error, cause)
}

/// A Tarn error that only DataFusion's layers surround.
fn owned(error: DataFusionError) -> Result<Error, DataFusionError> {
    match error {
        DataFusionError::External(inner) => match inner.downcast::<Error>() {
            Ok(error) => Ok(*error),
            Err(inner) => Err(DataFusionError::External(inner)),
        },
        DataFusionError::Context(context, inner) => {
            owned(*inner).map_err(|inner| DataFusionError::Context(context, Box::new(inner)))
        }
        DataFusionError::Diagnostic(_, inner) => owned(*inner),
        other => Err(other),
    }
}

/// What one error of a chain says about the whole.
fn kind_of(error: &(dyn StdError + 'static)) -> Option<ErrorKind> {
    if let Some(error) = error.downcast_ref::<DataFusionError>() {
        return match error {
            DataFusionError::ResourcesExhausted(_) => Some(ErrorKind::ResourcesExhausted),
            DataFusionError::NotImplemented(_) => Some(ErrorKind::Unsupported),
            DataFusionError::IoError(_) | DataFusionError::ObjectStore(_) => Some(ErrorKind::Io),
            _ => None,
        };
    }
    if error.is::<std::io::Error>() {
        return Some(ErrorKind::Io);
    }
    match error.downcast_ref::<ParquetError>() {
        Some(ParquetError::External(_)) | None => {}
        Some(ParquetError::NYI(_)) => return Some(ErrorKind::Unsupported),
        Some(_) => return Some(ErrorKind::Corrupt),
    }
    match error.downcast_ref::<ArrowError>()? {
        ArrowError::NotYetImplemented(_) => Some(ErrorKind::Unsupported),
        ArrowError::IoError(..) => Some(ErrorKind::Io),
        ArrowError::ParquetError(_) => Some(ErrorKind::Corrupt),
        _ => None,
    }
}

/// The first line of what failed, without the names of DataFusion's layers.
fn message(error: &DataFusionError) -> String {
    match error {
        // Which pass over the plan it was does not matter to the user.
        DataFusionError::Context(_, inner) | DataFusionError::Diagnostic(_, inner) => message(inner),
        DataFusionError::Shared(inner) => message(inner),
        DataFusionError::Collection(errors) if !errors.is_empty() => message(&errors[0]),
        DataFusionError::External(inner) => match inner.downcast_ref::<DataFusionError>() {
            Some(inner) => message(inner),
            None => line(&inner.to_string()),
        },
        DataFusionError::ArrowError(inner, _) => match inner.as_ref() {
            ArrowError::ExternalError(cause) => match cause.downcast_ref::<DataFusionError>() {
                Some(cause) => message(cause),
                None => line(&cause.to_string()),
            },
            other => line(&other.to_string()),
        },
        // What was tried when memory ran out does not matter either.
        DataFusionError::ResourcesExhausted(text) => line(text),
        other => line(&other.strip_backtrace()),
    }
}

fn line(text: &str) -> String {
    let text = text.split(DataFusionError::BACK_TRACE_SEP).next().unwrap_or_default();
    let mut rest = text.lines().find(|l| !l.trim().is_empty()).unwrap_or_default();
    for prefix in [
        "Error during planning: ",
        "Execution error: ",
        "External error: ",
        "Arrow error: ",
        "Schema error: ",
        "This feature is not implemented: ",
        "Not yet implemented: ",
        "Invalid argument error: ",
        "Compute error: ",
        "Cast error: ",
    ] {
        rest = rest.strip_prefix(prefix).unwrap_or(rest);
    }
    rest.to_string()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn own() -> Error {
        Error::new(ErrorKind::Corrupt, "a row group ends too soon")
            .with_context("file", "a.parquet")
            .with_source("short read")
    }

    #[test]
    fn own_errors_come_out_of_all_layers() {
        let arrow = || DataFusionError::from(ArrowError::ExternalError(Box::new(own())));
        let parquet = ParquetError::External(Box::new(own()));
        for error in [
            DataFusionError::External(Box::new(own())),
            DataFusionError::External(Box::new(own())).context("a pass"),
            DataFusionError::Shared(Arc::new(DataFusionError::External(Box::new(own())))),
            DataFusionError::Shared(Arc::new(arrow())),
            arrow(),
            DataFusionError::from(parquet),
            DataFusionError::External(Box::new(Arc::new(arrow()))),
        ] {
            let shown = error.to_string();
            let error = from_engine(error);
            assert_eq!(
                error.to_string(),
                "a row group ends too soon (file: a.parquet): short read",
                "{shown}"
            );
            assert_eq!(error.kind(), ErrorKind::Corrupt, "{shown}");
            assert_eq!(error.message(), "a row group ends too soon", "{shown}");
            assert_eq!(error.context(), [("file", "a.parquet".to_string())], "{shown}");
        }
    }

    #[test]
    fn the_kind_is_that_of_the_cause() {
        let full = || DataFusionError::ResourcesExhausted("no room\nfor a sort".to_string());
        let arrow = ArrowError::ExternalError(Box::new(full()));
        for (error, kind, text) in [
            (full().context("a sort"), ErrorKind::ResourcesExhausted, "no room"),
            (DataFusionError::from(arrow), ErrorKind::ResourcesExhausted, "no room"),
            (
                DataFusionError::NotImplemented("pivoting".to_string()).context("a pass"),
                ErrorKind::Unsupported,
                "pivoting",
            ),
            (
                DataFusionError::from(ArrowError::ComputeError("too late".to_string())).context("a pass"),
                ErrorKind::InvalidInput,
                "too late",
            ),
        ] {
            let error = from_engine(error);
            assert_eq!((error.kind(), error.message()), (kind, text));
            assert_eq!(error.to_string(), text, "told once");
        }
    }
}
