//! Scans of Iceberg tables as DataFusion plans.

pub(crate) mod adapt_array;
pub(crate) mod avro;
mod columns;
mod deleted_rows;
mod distinct_counts;
mod equality_deletes;
mod field_id_adapter;
mod file_constants;
pub(crate) mod file_errors;
mod file_opening;
mod file_planner;
mod late_decoding;
mod live_rows;
pub mod metadata_columns;
pub(crate) mod name_mapping;
pub(crate) mod nan_guard;
pub(crate) mod orc;
pub(crate) mod plan;
mod proven_order;
pub mod pushdown;
pub mod read_options;
pub(crate) mod reader_factory;
mod report;
mod row_access;
pub(crate) mod row_batches;
mod row_file;
mod row_lineage;
mod source;
mod statistics;
mod strict_store;

pub use metadata_columns::MetadataColumn;
pub use read_options::{AnswersFrom, ReadOptions};
pub use source::IcebergSource;
