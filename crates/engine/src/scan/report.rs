//! What planning a scan did, told to EXPLAIN ANALYZE and to the reporter of metrics (Java: `SnapshotScan.planFiles`).

use std::borrow::Cow;
use std::collections::BTreeMap;

use datafusion::physical_plan::metrics::{ExecutionPlanMetricsSet, MetricBuilder, MetricValue, Time};
use tarn_format::metrics::{MetricsReport, ScanMetrics};
use tarn_format::scan::ScanPlan;
use tarn_format::spec::types::{FieldId, Type};

use super::plan::ScanRequest;
use crate::arrow::schema::field_id;
use crate::provider::IcebergTable;

/// Shows the reference's metrics with those of reading.
pub(super) fn show(metrics: &ExecutionPlanMetricsSet, planned: &ScanMetrics) {
    let planning = Time::new();
    planning.add_duration(std::time::Duration::from_nanos(planned.total_planning_duration_ns));
    MetricBuilder::new(metrics).build(MetricValue::Time {
        name: Cow::Borrowed("total_planning_duration"),
        time: planning,
    });
    let counts = [
        ("result_data_files", planned.result_data_files),
        ("skipped_data_files", planned.skipped_data_files),
        ("result_delete_files", planned.result_delete_files),
        ("skipped_delete_files", planned.skipped_delete_files),
        ("total_data_manifests", planned.total_data_manifests),
        ("scanned_data_manifests", planned.scanned_data_manifests),
        ("skipped_data_manifests", planned.skipped_data_manifests),
        ("total_delete_manifests", planned.total_delete_manifests),
        ("scanned_delete_manifests", planned.scanned_delete_manifests),
        ("skipped_delete_manifests", planned.skipped_delete_manifests),
        ("total_file_size_in_bytes", planned.total_file_size_in_bytes),
        (
            "total_delete_file_size_in_bytes",
            planned.total_delete_file_size_in_bytes,
        ),
        ("indexed_delete_files", planned.indexed_delete_files),
        ("equality_delete_files", planned.equality_delete_files),
        ("positional_delete_files", planned.positional_delete_files),
        ("dvs", planned.dvs),
    ];
    for (name, count) in counts {
        let counter = MetricBuilder::new(metrics).global_counter(name);
        counter.add(usize::try_from(count).unwrap_or(usize::MAX));
    }
}

/// Reports the plan. The scan of an empty table is not reported.
pub(super) fn send(table: &IcebergTable, plan: &ScanPlan, request: &ScanRequest<'_>) {
    if !table.reporter().is_listening() {
        return;
    }
    let environment = [("engine-name", "tarn"), ("engine-version", env!("CARGO_PKG_VERSION"))];
    let environment: BTreeMap<String, String> = environment.map(|(k, v)| (k.to_string(), v.to_string())).into();
    if let Ok(report) = plan.report(&table.full_name(), &projected_ids(table, request), environment) {
        table.reporter().report(&MetricsReport::Scan(report));
    }
}

/// Ids of the columns that are read, down to those that hold no others (Java: `TypeUtil.getProjectedIds`).
fn projected_ids(table: &IcebergTable, request: &ScanRequest<'_>) -> Vec<FieldId> {
    let fields = table.arrow_schema().fields();
    let columns: Vec<_> = match request.projection {
        None => fields.iter().collect(),
        Some(projection) => projection.iter().filter_map(|i| fields.get(*i)).collect(),
    };
    let mut ids = Vec::new();
    for column in columns {
        let id = field_id(column);
        if let Some(field) = id.and_then(|id| table.iceberg_schema().field_by_id(id)) {
            leaves(field.id, &field.field_type, &mut ids);
        }
    }
    ids
}

fn leaves(id: FieldId, ty: &Type, ids: &mut Vec<FieldId>) {
    match ty {
        Type::Struct(fields) => {
            for field in &fields.fields {
                leaves(field.id, &field.field_type, ids);
            }
        }
        Type::List(list) => leaves(list.element.id, &list.element.field_type, ids),
        Type::Map(map) => {
            leaves(map.key.id, &map.key.field_type, ids);
            leaves(map.value.id, &map.value.field_type, ids);
        }
        _ => ids.push(id),
    }
}
