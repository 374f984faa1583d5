//! Whether a manifest may list a file with matching rows, by its partition summaries (Java `ManifestEvaluator`).

use super::bound::BoundPredicate;
use super::column_leaf::Leaf;
use super::column_test::{FieldStats, May};
use super::column_tree::Tree;
use super::project;
use crate::manifest::manifest_file::{FieldSummary, ManifestFile};
use crate::spec::partition::PartitionSpec;
use crate::spec::schema::Schema;
use crate::spec::types::FieldId;

/// Evaluates one predicate on the manifests of one partition spec.
#[derive(Debug, Clone)]
pub struct ManifestEvaluator {
    tree: Tree,
    /// Ids of the partition fields in the order of the summaries.
    field_ids: Vec<FieldId>,
}

impl ManifestEvaluator {
    /// Prepares a predicate over the partition fields of `spec`, as [`project::inclusive`] gives it.
    pub fn new(projected: &BoundPredicate, spec: &PartitionSpec) -> Self {
        ManifestEvaluator {
            tree: Tree::new(projected),
            field_ids: spec.fields.iter().map(|f| f.field_id).collect(),
        }
    }

    /// Projects a predicate over the table's columns and prepares it.
    pub fn for_rows(filter: &BoundPredicate, spec: &PartitionSpec, schema: &Schema) -> Self {
        Self::new(&project::inclusive(filter, spec, schema), spec)
    }

    /// Whether some file of the manifest may hold a matching row. The manifest must be of the same spec.
    pub fn may_match(&self, manifest: &ManifestFile) -> bool {
        manifest.may_have_live_files() && self.may_match_summaries(&manifest.partitions)
    }

    /// The same for summaries alone, whatever the manifest's counts say. Missing summaries say nothing.
    pub fn may_match_summaries(&self, summaries: &[FieldSummary]) -> bool {
        self.tree.ask(&|leaf: &Leaf| {
            let position = self.field_ids.iter().position(|id| *id == leaf.column.field_id);
            match position.and_then(|p| summaries.get(p)) {
                Some(summary) => leaf.ask::<May, _>(&SummaryStats {
                    summary,
                    floating: leaf.column.floating,
                }),
                None => true,
            }
        })
    }
}

/// A summary of a partition field.
struct SummaryStats<'a> {
    summary: &'a FieldSummary,
    /// Whether the field's values may be NaN.
    floating: bool,
}

impl FieldStats for SummaryStats<'_> {
    fn lower(&self) -> Option<&[u8]> {
        self.summary.lower_bound.as_deref()
    }

    fn upper(&self) -> Option<&[u8]> {
        self.summary.upper_bound.as_deref()
    }

    /// Without bounds every value is null or NaN. Old writers do not say whether there are NaNs.
    fn all_null(&self) -> bool {
        let no_bounds = self.summary.lower_bound.is_none() && self.summary.upper_bound.is_none();
        no_bounds && self.summary.contains_null && (!self.floating || self.no_nan())
    }

    fn no_null(&self) -> bool {
        !self.summary.contains_null
    }

    fn all_nan(&self) -> bool {
        let no_bounds = self.summary.lower_bound.is_none() && self.summary.upper_bound.is_none();
        no_bounds && !self.summary.contains_null && self.summary.contains_nan == Some(true)
    }

    fn no_nan(&self) -> bool {
        self.summary.contains_nan == Some(false)
    }
}
