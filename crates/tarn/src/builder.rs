//! Making sessions.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use datafusion::execution::runtime_env::{RuntimeEnv, RuntimeEnvBuilder};
use datafusion::prelude::SessionConfig;
use tarn_catalogs::Catalogs;
use tarn_format::catalog::{Catalog, Namespace};
use tarn_format::metrics::{LoggingReporter, MetricsReporter};
use tarn_format::{Error, Result};
use tarn_sql::config::{CATALOG_PREFIX, DEFAULT_CATALOG, Settings};
use tarn_sql::session::{Current, SessionOptions};

use crate::Session;
use crate::config::Config;
use crate::memory::{MemoryLimit, SharedPool};

/// Name of the catalog that is there when none is configured.
const DEFAULT_CATALOG_NAME: &str = "lake";

/// Name of the namespace that a session begins in.
const DEFAULT_NAMESPACE: &str = "default";

/// The directory of the default catalog, below the working directory.
const DEFAULT_HOME: &str = "tarn-lake";

/// Overrides the directory of the default catalog.
const HOME_VARIABLE: &str = "TARN_HOME";

/// Makes a [`Session`]. Everything has a default: without any call the session has the catalog `lake`, kept by SQLite in
/// `./tarn-lake` (or `$TARN_HOME`), where nothing is created before the first write.
#[derive(Debug, Default)]
pub struct SessionBuilder {
    settings: Vec<(String, String)>,
    catalogs: Vec<(String, Arc<dyn Catalog>)>,
    configured: Vec<(String, BTreeMap<String, String>)>,
    home: Option<PathBuf>,
    default_catalog: Option<String>,
    namespace: Option<Namespace>,
    memory_limit: Option<MemoryLimit>,
    spill_directory: Option<PathBuf>,
    parallelism: Option<usize>,
    config_files: Vec<PathBuf>,
    reporter: Option<Arc<dyn MetricsReporter>>,
}

impl SessionBuilder {
    /// A `tarn.toml` to begin with; it is read when the session is made. What is called for here comes before what the
    /// file says, and an earlier file before a later one.
    #[must_use]
    pub fn config_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.config_files.push(path.into());
        self
    }

    /// What a `tarn.toml` holds, as far as nothing else was called for before.
    #[must_use]
    pub fn config(mut self, config: Config) -> Self {
        let mut settings: Vec<(String, String)> = config.settings.into_iter().collect();
        for (name, properties) in config.catalogs {
            let mut made = self
                .catalogs
                .iter()
                .map(|(n, _)| n)
                .chain(self.configured.iter().map(|(n, _)| n));
            if made.any(|n| *n == name) {
                continue;
            }
            settings.extend(catalog_settings(&name, properties));
        }
        settings.append(&mut self.settings);
        self.settings = settings;
        self.default_catalog = self.default_catalog.or(config.default_catalog);
        self.namespace = self.namespace.or(config.default_namespace);
        self.home = self.home.or(config.home);
        self.memory_limit = self.memory_limit.or(config.memory_limit);
        self.spill_directory = self.spill_directory.or(config.spill_directory);
        self.parallelism = self.parallelism.or(config.parallelism);
        self
    }

    /// A setting, as `SET` would make it.
    #[must_use]
    pub fn setting(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.settings.push((key.into(), value.into()));
        self
    }

    /// A catalog that exists already.
    #[must_use]
    pub fn catalog(mut self, name: impl Into<String>, catalog: Arc<dyn Catalog>) -> Self {
        self.catalogs.push((name.into(), catalog));
        self
    }

    /// A catalog to be made from properties, such as `type` and `warehouse`, when it is first used.
    #[must_use]
    pub fn catalog_from(mut self, name: impl Into<String>, properties: BTreeMap<String, String>) -> Self {
        self.configured.push((name.into(), properties));
        self
    }

    /// The directory of the default catalog.
    #[must_use]
    pub fn home(mut self, directory: impl Into<PathBuf>) -> Self {
        self.home = Some(directory.into());
        self
    }

    /// The catalog to begin in; `lake` by default.
    #[must_use]
    pub fn default_catalog(mut self, name: impl Into<String>) -> Self {
        self.default_catalog = Some(name.into());
        self
    }

    /// The namespace to begin in; `default` by default. It need not exist: the first CREATE TABLE in it makes it.
    #[must_use]
    pub fn namespace(mut self, namespace: Namespace) -> Self {
        self.namespace = Some(namespace);
        self
    }

    /// The most memory that queries may use; beyond it they spill or are refused. Without it there is no limit.
    #[must_use]
    pub fn memory_limit(mut self, limit: MemoryLimit) -> Self {
        self.memory_limit = Some(limit);
        self
    }

    /// Where queries spill to: a directory that exists. That of the operating system by default.
    #[must_use]
    pub fn spill_directory(mut self, directory: impl Into<PathBuf>) -> Self {
        self.spill_directory = Some(directory.into());
        self
    }

    /// How many partitions of a query run at a time. The number of cores by default.
    #[must_use]
    pub fn parallelism(mut self, partitions: usize) -> Self {
        self.parallelism = Some(partitions.max(1));
        self
    }

    /// Takes a report of each scan that is planned and each snapshot that is committed. By default they are logged, as
    /// JSON, by events of the crate `tracing` with the target `tarn::metrics`.
    #[must_use]
    pub fn metrics_reporter(mut self, reporter: Arc<dyn MetricsReporter>) -> Self {
        self.reporter = Some(reporter);
        self
    }

    /// Makes the session.
    ///
    /// # Errors
    /// `InvalidInput` for settings that make no sense. Catalogs are opened when they are first used.
    pub async fn build(mut self) -> Result<Session> {
        for file in std::mem::take(&mut self.config_files) {
            self = self.config(Config::read(&file)?);
        }
        let mut settings = Settings::new(self.settings)?;
        let catalog = self
            .default_catalog
            .as_deref()
            .or_else(|| settings.get(DEFAULT_CATALOG));
        let catalog = catalog.unwrap_or(DEFAULT_CATALOG_NAME).to_string();
        let namespace = self.namespace.unwrap_or_else(|| Namespace::new([DEFAULT_NAMESPACE]));
        let runtime = runtime(self.memory_limit, self.spill_directory)?;
        let mut engine = SessionConfig::new();
        if let Some(partitions) = self.parallelism {
            engine = engine.with_target_partitions(partitions);
        }
        for (name, properties) in self.configured {
            for (key, value) in catalog_settings(&name, properties) {
                settings.set(&key, &value)?;
            }
        }
        let is_given = self.catalogs.iter().any(|(n, _)| n.eq_ignore_ascii_case(&catalog));
        if !is_given && settings.described_catalog(&catalog).is_none() {
            for (key, value) in catalog_settings(&catalog, default_catalog(self.home)?) {
                settings.set(&key, &value)?;
            }
        }
        let current = Current {
            catalog: catalog.clone(),
            namespace,
        };
        let session = tarn_sql::Session::new(SessionOptions {
            factory: Arc::new(Catalogs),
            settings,
            runtime,
            engine,
            current: current.clone(),
            reporter: self.reporter.unwrap_or_else(|| Arc::new(LoggingReporter)),
        });
        session.imply_namespace(current);
        for (name, existing) in self.catalogs {
            session.catalogs().add(&name, existing);
        }
        Ok(Session(session))
    }
}

