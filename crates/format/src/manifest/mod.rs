//! Manifests and manifest lists (spec, "Manifests", "Manifest Lists"): rows, columns, Avro.

pub mod column_data;
pub mod columns;
pub mod data_file;
pub mod inherit;
pub mod manifest_file;
