//! `position_deletes`: every deleted position of the snapshot, one row each (Java `PositionDeletesTable`).

use std::sync::Arc;

use arrow::array::{ArrayRef, Int32Array, Int64Array, RecordBatch, StringViewArray, new_null_array};
use arrow::datatypes::{Field, SchemaRef as ArrowSchemaRef};
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::Expr;
use datafusion::physical_plan::metrics::ExecutionPlanMetricsSet;
use futures::stream::{self, BoxStream};
use futures::{StreamExt, TryStreamExt};
use tarn_format::manifest::columns::MetricsProjection;
use tarn_format::manifest::data_file::{DataContent, DataFile};
use tarn_format::manifest::manifest_file::ManifestContent;
use tarn_format::scan::manifest_entries::ManifestEntries;
use tarn_format::spec::table_metadata::FormatVersion;
use tarn_format::spec::types::{NestedField, PrimitiveType};

use super::entry_filter::{DataFilePlace, EntryFilter};
use super::entry_scan::{EntryScope, EntrySelection, SnapshotScope};
use super::exec::RowSource;
use super::groups::groups;
use super::partition_column::{places, tuples_array};
use super::state::TableState;
use super::static_rows::{batch, no_such_column};
use super::table::Request;
use crate::deletes::position_reader::{DeleteFileReader, DeletedRows, FILE_PATH_ID, POS_ID, ROW_ID, Wanted, WantedRow};
use crate::scan::MetadataColumn;

pub(super) fn fields(state: &TableState) -> Vec<NestedField> {
    use PrimitiveType as P;
    let metadata = state.metadata();
    let row = metadata.current_schema().as_struct();
    let mut fields = vec![
        NestedField::required(FILE_PATH_ID, "file_path", P::String)
            .with_doc("Path of a file in which a deleted row is stored"),
        NestedField::required(POS_ID, "pos", P::Long).with_doc("Ordinal position of a deleted row in the data file"),
    ];
    // Engines don't have empty structs.
    if !row.fields.is_empty() {
        fields.push(NestedField::optional(ROW_ID, "row", row.clone()).with_doc("Deleted row values"));
    }
    if !state.partition.fields.is_empty() {
        fields.push(
            NestedField::required(
                MetadataColumn::Partition.field_id(),
                "partition",
                state.partition.as_ref().clone(),
            )
            .with_doc("Partition that position delete row belongs to"),
        );
    }
    fields.extend([
        NestedField::required(MetadataColumn::SpecId.field_id(), "spec_id", P::Int)
            .with_doc("Spec ID used to track the file containing a row"),
        NestedField::required(MetadataColumn::File.field_id(), "delete_file_path", P::String)
            .with_doc("Path of the file in which a row is stored"),
    ]);
    if metadata.format_version >= FormatVersion::V3 {
        fields.extend([
            NestedField::optional(i32::MAX - 6, "content_offset", P::Long)
                .with_doc("The offset in the DV where the content starts"),
            NestedField::optional(i32::MAX - 7, "content_size_in_bytes", P::Long)
                .with_doc("The length in bytes of the DV blob"),
        ]);
    }
    fields
}

const SCOPE: EntryScope = EntryScope {
    snapshots: SnapshotScope::One,
    content: Some(ManifestContent::Deletes),
    entries: EntrySelection::Live,
};

/// Finds the delete files; they are read later.
///
/// # Errors
/// Those of reading manifest lists and manifests.
pub(super) async fn source(state: Arc<TableState>, request: Request<'_>) -> tarn_format::Result<Arc<dyn RowSource>> {
    let files = delete_files(&state, request.filters).await?;
    let reader = DeleteFileReader {
        io: state.table.io.clone(),
        footers: Arc::clone(&state.caches.footers),
        metrics: ExecutionPlanMetricsSet::new(),
    };
    Ok(Arc::new(PositionDeletes {
        groups: groups(files, DeleteFile::length, request.target_partitions),
        state,
        reader: Arc::new(reader),
    }))
}

/// The position deletes of the snapshot, but for those that the filters rule out.
async fn delete_files(state: &TableState, filters: &[Expr]) -> tarn_format::Result<Vec<DeleteFile>> {
    let filter = EntryFilter::new(filters, state.metadata(), &state.partition, DataFilePlace::Top);
    let mut manifests = SCOPE.manifests(state).await?;
    manifests.retain(|m| filter.may_match(m));
    let metrics = MetricsProjection::None;
    let mut loads = state.load_ahead(&manifests, &metrics);
    let mut files = Vec::new();
    while let Some(entries) = loads.try_next().await? {
        let entries = Arc::new(entries);
        let rows = SCOPE.rows(&entries, &filter).into_iter();
        let positions = rows.filter(|row| entries.columns.content(*row as usize) == DataContent::PositionDeletes);
        files.extend(positions.map(|row| DeleteFile {
            entries: Arc::clone(&entries),
            row: row as usize,
        }));
    }
    Ok(files)
}

