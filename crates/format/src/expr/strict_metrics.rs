//! Whether every row of a file matches, by its column metrics (Java `StrictMetricsEvaluator`).
//!
//! "Yes" is certain, "no" is not. Unlike in Java a file whose compared column may hold nulls is never claimed, because
//! in SQL a null does not match. See the [module](super).

use super::bound::BoundPredicate;
use super::column_test::Must;
use super::column_tree::MetricsTree;
use crate::manifest::columns::ManifestColumns;
use crate::manifest::data_file::DataFile;

/// Evaluates one predicate on many files.
#[derive(Debug, Clone)]
pub struct StrictMetricsEvaluator {
    tree: MetricsTree<Must>,
}

impl StrictMetricsEvaluator {
    /// Prepares a predicate over the table's columns.
    pub fn new(predicate: &BoundPredicate) -> Self {
        StrictMetricsEvaluator {
            tree: MetricsTree::new(predicate),
        }
    }

    /// For every entry of a manifest, whether all rows of its file match.
    pub fn evaluate(&self, files: &ManifestColumns) -> Vec<bool> {
        let mut flags = vec![true; files.len];
        self.narrow(files, &mut flags);
        flags
    }

    /// Clears the flags (one per entry) of the files of which some row may not match.
    pub fn narrow(&self, files: &ManifestColumns, flags: &mut [bool]) {
        self.tree.narrow(files, flags);
    }

    /// Whether all rows of the file of entry `row` match, see [`Self::all_match`].
    pub fn all_match_row(&self, files: &ManifestColumns, row: usize) -> bool {
        self.tree.row(files, row)
    }

    /// Whether all rows of the file match. An empty file is not claimed: its count may lie.
    pub fn all_match(&self, file: &DataFile) -> bool {
        self.tree.file(file)
    }
}
