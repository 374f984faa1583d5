//! Rewrites: files replaced by others that hold the same rows, as compaction does (Java: `BaseRewriteFiles`).

use std::sync::Arc;

use super::change::{AddedDeleteFile, Change, ChangeKind, Scope, Validation};
use crate::manifest::data_file::DataFile;

/// Builds a rewrite. It always fails when a replaced file is gone or got new deletes meanwhile.
#[derive(Debug, Clone)]
pub struct RewriteFiles {
    change: Change,
}

impl Default for RewriteFiles {
    fn default() -> Self {
        RewriteFiles {
            change: Change::new(ChangeKind::RewriteFiles),
        }
    }
}

impl RewriteFiles {
    /// An empty rewrite.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a file, data or deletes.
    #[must_use]
    pub fn add_file(mut self, file: Arc<DataFile>) -> Self {
        if file.content == crate::manifest::data_file::DataContent::Data {
            self.change.added.data.push(file);
        } else {
            self.change.added.deletes.push(AddedDeleteFile {
                file,
                data_sequence_number: None,
            });
        }
        self
    }

    /// Adds a delete file that keeps an older data sequence number.
    #[must_use]
    pub fn add_deletes_at(mut self, file: Arc<DataFile>, data_sequence_number: i64) -> Self {
        self.change.added.deletes.push(AddedDeleteFile {
            file,
            data_sequence_number: Some(data_sequence_number),
        });
        self
    }

    /// Replaces a file, data or deletes.
    #[must_use]
    pub fn replace_file(mut self, file: Arc<DataFile>) -> Self {
        if file.content == crate::manifest::data_file::DataContent::Data {
            self.change.removed.data.push(file);
        } else {
            self.change.removed.deletes.push(file);
        }
        self
    }

    /// The data sequence number of the added data files: with that of the snapshot that was read, equality deletes
    /// added meanwhile apply to the rewritten rows and are no conflict.
    #[must_use]
    pub fn data_sequence_number(mut self, sequence_number: i64) -> Self {
        self.change.added.data_sequence_number = Some(sequence_number);
        self
    }

    /// The snapshot that was read; validations look at what came after.
    #[must_use]
    pub fn from_snapshot(mut self, snapshot_id: Option<i64>) -> Self {
        self.change.base_snapshot = snapshot_id;
        self
    }

    /// The change.
    pub fn build(mut self) -> Change {
        self.change.validations = vec![
            Validation::RemovedFilesExist,
            Validation::NoNewDeletesForRemovedFiles(Scope::Table),
        ];
        if self.change.added.deletes.iter().any(|d| d.file.is_deletion_vector()) {
            self.change
                .validations
                .push(Validation::NoNewDeletionVectors(Scope::Table));
        }
        self.change
    }
}
