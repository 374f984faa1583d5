//! Dynamic overwrites: the partitions that get new files lose their old ones (Java: `BaseReplacePartitions`).

use std::sync::Arc;

use super::change::{Change, ChangeKind, Scope, Validation};
use crate::manifest::data_file::DataFile;
use crate::spec::table_metadata::TableMetadata;

/// Builds a dynamic overwrite. When the files' spec does not partition, the whole table is replaced.
#[derive(Debug, Clone)]
pub struct ReplacePartitions {
    change: Change,
    append_only: bool,
    no_conflicting_data: bool,
    no_conflicting_deletes: bool,
}

impl Default for ReplacePartitions {
    fn default() -> Self {
        ReplacePartitions {
            change: Change::new(ChangeKind::ReplacePartitions).with_summary("replace-partitions", "true"),
            append_only: false,
            no_conflicting_data: false,
            no_conflicting_deletes: false,
        }
    }
}

impl ReplacePartitions {
    /// An empty overwrite.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a data file and replaces its partition.
    #[must_use]
    pub fn add_file(mut self, file: Arc<DataFile>) -> Self {
        let partition = (file.spec_id, file.partition.clone());
        // Writers add the files of a partition one after the other: this keeps the list short without a search.
        if self.change.removed.partitions.last() != Some(&partition) {
            self.change.removed.partitions.push(partition);
        }
        self.change.added.data.push(file);
        self
    }

    /// The snapshot that was read; validations look at what came after.
    #[must_use]
    pub fn from_snapshot(mut self, snapshot_id: Option<i64>) -> Self {
        self.change.base_snapshot = snapshot_id;
        self
    }

    /// Fails when a partition has files already.
    #[must_use]
    pub fn validate_append_only(mut self) -> Self {
        self.append_only = true;
        self
    }

    /// Fails when others added data to the partitions.
    #[must_use]
    pub fn validate_no_conflicting_data(mut self) -> Self {
        self.no_conflicting_data = true;
        self
    }

    /// Fails when others removed or deleted rows from the partitions.
    #[must_use]
    pub fn validate_no_conflicting_deletes(mut self) -> Self {
        self.no_conflicting_deletes = true;
        self
    }

    /// The change, for a table whose specs are those of `metadata`.
    pub fn build(mut self, metadata: &TableMetadata) -> Change {
        let whole_table = self.change.added.data.iter().all(|file| {
            metadata
                .spec_by_id(file.spec_id)
                .is_some_and(|spec| spec.is_unpartitioned())
        });
        let scope = if whole_table && !self.change.added.data.is_empty() {
            self.change.removed.row_filter = Some(crate::expr::Predicate::AlwaysTrue);
            Scope::Table
        } else {
            Scope::Partitions(self.change.removed.partitions.clone())
        };
        let mut validations = Vec::new();
        if self.no_conflicting_data {
            validations.push(Validation::NoNewDataFiles(scope.clone()));
        }
        if self.no_conflicting_deletes {
            validations.push(Validation::NoRemovedDataFiles(scope.clone()));
            validations.push(Validation::NoNewDeleteFiles(scope));
        }
        if self.append_only {
            validations.push(Validation::NothingRemoved);
        }
        self.change.validations = validations;
        self.change
    }
}
