//! Checks a change against what others committed after its base snapshot (Java: the `validate…` methods of
//! `MergingSnapshotProducer`).

use std::collections::HashSet;
use std::sync::Arc;

use super::attempt::Attempt;
use super::change::{Change, RemovalsSeen, Scope, Validation};
use super::manifest_filter::abbreviated;
use super::partition_set::PartitionSet;
use super::path_set::PathSet;
use super::row_filter::RowFilter;
use crate::deletes::index::{DeleteFileIndexBuilder, DeleteTarget};
use crate::error::{Error, Result};
use crate::expr::CaseSensitivity;
use crate::expr::partition_evaluator::Verdict;
use crate::manifest::columns::{ManifestColumns, MetricsProjection};
use crate::manifest::data_file::{DataContent, DataFile, ManifestStatus};
use crate::manifest::manifest_file::{ManifestContent, ManifestFile};
use crate::scan::manifest_entries::ManifestEntries;
use crate::spec::snapshot::{Operation, Snapshot};
use crate::spec::table_metadata::{FormatVersion, TableMetadata};
use crate::spec::types::FieldId;

/// Operations that add data files.
const ADDING_DATA: &[Operation] = &[Operation::Append, Operation::Overwrite];
/// Operations that remove data files.
const REMOVING_DATA: &[Operation] = &[Operation::Overwrite, Operation::Replace, Operation::Delete];
/// Of those, the ones after which the rows may still exist elsewhere.
const MOVING_DATA: &[Operation] = &[Operation::Overwrite, Operation::Replace];
/// Operations that delete further rows by delete files.
const ADDING_DELETES: &[Operation] = &[Operation::Overwrite, Operation::Delete];
/// Operations that add deletion vectors.
const ADDING_VECTORS: &[Operation] = &[Operation::Overwrite, Operation::Delete, Operation::Replace];

/// Field id of the data file's location in position delete files (spec, "Reserved Field IDs").
const DELETE_FILE_PATH_FIELD: FieldId = 2_147_483_546;

/// Runs the change's validations on top of `parent`, the snapshot it would follow.
///
/// # Errors
/// `Validation` when one does not hold, or when the history since the base snapshot is not all there.
pub(crate) async fn validate(attempt: &Attempt<'_>, change: &Change, parent: Option<&Arc<Snapshot>>) -> Result<()> {
    check_removed_and_deleted(change)?;
    let history = History::new(attempt, change, parent);
    for validation in &change.validations {
        match validation {
            Validation::AddedFilesMatchFilter => added_files_match_filter(attempt, change)?,
            // These two hold of what is found in the manifests: see the manifest filter.
            Validation::RemovedFilesExist | Validation::NothingRemoved => {}
            _ => Box::pin(history.check(validation)).await?,
        }
    }
    Ok(())
}

/// A data file cannot be removed and get deletes in one change.
fn check_removed_and_deleted(change: &Change) -> Result<()> {
    let needed = change.validations.iter().flat_map(|validation| match validation {
        Validation::DataFilesExist { paths, .. } => paths.as_slice(),
        _ => &[],
    });
    let deletes = change.added.deletes.iter();
    let referenced = deletes.filter_map(|d| d.file.referenced_data_file.as_deref());
    let referenced: PathSet = needed.map(AsRef::as_ref).chain(referenced).collect();
    let removed = change.removed.data.iter().map(|file| file.file_path.as_ref());
    let both: Vec<&str> = removed.filter(|path: &&str| referenced.contains(path)).collect();
    if both.is_empty() {
        return Ok(());
    }
    Err(Error::validation(format!(
        "cannot delete data files that are referenced by new delete files: {}",
        abbreviated(&both)
    )))
}

fn added_files_match_filter(attempt: &Attempt<'_>, change: &Change) -> Result<()> {
    let Some(filter) = &change.removed.row_filter else {
        return Err(Error::invalid(
            "added files cannot be checked against a missing row filter",
        ));
    };
    let rows = RowFilter::bind(filter, attempt.base.current_schema(), change.case)?;
    for file in &change.added.data {
        if rows.evaluate_file(attempt.base, file)? != Verdict::All {
            return Err(Error::validation(format!(
                "cannot append file with rows that do not match filter: {rows}: {}",
                file.file_path
            )));
        }
    }
    Ok(())
}

/// What others did after the base snapshot.
struct History<'a> {
    attempt: &'a Attempt<'a>,
    change: &'a Change,
    parent: Option<&'a Arc<Snapshot>>,
}