/// The settings that describe a catalog, which is opened when it is first used.
fn catalog_settings(name: &str, properties: BTreeMap<String, String>) -> Vec<(String, String)> {
    let itself = format!("{CATALOG_PREFIX}{name}");
    let properties = properties
        .into_iter()
        .map(|(key, value)| (format!("{itself}.{key}"), value));
    let mut settings = vec![(itself.clone(), name.to_string())];
    settings.extend(properties);
    settings
}

/// Memory and disk for queries.
fn runtime(memory_limit: Option<MemoryLimit>, spill_directory: Option<PathBuf>) -> Result<Arc<RuntimeEnv>> {
    let mut runtime = RuntimeEnvBuilder::new();
    if let Some(bytes) = memory_limit.and_then(MemoryLimit::bytes) {
        runtime = runtime.with_memory_pool(Arc::new(SharedPool::new(bytes)));
    }
    if let Some(directory) = spill_directory {
        if !directory.is_dir() {
            let message = format!("the spill directory '{}' is no directory", directory.display());
            return Err(Error::invalid(message));
        }
        runtime = runtime.with_temp_file_path(directory);
    }
    let runtime = runtime.build_arc();
    runtime.map_err(|e| Error::invalid("the query runtime cannot be set up").with_source(e))
}

/// Properties of the default catalog.
fn default_catalog(home: Option<PathBuf>) -> Result<BTreeMap<String, String>> {
    let home = home.or_else(|| std::env::var_os(HOME_VARIABLE).map(PathBuf::from));
    let home = home.unwrap_or_else(|| PathBuf::from(DEFAULT_HOME));
    let home = std::path::absolute(&home)
        .map_err(|e| Error::invalid(format!("'{}' is no usable directory", home.display())).with_source(e))?;
    let text = |path: PathBuf| path.to_string_lossy().into_owned();
    Ok(BTreeMap::from([
        ("type".to_string(), "sqlite".to_string()),
        ("uri".to_string(), text(home.join("catalog.db"))),
        ("warehouse".to_string(), text(home)),
    ]))
}
