//! The state of a table that a metadata table shows: its metadata, one snapshot, and how manifests are read.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use datafusion::error::DataFusionError;
use futures::{StreamExt, TryStreamExt};
use tarn_format::catalog::Table;
use tarn_format::manifest::columns::MetricsProjection;
use tarn_format::manifest::manifest_file::ManifestFile;
use tarn_format::scan::manifest_entries::ManifestEntries;
use tarn_format::spec::snapshot::Snapshot;
use tarn_format::spec::table_metadata::TableMetadata;
use tarn_format::spec::types::StructType;
use tarn_format::{Error, Result, ResultExt};

use super::partition_column::active_partition_struct;
use crate::caches::Caches;

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
    /// The struct over all specs that partitions are shown in; without fields when the table is unpartitioned.
    pub(super) partition: Arc<StructType>,
}

impl TableState {
    pub(super) fn new(table: Table, snapshot: Option<Arc<Snapshot>>, caches: Caches) -> Self {
        TableState {
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

    /// The entries of a manifest with the projected metrics.
    pub(super) async fn load(
        &self,
        manifest: Arc<ManifestFile>,
        projection: &MetricsProjection,
    ) -> Result<ManifestEntries> {
        let cache = &self.caches.manifests;
        let load = async {
            let partition_type = self.metadata().partition_type_of(manifest.partition_spec_id)?;
            cache
                .get(&self.table.io, &manifest, Some(&partition_type), projection)
                .await
        };
        let columns = load.await.context("manifest", manifest.manifest_path.as_str())?;
        Ok(ManifestEntries::new(manifest, columns))
    }

    /// The error as DataFusion carries it, naming the table.
    pub(super) fn external(&self, e: Error) -> DataFusionError {
        let named = e.with_context("table", self.table.ident.to_string());
        DataFusionError::External(Box::new(named))
    }
}
