//! The catalogs of a session: made by a factory, each with its own caches.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock, RwLockWriteGuard};

use tarn_engine::Caches;
use tarn_format::catalog::{Catalog, CatalogFactory};
use tarn_format::{Error, ErrorKind, Result};
use tokio::sync::OnceCell;

/// A catalog and what is cached of its tables.
#[derive(Debug, Clone)]
pub struct CatalogEntry {
    /// The catalog.
    pub catalog: Arc<dyn Catalog>,
    /// Manifests and footers of its tables.
    pub caches: Caches,
}

/// The catalogs of a session by name. Names that differ only in case are the same.
#[derive(Debug)]
pub struct CatalogRegistry {
    factory: Arc<dyn CatalogFactory>,
    slots: RwLock<BTreeMap<String, Slot>>,
}

/// A catalog, or one that is being made.
#[derive(Debug, Clone)]
struct Slot {
    /// As it was first written.
    name: String,
    entry: Arc<OnceCell<CatalogEntry>>,
}

impl CatalogRegistry {
    /// No catalogs yet.
    pub fn new(factory: Arc<dyn CatalogFactory>) -> Self {
        CatalogRegistry {
            factory,
            slots: RwLock::new(BTreeMap::new()),
        }
    }

    /// Adds a catalog that exists, replacing another of its name.
    pub fn add(&self, name: &str, catalog: Arc<dyn Catalog>) {
        let slot = Slot {
            name: name.to_string(),
            entry: Arc::new(OnceCell::new_with(Some(CatalogEntry::new(catalog)))),
        };
        self.write().insert(name.to_ascii_lowercase(), slot);
    }

    /// Makes a catalog from properties and adds it.
    ///
    /// # Errors
    /// `AlreadyExists` when the name is taken; those of the factory.
    pub async fn create(&self, name: &str, properties: &BTreeMap<String, String>) -> Result<()> {
        let exists = || Error::new(ErrorKind::AlreadyExists, format!("catalog {name} exists already"));
        if self.get(name).is_some() {
            return Err(exists());
        }
        let mut is_mine = false;
        self.open_with(name, properties, || is_mine = true).await?;
        if is_mine { Ok(()) } else { Err(exists()) }
    }

    /// The catalog of this name, made from properties when it is not there. Whoever asks meanwhile waits for the same.
    ///
    /// # Errors
    /// Those of the factory; the next call tries again.
    pub async fn open(&self, name: &str, properties: &BTreeMap<String, String>) -> Result<CatalogEntry> {
        self.open_with(name, properties, || {}).await
    }

    async fn open_with(
        &self,
        name: &str,
        properties: &BTreeMap<String, String>,
        made: impl FnOnce(),
    ) -> Result<CatalogEntry> {
        let slot = self
            .write()
            .entry(name.to_ascii_lowercase())
            .or_insert_with(|| Slot {
                name: name.to_string(),
                entry: Arc::default(),
            })
            .clone();
        let entry = slot.entry.get_or_try_init(|| async {
            let catalog = self.factory.create(name, properties).await?;
            made();
            Ok::<_, Error>(CatalogEntry::new(catalog))
        });
        entry.await.cloned()
    }

    /// Forgets a catalog; its tables stay. Whether there was one.
    pub fn remove(&self, name: &str) -> bool {
        let removed = self.write().remove(&name.to_ascii_lowercase());
        removed.is_some_and(|slot| slot.entry.initialized())
    }

    /// The catalog of this name, when it has been made.
    pub fn get(&self, name: &str) -> Option<CatalogEntry> {
        let slots = self.slots.read().unwrap_or_else(PoisonError::into_inner);
        slots.get(&name.to_ascii_lowercase())?.entry.get().cloned()
    }

    /// The names of the catalogs that have been made, sorted without regard to case.
    pub fn names(&self) -> Vec<String> {
        let slots = self.slots.read().unwrap_or_else(PoisonError::into_inner);
        let made = slots.values().filter(|slot| slot.entry.initialized());
        made.map(|slot| slot.name.clone()).collect()
    }

    fn write(&self) -> RwLockWriteGuard<'_, BTreeMap<String, Slot>> {
        self.slots.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CatalogEntry {
    fn new(catalog: Arc<dyn Catalog>) -> Self {
        CatalogEntry {
            catalog,
            caches: Caches::default(),
        }
    }
}
