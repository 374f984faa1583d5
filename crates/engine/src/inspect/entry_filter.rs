//! What filters of a query say about manifests and partitions, before any row is made.
//!
//! A filter is said in an Iceberg predicate over a small schema that holds only what can be told beforehand: the
//! partition's fields, and facts about whole manifests. What can't be said is left out, so that nothing is skipped that
//! might match.

use std::collections::HashMap;

use datafusion::logical_expr::Expr;
use tarn_format::Result;
use tarn_format::expr::manifest_evaluator::ManifestEvaluator;
use tarn_format::expr::partition_evaluator::PartitionEvaluator;
use tarn_format::expr::{BoundPredicate, project};
use tarn_format::manifest::manifest_file::{FieldSummary, ManifestContent, ManifestFile};
use tarn_format::spec::partition::{PartitionField, PartitionSpec};
use tarn_format::spec::schema::{CaseSensitivity, Schema};
use tarn_format::spec::table_metadata::TableMetadata;
use tarn_format::spec::types::{FieldId, NestedField, PrimitiveType, StructType};
use tarn_format::transform::Transform;

use crate::scan::pushdown::to_predicate;

/// Where the columns of data files stand in a metadata table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DataFilePlace {
    /// At top level, as in `files`.
    Top,
    /// In the struct `data_file`, beside columns of the entry.
    Struct,
}

/// A filter over facts that are whole numbers.
#[derive(Debug)]
pub(super) struct FactFilter {
    evaluator: ManifestEvaluator,
}

impl FactFilter {
    /// What the filters say of these columns.
    pub(super) fn new(filters: &[Expr], columns: &[&str]) -> Self {
        let long = |(name, id)| NestedField::required(id, name, PrimitiveType::Long);
        let fields: Vec<NestedField> = columns.iter().copied().zip(1..).map(long).collect();
        let spec = identity_spec((1..).zip(1..).take(fields.len()));
        let projected = bind(filters, StructType::new(fields))
            .map(|(bound, schema)| project::inclusive(&bound, &spec, &schema))
            .unwrap_or(BoundPredicate::AlwaysTrue);
        FactFilter {
            evaluator: ManifestEvaluator::new(&projected, &spec),
        }
    }

    /// Whether the filters allow for these values, in the order of the columns; what comes after them is not known.
    pub(super) fn may_match(&self, values: &[Option<i64>]) -> bool {
        let known = values.iter().map_while(|v| *v).map(|value| exactly(value, value));
        self.evaluator.may_match_summaries(&known.collect::<Vec<_>>())
    }
}

/// What the filters of a query over data files or entries skip.
#[derive(Debug)]
pub(super) struct EntryFilter {
    facts: ManifestEvaluator,
    specs: HashMap<i32, SpecFilter>,
}

#[derive(Debug)]
struct SpecFilter {
    summaries: ManifestEvaluator,
    /// `None` when partitions tell nothing.
    partitions: Option<PartitionEvaluator>,
}

/// Facts that summaries are made of, in this order; the last one is not always known.
const CONTENT: FieldId = 1;
const SPEC_ID: FieldId = 2;
const SNAPSHOT_ID: FieldId = 3;
/// Ids of the partition's fields in the schema that filters are bound to.
const PARTITION: FieldId = 4;
const DATA_FILE: FieldId = 5;
const FIRST_PARTITION_FIELD: FieldId = 1000;

impl EntryFilter {
    /// What the filters say of manifests and partitions of the table, whose partitions are shown as `partition`.
    pub(super) fn new(
        filters: &[Expr],
        metadata: &TableMetadata,
        partition: &StructType,
        place: DataFilePlace,
    ) -> Self {
        let bound = bind(filters, schema(partition, place));
        let project = |spec: &PartitionSpec| match &bound {
            Some((bound, schema)) => project::inclusive(bound, spec, schema),
            None => BoundPredicate::AlwaysTrue,
        };
        let facts = identity_spec([CONTENT, SPEC_ID, SNAPSHOT_ID].map(|id| (id, id)).into_iter());
        let specs = metadata.partition_specs.iter().map(|spec| {
            let spec = shown_spec(spec, partition);
            let projected = project(&spec);
            let filter = SpecFilter {
                summaries: ManifestEvaluator::new(&projected, &spec),
                partitions: match projected {
                    BoundPredicate::AlwaysTrue => None,
                    projected => Some(PartitionEvaluator::new(projected, &spec)),
                },
            };
            (spec.spec_id, filter)
        });
        EntryFilter {
            facts: ManifestEvaluator::new(&project(&facts), &facts),
            specs: specs.collect(),
        }
    }

