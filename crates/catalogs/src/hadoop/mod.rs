//! A catalog in a directory: namespaces are directories, tables are directories with `metadata/vN.metadata.json`
//! (Java: `HadoopCatalog`, `HadoopTableOperations`).
//!
//! It needs a store whose exclusive create is atomic; local files and object stores with conditional puts are. Java
//! writers beside us on a plain file system are not safe: they check, then rename over what is there.
//!
//! With `write.metadata.delete-after-commit.enabled`, versions beyond `write.metadata.previous-versions-max` stay a
//! while longer than in Java (`sweep::Grace`: 100 versions or ten minutes), so that slow writers learn what became of
//! their commits.
//!
//! There are no views, no renames, and no namespace properties but the location.

mod commit;
mod drop;
mod namespaces;
mod sweep;
mod versions;

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use tarn_format::catalog::{
    Catalog, Namespace, Purge, Table, TableCommit, TableCreation, TableIdent, View, ViewCommit, ViewCreation,
};
use tarn_format::io::FileIo;
use tarn_format::io::location::{join, same_file, strip_trailing_slash};
use tarn_format::spec::snapshot::Properties;
use tarn_format::spec::table_metadata::TableMetadata;
use tarn_format::update::TableRequirement;
use tarn_format::{Error, ErrorKind, Result, ResultExt};

use versions::{CurrentMetadata, current_metadata};

use crate::metadata_ops::creation::new_table;
use crate::metadata_ops::next::{self, Next};
use crate::metadata_ops::settings::CatalogSettings;
use crate::pointers::{EntryKind, existing_entry, missing_entry};

use namespaces::refuse_level;

use commit::{Base, NewVersion};
use sweep::Grace;

/// How often a metadata file may vanish under a reader (deleted by a later commit) before it is taken as lost.
const MAX_READ_ATTEMPTS: u32 = 32;

/// A catalog in a directory.
pub struct HadoopCatalog {
    name: String,
    io: FileIo,
    settings: CatalogSettings,
    warehouse: String,
    grace: Grace,
}

impl fmt::Debug for HadoopCatalog {
    /// Leaves out properties: they may hold secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HadoopCatalog")
            .field("name", &self.name)
            .field("warehouse", &self.warehouse)
            .finish_non_exhaustive()
    }
}

/// A table's current metadata.
struct Loaded {
    current: CurrentMetadata,
    metadata: Arc<TableMetadata>,
}

impl HadoopCatalog {
    /// A catalog in the warehouse of `settings`.
    pub(crate) fn new(name: &str, io: FileIo, settings: CatalogSettings) -> Result<Self> {
        let warehouse = settings.warehouse.clone().ok_or_else(|| {
            Error::invalid("a hadoop catalog needs the property `warehouse`: the directory that holds its tables")
        })?;
        Ok(HadoopCatalog {
            name: name.to_owned(),
            io,
            settings,
            warehouse,
            grace: Grace::default(),
        })
    }

    /// The directory of a table.
    fn table_location(&self, ident: &TableIdent) -> Result<String> {
        if ident.namespace.is_root() {
            return Err(Error::invalid("a table of a hadoop catalog needs a namespace")
                .with_context("table", ident.to_string()));
        }
        refuse_level(&ident.name).context("table", ident.to_string())?;
        Ok(join(&self.namespace_location(&ident.namespace)?, &ident.name))
    }

    async fn find(&self, ident: &TableIdent) -> Result<Option<Loaded>> {
        let Ok(table_location) = self.table_location(ident) else {
            return Ok(None);
        };
        let mut vanished = None;
        for _ in 0..MAX_READ_ATTEMPTS {
            let found = current_metadata(&self.io, &table_location)
                .await
                .context("table", ident.to_string())?;
            let Some(current) = found else {
                return Ok(None);
            };
            match TableMetadata::read(&self.io, current.location()).await {
                Ok(metadata) => {
                    return Ok(Some(Loaded {
                        current,
                        metadata: Arc::new(metadata),
                    }));
                }
                Err(e) if e.kind() == ErrorKind::NotFound => vanished = Some(e),
                Err(e) => return Err(e.with_context("table", ident.to_string())),
            }
        }
        let error = Error::conflict("the table changes too fast to be read").with_context("table", ident.to_string());
        Err(match vanished {
            Some(e) => error.with_source(e),
            None => error,
        })
    }

    fn table(&self, ident: &TableIdent, metadata: Arc<TableMetadata>, location: String) -> Table {
        Table {
            ident: ident.clone(),
            metadata,
            metadata_location: Some(location),
            io: self.io.clone(),
        }
    }

