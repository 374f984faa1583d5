//! `entries` and `all_entries`: what manifests list, removed files too (Java `BaseEntriesTable`).

use std::sync::Arc;

use arrow::array::{ArrayRef, Int32Array, Int64Array, StructArray};
use arrow::datatypes::{DataType, Field, Fields, SchemaRef as ArrowSchemaRef};
use datafusion::error::Result;
use tarn_format::manifest::columns::MetricsProjection;
use tarn_format::spec::types::{NestedField, PrimitiveType, StructType};

use super::entry_filter::{DataFilePlace, EntryFilter};
use super::entry_scan::{EntryColumns, EntryScan, EntryScope, EntrySelection, ManifestPart, SnapshotScope};
use super::exec::RowSource;
use super::kind::MetadataTableKind;
use super::readable_metrics::READABLE_METRICS;
use super::state::TableState;
use super::static_rows::no_such_column;
use super::table::Request;
use super::{data_file, files, readable_metrics};

const DATA_FILE: &str = "data_file";

pub(super) fn fields(state: &TableState) -> Vec<NestedField> {
    let mut file_fields = files::fields(state);
    let readable = file_fields.pop();
    let mut fields = vec![
        NestedField::required(0, "status", PrimitiveType::Int),
        NestedField::optional(1, "snapshot_id", PrimitiveType::Long),
        NestedField::optional(3, "sequence_number", PrimitiveType::Long),
        NestedField::optional(4, "file_sequence_number", PrimitiveType::Long),
        NestedField::required(2, DATA_FILE, StructType::new(file_fields)),
    ];
    fields.extend(readable);
    fields
}

pub(super) async fn source(
    state: Arc<TableState>,
    kind: MetadataTableKind,
    request: Request<'_>,
) -> tarn_format::Result<Arc<dyn RowSource>> {
    let scope = EntryScope {
        snapshots: match kind {
            MetadataTableKind::AllEntries => SnapshotScope::All,
            _ => SnapshotScope::One,
        },
        content: None,
        entries: EntrySelection::All,
    };
    let place = DataFilePlace::Struct;
    let filter = EntryFilter::new(request.filters, state.metadata(), &state.partition, place);
    let scan = EntryScan::plan(state, EntryRows, scope, filter, request.target_partitions).await?;
    Ok(Arc::new(scan))
}

/// A row per entry.
#[derive(Debug)]
struct EntryRows;

fn data_file_fields(schema: &ArrowSchemaRef) -> Option<&Fields> {
    match schema.field_with_name(DATA_FILE).ok()?.data_type() {
        DataType::Struct(fields) => Some(fields),
        _ => None,
    }
}

impl EntryColumns for EntryRows {
    fn metrics(&self, state: &TableState, schema: &ArrowSchemaRef) -> MetricsProjection {
        let of_files = data_file_fields(schema).into_iter().flatten();
        if of_files.into_iter().any(|f| data_file::needs_all_metrics(f.name())) {
            return MetricsProjection::All;
        }
        match schema.field_with_name(READABLE_METRICS) {
            Ok(field) => {
                let ids = readable_metrics::field_ids(state.metadata().current_schema(), field.data_type());
                MetricsProjection::fields(ids)
            }
            Err(_) => MetricsProjection::None,
        }
    }

    fn partition_field<'a>(&self, schema: &'a ArrowSchemaRef) -> Option<&'a Field> {
        let (_, field) = data_file_fields(schema)?.find("partition")?;
        Some(field)
    }

    fn column(&self, field: &Field, part: &ManifestPart, rows: &[u32]) -> Result<ArrayRef> {
        let entries = &part.entries;
        let (columns, inheritance) = (&entries.columns, entries.inheritance());
        let each = rows.iter().map(|row| *row as usize);
        Ok(match field.name().as_str() {
            "status" => Arc::new(Int32Array::from_iter_values(each.map(|i| columns.status(i) as i32))),
            "snapshot_id" => Arc::new(each.map(|i| entries.snapshot_id(i)).collect::<Int64Array>()),
            "sequence_number" => {
                let numbers = each.map(|i| inheritance.sequence_number(columns, i));
                Arc::new(numbers.collect::<Int64Array>())
            }
            "file_sequence_number" => {
                let numbers = each.map(|i| inheritance.file_sequence_number(columns, i));
                Arc::new(numbers.collect::<Int64Array>())
            }
            DATA_FILE => {
                let DataType::Struct(fields) = field.data_type() else {
                    return no_such_column(field);
                };
                let partitions = part.partitions.as_ref();
                let children = fields.iter().map(|f| data_file::column(f, entries, rows, partitions));
                let children = children.collect::<Result<Vec<_>>>()?;
                let array = StructArray::try_new_with_length(fields.clone(), children, None, rows.len())?;
                Arc::new(array)
            }
            READABLE_METRICS => {
                let schema = part.state.metadata().current_schema();
                readable_metrics::array(schema, field, columns, rows)?
            }
            _ => return no_such_column(field),
        })
    }
}