/// A file of position deletes, or a deletion vector.
#[derive(Debug, Clone)]
struct DeleteFile {
    entries: Arc<ManifestEntries>,
    row: usize,
}

impl DeleteFile {
    /// What has to be read: of deletion vectors only a part of the file.
    fn length(&self) -> u64 {
        let columns = &self.entries.columns;
        let blob = columns.content_size_in_bytes.get(self.row);
        u64::try_from(blob.unwrap_or_else(|| columns.file_size_in_bytes(self.row))).unwrap_or(0)
    }
}

/// The deleted positions of a snapshot.
#[derive(Debug)]
struct PositionDeletes {
    state: Arc<TableState>,
    groups: Vec<Vec<DeleteFile>>,
    reader: Arc<DeleteFileReader>,
}

impl RowSource for PositionDeletes {
    fn partitions(&self) -> usize {
        self.groups.len()
    }

    fn describe(&self) -> String {
        let snapshot = self.state.snapshot_text();
        let files: usize = self.groups.iter().map(Vec::len).sum();
        format!("snapshot={snapshot}, delete_files={files}")
    }

    fn open(
        self: Arc<Self>,
        partition: usize,
        schema: ArrowSchemaRef,
        batch_size: usize,
    ) -> BoxStream<'static, Result<RecordBatch>> {
        let files = self.groups.get(partition).cloned().unwrap_or_default();
        let row = schema.field_with_name("row").ok().cloned();
        let wanted = Wanted {
            row: row.map(|field| WantedRow {
                field: Arc::new(field),
                schema: Arc::clone(self.state.metadata().current_schema()),
            }),
            batch_size,
        };
        let batches = stream::iter(files).then(move |delete_file| {
            let (scan, schema, wanted) = (Arc::clone(&self), Arc::clone(&schema), wanted.clone());
            async move {
                let file = Arc::new(delete_file.entries.data_file(delete_file.row));
                let opened = scan.reader.open(Arc::clone(&file), wanted).await;
                let deleted = opened.map_err(|e| scan.state.external(e))?;
                Ok::<_, DataFusionError>(deleted.map(move |rows| scan.batch(&file, &rows?, &schema)))
            }
        });
        batches.try_flatten().boxed()
    }
}

impl PositionDeletes {
    fn batch(&self, file: &DataFile, rows: &DeletedRows, schema: &ArrowSchemaRef) -> Result<RecordBatch> {
        let columns = schema.fields().iter().map(|f| self.column(f, file, rows));
        batch(Arc::clone(schema), columns.collect::<Result<Vec<_>>>()?, rows.len())
    }

    fn column(&self, field: &Field, file: &DataFile, rows: &DeletedRows) -> Result<ArrayRef> {
        let len = rows.len();
        let long =
            |value: Option<i64>| -> ArrayRef { Arc::new(Int64Array::from_iter(std::iter::repeat_n(value, len))) };
        Ok(match field.name().as_str() {
            "file_path" => Arc::clone(&rows.paths),
            "pos" => Arc::clone(&rows.positions),
            "row" => match &rows.rows {
                Some(rows) => Arc::clone(rows),
                None => new_null_array(field.data_type(), len),
            },
            "partition" => {
                let metadata = self.state.metadata();
                let spec = metadata.spec_by_id(file.spec_id).map(AsRef::as_ref);
                let places = places(spec, &self.state.partition);
                let value = |place: Option<usize>| file.partition.0.get(place?).cloned().flatten();
                let tuple = tarn_format::manifest::data_file::PartitionTuple(places.into_iter().map(value).collect());
                let one = tuples_array(&self.state.partition, field, std::iter::once(&tuple))?;
                arrow::compute::take(&one, &arrow::array::UInt32Array::from_value(0, len), None)?
            }
            "spec_id" => Arc::new(Int32Array::from_value(file.spec_id, len)),
            "delete_file_path" => {
                let path = file.file_path.as_ref();
                Arc::new(StringViewArray::from_iter_values(std::iter::repeat_n(path, len)))
            }
            "content_offset" => long(file.content_offset),
            "content_size_in_bytes" => long(file.content_size_in_bytes),
            _ => return no_such_column(field),
        })
    }
}