    /// Whether entries of a manifest may match.
    pub(super) fn may_match(&self, manifest: &ManifestFile) -> bool {
        let spec_id = i64::from(manifest.partition_spec_id);
        let mut facts = vec![exactly(0, 0), exactly(spec_id, spec_id)];
        // What a snapshot carried over has the ids of others; all else is of the snapshot that wrote the manifest.
        if let (false, Some(id)) = (manifest.may_have_existing_files(), manifest.added_snapshot_id) {
            facts.push(exactly(id, id));
        }
        let contents = match manifest.content {
            ManifestContent::Data => 0..=0,
            ManifestContent::Deletes => 1..=2,
        };
        // One by one: neither `<> 1` nor `<> 2` alone leaves deletes out.
        let mut may_match = false;
        for content in contents {
            facts[0] = exactly(content, content);
            may_match |= self.facts.may_match_summaries(&facts);
        }
        may_match && self.may_match_partition(manifest)
    }

    /// Whether files of a manifest may be in partitions that match.
    pub(super) fn may_match_partition(&self, manifest: &ManifestFile) -> bool {
        let spec = self.specs.get(&manifest.partition_spec_id);
        spec.is_none_or(|spec| spec.summaries.may_match_summaries(&manifest.partitions))
    }

    /// What tells whether files of a partition of this spec may match; `None` when all may.
    pub(super) fn partitions(&self, spec_id: i32) -> Option<&PartitionEvaluator> {
        self.specs.get(&spec_id)?.partitions.as_ref()
    }
}

/// What can be told beforehand, where the metadata table has it.
fn schema(partition: &StructType, place: DataFilePlace) -> StructType {
    let fields = partition.fields.iter().zip(FIRST_PARTITION_FIELD..);
    let fields = fields.map(|(f, id)| NestedField::optional(id, f.name.as_str(), f.field_type.clone()));
    let data_file = StructType::new(vec![
        NestedField::required(CONTENT, "content", PrimitiveType::Long),
        NestedField::required(SPEC_ID, "spec_id", PrimitiveType::Long),
        NestedField::required(PARTITION, "partition", StructType::new(fields.collect())),
    ]);
    match place {
        DataFilePlace::Top => data_file,
        DataFilePlace::Struct => StructType::new(vec![
            NestedField::optional(SNAPSHOT_ID, "snapshot_id", PrimitiveType::Long),
            NestedField::required(DATA_FILE, "data_file", data_file),
        ]),
    }
}

/// A spec whose sources are the fields of the partition as it is shown.
fn shown_spec(spec: &PartitionSpec, partition: &StructType) -> PartitionSpec {
    let source = |field_id: FieldId| {
        let shown = partition.fields.iter().position(|f| f.id == field_id)?;
        Some(FIRST_PARTITION_FIELD + FieldId::try_from(shown).ok()?)
    };
    let fields = spec.fields.iter().map(|field| PartitionField {
        source_ids: source(field.field_id).into_iter().collect(),
        // The tuples of a void field hold nulls, whatever its files hold in another spec.
        transform: match field.transform {
            Transform::Unknown(_) => field.transform.clone(),
            _ => Transform::Identity,
        },
        ..field.clone()
    });
    PartitionSpec {
        fields: fields.collect(),
        ..spec.clone()
    }
}

fn identity_spec(ids: impl Iterator<Item = (FieldId, FieldId)>) -> PartitionSpec {
    let fields = ids.map(|(source, field_id)| PartitionField {
        source_ids: vec![source],
        field_id,
        name: field_id.to_string(),
        transform: Transform::Identity,
        extra: Default::default(),
    });
    PartitionSpec {
        fields: fields.collect(),
        ..PartitionSpec::unpartitioned()
    }
}

/// What the filters say in terms of `fields`; `None` when nothing.
fn bind(filters: &[Expr], fields: StructType) -> Option<(BoundPredicate, Schema)> {
    let schema = Schema::new(0, fields, Vec::new()).ok()?;
    let bound: Result<BoundPredicate> = to_predicate(filters, &schema).bind(&schema, CaseSensitivity::Sensitive);
    Some((bound.ok()?, schema))
}

/// The summary of whole numbers of which the lowest and highest are known.
fn exactly(lowest: i64, highest: i64) -> FieldSummary {
    FieldSummary {
        contains_null: false,
        contains_nan: Some(false),
        lower_bound: Some(lowest.to_le_bytes().to_vec()),
        upper_bound: Some(highest.to_le_bytes().to_vec()),
    }
}
