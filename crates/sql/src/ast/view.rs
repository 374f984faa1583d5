//! Views.

use sqlparser::ast::Query;

use super::{IfExists, Name, PropertyList};

/// CREATE VIEW
#[derive(Debug, Clone, PartialEq)]
pub struct CreateView {
    /// Its name.
    pub name: Name,
    /// What happens when it exists.
    pub mode: CreateViewMode,
    /// Where it is kept.
    pub storage: ViewStorage,
    /// Names of its columns; empty when they are those of the query.
    pub columns: Vec<ViewColumn>,
    /// COMMENT
    pub comment: Option<String>,
    /// TBLPROPERTIES
    pub properties: PropertyList,
    /// AS
    pub query: Box<Query>,
    /// The query as it is written.
    pub sql: String,
}

/// What CREATE VIEW does with a view of the same name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CreateViewMode {
    /// Fails.
    Create,
    /// Leaves it (IF NOT EXISTS).
    CreateIfNotExists,
    /// Replaces it (OR REPLACE).
    CreateOrReplace,
}

/// Where a view is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ViewStorage {
    /// In a catalog.
    Catalog,
    /// In the session (TEMPORARY).
    Session,
}

/// A column of a view.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ViewColumn {
    /// Its name.
    pub name: String,
    /// COMMENT
    pub comment: Option<String>,
}

/// ALTER VIEW
#[derive(Debug, Clone, PartialEq)]
pub enum AlterView {
    /// SET TBLPROPERTIES
    SetProperties(PropertyList),
    /// UNSET TBLPROPERTIES
    UnsetProperties {
        /// Which.
        keys: Vec<String>,
        /// Whether they may be missing.
        if_exists: IfExists,
    },
    /// RENAME TO
    RenameTo(Name),
    /// AS
    As {
        /// The query.
        query: Box<Query>,
        /// The query as it is written.
        sql: String,
    },
}
