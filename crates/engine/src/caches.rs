//! What scans of a session share: decoded manifests and Parquet footers, each under a byte budget.

use std::fmt;
use std::sync::Arc;

use datafusion::execution::cache::cache_manager::{CachedFileMetadataEntry, FileMetadataCache};
use datafusion::execution::cache::default_cache::DefaultCache;
use object_store::path::Path;
use tarn_format::manifest::cache::ManifestCache;

/// Default budget of the footer cache in bytes.
const FOOTER_CACHE_BYTES: usize = 128 * 1024 * 1024;

/// Caches of immutable files. Cheap to clone; one per catalog, because locations mean files of its store.
#[derive(Clone)]
pub struct Caches {
    /// Decoded manifests and manifest lists.
    pub manifests: ManifestCache,
    /// Parquet footers.
    pub footers: Arc<FileMetadataCache>,
}

impl Default for Caches {
    fn default() -> Self {
        Caches {
            manifests: ManifestCache::default(),
            footers: Arc::new(DefaultCache::<Path, CachedFileMetadataEntry>::new(FOOTER_CACHE_BYTES)),
        }
    }
}

impl fmt::Debug for Caches {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Caches").finish_non_exhaustive()
    }
}
