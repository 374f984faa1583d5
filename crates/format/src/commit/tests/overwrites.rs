//! Overwrites by filter, by file, and of partitions.

use super::table::{ALL_VERSIONS, Layout, TestTable, names, summary};
use crate::commit::append::fast_append;
use crate::commit::overwrite::OverwriteFiles;
use crate::commit::replace_partitions::ReplacePartitions;
use crate::commit::rewrite::RewriteFiles;
use crate::commit::row_delta::RowDelta;
use crate::error::ErrorKind;
use crate::expr::Predicate;
use crate::manifest::data_file::ManifestStatus;
use crate::spec::snapshot::Operation;
use crate::spec::table_metadata::FormatVersion;

#[tokio::test]
async fn the_operation_follows_what_is_done() {
    for version in ALL_VERSIONS {
        let t = TestTable::new(version, Layout::ByP).await;
        t.must(OverwriteFiles::new().add_file(t.file("a", "x", (1, 10))).build())
            .await;
        assert_eq!(t.current().await.operation, Some(Operation::Append));
        let change = OverwriteFiles::new()
            .remove_file(t.file("a", "x", (1, 10)))
            .add_file(t.file("b", "x", (1, 9)))
            .build();
        t.must(change).await;
        let snapshot = t.current().await;
        assert_eq!(snapshot.operation, Some(Operation::Overwrite));
        let keys = [
            "added-records",
            "deleted-records",
            "total-records",
            "changed-partition-count",
        ];
        assert_eq!(summary(&snapshot, keys), ["9", "10", "9", "1"]);
        let expected = [("a", ManifestStatus::Deleted), ("b", ManifestStatus::Added)];
        assert_eq!(t.statuses().await, expected.map(|(p, s)| (p.to_string(), s)));
        t.must(OverwriteFiles::new().rows(Predicate::AlwaysTrue).build()).await;
        assert_eq!(t.current().await.operation, Some(Operation::Delete));
        assert!(t.live().await.is_empty());
    }
}

#[tokio::test]
async fn added_files_must_match_the_filter_when_asked() {
    let t = TestTable::new(FormatVersion::V2, Layout::ByP).await;
    t.must(fast_append([t.file("a", "x", (1, 10))])).await;
    let overwrite = |file| {
        let change = OverwriteFiles::new().rows(Predicate::eq("p", "x").and(Predicate::lt("id", 100i64)));
        change.add_file(file).validate_added_files_match_filter().build()
    };
    for bad in [t.file("b", "y", (1, 10)), t.file("c", "x", (50, 150))] {
        let error = t.commit(overwrite(bad)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Validation);
        assert!(error.to_string().contains("rows that do not match filter"), "{error}");
    }
    t.must(overwrite(t.file("d", "x", (50, 99)))).await;
    assert_eq!(t.live().await, names(["d"]));
}

#[tokio::test]
async fn partitions_with_new_files_are_replaced() {
    for version in ALL_VERSIONS {
        let t = TestTable::new(version, Layout::ByP).await;
        t.must(fast_append([t.file("a", "x", (1, 10)), t.file("b", "y", (1, 5))]))
            .await;
        let metadata = t.load().await.metadata;
        let change = ReplacePartitions::new()
            .add_file(t.file("c", "x", (1, 2)))
            .add_file(t.file("d", "z", (1, 1)));
        t.must(change.build(&metadata)).await;
        assert_eq!(t.live().await, names(["b", "c", "d"]));
        let snapshot = t.current().await;
        assert_eq!(snapshot.operation, Some(Operation::Overwrite));
        let keys = [
            "replace-partitions",
            "deleted-data-files",
            "added-data-files",
            "changed-partition-count",
        ];
        assert_eq!(summary(&snapshot, keys), ["true", "1", "2", "2"]);
    }
}

#[tokio::test]
async fn an_unpartitioned_table_is_replaced_whole() {
    let t = TestTable::new(FormatVersion::V2, Layout::Unpartitioned).await;
    t.must(fast_append([t.file("a", "", (1, 10)), t.file("b", "", (1, 5))]))
        .await;
    let metadata = t.load().await.metadata;
    t.must(
        ReplacePartitions::new()
            .add_file(t.file("c", "", (1, 2)))
            .build(&metadata),
    )
    .await;
    assert_eq!(t.live().await, names(["c"]));
}

