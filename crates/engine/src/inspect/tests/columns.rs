//! Columns and their types, as the Java classes declare them.

use std::fmt::Write;

use tarn_format::scan::snapshots::SnapshotSelector;
use tarn_format::spec::partition::PartitionSpec;
use tarn_format::spec::table_metadata::FormatVersion;
use tarn_format::spec::types::NestedField;

use super::{MetadataTableKind as K, Site, columns};

fn shown(fields: &[std::sync::Arc<NestedField>]) -> Vec<String> {
    let one = |f: &std::sync::Arc<NestedField>| {
        let mut text = format!("{} {}", f.name, f.field_type);
        if f.required {
            write!(text, " required").unwrap();
        }
        text
    };
    fields.iter().map(one).collect()
}

async fn columns_of(site: &Site, kind: K) -> Vec<String> {
    let table = site.metadata_table(kind, &SnapshotSelector::Current).await.unwrap();
    shown(table.fields())
}

/// Java: `HistoryTable`, `SnapshotsTable`, `RefsTable`, `MetadataLogEntriesTable`.
#[tokio::test]
async fn tables_of_metadata_have_javas_columns() {
    let site = Site::by_p(FormatVersion::V2).await;
    let history = [
        "made_current_at timestamptz required",
        "snapshot_id long required",
        "parent_id long",
        "is_current_ancestor boolean required",
    ];
    assert_eq!(columns_of(&site, K::History).await, history);
    let snapshots = [
        "committed_at timestamptz required",
        "snapshot_id long required",
        "parent_id long",
        "operation string",
        "manifest_list string",
        "summary map<string, string>",
    ];
    assert_eq!(columns_of(&site, K::Snapshots).await, snapshots);
    let refs = [
        "name string required",
        "type string required",
        "snapshot_id long required",
        "max_reference_age_in_ms long",
        "min_snapshots_to_keep int",
        "max_snapshot_age_in_ms long",
    ];
    assert_eq!(columns_of(&site, K::Refs).await, refs);
    let log = [
        "timestamp timestamptz required",
        "file string required",
        "latest_snapshot_id long",
        "latest_schema_id int",
        "latest_sequence_number long",
    ];
    assert_eq!(columns_of(&site, K::MetadataLogEntries).await, log);
}

/// Java: `DataFile.getType`, `MetricsUtil.readableMetricsSchema`.
#[tokio::test]
async fn files_have_javas_columns() {
    let site = Site::by_p(FormatVersion::V2).await;
    let fields = columns_of(&site, K::Files).await;
    assert_eq!(
        fields[..21],
        [
            "content int",
            "file_path string required",
            "file_format string required",
            "spec_id int",
            "partition struct<1000: p: optional string> required",
            "record_count long required",
            "file_size_in_bytes long required",
            "column_sizes map<int, long>",
            "value_counts map<int, long>",
            "null_value_counts map<int, long>",
            "nan_value_counts map<int, long>",
            "lower_bounds map<int, binary>",
            "upper_bounds map<int, binary>",
            "key_metadata binary",
            "split_offsets list<long>",
            "equality_ids list<int>",
            "sort_order_id int",
            "first_row_id long",
            "referenced_data_file string",
            "content_offset long",
            "content_size_in_bytes long",
        ]
    );
    assert!(fields[21].starts_with("readable_metrics struct<"), "{}", fields[21]);
    assert_eq!(fields.len(), 22);
    for kind in [
        K::DataFiles,
        K::DeleteFiles,
        K::AllFiles,
        K::AllDataFiles,
        K::AllDeleteFiles,
    ] {
        assert_eq!(columns_of(&site, kind).await, fields, "{kind}");
    }
    let entries = columns_of(&site, K::Entries).await;
    let names: Vec<&str> = entries.iter().map(|f| f.split(' ').next().unwrap()).collect();
    let expected = [
        "status",
        "snapshot_id",
        "sequence_number",
        "file_sequence_number",
        "data_file",
        "readable_metrics",
    ];
    assert_eq!(names, expected);
    assert_eq!(columns_of(&site, K::AllEntries).await, entries);
}

/// Java: `PartitionsTable`.
#[tokio::test]
async fn partitions_have_javas_columns() {
    let counted = [
        "record_count long required",
        "file_count int required",
        "total_data_file_size_in_bytes long required",
        "position_delete_record_count long required",
        "position_delete_file_count int required",
        "equality_delete_record_count long required",
        "equality_delete_file_count int required",
        "last_updated_at timestamptz",
        "last_updated_snapshot_id long",
    ];
    let site = Site::by_p(FormatVersion::V2).await;
    let fields = columns_of(&site, K::Partitions).await;
    assert_eq!(
        fields[..2],
        [
            "partition struct<1000: p: optional string> required",
            "spec_id int required"
        ]
    );
    assert_eq!(fields[2..], counted);
    // An unpartitioned table has neither, because there are no empty structs.
    let site = Site::new(FormatVersion::V2, columns(), PartitionSpec::unpartitioned()).await;
    assert_eq!(columns_of(&site, K::Partitions).await, counted);
    let files = columns_of(&site, K::Files).await;
    assert!(files.iter().all(|f| !f.starts_with("partition")), "{files:?}");
}

/// Java: `PositionDeletesTable`.
#[tokio::test]
async fn position_deletes_have_javas_columns() {
    let names = async |version| {
        let site = Site::by_p(version).await;
        let fields = columns_of(&site, K::PositionDeletes).await;
        let names = fields.iter().map(|f| f.split(' ').next().unwrap().to_string());
        names.collect::<Vec<String>>()
    };
    let v2 = ["file_path", "pos", "row", "partition", "spec_id", "delete_file_path"];
    assert_eq!(names(FormatVersion::V2).await, v2);
    let v3 = names(FormatVersion::V3).await;
    assert_eq!(v3[..6], v2);
    assert_eq!(v3[6..], ["content_offset", "content_size_in_bytes"]);
}

#[test]
fn names_are_found_in_any_case() {
    for kind in K::ALL {
        assert_eq!(K::from_name(&kind.name().to_uppercase()), Some(kind));
    }
    assert_eq!(K::from_name("file"), None);
}

/// Java: `BaseMetadataTable.TIME_TRAVEL_TABLE_TYPES`.
#[tokio::test]
async fn only_tables_of_one_snapshot_have_versions() {
    let site = Site::by_p(FormatVersion::V2).await;
    let id = site
        .append([super::data_file("s3://bucket/a.parquet", Some("a"), 1)])
        .await;
    for kind in K::ALL {
        let opened = site.metadata_table(kind, &SnapshotSelector::Id(id)).await;
        let allowed = matches!(
            kind,
            K::Entries | K::Files | K::DataFiles | K::DeleteFiles | K::Manifests | K::Partitions | K::PositionDeletes
        );
        assert_eq!(opened.is_ok(), allowed, "{kind}");
        if let Err(e) = opened {
            assert_eq!(e.kind(), tarn_format::ErrorKind::InvalidInput);
        }
    }
    let unknown = site.metadata_table(K::Files, &SnapshotSelector::Id(1)).await;
    assert_eq!(unknown.unwrap_err().kind(), tarn_format::ErrorKind::NotFound);
}