/// Manifests that newer snapshots wrote, and those snapshots.
struct Newer {
    manifests: Vec<ManifestFile>,
    snapshot_ids: HashSet<i64>,
}

/// An entry of a newer manifest.
type Found = (Arc<ManifestEntries>, usize);

/// Chooses entries.
type Choice<'c> = dyn Fn(&ManifestEntries, usize) -> bool + Sync + 'c;

impl<'a> History<'a> {
    fn new(attempt: &'a Attempt<'a>, change: &'a Change, parent: Option<&'a Arc<Snapshot>>) -> Self {
        History {
            attempt,
            change,
            parent,
        }
    }

    async fn check(&self, validation: &Validation) -> Result<()> {
        match validation {
            Validation::NoNewDataFiles(scope) => {
                let found = self.data_files(ADDING_DATA, ManifestStatus::Added, scope, None).await?;
                refuse(&found, || {
                    format!("found conflicting files that can contain records matching {scope}")
                })
            }
            Validation::NoRemovedDataFiles(scope) => {
                let found = self
                    .data_files(REMOVING_DATA, ManifestStatus::Deleted, scope, None)
                    .await?;
                refuse(&found, || {
                    format!("found conflicting deleted files that can contain records matching {scope}")
                })
            }
            Validation::DataFilesExist { paths, removals, scope } => {
                let operations = match removals {
                    RemovalsSeen::All => REMOVING_DATA,
                    RemovalsSeen::SkipDeletes => MOVING_DATA,
                };
                let needed: PathSet = paths.iter().map(AsRef::as_ref).collect();
                let found = self
                    .data_files(operations, ManifestStatus::Deleted, scope, Some(&needed))
                    .await?;
                refuse(&found, || "cannot commit, missing data files".to_string())
            }
            Validation::NoNewDeleteFiles(scope) => {
                let found = self.new_deletes(scope, MetricsProjection::None).await?;
                refuse(&found, || {
                    format!("found new conflicting delete files that can apply to records matching {scope}")
                })
            }
            Validation::NoNewDeletesForRemovedFiles(scope) => self.no_new_deletes_for_removed(scope).await,
            Validation::NoNewDeletionVectors(scope) => self.no_new_vectors(scope).await,
            Validation::AddedFilesMatchFilter | Validation::RemovedFilesExist | Validation::NothingRemoved => Ok(()),
        }
    }

    /// Data files that newer snapshots added or removed.
    async fn data_files(
        &self,
        operations: &[Operation],
        status: ManifestStatus,
        scope: &Scope,
        among: Option<&PathSet>,
    ) -> Result<Vec<Found>> {
        let newer = self.newer(operations, ManifestContent::Data).await?;
        let is_meant = |entries: &ManifestEntries, i: usize| {
            entries.columns.status(i) == status
                && newer.wrote(entries, i)
                && among.is_none_or(|paths| paths.contains(entries.columns.path(i)))
        };
        self.matching(newer.manifests.clone(), scope, MetricsProjection::None, &is_meant)
            .await
    }

    /// Delete files that newer snapshots added.
    async fn new_deletes(&self, scope: &Scope, projection: MetricsProjection) -> Result<Vec<Found>> {
        if self.attempt.base.format_version == FormatVersion::V1 {
            return Ok(Vec::new());
        }
        let newer = self.newer(ADDING_DELETES, ManifestContent::Deletes).await?;
        let after = self.base_sequence_number();
        let is_meant = |entries: &ManifestEntries, i: usize| {
            let sequence_number = entries.inheritance().sequence_number(&entries.columns, i);
            entries.columns.is_live(i) && sequence_number.is_some_and(|n| n > after)
        };
        self.matching(newer.manifests, scope, projection, &is_meant).await
    }

    async fn no_new_deletes_for_removed(&self, scope: &Scope) -> Result<()> {
        let removed = &self.change.removed.data;
        if removed.is_empty() {
            return Ok(());
        }
        let targets = DeleteTargets::new(removed);
        let mut found = self.new_deletes(scope, MetricsProjection::All).await?;
        // Rewritten rows that keep their sequence number are still subject to newer equality deletes.
        if self.change.added.data_sequence_number.is_some() {
            found.retain(|(entries, i)| is_position_deletes(entries, *i) && targets.may_get(entries, *i));
            return refuse(&found, || {
                "cannot commit, found new position delete for replaced data file".into()
            });
        }
        let (mut found, equality): (Vec<_>, Vec<_>) = found
            .into_iter()
            .partition(|(entries, i)| is_position_deletes(entries, *i));
        found.retain(|(entries, i)| targets.may_get(entries, *i));
        found.extend(self.applying(equality)?);
        refuse(&found, || {
            "cannot commit, found new delete for replaced data file".into()
        })
    }

