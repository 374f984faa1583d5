//! Scans of Iceberg tables as DataFusion plans.

mod adapt_array;
mod field_id_adapter;
mod file_constants;
pub mod metadata_columns;
mod name_mapping;
mod nan_guard;
pub(crate) mod plan;
pub mod pushdown;
mod reader_factory;
mod source;
mod statistics;
mod strict_store;

pub use metadata_columns::MetadataColumn;
pub use source::IcebergSource;