    async fn stage(&self, ident: &TableIdent, creation: TableCreation) -> Result<TableMetadata> {
        let table_location = self.table_location(ident)?;
        if let Some(given) = creation.location.as_deref()
            && !same_file(strip_trailing_slash(given), &table_location)
        {
            return Err(Error::unsupported(format!(
                "a table of a hadoop catalog cannot be placed elsewhere than at {table_location}"
            ))
            .with_context("table", ident.to_string()));
        }
        self.require_namespace(&ident.namespace).await?;
        if self.find(ident).await?.is_some() {
            return Err(existing_entry(EntryKind::Table, ident));
        }
        self.refuse_namespace_at(&table_location)
            .await
            .context("table", ident.to_string())?;
        new_table(&self.settings, ident, &table_location, creation)
    }

    /// Writes `metadata` as the version after `base`.
    async fn write_version(&self, ident: &TableIdent, base: Option<&Loaded>, metadata: TableMetadata) -> Result<Table> {
        let table_location = self.table_location(ident)?;
        refuse_relocation(base.map(|b| &*b.metadata), &metadata).context("table", ident.to_string())?;
        let base = match base {
            None => None,
            Some(Loaded {
                current: CurrentMetadata::Version { number, .. },
                metadata,
            }) => Some(Base {
                number: *number,
                metadata,
            }),
            Some(Loaded {
                current: CurrentMetadata::Foreign { location },
                ..
            }) => return Err(foreign(ident, location)),
        };
        let version = NewVersion {
            io: &self.io,
            ident,
            table_location: &table_location,
            base,
            metadata: &metadata,
            grace: self.grace,
        };
        let location = version.commit().await?;
        Ok(self.table(ident, Arc::new(metadata), location))
    }
}

fn foreign(ident: &TableIdent, location: &str) -> Error {
    Error::unsupported("the table belongs to another catalog: it can be read from its directory, not written")
        .with_context("table", ident.to_string())
        .with_context("file", location)
}

/// A directory table stays where it is, and so does its metadata: readers look nowhere else.
fn refuse_relocation(base: Option<&TableMetadata>, metadata: &TableMetadata) -> Result<()> {
    if metadata.properties.contains_key("write.metadata.path") {
        return Err(Error::unsupported(
            "a hadoop catalog cannot keep metadata elsewhere: unset `write.metadata.path`",
        ));
    }
    if base.is_some_and(|b| b.location != metadata.location) {
        return Err(Error::unsupported("a table of a hadoop catalog cannot be moved"));
    }
    Ok(())
}

fn no_views() -> Error {
    Error::unsupported("a hadoop catalog has no views: use a sqlite or memory catalog")
}

#[async_trait]
impl Catalog for HadoopCatalog {
    fn name(&self) -> &str {
        &self.name
    }

    fn file_io(&self) -> &FileIo {
        &self.io
    }

    async fn list_namespaces(&self, parent: &Namespace) -> Result<Vec<Namespace>> {
        self.child_namespaces(parent).await
    }

    async fn create_namespace(&self, namespace: &Namespace, properties: Properties) -> Result<()> {
        self.make_namespace(namespace, &properties).await
    }

    async fn load_namespace(&self, namespace: &Namespace) -> Result<Properties> {
        self.require_namespace(namespace).await?;
        let location = self.namespace_location(namespace)?;
        Ok(Properties::from([("location".to_owned(), location)]))
    }

    async fn namespace_exists(&self, namespace: &Namespace) -> Result<bool> {
        self.is_namespace(namespace).await
    }

    async fn update_namespace(&self, namespace: &Namespace, removals: &[String], updates: Properties) -> Result<()> {
        self.require_namespace(namespace).await?;
        if removals.is_empty() && updates.is_empty() {
            return Ok(());
        }
        Err(Error::unsupported("a hadoop catalog keeps no namespace properties")
            .with_context("namespace", namespace.to_string()))
    }

    async fn drop_namespace(&self, namespace: &Namespace) -> Result<()> {
        self.remove_namespace(namespace).await
    }

    async fn list_tables(&self, namespace: &Namespace) -> Result<Vec<TableIdent>> {
        self.tables_in(namespace).await
    }

    async fn table_exists(&self, ident: &TableIdent) -> Result<bool> {
        match self.table_location(ident) {
            Ok(location) => Ok(current_metadata(&self.io, &location).await?.is_some()),
            Err(_) => Ok(false),
        }
    }

