//! Writing rows into Iceberg tables: distribution, partitioning, rolling Parquet files with their metrics, and the plan
//! node that commits them once.

pub mod append;
pub(crate) mod append_exec;
mod avro_file;
mod avro_options;
mod avro_rows;
mod avro_schema;
mod bounds;
mod column_metrics;
mod conform;
mod data_files;
mod float_metrics;
pub(crate) mod layout;
mod metrics;
mod metrics_mode;
pub mod options;
mod orc_file;
mod orc_options;
mod orc_schema;
mod orc_stripe;
mod parquet_file;
mod parquet_options;
mod parquet_schema;
pub mod partition;
pub(crate) mod patch;
pub(crate) mod position_deletes;
pub mod report;
mod rolling;
pub(crate) mod row_lineage;
mod schema_growth;
pub(crate) mod statement_write;
mod table_write;
mod transform_array;
mod transform_expr;
mod writer;
mod written_files;

#[cfg(test)]
pub(crate) mod tests;

pub use append::{ExistingRows, MissingBranch, Replaced, WriteTarget, append};
pub use metrics_mode::{MetricsConfig, MetricsMode};
pub use options::{OptionSources, OverwriteChecks, WriteOptions};
pub use parquet_options::ParquetOptions;
pub use report::{AppendReport, append_report};
pub use schema_growth::{SchemaGrowth, nullable_fields};
pub use transform_array::transform_array;
