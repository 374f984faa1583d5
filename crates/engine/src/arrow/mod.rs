//! Iceberg's schemas and values in Arrow's terms, and back.

pub mod parent_nulls;
pub mod schema;
pub mod time_zone;
pub mod value;
pub mod variant;