    async fn create_table(&self, ident: &TableIdent, creation: TableCreation) -> Result<Table> {
        let metadata = self.stage(ident, creation).await?;
        self.write_version(ident, None, metadata).await
    }

    async fn stage_table(&self, ident: &TableIdent, creation: TableCreation) -> Result<Table> {
        let metadata = self.stage(ident, creation).await?;
        refuse_relocation(None, &metadata).context("table", ident.to_string())?;
        Ok(Table {
            ident: ident.clone(),
            metadata: Arc::new(metadata),
            metadata_location: None,
            io: self.io.clone(),
        })
    }

    async fn load_table(&self, ident: &TableIdent) -> Result<Table> {
        let loaded = self
            .find(ident)
            .await?
            .ok_or_else(|| missing_entry(EntryKind::Table, ident))?;
        Ok(self.table(ident, loaded.metadata, loaded.current.location().to_owned()))
    }

    /// Only a table that lies in the very directory can be registered: its metadata is copied as version 1.
    async fn register_table(&self, ident: &TableIdent, metadata_location: &str) -> Result<Table> {
        let table_location = self.table_location(ident)?;
        self.require_namespace(&ident.namespace).await?;
        if let Some(Loaded {
            current: CurrentMetadata::Version { .. },
            ..
        }) = self.find(ident).await?
        {
            return Err(existing_entry(EntryKind::Table, ident));
        }
        let metadata = TableMetadata::read(&self.io, metadata_location)
            .await
            .context("table", ident.to_string())?;
        if !same_file(&metadata.location, &table_location) {
            return Err(Error::unsupported(format!(
                "a hadoop catalog can only register a table that lies at {table_location}, this one is at {}",
                metadata.location
            ))
            .with_context("table", ident.to_string()));
        }
        self.write_version(ident, None, metadata).await
    }

    async fn drop_table(&self, ident: &TableIdent, purge: Purge) -> Result<()> {
        let table_location = self
            .table_location(ident)
            .map_err(|_| missing_entry(EntryKind::Table, ident))?;
        let metadata = match self.find(ident).await {
            Ok(Some(loaded)) => Some(loaded.metadata),
            Ok(None) => return Err(missing_entry(EntryKind::Table, ident)),
            Err(e) if e.kind() == ErrorKind::Corrupt => None,
            Err(e) => return Err(e),
        };
        drop::drop_table(&self.io, ident, &table_location, metadata.as_deref(), purge).await
    }

    async fn rename_table(&self, from: &TableIdent, _to: &TableIdent) -> Result<()> {
        Err(
            Error::unsupported("a hadoop catalog cannot rename tables: their directories are their names")
                .with_context("table", from.to_string()),
        )
    }

    async fn commit_table(&self, commit: TableCommit) -> Result<Table> {
        let ident = commit.ident.clone();
        let current = self.find(&ident).await?;
        if current.is_none() && commit.requirements.contains(&TableRequirement::NotExist) {
            self.require_namespace(&ident.namespace).await?;
        }
        let table = current
            .as_ref()
            .map(|c| self.table(&ident, c.metadata.clone(), c.current.location().to_owned()));
        let next = next::table(table.as_ref(), &commit).context("table", ident.to_string())?;
        match (next, table) {
            (Next::Unchanged, Some(table)) => Ok(table),
            (Next::Unchanged, None) => Err(missing_entry(EntryKind::Table, &ident)),
            (Next::Changed(metadata), _) => self.write_version(&ident, current.as_ref(), *metadata).await,
        }
    }

    async fn list_views(&self, namespace: &Namespace) -> Result<Vec<TableIdent>> {
        self.require_namespace(namespace).await?;
        Ok(Vec::new())
    }

    async fn view_exists(&self, _ident: &TableIdent) -> Result<bool> {
        Ok(false)
    }

    async fn create_view(&self, ident: &TableIdent, _creation: ViewCreation) -> Result<View> {
        Err(no_views().with_context("view", ident.to_string()))
    }

    async fn load_view(&self, ident: &TableIdent) -> Result<View> {
        Err(missing_entry(EntryKind::View, ident))
    }

    async fn drop_view(&self, ident: &TableIdent) -> Result<()> {
        Err(missing_entry(EntryKind::View, ident))
    }

    async fn rename_view(&self, from: &TableIdent, _to: &TableIdent) -> Result<()> {
        Err(no_views().with_context("view", from.to_string()))
    }

    async fn commit_view(&self, commit: ViewCommit) -> Result<View> {
        Err(no_views().with_context("view", commit.ident.to_string()))
    }
}

#[cfg(test)]
mod tests;
