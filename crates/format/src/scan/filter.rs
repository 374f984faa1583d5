//! A scan's filter in all the forms that planning needs, made once per scan.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use super::entry_selection::SelectedRows;
use crate::deletes::DeleteTask;
use crate::error::{Error, Result};
use crate::expr::inclusive_metrics::InclusiveMetricsEvaluator;
use crate::expr::manifest_evaluator::ManifestEvaluator;
use crate::expr::partition_evaluator::PartitionEvaluator;
use crate::expr::residual::Residual;
use crate::expr::strict_metrics::StrictMetricsEvaluator;
use crate::expr::{BoundPredicate, CaseSensitivity, Predicate, project};
use crate::manifest::columns::ManifestColumns;
use crate::manifest::data_file::{DataContent, PartitionTuple};
use crate::manifest::manifest_file::ManifestFile;
use crate::spec::partition::PartitionSpec;
use crate::spec::schema::Schema;
use crate::spec::table_metadata::TableMetadata;
use crate::spec::types::FieldId;

/// How many rows of a file match the filter, as far as metadata proves it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowMatch {
    /// Every row.
    All,
    /// Perhaps not every row.
    Some,
}

/// A filter, bound to the scan's schema and projected to every partition spec of the table.
pub struct ScanFilter {
    predicate: Predicate,
    bound: Arc<BoundPredicate>,
    inclusive: InclusiveMetricsEvaluator,
    field_ids: Vec<FieldId>,
    specs: BTreeMap<i32, SpecFilter>,
}

/// The filter for the files of one spec.
struct SpecFilter {
    manifests: ManifestEvaluator,
    /// `None` when partitions tell nothing of the filter.
    partitions: Option<PartitionEvaluator>,
    residuals: Residual,
}

/// What is left of the filter in one partition.
pub(super) struct PartitionFilter {
    residual: Arc<BoundPredicate>,
    strict: StrictMetricsEvaluator,
}

impl fmt::Debug for ScanFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ScanFilter").field(&self.bound).finish()
    }
}

impl ScanFilter {
    /// Binds and projects a filter.
    ///
    /// # Errors
    /// As [`Predicate::bind`].
    pub fn new(
        predicate: &Predicate,
        metadata: &TableMetadata,
        schema: &Schema,
        case_sensitivity: CaseSensitivity,
    ) -> Result<Self> {
        let bound = Arc::new(predicate.bind(schema, case_sensitivity)?);
        let specs = metadata.partition_specs.iter();
        Ok(ScanFilter {
            predicate: predicate.clone(),
            inclusive: InclusiveMetricsEvaluator::new(&bound),
            field_ids: bound.field_ids(),
            specs: specs.map(|s| (s.spec_id, SpecFilter::new(&bound, s, schema))).collect(),
            bound,
        })
    }

    /// The filter as it was given.
    pub fn predicate(&self) -> &Predicate {
        &self.predicate
    }

    /// The filter, bound to the scan's schema.
    pub fn bound(&self) -> &Arc<BoundPredicate> {
        &self.bound
    }

