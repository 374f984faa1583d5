//! The state of a table that a metadata table shows: its metadata, one snapshot, and how manifests are read.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use datafusion::error::DataFusionError;
use futures::stream::BoxStream;
use futures::{StreamExt, TryStreamExt};
use tarn_format::catalog::Table;
use tarn_format::manifest::columns::MetricsProjection;
use tarn_format::manifest::manifest_file::ManifestFile;
use tarn_format::scan::manifest_entries::ManifestEntries;
use tarn_format::spec::snapshot::Snapshot;
use tarn_format::spec::table_metadata::TableMetadata;
use tarn_format::spec::types::StructType;
use tarn_format::{Error, Result, ResultExt};

use super::entry_scan::manifests_ahead;
use super::partition_column::active_partition_struct;
use crate::caches::Caches;
use crate::external;

/// Manifest lists that are read at once.
const LISTS_AT_ONCE: usize = 16;

/// A table at one state.
#[derive(Debug, Clone)]
pub(super) struct TableState {
    pub(super) table: Table,
    /// The snapshot that is shown; `None` for an empty table.
    pub(super) snapshot: Option<Arc<Snapshot>>,
    pub(super) caches: Caches,
    /// All snapshots by id.
    snapshots: Arc<HashMap<i64, Arc<Snapshot>>>,
    /// The types of partition tuples by spec id.
    partition_types: Arc<HashMap<i32, StructType>>,
    /// The struct over all specs that partitions are shown in; without fields when the table is unpartitioned.
    pub(super) partition: Arc<StructType>,
}

impl TableState {
    pub(super) fn new(table: Table, snapshot: Option<Arc<Snapshot>>, caches: Caches) -> Self {
        let metadata = &table.metadata;
        let specs = metadata.partition_specs.iter().map(|s| s.spec_id);
        let types = specs.filter_map(|id| Some((id, metadata.partition_type_of(id).ok()?)));
        TableState {
            partition_types: Arc::new(types.collect()),
            partition: Arc::new(active_partition_struct(&table.metadata)),
            snapshots: Arc::new(
                table
                    .metadata
                    .snapshots
                    .iter()
                    .map(|s| (s.snapshot_id, Arc::clone(s)))
                    .collect(),
            ),
            table,
            snapshot,
            caches,
        }
    }

    pub(super) fn metadata(&self) -> &TableMetadata {
        &self.table.metadata
    }

    /// The snapshot of this id.
    pub(super) fn snapshot_by_id(&self, id: i64) -> Option<&Arc<Snapshot>> {
        self.snapshots.get(&id)
    }

    /// The manifests of the snapshot that is shown; none for an empty table.
    pub(super) async fn manifests(&self) -> Result<Arc<Vec<ManifestFile>>> {
        match &self.snapshot {
            Some(snapshot) => self.manifests_of(snapshot).await,
            None => Ok(Arc::default()),
        }
    }

    /// The manifests of a snapshot.
    pub(super) async fn manifests_of(&self, snapshot: &Snapshot) -> Result<Arc<Vec<ManifestFile>>> {
        let cache = &self.caches.manifests;
        cache.manifests(&self.table.io, self.metadata(), snapshot).await
    }

    /// The manifests of all snapshots, each once, in the order of the snapshots that first list them.
    pub(super) async fn reachable_manifests(&self) -> Result<Vec<Arc<ManifestFile>>> {
        let lists: Vec<_> = self.metadata().snapshots.iter().map(|s| self.manifests_of(s)).collect();
        let mut lists = futures::stream::iter(lists).buffered(LISTS_AT_ONCE);
        let mut seen: HashSet<String> = HashSet::new();
        let mut manifests = Vec::new();
        while let Some(list) = lists.try_next().await? {
            for manifest in list.iter() {
                if !seen.contains(&manifest.manifest_path) {
                    seen.insert(manifest.manifest_path.clone());
                    manifests.push(Arc::new(manifest.clone()));
                }
            }
        }
        Ok(manifests)
    }

    /// The id of the snapshot that is shown, as EXPLAIN says it.
    pub(super) fn snapshot_text(&self) -> String {
        let id = self.snapshot.as_ref().map(|s| s.snapshot_id.to_string());
        id.unwrap_or_else(|| "none".to_string())
    }

    /// The entries of manifests, one manifest after another in their order, some of them read ahead.
    pub(super) fn load_ahead<'s>(
        &'s self,
        manifests: &[Arc<ManifestFile>],
        projection: &'s MetricsProjection,
    ) -> BoxStream<'s, Result<ManifestEntries>> {
        let loads = manifests.iter().map(|m| self.load(Arc::clone(m), projection));
        let loads: Vec<_> = loads.collect();
        futures::stream::iter(loads)
            .buffered(manifests_ahead(manifests))
            .boxed()
    }

    /// The entries of a manifest with the projected metrics.
    pub(super) async fn load(
        &self,
        manifest: Arc<ManifestFile>,
        projection: &MetricsProjection,
    ) -> Result<ManifestEntries> {
        let cache = &self.caches.manifests;
        let load = async {
            let spec_id = manifest.partition_spec_id;
            let partition_type = match self.partition_types.get(&spec_id) {
                Some(known) => known,
                None => &self.metadata().partition_type_of(spec_id)?,
            };
            cache
                .get(&self.table.io, &manifest, Some(partition_type), projection)
                .await
        };
        let columns = load.await.context("manifest", manifest.manifest_path.as_str())?;
        Ok(ManifestEntries::new(manifest, columns))
    }

    /// The error as DataFusion carries it, naming the table.
    pub(super) fn external(&self, e: Error) -> DataFusionError {
        external(e.with_context("table", self.table.ident.to_string()))
    }
}
