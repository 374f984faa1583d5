//! Iceberg tables in DataFusion: reading, appending, changing rows, metadata tables, and files that belong to no table.

#![warn(missing_docs)]

pub mod arrow;
pub mod caches;
pub mod deletes;
pub mod error_chain;
pub mod files;
pub mod inspect;
pub mod provider;
pub mod rowlevel;
pub mod scan;
pub mod static_table;
pub mod write;

use datafusion::error::DataFusionError;

pub use caches::Caches;
pub use inspect::{MetadataTable, MetadataTableKind};
pub use provider::IcebergTable;

/// The error as DataFusion carries it.
pub(crate) fn external(error: tarn_format::Error) -> DataFusionError {
    DataFusionError::External(Box::new(error))
}

/// What DataFusion carries as an error of ours: the one inside, if there is one.
pub(crate) fn format_error(error: DataFusionError) -> tarn_format::Error {
    use tarn_format::{Error, ErrorKind};
    match error {
        DataFusionError::External(inner) => match inner.downcast::<Error>() {
            Ok(ours) => *ours,
            Err(other) => Error::new(ErrorKind::Io, "a file cannot be read").with_source(other),
        },
        DataFusionError::Context(_, inner) => format_error(*inner),
        DataFusionError::ObjectStore(inner) => Error::new(ErrorKind::Io, "a file cannot be read").with_source(inner),
        DataFusionError::ResourcesExhausted(message) => Error::new(ErrorKind::ResourcesExhausted, message),
        other => Error::corrupt("a file cannot be read").with_source(other),
    }
}
