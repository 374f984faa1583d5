//! Delete indexes kept from scan to scan, under a budget of bytes.
//!
//! Building an index over many thousand deletes costs more than all other planning with warm manifests. The set of
//! delete manifests says all about the deletes, so the index of one set never grows stale.

use std::fmt;
use std::sync::Arc;

use moka::sync::Cache;

use super::index::DeleteFileIndex;
use crate::manifest::manifest_file::ManifestFile;
use crate::spec::table_metadata::TableMetadata;

/// The budget of [`DeleteIndexCache::default`], the delete manifests that indexes point into included.
pub const DEFAULT_BUDGET_BYTES: u64 = 64 << 20;

/// Which index: see [`DeleteIndexKey::new`].
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct DeleteIndexKey(Arc<str>);

impl DeleteIndexKey {
    /// The index over these manifests of a table, in any order. Its schemas tell the types of equality deletes' keys.
    pub fn new(metadata: &TableMetadata, manifests: &[Arc<ManifestFile>]) -> Self {
        let mut paths: Vec<&str> = manifests.iter().map(|m| m.manifest_path.as_str()).collect();
        paths.sort_unstable();
        let (schema, schemas) = (metadata.current_schema_id, metadata.schemas.len());
        let specs = metadata.partition_specs.len();
        DeleteIndexKey(format!("{schema} {schemas} {specs}\n{}", paths.join("\n")).into())
    }
}

/// The cache. Clones share it.
#[derive(Clone)]
pub struct DeleteIndexCache {
    cache: Cache<DeleteIndexKey, Arc<DeleteFileIndex>>,
}

impl Default for DeleteIndexCache {
    fn default() -> Self {
        Self::new(DEFAULT_BUDGET_BYTES)
    }
}

impl fmt::Debug for DeleteIndexCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeleteIndexCache")
            .field("size_bytes", &self.cache.weighted_size())
            .finish_non_exhaustive()
    }
}

impl DeleteIndexCache {
    /// A cache of at most so many bytes.
    pub fn new(budget_bytes: u64) -> Self {
        let weigh = |key: &DeleteIndexKey, index: &Arc<DeleteFileIndex>| {
            u32::try_from(key.0.len() + index.size_bytes()).unwrap_or(u32::MAX)
        };
        DeleteIndexCache {
            cache: Cache::builder().max_capacity(budget_bytes).weigher(weigh).build(),
        }
    }

    /// The index of this key, if it is kept.
    pub fn get(&self, key: &DeleteIndexKey) -> Option<Arc<DeleteFileIndex>> {
        self.cache.get(key)
    }

    /// Keeps an index.
    pub fn insert(&self, key: DeleteIndexKey, index: Arc<DeleteFileIndex>) {
        self.cache.insert(key, index);
    }
}
