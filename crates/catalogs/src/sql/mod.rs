//! A metastore in a SQLite file: the tables of Iceberg's JDBC catalog, so that PyIceberg's SQL catalog and Java's
//! `JdbcCatalog` open the same file and all may commit in turn.
//!
//! Every write is one transaction that takes the write lock first (`BEGIN IMMEDIATE`) and moves a pointer by one
//! compare-and-swap statement. The journal mode of the file is left as it is. Nothing is made on disk before the first
//! write.

mod entries;
mod failure;
mod namespaces;
mod schema;
mod uri;

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use sqlx::pool::PoolConnection;
use sqlx::sqlite::{SqliteConnectOptions, SqlitePool, SqlitePoolOptions};
use sqlx::{Sqlite, Transaction};
use tarn_format::catalog::{Namespace, TableIdent};
use tarn_format::spec::snapshot::Properties;
use tarn_format::{Error, Result};

use crate::pointers::{EntryKind, Pointer, PointerStore, Swap};

pub(crate) use schema::{Creation, SchemaVersion};
pub(crate) use uri::Database;

use failure::{commit_was_refused, database_error};
use schema::{Layout, Need};

/// Connections per catalog: readers run beside each other, writers queue in SQLite anyway.
const MAX_CONNECTIONS: u32 = 4;

/// How long a connection waits for another process's lock, unless `jdbc.busy_timeout` says otherwise.
pub(crate) const DEFAULT_BUSY_TIMEOUT: Duration = Duration::from_secs(30);

/// Whether a table may be made in a namespace that does not exist (`jdbc.strict-mode`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MissingNamespace {
    Refused,
    Implied,
}

/// How a sql catalog is opened.
#[derive(Debug, Clone)]
pub(crate) struct SqlOptions {
    /// The database.
    pub database: Database,
    /// The name that keys this catalog's rows.
    pub stored_name: String,
    pub schema_version: SchemaVersion,
    pub creation: Creation,
    pub missing_namespace: MissingNamespace,
    pub busy_timeout: Duration,
}

/// Pointers in a SQLite database.
#[derive(Debug)]
pub(crate) struct SqlPointers {
    options: SqlOptions,
    pool: SqlitePool,
    /// Set once the database is known to be V1: it stays so.
    is_v1: AtomicBool,
}

impl SqlPointers {
    /// Makes the pool; the database is opened when it is first needed.
    pub(crate) fn new(options: SqlOptions) -> Self {
        let mut pool = SqlitePoolOptions::new()
            .max_connections(MAX_CONNECTIONS)
            .acquire_timeout(options.busy_timeout.saturating_add(Duration::from_secs(5)))
            .test_before_acquire(false);
        let connect = match &options.database {
            Database::File(path) => SqliteConnectOptions::new().filename(path).create_if_missing(true),
            Database::Memory => {
                // A database in memory lives in its one connection.
                pool = pool.max_connections(1).idle_timeout(None).max_lifetime(None);
                SqliteConnectOptions::new().filename(":memory:").in_memory(true)
            }
        };
        let connect = connect.busy_timeout(options.busy_timeout);
        SqlPointers {
            pool: pool.connect_lazy_with(connect),
            options,
            is_v1: AtomicBool::new(false),
        }
    }

    fn stored_name(&self) -> &str {
        &self.options.stored_name
    }

    /// A connection for reading; `None` while there is no database file, which is an empty catalog.
    async fn reader(&self) -> Result<Option<PoolConnection<Sqlite>>> {
        if let Database::File(path) = &self.options.database {
            let found = tokio::fs::try_exists(path).await;
            if !found.map_err(|e| {
                Error::new(tarn_format::ErrorKind::Io, "cannot reach the catalog database").with_source(e)
            })? {
                return Ok(None);
            }
        }
        let connection = self.pool.acquire().await;
        connection
            .map(Some)
            .map_err(|e| database_error(e, "cannot open the catalog database"))
    }

    /// A connection and what the database holds; `None` when it holds no catalog.
    async fn reader_with_layout(&self) -> Result<Option<(PoolConnection<Sqlite>, Layout)>> {
        let Some(mut connection) = self.reader().await? else {
            return Ok(None);
        };
        let layout = self.layout(&mut connection).await?;
        Ok((layout != Layout::Missing).then_some((connection, layout)))
    }