    /// The columns it is about.
    pub fn field_ids(&self) -> impl Iterator<Item = FieldId> + '_ {
        self.field_ids.iter().copied()
    }

    fn spec(&self, spec_id: i32) -> Result<&SpecFilter> {
        self.specs
            .get(&spec_id)
            .ok_or_else(|| Error::corrupt(format!("manifest names unknown partition spec {spec_id}")))
    }

    /// Whether a manifest's partition summaries allow for matching rows. Its counts are not looked at.
    pub(super) fn may_match_manifest(&self, manifest: &ManifestFile) -> Result<bool> {
        let spec = self
            .spec(manifest.partition_spec_id)
            .map_err(|e| e.with_context("manifest", manifest.manifest_path.as_str()))?;
        Ok(spec.manifests.may_match_summaries(&manifest.partitions))
    }

    /// The selected data files that may hold matching rows, ascending.
    pub(super) fn matching_rows(
        &self,
        spec_id: i32,
        columns: &ManifestColumns,
        selected: &SelectedRows,
    ) -> Result<Vec<u32>> {
        match &*self.bound {
            BoundPredicate::AlwaysFalse => return Ok(Vec::new()),
            BoundPredicate::AlwaysTrue => return Ok(selected.rows()),
            _ => {}
        }
        let mut flags = selected.flags();
        self.narrow_to_partitions(spec_id, columns, &mut flags)?;
        self.inclusive.narrow(columns, &mut flags);
        Ok(set_rows(&flags))
    }

    /// The live deletes that may touch matching rows, ascending.
    ///
    /// Statistics rule out only equality deletes that have every column of the filter as key: other columns of a
    /// delete file describe the rows as they were written, not the rows that its keys delete.
    pub(super) fn matching_deletes(&self, spec_id: i32, columns: &ManifestColumns) -> Result<Vec<u32>> {
        if *self.bound == BoundPredicate::AlwaysFalse {
            return Ok(Vec::new());
        }
        let mut flags: Vec<bool> = (0..columns.len).map(|row| columns.is_live(row)).collect();
        if *self.bound == BoundPredicate::AlwaysTrue {
            return Ok(set_rows(&flags));
        }
        self.narrow_to_partitions(spec_id, columns, &mut flags)?;
        let mut by_keys: Vec<bool> = flags
            .iter()
            .enumerate()
            .map(|(row, f)| *f && self.is_about_keys(columns, row))
            .collect();
        if by_keys.contains(&true) {
            let before = by_keys.clone();
            self.inclusive.narrow(columns, &mut by_keys);
            for ((flag, before), after) in flags.iter_mut().zip(before).zip(by_keys) {
                *flag &= before == after;
            }
        }
        Ok(set_rows(&flags))
    }

    /// Whether a delete that applies to a data file may touch matching rows of it, by its own statistics.
    pub(super) fn may_touch(&self, delete: &DeleteTask) -> bool {
        let columns = &delete.entries().columns;
        !self.is_about_keys(columns, delete.row()) || self.inclusive.may_match_row(columns, delete.row())
    }

    /// Whether every column of the filter, of which there is at least one, is a key of these equality deletes.
    fn is_about_keys(&self, columns: &ManifestColumns, row: usize) -> bool {
        let keys = columns.equality_ids.get(row);
        columns.content(row) == DataContent::EqualityDeletes
            && !self.field_ids.is_empty()
            && self.field_ids.iter().all(|id| keys.contains(&i64::from(*id)))
    }

    /// Clears the flags of files whose partition holds no matching rows: each distinct tuple is looked at once.
    fn narrow_to_partitions(&self, spec_id: i32, columns: &ManifestColumns, flags: &mut [bool]) -> Result<()> {
        let Some(evaluator) = &self.spec(spec_id)?.partitions else {
            return Ok(());
        };
        let matching: Vec<bool> = columns
            .partitions
            .iter()
            .map(|tuple| evaluator.may_match(tuple))
            .collect();
        if matching.contains(&false) {
            for (flag, index) in flags.iter_mut().zip(&columns.partition_index) {
                *flag &= matching.get(*index as usize).copied().unwrap_or(true);
            }
        }
        Ok(())
    }

    /// What is left of the filter in a partition.
    pub(super) fn in_partition(&self, spec_id: i32, tuple: &PartitionTuple) -> Result<PartitionFilter> {
        let residual = self.spec(spec_id)?.residuals.for_partition(tuple);
        let residual = if residual == *self.bound {
            Arc::clone(&self.bound)
        } else {
            Arc::new(residual)
        };
        Ok(PartitionFilter {
            strict: StrictMetricsEvaluator::new(&residual),
            residual,
        })
    }
}

impl SpecFilter {
    fn new(bound: &BoundPredicate, spec: &PartitionSpec, schema: &Schema) -> Self {
        let projected = project::inclusive(bound, spec, schema);
        SpecFilter {
            manifests: ManifestEvaluator::new(&projected, spec),
            residuals: Residual::new(bound, spec, schema),
            partitions: match projected {
                BoundPredicate::AlwaysTrue => None,
                projected => Some(PartitionEvaluator::new(projected, spec)),
            },
        }
    }
}

impl PartitionFilter {
    pub(super) fn residual(&self) -> &Arc<BoundPredicate> {
        &self.residual
    }

    /// Whether statistics prove that all rows of a file in this partition match.
    pub(super) fn row_match(&self, columns: &ManifestColumns, row: usize) -> RowMatch {
        match &*self.residual {
            BoundPredicate::AlwaysTrue => RowMatch::All,
            _ if self.strict.all_match_row(columns, row) => RowMatch::All,
            _ => RowMatch::Some,
        }
    }
}

fn set_rows(flags: &[bool]) -> Vec<u32> {
    let set = flags.iter().zip(0..).filter(|(flag, _)| **flag);
    set.map(|(_, row)| row).collect()
}
