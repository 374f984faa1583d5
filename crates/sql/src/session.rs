//! A session: settings, catalogs, the current namespace, and statements run one by one.

use std::sync::{Arc, OnceLock, PoisonError, RwLock, RwLockReadGuard};

use datafusion::dataframe::DataFrame;
use datafusion::execution::runtime_env::RuntimeEnv;
use datafusion::execution::session_state::SessionStateBuilder;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::prelude::{SessionConfig, SessionContext};
use tarn_engine::Caches;
use tarn_format::catalog::{CatalogFactory, Namespace};
use tarn_format::commit::CommitOptions;
use tarn_format::metrics::MetricsReporter;
use tarn_format::{Error, ErrorKind, Result};

use crate::ast::{Name, Statement};
use crate::catalogs::{CatalogEntry, CatalogRegistry};
use crate::commands;
use crate::config::{CATALOG_PREFIX, DEFAULT_CATALOG, Settings};
use crate::dialect::TarnDialect;
use crate::names::Located;
use crate::output::Output;
use crate::parser::{parse, parse_at};
use crate::reader::Reader;
use crate::script::Position;
use crate::views::TemporaryViews;
use crate::writer::Writer;
pub use progress::Progress;
use progress::Watched;
use yielding_joins::YieldingJoins;

/// Where unqualified names are looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Current {
    /// Name of the catalog.
    pub catalog: String,
    /// The namespace.
    pub namespace: Namespace,
}

/// What a session is made of.
#[derive(Debug)]
pub struct SessionOptions {
    /// Makes catalogs from properties.
    pub factory: Arc<dyn CatalogFactory>,
    /// Settings to begin with.
    pub settings: Settings,
    /// Memory, disk and caches.
    pub runtime: Arc<RuntimeEnv>,
    /// DataFusion's configuration.
    pub engine: SessionConfig,
    /// Catalog and namespace to begin in.
    pub current: Current,
    /// Takes reports of scans and commits.
    pub reporter: Arc<dyn MetricsReporter>,
}

/// A session. Cheap to clone; clones share everything.
#[derive(Clone)]
pub struct Session {
    inner: Arc<Inner>,
}

struct Inner {
    context: SessionContext,
    catalogs: CatalogRegistry,
    settings: RwLock<Settings>,
    current: RwLock<Current>,
    /// What is cached of tables that no catalog names.
    path_caches: Caches,
    implied: OnceLock<Current>,
    watched: Watched,
    temporary_views: TemporaryViews,
    reporter: Arc<dyn MetricsReporter>,
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session")
            .field("current", &self.current())
            .finish_non_exhaustive()
    }
}

fn read<T>(lock: &RwLock<T>) -> RwLockReadGuard<'_, T> {
    lock.read().unwrap_or_else(PoisonError::into_inner)
}

impl Session {
    /// A session without catalogs: add them with [`Session::catalogs`] or settings.
    pub fn new(options: SessionOptions) -> Self {
        let mut engine = options.engine;
        // With several aggregates it forgets the bounds of those that have seen only NULL yet, and skips files that
        // hold the answer (apache/datafusion#25147).
        engine.options_mut().optimizer.enable_aggregate_dynamic_filter_pushdown = false;
        let builder = SessionStateBuilder::new()
            .with_config(engine)
            .with_runtime_env(options.runtime)
            .with_default_features()
            .with_physical_optimizer_rule(Arc::new(YieldingJoins));
        let builder = bare_context::refuse_versions(builder);
        let state = crate::functions::register(builder).build();
        let inner = Arc::new(Inner {
            context: SessionContext::new_with_state(state),
            catalogs: CatalogRegistry::new(options.factory),
            settings: RwLock::new(options.settings),
            current: RwLock::new(options.current),
            path_caches: Caches::default(),
            implied: OnceLock::new(),
            watched: Watched::default(),
            temporary_views: TemporaryViews::default(),
            reporter: options.reporter,
        });
        bare_context::show_catalogs(&inner.context, Arc::downgrade(&inner));
        Session { inner }
    }

    /// DataFusion's context of this session, for DataFrames and for DataFusion's own SQL. Tables have three-part names,
    /// `lake.db.t`; the namespace may hold dots. Inserting works, as do DataFrames that write; versions, other changes of
    /// rows, and DataFusion's DDL on these tables are refused: run them with [`Session::sql`].
    pub fn context(&self) -> &SessionContext {
        &self.inner.context
    }

