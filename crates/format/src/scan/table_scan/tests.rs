//! Scans of small tables, from written manifests to tasks.

use std::sync::Arc;

use super::*;
use crate::deletes::DeleteKind;
use crate::error::ErrorKind;
use crate::expr::BoundPredicate;
use crate::manifest::data_file::{DataContent, DataFile, FileFormat, ManifestStatus};
use crate::scan::testing::{MemoryTable, data, in_part, with_ids};
use crate::spec::snapshot::Operation;

const UNPARTITIONED: i32 = 0;
const BY_PART: i32 = 1;

fn equality(path: &str, lower: i32, upper: i32) -> DataFile {
    let mut file = with_ids(data(path), lower, upper);
    file.content = DataContent::EqualityDeletes;
    file.equality_ids = vec![1];
    file
}

fn position(path: &str) -> DataFile {
    DataFile {
        content: DataContent::PositionDeletes,
        ..data(path)
    }
}

fn vector(path: &str, target: &str, cardinality: i64) -> DataFile {
    DataFile {
        content: DataContent::PositionDeletes,
        file_format: FileFormat::Puffin,
        referenced_data_file: Some(Arc::from(target)),
        content_offset: Some(4),
        content_size_in_bytes: Some(30),
        record_count: cardinality,
        ..data(path)
    }
}

/// Snapshot 1: `a0`, `a1`, `a2` with ids 0-9, 10-19, 20-29, unpartitioned. Snapshot 2: `p0`, `p1`, `p1b` in
/// partitions 0, 1 and 1 with ids 0-9, 10-19 and 100-109.
async fn two_specs() -> MemoryTable {
    let mut table = MemoryTable::new();
    let files = (0..3).map(|i| with_ids(data(&format!("a{i}")), i * 10, i * 10 + 9));
    table.added(ManifestContent::Data, UNPARTITIONED, files.collect()).await;
    table.commit(Operation::Append).await;
    let files = vec![
        in_part(with_ids(data("p0"), 0, 9), 0),
        in_part(with_ids(data("p1"), 10, 19), 1),
        in_part(with_ids(data("p1b"), 100, 109), 1),
    ];
    table.added(ManifestContent::Data, BY_PART, files).await;
    table.commit(Operation::Append).await;
    table
}

fn sorted_paths(plan: &ScanPlan) -> Vec<&str> {
    let mut paths: Vec<&str> = plan.tasks.iter().map(FileScanTask::path).collect();
    paths.sort_unstable();
    paths
}

async fn plan(table: &MemoryTable, filter: Predicate) -> ScanPlan {
    TableScan::new(table.setup().filter(filter)).plan().await.unwrap()
}

async fn failure(table: &MemoryTable) -> Error {
    TableScan::new(table.setup()).plan().await.unwrap_err()
}

#[tokio::test]
async fn an_empty_table_has_no_files() {
    let table = MemoryTable::new();
    let plan = plan(&table, Predicate::AlwaysTrue).await;
    assert!(plan.snapshot.is_none() && plan.tasks.is_empty());
    assert_eq!(plan.exact_row_count(), Some(0));
    assert!(plan.report("t", &[], BTreeMap::new()).is_err());
}

#[tokio::test]
async fn files_are_pruned_by_bounds_and_by_partition() {
    let table = two_specs().await;
    let all = plan(&table, Predicate::AlwaysTrue).await;
    assert_eq!(sorted_paths(&all), ["a0", "a1", "a2", "p0", "p1", "p1b"]);
    let by_bounds = plan(&table, Predicate::eq("id", 15)).await;
    assert_eq!(sorted_paths(&by_bounds), ["a1", "p1"]);
    let by_partition = plan(&table, Predicate::eq("part", 1)).await;
    assert_eq!(sorted_paths(&by_partition), ["a0", "a1", "a2", "p1", "p1b"]);
    let by_both = plan(&table, Predicate::eq("part", 1).and(Predicate::lt("id", 15))).await;
    assert_eq!(sorted_paths(&by_both), ["a0", "a1", "p1"]);
    let by_none = plan(&table, Predicate::AlwaysFalse).await;
    assert!(by_none.tasks.is_empty());
}

#[tokio::test]
async fn manifests_and_files_are_counted_as_java_counts_them() {
    let table = two_specs().await;
    let metrics = plan(&table, Predicate::eq("part", 7).and(Predicate::eq("id", 15)))
        .await
        .metrics;
    assert_eq!((metrics.total_data_manifests, metrics.total_delete_manifests), (2, 0));
    assert_eq!((metrics.scanned_data_manifests, metrics.skipped_data_manifests), (1, 1));
    assert_eq!((metrics.result_data_files, metrics.skipped_data_files), (1, 2));
    assert_eq!(metrics.total_file_size_in_bytes, 1000);
    assert!(metrics.total_planning_duration_ns > 0);
}

