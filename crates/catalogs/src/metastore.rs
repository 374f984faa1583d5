//! A catalog over a `PointerStore`: what Java's `BaseMetastoreCatalog` and `BaseMetastoreTableOperations` are to the
//! catalogs that keep one pointer per table.
//!
//! A commit writes a new metadata file under a name of its own, then moves the pointer by compare-and-swap. The file is
//! deleted again only when the pointer surely was not moved.

mod tables;
mod views;

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use tarn_format::catalog::{
    Catalog, Namespace, Purge, Table, TableCommit, TableCreation, TableIdent, View, ViewCommit, ViewCreation,
};
use tarn_format::io::FileIo;
use tarn_format::spec::snapshot::Properties;
use tarn_format::{Error, Result};

use crate::memory::MemoryPointers;
use crate::metadata_ops::creation::{default_location, namespace_location};
use crate::metadata_ops::settings::CatalogSettings;
use crate::pointers::{EntryKind, Pointer, PointerStore, existing_entry, missing_entry, missing_namespace};
use crate::sql::{SqlOptions, SqlPointers};

/// The namespace property that names the place of its tables.
const LOCATION: &str = "location";

/// How often a metadata file may vanish under a reader (deleted by a later commit) before it is taken as lost.
const MAX_READ_ATTEMPTS: u32 = 32;

/// A catalog that keeps one pointer per table or view: in memory, or in a SQLite database.
pub struct MetastoreCatalog {
    name: String,
    io: FileIo,
    settings: CatalogSettings,
    pointers: Arc<dyn PointerStore>,
}

impl fmt::Debug for MetastoreCatalog {
    /// Leaves out properties: they may hold secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MetastoreCatalog")
            .field("name", &self.name)
            .field("warehouse", &self.settings.warehouse)
            .finish_non_exhaustive()
    }
}

impl MetastoreCatalog {
    /// A catalog whose names live in memory; its files go where `io` puts them.
    pub(crate) fn memory(name: &str, io: FileIo, settings: CatalogSettings) -> Self {
        let pointers: Arc<dyn PointerStore> = Arc::new(MemoryPointers::default());
        MetastoreCatalog {
            name: name.to_owned(),
            io,
            settings,
            pointers,
        }
    }

    /// A catalog in a SQLite database, which is opened at first use.
    pub(crate) fn sql(name: &str, io: FileIo, settings: CatalogSettings, options: SqlOptions) -> Self {
        let pointers: Arc<dyn PointerStore> = Arc::new(SqlPointers::new(options));
        MetastoreCatalog {
            name: name.to_owned(),
            io,
            settings,
            pointers,
        }
    }

    #[cfg(test)]
    pub(crate) fn with_pointers(
        name: &str,
        io: FileIo,
        settings: CatalogSettings,
        pointers: Arc<dyn PointerStore>,
    ) -> Self {
        MetastoreCatalog {
            name: name.to_owned(),
            io,
            settings,
            pointers,
        }
    }

    /// The pointer of a name, which must be of this kind.
    async fn pointer(&self, ident: &TableIdent, kind: EntryKind) -> Result<Pointer> {
        let found = self.pointers.get(ident).await?;
        found
            .filter(|p| p.kind == kind)
            .ok_or_else(|| missing_entry(kind, ident))
    }

    async fn exists(&self, ident: &TableIdent, kind: EntryKind) -> Result<bool> {
        Ok(self.pointers.get(ident).await?.is_some_and(|p| p.kind == kind))
    }

    /// Fails when the name is taken, before anything is written for it.
    async fn require_free(&self, ident: &TableIdent) -> Result<()> {
        match self.pointers.get(ident).await? {
            Some(taken) => Err(existing_entry(taken.kind, ident)),
            None => Ok(()),
        }
    }

    /// The place of a new table or view: the given one, or the default.
    async fn new_location(&self, ident: &TableIdent, given: Option<&str>) -> Result<String> {
        if ident.name.is_empty() {
            return Err(Error::invalid("a table or view needs a name"));
        }
        if let Some(given) = given {
            return Ok(tarn_format::io::location::strip_trailing_slash(given).to_owned());
        }
        let properties = self.pointers.namespace_properties(&ident.namespace).await?;
        default_location(&self.settings, ident, &properties.unwrap_or_default())
    }

    async fn idents(&self, namespace: &Namespace, kind: EntryKind) -> Result<Vec<TableIdent>> {
        let names = self.pointers.names(namespace, kind).await?;
        Ok(names
            .into_iter()
            .map(|name| TableIdent::new(namespace.clone(), name))
            .collect())
    }