    /// The catalogs.
    pub fn catalogs(&self) -> &CatalogRegistry {
        &self.inner.catalogs
    }

    pub(crate) fn temporary_views(&self) -> &TemporaryViews {
        &self.inner.temporary_views
    }

    pub(crate) fn reporter(&self) -> &Arc<dyn MetricsReporter> {
        &self.inner.reporter
    }

    /// How commits to tables of a catalog are made.
    pub(crate) fn commit_options(&self, entry: &CatalogEntry) -> CommitOptions {
        CommitOptions {
            cache: entry.caches.manifests.clone(),
            reporter: Arc::clone(self.reporter()),
            ..CommitOptions::default()
        }
    }

    pub(crate) fn path_caches(&self) -> &Caches {
        &self.inner.path_caches
    }

    /// A copy of the settings.
    pub fn settings(&self) -> Settings {
        read(&self.inner.settings).clone()
    }

    /// Changes the settings.
    ///
    /// # Errors
    /// Those of the change; the settings stay as they were.
    pub fn change_settings(&self, change: impl FnOnce(&mut Settings) -> Result<()>) -> Result<()> {
        let mut settings = self.inner.settings.write().unwrap_or_else(PoisonError::into_inner);
        let mut changed = settings.clone();
        change(&mut changed)?;
        *settings = changed;
        Ok(())
    }

    /// Where unqualified names are looked for.
    pub fn current(&self) -> Current {
        read(&self.inner.current).clone()
    }

    /// How far the statements have come that this session and its clones are running.
    pub fn progress(&self) -> Progress {
        self.inner.watched.progress()
    }

    /// Counts a plan's progress as long as it exists.
    pub(crate) fn watch(&self, plan: &Arc<dyn ExecutionPlan>) {
        self.inner.watched.add(plan);
    }

    /// Names the one namespace that need not be created: it seems to be there, and the first CREATE TABLE in it makes it.
    /// Only the first call counts.
    pub fn imply_namespace(&self, namespace: Current) {
        // A later call is documented to change nothing.
        let _ = self.inner.implied.set(namespace);
    }

    /// Whether a namespace need not exist to be used.
    pub(crate) fn is_implied(&self, catalog_name: &str, namespace: &Namespace) -> bool {
        let implied = self.inner.implied.get();
        implied.is_some_and(|i| i.catalog == catalog_name && i.namespace == *namespace)
    }

    /// Makes the namespace of a table that is to be created, if it is the implied one and is missing.
    pub(crate) async fn make_implied_namespace(&self, table: &Located) -> Result<()> {
        let namespace = table.ident()?.namespace;
        let catalog = &table.entry.catalog;
        if !self.is_implied(&table.catalog_name, &namespace) || catalog.namespace_exists(&namespace).await? {
            return Ok(());
        }
        match catalog.create_namespace(&namespace, Default::default()).await {
            Err(e) if e.kind() != ErrorKind::AlreadyExists => Err(e),
            _ => Ok(()),
        }
    }

    pub(crate) fn set_current(&self, current: Current) {
        *self.inner.current.write().unwrap_or_else(PoisonError::into_inner) = current;
    }

    /// The statements of a text.
    ///
    /// # Errors
    /// As [`parse`].
    pub fn parse(&self, sql: &str) -> Result<Vec<Statement>> {
        parse(sql, &self.dialect())
    }

    /// The statements of a text that is part of another, beginning there at `position`.
    ///
    /// # Errors
    /// As [`parse`]; positions in messages are those in the whole.
    pub fn parse_at(&self, sql: &str, position: Position) -> Result<Vec<Statement>> {
        parse_at(sql, &self.dialect(), position)
    }

    /// How text is tokenized under the present settings.
    pub fn dialect(&self) -> TarnDialect {
        let double_quotes = read(&self.inner.settings).double_quotes();
        TarnDialect { double_quotes }
    }

    /// Reads a table or files as a DataFrame, with options.
    pub fn read(&self) -> Reader {
        Reader::new(self.clone())
    }

    /// Writes the rows of a DataFrame into a table, with options.
    pub fn write(&self, rows: DataFrame) -> Writer {
        Writer::new(self.clone(), rows)
    }

    /// Runs the statements of a text one after another and gives the result of the last.
    ///
    /// # Errors
    /// Of the first statement that fails; those before it have happened.
    pub async fn sql(&self, sql: &str) -> Result<Output> {
        let mut output = Output::Done(String::new());
        for statement in self.parse(sql)? {
            // The rows of all but the last are read to their end: a write happens while its result is read.
            output.collect().await?;
            output = self.execute(&statement).await?;
        }
        Ok(output)
    }

