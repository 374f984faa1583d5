//! Deletes of whole data files, by location, by file or by a row filter (Java: `StreamingDelete`).

use std::sync::Arc;

use super::change::{Change, ChangeKind, Validation};
use crate::expr::Predicate;
use crate::manifest::data_file::DataFile;

/// Builds a delete. By default, files that are not there any more are passed over.
#[derive(Debug, Clone)]
pub struct DeleteFiles {
    change: Change,
}

impl Default for DeleteFiles {
    fn default() -> Self {
        DeleteFiles {
            change: Change::new(ChangeKind::Delete),
        }
    }
}

impl DeleteFiles {
    /// An empty delete.
    pub fn new() -> Self {
        Self::default()
    }

    /// Removes a data file.
    #[must_use]
    pub fn file(mut self, file: Arc<DataFile>) -> Self {
        self.change.removed.data.push(file);
        self
    }

    /// Removes the data file at a location.
    #[must_use]
    pub fn path(mut self, path: impl AsRef<str>) -> Self {
        self.change.removed.paths.push(Arc::from(path.as_ref()));
        self
    }

    /// Removes the rows that match, which must be whole files. Several filters are or-ed.
    #[must_use]
    pub fn rows(mut self, filter: Predicate) -> Self {
        let filters = &mut self.change.removed.row_filter;
        *filters = Some(match filters.take() {
            Some(other) => other.or(filter),
            None => filter,
        });
        self
    }

    /// Fails when a file named for removal is not there.
    #[must_use]
    pub fn validate_files_exist(mut self) -> Self {
        self.change.validations.push(Validation::RemovedFilesExist);
        self
    }

    /// The change.
    pub fn build(self) -> Change {
        self.change
    }
}
