//! Namespaces of a directory catalog: directories that are not tables.

use tarn_format::catalog::{Namespace, TableIdent};
use tarn_format::io::DeleteDir;
use tarn_format::io::location::{file_name, join};
use tarn_format::spec::snapshot::Properties;
use tarn_format::{Error, ErrorKind, Result, ResultExt};

use super::HadoopCatalog;
use super::versions::{is_metadata_file, metadata_names};
use crate::metadata_ops::creation::refuse_unsafe_level;
use crate::pointers::{EntryKind, existing_entry, existing_namespace, filled_namespace, missing_namespace};

/// Directories that a table makes for itself: they alone do not make a namespace of their parent.
const TABLE_DIRECTORIES: [&str; 2] = ["metadata", "data"];

/// How names of directories begin that hold what is left of a dropped table.
const TOMBSTONE_PREFIX: &str = ".tarn-dropped-";

/// A name beside a table's directory that hides what is left of it.
pub(super) fn tombstone_of(table_location: &str) -> String {
    let parent = table_location.rsplit_once('/').map_or("", |(parent, _)| parent);
    join(parent, &format!("{TOMBSTONE_PREFIX}{}", uuid::Uuid::new_v4().simple()))
}

fn is_tombstone(location: &str) -> bool {
    file_name(location).starts_with(TOMBSTONE_PREFIX)
}

/// Refuses a name that would not be one directory, or is hidden.
pub(super) fn refuse_level(level: &str) -> Result<()> {
    if is_tombstone(level) {
        return Err(Error::invalid(format!(
            "`{TOMBSTONE_PREFIX}…` is reserved for dropped tables"
        )));
    }
    refuse_unsafe_level(level)
}

impl HadoopCatalog {
    /// The directory of a namespace.
    pub(super) fn namespace_location(&self, namespace: &Namespace) -> Result<String> {
        let mut location = self.warehouse.clone();
        for level in &namespace.0 {
            refuse_level(level).context("namespace", namespace.to_string())?;
            location = join(&location, level);
        }
        Ok(location)
    }

    /// Whether a directory holds metadata files, as Java's `HadoopCatalog.isTableDir` decides.
    async fn is_table_dir(&self, location: &str) -> Result<bool> {
        Ok(metadata_names(&self.io, location)
            .await?
            .iter()
            .any(|n| is_metadata_file(n)))
    }

    pub(super) async fn is_namespace(&self, namespace: &Namespace) -> Result<bool> {
        let Ok(location) = self.namespace_location(namespace) else {
            return Ok(false);
        };
        if namespace.is_root() {
            return Ok(true);
        }
        Ok(self.io.dir_exists(&location).await? && !self.is_table_dir(&location).await?)
    }

    pub(super) async fn require_namespace(&self, namespace: &Namespace) -> Result<()> {
        if self.is_namespace(namespace).await? {
            Ok(())
        } else {
            Err(missing_namespace(namespace))
        }
    }

    /// Refuses to make a table of a directory that already is a namespace with something in it. What a table that was
    /// never finished left behind is no namespace.
    pub(super) async fn refuse_namespace_at(&self, location: &str) -> Result<()> {
        let listing = match self.io.list_dir(location).await {
            Ok(listing) => listing,
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(()),
            Err(e) => return Err(e),
        };
        if listing.dirs.iter().any(|d| !TABLE_DIRECTORIES.contains(&file_name(d))) {
            return Err(Error::new(
                ErrorKind::AlreadyExists,
                "a namespace of this name exists already",
            ));
        }
        Ok(())
    }

    /// Directories directly in a namespace.
    async fn child_dirs(&self, namespace: &Namespace) -> Result<Vec<String>> {
        match self.io.list_dir(&self.namespace_location(namespace)?).await {
            Ok(listing) => Ok(listing.dirs.into_iter().filter(|d| !is_tombstone(d)).collect()),
            // The warehouse is made with the first namespace.
            Err(e) if e.kind() == ErrorKind::NotFound && namespace.is_root() => Ok(Vec::new()),
            Err(e) => Err(e),
        }
    }

    pub(super) async fn child_namespaces(&self, parent: &Namespace) -> Result<Vec<Namespace>> {
        self.require_namespace(parent).await?;
        let mut children = Vec::new();
        for dir in self.child_dirs(parent).await? {
            if !self.is_table_dir(&dir).await? {
                let mut levels = parent.0.clone();
                levels.push(file_name(&dir).to_owned());
                children.push(Namespace(levels));
            }
        }
        children.sort();
        Ok(children)
    }

    pub(super) async fn tables_in(&self, namespace: &Namespace) -> Result<Vec<TableIdent>> {
        self.require_namespace(namespace).await?;
        let mut tables = Vec::new();
        if namespace.is_root() {
            return Ok(tables);
        }
        for dir in self.child_dirs(namespace).await? {
            if self.is_table_dir(&dir).await? {
                tables.push(TableIdent::new(namespace.clone(), file_name(&dir)));
            }
        }
        tables.sort();
        Ok(tables)
    }

    pub(super) async fn make_namespace(&self, namespace: &Namespace, properties: &Properties) -> Result<()> {
        if namespace.is_root() {
            return Err(Error::invalid("a namespace needs a name"));
        }
        let location = self.namespace_location(namespace)?;
        if !properties.is_empty() {
            return Err(Error::unsupported("a hadoop catalog keeps no namespace properties")
                .with_context("namespace", namespace.to_string()));
        }
        for depth in 1..=namespace.0.len() {
            let above = Namespace(namespace.0.iter().take(depth).cloned().collect());
            if self.is_table_dir(&self.namespace_location(&above)?).await? {
                let (name, rest) = above
                    .0
                    .split_last()
                    .map(|(n, r)| (n.clone(), r.to_vec()))
                    .unwrap_or_default();
                return Err(existing_entry(
                    EntryKind::Table,
                    &TableIdent::new(Namespace(rest), name),
                ));
            }
        }
        match self.io.create_dir(&location).await {
            Err(e) if e.kind() == ErrorKind::AlreadyExists => Err(existing_namespace(namespace)),
            made => made.context("namespace", namespace.to_string()),
        }
    }

    pub(super) async fn remove_namespace(&self, namespace: &Namespace) -> Result<()> {
        if namespace.is_root() {
            return Err(Error::invalid("the root namespace cannot be dropped"));
        }
        self.require_namespace(namespace).await?;
        let location = self.namespace_location(namespace)?;
        let mut deleted = self.io.delete_dir(&location, DeleteDir::IfEmpty).await;
        if deleted.as_ref().is_err_and(|e| e.kind() == ErrorKind::NotEmpty) && self.bury_remains(&location).await? {
            deleted = self.io.delete_dir(&location, DeleteDir::IfEmpty).await;
        }
        match deleted {
            Err(e) if e.kind() == ErrorKind::NotEmpty => {
                Err(filled_namespace(namespace, "namespaces, tables or other files"))
            }
            deleted => deleted.context("namespace", namespace.to_string()),
        }
    }

    /// Deletes what drops that died left in a namespace; whether they left something.
    async fn bury_remains(&self, location: &str) -> Result<bool> {
        let dirs = self.io.list_dir(location).await?.dirs;
        let remains: Vec<&String> = dirs.iter().filter(|d| is_tombstone(d)).collect();
        for dir in &remains {
            self.io.delete_dir(dir, DeleteDir::WithContents).await?;
        }
        Ok(!remains.is_empty())
    }
}
