//! Deletes of whole files.

use super::table::{ALL_VERSIONS, Layout, TestTable, names, summary};
use crate::commit::append::fast_append;
use crate::commit::delete::DeleteFiles;
use crate::commit::row_delta::RowDelta;
use crate::error::ErrorKind;
use crate::expr::Predicate;
use crate::io::fault::{FaultStore, Operation};
use crate::manifest::data_file::{DataFile, ManifestStatus};
use crate::spec::snapshot;
use crate::spec::table_metadata::FormatVersion;

async fn two_partitions(version: FormatVersion) -> TestTable {
    let t = TestTable::new(version, Layout::ByP).await;
    let files = [
        t.file("a", "x", (1, 10)),
        t.file("b", "x", (11, 15)),
        t.file("c", "y", (16, 18)),
    ];
    t.must(fast_append(files)).await;
    t
}

#[tokio::test]
async fn a_file_is_removed_by_location_or_by_value() {
    for version in ALL_VERSIONS {
        for by_path in [true, false] {
            let t = two_partitions(version).await;
            let added = t.entry("a").await;
            let delete = match by_path {
                true => DeleteFiles::new().path("a"),
                false => DeleteFiles::new().file(t.file("a", "x", (1, 10))),
            };
            let id = t.must(delete.validate_files_exist().build()).await;
            let snapshot = t.current().await;
            assert_eq!(snapshot.operation, Some(snapshot::Operation::Delete));
            let keys = [
                "deleted-data-files",
                "deleted-records",
                "removed-files-size",
                "total-records",
            ];
            assert_eq!(summary(&snapshot, keys), ["1", "10", "1000", "8"]);
            assert_eq!(
                summary(&snapshot, ["changed-partition-count", "added-records"]),
                ["1", "-"]
            );
            let removed = t.entry("a").await;
            assert_eq!(
                (removed.status, removed.snapshot_id),
                (ManifestStatus::Deleted, Some(id))
            );
            assert_eq!(removed.sequence_number, added.sequence_number);
            assert_eq!(removed.file_sequence_number, added.file_sequence_number);
            let kept = t.entry("b").await;
            assert_eq!(
                (kept.status, kept.snapshot_id),
                (ManifestStatus::Existing, added.snapshot_id)
            );
            assert_eq!(kept.data_file.lower_bounds, t.file("b", "x", (11, 15)).lower_bounds);
            assert_eq!(t.live().await, names(["b", "c"]));
        }
    }
}

#[tokio::test]
async fn removed_files_leave_the_next_snapshot() {
    let t = two_partitions(FormatVersion::V2).await;
    t.must(DeleteFiles::new().path("a").build()).await;
    t.must(DeleteFiles::new().path("c").build()).await;
    let statuses = t.statuses().await;
    let expected = [("b", ManifestStatus::Existing), ("c", ManifestStatus::Deleted)];
    assert_eq!(statuses, expected.map(|(path, status)| (path.to_string(), status)));
    t.must(DeleteFiles::new().path("b").build()).await;
    t.must(fast_append([])).await;
    t.must(DeleteFiles::new().path("none").build()).await;
    assert!(
        t.manifests().await.is_empty(),
        "manifests without live files are dropped"
    );
}

#[tokio::test]
async fn a_partition_goes_by_filter_without_reading_others() {
    for version in ALL_VERSIONS {
        let store = FaultStore::memory();
        let t = TestTable::in_io(store.file_io(), version, Layout::ByP, &[]).await;
        t.must(fast_append([t.file("a", "x", (1, 10))])).await;
        t.must(fast_append([t.file("b", "y", (1, 10))])).await;
        let newest = t.manifests().await.remove(0);
        store.clear_records();
        t.must(DeleteFiles::new().rows(Predicate::eq("p", "x")).build()).await;
        let read = store.paths(Operation::Read);
        assert!(
            !read.iter().any(|path| newest.manifest_path.ends_with(path)),
            "{read:?}"
        );
        assert_eq!(t.live().await, names(["b"]));
        assert!(
            t.manifests()
                .await
                .iter()
                .any(|m| m.manifest_path == newest.manifest_path)
        );
    }
}

#[tokio::test]
async fn bounds_prove_that_all_rows_match() {
    let t = TestTable::new(FormatVersion::V2, Layout::Unpartitioned).await;
    t.must(fast_append([t.file("a", "", (1, 10)), t.file("b", "", (11, 20))]))
        .await;
    t.must(DeleteFiles::new().rows(Predicate::lt("id", 11i64)).build())
        .await;
    assert_eq!(t.live().await, names(["b"]));
}

#[tokio::test]
async fn part_of_a_file_cannot_be_deleted() {
    let t = TestTable::new(FormatVersion::V2, Layout::Unpartitioned).await;
    t.must(fast_append([t.file("a", "", (1, 10)), t.file("b", "", (11, 20))]))
        .await;
    let change = DeleteFiles::new().rows(Predicate::lt("id", 15i64)).build();
    let error = t.commit(change).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Validation);
    assert!(
        error.to_string().contains("some, but not all, rows match filter"),
        "{error}"
    );
    assert_eq!(t.live().await, names(["a", "b"]));
}

#[tokio::test]
async fn a_missing_file_matters_only_when_asked() {
    let t = two_partitions(FormatVersion::V2).await;
    t.must(DeleteFiles::new().path("nowhere").build()).await;
    let error = t
        .commit(
            DeleteFiles::new()
                .path("nowhere")
                .path("a")
                .validate_files_exist()
                .build(),
        )
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Validation);
    assert!(
        error.to_string().contains("missing required files to delete: nowhere"),
        "{error}"
    );
    assert_eq!(t.live().await, names(["a", "b", "c"]));
}

