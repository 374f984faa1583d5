//! Changes of a table's rows, file by file, in the order they were committed
//! (Java: `BaseIncrementalChangelogScan`).
//!
//! Snapshots of operation `replace` change no rows and are left out. As in Java, a range with delete files is
//! refused: telling which rows they removed needs the state before each snapshot.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Instant;

use super::entry_selection::EntrySelection;
use super::incremental::{IncrementalScan, new_data_manifests};
use super::task::FileScanTask;
use crate::error::{Error, Result};
use crate::manifest::data_file::ManifestStatus;
use crate::manifest::manifest_file::{ManifestContent, ManifestFile};
use crate::metrics::ScanMetrics;
use crate::spec::schema::SchemaRef;
use crate::spec::snapshot::{Operation, Snapshot};

/// What happened to the rows of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ChangelogOperation {
    /// They were removed: the file left the table.
    Delete,
    /// They were added: the file came to the table.
    Insert,
}

/// The rows of one file, added or removed by one snapshot.
#[derive(Debug, Clone)]
pub struct ChangelogTask {
    /// What happened.
    pub operation: ChangelogOperation,
    /// Place of the snapshot in the range, from 0 for the oldest that changed rows.
    pub change_ordinal: u32,
    /// The snapshot.
    pub commit_snapshot_id: i64,
    /// The file.
    pub file: FileScanTask,
}

/// The changes of a range of snapshots.
#[derive(Debug)]
pub struct ChangelogPlan {
    /// The schema to read with: the table's current one.
    pub schema: SchemaRef,
    /// The changes, by snapshot from the oldest; removals of a snapshot before its additions.
    pub tasks: Vec<ChangelogTask>,
    /// What planning did.
    pub metrics: ScanMetrics,
}

pub(super) async fn plan_changelog(scan: &IncrementalScan) -> Result<ChangelogPlan> {
    let started = Instant::now();
    let metadata = scan.setup().metadata();
    let mut snapshots = scan.range().resolve(metadata)?;
    snapshots.retain(|s| s.operation != Some(Operation::Replace));
    let lists = scan.lists(&snapshots).await?;
    refuse_delete_files(&snapshots, &lists)?;
    let ordinals: HashMap<i64, u32> = snapshots.iter().map(|s| s.snapshot_id).zip(0..).collect();
    let ids: Arc<HashSet<i64>> = Arc::new(ordinals.keys().copied().collect());
    let manifests = new_data_manifests(&lists, &ids);
    let schema = Arc::clone(metadata.current_schema());
    let planner = scan.setup().planner(&schema, EntrySelection::ChangedBy(ids))?;
    let mut metrics = ScanMetrics::default();
    let files = planner.plan_files(manifests, Arc::default(), &mut metrics).await?;
    let mut tasks = Vec::with_capacity(files.len());
    for file in files {
        tasks.push(changelog_task(file, &ordinals)?);
    }
    tasks.sort_by_key(|t| (t.change_ordinal, t.operation));
    metrics.total_planning_duration_ns = started.elapsed().as_nanos() as u64;
    Ok(ChangelogPlan { schema, tasks, metrics })
}

fn refuse_delete_files(snapshots: &[&Arc<Snapshot>], lists: &[Arc<Vec<ManifestFile>>]) -> Result<()> {
    for (snapshot, manifests) in snapshots.iter().zip(lists) {
        if manifests.iter().any(|m| m.content == ManifestContent::Deletes) {
            return Err(Error::unsupported("delete files are not supported in changelog scans")
                .with_context("snapshot", snapshot.snapshot_id.to_string()));
        }
    }
    Ok(())
}

fn changelog_task(file: FileScanTask, ordinals: &HashMap<i64, u32>) -> Result<ChangelogTask> {
    let snapshot = file.snapshot_id();
    let Some((commit_snapshot_id, change_ordinal)) = snapshot.and_then(|id| Some((id, *ordinals.get(&id)?))) else {
        return Err(Error::corrupt("manifest entry has no snapshot").with_context("file", file.path()));
    };
    let operation = match file.entries.columns.status(file.row as usize) {
        ManifestStatus::Deleted => ChangelogOperation::Delete,
        ManifestStatus::Added | ManifestStatus::Existing => ChangelogOperation::Insert,
    };
    Ok(ChangelogTask {
        operation,
        change_ordinal,
        commit_snapshot_id,
        file,
    })
}
