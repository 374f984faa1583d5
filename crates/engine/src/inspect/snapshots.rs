//! `snapshots`: every snapshot that is kept (Java `SnapshotsTable`).

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, MapArray, StringArray, StructArray};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::datatypes::{DataType, Field};
use datafusion::error::Result;
use tarn_format::spec::snapshot::SnapshotManifests;
use tarn_format::spec::table_metadata::TableMetadata;
use tarn_format::spec::types::{MapType, NestedField, PrimitiveType};

use super::exec::RowSource;
use super::state::TableState;
use super::static_rows::{StaticRows, no_such_column, text, times};

pub(super) fn fields() -> Vec<NestedField> {
    let summary = MapType {
        key: Arc::new(NestedField::required(7, "key", PrimitiveType::String)),
        value: Arc::new(NestedField::required(8, "value", PrimitiveType::String)),
    };
    vec![
        NestedField::required(1, "committed_at", PrimitiveType::Timestamptz),
        NestedField::required(2, "snapshot_id", PrimitiveType::Long),
        NestedField::optional(3, "parent_id", PrimitiveType::Long),
        NestedField::optional(4, "operation", PrimitiveType::String),
        NestedField::optional(5, "manifest_list", PrimitiveType::String),
        NestedField::optional(6, "summary", summary),
    ]
}

/// The parents of all snapshots.
pub(super) fn parents(metadata: &TableMetadata) -> HashMap<i64, Option<i64>> {
    let snapshots = metadata.snapshots.iter();
    snapshots.map(|s| (s.snapshot_id, s.parent_snapshot_id)).collect()
}

pub(super) fn source(state: &Arc<TableState>) -> Arc<dyn RowSource> {
    Arc::new(StaticRows {
        len: state.metadata().snapshots.len(),
        state: Arc::clone(state),
        column,
    })
}

fn column(state: &TableState, field: &Field) -> Result<ArrayRef> {
    let snapshots = state.metadata().snapshots.iter();
    Ok(match field.name().as_str() {
        "committed_at" => times(snapshots.map(|s| Some(s.timestamp_ms))),
        "snapshot_id" => Arc::new(Int64Array::from_iter_values(snapshots.map(|s| s.snapshot_id))),
        "parent_id" => Arc::new(Int64Array::from_iter(snapshots.map(|s| s.parent_snapshot_id))),
        "operation" => {
            let names: Vec<_> = snapshots.map(|s| s.operation.map(|o| o.to_string())).collect();
            text(field.data_type(), names.iter().map(Option::as_deref))
        }
        "manifest_list" => text(
            field.data_type(),
            snapshots.map(|s| match &s.manifests {
                SnapshotManifests::List(location) => Some(location.as_str()),
                SnapshotManifests::Embedded(_) => None,
            }),
        ),
        "summary" => return summaries(state.metadata(), field),
        _ => return no_such_column(field),
    })
}

/// Null where an old writer gave neither operation nor summary.
fn summaries(metadata: &TableMetadata, field: &Field) -> Result<ArrayRef> {
    let DataType::Map(entries, sorted) = field.data_type() else {
        return no_such_column(field);
    };
    let DataType::Struct(key_value) = entries.data_type() else {
        return no_such_column(field);
    };
    let snapshots = &metadata.snapshots;
    let pairs = snapshots.iter().flat_map(|s| s.summary.iter());
    let (keys, values): (Vec<&str>, Vec<&str>) = pairs.map(|(k, v)| (k.as_str(), v.as_str())).unzip();
    let columns: Vec<ArrayRef> = vec![
        Arc::new(StringArray::from_iter_values(keys)),
        Arc::new(StringArray::from_iter_values(values)),
    ];
    let known = snapshots.iter().map(|s| s.operation.is_some() || !s.summary.is_empty());
    Ok(Arc::new(MapArray::try_new(
        Arc::clone(entries),
        OffsetBuffer::from_lengths(snapshots.iter().map(|s| s.summary.len())),
        StructArray::try_new(key_value.clone(), columns, None)?,
        Some(NullBuffer::from_iter(known)),
        *sorted,
    )?))
}