#[tokio::test]
async fn a_residual_is_what_the_partition_does_not_prove() {
    let table = two_specs().await;
    let plan = plan(&table, Predicate::eq("part", 1).and(Predicate::lt("id", 15))).await;
    let residual_of = |path: &str| {
        let task = plan.tasks.iter().find(|t| t.path() == path).unwrap();
        (task.residual().field_ids(), task.row_match())
    };
    assert_eq!(residual_of("a0"), (vec![1, 3], RowMatch::Some));
    assert_eq!(residual_of("p1"), (vec![1], RowMatch::Some));

    let plan = self::plan(&table, Predicate::eq("part", 1).and(Predicate::lt("id", 500))).await;
    let shared: Vec<_> = plan.tasks.iter().filter(|t| t.spec_id() == BY_PART).collect();
    assert_eq!(shared.len(), 2);
    assert!(Arc::ptr_eq(shared[0].residual(), shared[1].residual()));
    assert!(shared.iter().all(|t| t.row_match() == RowMatch::All));

    let plan = self::plan(&table, Predicate::eq("part", 1)).await;
    let proven = plan.tasks.iter().find(|t| t.path() == "p1").unwrap();
    assert_eq!(**proven.residual(), BoundPredicate::AlwaysTrue);
    assert_eq!(proven.row_match(), RowMatch::All);
}

#[tokio::test]
async fn earlier_states_are_read_by_id_time_and_ref() {
    let table = two_specs().await;
    for selector in [SnapshotSelector::Id(1), SnapshotSelector::AsOf(150)] {
        let plan = TableScan::new(table.setup()).snapshot(selector).plan().await.unwrap();
        assert_eq!(sorted_paths(&plan), ["a0", "a1", "a2"]);
        assert_eq!(plan.snapshot.unwrap().snapshot_id, 1);
    }
    let main = TableScan::new(table.setup()).snapshot(SnapshotSelector::Ref("main".into()));
    assert_eq!(main.plan().await.unwrap().tasks.len(), 6);
    let missing = TableScan::new(table.setup()).snapshot(SnapshotSelector::Ref("x".into()));
    assert_eq!(missing.plan().await.unwrap_err().kind(), ErrorKind::NotFound);
}

#[tokio::test]
async fn names_in_filters_follow_the_case_rule() {
    let table = two_specs().await;
    let setup = table.setup().filter(Predicate::eq("ID", 15));
    let error = TableScan::new(setup.clone()).plan().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    let plan = TableScan::new(setup.case_sensitivity(CaseSensitivity::Insensitive))
        .plan()
        .await
        .unwrap();
    assert_eq!(plan.tasks.len(), 2);
}

#[tokio::test]
async fn removed_files_are_not_read() {
    let mut table = two_specs().await;
    table.drop_manifest(0);
    let kept = |path: &str, status| (status, with_ids(data(path), 0, 9), Some(1));
    let entries = vec![
        kept("a0", ManifestStatus::Existing),
        kept("a1", ManifestStatus::Deleted),
        kept("a2", ManifestStatus::Deleted),
    ];
    table.manifest(ManifestContent::Data, UNPARTITIONED, entries).await;
    table.commit(Operation::Delete).await;
    let plan = plan(&table, Predicate::AlwaysTrue).await;
    assert_eq!(sorted_paths(&plan), ["a0", "p0", "p1", "p1b"]);
    assert_eq!(plan.metrics.skipped_data_files, 0);
}

#[tokio::test]
async fn deletes_are_attached_by_sequence_number_partition_and_bounds() {
    let mut table = two_specs().await;
    table
        .added(ManifestContent::Deletes, UNPARTITIONED, vec![equality("e", 12, 13)])
        .await;
    let of_part = in_part(position("pos"), 1);
    table.added(ManifestContent::Deletes, BY_PART, vec![of_part]).await;
    table
        .added(
            ManifestContent::Data,
            UNPARTITIONED,
            vec![with_ids(data("new"), 10, 19)],
        )
        .await;
    table.commit(Operation::Overwrite).await;
    let plan = plan(&table, Predicate::AlwaysTrue).await;
    let deletes_of = |path: &str| {
        let task = plan.tasks.iter().find(|t| t.path() == path).unwrap();
        task.deletes().iter().map(|d| d.path().to_string()).collect::<Vec<_>>()
    };
    assert_eq!(deletes_of("a1"), ["e"]);
    assert!(deletes_of("a0").is_empty());
    assert!(deletes_of("new").is_empty());
    assert_eq!(deletes_of("p1"), ["e", "pos"]);
    assert_eq!(deletes_of("p1b"), ["pos"]);
    assert!(deletes_of("p0").is_empty());
    let metrics = plan.metrics;
    assert_eq!(
        (metrics.total_delete_manifests, metrics.scanned_delete_manifests),
        (2, 2)
    );
    assert_eq!((metrics.equality_delete_files, metrics.positional_delete_files), (1, 1));
    assert_eq!(
        (metrics.result_delete_files, metrics.total_delete_file_size_in_bytes),
        (4, 4000)
    );
    assert_eq!(plan.deletes(), PlannedDeletes::Files);
    assert_eq!(plan.exact_row_count(), None);
}

