//! Manifests and manifest lists (spec, "Manifests", "Manifest Lists"): rows, columns, Avro.

pub mod avro;
pub mod cache;
pub mod column_data;
pub mod columns;
pub mod data_file;
pub mod inherit;
pub mod list;
pub mod manifest_file;
mod metrics_maps;
mod partition_values;
mod plan;
pub mod reader;
mod summary;
mod write_schema;
pub mod writer;

#[cfg(test)]
mod tests;
