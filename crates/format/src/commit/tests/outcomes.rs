//! Lost races, lost answers, and what is left behind.

use std::collections::BTreeSet;

use super::catalog::Fault;
use super::table::{ALL_VERSIONS, Layout, TestTable, names};
use crate::commit::append::{fast_append, merge_append};
use crate::commit::overwrite::OverwriteFiles;
use crate::error::ErrorKind;
use crate::expr::Predicate;
use crate::metrics::{CollectingReporter, MetricsReport};
use crate::spec::snapshot::SnapshotManifests;
use crate::spec::table_metadata::FormatVersion;

/// Manifests and lists in the table's metadata folder.
async fn avro_files(t: &TestTable) -> BTreeSet<String> {
    let table = t.load().await;
    let files = table
        .io
        .list(&format!("{}/metadata", table.metadata.location))
        .await
        .unwrap();
    let locations = files.into_iter().map(|f| f.location);
    locations
        .filter(|l| l.ends_with(".avro"))
        .map(|l| file_name(&l))
        .collect()
}

/// Those that the kept snapshots reach.
async fn reachable(t: &TestTable) -> BTreeSet<String> {
    let table = t.load().await;
    let mut files = BTreeSet::new();
    for snapshot in &table.metadata.snapshots {
        if let SnapshotManifests::List(location) = &snapshot.manifests {
            files.insert(file_name(location));
        }
        let manifests = crate::manifest::list::load(&table.io, &table.metadata, snapshot)
            .await
            .unwrap();
        files.extend(manifests.iter().map(|m| file_name(&m.manifest_path)));
    }
    files
}

fn file_name(location: &str) -> String {
    location.rsplit('/').next().unwrap_or_default().to_string()
}

#[tokio::test]
async fn lost_races_are_tried_again_and_leave_nothing() {
    for version in ALL_VERSIONS {
        let t = TestTable::new(version, Layout::ByP).await;
        t.must(fast_append([t.file("a", "x", (1, 10)), t.file("b", "y", (1, 10))]))
            .await;
        t.catalog.inject([Fault::Conflict; 4]);
        let change = OverwriteFiles::new()
            .rows(Predicate::eq("p", "x"))
            .add_file(t.file("c", "x", (1, 1)));
        let outcome = t.commit(change.build()).await.unwrap();
        assert_eq!(outcome.attempts, 5);
        assert_eq!(t.live().await, names(["b", "c"]));
        assert_eq!(avro_files(&t).await, reachable(&t).await);
        let manifests = t.manifests().await;
        assert_eq!(manifests.len(), 2, "manifests of the first attempt are used again");
    }
}

#[tokio::test]
async fn too_many_lost_races_fail_cleanly() {
    let t = TestTable::new(FormatVersion::V2, Layout::Unpartitioned).await;
    t.must(fast_append([t.file("a", "", (1, 10))])).await;
    let before = avro_files(&t).await;
    t.catalog.inject([Fault::Conflict; 5]);
    let error = t.commit(merge_append([t.file("b", "", (1, 1))])).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict);
    assert!(error.to_string().contains("table: db.t"), "{error}");
    assert_eq!(avro_files(&t).await, before);
    assert_eq!(t.live().await, names(["a"]));
}

#[tokio::test]
async fn the_number_of_retries_is_a_table_property() {
    let properties = [("commit.retry.num-retries", "0")];
    let t = TestTable::with_properties(FormatVersion::V2, Layout::Unpartitioned, &properties).await;
    t.catalog.inject([Fault::Conflict]);
    let error = t.commit(fast_append([t.file("a", "", (1, 1))])).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict);
    assert_eq!(t.catalog.commits(), 1);
}

#[tokio::test]
async fn a_lost_answer_to_a_commit_that_happened_is_a_success() {
    for version in ALL_VERSIONS {
        let t = TestTable::new(version, Layout::Unpartitioned).await;
        t.must(fast_append([t.file("a", "", (1, 10))])).await;
        t.catalog.inject([Fault::Conflict, Fault::UnknownApplied]);
        let outcome = t.commit(fast_append([t.file("b", "", (1, 1))])).await.unwrap();
        assert_eq!(outcome.attempts, 2);
        assert_eq!(t.current().await.snapshot_id, outcome.snapshot_ids[0]);
        assert_eq!(t.live().await, names(["a", "b"]));
        assert_eq!(avro_files(&t).await, reachable(&t).await);
    }
}