    async fn layout(&self, connection: &mut sqlx::SqliteConnection) -> Result<Layout> {
        if self.is_v1.load(Ordering::Acquire) {
            return Ok(Layout::V1);
        }
        let layout = schema::detect(connection).await?;
        self.remember(layout);
        Ok(layout)
    }

    fn remember(&self, layout: Layout) {
        if layout == Layout::V1 {
            self.is_v1.store(true, Ordering::Release);
        }
    }

    /// A transaction that holds the write lock, over a database that is laid out as `need` asks.
    async fn writer(&self, need: Need) -> Result<(Transaction<'static, Sqlite>, Layout)> {
        if let Database::File(path) = &self.options.database {
            make_parent(path).await?;
        }
        let begun = self.pool.begin_with("BEGIN IMMEDIATE").await;
        let mut transaction = begun.map_err(|e| database_error(e, "cannot write to the catalog database"))?;
        let (version, creation) = (self.options.schema_version, self.options.creation);
        let layout = schema::prepare(&mut transaction, version, creation, need).await?;
        Ok((transaction, layout))
    }

    /// Commits a write transaction. `Err` is a sure failure; an uncertain one is in the `Swap`.
    async fn commit(&self, transaction: Transaction<'static, Sqlite>, layout: Layout) -> Result<Swap> {
        match transaction.commit().await {
            Ok(()) => {
                self.remember(layout);
                Ok(Swap::Done)
            }
            Err(e) if commit_was_refused(&e) => Err(database_error(e, "cannot write to the catalog database")),
            Err(e) => Ok(Swap::Unknown(database_error(
                e,
                "the catalog database failed while committing",
            ))),
        }
    }
}

/// Makes the folder of a database file that is about to be made.
async fn make_parent(path: &Path) -> Result<()> {
    match path.parent() {
        Some(parent) => tokio::fs::create_dir_all(parent).await.map_err(|e| {
            Error::new(
                tarn_format::ErrorKind::Io,
                "cannot make the folder of the catalog database",
            )
            .with_context("file", path.display().to_string())
            .with_source(e)
        }),
        None => Ok(()),
    }
}

#[async_trait]
impl PointerStore for SqlPointers {
    async fn child_namespaces(&self, parent: &Namespace) -> Result<Vec<Namespace>> {
        namespaces::children(self, parent).await
    }

    async fn namespace_properties(&self, namespace: &Namespace) -> Result<Option<Properties>> {
        namespaces::properties(self, namespace).await
    }

    async fn insert_namespace(&self, namespace: &Namespace, properties: Properties) -> Result<()> {
        namespaces::insert(self, namespace, properties).await
    }

    async fn change_namespace(&self, namespace: &Namespace, removals: &[String], updates: Properties) -> Result<()> {
        namespaces::change(self, namespace, removals, updates).await
    }

    async fn remove_namespace(&self, namespace: &Namespace) -> Result<()> {
        namespaces::remove(self, namespace).await
    }

    async fn names(&self, namespace: &Namespace, kind: EntryKind) -> Result<Vec<String>> {
        entries::names(self, namespace, kind).await
    }

    async fn get(&self, ident: &TableIdent) -> Result<Option<Pointer>> {
        entries::get(self, ident).await
    }

    async fn insert(&self, ident: &TableIdent, pointer: &Pointer) -> Result<Swap> {
        entries::insert(self, ident, pointer).await
    }

    async fn swap(&self, ident: &TableIdent, from: &Pointer, to: &str) -> Result<Swap> {
        entries::swap(self, ident, from, to).await
    }

    async fn remove(&self, ident: &TableIdent, kind: EntryKind) -> Result<Option<String>> {
        entries::remove(self, ident, kind).await
    }

    async fn rename(&self, kind: EntryKind, from: &TableIdent, to: &TableIdent) -> Result<()> {
        entries::rename(self, kind, from, to).await
    }
}

#[cfg(test)]
mod interop_tests;
#[cfg(test)]
mod tests;
