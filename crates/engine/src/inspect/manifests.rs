//! `manifests` and `all_manifests`: the manifests of one snapshot, and those of every snapshot (Java `ManifestsTable`,
//! `AllManifestsTable`).

use std::fmt;
use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray, Int32Array, Int64Array, ListArray, RecordBatch, StringArray, StructArray};
use arrow::buffer::OffsetBuffer;
use arrow::datatypes::{DataType, Field, SchemaRef as ArrowSchemaRef};
use datafusion::error::Result;
use datafusion::logical_expr::Expr;
use futures::stream::{self, BoxStream};
use futures::{StreamExt, TryStreamExt};
use tarn_format::ResultExt;
use tarn_format::manifest::columns::MetricsProjection;
use tarn_format::manifest::manifest_file::{ManifestContent, ManifestFile};
use tarn_format::spec::snapshot::Snapshot;
use tarn_format::spec::table_metadata::TableMetadata;
use tarn_format::spec::types::{ListType, NestedField, PrimitiveType, StructType};
use tarn_format::spec::value_binary;

use super::entry_filter::FactFilter;
use super::exec::RowSource;
use super::state::TableState;
use super::static_rows::{batch, no_such_column, slices, text};

/// Manifest lists that are read ahead.
const LISTS_AT_ONCE: usize = 8;

pub(super) fn fields() -> Vec<NestedField> {
    use PrimitiveType as P;
    let summary = StructType::new(vec![
        NestedField::required(10, "contains_null", P::Boolean),
        NestedField::optional(11, "contains_nan", P::Boolean),
        NestedField::optional(12, "lower_bound", P::String),
        NestedField::optional(13, "upper_bound", P::String),
    ]);
    let summaries = ListType {
        element: Arc::new(NestedField::required(9, "element", summary)),
    };
    vec![
        NestedField::required(14, "content", P::Int),
        NestedField::required(1, "path", P::String),
        NestedField::required(2, "length", P::Long),
        NestedField::required(3, "partition_spec_id", P::Int),
        // Required in Java, which cannot show the manifests of v1 writers that left it out.
        NestedField::optional(4, "added_snapshot_id", P::Long),
        NestedField::required(5, "added_data_files_count", P::Int),
        NestedField::required(6, "existing_data_files_count", P::Int),
        NestedField::required(7, "deleted_data_files_count", P::Int),
        NestedField::required(15, "added_delete_files_count", P::Int),
        NestedField::required(16, "existing_delete_files_count", P::Int),
        NestedField::required(17, "deleted_delete_files_count", P::Int),
        NestedField::required(8, "partition_summaries", summaries),
    ]
}

/// Those of `all_manifests`.
pub(super) fn fields_with_reference() -> Vec<NestedField> {
    let mut fields = fields();
    let reference = NestedField::required(18, "reference_snapshot_id", PrimitiveType::Long);
    fields.push(reference);
    fields
}

pub(super) fn of_snapshot(state: Arc<TableState>) -> Arc<dyn RowSource> {
    let snapshots = state.snapshot.iter().cloned().collect();
    Arc::new(Manifests { state, snapshots })
}

pub(super) fn of_all_snapshots(state: Arc<TableState>, filters: &[Expr]) -> Arc<dyn RowSource> {
    let filter = FactFilter::new(filters, &["reference_snapshot_id"]);
    let all = state.metadata().snapshots.iter();
    let snapshots = all
        .filter(|s| filter.may_match(&[Some(s.snapshot_id)]))
        .cloned()
        .collect();
    Arc::new(Manifests { state, snapshots })
}

/// The manifests of some snapshots. Their lists are read while the rows are.
struct Manifests {
    state: Arc<TableState>,
    snapshots: Vec<Arc<Snapshot>>,
}

impl fmt::Debug for Manifests {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Manifests")
            .field("snapshots", &self.snapshots.len())
            .finish_non_exhaustive()
    }
}

impl RowSource for Manifests {
    fn describe(&self) -> String {
        match self.snapshots.as_slice() {
            [one] => format!("snapshot={}", one.snapshot_id),
            all => format!("snapshots={}", all.len()),
        }
    }

    fn open(
        self: Arc<Self>,
        _partition: usize,
        schema: ArrowSchemaRef,
        batch_size: usize,
    ) -> BoxStream<'static, Result<RecordBatch>> {
        let with_counts = schema.fields().iter().any(|f| f.name().ends_with("_files_count"));
        let counting = if with_counts {
            Counting::Asked
        } else {
            Counting::NotAsked
        };
        let snapshots = self.snapshots.clone();
        let state = Arc::clone(&self.state);
        let lists = stream::iter(snapshots).map(move |snapshot| {
            let state = Arc::clone(&self.state);
            async move {
                let manifests = load(&state, &snapshot, counting).await;
                manifests.map(|m| (snapshot, m)).map_err(|e| state.external(e))
            }
        });
        let batches = lists.buffered(LISTS_AT_ONCE).and_then(move |(snapshot, manifests)| {
            let made = Rows {
                metadata: state.metadata(),
                snapshot: &snapshot,
                manifests: &manifests,
            }
            .batch(&schema);
            let sliced = made.map(|whole| {
                let slices: Vec<_> = slices(&whole, batch_size).map(Ok).collect();
                stream::iter(slices)
            });
            std::future::ready(sliced)
        });
        batches.try_flatten().boxed()
    }
}

/// Whether counts of files are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Counting {
    Asked,
    NotAsked,
}

