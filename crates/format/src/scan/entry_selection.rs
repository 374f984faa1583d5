//! Which entries of data manifests a scan is about, before any filter.

use std::collections::HashSet;
use std::sync::Arc;

use crate::manifest::columns::ManifestColumns;
use crate::manifest::data_file::ManifestStatus;
use crate::manifest::manifest_file::ManifestFile;

/// Which entries of data manifests a scan is about.
#[derive(Debug, Clone)]
pub(super) enum EntrySelection {
    /// All files of the snapshot.
    Live,
    /// Files that these snapshots added.
    AddedBy(Arc<HashSet<i64>>),
    /// Files that these snapshots added or removed.
    ChangedBy(Arc<HashSet<i64>>),
    /// Files of the snapshot at these locations, spelt as in the manifests.
    At(Arc<HashSet<Arc<str>>>),
}

impl EntrySelection {
    /// Whether a manifest's counts allow for such entries.
    pub(super) fn may_select_from(&self, manifest: &ManifestFile) -> bool {
        match self {
            EntrySelection::Live | EntrySelection::At(_) => manifest.may_have_live_files(),
            EntrySelection::AddedBy(_) => manifest.may_have_added_files(),
            EntrySelection::ChangedBy(_) => manifest.may_have_added_files() || manifest.may_have_deleted_files(),
        }
    }

    /// The entries of a manifest.
    pub(super) fn select(&self, manifest: &ManifestFile, columns: &ManifestColumns) -> SelectedRows {
        let by = |ids: &HashSet<i64>, row: usize| {
            let snapshot_id = columns.snapshot_id.get(row).or(manifest.added_snapshot_id);
            snapshot_id.is_some_and(|id| ids.contains(&id))
        };
        let is_selected = |row: usize| match (self, columns.status(row)) {
            (EntrySelection::Live, status) => status != ManifestStatus::Deleted,
            (EntrySelection::At(paths), status) => {
                status != ManifestStatus::Deleted && paths.contains(columns.path(row))
            }
            (EntrySelection::AddedBy(ids), ManifestStatus::Added) => by(ids, row),
            (EntrySelection::ChangedBy(ids), ManifestStatus::Added | ManifestStatus::Deleted) => by(ids, row),
            _ => false,
        };
        if matches!(self, EntrySelection::Live) && !columns.status.contains(&(ManifestStatus::Deleted as u8)) {
            return SelectedRows::All(columns.len);
        }
        SelectedRows::Some((0..columns.len).map(is_selected).collect())
    }
}

/// Entries to look at.
#[derive(Debug)]
pub(super) enum SelectedRows {
    /// All of so many.
    All(usize),
    /// Those that are `true`.
    Some(Vec<bool>),
}

impl SelectedRows {
    /// One flag per entry.
    pub(super) fn flags(&self) -> Vec<bool> {
        match self {
            SelectedRows::All(len) => vec![true; *len],
            SelectedRows::Some(rows) => rows.clone(),
        }
    }

    /// The entries, ascending.
    pub(super) fn rows(&self) -> Vec<u32> {
        let is_selected = |row: &u32| match self {
            SelectedRows::All(_) => true,
            SelectedRows::Some(rows) => rows.get(*row as usize).copied().unwrap_or(false),
        };
        let len = match self {
            SelectedRows::All(len) => *len,
            SelectedRows::Some(rows) => rows.len(),
        };
        (0..u32::try_from(len).unwrap_or(u32::MAX))
            .filter(is_selected)
            .collect()
    }

    /// How many.
    pub(super) fn count(&self) -> usize {
        match self {
            SelectedRows::All(len) => *len,
            SelectedRows::Some(rows) => rows.iter().filter(|selected| **selected).count(),
        }
    }
}
