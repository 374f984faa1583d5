//! Overwrites: data files added and removed in one snapshot (Java: `BaseOverwriteFiles`).

use std::sync::Arc;

use super::change::{Change, ChangeKind, Scope, Validation};
use crate::expr::Predicate;
use crate::manifest::data_file::DataFile;

/// Builds an overwrite. Without validations it wins over whatever others committed.
#[derive(Debug, Clone)]
pub struct OverwriteFiles {
    change: Change,
    conflict_filter: Option<Predicate>,
    added_match_filter: bool,
    no_conflicting_data: bool,
    no_conflicting_deletes: bool,
}

impl Default for OverwriteFiles {
    fn default() -> Self {
        OverwriteFiles {
            change: Change::new(ChangeKind::Overwrite),
            conflict_filter: None,
            added_match_filter: false,
            no_conflicting_data: false,
            no_conflicting_deletes: false,
        }
    }
}

impl OverwriteFiles {
    /// An empty overwrite.
    pub fn new() -> Self {
        Self::default()
    }

    /// Removes the rows that match, which must be whole files.
    #[must_use]
    pub fn rows(mut self, filter: Predicate) -> Self {
        self.change.removed.row_filter = Some(filter);
        self
    }

    /// Adds a data file.
    #[must_use]
    pub fn add_file(mut self, file: Arc<DataFile>) -> Self {
        self.change.added.data.push(file);
        self
    }

    /// Removes a data file.
    #[must_use]
    pub fn remove_file(mut self, file: Arc<DataFile>) -> Self {
        self.change.removed.data.push(file);
        self
    }

    /// Removes a delete file.
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

    /// Fails when an added file may hold rows that the row filter does not match.
    #[must_use]
    pub fn validate_added_files_match_filter(mut self) -> Self {
        self.added_match_filter = true;
        self
    }

    /// Fails when others added rows that were meant (serializable isolation).
    #[must_use]
    pub fn validate_no_conflicting_data(mut self) -> Self {
        self.no_conflicting_data = true;
        self
    }

    /// Fails when others deleted rows that are rewritten here (snapshot isolation).
    #[must_use]
    pub fn validate_no_conflicting_deletes(mut self) -> Self {
        self.no_conflicting_deletes = true;
        self
    }

    /// The change.
    pub fn build(mut self) -> Change {
        let mut validations = Vec::new();
        let row_filter = self.change.removed.row_filter.clone();
        let conflict_filter = self.conflict_filter;
        if self.added_match_filter {
            validations.push(Validation::AddedFilesMatchFilter);
        }
        if self.no_conflicting_data {
            let rows_only = self.change.removed.data.is_empty();
            let scope = match (&conflict_filter, &row_filter) {
                (Some(filter), _) => Scope::Filter(filter.clone()),
                (None, Some(filter)) if rows_only => Scope::Filter(filter.clone()),
                _ => Scope::Table,
            };
            validations.push(Validation::NoNewDataFiles(scope));
        }
        if self.no_conflicting_deletes {
            if let Some(rows) = row_filter {
                let scope = Scope::Filter(conflict_filter.clone().unwrap_or(rows));
                validations.push(Validation::NoNewDeleteFiles(scope.clone()));
                validations.push(Validation::NoRemovedDataFiles(scope));
            }
            if !self.change.removed.data.is_empty() {
                let scope = conflict_filter.map_or(Scope::Table, Scope::Filter);
                validations.push(Validation::NoNewDeletesForRemovedFiles(scope));
            }
        }
        if self.no_conflicting_data || self.no_conflicting_deletes {
            validations.push(Validation::RemovedFilesExist);
        }
        self.change.validations = validations;
        self.change
    }
}
