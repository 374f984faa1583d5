//! The nouns of the Iceberg specification, as plain values.

pub mod name_mapping;
pub mod partition;
pub mod schema;
pub mod snapshot;
pub mod sort;
pub mod table_metadata;
pub mod types;
pub mod value;
pub mod value_binary;
pub mod value_order;
pub mod view_metadata;
