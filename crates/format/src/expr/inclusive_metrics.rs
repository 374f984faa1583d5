//! Whether a file may hold a matching row, by its column metrics (Java `InclusiveMetricsEvaluator`).
//!
//! "No" is certain, "yes" is not. Nested columns are looked up by their field id; metrics that are missing, negative
//! or undecodable count as unknown. See the [module](super) on nulls, NaN and zeros.

use super::bound::BoundPredicate;
use super::column_test::May;
use super::column_tree::MetricsTree;
use crate::manifest::columns::ManifestColumns;
use crate::manifest::data_file::DataFile;

/// Evaluates one predicate on many files.
#[derive(Debug, Clone)]
pub struct InclusiveMetricsEvaluator {
    tree: MetricsTree<May>,
}

impl InclusiveMetricsEvaluator {
    /// Prepares a predicate over the table's columns.
    pub fn new(predicate: &BoundPredicate) -> Self {
        InclusiveMetricsEvaluator {
            tree: MetricsTree::new(predicate),
        }
    }

    /// For every entry of a manifest, whether its file may hold a matching row.
    ///
    /// The metrics of [`BoundPredicate::field_ids`] must have been decoded; others count as unknown.
    pub fn evaluate(&self, files: &ManifestColumns) -> Vec<bool> {
        let mut flags = vec![true; files.len];
        self.narrow(files, &mut flags);
        flags
    }

    /// Clears the flags (one per entry) of the files that cannot hold a matching row.
    pub fn narrow(&self, files: &ManifestColumns, flags: &mut [bool]) {
        self.tree.narrow(files, flags);
    }

    /// Whether the file of entry `row` may hold a matching row.
    pub fn may_match_row(&self, files: &ManifestColumns, row: usize) -> bool {
        self.tree.row(files, row)
    }

    /// Whether the file may hold a matching row.
    pub fn may_match(&self, file: &DataFile) -> bool {
        self.tree.file(file)
    }
}
