//! `partitions`: files and records of each partition that has any (Java `PartitionsTable`). Deletes are counted, not
//! applied.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{ArrayRef, Int32Array, Int64Array, RecordBatch};
use arrow::datatypes::{Field, SchemaRef as ArrowSchemaRef};
use datafusion::error::{DataFusionError, Result};
use futures::stream::{self, BoxStream};
use futures::{StreamExt, TryStreamExt};
use tarn_format::deletes::PartitionKey;
use tarn_format::manifest::columns::MetricsProjection;
use tarn_format::manifest::data_file::{DataContent, PartitionTuple};
use tarn_format::manifest::manifest_file::ManifestFile;
use tarn_format::scan::manifest_entries::ManifestEntries;
use tarn_format::spec::snapshot::Snapshot;
use tarn_format::spec::types::{FieldId, NestedField, PrimitiveType};

use super::entry_filter::{DataFilePlace, EntryFilter};
use super::entry_scan::{EntryScope, EntrySelection, SnapshotScope};
use super::exec::RowSource;
use super::partition_column::{places, tuples_array};
use super::state::TableState;
use super::static_rows::{batch, no_such_column, times};
use super::table::Request;

pub(super) fn fields(state: &TableState) -> Vec<NestedField> {
    use PrimitiveType as P;
    let required =
        |id: FieldId, name: &str, field_type: P, doc: &str| NestedField::required(id, name, field_type).with_doc(doc);
    let optional =
        |id: FieldId, name: &str, field_type: P, doc: &str| NestedField::optional(id, name, field_type).with_doc(doc);
    let mut fields = Vec::new();
    if !state.partition.fields.is_empty() {
        fields.push(NestedField::required(1, "partition", state.partition.as_ref().clone()));
        fields.push(NestedField::required(4, "spec_id", P::Int));
    }
    fields.extend([
        required(2, "record_count", P::Long, "Count of records in data files"),
        required(3, "file_count", P::Int, "Count of data files"),
        required(
            11,
            "total_data_file_size_in_bytes",
            P::Long,
            "Total size in bytes of data files",
        ),
        required(
            5,
            "position_delete_record_count",
            P::Long,
            "Count of records in position delete files",
        ),
        required(
            6,
            "position_delete_file_count",
            P::Int,
            "Count of position delete files",
        ),
        required(
            7,
            "equality_delete_record_count",
            P::Long,
            "Count of records in equality delete files",
        ),
        required(
            8,
            "equality_delete_file_count",
            P::Int,
            "Count of equality delete files",
        ),
        optional(
            9,
            "last_updated_at",
            P::Timestamptz,
            "Commit time of snapshot that last updated this partition",
        ),
        optional(
            10,
            "last_updated_snapshot_id",
            P::Long,
            "Id of snapshot that last updated this partition",
        ),
    ]);
    fields
}

const SCOPE: EntryScope = EntryScope {
    snapshots: SnapshotScope::One,
    content: None,
    entries: EntrySelection::Live,
};

pub(super) async fn source(state: Arc<TableState>, request: Request<'_>) -> tarn_format::Result<Arc<dyn RowSource>> {
    let filter = EntryFilter::new(request.filters, state.metadata(), &state.partition, DataFilePlace::Top);
    // The spec that is shown is only one of those that files of the partition may have.
    let manifests = SCOPE.manifests(&state).await?;
    let all = manifests.len();
    let manifests: Vec<_> = manifests
        .into_iter()
        .filter(|m| filter.may_match_partition(m))
        .collect();
    Ok(Arc::new(Partitions {
        skipped: all - manifests.len(),
        state,
        filter,
        manifests,
    }))
}

/// The partitions of a snapshot.
#[derive(Debug)]
struct Partitions {
    state: Arc<TableState>,
    filter: EntryFilter,
    manifests: Vec<Arc<ManifestFile>>,
    skipped: usize,
}

impl RowSource for Partitions {
    fn describe(&self) -> String {
        let snapshot = self.state.snapshot_text();
        format!(
            "snapshot={snapshot}, manifests={} (skipped {})",
            self.manifests.len(),
            self.skipped
        )
    }

    fn open(
        self: Arc<Self>,
        _partition: usize,
        schema: ArrowSchemaRef,
        batch_size: usize,
    ) -> BoxStream<'static, Result<RecordBatch>> {
        let totals = async move {
            let totals = self.totals().await.map_err(|e| self.state.external(e))?;
            let starts = (0..totals.partitions.len()).step_by(batch_size);
            let batches = starts.map(move |start| {
                let end = totals.partitions.len().min(start + batch_size);
                let partitions = totals.partitions.get(start..end).unwrap_or_default();
                rows(&self.state, &schema, partitions)
            });
            Ok::<_, DataFusionError>(stream::iter(batches))
        };
        stream::once(totals).try_flatten().boxed()
    }
}

impl Partitions {
    async fn totals(&self) -> tarn_format::Result<Totals> {
        let metrics = MetricsProjection::None;
        let mut loads = self.state.load_ahead(&self.manifests, &metrics);
        let mut totals = Totals::default();
        while let Some(entries) = loads.try_next().await? {
            totals.add(&self.state, &entries, &SCOPE.rows(&entries, &self.filter));
        }
        Ok(totals)
    }
}