#[tokio::test]
async fn a_lost_answer_that_nobody_can_tell_deletes_nothing() {
    for fault in [Fault::UnknownLost, Fault::UnknownAndBlind] {
        let t = TestTable::new(FormatVersion::V2, Layout::Unpartitioned).await;
        t.must(fast_append([t.file("a", "", (1, 10))])).await;
        let before = avro_files(&t).await;
        t.catalog.inject([fault]);
        let error = t.commit(fast_append([t.file("b", "", (1, 1))])).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::CommitStateUnknown, "{error}");
        assert!(!crate::commit::surely_failed(&error));
        t.catalog.see_again();
        assert_eq!(
            avro_files(&t).await.difference(&before).count(),
            2,
            "manifest and list stay"
        );
    }
}

/// No retries, and quick looks at what became of a commit.
const ONE_ATTEMPT: &[(&str, &str)] = &[
    ("commit.retry.num-retries", "0"),
    ("commit.status-check.min-wait-ms", "1"),
    ("commit.status-check.max-wait-ms", "1"),
];

#[tokio::test]
async fn a_last_attempt_that_happened_though_it_was_told_it_lost_is_a_success() {
    for version in ALL_VERSIONS {
        for fault in [Fault::ConflictApplied, Fault::ConflictAppliedAndExpired] {
            let t = TestTable::with_properties(version, Layout::Unpartitioned, ONE_ATTEMPT).await;
            t.must(fast_append([t.file("a", "", (1, 10))])).await;
            t.catalog.inject([fault]);
            let outcome = t.commit(merge_append([t.file("b", "", (1, 1))])).await.unwrap();
            assert_eq!(outcome.attempts, 1);
            // Every file that the table needs is there.
            assert_eq!(t.live().await, names(["a", "b"]), "{fault:?}");
            assert!(avro_files(&t).await.is_superset(&reachable(&t).await));
        }
    }
}

#[tokio::test]
async fn what_others_built_on_and_expired_is_not_committed_twice() {
    let t = TestTable::new(FormatVersion::V2, Layout::Unpartitioned).await;
    t.must(fast_append([t.file("a", "", (1, 10))])).await;
    t.catalog.inject([Fault::ConflictAppliedAndExpired]);
    let outcome = t.commit(fast_append([t.file("b", "", (1, 1))])).await.unwrap();
    assert_eq!(outcome.attempts, 1);
    assert_eq!(t.current().await.summary["total-data-files"], "2");
    assert_eq!(t.live().await, names(["a", "b"]));
}

#[tokio::test]
async fn a_refusal_that_cannot_be_looked_into_deletes_nothing() {
    // With retries the next load fails, without them the last look at the table does.
    for retries in ["0", "4"] {
        let mut properties = ONE_ATTEMPT.to_vec();
        properties[0].1 = retries;
        let t = TestTable::with_properties(FormatVersion::V2, Layout::Unpartitioned, &properties).await;
        t.must(fast_append([t.file("a", "", (1, 10))])).await;
        t.catalog.inject([Fault::ConflictAppliedAndBlind]);
        let error = t.commit(fast_append([t.file("b", "", (1, 1))])).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::CommitStateUnknown, "{error}");
        assert!(error.to_string().contains("table: db.t"), "{error}");
        t.catalog.see_again();
        assert_eq!(t.live().await, names(["a", "b"]));
        assert_eq!(avro_files(&t).await, reachable(&t).await);
    }
}

#[tokio::test]
async fn a_creation_that_happened_though_it_was_refused_is_a_success() {
    use crate::catalog::{Catalog, TableIdent};
    use crate::commit::Transaction;
    let t = TestTable::new(FormatVersion::V2, Layout::Unpartitioned).await;
    for (i, fault) in [Fault::ConflictApplied, Fault::ExistsApplied].into_iter().enumerate() {
        let ident = TableIdent::new(t.ident.namespace.clone(), format!("new{i}"));
        let creation = super::table::creation(FormatVersion::V2, Layout::Unpartitioned, &[]);
        let staged = t.catalog.stage_table(&ident, creation).await.unwrap();
        t.catalog.inject([fault]);
        let create = Transaction::create(staged).change(fast_append([t.file("a", "", (1, 1))]));
        let outcome = create.commit(t.catalog.as_ref(), &t.options).await.unwrap();
        let new = TestTable { ident, ..t.clone() };
        assert_eq!(
            new.load().await.metadata.current_snapshot_id,
            Some(outcome.snapshot_ids[0])
        );
        assert_eq!(avro_files(&new).await, reachable(&new).await);
    }
}

