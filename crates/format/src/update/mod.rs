//! Changes of table and view metadata: [`TableUpdate`]s guarded by [`TableRequirement`]s (REST catalog spec), the
//! builders that produce them, and [`MetadataBuilder`], which alone applies them and keeps the spec's writer rules.

mod builder;
pub mod fresh_ids;
mod requirement;
mod table_update;
mod view_update;

pub use builder::{
    MetadataBuilder, RESERVED_PROPERTIES, creation_updates, positive_property, validate_identifier_field,
};
pub use table_update::{LAST_ADDED, TableRequirement, TableUpdate};
pub use view_update::{ViewRequirement, ViewUpdate};