/// What is counted for one partition.
#[derive(Debug, Default)]
struct Partition {
    tuple: PartitionTuple,
    spec_id: i32,
    /// Of data files, position deletes and equality deletes.
    records: [i64; 3],
    files: [i32; 3],
    data_size_bytes: i64,
    last_updated: Option<Arc<Snapshot>>,
}

/// All partitions, in the order in which they are met.
#[derive(Debug, Default)]
struct Totals {
    partitions: Vec<Partition>,
    by_key: HashMap<PartitionKey, usize>,
}

impl Totals {
    fn add(&mut self, state: &TableState, entries: &ManifestEntries, rows: &[u32]) {
        let columns = &entries.columns;
        let spec = state.metadata().spec_by_id(entries.spec_id());
        let places = places(spec.map(AsRef::as_ref), &state.partition);
        let mut indexes: Vec<Option<usize>> = vec![None; columns.partitions.len()];
        for row in rows {
            let row = *row as usize;
            let distinct = columns.partition_index.get(row).map_or(usize::MAX, |i| *i as usize);
            let index = match indexes.get(distinct).copied().flatten() {
                Some(index) => index,
                None => {
                    let index = self.index(columns.partition(row), &places, entries.spec_id());
                    if let Some(known) = indexes.get_mut(distinct) {
                        *known = Some(index);
                    }
                    index
                }
            };
            if let Some(partition) = self.partitions.get_mut(index) {
                partition.add(state, entries, row);
            }
        }
    }

    /// The partition of a tuple. Partitions of equal values are apart when their specs have different numbers of the
    /// fields that are shown, as in Java.
    fn index(&mut self, stored: &PartitionTuple, places: &[Option<usize>], spec_id: i32) -> usize {
        let value = |place: &Option<usize>| stored.0.get((*place)?).cloned().flatten();
        let tuple = PartitionTuple(places.iter().map(value).collect());
        let fields = places.iter().flatten().count();
        let key = PartitionKey::new(i32::try_from(fields).unwrap_or(i32::MAX), &tuple);
        *self.by_key.entry(key).or_insert_with(|| {
            self.partitions.push(Partition {
                tuple,
                spec_id,
                ..Partition::default()
            });
            self.partitions.len() - 1
        })
    }
}

impl Partition {
    fn add(&mut self, state: &TableState, entries: &ManifestEntries, row: usize) {
        let columns = &entries.columns;
        let content = columns.content(row);
        if let Some(records) = self.records.get_mut(content as usize) {
            *records = records.saturating_add(columns.record_count(row));
        }
        if let Some(files) = self.files.get_mut(content as usize) {
            *files = files.saturating_add(1);
        }
        if content == DataContent::Data {
            self.data_size_bytes = self.data_size_bytes.saturating_add(columns.file_size_in_bytes(row));
        }
        let snapshot_id = entries.snapshot_id(row);
        let last = self.last_updated.as_ref();
        if snapshot_id.is_none() || last.map(|s| s.snapshot_id) == snapshot_id {
            return;
        }
        let Some(snapshot) = snapshot_id.and_then(|id| state.snapshot_by_id(id)) else {
            return;
        };
        let order = |s: &Snapshot| (s.timestamp_ms, s.sequence_number);
        if last.is_none_or(|last| order(snapshot) > order(last)) {
            self.spec_id = entries.spec_id();
            self.last_updated = Some(Arc::clone(snapshot));
        }
    }
}

fn rows(state: &TableState, schema: &ArrowSchemaRef, partitions: &[Partition]) -> Result<RecordBatch> {
    let columns = schema.fields().iter().map(|f| column(state, f, partitions));
    batch(
        Arc::clone(schema),
        columns.collect::<Result<Vec<_>>>()?,
        partitions.len(),
    )
}

fn column(state: &TableState, field: &Field, partitions: &[Partition]) -> Result<ArrayRef> {
    let all = partitions.iter();
    let records = |content: DataContent| -> ArrayRef {
        let counts = partitions.iter().map(|p| p.records[content as usize]);
        Arc::new(Int64Array::from_iter_values(counts))
    };
    let files = |content: DataContent| -> ArrayRef {
        let counts = partitions.iter().map(|p| p.files[content as usize]);
        Arc::new(Int32Array::from_iter_values(counts))
    };
    Ok(match field.name().as_str() {
        "partition" => tuples_array(&state.partition, field, all.map(|p| &p.tuple))?,
        "spec_id" => Arc::new(Int32Array::from_iter_values(all.map(|p| p.spec_id))),
        "record_count" => records(DataContent::Data),
        "file_count" => files(DataContent::Data),
        "total_data_file_size_in_bytes" => Arc::new(Int64Array::from_iter_values(all.map(|p| p.data_size_bytes))),
        "position_delete_record_count" => records(DataContent::PositionDeletes),
        "position_delete_file_count" => files(DataContent::PositionDeletes),
        "equality_delete_record_count" => records(DataContent::EqualityDeletes),
        "equality_delete_file_count" => files(DataContent::EqualityDeletes),
        "last_updated_at" => times(all.map(|p| p.last_updated.as_ref().map(|s| s.timestamp_ms))),
        "last_updated_snapshot_id" => {
            let ids = all.map(|p| p.last_updated.as_ref().map(|s| s.snapshot_id));
            Arc::new(ids.collect::<Int64Array>())
        }
        _ => return no_such_column(field),
    })
}
