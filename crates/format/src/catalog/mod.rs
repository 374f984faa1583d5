//! What a catalog is: the trait that every backend implements and [`CatalogFactory`], by which the SQL layer
//! makes catalogs without seeing any.

mod ident;
pub mod relocation;
pub mod table_directory;

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::Arc;

use async_trait::async_trait;

pub use ident::{Namespace, TableIdent};

use crate::error::Result;
use crate::io::FileIo;
use crate::spec::partition::PartitionSpec;
use crate::spec::schema::Schema;
use crate::spec::snapshot::Properties;
use crate::spec::sort::SortOrder;
use crate::spec::table_metadata::{FormatVersion, TableMetadataRef};
use crate::spec::view_metadata::{ViewMetadata, ViewVersion};
use crate::update::{TableRequirement, TableUpdate, ViewRequirement, ViewUpdate};

/// A table as a catalog loaded it: immutable, at one metadata file.
#[derive(Debug, Clone)]
pub struct Table {
    /// Its name in the catalog.
    pub ident: TableIdent,
    /// Its state.
    pub metadata: TableMetadataRef,
    /// Where that state is stored. `None` only for a staged table that was never committed.
    pub metadata_location: Option<String>,
    /// How its files are reached.
    pub io: FileIo,
}

/// A view as a catalog loaded it.
#[derive(Debug, Clone)]
pub struct View {
    /// Its name in the catalog.
    pub ident: TableIdent,
    /// Its state.
    pub metadata: Arc<ViewMetadata>,
    /// Where that state is stored.
    pub metadata_location: String,
}

/// What a new table shall be. Field ids of schema, spec and order are assigned anew, as Java's
/// `TableMetadata.newTableMetadata` does.
#[derive(Debug, Clone)]
pub struct TableCreation {
    /// Columns; ids only tie spec, order and identifier fields to them.
    pub schema: Schema,
    /// Partitioning; `None` is unpartitioned.
    pub partition_spec: Option<PartitionSpec>,
    /// Sort order; `None` is unsorted.
    pub sort_order: Option<SortOrder>,
    /// Base location; `None` lets the catalog choose.
    pub location: Option<String>,
    /// Table properties. `format-version` is taken out and obeyed.
    pub properties: Properties,
    /// Format version where the properties give none.
    pub format_version: FormatVersion,
}

/// What a new view shall be.
#[derive(Debug, Clone)]
pub struct ViewCreation {
    /// Schema of its result, ids assigned by the caller.
    pub schema: Schema,
    /// Its first version; ids and time are set by the catalog.
    pub version: ViewVersion,
    /// Base location; `None` lets the catalog choose.
    pub location: Option<String>,
    /// Properties.
    pub properties: Properties,
}

/// A change of one table, applied as a whole or not at all.
#[derive(Debug, Clone)]
pub struct TableCommit {
    /// The table. It is created when the requirements hold [`TableRequirement::NotExist`].
    pub ident: TableIdent,
    /// What must hold of the current state, else the commit fails with `Conflict`.
    pub requirements: Vec<TableRequirement>,
    /// The changes, in order.
    pub updates: Vec<TableUpdate>,
}

/// A change of one view.
#[derive(Debug, Clone)]
pub struct ViewCommit {
    /// The view.
    pub ident: TableIdent,
    /// What must hold of the current state.
    pub requirements: Vec<ViewRequirement>,
    /// The changes, in order.
    pub updates: Vec<ViewUpdate>,
}

/// Whether dropping a table also deletes its files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purge {
    /// Files stay. A hadoop catalog removes the table's directory either way, as Java does, because the directory is
    /// the table.
    Keep,
    /// All files that only this table's metadata reaches are deleted, as Java's `CatalogUtil.dropTableData`.
    Delete,
}

/// Whether data and delete files may be deleted with a table (`gc.enabled`): they may belong to other tables too. They may
/// when nothing is said, and else for the word `true` alone, in any case (Java: `PropertyUtil.propertyAsBoolean`).
pub fn gc_enabled(properties: &Properties) -> bool {
    properties
        .get("gc.enabled")
        .is_none_or(|v| v.eq_ignore_ascii_case("true"))
}

