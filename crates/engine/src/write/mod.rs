//! Writing rows into Iceberg tables: distribution, partitioning, rolling Parquet files with their metrics, and the plan
//! node that commits them once.

pub mod append;
mod append_exec;
mod bounds;
mod conform;
mod float_metrics;
mod layout;
mod metrics;
mod metrics_mode;
pub mod options;
mod parquet_file;
mod parquet_options;
mod parquet_schema;
pub mod partition;
pub mod report;
mod rolling;
mod table_write;
mod transform_array;
mod transform_expr;
mod writer;
mod written_files;

#[cfg(test)]
mod tests;

pub use append::{MissingBranch, Replaced, WriteTarget, append};
pub use metrics_mode::{MetricsConfig, MetricsMode};
pub use options::{OptionSources, WriteOptions};
pub use parquet_options::ParquetOptions;
pub use report::{AppendReport, append_report};
pub use transform_array::transform_array;
