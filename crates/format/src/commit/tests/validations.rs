//! Each validation with and without a conflict.

use std::sync::Arc;

use super::table::{DELETE_VERSIONS, Layout, TestTable, names};
use crate::commit::Change;
use crate::commit::append::fast_append;
use crate::commit::delete::DeleteFiles;
use crate::commit::overwrite::OverwriteFiles;
use crate::commit::replace_partitions::ReplacePartitions;
use crate::commit::rewrite::RewriteFiles;
use crate::commit::row_delta::RowDelta;
use crate::error::ErrorKind;
use crate::expr::Predicate;
use crate::spec::table_metadata::FormatVersion;

/// A table with `a` in partition x and `b` in partition y, and the snapshot that has them.
async fn base(version: FormatVersion) -> (TestTable, Option<i64>) {
    let t = TestTable::new(version, Layout::ByP).await;
    let id = t
        .must(fast_append([t.file("a", "x", (1, 10)), t.file("b", "y", (11, 20))]))
        .await;
    (t, Some(id))
}

async fn conflicts(t: &TestTable, change: Change, message: &str) {
    let before = t.load().await;
    let error = t.commit(change).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Validation, "{error}");
    assert!(error.to_string().contains(message), "{error}");
    assert_eq!(t.load().await.metadata_location, before.metadata_location);
}

#[tokio::test]
async fn overwrite_sees_conflicting_data() {
    for version in DELETE_VERSIONS {
        let (t, start) = base(version).await;
        t.must(fast_append([t.file("c", "x", (30, 40))])).await;
        let overwrite = || {
            let change = OverwriteFiles::new()
                .remove_file(t.file("b", "y", (11, 20)))
                .add_file(t.file("d", "y", (11, 20)));
            change.from_snapshot(start).validate_no_conflicting_data()
        };
        let message = "found conflicting files that can contain records matching";
        conflicts(&t, overwrite().build(), message).await;
        conflicts(
            &t,
            overwrite().conflict_filter(Predicate::gt("id", 35i64)).build(),
            message,
        )
        .await;
        t.must(overwrite().conflict_filter(Predicate::eq("p", "y")).build())
            .await;
        assert_eq!(t.live().await, names(["a", "c", "d"]));
    }
}

#[tokio::test]
async fn overwrite_by_filter_sees_only_its_rows() {
    let (t, start) = base(FormatVersion::V2).await;
    t.must(fast_append([t.file("c", "x", (30, 40))])).await;
    let overwrite = |p| {
        let change = OverwriteFiles::new().rows(Predicate::eq("p", p)).from_snapshot(start);
        change.validate_no_conflicting_data().build()
    };
    conflicts(
        &t,
        overwrite("x"),
        "found conflicting files that can contain records matching",
    )
    .await;
    t.must(overwrite("y")).await;
    assert_eq!(t.live().await, names(["a", "c"]));
}

#[tokio::test]
async fn without_validations_the_last_writer_wins() {
    let (t, start) = base(FormatVersion::V2).await;
    t.must(fast_append([t.file("c", "x", (30, 40))])).await;
    t.must(
        OverwriteFiles::new()
            .rows(Predicate::eq("p", "x"))
            .from_snapshot(start)
            .build(),
    )
    .await;
    assert_eq!(t.live().await, names(["b"]));
}

#[tokio::test]
async fn overwrite_by_filter_sees_conflicting_deletes() {
    for version in DELETE_VERSIONS {
        let (t, start) = base(version).await;
        let a = t.file("a", "x", (1, 10));
        t.must(RowDelta::new().add_deletes(t.position_deletes("d", &a, 1)).build())
            .await;
        let overwrite = |p| {
            let change = OverwriteFiles::new().rows(Predicate::eq("p", p)).from_snapshot(start);
            change.validate_no_conflicting_deletes().build()
        };
        conflicts(&t, overwrite("x"), "found new conflicting delete files").await;
        t.must(overwrite("y")).await;
    }
}

