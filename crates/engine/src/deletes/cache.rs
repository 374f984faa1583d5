//! Loaded deletes, kept from scan to scan under a budget of bytes. Who asks for what is being loaded waits for it.

use std::fmt;
use std::sync::Arc;

use moka::future::Cache;
use moka::policy::EvictionPolicy;
use tarn_format::deletes::deletion_vector::DeletionVector;
use tarn_format::io::ObjectId;
use tarn_format::{Error, ErrorKind, Result};

use super::file_positions::FilePositions;
use super::key_set::KeySetId;
use super::key_table::KeyTable;

/// The budget of [`DeleteCache::default`].
pub const DEFAULT_BUDGET_BYTES: u64 = 256 << 20;

/// What is kept. Delete files never change.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum DeleteKey {
    /// A file of position deletes.
    Positions(ObjectId),
    /// The deletion vector at this offset and of this length in bytes in a Puffin file.
    Vector(ObjectId, i64, i64),
    /// The keys of a set of equality deletes.
    Keys(Arc<KeySetId>),
}

/// Something loaded.
#[derive(Debug, Clone)]
pub(super) enum Loaded {
    Positions(Arc<FilePositions>),
    Vector(Arc<DeletionVector>),
    Keys(Arc<KeyTable>),
}

impl Loaded {
    fn size_bytes(&self) -> usize {
        match self {
            Loaded::Positions(positions) => positions.size_bytes(),
            Loaded::Vector(vector) => vector_size_bytes(vector),
            Loaded::Keys(table) => table.size_bytes(),
        }
    }
}

/// Memory of a deletion vector in bytes, by estimate.
pub(super) fn vector_size_bytes(vector: &DeletionVector) -> usize {
    vector.as_treemap().serialized_size()
}

/// The cache. Clones share it.
#[derive(Clone)]
pub struct DeleteCache {
    cache: Cache<DeleteKey, Loaded>,
    budget_bytes: u64,
}

impl Default for DeleteCache {
    fn default() -> Self {
        Self::new(DEFAULT_BUDGET_BYTES)
    }
}

impl fmt::Debug for DeleteCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeleteCache")
            .field("size_bytes", &self.cache.weighted_size())
            .field("budget_bytes", &self.budget_bytes)
            .finish_non_exhaustive()
    }
}

impl DeleteCache {
    /// A cache of at most so many bytes. The deletes of one file, or one set of keys, that need more are refused.
    pub fn new(budget_bytes: u64) -> Self {
        const ENTRY: usize = 256;
        let weigh = |key: &DeleteKey, loaded: &Loaded| {
            let key = match key {
                DeleteKey::Keys(id) => id.size_bytes(),
                DeleteKey::Positions(_) | DeleteKey::Vector(..) => 0,
            };
            u32::try_from(ENTRY + key + loaded.size_bytes()).unwrap_or(u32::MAX)
        };
        // The newest is what the running scan needs: it is always let in.
        let cache = Cache::builder()
            .max_capacity(budget_bytes)
            .weigher(weigh)
            .eviction_policy(EvictionPolicy::lru());
        DeleteCache {
            cache: cache.build(),
            budget_bytes,
        }
    }

    /// Refuses what is larger than the budget.
    ///
    /// # Errors
    /// `ResourcesExhausted`.
    pub(super) fn check(&self, size_bytes: usize) -> Result<()> {
        if size_bytes as u64 <= self.budget_bytes {
            return Ok(());
        }
        let message = format!(
            "deletes need more than the {} bytes that are kept for them: compact the table, or give more memory to its \
             caches",
            self.budget_bytes
        );
        Err(Error::new(ErrorKind::ResourcesExhausted, message))
    }

    /// What the budget leaves beside so many bytes.
    pub(super) fn room_bytes(&self, size_bytes: usize) -> usize {
        let room = self.budget_bytes.saturating_sub(size_bytes as u64);
        usize::try_from(room).unwrap_or(usize::MAX)
    }

    /// What is kept under the key, or else loaded now.
    ///
    /// # Errors
    /// Those of loading, which are not kept.
    pub(super) async fn get(&self, key: DeleteKey, load: impl Future<Output = Result<Loaded>>) -> Result<Loaded> {
        let found = self.cache.try_get_with(key, load).await;
        found.map_err(|shared: Arc<Error>| {
            Arc::try_unwrap(shared).unwrap_or_else(|shared| Error::new(shared.kind(), shared.to_string()))
        })
    }
}