    /// Those of these equality deletes that may apply to a removed data file.
    fn applying(&self, equality: Vec<Found>) -> Result<Vec<Found>> {
        let base_sequence_number = self.base_sequence_number();
        let mut found = Vec::new();
        for (entries, i) in equality {
            let mut index = DeleteFileIndexBuilder::new(self.attempt.base);
            index.add(&entries, i)?;
            let index = index.build()?;
            for file in &self.change.removed.data {
                if !index
                    .deletes_of(DeleteTarget::new(file, base_sequence_number))?
                    .is_empty()
                {
                    found.push((Arc::clone(&entries), i));
                    break;
                }
            }
        }
        Ok(found)
    }

    async fn no_new_vectors(&self, scope: &Scope) -> Result<()> {
        let added = self.change.added.deletes.iter().filter(|d| d.file.is_deletion_vector());
        let mine: PathSet = added.filter_map(|d| d.file.referenced_data_file.as_deref()).collect();
        if mine.is_empty() {
            return Ok(());
        }
        let newer = self.newer(ADDING_VECTORS, ManifestContent::Deletes).await?;
        let is_meant = |entries: &ManifestEntries, i: usize| {
            let columns = &entries.columns;
            let referenced = columns.referenced_data_file.get(i);
            columns.is_live(i)
                && columns.is_deletion_vector(i)
                && newer.wrote(entries, i)
                && referenced.is_some_and(|path| mine.contains(path))
        };
        let manifests = newer.manifests.clone();
        let found = self
            .matching(manifests, scope, MetricsProjection::None, &is_meant)
            .await?;
        refuse(&found, || {
            "found concurrently added deletion vector for a data file of this commit".to_string()
        })
    }

    /// Entries that `is_meant` and whose files may hold rows of the scope.
    async fn matching(
        &self,
        manifests: Vec<ManifestFile>,
        scope: &Scope,
        projection: MetricsProjection,
        is_meant: &Choice<'_>,
    ) -> Result<Vec<Found>> {
        let attempt = self.attempt;
        let scope = BoundScope::new(attempt, scope, self.change.case)?;
        let mut to_read = Vec::new();
        for manifest in manifests {
            if scope.may_be_in(attempt, &manifest)? {
                to_read.push(manifest);
            }
        }
        let projection = projection.union(&scope.projection());
        let mut found = Vec::new();
        for entries in attempt.entries(to_read, &projection).await? {
            let meant: Vec<usize> = (0..entries.columns.len).filter(|i| is_meant(&entries, *i)).collect();
            if meant.is_empty() {
                continue;
            }
            let in_scope = scope.rows(attempt.base, &entries)?;
            let meant = meant.into_iter().filter(|i| in_scope.get(*i) != Some(&false));
            found.extend(meant.map(|i| (Arc::clone(&entries), i)));
        }
        Ok(found)
    }

    /// Manifests that snapshots of these operations wrote after the base snapshot.
    async fn newer(&self, operations: &[Operation], content: ManifestContent) -> Result<Newer> {
        let mut newer = Newer {
            manifests: Vec::new(),
            snapshot_ids: HashSet::new(),
        };
        for snapshot in self.newer_snapshots()? {
            if !snapshot
                .operation
                .is_some_and(|operation| operations.contains(&operation))
            {
                continue;
            }
            newer.snapshot_ids.insert(snapshot.snapshot_id);
            let manifests = self.attempt.manifests(snapshot).await?;
            newer.manifests.extend(manifests.into_iter().filter(|manifest| {
                manifest.content == content && manifest.added_snapshot_id == Some(snapshot.snapshot_id)
            }));
        }
        Ok(newer)
    }

    /// The snapshots between the base and the parent, newest first.
    fn newer_snapshots(&self) -> Result<Vec<&'a Arc<Snapshot>>> {
        let Some(parent) = self.parent else {
            return Ok(Vec::new());
        };
        let start = self.change.base_snapshot;
        let mut newer = Vec::new();
        for snapshot in self.attempt.base.ancestors_of(parent.snapshot_id) {
            if Some(snapshot.snapshot_id) == start {
                return Ok(newer);
            }
            newer.push(snapshot);
        }
        match newer.last() {
            Some(last) if last.parent_snapshot_id != start => Err(Error::validation(format!(
                "cannot determine history between starting snapshot {} and the last known ancestor {}",
                start.map_or_else(|| "none".to_string(), |id| id.to_string()),
                last.snapshot_id
            ))),
            _ => Ok(newer),
        }
    }

    fn base_sequence_number(&self) -> i64 {
        let start = self
            .change
            .base_snapshot
            .and_then(|id| self.attempt.base.snapshot_by_id(id));
        start.map_or(0, |snapshot| snapshot.sequence_number)
    }
}