#[tokio::test]
async fn deletion_vectors_go_with_their_files() {
    let t = two_partitions(FormatVersion::V3).await;
    let a = t.file("a", "x", (1, 10));
    let b = t.file("b", "x", (11, 15));
    let delta = RowDelta::new()
        .add_deletes(t.position_deletes("va", &a, 2))
        .add_deletes(t.position_deletes("vb", &b, 1));
    t.must(delta.build()).await;
    t.must(DeleteFiles::new().path("a").build()).await;
    assert_eq!(t.live().await, names(["b", "c", "vb#4"]));
    let keys = [
        "removed-dvs",
        "removed-delete-files",
        "removed-position-deletes",
        "removed-files-size",
    ];
    assert_eq!(summary(t.current().await.as_ref(), keys), ["1", "1", "2", "1040"]);
    assert_eq!(
        summary(
            t.current().await.as_ref(),
            ["total-delete-files", "total-position-deletes"]
        ),
        ["1", "1"]
    );
}

#[tokio::test]
async fn a_dropped_partition_takes_its_delete_files_along() {
    let t = two_partitions(FormatVersion::V2).await;
    let a = t.file("a", "x", (1, 10));
    let c = t.file("c", "y", (16, 18));
    let delta = RowDelta::new()
        .add_deletes(t.position_deletes("pa", &a, 2))
        .add_deletes(t.position_deletes("pc", &c, 1));
    t.must(delta.build()).await;
    t.must(DeleteFiles::new().rows(Predicate::eq("p", "x")).build()).await;
    assert_eq!(t.live().await, names(["c", "pc"]));
    assert_eq!(
        summary(t.current().await.as_ref(), ["removed-position-delete-files"]),
        ["1"]
    );
}

#[tokio::test]
async fn old_delete_files_go_when_no_data_file_is_older() {
    let t = TestTable::new(FormatVersion::V2, Layout::Unpartitioned).await;
    let a = t.file("a", "", (1, 10));
    t.must(fast_append([a.clone()])).await;
    t.must(RowDelta::new().add_deletes(t.equality_deletes("e", "", (1, 2))).build())
        .await;
    t.must(fast_append([t.file("b", "", (11, 12))])).await;
    t.must(
        RowDelta::new()
            .add_deletes(t.equality_deletes("late", "", (1, 2)))
            .build(),
    )
    .await;
    // Then the oldest data file has sequence number 3, the older deletes 2, the later ones 4.
    t.must(DeleteFiles::new().path("a").build()).await;
    assert_eq!(t.live().await, names(["b", "late"]));
    assert_eq!(
        summary(t.current().await.as_ref(), ["removed-equality-delete-files"]),
        ["1"]
    );
}

#[tokio::test]
async fn a_null_partition_is_never_dropped_by_a_comparison() {
    let t = TestTable::new(FormatVersion::V2, Layout::ByP).await;
    let mut file = t.file("a", "x", (1, 10)).as_ref().clone();
    file.partition.0[0] = None;
    file.null_value_counts.insert(2, 10);
    file.lower_bounds.remove(&2);
    file.upper_bounds.remove(&2);
    t.must(fast_append([file.into(), t.file("b", "y", (1, 1))])).await;
    t.must(DeleteFiles::new().rows(Predicate::gt("p", "a")).build()).await;
    assert_eq!(t.live().await, names(["a"]));
    // Java drops it here, though a null is not unequal to anything. Rows that are not unequal must not go.
    let unequal = DeleteFiles::new().rows(Predicate::not_eq("p", "x")).build();
    assert_eq!(t.commit(unequal).await.unwrap_err().kind(), ErrorKind::Validation);
    assert_eq!(t.live().await, names(["a"]));
    t.must(DeleteFiles::new().rows(Predicate::is_null("p")).build()).await;
    assert!(t.live().await.is_empty());
}

#[tokio::test]
async fn deletes_stay_when_only_metrics_of_other_columns_match() {
    for version in [FormatVersion::V2, FormatVersion::V3] {
        let t = TestTable::new(version, Layout::Unpartitioned).await;
        let with_x = |file: std::sync::Arc<DataFile>, x: i32| {
            let mut file = file.as_ref().clone();
            file.lower_bounds.insert(3, x.to_le_bytes().to_vec());
            file.upper_bounds.insert(3, x.to_le_bytes().to_vec());
            file.value_counts.insert(3, file.record_count);
            file.null_value_counts.insert(3, 0);
            std::sync::Arc::new(file)
        };
        let a = with_x(t.file("a", "", (1, 10)), 1);
        t.must(fast_append([a, with_x(t.file("b", "", (1, 10)), 9)])).await;
        // Deletes ids 5 and 6 in both files, though the rows that the writer saw had x = 1.
        let by_id = with_x(t.equality_deletes("by-id", "", (5, 6)), 1);
        let mut by_x = by_id.as_ref().clone();
        by_x.file_path = "by-x".into();
        by_x.equality_ids = vec![3];
        let delta = RowDelta::new().add_deletes(by_id).add_deletes(by_x.into());
        t.must(delta.build()).await;
        t.must(DeleteFiles::new().rows(Predicate::eq("x", 1)).build()).await;
        assert_eq!(t.live().await, names(["b", "by-id"]));
    }
}