#[tokio::test]
async fn delete_files_are_pruned_like_data_files() {
    let mut table = two_specs().await;
    let files = vec![in_part(position("d0"), 0), in_part(position("d1"), 1)];
    table.added(ManifestContent::Deletes, BY_PART, files).await;
    table
        .added(ManifestContent::Deletes, UNPARTITIONED, vec![equality("e", 0, 9)])
        .await;
    table.commit(Operation::Delete).await;
    let metrics = plan(&table, Predicate::eq("part", 1)).await.metrics;
    assert_eq!((metrics.skipped_delete_files, metrics.indexed_delete_files), (1, 2));
    let metrics = plan(&table, Predicate::eq("id", 15)).await.metrics;
    assert_eq!((metrics.skipped_delete_files, metrics.equality_delete_files), (1, 0));
    let metrics = plan(&table, Predicate::eq("part", 7)).await.metrics;
    assert_eq!(metrics.skipped_delete_manifests, 1);
}

#[tokio::test]
async fn equality_deletes_are_not_pruned_by_columns_that_are_no_keys() {
    let mut table = two_specs().await;
    // The file also holds the old rows' `score`, which says nothing of the rows that match by key.
    let mut deletes = equality("e", 0, 9);
    deletes.value_counts.insert(4, 10);
    deletes.null_value_counts.insert(4, 0);
    deletes.nan_value_counts.insert(4, 0);
    deletes.lower_bounds.insert(4, 1f64.to_le_bytes().to_vec());
    deletes.upper_bounds.insert(4, 1f64.to_le_bytes().to_vec());
    table
        .added(ManifestContent::Deletes, UNPARTITIONED, vec![deletes])
        .await;
    table.commit(Operation::Delete).await;
    let plan = plan(&table, Predicate::gt("score", 5.0)).await;
    let task = plan.tasks.iter().find(|t| t.path() == "a0").unwrap();
    assert_eq!(task.deletes().len(), 1);
}

#[tokio::test]
async fn a_large_index_is_shared_and_still_obeys_each_filter() {
    let mut table = two_specs().await;
    let far = (0..2_000).map(|i| equality(&format!("e{i}"), 1_000 + i, 1_000 + i));
    let near = [equality("low", 10, 12), equality("high", 18, 19)];
    table
        .added(ManifestContent::Deletes, UNPARTITIONED, far.chain(near).collect())
        .await;
    table.commit(Operation::Delete).await;
    let setup = table.setup();
    let of_a1 = async |filter: Predicate| {
        let plan = TableScan::new(setup.clone().filter(filter)).plan().await.unwrap();
        assert_eq!(plan.metrics.indexed_delete_files, 2_002);
        let task = plan.tasks.iter().find(|t| t.path() == "a1").unwrap();
        task.deletes().iter().map(|d| d.path().to_string()).collect::<Vec<_>>()
    };
    assert_eq!(of_a1(Predicate::AlwaysTrue).await, ["low", "high"]);
    // The index is there already: without it the delete manifest could not be read.
    table.io.delete("memory:///t/metadata/m2.avro").await.unwrap();
    table.cache.clear();
    assert_eq!(of_a1(Predicate::lt("id", 15)).await, ["low"]);
    assert_eq!(of_a1(Predicate::gt("id", 15)).await, ["high"]);
}

#[tokio::test]
async fn rows_are_counted_from_metadata_when_it_can_tell() {
    let mut table = two_specs().await;
    assert_eq!(plan(&table, Predicate::AlwaysTrue).await.exact_row_count(), Some(60));
    assert_eq!(plan(&table, Predicate::lt("id", 10)).await.exact_row_count(), Some(20));
    assert_eq!(plan(&table, Predicate::lt("id", 15)).await.exact_row_count(), None);

    table
        .added(ManifestContent::Deletes, UNPARTITIONED, vec![vector("dv", "a0", 3)])
        .await;
    table.commit(Operation::Delete).await;
    let counted = plan(&table, Predicate::AlwaysTrue).await;
    assert_eq!(counted.deletes(), PlannedDeletes::DeletionVectors);
    assert_eq!((counted.record_count(), counted.exact_row_count()), (60, Some(57)));
    let task = counted.tasks.iter().find(|t| t.path() == "a0").unwrap();
    assert_eq!(task.deletes()[0].kind(), DeleteKind::DeletionVector);
    assert_eq!((task.live_record_count(), task.delete_size_in_bytes()), (Some(7), 30));

    // A cardinality beyond the file's rows makes no sense.
    let mut lying = two_specs().await;
    lying
        .added(ManifestContent::Deletes, UNPARTITIONED, vec![vector("dv", "a0", 11)])
        .await;
    lying.commit(Operation::Delete).await;
    assert_eq!(plan(&lying, Predicate::AlwaysTrue).await.exact_row_count(), None);
}