#[tokio::test]
async fn overwrite_by_filter_sees_removed_files() {
    let (t, start) = base(FormatVersion::V2).await;
    t.must(DeleteFiles::new().path("a").build()).await;
    let overwrite = |p| {
        let change = OverwriteFiles::new().rows(Predicate::eq("p", p)).from_snapshot(start);
        change.validate_no_conflicting_deletes().build()
    };
    conflicts(&t, overwrite("x"), "found conflicting deleted files").await;
    t.must(overwrite("y")).await;
}

#[tokio::test]
async fn overwrite_of_files_sees_their_new_deletes() {
    for version in DELETE_VERSIONS {
        let (t, start) = base(version).await;
        let (a, b) = (t.file("a", "x", (1, 10)), t.file("b", "y", (11, 20)));
        t.must(RowDelta::new().add_deletes(t.position_deletes("d", &a, 1)).build())
            .await;
        let overwrite = |file| {
            let change = OverwriteFiles::new().remove_file(file).from_snapshot(start);
            change.validate_no_conflicting_deletes().build()
        };
        conflicts(&t, overwrite(a), "found new delete for replaced data file").await;
        t.must(overwrite(b)).await;
        assert_eq!(t.live().await.len(), 2);
    }
}

#[tokio::test]
async fn equality_deletes_conflict_by_partition_and_bounds() {
    let (t, start) = base(FormatVersion::V2).await;
    t.must(
        RowDelta::new()
            .add_deletes(t.equality_deletes("e", "x", (5, 6)))
            .build(),
    )
    .await;
    let overwrite = |file: Arc<_>| {
        let change = OverwriteFiles::new().remove_file(file).from_snapshot(start);
        change.validate_no_conflicting_deletes().build()
    };
    conflicts(
        &t,
        overwrite(t.file("a", "x", (1, 10))),
        "found new delete for replaced data file",
    )
    .await;
    t.must(overwrite(t.file("b", "y", (11, 20)))).await;
    t.must(fast_append([t.file("far", "x", (100, 110))])).await;
    let change = OverwriteFiles::new()
        .remove_file(t.file("far", "x", (100, 110)))
        .from_snapshot(start);
    t.must(change.validate_no_conflicting_deletes().build()).await;
}

#[tokio::test]
async fn overwrite_with_validation_needs_its_files() {
    let (t, start) = base(FormatVersion::V2).await;
    t.must(DeleteFiles::new().path("a").build()).await;
    let overwrite = || {
        OverwriteFiles::new()
            .remove_file(t.file("a", "x", (1, 10)))
            .from_snapshot(start)
    };
    conflicts(
        &t,
        overwrite().validate_no_conflicting_data().build(),
        "missing required files to delete: a",
    )
    .await;
    t.must(overwrite().build()).await;
}

#[tokio::test]
async fn replaced_partitions_see_new_data() {
    let (t, start) = base(FormatVersion::V2).await;
    let metadata = t.load().await.metadata;
    t.must(fast_append([t.file("c", "x", (30, 40))])).await;
    let replace = |p| {
        let change = ReplacePartitions::new()
            .add_file(t.file("n", p, (1, 1)))
            .from_snapshot(start);
        change.validate_no_conflicting_data().build(&metadata)
    };
    conflicts(
        &t,
        replace("x"),
        "found conflicting files that can contain records matching",
    )
    .await;
    t.must(replace("y")).await;
}

#[tokio::test]
async fn replaced_partitions_see_deletes() {
    for version in DELETE_VERSIONS {
        let (t, start) = base(version).await;
        let metadata = t.load().await.metadata;
        let a = t.file("a", "x", (1, 10));
        t.must(RowDelta::new().add_deletes(t.position_deletes("d", &a, 1)).build())
            .await;
        let replace = |p| {
            let change = ReplacePartitions::new()
                .add_file(t.file("n", p, (1, 1)))
                .from_snapshot(start);
            change.validate_no_conflicting_deletes().build(&metadata)
        };
        conflicts(&t, replace("x"), "found new conflicting delete files").await;
        t.must(replace("y")).await;
        let (t, start) = base(version).await;
        t.must(DeleteFiles::new().path("a").build()).await;
        let change = ReplacePartitions::new()
            .add_file(t.file("n", "x", (1, 1)))
            .from_snapshot(start);
        let change = change.validate_no_conflicting_deletes().build(&t.load().await.metadata);
        conflicts(&t, change, "found conflicting deleted files").await;
    }
}

