//! Putting a [`FileIo`] together.

use std::sync::Arc;

use object_store::ObjectStore;

use super::directory::Directories;
use super::local::{Durability, local};
use super::location::{Addressing, EmptySegments, Location};
use super::prefix_map::PrefixMap;
use super::registry::{Mount, Registry};
use super::{FileIo, Inner, StoreId};

/// Builds a [`FileIo`]: see [`FileIo::builder`].
#[derive(Debug, Clone)]
pub struct FileIoBuilder {
    registry: Registry,
    prefixes: PrefixMap,
    durability: Durability,
}

impl FileIoBuilder {
    pub(super) fn new() -> Self {
        FileIoBuilder {
            registry: Registry::default(),
            prefixes: PrefixMap::new(),
            durability: Durability::default(),
        }
    }

    /// Uses `store` for every location of `scheme`. Bucket or host become the first segment of the store's keys
    /// (`s3://b/k` is `b/k`), except for `file`. The aliases of a scheme (`s3a`, `s3n`, `abfss`) are meant too.
    #[must_use]
    pub fn with_store(mut self, scheme: &str, store: Arc<dyn ObjectStore>) -> Self {
        let mount = mount(store, None, Addressing::AuthorityAndPath);
        self.registry.schemes.insert(canonical(scheme), mount);
        self
    }

    /// As [`Self::with_store`], for a store that has real directories.
    #[must_use]
    pub fn with_directory_store(
        mut self,
        scheme: &str,
        store: Arc<dyn ObjectStore>,
        directories: Arc<dyn Directories>,
    ) -> Self {
        let mount = mount(store, Some(directories), Addressing::AuthorityAndPath);
        self.registry.schemes.insert(canonical(scheme), mount);
        self
    }

    /// Uses `store` for one bucket (or container@account) of `scheme`; the store's keys are the paths in it. Wins over
    /// [`Self::with_store`].
    #[must_use]
    pub fn with_bucket_store(mut self, scheme: &str, bucket: &str, store: Arc<dyn ObjectStore>) -> Self {
        let mut mount = mount(store, None, Addressing::Path);
        mount.empty_segments = EmptySegments::Refuse;
        self.registry
            .buckets
            .insert((canonical(scheme), bucket.to_string()), mount);
        self
    }

    /// Uses `store` for every location, of whatever scheme, that has no other store. Keys are as with [`Self::with_store`].
    #[must_use]
    pub fn with_fallback_store(mut self, store: Arc<dyn ObjectStore>) -> Self {
        self.registry.fallback = Some(mount(store, None, Addressing::AuthorityAndPath));
        self
    }

    /// Reads and writes locations that begin with `from` under `to` instead: see [`PrefixMap`].
    #[must_use]
    pub fn with_location_prefix(mut self, from: &str, to: &str) -> Self {
        self.prefixes.insert(from, to);
        self
    }

    /// When local files survive a power failure. The default is [`Durability::Synced`].
    #[must_use]
    pub fn with_durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    /// The finished [`FileIo`]. Local files are served unless another store was given for them.
    pub fn build(mut self) -> FileIo {
        if self.registry.fallback.is_none() {
            let (store, directories) = local(self.durability);
            self.registry
                .schemes
                .entry("file".to_string())
                .or_insert_with(|| Mount {
                    id: StoreId::LOCAL,
                    ..mount(store, Some(directories), Addressing::Path)
                });
        }
        FileIo {
            inner: Arc::new(Inner {
                registry: self.registry,
                prefixes: self.prefixes,
            }),
        }
    }
}

fn mount(store: Arc<dyn ObjectStore>, directories: Option<Arc<dyn Directories>>, addressing: Addressing) -> Mount {
    Mount {
        id: StoreId::unique(),
        store,
        directories,
        addressing,
        empty_segments: EmptySegments::Collapse,
    }
}

fn canonical(scheme: &str) -> String {
    Location {
        scheme,
        authority: "",
        path: "",
    }
    .store_scheme()
}
