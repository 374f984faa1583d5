//! SHOW SNAPSHOTS and DESCRIBE HISTORY: the metadata tables `snapshots` and `history` in the form that people read.

#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::sync::Arc;

use datafusion::arrow::array::{
    ArrayRef, BooleanArray, Int64Array, RecordBatch, StringArray, TimestampMicrosecondArray,
};
use tarn_format::Result;
use tarn_format::spec::snapshot::Snapshot;
use tarn_format::spec::table_metadata::TableMetadata;

use super::show::plain_table;
use crate::ast::Name;
use crate::error::from_engine;
use crate::output::Output;
use crate::session::Session;

/// Runs SHOW SNAPSHOTS: the snapshots that are kept, oldest first, with the branches and tags that name them.
///
/// # Errors
/// `NotFound` when there is no such table.
pub(super) async fn show_snapshots(session: &Session, table: &Name) -> Result<Output> {
    let found = plain_table(session, table).await?;
    let metadata = &found.table.metadata;
    let snapshots: Vec<Option<&Snapshot>> = metadata.snapshots.iter().map(|s| Some(s.as_ref())).collect();
    let known = || metadata.snapshots.iter();
    let refs = known().map(|s| refs_of(metadata, s.snapshot_id));
    let columns: [(&str, ArrayRef); 8] = [
        ("committed_at", times(known().map(|s| s.timestamp_ms))),
        ("snapshot_id", ids(known().map(|s| s.snapshot_id))),
        ("parent_id", parents(&snapshots)),
        ("operation", operations(&snapshots)),
        ("refs", Arc::new(refs.collect::<StringArray>())),
        ("added_records", counts(&snapshots, "added-records")),
        ("deleted_records", counts(&snapshots, "deleted-records")),
        ("total_records", counts(&snapshots, "total-records")),
    ];
    rows(columns)
}

/// Runs DESCRIBE HISTORY: what has been the table's current state, newest first. What is known of a snapshot only while
/// it is kept is NULL once it has expired.
///
/// # Errors
/// `NotFound` when there is no such table.
pub(super) async fn describe_history(session: &Session, table: &Name) -> Result<Output> {
    let found = plain_table(session, table).await?;
    let metadata = &found.table.metadata;
    let current = metadata.current_snapshot_id;
    let ancestors = current.map(|id| metadata.ancestors_of(id)).unwrap_or_default();
    let ancestors: HashSet<i64> = ancestors.iter().map(|s| s.snapshot_id).collect();
    let log = || metadata.snapshot_log.iter().rev();
    let snapshots: Vec<Option<&Snapshot>> = log()
        .map(|entry| metadata.snapshot_by_id(entry.snapshot_id).map(AsRef::as_ref))
        .collect();
    let is_ancestor = log().map(|e| Some(ancestors.contains(&e.snapshot_id)));
    let columns: [(&str, ArrayRef); 8] = [
        ("made_current_at", times(log().map(|e| e.timestamp_ms))),
        ("snapshot_id", ids(log().map(|e| e.snapshot_id))),
        ("parent_id", parents(&snapshots)),
        ("is_current_ancestor", Arc::new(is_ancestor.collect::<BooleanArray>())),
        ("operation", operations(&snapshots)),
        ("added_records", counts(&snapshots, "added-records")),
        ("deleted_records", counts(&snapshots, "deleted-records")),
        ("total_records", counts(&snapshots, "total-records")),
    ];
    rows(columns)
}

fn rows<const N: usize>(columns: [(&str, ArrayRef); N]) -> Result<Output> {
    let batch = RecordBatch::try_from_iter_with_nullable(columns.map(|(name, values)| (name, values, true)));
    batch.map(Output::batch).map_err(|e| from_engine(e.into()))
}

fn times(values_ms: impl Iterator<Item = i64>) -> ArrayRef {
    let micros = values_ms.map(|ms| ms.checked_mul(1000));
    let micros: TimestampMicrosecondArray = micros.collect();
    Arc::new(micros.with_timezone("UTC"))
}

fn ids(values: impl Iterator<Item = i64>) -> ArrayRef {
    Arc::new(Int64Array::from_iter_values(values))
}

fn parents(snapshots: &[Option<&Snapshot>]) -> ArrayRef {
    let parents = snapshots.iter().map(|s| s.and_then(|s| s.parent_snapshot_id));
    Arc::new(parents.collect::<Int64Array>())
}

fn operations(snapshots: &[Option<&Snapshot>]) -> ArrayRef {
    let names = snapshots.iter().map(|s| s.and_then(|s| Some(s.operation?.to_string())));
    Arc::new(names.collect::<StringArray>())
}

/// A number of the summaries, as their writers tell it.
fn counts(snapshots: &[Option<&Snapshot>], key: &str) -> ArrayRef {
    let counts = snapshots
        .iter()
        .map(|s| s.and_then(|s| s.summary.get(key)?.parse().ok()));
    Arc::new(counts.collect::<Int64Array>())
}

fn refs_of(metadata: &TableMetadata, snapshot_id: i64) -> Option<String> {
    let refs = metadata.refs.iter().filter(|(_, r)| r.snapshot_id == snapshot_id);
    let names: Vec<&str> = refs.map(|(name, _)| name.as_str()).collect();
    (!names.is_empty()).then(|| names.join(", "))
}