#[tokio::test]
async fn row_delta_needs_its_data_files() {
    for version in DELETE_VERSIONS {
        let delta = |t: &TestTable, start| {
            let a = t.file("a", "x", (1, 10));
            let change = RowDelta::new()
                .add_deletes(t.position_deletes("d", &a, 1))
                .from_snapshot(start);
            change.validate_data_files_exist([Arc::clone(&a.file_path)])
        };
        // Rewritten meanwhile: the positions point nowhere.
        let (t, start) = base(version).await;
        let rewrite = RewriteFiles::new()
            .replace_file(t.file("a", "x", (1, 10)))
            .add_file(t.file("c", "x", (1, 10)));
        t.must(rewrite.build()).await;
        conflicts(&t, delta(&t, start).build(), "missing data files: a").await;
        // Deleted meanwhile: only a conflict when asked for.
        let (t, start) = base(version).await;
        t.must(DeleteFiles::new().path("a").build()).await;
        conflicts(
            &t,
            delta(&t, start).validate_deleted_files().build(),
            "missing data files: a",
        )
        .await;
        t.must(delta(&t, start).build()).await;
        // Another file rewritten: none of its business.
        let (t, start) = base(version).await;
        let rewrite = RewriteFiles::new()
            .replace_file(t.file("b", "y", (11, 20)))
            .add_file(t.file("c", "y", (11, 20)));
        t.must(rewrite.build()).await;
        t.must(delta(&t, start).validate_deleted_files().build()).await;
    }
}

#[tokio::test]
async fn row_delta_sees_conflicting_data() {
    for version in DELETE_VERSIONS {
        let (t, start) = base(version).await;
        t.must(fast_append([t.file("c", "x", (30, 40))])).await;
        let delta = |filter| {
            let a = t.file("a", "x", (1, 10));
            let change = RowDelta::new()
                .add_deletes(t.position_deletes("d", &a, 1))
                .from_snapshot(start);
            change.conflict_filter(filter).validate_no_conflicting_data().build()
        };
        conflicts(&t, delta(Predicate::eq("p", "x")), "found conflicting files").await;
        conflicts(&t, delta(Predicate::AlwaysTrue), "found conflicting files").await;
        t.must(delta(Predicate::lt("id", 30i64))).await;
    }
}

#[tokio::test]
async fn row_delta_sees_conflicting_deletes() {
    for version in DELETE_VERSIONS {
        let (t, start) = base(version).await;
        let (a, b) = (t.file("a", "x", (1, 10)), t.file("b", "y", (11, 20)));
        t.must(RowDelta::new().add_deletes(t.position_deletes("other", &a, 1)).build())
            .await;
        let delta = |filter| {
            let change = RowDelta::new()
                .add_deletes(t.position_deletes("d", &b, 1))
                .from_snapshot(start);
            change.conflict_filter(filter).validate_no_conflicting_deletes().build()
        };
        conflicts(&t, delta(Predicate::AlwaysTrue), "found new conflicting delete files").await;
        t.must(delta(Predicate::eq("p", "y"))).await;
    }
}

#[tokio::test]
async fn concurrent_deletion_vectors_always_conflict() {
    let (t, start) = base(FormatVersion::V3).await;
    let (a, b) = (t.file("a", "x", (1, 10)), t.file("b", "y", (11, 20)));
    t.must(RowDelta::new().add_deletes(t.position_deletes("other", &a, 1)).build())
        .await;
    let delta = |file| {
        RowDelta::new()
            .add_deletes(t.position_deletes("d", file, 1))
            .from_snapshot(start)
            .build()
    };
    conflicts(&t, delta(&a), "found concurrently added deletion vector").await;
    t.must(delta(&b)).await;
}

