//! What scans of a session share: decoded manifests, delete indexes, deletes and Parquet footers, each under a byte budget.

use std::fmt;
use std::sync::Arc;

use datafusion::execution::cache::cache_manager::{CachedFileMetadataEntry, FileMetadataCache};
use datafusion::execution::cache::default_cache::DefaultCache;
use object_store::path::{Path, PathPart};
use tarn_format::deletes::index_cache::DeleteIndexCache;
use tarn_format::io::StoreId;
use tarn_format::manifest::cache::ManifestCache;

use crate::deletes::DeleteCache;

/// Default budget of the footer cache in bytes.
const FOOTER_CACHE_BYTES: usize = 128 * 1024 * 1024;

/// Caches of immutable files. Cheap to clone. Catalogs may share them: what is cached is known by the store and the key
/// in it, not by its location (see [`tarn_format::io::ObjectId`]).
#[derive(Clone)]
pub struct Caches {
    /// Decoded manifests and manifest lists.
    pub manifests: ManifestCache,
    /// Indexes of many deletes.
    pub delete_indexes: DeleteIndexCache,
    /// Positions and keys of deleted rows.
    pub deletes: DeleteCache,
    /// Parquet footers, led by their store, see `with_store`.
    pub footers: Arc<FileMetadataCache>,
}

impl Default for Caches {
    fn default() -> Self {
        Caches {
            manifests: ManifestCache::default(),
            delete_indexes: DeleteIndexCache::default(),
            deletes: DeleteCache::default(),
            footers: Arc::new(DefaultCache::<Path, CachedFileMetadataEntry>::new(FOOTER_CACHE_BYTES)),
        }
    }
}

impl fmt::Debug for Caches {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Caches").finish_non_exhaustive()
    }
}

/// The path by which DataFusion's footer cache, which knows no stores, keeps an object apart from those of the same path
/// in other stores. Local files keep their own.
pub(crate) fn with_store(store: StoreId, path: &Path) -> Path {
    if store == StoreId::LOCAL {
        return path.clone();
    }
    let store = store.to_string();
    std::iter::once(PathPart::from(store.as_str()))
        .chain(path.parts())
        .collect()
}

/// The path in its store of what [`with_store`] made.
pub(crate) fn without_store(store: StoreId, path: &Path) -> Path {
    if store == StoreId::LOCAL {
        return path.clone();
    }
    path.parts().skip(1).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use object_store::memory::InMemory;
    use tarn_format::io::FileIo;

    #[test]
    fn footers_of_two_stores_are_kept_apart() {
        let io = FileIo::builder()
            .with_bucket_store("s3", "a", Arc::new(InMemory::new()))
            .with_bucket_store("s3", "b", Arc::new(InMemory::new()))
            .build();
        let object = |location: &str| io.object_id(location).expect("an object");
        let (a, b) = (object("s3://a/t/x=a b%20c/f"), object("s3://b/t/x=a b%20c/f"));
        assert_eq!(a.path, b.path);
        let (of_a, of_b) = (with_store(a.store, &a.path), with_store(b.store, &b.path));
        assert_ne!(of_a, of_b);
        assert_eq!(without_store(a.store, &of_a), a.path);
        assert_eq!(without_store(b.store, &of_b), b.path);
        let local = object("/t/f");
        assert_eq!(with_store(local.store, &local.path), local.path);
    }
}
