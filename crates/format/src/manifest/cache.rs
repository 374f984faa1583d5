//! Decoded manifests and manifest lists, kept under a budget of bytes.
//!
//! They are kept by object, not by location, see [`ObjectId`]: catalogs with different stores or location prefixes may
//! share a cache. Both kinds of file are immutable, so nothing is ever stale. Of several callers that need the same file one
//! reads and decodes it and the others wait.

use std::fmt;
use std::mem::size_of;
use std::sync::Arc;

use bytes::Bytes;
use moka::future::Cache;
use moka::ops::compute::{CompResult, Op};

use super::columns::{ManifestColumns, MetricsProjection};
use super::list;
use super::manifest_file::{FieldSummary, ManifestFile};
use super::reader;
use crate::error::{Error, ErrorKind, Result, ResultExt};
use crate::io::{FileIo, ObjectId};
use crate::spec::snapshot::{Snapshot, SnapshotManifests};
use crate::spec::table_metadata::TableMetadata;
use crate::spec::types::StructType;

/// The budget of [`ManifestCache::default`]: some two million files.
pub const DEFAULT_BUDGET_BYTES: u64 = 256 << 20;

/// Files of this length are decoded on a thread that may block.
const LARGE_BYTES: usize = 128 << 10;

/// The cache. Clones share it.
#[derive(Clone)]
pub struct ManifestCache {
    cache: Cache<ObjectId, Cached>,
    budget_bytes: u64,
}

#[derive(Clone)]
enum Cached {
    Manifest(Arc<CachedManifest>),
    List(Arc<Vec<ManifestFile>>),
}

struct CachedManifest {
    columns: Arc<ManifestColumns>,
    /// What the partition tuples were decoded for: a promoted source column changes it.
    partition_type: Option<StructType>,
}

impl Default for ManifestCache {
    fn default() -> Self {
        Self::new(DEFAULT_BUDGET_BYTES)
    }
}

impl fmt::Debug for ManifestCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ManifestCache")
            .field("budget_bytes", &self.budget_bytes)
            .field("size_bytes", &self.cache.weighted_size())
            .finish_non_exhaustive()
    }
}

impl ManifestCache {
    /// A cache of at most so many bytes.
    pub fn new(budget_bytes: u64) -> Self {
        let cache = Cache::builder()
            .max_capacity(budget_bytes)
            .weigher(|id: &ObjectId, cached: &Cached| {
                let key_bytes = size_of::<ObjectId>() + id.path.as_ref().len();
                u32::try_from(key_bytes + cached.size_bytes()).unwrap_or(u32::MAX)
            })
            .build();
        ManifestCache { cache, budget_bytes }
    }

    /// The entries of a manifest with at least the projected metrics, and partition tuples of `partition_type`.
    ///
    /// A cached manifest that lacks some metrics is decoded again, for these and those it had.
    ///
    /// # Errors
    /// Those of reading and of [`reader::decode`], naming the file.
    pub async fn get(
        &self,
        io: &FileIo,
        manifest: &ManifestFile,
        partition_type: Option<&StructType>,
        projection: &MetricsProjection,
    ) -> Result<Arc<ManifestColumns>> {
        let location = manifest.manifest_path.as_str();
        let id = io.object_id(location)?;
        let fits = |cached: &Arc<CachedManifest>| {
            cached.columns.projection.covers(projection) && cached.partition_type.as_ref() == partition_type
        };
        if let Some(Cached::Manifest(cached)) = self.cache.get(&id).await
            && fits(&cached)
        {
            return Ok(Arc::clone(&cached.columns));
        }
        // The closure runs for one caller at a time.
        let computed = self
            .cache
            .entry_by_ref(&id)
            .and_try_compute_with(async |present| -> Result<_> {
                let present = present.map(moka::Entry::into_value);
                let wanted = match &present {
                    Some(Cached::Manifest(cached)) if fits(cached) => return Ok(Op::Nop),
                    Some(Cached::Manifest(cached)) => projection.union(&cached.columns.projection),
                    _ => projection.clone(),
                };
                let bytes = io.read(location).await?;
                let columns = decode(bytes, partition_type.cloned(), wanted)
                    .await
                    .context("file", location)?;
                Ok(Op::Put(Cached::Manifest(Arc::new(CachedManifest {
                    columns: Arc::new(columns),
                    partition_type: partition_type.cloned(),
                }))))
            });
        match value_of(computed.await?) {
            Some(Cached::Manifest(cached)) => Ok(Arc::clone(&cached.columns)),
            _ => Err(not_of_its_kind(location)),
        }
    }

