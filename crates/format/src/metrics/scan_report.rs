//! What a scan's planning did (Java: `ScanMetrics`, `ScanReport`).

use std::collections::BTreeMap;
use std::ops::AddAssign;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::measure::{CounterResult, TimerResult};
use crate::spec::types::FieldId;

/// Counts kept while a scan is planned. Threads keep their own and add them up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ScanMetrics {
    /// Wall time of planning in nanoseconds.
    pub total_planning_duration_ns: u64,
    /// Files that must be read.
    pub result_data_files: u64,
    /// Delete files attached to them, counted once per data file.
    pub result_delete_files: u64,
    /// Data manifests of the snapshot.
    pub total_data_manifests: u64,
    /// Delete manifests of the snapshot.
    pub total_delete_manifests: u64,
    /// Data manifests that were read.
    pub scanned_data_manifests: u64,
    /// Data manifests that partition summaries or file counts ruled out.
    pub skipped_data_manifests: u64,
    /// Bytes of the result's data files.
    pub total_file_size_in_bytes: u64,
    /// Bytes of the result's delete files and blobs, counted once per data file.
    pub total_delete_file_size_in_bytes: u64,
    /// Live data files that their partition or metrics ruled out.
    pub skipped_data_files: u64,
    /// Live delete files that their partition or metrics ruled out.
    pub skipped_delete_files: u64,
    /// Delete manifests that were read.
    pub scanned_delete_manifests: u64,
    /// Delete manifests that were ruled out.
    pub skipped_delete_manifests: u64,
    /// Delete files and deletion vectors in the delete index.
    pub indexed_delete_files: u64,
    /// Equality delete files among them.
    pub equality_delete_files: u64,
    /// Position delete files among them, without deletion vectors.
    pub positional_delete_files: u64,
    /// Deletion vectors among them.
    pub dvs: u64,
}

impl AddAssign for ScanMetrics {
    fn add_assign(&mut self, other: Self) {
        self.total_planning_duration_ns += other.total_planning_duration_ns;
        self.result_data_files += other.result_data_files;
        self.result_delete_files += other.result_delete_files;
        self.total_data_manifests += other.total_data_manifests;
        self.total_delete_manifests += other.total_delete_manifests;
        self.scanned_data_manifests += other.scanned_data_manifests;
        self.skipped_data_manifests += other.skipped_data_manifests;
        self.total_file_size_in_bytes = self
            .total_file_size_in_bytes
            .saturating_add(other.total_file_size_in_bytes);
        self.total_delete_file_size_in_bytes = self
            .total_delete_file_size_in_bytes
            .saturating_add(other.total_delete_file_size_in_bytes);
        self.skipped_data_files += other.skipped_data_files;
        self.skipped_delete_files += other.skipped_delete_files;
        self.scanned_delete_manifests += other.scanned_delete_manifests;
        self.skipped_delete_manifests += other.skipped_delete_manifests;
        self.indexed_delete_files += other.indexed_delete_files;
        self.equality_delete_files += other.equality_delete_files;
        self.positional_delete_files += other.positional_delete_files;
        self.dvs += other.dvs;
    }
}

/// [`ScanMetrics`] as reported. A metric that the reporting engine did not measure is `None`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
#[allow(missing_docs)]
pub struct ScanMetricsResult {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_planning_duration: Option<TimerResult>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result_data_files: Option<CounterResult>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result_delete_files: Option<CounterResult>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_data_manifests: Option<CounterResult>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_delete_manifests: Option<CounterResult>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scanned_data_manifests: Option<CounterResult>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skipped_data_manifests: Option<CounterResult>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_file_size_in_bytes: Option<CounterResult>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_delete_file_size_in_bytes: Option<CounterResult>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skipped_data_files: Option<CounterResult>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skipped_delete_files: Option<CounterResult>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scanned_delete_manifests: Option<CounterResult>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skipped_delete_manifests: Option<CounterResult>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub indexed_delete_files: Option<CounterResult>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub equality_delete_files: Option<CounterResult>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub positional_delete_files: Option<CounterResult>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dvs: Option<CounterResult>,
}

impl From<&ScanMetrics> for ScanMetricsResult {
    fn from(m: &ScanMetrics) -> Self {
        let count = |value| Some(CounterResult::count(value));
        ScanMetricsResult {
            total_planning_duration: Some(TimerResult::nanoseconds(1, m.total_planning_duration_ns)),
            result_data_files: count(m.result_data_files),
            result_delete_files: count(m.result_delete_files),
            total_data_manifests: count(m.total_data_manifests),
            total_delete_manifests: count(m.total_delete_manifests),
            scanned_data_manifests: count(m.scanned_data_manifests),
            skipped_data_manifests: count(m.skipped_data_manifests),
            total_file_size_in_bytes: Some(CounterResult::bytes(m.total_file_size_in_bytes)),
            total_delete_file_size_in_bytes: Some(CounterResult::bytes(m.total_delete_file_size_in_bytes)),
            skipped_data_files: count(m.skipped_data_files),
            skipped_delete_files: count(m.skipped_delete_files),
            scanned_delete_manifests: count(m.scanned_delete_manifests),
            skipped_delete_manifests: count(m.skipped_delete_manifests),
            indexed_delete_files: count(m.indexed_delete_files),
            equality_delete_files: count(m.equality_delete_files),
            positional_delete_files: count(m.positional_delete_files),
            dvs: count(m.dvs),
        }
    }
}

/// The report of one planned scan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct ScanReport {
    /// Name of the table with its catalog.
    pub table_name: String,
    /// The snapshot that was read.
    pub snapshot_id: i64,
    /// The sanitised filter in Iceberg's expression JSON; `true` when there is none.
    pub filter: Json,
    /// The schema the scan was bound to.
    pub schema_id: i32,
    /// The projected columns at all depths.
    pub projected_field_ids: Vec<FieldId>,
    /// Their full names, in the same order.
    pub projected_field_names: Vec<String>,
    /// What planning did.
    pub metrics: ScanMetricsResult,
    /// Options and environment.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata: BTreeMap<String, String>,
}
