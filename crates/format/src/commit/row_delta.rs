//! Row deltas: new rows and row-level deletes in one snapshot (Java: `BaseRowDelta`).

use std::sync::Arc;

use super::change::{AddedDeleteFile, Change, ChangeKind, RemovalsSeen, Scope, Validation};
use crate::expr::Predicate;
use crate::manifest::data_file::DataFile;

/// Builds a row delta. Concurrent deletion vectors for one data file always conflict; all else only on request.
#[derive(Debug, Clone)]
pub struct RowDelta {
    change: Change,
    referenced: Vec<Arc<str>>,
    conflict_filter: Option<Predicate>,
    deleted_files: bool,
    no_conflicting_data: bool,
    no_conflicting_deletes: bool,
}

impl Default for RowDelta {
    fn default() -> Self {
        RowDelta {
            change: Change::new(ChangeKind::RowDelta),
            referenced: Vec::new(),
            conflict_filter: None,
            deleted_files: false,
            no_conflicting_data: false,
            no_conflicting_deletes: false,
        }
    }
}

impl RowDelta {
    /// An empty row delta.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a data file.
    #[must_use]
    pub fn add_rows(mut self, file: Arc<DataFile>) -> Self {
        self.change.added.data.push(file);
        self
    }

    /// Adds a delete file.
    #[must_use]
    pub fn add_deletes(mut self, file: Arc<DataFile>) -> Self {
        self.change.added.deletes.push(AddedDeleteFile {
            file,
            data_sequence_number: None,
        });
        self
    }

    /// Removes a data file.
    #[must_use]
    pub fn remove_rows(mut self, file: Arc<DataFile>) -> Self {
        self.change.removed.data.push(file);
        self
    }

    /// Removes a delete file, such as a deletion vector that an added one replaces.
    #[must_use]
    pub fn remove_deletes(mut self, file: Arc<DataFile>) -> Self {
        self.change.removed.deletes.push(file);
        self
    }

    /// The snapshot that was read; validations look at what came after.
    #[must_use]
    pub fn from_snapshot(mut self, snapshot_id: Option<i64>) -> Self {
        self.change.base_snapshot = snapshot_id;
        self
    }

    /// The rows that were read: only files that may match conflict.
    #[must_use]
    pub fn conflict_filter(mut self, filter: Predicate) -> Self {
        self.conflict_filter = Some(filter);
        self
    }

    /// Fails when one of these data files was overwritten or rewritten meanwhile, for position deletes point to them.
    #[must_use]
    pub fn validate_data_files_exist(mut self, paths: impl IntoIterator<Item = Arc<str>>) -> Self {
        self.referenced.extend(paths);
        self
    }

    /// Lets removals by `delete` snapshots count too, and fails when a file named for removal is gone.
    #[must_use]
    pub fn validate_deleted_files(mut self) -> Self {
        self.deleted_files = true;
        self
    }

    /// Fails when others added rows that were meant (serializable isolation).
    #[must_use]
    pub fn validate_no_conflicting_data(mut self) -> Self {
        self.no_conflicting_data = true;
        self
    }

    /// Fails when others deleted rows that are changed here (snapshot isolation).
    #[must_use]
    pub fn validate_no_conflicting_deletes(mut self) -> Self {
        self.no_conflicting_deletes = true;
        self
    }

    /// The change.
    pub fn build(mut self) -> Change {
        let scope = self.conflict_filter.map_or(Scope::Table, Scope::Filter);
        let mut validations = Vec::new();
        if !self.referenced.is_empty() {
            validations.push(Validation::DataFilesExist {
                paths: self.referenced,
                removals: match self.deleted_files {
                    true => RemovalsSeen::All,
                    false => RemovalsSeen::SkipDeletes,
                },
                scope: scope.clone(),
            });
        }
        if self.deleted_files {
            validations.push(Validation::RemovedFilesExist);
        }
        if self.no_conflicting_data {
            validations.push(Validation::NoNewDataFiles(scope.clone()));
        }
        if self.no_conflicting_deletes {
            if !self.change.removed.data.is_empty() {
                validations.push(Validation::NoNewDeletesForRemovedFiles(scope.clone()));
            }
            validations.push(Validation::NoNewDeleteFiles(scope.clone()));
        }
        validations.push(Validation::NoNewDeletionVectors(scope));
        self.change.validations = validations;
        self.change
    }
}
