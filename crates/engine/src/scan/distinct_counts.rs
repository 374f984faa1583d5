//! Numbers of distinct values from statistics files, by which joins are ordered (spec, "Table Statistics"; Java:
//! `SparkScan.estimateStatistics`).

use std::collections::HashMap;

use arrow::datatypes::Schema as ArrowSchema;
use datafusion::common::Statistics;
use datafusion::common::stats::Precision;
use tarn_format::spec::table_metadata::{StatisticsFile, TableMetadata};
use tarn_format::spec::types::FieldId;

use crate::arrow::schema::field_id;

/// Blobs of sketches of a column's distinct values (Puffin spec, "Blob types").
const THETA_SKETCH: &str = "apache-datasketches-theta-v1";
/// Their property: the estimate that the sketch gives.
const NDV: &str = "ndv";

/// What is known of the columns of a snapshot: from its own statistics file, or that of the nearest snapshot before it.
pub(super) fn distinct_counts(metadata: &TableMetadata, snapshot_id: i64) -> HashMap<FieldId, usize> {
    if metadata.statistics.is_empty() {
        return HashMap::new();
    }
    let file_of = |id: i64| metadata.statistics.iter().find(|file| file.snapshot_id == id);
    let parent = |id: &i64| {
        let snapshot = metadata.snapshots.iter().find(|s| s.snapshot_id == *id);
        snapshot.and_then(|s| s.parent_snapshot_id)
    };
    // A history that goes in circles ends, too.
    let history = std::iter::successors(Some(snapshot_id), parent).take(metadata.snapshots.len().max(1));
    history.filter_map(file_of).map(counts).next().unwrap_or_default()
}

fn counts(file: &StatisticsFile) -> HashMap<FieldId, usize> {
    let sketches = file.blob_metadata.iter().filter(|blob| blob.blob_type == THETA_SKETCH);
    let count = |blob: &tarn_format::spec::table_metadata::BlobMetadata| match blob.fields.as_slice() {
        [id] => Some((*id, blob.properties.get(NDV)?.trim().parse().ok()?)),
        _ => None,
    };
    sketches.filter_map(count).collect()
}

/// Tells the planner. They are estimates, and no more than there are rows.
pub(super) fn tell(statistics: &mut Statistics, columns: &ArrowSchema, counts: &HashMap<FieldId, usize>) {
    let rows = statistics.num_rows.get_value().copied().unwrap_or(usize::MAX);
    for (field, column) in columns.fields().iter().zip(&mut statistics.column_statistics) {
        if let Some(count) = field_id(field).and_then(|id| counts.get(&id)) {
            column.distinct_count = Precision::Inexact(rows.min(*count));
        }
    }
}

#[cfg(test)]
mod tests;