fn refuse(found: &[Found], message: impl FnOnce() -> String) -> Result<()> {
    if found.is_empty() {
        return Ok(());
    }
    let paths: Vec<&str> = found.iter().map(|(entries, i)| entries.columns.path(*i)).collect();
    Err(Error::validation(format!("{}: {}", message(), abbreviated(&paths))))
}

impl Newer {
    /// Whether one of the snapshots wrote an entry, or for removed files removed it.
    fn wrote(&self, entries: &ManifestEntries, i: usize) -> bool {
        let snapshot_id = entries.inheritance().snapshot_id(&entries.columns, i);
        snapshot_id.is_some_and(|id| self.snapshot_ids.contains(&id))
    }
}

/// A scope made ready for the table.
enum BoundScope {
    Table,
    Rows(Box<RowFilter>),
    Partitions(PartitionSet),
}

impl BoundScope {
    fn new(attempt: &Attempt<'_>, scope: &Scope, case: CaseSensitivity) -> Result<Self> {
        Ok(match scope {
            Scope::Table => BoundScope::Table,
            Scope::Filter(filter) => {
                let rows = RowFilter::bind(filter, attempt.base.current_schema(), case)?;
                BoundScope::Rows(Box::new(rows))
            }
            Scope::Partitions(list) => {
                BoundScope::Partitions(PartitionSet::new(list.iter().map(|(id, tuple)| (*id, tuple))))
            }
        })
    }

    fn projection(&self) -> MetricsProjection {
        match self {
            BoundScope::Rows(rows) => rows.projection(),
            _ => MetricsProjection::None,
        }
    }

    fn may_be_in(&self, attempt: &Attempt<'_>, manifest: &ManifestFile) -> Result<bool> {
        match self {
            BoundScope::Table => Ok(true),
            BoundScope::Rows(rows) => rows.may_be_in(attempt.base, manifest),
            BoundScope::Partitions(set) => {
                Ok(set.may_be_in(manifest, attempt.partition_type(manifest.partition_spec_id)?.as_ref()))
            }
        }
    }

    /// For each entry, whether its file may hold rows of the scope; empty when all may.
    fn rows(&self, base: &TableMetadata, entries: &ManifestEntries) -> Result<Vec<bool>> {
        let columns = &entries.columns;
        Ok(match self {
            BoundScope::Table => Vec::new(),
            BoundScope::Rows(rows) => {
                let matched = rows.evaluate(base, &entries.manifest, columns)?;
                matched.into_iter().map(|m| m != Verdict::None).collect()
            }
            BoundScope::Partitions(set) => {
                let contains = |i| set.contains(entries.spec_id(), columns.partition(i));
                (0..columns.len).map(contains).collect()
            }
        })
    }
}

fn is_position_deletes(entries: &ManifestEntries, i: usize) -> bool {
    entries.columns.content(i) == DataContent::PositionDeletes
}

/// Data files that position deletes might apply to.
struct DeleteTargets {
    paths: PathSet,
    partitions: PartitionSet,
}

impl DeleteTargets {
    fn new(files: &[Arc<DataFile>]) -> Self {
        DeleteTargets {
            paths: files.iter().map(|file| file.file_path.as_ref()).collect(),
            partitions: PartitionSet::new(files.iter().map(|file| (file.spec_id, &file.partition))),
        }
    }

    /// Whether newer position deletes may apply to one of them (spec, "Scan Planning").
    fn may_get(&self, entries: &ManifestEntries, i: usize) -> bool {
        match referenced_data_file(&entries.columns, i) {
            Some(path) => self.paths.contains(path),
            None => self
                .partitions
                .contains(entries.spec_id(), entries.columns.partition(i)),
        }
    }
}

/// The one data file that position deletes refer to, by their own word or by equal bounds of the path column.
fn referenced_data_file(columns: &ManifestColumns, i: usize) -> Option<&str> {
    if let Some(path) = columns.referenced_data_file.get(i) {
        return Some(path);
    }
    let bounds = columns.metrics_of(DELETE_FILE_PATH_FIELD)?;
    let lower = bounds.lower_bound.get(i)?;
    let upper = bounds.upper_bound.get(i)?;
    if lower == upper {
        std::str::from_utf8(lower).ok()
    } else {
        None
    }
}
