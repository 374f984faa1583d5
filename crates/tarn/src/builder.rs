//! Making sessions.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::prelude::SessionConfig;
use tarn_catalogs::Catalogs;
use tarn_format::catalog::{Catalog, Namespace};
use tarn_format::{Error, Result};
use tarn_sql::config::{DEFAULT_CATALOG, Settings};
use tarn_sql::session::{Current, SessionOptions};

use crate::Session;

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
    namespace: Option<Namespace>,
    memory_limit_bytes: Option<usize>,
    spill_directory: Option<PathBuf>,
    parallelism: Option<usize>,
}

impl SessionBuilder {
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

    /// A catalog to be made from properties, such as `type` and `warehouse`.
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

    /// The namespace to begin in.
    #[must_use]
    pub fn namespace(mut self, namespace: Namespace) -> Self {
        self.namespace = Some(namespace);
        self
    }

    /// The most memory that queries may use, in bytes; beyond it they spill or are refused.
    #[must_use]
    pub fn memory_limit_bytes(mut self, bytes: usize) -> Self {
        self.memory_limit_bytes = Some(bytes);
        self
    }

    /// Where queries spill to.
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

    /// Makes the session.
    ///
    /// # Errors
    /// `InvalidInput` for settings and catalog properties that make no sense; those of opening a catalog.
    pub async fn build(self) -> Result<Session> {
        let settings = Settings::new(self.settings)?;
        let catalog = settings
            .get(DEFAULT_CATALOG)
            .unwrap_or(DEFAULT_CATALOG_NAME)
            .to_string();
        let namespace = self.namespace.unwrap_or_else(|| Namespace::new([DEFAULT_NAMESPACE]));
        let mut runtime = RuntimeEnvBuilder::new();
        if let Some(bytes) = self.memory_limit_bytes {
            runtime = runtime.with_memory_limit(bytes, 1.0);
        }
        if let Some(directory) = self.spill_directory {
            runtime = runtime.with_temp_file_path(directory);
        }
        let runtime = runtime.build_arc();
        let runtime = runtime.map_err(|e| Error::invalid("the query runtime cannot be set up").with_source(e))?;
        let mut engine = SessionConfig::new();
        if let Some(partitions) = self.parallelism {
            engine = engine.with_target_partitions(partitions);
        }
        let has_default = settings.catalog_properties(&catalog).is_some()
            || self.catalogs.iter().any(|(n, _)| *n == catalog)
            || self.configured.iter().any(|(n, _)| *n == catalog);
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
        });
        session.imply_namespace(current);
        for (name, existing) in self.catalogs {
            session.catalogs().add(&name, existing);
        }
        for (name, properties) in self.configured {
            session.catalogs().create(&name, &properties).await?;
        }
        if !has_default {
            session
                .catalogs()
                .create(&catalog, &default_catalog(self.home)?)
                .await?;
        }
        Ok(Session(session))
    }
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
