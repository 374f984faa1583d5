//! The nouns of the Iceberg specification, as plain values.

pub(crate) mod iso_time;
pub(crate) mod json_fields;
pub mod metadata_file;
pub mod name_mapping;
pub mod partition;
pub(crate) mod partition_json;
mod partition_path;
pub mod partition_type;
pub mod schema;
mod schema_json;
pub mod snapshot;
pub(crate) mod snapshot_json;
pub mod sort;
mod sort_json;
mod statistics_json;
pub mod table_metadata;
pub(crate) mod table_metadata_json;
pub mod types;
pub mod types_json;
pub mod unknown_fields;
pub mod value;
pub mod value_binary;
pub mod value_json;
pub mod value_order;
pub mod view_metadata;
pub mod view_metadata_json;