/// The manifests of a snapshot. Counts that an old writer left out are made from the manifests themselves.
async fn load(
    state: &TableState,
    snapshot: &Snapshot,
    counting: Counting,
) -> tarn_format::Result<Arc<Vec<ManifestFile>>> {
    let manifests = state.manifests_of(snapshot).await?;
    if counting == Counting::NotAsked || manifests.iter().all(ManifestFile::has_counts) {
        return Ok(manifests);
    }
    let mut counted = Vec::with_capacity(manifests.len());
    for manifest in manifests.iter() {
        if manifest.has_counts() {
            counted.push(manifest.clone());
            continue;
        }
        let entries = state.load(Arc::new(manifest.clone()), &MetricsProjection::None).await?;
        counted.push(manifest.clone().with_counts(&entries.columns));
    }
    Ok(Arc::new(counted))
}

/// The rows of one manifest list.
struct Rows<'a> {
    metadata: &'a TableMetadata,
    snapshot: &'a Snapshot,
    manifests: &'a [ManifestFile],
}

impl Rows<'_> {
    fn batch(&self, schema: &ArrowSchemaRef) -> Result<RecordBatch> {
        let columns: Result<Vec<ArrayRef>> = schema.fields().iter().map(|f| self.column(f)).collect();
        batch(Arc::clone(schema), columns?, self.manifests.len())
    }

    fn column(&self, field: &Field) -> Result<ArrayRef> {
        use ManifestContent::{Data, Deletes};
        let all = self.manifests.iter();
        Ok(match field.name().as_str() {
            "content" => Arc::new(Int32Array::from_iter_values(all.map(|m| m.content as i32))),
            "path" => text(field.data_type(), all.map(|m| Some(m.manifest_path.as_str()))),
            "length" => Arc::new(Int64Array::from_iter_values(all.map(|m| m.manifest_length))),
            "partition_spec_id" => Arc::new(Int32Array::from_iter_values(all.map(|m| m.partition_spec_id))),
            "added_snapshot_id" => Arc::new(Int64Array::from_iter(all.map(|m| m.added_snapshot_id))),
            "added_data_files_count" => self.counts(Data, |m| m.added_files_count),
            "existing_data_files_count" => self.counts(Data, |m| m.existing_files_count),
            "deleted_data_files_count" => self.counts(Data, |m| m.deleted_files_count),
            "added_delete_files_count" => self.counts(Deletes, |m| m.added_files_count),
            "existing_delete_files_count" => self.counts(Deletes, |m| m.existing_files_count),
            "deleted_delete_files_count" => self.counts(Deletes, |m| m.deleted_files_count),
            "partition_summaries" => return self.summaries(field),
            "reference_snapshot_id" => {
                Arc::new(Int64Array::from_value(self.snapshot.snapshot_id, self.manifests.len()))
            }
            _ => return no_such_column(field),
        })
    }

    /// Counts of files of this content; 0 for manifests of the other.
    fn counts(&self, content: ManifestContent, count: impl Fn(&ManifestFile) -> Option<i32>) -> ArrayRef {
        let counts = self.manifests.iter().map(|m| match m.content == content {
            true => count(m).unwrap_or(0),
            false => 0,
        });
        Arc::new(Int32Array::from_iter_values(counts))
    }

    fn summaries(&self, field: &Field) -> Result<ArrayRef> {
        let DataType::List(element) = field.data_type() else {
            return no_such_column(field);
        };
        let DataType::Struct(fields) = element.data_type() else {
            return no_such_column(field);
        };
        let all = self.manifests.iter().flat_map(|m| &m.partitions);
        let mut bounds: Vec<(String, String)> = Vec::new();
        for manifest in self.manifests {
            let shown = self
                .bounds(manifest)
                .context("manifest", manifest.manifest_path.as_str());
            bounds.extend(shown.map_err(|e| datafusion::error::DataFusionError::External(Box::new(e)))?);
        }
        let columns: Vec<ArrayRef> = vec![
            Arc::new(all.clone().map(|s| Some(s.contains_null)).collect::<BooleanArray>()),
            Arc::new(all.map(|s| s.contains_nan).collect::<BooleanArray>()),
            Arc::new(StringArray::from_iter_values(bounds.iter().map(|(lower, _)| lower))),
            Arc::new(StringArray::from_iter_values(bounds.iter().map(|(_, upper)| upper))),
        ];
        Ok(Arc::new(ListArray::try_new(
            Arc::clone(element),
            OffsetBuffer::from_lengths(self.manifests.iter().map(|m| m.partitions.len())),
            Arc::new(StructArray::try_new(fields.clone(), columns, None)?),
            None,
        )?))
    }

    /// Lower and upper bounds as people read them, one pair for each summary; `null` where there is none.
    fn bounds(&self, manifest: &ManifestFile) -> tarn_format::Result<Vec<(String, String)>> {
        let spec = self.metadata.spec_by_id(manifest.partition_spec_id);
        let types = self.metadata.partition_type_of(manifest.partition_spec_id)?;
        let summaries = manifest.partitions.iter().enumerate();
        let shown = summaries.map(|(i, summary)| {
            let transform = spec.and_then(|s| s.fields.get(i)).map(|f| &f.transform);
            let result = types.fields.get(i).and_then(|f| f.field_type.as_primitive());
            let show = |bound: &Option<Vec<u8>>| -> tarn_format::Result<String> {
                let (Some(transform), Some(result)) = (transform, result) else {
                    return Ok("null".to_string());
                };
                let value = bound.as_ref().filter(|_| *result != PrimitiveType::Unknown);
                let value = value.map(|bytes| value_binary::from_bytes(bytes, result)).transpose()?;
                Ok(transform.to_human_string(value.as_ref(), result))
            };
            Ok((show(&summary.lower_bound)?, show(&summary.upper_bound)?))
        });
        shown.collect()
    }
}
