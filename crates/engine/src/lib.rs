//! Iceberg tables in DataFusion: reading, appending, metadata tables, and files that belong to no table.

#![warn(missing_docs)]

pub mod arrow;
pub mod caches;
pub mod files;
pub mod inspect;
pub mod provider;
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
