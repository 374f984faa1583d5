//! The catalogs of a session: made by a factory, each with its own caches.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

use tarn_engine::Caches;
use tarn_format::catalog::{Catalog, CatalogFactory};
use tarn_format::{Error, ErrorKind, Result};

/// A catalog and what is cached of its tables.
#[derive(Debug, Clone)]
pub struct CatalogEntry {
    /// The catalog.
    pub catalog: Arc<dyn Catalog>,
    /// Manifests and footers of its tables.
    pub caches: Caches,
}

/// The catalogs of a session by name.
#[derive(Debug)]
pub struct CatalogRegistry {
    factory: Arc<dyn CatalogFactory>,
    entries: RwLock<BTreeMap<String, CatalogEntry>>,
}

impl CatalogRegistry {
    /// No catalogs yet.
    pub fn new(factory: Arc<dyn CatalogFactory>) -> Self {
        CatalogRegistry {
            factory,
            entries: RwLock::new(BTreeMap::new()),
        }
    }

    /// Adds a catalog that exists, replacing another of its name.
    pub fn add(&self, name: &str, catalog: Arc<dyn Catalog>) {
        let entry = CatalogEntry {
            catalog,
            caches: Caches::default(),
        };
        let mut entries = self.entries.write().unwrap_or_else(PoisonError::into_inner);
        entries.insert(name.to_string(), entry);
    }

    /// Makes a catalog from properties and adds it.
    ///
    /// # Errors
    /// `AlreadyExists` when the name is taken; those of the factory.
    pub async fn create(&self, name: &str, properties: &BTreeMap<String, String>) -> Result<()> {
        if self.get(name).is_some() {
            return Err(Error::new(
                ErrorKind::AlreadyExists,
                format!("catalog {name} exists already"),
            ));
        }
        let catalog = self.factory.create(name, properties).await?;
        self.add(name, catalog);
        Ok(())
    }

    /// Forgets a catalog; its tables stay. Whether there was one.
    pub fn remove(&self, name: &str) -> bool {
        let mut entries = self.entries.write().unwrap_or_else(PoisonError::into_inner);
        entries.remove(name).is_some()
    }

    /// The catalog of this name, in any case when no other matches.
    pub fn get(&self, name: &str) -> Option<CatalogEntry> {
        let entries = self.entries.read().unwrap_or_else(PoisonError::into_inner);
        let folded = || {
            entries
                .iter()
                .find(|(n, _)| n.eq_ignore_ascii_case(name))
                .map(|(_, e)| e)
        };
        entries.get(name).or_else(folded).cloned()
    }

    /// All names, sorted.
    pub fn names(&self) -> Vec<String> {
        let entries = self.entries.read().unwrap_or_else(PoisonError::into_inner);
        entries.keys().cloned().collect()
    }
}
