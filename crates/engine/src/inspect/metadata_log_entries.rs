//! `metadata_log_entries`: the metadata files that are still known, and the snapshot each had as its current one
//! (Java `MetadataLogEntriesTable`).

use std::sync::Arc;

use arrow::array::{ArrayRef, Int32Array, Int64Array};
use arrow::datatypes::Field;
use datafusion::error::Result;
use tarn_format::scan::snapshots::snapshot_id_as_of;
use tarn_format::spec::snapshot::Snapshot;
use tarn_format::spec::types::{NestedField, PrimitiveType};

use super::exec::RowSource;
use super::state::TableState;
use super::static_rows::{StaticRows, no_such_column, text, times};

pub(super) fn fields() -> Vec<NestedField> {
    vec![
        NestedField::required(1, "timestamp", PrimitiveType::Timestamptz),
        NestedField::required(2, "file", PrimitiveType::String),
        NestedField::optional(3, "latest_snapshot_id", PrimitiveType::Long),
        NestedField::optional(4, "latest_schema_id", PrimitiveType::Int),
        NestedField::optional(5, "latest_sequence_number", PrimitiveType::Long),
    ]
}

pub(super) fn source(state: &Arc<TableState>) -> Arc<dyn RowSource> {
    Arc::new(StaticRows {
        len: files(state).count(),
        state: Arc::clone(state),
        column,
    })
}

/// Time and location of the files in the log, and of the current one.
fn files(state: &TableState) -> impl Iterator<Item = (i64, &str)> {
    let log = state.metadata().metadata_log.iter();
    let current = state.table.metadata_location.as_deref();
    log.map(|e| (e.timestamp_ms, e.metadata_file.as_str()))
        .chain(current.map(|file| (state.metadata().last_updated_ms, file)))
}

/// The snapshot that was current when each file was written; none for those older than the snapshot log.
fn latest_ids(state: &TableState) -> impl Iterator<Item = Option<i64>> {
    files(state).map(|(ms, _)| snapshot_id_as_of(state.metadata(), ms).ok())
}

/// Those snapshots, where they are still kept.
fn latest(state: &TableState) -> impl Iterator<Item = Option<&Arc<Snapshot>>> {
    latest_ids(state).map(|id| state.metadata().snapshot_by_id(id?))
}

fn column(state: &TableState, field: &Field) -> Result<ArrayRef> {
    Ok(match field.name().as_str() {
        "timestamp" => times(files(state).map(|(ms, _)| Some(ms))),
        "file" => text(field.data_type(), files(state).map(|(_, file)| Some(file))),
        "latest_snapshot_id" => Arc::new(Int64Array::from_iter(latest_ids(state))),
        "latest_schema_id" => Arc::new(Int32Array::from_iter(latest(state).map(|s| s?.schema_id))),
        "latest_sequence_number" => Arc::new(Int64Array::from_iter(
            latest(state).map(|s| s.map(|s| s.sequence_number)),
        )),
        _ => return no_such_column(field),
    })
}