    /// Runs one statement.
    ///
    /// # Errors
    /// One line that says what failed, on which table, and what to do.
    pub async fn execute(&self, statement: &Statement) -> Result<Output> {
        Box::pin(commands::run(self, statement)).await
    }

    /// The catalog of this name: one that exists, or one that settings describe and that is made now; `None` when there
    /// is neither. [`Session::catalogs`] holds those that have been made.
    ///
    /// # Errors
    /// Those of making it.
    pub async fn catalog(&self, name: &str) -> Result<Option<CatalogEntry>> {
        if let Some(entry) = self.inner.catalogs.get(name) {
            return Ok(Some(entry));
        }
        let described = read(&self.inner.settings).described_catalog(name);
        match described {
            Some((name, properties)) => self.inner.catalogs.open(&name, &properties).await.map(Some),
            None => Ok(None),
        }
    }

    /// The current catalog.
    pub(crate) async fn current_catalog(&self) -> Result<(String, CatalogEntry)> {
        let name = self.current().catalog;
        let entry = self.required_catalog(&name).await?;
        Ok((name, entry))
    }

    async fn required_catalog(&self, name: &str) -> Result<CatalogEntry> {
        match self.catalog(name).await? {
            Some(entry) => Ok(entry),
            None => Err(Error::not_found(format!(
                "catalog '{name}' is not configured: use CREATE CATALOG, SET {CATALOG_PREFIX}{name}.type = …, or another {DEFAULT_CATALOG}"
            ))),
        }
    }

    /// Splits a table's name at its catalog. A single part lies in the current namespace, whatever catalogs there are.
    pub(crate) async fn locate_table(&self, name: &Name) -> Result<Located> {
        self.locate_table_from(name, &self.current()).await
    }

    /// As [`Session::locate_table`], as if `here` were where unqualified names are looked for.
    pub(crate) async fn locate_table_from(&self, name: &Name, here: &Current) -> Result<Located> {
        let (catalog_name, entry, mut path) = match name.0.as_slice() {
            [_] => (
                here.catalog.clone(),
                self.required_catalog(&here.catalog).await?,
                name.0.clone(),
            ),
            _ => self.split_catalog(name, &here.catalog).await?,
        };
        let is_current = catalog_name.eq_ignore_ascii_case(&here.catalog);
        let names_no_catalog = path.len() == name.0.len();
        let mut current = None;
        if path.len() == 1 && is_current {
            let mut qualified = here.namespace.0.clone();
            qualified.append(&mut path);
            path = qualified;
        } else if names_no_catalog {
            current = Some(here.namespace.clone());
        }
        Ok(Located {
            catalog_name,
            entry,
            path,
            current,
        })
    }

    /// Splits a namespace's name at its catalog; `None` is the root of the current catalog.
    pub(crate) async fn locate_namespace(&self, name: Option<&Name>) -> Result<Located> {
        let (catalog_name, entry, path) = match name {
            Some(name) => self.split_catalog(name, &self.current().catalog).await?,
            None => {
                let (name, entry) = self.current_catalog().await?;
                (name, entry, Vec::new())
            }
        };
        Ok(Located {
            catalog_name,
            entry,
            path,
            current: None,
        })
    }

    async fn split_catalog(&self, name: &Name, current: &str) -> Result<(String, CatalogEntry, Vec<String>)> {
        if let Some((first, rest)) = name.0.split_first()
            && let Some(entry) = self.catalog(first).await?
        {
            // A namespace of the current catalog may share the name of a catalog; the catalog wins, as in Spark.
            return Ok((entry.catalog.name().to_string(), entry, rest.to_vec()));
        }
        let entry = self.required_catalog(current).await?;
        Ok((current.to_string(), entry, name.0.clone()))
    }

    /// Names of all catalogs: those that exist and those that settings describe.
    pub(crate) fn catalog_names(&self) -> Vec<String> {
        let mut names = self.inner.catalogs.names();
        let described = read(&self.inner.settings).catalog_names();
        for name in described {
            if !names.iter().any(|n| n.eq_ignore_ascii_case(&name)) {
                names.push(name);
            }
        }
        names.sort();
        names
    }
}

mod bare_context;
mod progress;
mod yielding_joins;

#[cfg(test)]
mod query_tests;
#[cfg(test)]
mod spark_tests;
#[cfg(test)]
pub(crate) mod tests;