#[tokio::test]
async fn a_commit_that_others_have_passed_cannot_come_late() {
    let t = TestTable::new(FormatVersion::V2, Layout::Unpartitioned).await;
    t.must(fast_append([t.file("a", "", (1, 10))])).await;
    // The answer is lost and another writer takes the sequence number: the commit is known to have failed.
    t.catalog.inject([Fault::UnknownOvertaken]);
    let outcome = t.commit(fast_append([t.file("b", "", (1, 1))])).await.unwrap();
    assert_eq!(outcome.attempts, 2);
    assert_eq!(t.live().await, names(["a", "b"]));
    assert_eq!(avro_files(&t).await, reachable(&t).await);
}

#[tokio::test]
async fn nothing_tells_of_a_first_commit_that_may_come_late() {
    let t = TestTable::new(FormatVersion::V2, Layout::Unpartitioned).await;
    t.catalog.inject([Fault::UnknownOvertaken]);
    let error = t.commit(fast_append([t.file("b", "", (1, 1))])).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::CommitStateUnknown);
}

#[tokio::test]
async fn a_plain_failure_is_cleaned_up() {
    let t = TestTable::new(FormatVersion::V2, Layout::Unpartitioned).await;
    t.must(fast_append([t.file("a", "", (1, 10))])).await;
    let before = avro_files(&t).await;
    t.catalog.inject([Fault::Io]);
    let error = t.commit(fast_append([t.file("b", "", (1, 1))])).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io);
    assert_eq!(avro_files(&t).await, before);
}

#[tokio::test]
async fn commits_are_reported() {
    let reporter = std::sync::Arc::new(CollectingReporter::default());
    let mut t = TestTable::new(FormatVersion::V2, Layout::Unpartitioned).await;
    t.options.reporter = reporter.clone();
    t.options.environment.insert("engine-name".into(), "tarn".into());
    t.catalog.inject([Fault::Conflict]);
    let id = t.must(fast_append([t.file("a", "", (1, 10))])).await;
    assert_eq!(t.current().await.summary["engine-name"], "tarn");
    let reports = reporter.take();
    let [MetricsReport::Commit(report)] = reports.as_slice() else {
        panic!("one commit report, not {reports:?}");
    };
    assert_eq!((report.table_name.as_str(), report.snapshot_id), ("test.db.t", id));
    assert_eq!((report.operation.as_str(), report.sequence_number), ("append", 1));
    assert_eq!(report.metrics.attempts.unwrap().value, 2);
    assert_eq!(report.metrics.added_records.unwrap().value, 10);
    assert_eq!(report.metadata["engine-name"], "tarn");
}

#[tokio::test]
async fn commits_can_be_spawned() {
    let t = TestTable::new(FormatVersion::V2, Layout::Unpartitioned).await;
    let spawned = t.clone();
    let commit = async move { spawned.must(fast_append([spawned.file("a", "", (1, 1))])).await };
    tokio::spawn(commit).await.unwrap();
    assert_eq!(t.live().await, names(["a"]));
}

#[tokio::test]
async fn another_table_of_the_same_name_is_left_alone() {
    use crate::catalog::{Catalog, Purge};
    let t = TestTable::new(FormatVersion::V2, Layout::Unpartitioned).await;
    let table = t.load().await;
    t.catalog.drop_table(&t.ident, Purge::Keep).await.unwrap();
    let creation = super::table::creation(FormatVersion::V2, Layout::Unpartitioned, &[]);
    t.catalog.create_table(&t.ident, creation).await.unwrap();
    let change = fast_append([t.file("a", "", (1, 1))]);
    let error = crate::commit::commit(t.catalog.as_ref(), &table, change, &t.options)
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Validation, "{error}");
    assert!(t.load().await.metadata.snapshots.is_empty());
}

#[tokio::test]
async fn writers_at_the_same_time_all_get_in() {
    let t = TestTable::with_properties(
        FormatVersion::V3,
        Layout::Unpartitioned,
        &[("commit.retry.num-retries", "100")],
    );
    let t = t.await;
    let writers = (0..8).map(|writer| {
        let t = t.clone();
        tokio::spawn(async move {
            for n in 0..10 {
                t.must(fast_append([t.file(&format!("{writer}-{n}"), "", (1, 5))]))
                    .await;
            }
        })
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await.unwrap();
    }
    assert_eq!(t.live().await.len(), 80);
    let metadata = t.load().await.metadata;
    assert_eq!(metadata.next_row_id, 400);
    assert_eq!(t.current().await.summary["total-records"], "400");
    assert_eq!(avro_files(&t).await, reachable(&t).await);
}