    /// The manifests of a snapshot, see [`list::load`].
    ///
    /// # Errors
    /// As [`list::load`].
    pub async fn manifests(
        &self,
        io: &FileIo,
        metadata: &TableMetadata,
        snapshot: &Snapshot,
    ) -> Result<Arc<Vec<ManifestFile>>> {
        let SnapshotManifests::List(location) = &snapshot.manifests else {
            return Ok(Arc::new(list::load(io, metadata, snapshot).await?));
        };
        let id = io.object_id(location)?;
        if let Some(Cached::List(manifests)) = self.cache.get(&id).await {
            return Ok(manifests);
        }
        let entry = self.cache.entry_by_ref(&id);
        let computed = entry.and_try_compute_with(async |present| -> Result<_> {
            if let Some(Cached::List(_)) = present.map(moka::Entry::into_value) {
                return Ok(Op::Nop);
            }
            let manifests = list::load(io, metadata, snapshot).await?;
            Ok(Op::Put(Cached::List(Arc::new(manifests))))
        });
        match value_of(computed.await?) {
            Some(Cached::List(manifests)) => Ok(manifests),
            _ => Err(not_of_its_kind(location)),
        }
    }

    /// Bytes held now, by estimate.
    pub async fn size_bytes(&self) -> u64 {
        self.cache.run_pending_tasks().await;
        self.cache.weighted_size()
    }

    /// Forgets everything.
    pub fn clear(&self) {
        self.cache.invalidate_all();
    }
}

fn value_of(result: CompResult<ObjectId, Cached>) -> Option<Cached> {
    match result {
        CompResult::Inserted(e) | CompResult::ReplacedWith(e) | CompResult::Unchanged(e) => Some(e.into_value()),
        CompResult::Removed(_) | CompResult::StillNone(_) => None,
    }
}

fn not_of_its_kind(location: &str) -> Error {
    Error::corrupt("the table names one file as both manifest and manifest list").with_context("file", location)
}

async fn decode(
    bytes: Bytes,
    partition_type: Option<StructType>,
    projection: MetricsProjection,
) -> Result<ManifestColumns> {
    if bytes.len() < LARGE_BYTES {
        return reader::decode(&bytes, partition_type.as_ref(), &projection);
    }
    let Ok(runtime) = tokio::runtime::Handle::try_current() else {
        return reader::decode(&bytes, partition_type.as_ref(), &projection);
    };
    let task = runtime.spawn_blocking(move || reader::decode(&bytes, partition_type.as_ref(), &projection));
    task.await
        .map_err(|e| Error::new(ErrorKind::Io, "decoding a manifest was cut short").with_source(e))?
}

impl Cached {
    fn size_bytes(&self) -> usize {
        match self {
            Cached::Manifest(cached) => cached.columns.size_bytes() + size_of::<CachedManifest>(),
            Cached::List(manifests) => manifests.iter().map(manifest_file_size).sum(),
        }
    }
}

fn manifest_file_size(manifest: &ManifestFile) -> usize {
    let bound = |b: &Option<Vec<u8>>| b.as_ref().map_or(0, Vec::capacity);
    let summary = |s: &FieldSummary| size_of::<FieldSummary>() + bound(&s.lower_bound) + bound(&s.upper_bound);
    size_of::<ManifestFile>()
        + manifest.manifest_path.capacity()
        + manifest.partitions.iter().map(summary).sum::<usize>()
        + bound(&manifest.key_metadata)
}

#[cfg(test)]
mod tests;