#[tokio::test]
async fn tasks_tell_what_their_entry_inherits() {
    let table = two_specs().await;
    let plan = plan(&table, Predicate::AlwaysTrue).await;
    let task = |path: &str| plan.tasks.iter().find(|t| t.path() == path).unwrap();
    assert_eq!((task("a2").sequence_number(), task("a2").snapshot_id()), (1, Some(1)));
    assert_eq!(task("p1b").file_sequence_number(), Some(2));
    assert_eq!(task("a2").first_row_id(), Some(20));
    assert_eq!(task("p1b").first_row_id(), Some(50));
    assert_eq!(task("p1b").partition().0, [Some(crate::spec::value::Value::Int(1))]);
    let file = task("p1b").data_file();
    assert_eq!((file.spec_id, file.first_row_id), (BY_PART, Some(50)));
}

#[tokio::test]
async fn statistics_are_kept_as_asked() {
    let table = two_specs().await;
    let first = |plan: &ScanPlan| {
        plan.tasks[0]
            .statistics(1)
            .map(|s| (s.null_count(), s.lower_bound().map(<[u8]>::to_vec)))
    };
    let none = TableScan::new(table.setup()).plan().await.unwrap();
    assert_eq!(first(&none), None);
    let some = TableScan::new(table.setup().statistics(Statistics::Of(vec![1])))
        .plan()
        .await
        .unwrap();
    assert_eq!(first(&some), Some((Some(0), Some(vec![0, 0, 0, 0]))));
}

#[tokio::test]
async fn entries_that_break_the_spec_are_refused_by_name() {
    let cases = [
        (data("memory:///t/../../etc/passwd"), "'..'"),
        (data("../secret"), "'..'"),
        (data(""), "names no file"),
        (
            DataFile {
                file_format: FileFormat::Puffin,
                ..data("f.puffin")
            },
            "puffin",
        ),
    ];
    for (file, message) in cases {
        let mut table = MemoryTable::new();
        table.added(ManifestContent::Data, UNPARTITIONED, vec![file]).await;
        table.commit(Operation::Append).await;
        let error = failure(&table).await;
        assert_eq!(error.kind(), ErrorKind::Corrupt);
        let text = error.to_string();
        assert!(
            text.contains(message) && text.contains("memory:///t/metadata/m0.avro"),
            "{text}"
        );
    }
}

#[tokio::test]
async fn unknown_specs_and_missing_manifests_are_told_by_name() {
    let mut table = two_specs().await;
    table.edit_manifest(0, |m| m.partition_spec_id = 9);
    table.commit(Operation::Append).await;
    let error = failure(&table).await;
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert!(error.to_string().contains("spec 9"), "{error}");

    let table = two_specs().await;
    table.io.delete("memory:///t/metadata/m1.avro").await.unwrap();
    let error = failure(&table).await;
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert!(error.to_string().contains("m1.avro"), "{error}");
}

#[tokio::test]
async fn plans_are_reported_with_a_sanitised_filter() {
    let table = two_specs().await;
    let plan = plan(&table, Predicate::eq("id", 15)).await;
    let report = plan.report("lake.db.t", &[1, 6], BTreeMap::new()).unwrap();
    assert_eq!((report.snapshot_id, report.schema_id), (2, 0));
    assert_eq!(report.projected_field_names, ["id", "nested.inner"]);
    let expected = serde_json::json!({"type": "eq", "term": "id", "value": "(2-digit-int)"});
    assert_eq!(report.filter, expected);
    assert_eq!(report.metrics.result_data_files.map(|c| c.value), Some(2));
}

#[tokio::test]
async fn many_manifests_keep_their_order() {
    let mut table = MemoryTable::new();
    for i in 0..40 {
        let files = (0..3).map(|j| data(&format!("f{i:02}{j}"))).collect();
        table.added(ManifestContent::Data, UNPARTITIONED, files).await;
    }
    table.commit(Operation::Append).await;
    let plan = TableScan::new(table.setup().concurrency(3)).plan().await.unwrap();
    let paths: Vec<&str> = plan.tasks.iter().map(FileScanTask::path).collect();
    assert_eq!(paths.len(), 120);
    assert!(paths.is_sorted());
}
