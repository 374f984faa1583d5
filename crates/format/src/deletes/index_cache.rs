//! Delete indexes kept from scan to scan, under a budget of bytes.
//!
//! Building an index over many thousand deletes costs more than all other planning with warm manifests. The set of
//! delete manifests says all about the deletes, so the index of one set never grows stale.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use moka::sync::Cache;

use super::index::DeleteFileIndex;
use crate::error::Result;
use crate::io::{FileIo, ObjectId};
use crate::manifest::manifest_file::ManifestFile;
use crate::spec::partition::PartitionSpec;
use crate::spec::schema::SchemaRef;
use crate::spec::table_metadata::TableMetadata;

/// The budget of [`DeleteIndexCache::default`], the delete manifests that indexes point into included.
pub const DEFAULT_BUDGET_BYTES: u64 = 64 << 20;

/// Which index: see [`DeleteIndexKey::new`].
#[derive(Debug, Clone)]
pub struct DeleteIndexKey {
    /// In order.
    manifests: Arc<[ObjectId]>,
    current_schema_id: i32,
    schemas: Arc<[SchemaRef]>,
    specs: Arc<[Arc<PartitionSpec>]>,
}

impl DeleteIndexKey {
    /// The index over these manifests of a table, in any order. Its schemas and specs take part, because they tell the
    /// types of equality deletes' keys and which deletes hold for all partitions: two tables that were made from one
    /// have the same manifests and may have changed apart.
    ///
    /// # Errors
    /// Those of [`FileIo::object_id`].
    pub fn new(io: &FileIo, metadata: &TableMetadata, manifests: &[Arc<ManifestFile>]) -> Result<Self> {
        let ids = manifests.iter().map(|m| io.object_id(&m.manifest_path));
        let mut ids = ids.collect::<Result<Vec<ObjectId>>>()?;
        ids.sort_unstable();
        Ok(DeleteIndexKey {
            manifests: ids.into(),
            current_schema_id: metadata.current_schema_id,
            schemas: metadata.schemas.as_slice().into(),
            specs: metadata.partition_specs.as_slice().into(),
        })
    }

    /// Schemas and specs are the table's own, as a rule alive anyhow.
    fn size_bytes(&self) -> usize {
        let paths: usize = self.manifests.iter().map(|id| id.path.as_ref().len()).sum();
        paths + self.manifests.len() * size_of::<ObjectId>()
    }
}

impl PartialEq for DeleteIndexKey {
    fn eq(&self, other: &Self) -> bool {
        self.manifests == other.manifests
            && self.current_schema_id == other.current_schema_id
            && all_same(&self.schemas, &other.schemas)
            && all_same(&self.specs, &other.specs)
    }
}

impl Eq for DeleteIndexKey {}

impl Hash for DeleteIndexKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.manifests.hash(state);
    }
}

/// Whether all are equal, and quickly so where they are shared.
fn all_same<T: PartialEq>(one: &[Arc<T>], other: &[Arc<T>]) -> bool {
    let same = |(a, b): (&Arc<T>, &Arc<T>)| Arc::ptr_eq(a, b) || a == b;
    one.len() == other.len() && one.iter().zip(other).all(same)
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
            u32::try_from(key.size_bytes() + index.size_bytes()).unwrap_or(u32::MAX)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::manifest_file::ManifestContent;
    use crate::scan::testing::{manifest_file, table};
    use crate::spec::schema::Schema;

    #[test]
    fn a_key_tells_stores_manifests_and_schemas_apart() {
        let manifest = |path: &str| {
            let manifest = manifest_file(ManifestContent::Deletes, 0);
            Arc::new(ManifestFile {
                manifest_path: path.into(),
                ..manifest
            })
        };
        let (a, b) = (manifest("s3://t/a"), manifest("s3://t/b"));
        let (io, metadata) = (FileIo::memory(), table());
        let key = |io: &FileIo, metadata: &TableMetadata, manifests: &[&Arc<ManifestFile>]| {
            let manifests: Vec<Arc<ManifestFile>> = manifests.iter().map(|m| Arc::clone(m)).collect();
            DeleteIndexKey::new(io, metadata, &manifests).unwrap()
        };
        let cache = DeleteIndexCache::default();
        cache.insert(key(&io, &metadata, &[&a, &b]), Arc::default());
        assert!(cache.get(&key(&io, &metadata, &[&b, &a])).is_some());
        assert!(cache.get(&key(&io, &metadata, &[&a])).is_none());
        assert!(cache.get(&key(&FileIo::memory(), &metadata, &[&a, &b])).is_none());
        // Read again, the table is the same; changed by somebody else in as many steps, it is another.
        let reread = TableMetadata::from_json(&metadata.to_json().unwrap()).unwrap();
        assert!(cache.get(&key(&io, &reread, &[&a, &b])).is_some());
        let mut other = metadata.clone();
        let schema = Schema::new(other.current_schema_id, Default::default(), Vec::new()).unwrap();
        other.schemas = vec![Arc::new(schema)];
        assert_eq!(other.schemas.len(), metadata.schemas.len());
        assert!(cache.get(&key(&io, &other, &[&a, &b])).is_none());
    }
}
