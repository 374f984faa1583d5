//! Manifests and manifest lists (spec, "Manifests", "Manifest Lists"): rows, columns, Avro.

pub mod columns;
pub mod data_file;
pub mod manifest_file;
