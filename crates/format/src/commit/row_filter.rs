//! A row filter made ready to decide about whole files: by their partitions first, by their metrics for what is left.

use std::fmt;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::expr::inclusive_metrics::InclusiveMetricsEvaluator;
use crate::expr::manifest_evaluator::ManifestEvaluator;
use crate::expr::partition_evaluator::Verdict;
use crate::expr::residual::Residual;
use crate::expr::strict_metrics::StrictMetricsEvaluator;
use crate::expr::{BoundPredicate, CaseSensitivity, Predicate};
use crate::manifest::columns::{ManifestColumns, MetricsProjection};
use crate::manifest::data_file::{DataContent, DataFile};
use crate::manifest::manifest_file::ManifestFile;
use crate::spec::partition::PartitionSpec;
use crate::spec::schema::SchemaRef;
use crate::spec::table_metadata::TableMetadata;
use crate::spec::types::FieldId;

/// A bound filter.
#[derive(Debug)]
pub(crate) struct RowFilter {
    text: String,
    predicate: BoundPredicate,
    schema: SchemaRef,
}

impl RowFilter {
    /// Binds a filter to the table's columns.
    pub(crate) fn bind(filter: &Predicate, schema: &SchemaRef, case: CaseSensitivity) -> Result<Self> {
        Ok(RowFilter {
            text: filter.to_string(),
            predicate: filter.bind(schema, case)?,
            schema: Arc::clone(schema),
        })
    }

    /// The metrics it looks at.
    pub(crate) fn projection(&self) -> MetricsProjection {
        MetricsProjection::fields(self.predicate.field_ids())
    }

    /// Whether the manifest may list a file, live or removed, with rows that match.
    pub(crate) fn may_be_in(&self, base: &TableMetadata, manifest: &ManifestFile) -> Result<bool> {
        let spec = spec(base, manifest.partition_spec_id)?;
        let evaluator = ManifestEvaluator::for_rows(&self.predicate, spec, &self.schema);
        Ok(evaluator.may_match_summaries(&manifest.partitions))
    }

    /// For every entry of a manifest, how many of its file's rows match. Of a delete file: how many of the rows that it
    /// deletes. Its metrics tell that for key columns only: others hold what some deleted row once was.
    pub(crate) fn evaluate(
        &self,
        base: &TableMetadata,
        manifest: &ManifestFile,
        columns: &ManifestColumns,
    ) -> Result<Vec<Verdict>> {
        let spec = spec(base, manifest.partition_spec_id)?;
        let residual = Residual::new(&self.predicate, spec, &self.schema);
        // Partitions mostly leave the same of a filter: each rest is evaluated once over all its entries.
        let mut rests: Vec<BoundPredicate> = Vec::new();
        let mut rest_of_tuple = Vec::with_capacity(columns.partitions.len());
        for tuple in &columns.partitions {
            let rest = residual.for_partition(tuple);
            let known = rests.iter().position(|r| *r == rest);
            rest_of_tuple.push(known.unwrap_or(rests.len()));
            if known.is_none() {
                rests.push(rest);
            }
        }
        let rest_of = |i: usize| {
            let tuple = columns.partition_index.get(i).map(|t| *t as usize);
            tuple.and_then(|t| rest_of_tuple.get(t)).copied()
        };
        let mut verdicts = vec![Verdict::Some; columns.len];
        for (number, rest) in rests.iter().enumerate() {
            let mine: Vec<bool> = (0..columns.len).map(|i| rest_of(i) == Some(number)).collect();
            let (mut may, mut all) = (mine.clone(), mine.clone());
            InclusiveMetricsEvaluator::new(rest).narrow(columns, &mut may);
            StrictMetricsEvaluator::new(rest).narrow(columns, &mut all);
            let flags = mine.iter().zip(may).zip(all);
            for (verdict, ((mine, may), all)) in verdicts.iter_mut().zip(flags) {
                if *mine {
                    *verdict = verdict_of(rest, may, all);
                }
            }
            let ids = rest.field_ids();
            for (i, verdict) in verdicts.iter_mut().enumerate() {
                if mine.get(i) == Some(&true) && !tells_by_metrics(columns, i, &ids) {
                    *verdict = verdict_of(rest, true, false);
                }
            }
        }
        Ok(verdicts)
    }

    /// How many of a file's rows match.
    pub(crate) fn evaluate_file(&self, base: &TableMetadata, file: &DataFile) -> Result<Verdict> {
        let residual = Residual::new(&self.predicate, spec(base, file.spec_id)?, &self.schema);
        let rest = residual.for_partition(&file.partition);
        let may = InclusiveMetricsEvaluator::new(&rest).may_match(file);
        let all = StrictMetricsEvaluator::new(&rest).all_match(file);
        Ok(verdict_of(&rest, may, all))
    }
}

/// Whether metrics of these columns tell which rows the entry's file holds or deletes.
fn tells_by_metrics(columns: &ManifestColumns, i: usize, ids: &[FieldId]) -> bool {
    match columns.content(i) {
        DataContent::Data => true,
        DataContent::PositionDeletes => false,
        DataContent::EqualityDeletes => {
            let keys = columns.equality_ids.get(i);
            ids.iter().all(|id| keys.contains(&i64::from(*id)))
        }
    }
}

/// A filter that the partition has settled holds of the file whatever its metrics say, and whether it has any.
fn verdict_of(rest: &BoundPredicate, may_match: bool, all_match: bool) -> Verdict {
    match rest {
        BoundPredicate::AlwaysTrue => Verdict::All,
        BoundPredicate::AlwaysFalse => Verdict::None,
        _ if all_match => Verdict::All,
        _ if may_match => Verdict::Some,
        _ => Verdict::None,
    }
}

fn spec(base: &TableMetadata, spec_id: i32) -> Result<&PartitionSpec> {
    let spec = base.spec_by_id(spec_id).map(AsRef::as_ref);
    spec.ok_or_else(|| Error::corrupt(format!("a file names unknown partition spec {spec_id}")))
}

impl fmt::Display for RowFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
