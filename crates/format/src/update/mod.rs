//! Changes of table and view metadata: [`TableUpdate`]s guarded by [`TableRequirement`]s (REST catalog spec), the
//! builders that produce them, and [`MetadataBuilder`], which alone applies them and keeps the spec's writer rules.

mod builder;
pub mod current_snapshot;
pub mod fresh_ids;
pub mod refs;
pub mod replace;
mod requirement;
pub mod requirements;
pub mod schema;
pub mod sort;
pub mod spec;
pub mod table_facts;
mod table_update;
mod table_update_json;
#[cfg(test)]
pub(crate) mod test_tables;
mod view_builder;
mod view_update;
mod view_update_json;

pub use builder::{
    MetadataBuilder, RESERVED_PROPERTIES, creation_updates, positive_property, validate_identifier_field,
};
pub use requirements::TableChange;
pub use table_update::{LAST_ADDED, TableRequirement, TableUpdate};
pub use view_builder::ViewMetadataBuilder;
pub use view_update::{ViewRequirement, ViewUpdate};