#[tokio::test]
async fn rewrites_see_new_deletes() {
    for version in DELETE_VERSIONS {
        let (t, start) = base(version).await;
        let (a, b) = (t.file("a", "x", (1, 10)), t.file("b", "y", (11, 20)));
        t.must(RowDelta::new().add_deletes(t.position_deletes("d", &a, 1)).build())
            .await;
        let rewrite = |file| RewriteFiles::new().replace_file(file).from_snapshot(start);
        let of_a = rewrite(a).add_file(t.file("c", "x", (1, 10)));
        conflicts(&t, of_a.clone().build(), "found new delete for replaced data file").await;
        let kept = of_a.data_sequence_number(1).build();
        conflicts(&t, kept, "found new position delete for replaced data file").await;
        t.must(rewrite(b).add_file(t.file("e", "y", (11, 20))).build()).await;
    }
}

#[tokio::test]
async fn history_must_be_complete() {
    let (t, start) = base(FormatVersion::V2).await;
    let branch = t
        .must(fast_append([t.file("c", "x", (30, 40))]).on_branch("other"))
        .await;
    t.must(fast_append([t.file("d", "x", (50, 60))])).await;
    let delta = |start| {
        let change = RowDelta::new().add_rows(t.file("e", "x", (1, 1))).from_snapshot(start);
        change
            .conflict_filter(Predicate::eq("p", "z"))
            .validate_no_conflicting_data()
            .build()
    };
    conflicts(
        &t,
        delta(Some(branch)),
        "cannot determine history between starting snapshot",
    )
    .await;
    t.must(delta(start)).await;
    t.must(delta(None)).await;
}

#[tokio::test]
async fn validations_are_run_again_after_a_lost_race() {
    use super::catalog::Fault;
    let (t, start) = base(FormatVersion::V2).await;
    // The first attempt loses to a writer whose rows are meant; the second must see them.
    t.catalog.inject([Fault::Conflict]);
    let racing = t.clone();
    let a = t.file("a", "x", (1, 10));
    let change = RowDelta::new()
        .add_deletes(t.position_deletes("d", &a, 1))
        .from_snapshot(start);
    let change = change.validate_no_conflicting_data().build();
    let properties = t.load().await.metadata.properties.clone();
    assert_eq!(properties["commit.retry.min-wait-ms"], "1");
    let policy = crate::commit::retry::RetryPolicy {
        num_retries: 4,
        min_wait_ms: 200,
        max_wait_ms: 200,
        total_timeout_ms: 60_000,
    };
    let mut slow = t.clone();
    slow.options.retry = Some(policy);
    let other = async {
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        racing.must(fast_append([racing.file("c", "x", (30, 40))])).await
    };
    let (result, _) = tokio::join!(slow.commit(change), other);
    let error = result.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Validation, "{error}");
    assert_eq!(t.live().await, names(["a", "b", "c"]));
}

#[tokio::test]
async fn deletes_conflict_whatever_metrics_of_other_columns_say() {
    for version in DELETE_VERSIONS {
        let (t, start) = base(version).await;
        // The rows that the deleting writer saw had x = 1; others with these ids may have x = 9.
        let mut deletes = t.equality_deletes("e", "x", (5, 6)).as_ref().clone();
        deletes.lower_bounds.insert(3, 1i32.to_le_bytes().to_vec());
        deletes.upper_bounds.insert(3, 1i32.to_le_bytes().to_vec());
        t.must(RowDelta::new().add_deletes(deletes.into()).build()).await;
        let delta = |filter| {
            let delta = RowDelta::new().add_rows(t.file("n", "x", (1, 1)));
            let delta = delta.from_snapshot(start).conflict_filter(filter);
            delta.validate_no_conflicting_deletes().build()
        };
        conflicts(
            &t,
            delta(Predicate::eq("x", 9)),
            "found new conflicting delete files that can apply to records matching",
        )
        .await;
        t.must(delta(Predicate::eq("id", 9i64))).await;
        t.must(delta(Predicate::eq("p", "y"))).await;
    }
}