#[tokio::test]
async fn replacing_can_be_limited_to_new_partitions() {
    let t = TestTable::new(FormatVersion::V2, Layout::ByP).await;
    t.must(fast_append([t.file("a", "x", (1, 10))])).await;
    let metadata = t.load().await.metadata;
    let replace = |file| {
        ReplacePartitions::new()
            .add_file(file)
            .validate_append_only()
            .build(&metadata)
    };
    let error = t.commit(replace(t.file("b", "x", (1, 1)))).await.unwrap_err();
    assert!(
        error.to_string().contains("conflicts with existing partition: p=x"),
        "{error}"
    );
    t.must(replace(t.file("c", "y", (1, 1)))).await;
    assert_eq!(t.live().await, names(["a", "c"]));
}

#[tokio::test]
async fn a_rewrite_changes_files_not_rows() {
    for version in ALL_VERSIONS {
        let t = TestTable::new(version, Layout::Unpartitioned).await;
        t.must(fast_append([t.file("a", "", (1, 10)), t.file("b", "", (11, 15))]))
            .await;
        let rewrite = |added| {
            let change = RewriteFiles::new().replace_file(t.file("a", "", (1, 10)));
            change.replace_file(t.file("b", "", (11, 15))).add_file(added).build()
        };
        let error = t.commit(rewrite(t.file("big", "", (1, 16)))).await.unwrap_err();
        assert!(
            error
                .to_string()
                .contains("invalid replace operation: 16 added records, 15"),
            "{error}"
        );
        t.must(rewrite(t.file("c", "", (1, 15)))).await;
        assert_eq!(t.live().await, names(["c"]));
        assert_eq!(t.current().await.operation, Some(Operation::Replace));
        let error = t.commit(rewrite(t.file("d", "", (1, 15)))).await.unwrap_err();
        assert!(
            error.to_string().contains("missing required files to delete: a, b"),
            "{error}"
        );
    }
}

#[tokio::test]
async fn rewritten_rows_can_keep_their_age() {
    let t = TestTable::new(FormatVersion::V2, Layout::Unpartitioned).await;
    let a = t.file("a", "", (1, 10));
    let base = t.must(fast_append([a.clone()])).await;
    // Meanwhile: deletes that must still apply to the rewritten rows, and newer rows that they don't apply to.
    t.must(RowDelta::new().add_deletes(t.equality_deletes("e", "", (1, 2))).build())
        .await;
    t.must(fast_append([t.file("b", "", (1, 2))])).await;
    let change = RewriteFiles::new()
        .replace_file(a)
        .add_file(t.file("c", "", (1, 10)))
        .from_snapshot(Some(base));
    let error = t.commit(change.clone().build()).await.unwrap_err();
    assert!(
        error.to_string().contains("found new delete for replaced data file"),
        "{error}"
    );
    t.must(change.data_sequence_number(1).build()).await;
    let c = t.entry("c").await;
    assert_eq!((c.sequence_number, c.file_sequence_number), (Some(1), Some(4)));
    assert_eq!(t.live().await, names(["b", "c", "e"]));
}

#[tokio::test]
async fn needed_equality_deletes_survive_a_rewrite_that_removes_others() {
    let t = TestTable::new(FormatVersion::V2, Layout::Unpartitioned).await;
    let a = t.file("a", "", (1, 10));
    t.must(fast_append([a.clone()])).await;
    let positions = t.position_deletes("pa", &a, 1);
    let base = t.must(RowDelta::new().add_deletes(positions.clone()).build()).await;
    t.must(RowDelta::new().add_deletes(t.equality_deletes("e", "", (1, 2))).build())
        .await;
    t.must(fast_append([t.file("b", "", (1, 2))])).await;
    let change = RewriteFiles::new()
        .replace_file(a)
        .replace_file(positions)
        .add_file(t.file("c", "", (2, 10)));
    t.must(change.from_snapshot(Some(base)).data_sequence_number(2).build())
        .await;
    // All other data files have sequence number 4, but the deletes, 3, apply to the rewritten file, 2.
    assert_eq!(t.live().await, names(["b", "c", "e"]));
}
