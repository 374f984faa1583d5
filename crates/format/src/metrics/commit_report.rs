//! What a commit did (Java: `CommitMetrics`, `CommitMetricsResult`, `CommitReport`).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::measure::{CounterResult, TimerResult, Unit};
use crate::spec::snapshot::Properties;

/// Counts kept while a commit runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CommitMetrics {
    /// Wall time over all attempts in nanoseconds.
    pub total_duration_ns: u64,
    /// Attempts, the successful one included.
    pub attempts: u64,
}

/// [`CommitMetrics`] and the snapshot summary as reported. What the summary does not hold is `None`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
#[allow(missing_docs)]
pub struct CommitMetricsResult {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_duration: Option<TimerResult>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempts: Option<CounterResult>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub added_data_files: Option<CounterResult>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub removed_data_files: Option<CounterResult>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_data_files: Option<CounterResult>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub added_delete_files: Option<CounterResult>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub added_equality_delete_files: Option<CounterResult>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub added_positional_delete_files: Option<CounterResult>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub added_dvs: Option<CounterResult>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub removed_delete_files: Option<CounterResult>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub removed_positional_delete_files: Option<CounterResult>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub removed_dvs: Option<CounterResult>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub removed_equality_delete_files: Option<CounterResult>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_delete_files: Option<CounterResult>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub added_records: Option<CounterResult>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub removed_records: Option<CounterResult>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_records: Option<CounterResult>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub added_files_size_bytes: Option<CounterResult>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub removed_files_size_bytes: Option<CounterResult>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_files_size_bytes: Option<CounterResult>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub added_positional_deletes: Option<CounterResult>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub removed_positional_deletes: Option<CounterResult>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_positional_deletes: Option<CounterResult>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub added_equality_deletes: Option<CounterResult>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub removed_equality_deletes: Option<CounterResult>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_equality_deletes: Option<CounterResult>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub manifests_created: Option<CounterResult>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub manifests_replaced: Option<CounterResult>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub manifests_kept: Option<CounterResult>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub manifest_entries_processed: Option<CounterResult>,
}

impl CommitMetricsResult {
    /// The metrics of a commit whose snapshot has this summary. Values in it that are no numbers are left out.
    pub fn from_summary(metrics: &CommitMetrics, summary: &Properties) -> Self {
        let read = |unit: Unit, key: &str| {
            let value = summary.get(key)?.parse().ok()?;
            Some(CounterResult { unit, value })
        };
        let count = |key: &str| read(Unit::Count, key);
        let bytes = |key: &str| read(Unit::Bytes, key);
        CommitMetricsResult {
            total_duration: Some(TimerResult::nanoseconds(1, metrics.total_duration_ns)),
            attempts: Some(CounterResult::count(metrics.attempts)),
            added_data_files: count("added-data-files"),
            removed_data_files: count("deleted-data-files"),
            total_data_files: count("total-data-files"),
            added_delete_files: count("added-delete-files"),
            added_equality_delete_files: count("added-equality-delete-files"),
            added_positional_delete_files: count("added-position-delete-files"),
            added_dvs: count("added-dvs"),
            removed_delete_files: count("removed-delete-files"),
            removed_positional_delete_files: count("removed-position-delete-files"),
            removed_dvs: count("removed-dvs"),
            removed_equality_delete_files: count("removed-equality-delete-files"),
            total_delete_files: count("total-delete-files"),
            added_records: count("added-records"),
            removed_records: count("deleted-records"),
            total_records: count("total-records"),
            added_files_size_bytes: bytes("added-files-size"),
            removed_files_size_bytes: bytes("removed-files-size"),
            total_files_size_bytes: bytes("total-files-size"),
            added_positional_deletes: count("added-position-deletes"),
            removed_positional_deletes: count("removed-position-deletes"),
            total_positional_deletes: count("total-position-deletes"),
            added_equality_deletes: count("added-equality-deletes"),
            removed_equality_deletes: count("removed-equality-deletes"),
            total_equality_deletes: count("total-equality-deletes"),
            manifests_created: count("manifests-created"),
            manifests_replaced: count("manifests-replaced"),
            manifests_kept: count("manifests-kept"),
            manifest_entries_processed: count("entries-processed"),
        }
    }
}

/// The report of one commit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct CommitReport {
    /// Name of the table with its catalog.
    pub table_name: String,
    /// The snapshot that was made.
    pub snapshot_id: i64,
    /// Its sequence number.
    pub sequence_number: i64,
    /// Its operation.
    pub operation: String,
    /// What the commit did.
    pub metrics: CommitMetricsResult,
    /// Environment.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata: BTreeMap<String, String>,
}
