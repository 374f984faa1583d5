//! Files that were appended in a range of snapshots (Java: `BaseIncrementalAppendScan`).

use std::collections::HashSet;
use std::sync::Arc;

use futures::{FutureExt, StreamExt, TryStreamExt, stream};

use super::changelog::{ChangelogPlan, plan_changelog};
use super::entry_selection::EntrySelection;
use super::range::SnapshotRange;
use super::table_scan::{ScanPlan, ScanSetup};
use crate::error::Result;
use crate::manifest::manifest_file::{ManifestContent, ManifestFile};
use crate::metrics::ScanMetrics;
use crate::spec::snapshot::{Operation, Snapshot};

/// A scan of the changes in a range of snapshots, with the table's current schema.
#[derive(Debug, Clone)]
pub struct IncrementalScan {
    setup: ScanSetup,
    range: SnapshotRange,
}

impl IncrementalScan {
    /// A scan of this range. The setup's snapshot selector is not used.
    pub fn new(setup: ScanSetup, range: SnapshotRange) -> Self {
        IncrementalScan { setup, range }
    }

    /// The files added by the range's `append` snapshots; what other operations did is left out. No deletes are
    /// attached: the files are read as they were added.
    ///
    /// # Errors
    /// As [`SnapshotRange::resolve`] and [`super::TableScan::plan`].
    pub async fn plan_appends(&self) -> Result<ScanPlan> {
        let metadata = Arc::clone(self.setup.metadata());
        let mut snapshots = self.range.resolve(&metadata)?;
        let last = snapshots.last().map(|s| Arc::clone(s));
        snapshots.retain(|s| s.operation == Some(Operation::Append));
        let ids: Arc<HashSet<i64>> = Arc::new(snapshots.iter().map(|s| s.snapshot_id).collect());
        let schema = Arc::clone(metadata.current_schema());
        let started = std::time::Instant::now();
        let mut metrics = ScanMetrics::default();
        let lists = self.lists(&snapshots).await?;
        let manifests = new_data_manifests(&lists, &ids);
        let planner = self.setup.planner(&schema, EntrySelection::AddedBy(ids))?;
        let tasks = planner.plan_files(manifests, Arc::default(), &mut metrics).await?;
        metrics.total_planning_duration_ns = started.elapsed().as_nanos() as u64;
        Ok(ScanPlan {
            snapshot: last,
            schema,
            filter: Arc::clone(&planner.filter),
            tasks,
            metrics,
        })
    }

    /// The files that the range's snapshots added and removed, see [`super::changelog`].
    ///
    /// # Errors
    /// As [`SnapshotRange::resolve`] and [`super::TableScan::plan`]; `Unsupported` when a snapshot has delete files.
    pub async fn plan_changelog(&self) -> Result<ChangelogPlan> {
        plan_changelog(self).await
    }

    pub(super) fn setup(&self) -> &ScanSetup {
        &self.setup
    }

    pub(super) fn range(&self) -> &SnapshotRange {
        &self.range
    }

    /// The manifests of each snapshot.
    pub(super) async fn lists(&self, snapshots: &[&Arc<Snapshot>]) -> Result<Vec<Arc<Vec<ManifestFile>>>> {
        // Boxed, so that callers can send the whole future to another thread.
        let mut loads = Vec::with_capacity(snapshots.len());
        for snapshot in snapshots {
            loads.push(self.setup.manifests(snapshot).boxed());
        }
        stream::iter(loads).buffered(self.setup.concurrency).try_collect().await
    }
}

/// The data manifests that the snapshots of these ids themselves wrote, each once.
pub(super) fn new_data_manifests<'a>(lists: &'a [Arc<Vec<ManifestFile>>], ids: &HashSet<i64>) -> Vec<&'a ManifestFile> {
    let mut seen = HashSet::new();
    let all = lists.iter().flat_map(|list| list.iter());
    all.filter(|m| m.content == ManifestContent::Data)
        .filter(|m| m.added_snapshot_id.is_none_or(|id| ids.contains(&id)))
        .filter(|m| seen.insert(m.manifest_path.as_str()))
        .collect()
}

#[cfg(test)]
mod tests;