/// A place that names tables and swaps their metadata atomically.
///
/// Errors common to all: `NotFound` for a missing namespace, table or view; `AlreadyExists` when the name is taken by a
/// table or a view; `Unsupported` where the backend lacks a feature. Commits fail with `Conflict` when a requirement
/// does not hold or another writer won, and with `CommitStateUnknown` when the outcome cannot be known.
#[async_trait]
pub trait Catalog: Debug + Send + Sync {
    /// The name it was configured with.
    fn name(&self) -> &str;

    /// How files of a table at this location are reached.
    fn file_io(&self) -> &FileIo;

    /// Namespaces directly below `parent`; the top ones when it is the root.
    async fn list_namespaces(&self, parent: &Namespace) -> Result<Vec<Namespace>>;
    /// Creates a namespace. Parents need not exist where the backend does not keep them.
    async fn create_namespace(&self, namespace: &Namespace, properties: Properties) -> Result<()>;
    /// Properties of a namespace.
    async fn load_namespace(&self, namespace: &Namespace) -> Result<Properties>;
    /// Whether a namespace exists.
    async fn namespace_exists(&self, namespace: &Namespace) -> Result<bool>;
    /// Removes and sets properties of a namespace.
    async fn update_namespace(&self, namespace: &Namespace, removals: &[String], updates: Properties) -> Result<()>;
    /// Drops an empty namespace; `NotEmpty` otherwise.
    async fn drop_namespace(&self, namespace: &Namespace) -> Result<()>;

    /// Tables of a namespace, sorted.
    async fn list_tables(&self, namespace: &Namespace) -> Result<Vec<TableIdent>>;
    /// Whether a table of this name exists.
    async fn table_exists(&self, ident: &TableIdent) -> Result<bool>;
    /// Creates an empty table.
    async fn create_table(&self, ident: &TableIdent, creation: TableCreation) -> Result<Table>;
    /// The metadata a new table would have, uncommitted: commit its changes with [`TableRequirement::NotExist`].
    async fn stage_table(&self, ident: &TableIdent, creation: TableCreation) -> Result<Table>;
    /// Loads a table.
    async fn load_table(&self, ident: &TableIdent) -> Result<Table>;
    /// Adds an existing metadata file as a table.
    async fn register_table(&self, ident: &TableIdent, metadata_location: &str) -> Result<Table>;
    /// Drops a table.
    async fn drop_table(&self, ident: &TableIdent, purge: Purge) -> Result<()>;
    /// Renames a table; the namespace of the new name must exist.
    async fn rename_table(&self, from: &TableIdent, to: &TableIdent) -> Result<()>;
    /// Applies a change atomically: one attempt, no retry.
    async fn commit_table(&self, commit: TableCommit) -> Result<Table>;

    /// Views of a namespace, sorted.
    async fn list_views(&self, namespace: &Namespace) -> Result<Vec<TableIdent>>;
    /// Whether a view of this name exists.
    async fn view_exists(&self, ident: &TableIdent) -> Result<bool>;
    /// Creates a view.
    async fn create_view(&self, ident: &TableIdent, creation: ViewCreation) -> Result<View>;
    /// Loads a view.
    async fn load_view(&self, ident: &TableIdent) -> Result<View>;
    /// Drops a view.
    async fn drop_view(&self, ident: &TableIdent) -> Result<()>;
    /// Renames a view.
    async fn rename_view(&self, from: &TableIdent, to: &TableIdent) -> Result<()>;
    /// Applies a change of a view atomically.
    async fn commit_view(&self, commit: ViewCommit) -> Result<View>;
}

/// Makes catalogs from properties (`type`, `uri`, `warehouse`, …).
#[async_trait]
pub trait CatalogFactory: Debug + Send + Sync {
    /// Makes the catalog `name`.
    async fn create(&self, name: &str, properties: &BTreeMap<String, String>) -> Result<Arc<dyn Catalog>>;
}
