//! Expected JSON follows the REST specification's `ReportMetricsRequest` and Java's parsers.

use std::collections::BTreeMap;

use serde_json::json;

use super::*;
use crate::error::ErrorKind;
use crate::metrics::{CommitMetrics, CommitMetricsResult, ScanMetrics, ScanMetricsResult};

fn scan_report(metrics: ScanMetricsResult) -> ScanReport {
    ScanReport {
        table_name: "lake.db.t".into(),
        snapshot_id: 23,
        filter: json!(true),
        schema_id: 4,
        projected_field_ids: vec![1, 2],
        projected_field_names: vec!["a".into(), "a.b".into()],
        metrics,
        metadata: BTreeMap::new(),
    }
}

#[test]
fn scan_report_without_metrics() {
    let report = MetricsReport::Scan(scan_report(ScanMetricsResult::default()));
    let bytes = report.to_json().unwrap();
    let expected = concat!(
        r#"{"report-type":"scan-report","table-name":"lake.db.t","snapshot-id":23,"filter":true,"schema-id":4,"#,
        r#""projected-field-ids":[1,2],"projected-field-names":["a","a.b"],"metrics":{}}"#
    );
    assert_eq!(String::from_utf8(bytes.clone()).unwrap(), expected);
    assert_eq!(MetricsReport::from_json(&bytes).unwrap(), report);
}

#[test]
fn scan_metrics_have_java_names_units_and_order() {
    let metrics = ScanMetrics {
        total_planning_duration_ns: 5_000,
        result_data_files: 1,
        result_delete_files: 2,
        total_data_manifests: 3,
        total_delete_manifests: 4,
        scanned_data_manifests: 5,
        skipped_data_manifests: 6,
        total_file_size_in_bytes: 7,
        total_delete_file_size_in_bytes: 8,
        skipped_data_files: 9,
        skipped_delete_files: 10,
        scanned_delete_manifests: 11,
        skipped_delete_manifests: 12,
        indexed_delete_files: 13,
        equality_delete_files: 14,
        positional_delete_files: 15,
        dvs: 16,
    };
    let names = [
        ("result-data-files", "count"),
        ("result-delete-files", "count"),
        ("total-data-manifests", "count"),
        ("total-delete-manifests", "count"),
        ("scanned-data-manifests", "count"),
        ("skipped-data-manifests", "count"),
        ("total-file-size-in-bytes", "bytes"),
        ("total-delete-file-size-in-bytes", "bytes"),
        ("skipped-data-files", "count"),
        ("skipped-delete-files", "count"),
        ("scanned-delete-manifests", "count"),
        ("skipped-delete-manifests", "count"),
        ("indexed-delete-files", "count"),
        ("equality-delete-files", "count"),
        ("positional-delete-files", "count"),
        ("dvs", "count"),
    ];
    let mut expected =
        String::from(r#"{"total-planning-duration":{"count":1,"time-unit":"nanoseconds","total-duration":5000}"#);
    for (i, (name, unit)) in names.iter().enumerate() {
        expected += &format!(r#","{name}":{{"unit":"{unit}","value":{}}}"#, i + 1);
    }
    expected.push('}');
    let result = ScanMetricsResult::from(&metrics);
    assert_eq!(serde_json::to_string(&result).unwrap(), expected);
    assert_eq!(serde_json::from_str::<ScanMetricsResult>(&expected).unwrap(), result);
}

#[test]
fn counts_of_threads_add_up() {
    let one = ScanMetrics {
        result_data_files: 1,
        total_file_size_in_bytes: u64::MAX,
        dvs: 2,
        ..ScanMetrics::default()
    };
    let mut sum = one;
    sum += one;
    assert_eq!((sum.result_data_files, sum.dvs), (2, 4));
    assert_eq!(sum.total_file_size_in_bytes, u64::MAX);
}

#[test]
fn commit_report_reads_the_summary() {
    let summary = [
        ("added-data-files", "2"),
        ("deleted-data-files", "3"),
        ("added-files-size", "100"),
        ("added-position-delete-files", "4"),
        ("entries-processed", "5"),
        ("total-records", "many"),
    ];
    let summary = summary.map(|(k, v)| (k.to_string(), v.to_string())).into();
    let metrics = CommitMetrics {
        total_duration_ns: 7,
        attempts: 1,
    };
    let report = MetricsReport::Commit(CommitReport {
        table_name: "t".into(),
        snapshot_id: 1,
        sequence_number: 2,
        operation: "append".into(),
        metrics: CommitMetricsResult::from_summary(&metrics, &summary),
        metadata: [("engine-name".to_string(), "tarn".to_string())].into(),
    });
    let expected = json!({
        "report-type": "commit-report",
        "table-name": "t",
        "snapshot-id": 1,
        "sequence-number": 2,
        "operation": "append",
        "metrics": {
            "total-duration": {"count": 1, "time-unit": "nanoseconds", "total-duration": 7},
            "attempts": {"unit": "count", "value": 1},
            "added-data-files": {"unit": "count", "value": 2},
            "removed-data-files": {"unit": "count", "value": 3},
            "added-files-size-bytes": {"unit": "bytes", "value": 100},
            "added-positional-delete-files": {"unit": "count", "value": 4},
            "manifest-entries-processed": {"unit": "count", "value": 5},
        },
        "metadata": {"engine-name": "tarn"},
    });
    let bytes = report.to_json().unwrap();
    assert_eq!(serde_json::from_slice::<Json>(&bytes).unwrap(), expected);
    assert_eq!(MetricsReport::from_json(&bytes).unwrap(), report);
}

#[test]
fn other_engines_units_are_read_and_unknown_metrics_ignored() {
    let json = r#"{"report-type":"scan-report","table-name":"t","snapshot-id":1,"filter":false,"schema-id":0,
        "projected-field-ids":[],"projected-field-names":[],
        "metrics":{"total-planning-duration":{"count":2,"time-unit":"HOURS","total-duration":3},"extra":"x"}}"#;
    let MetricsReport::Scan(report) = MetricsReport::from_json(json.as_bytes()).unwrap() else {
        panic!("not a scan report");
    };
    let timer = report.metrics.total_planning_duration.unwrap();
    assert_eq!((timer.count, timer.total_ns()), (2, 3 * 3_600_000_000_000));
}

#[test]
fn unknown_kinds_are_kept_apart_from_broken_ones() {
    assert_eq!(
        MetricsReport::from_json(br#"{"report-type":"new-report"}"#).unwrap(),
        MetricsReport::Unknown
    );
    for broken in [
        "{}",
        "[]",
        "{",
        r#"{"report-type":3}"#,
        r#"{"report-type":"scan-report","table-name":"x"}"#,
        r#"{"report-type":"scan-report","table-name":"t","snapshot-id":1,"filter":true,"schema-id":0,
            "projected-field-ids":[],"projected-field-names":[],"metrics":{"dvs":{"value":1}}}"#,
    ] {
        let error = MetricsReport::from_json(broken.as_bytes()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{broken}");
    }
}