    async fn rename(&self, kind: EntryKind, from: &TableIdent, to: &TableIdent) -> Result<()> {
        if from == to {
            return Ok(());
        }
        if to.name.is_empty() {
            return Err(Error::invalid("a table or view needs a name"));
        }
        self.pointers.rename(kind, from, to).await
    }
}

#[async_trait]
impl Catalog for MetastoreCatalog {
    fn name(&self) -> &str {
        &self.name
    }

    fn file_io(&self) -> &FileIo {
        &self.io
    }

    async fn list_namespaces(&self, parent: &Namespace) -> Result<Vec<Namespace>> {
        self.pointers.child_namespaces(parent).await
    }

    async fn create_namespace(&self, namespace: &Namespace, properties: Properties) -> Result<()> {
        if namespace.is_root() || namespace.0.iter().any(String::is_empty) {
            return Err(Error::invalid("a namespace needs a name for each of its levels"));
        }
        self.pointers.insert_namespace(namespace, properties).await
    }

    async fn load_namespace(&self, namespace: &Namespace) -> Result<Properties> {
        let found = self.pointers.namespace_properties(namespace).await?;
        let mut properties = found.ok_or_else(|| missing_namespace(namespace))?;
        if let Ok(location) = namespace_location(&self.settings, namespace, &properties) {
            properties.entry(LOCATION.to_owned()).or_insert(location);
        }
        Ok(properties)
    }

    async fn namespace_exists(&self, namespace: &Namespace) -> Result<bool> {
        Ok(self.pointers.namespace_properties(namespace).await?.is_some())
    }

    async fn update_namespace(&self, namespace: &Namespace, removals: &[String], updates: Properties) -> Result<()> {
        if let Some(both) = removals.iter().find(|r| updates.contains_key(*r)) {
            return Err(Error::invalid(format!(
                "namespace property `{both}` is to be both set and removed"
            )));
        }
        self.pointers.change_namespace(namespace, removals, updates).await
    }

    async fn drop_namespace(&self, namespace: &Namespace) -> Result<()> {
        if namespace.is_root() {
            return Err(Error::invalid("the root namespace cannot be dropped"));
        }
        self.pointers.remove_namespace(namespace).await
    }

    async fn list_tables(&self, namespace: &Namespace) -> Result<Vec<TableIdent>> {
        self.idents(namespace, EntryKind::Table).await
    }

    async fn table_exists(&self, ident: &TableIdent) -> Result<bool> {
        self.exists(ident, EntryKind::Table).await
    }

    async fn create_table(&self, ident: &TableIdent, creation: TableCreation) -> Result<Table> {
        self.create_table_at(ident, creation).await
    }

    async fn stage_table(&self, ident: &TableIdent, creation: TableCreation) -> Result<Table> {
        self.stage_table_at(ident, creation).await
    }

    async fn load_table(&self, ident: &TableIdent) -> Result<Table> {
        self.load_table_at(ident).await
    }

    async fn register_table(&self, ident: &TableIdent, metadata_location: &str) -> Result<Table> {
        self.register_table_at(ident, metadata_location).await
    }

    async fn drop_table(&self, ident: &TableIdent, purge: Purge) -> Result<()> {
        self.drop_table_at(ident, purge).await
    }

    async fn rename_table(&self, from: &TableIdent, to: &TableIdent) -> Result<()> {
        self.rename(EntryKind::Table, from, to).await
    }

    async fn commit_table(&self, commit: TableCommit) -> Result<Table> {
        self.commit_table_at(commit).await
    }

    async fn list_views(&self, namespace: &Namespace) -> Result<Vec<TableIdent>> {
        self.idents(namespace, EntryKind::View).await
    }

    async fn view_exists(&self, ident: &TableIdent) -> Result<bool> {
        self.exists(ident, EntryKind::View).await
    }

    async fn create_view(&self, ident: &TableIdent, creation: ViewCreation) -> Result<View> {
        self.create_view_at(ident, creation).await
    }

    async fn load_view(&self, ident: &TableIdent) -> Result<View> {
        self.load_view_at(ident).await
    }

    async fn drop_view(&self, ident: &TableIdent) -> Result<()> {
        self.drop_view_at(ident).await
    }

    async fn rename_view(&self, from: &TableIdent, to: &TableIdent) -> Result<()> {
        self.rename(EntryKind::View, from, to).await
    }

    async fn commit_view(&self, commit: ViewCommit) -> Result<View> {
        self.commit_view_at(commit).await
    }
}
