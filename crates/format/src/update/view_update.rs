//! Updates and requirements of views, as the REST catalog's `CommitViewRequest` names them.

use crate::spec::schema::Schema;
use crate::spec::snapshot::Properties;
use crate::spec::view_metadata::ViewVersion;

/// One change of view metadata.
#[derive(Debug, Clone, PartialEq)]
pub enum ViewUpdate {
    /// Sets the uuid.
    AssignUuid(uuid::Uuid),
    /// Raises the format version.
    UpgradeFormatVersion(i32),
    /// Adds a schema; an equal one is reused.
    AddSchema(Schema),
    /// Sets the base location.
    SetLocation(String),
    /// Sets properties.
    SetProperties(Properties),
    /// Removes properties.
    RemoveProperties(Vec<String>),
    /// Adds a version; an equal one is reused. Schema id [`super::table_update::LAST_ADDED`] allowed.
    AddVersion(ViewVersion),
    /// Makes a version current; [`super::table_update::LAST_ADDED`] allowed.
    SetCurrentVersion(i32),
}

/// What must hold of a view before a change is applied.
#[derive(Debug, Clone, PartialEq)]
pub enum ViewRequirement {
    /// The uuid must be this.
    UuidMatch(uuid::Uuid),
}
