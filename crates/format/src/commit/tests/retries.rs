//! What attempts may take over from those before them, and what they must find out anew.

use std::sync::Arc;

use super::catalog::Fault;
use super::table::{ALL_VERSIONS, DELETE_VERSIONS, Layout, TestTable, names};
use crate::commit::append::{fast_append, merge_append};
use crate::commit::delete::DeleteFiles;
use crate::commit::retry::RetryPolicy;
use crate::commit::rewrite::RewriteFiles;
use crate::commit::rewrite_manifests::{ManifestRewrite, rewrite_manifests};
use crate::commit::row_delta::RowDelta;
use crate::commit::status_check::{CommitStatus, Sought, SoughtTable, check};
use crate::commit::{Change, Transaction};
use crate::error::ErrorKind;
use crate::spec::snapshot::{Properties, Snapshot};
use crate::spec::table_metadata::FormatVersion;
use crate::update::TableUpdate;

fn on(t: &TestTable) -> Transaction {
    Transaction::on(t.ident.clone())
}

/// The second step sees the first one's manifest, whose sequence number and row ids are others in every attempt.
#[tokio::test]
async fn later_steps_list_what_earlier_ones_wrote_in_this_attempt() {
    type Make = fn(&TestTable) -> Change;
    let seconds: [(&str, Make); 3] = [
        ("100", |_| DeleteFiles::new().path("nowhere").build()),
        ("2", |t| merge_append([t.file("b", "", (1, 2))])),
        ("100", |_| rewrite_manifests(ManifestRewrite::default())),
    ];
    let rivals: [Make; 2] = [
        |t| fast_append([t.file("late", "", (1, 5))]),
        |t| RowDelta::new().add_deletes(t.equality_deletes("e", "", (1, 5))).build(),
    ];
    for version in DELETE_VERSIONS {
        for (case, (min_count, second)) in seconds.iter().enumerate() {
            for (rival, late_rows) in rivals.iter().zip([5, 0]) {
                let properties = [("commit.manifest.min-count-to-merge", *min_count)];
                let t = TestTable::with_properties(version, Layout::Unpartitioned, &properties).await;
                t.must(fast_append([t.file("m", "", (1, 10))])).await;
                t.catalog.rival(on(&t).change(rival(&t)));
                let transaction = on(&t)
                    .change(fast_append([t.file("a", "", (1, 10))]))
                    .change(second(&t));
                let outcome = transaction.commit(t.catalog.as_ref(), &t.options).await.unwrap();
                assert_eq!(outcome.attempts, 2);
                let a = t.entry("a").await;
                assert_eq!(a.sequence_number, Some(3), "case {case}, late rows {late_rows}");
                let row_id = (version == FormatVersion::V3).then_some(10 + late_rows);
                assert_eq!(a.data_file.first_row_id, row_id, "case {case}, late rows {late_rows}");
            }
        }
    }
}

#[tokio::test]
async fn row_ids_that_a_winner_gave_after_an_upgrade_stay() {
    let t = TestTable::new(FormatVersion::V2, Layout::Unpartitioned).await;
    t.must(fast_append([t.file("m", "", (1, 10))])).await;
    let upgrade = |_: &_| Ok(vec![TableUpdate::UpgradeFormatVersion(FormatVersion::V3)]);
    t.catalog.rival(on(&t).update(upgrade));
    t.catalog
        .rival(on(&t).change(fast_append([t.file("late", "", (1, 5))])));
    let change = DeleteFiles::new().path("nowhere").build();
    let outcome = t.commit(change).await.unwrap();
    assert_eq!(
        outcome.attempts, 3,
        "a snapshot without row ids is made anew for the upgraded table"
    );
    // The winner listed its own manifest first.
    let row_ids = (
        t.entry("late").await.data_file.first_row_id,
        t.entry("m").await.data_file.first_row_id,
    );
    assert_eq!(row_ids, (Some(0), Some(5)));
    assert_eq!(t.load().await.metadata.next_row_id, 15);
}

#[tokio::test]
async fn deletes_that_apply_to_files_a_winner_brought_stay() {
    let t = TestTable::new(FormatVersion::V2, Layout::Unpartitioned).await;
    t.must(fast_append([t.file("a", "", (1, 10))])).await;
    t.must(RowDelta::new().add_deletes(t.equality_deletes("e", "", (1, 5))).build())
        .await;
    let b = t.file("b", "", (1, 10));
    t.must(fast_append([b.clone()])).await;
    // Without `a`, all data files are newer than the deletes; with `c`, which keeps an old number, they are not.
    let rewrite = RewriteFiles::new()
        .replace_file(b)
        .add_file(t.file("c", "", (1, 10)))
        .data_sequence_number(1);
    t.catalog.rival(on(&t).change(rewrite.build()));
    let outcome = t.commit(DeleteFiles::new().path("a").build()).await.unwrap();
    assert_eq!(outcome.attempts, 2);
    assert_eq!(t.live().await, names(["c", "e"]));
}

#[tokio::test]
async fn a_commit_that_happened_is_not_repeated_when_it_is_told_it_lost() {
    for version in ALL_VERSIONS {
        for faults in [
            vec![Fault::ConflictApplied],
            vec![Fault::Conflict, Fault::ConflictApplied],
        ] {
            let t = TestTable::new(version, Layout::Unpartitioned).await;
            t.must(fast_append([t.file("a", "", (1, 10))])).await;
            let tried = faults.len() as u32;
            t.catalog.inject(faults);
            let outcome = t.commit(merge_append([t.file("b", "", (1, 1))])).await.unwrap();
            assert_eq!(outcome.attempts, tried);
            let metadata = t.load().await.metadata;
            assert_eq!(metadata.snapshots.len(), 2);
            assert_eq!(metadata.current_snapshot_id, Some(outcome.snapshot_ids[0]));
            assert_eq!(t.live().await, names(["a", "b"]));
        }
    }
}

#[tokio::test]
async fn a_failure_proves_nothing_for_changes_that_leave_no_snapshot() {
    let t = TestTable::new(FormatVersion::V2, Layout::Unpartitioned).await;
    let set = || {
        let properties = Properties::from([("k".to_string(), "v".to_string())]);
        on(&t).update(move |_| Ok(vec![TableUpdate::SetProperties(properties.clone())]))
    };
    for (fault, kind) in [
        (Fault::Io, ErrorKind::Io),
        (Fault::IoApplied, ErrorKind::CommitStateUnknown),
    ] {
        t.catalog.inject([fault]);
        let error = set().commit(t.catalog.as_ref(), &t.options).await.unwrap_err();
        assert_eq!(error.kind(), kind, "{fault:?}: {error}");
    }
}

async fn status(t: &TestTable, snapshots: &[&Snapshot]) -> CommitStatus {
    let policy = RetryPolicy {
        num_retries: 0,
        min_wait_ms: 1,
        max_wait_ms: 1,
        total_timeout_ms: 1,
    };
    let updates: Vec<_> = snapshots
        .iter()
        .map(|s| TableUpdate::AddSnapshot((*s).clone()))
        .collect();
    let snapshot_ids: Vec<i64> = snapshots.iter().map(|s| s.snapshot_id).collect();
    let sought = Sought {
        updates: &updates,
        snapshot_ids: &snapshot_ids,
        table: SoughtTable::Existing(None),
        base_location: None,
    };
    check(t.catalog.as_ref(), &t.ident, &policy, sought).await
}

#[tokio::test]
async fn expired_snapshots_did_not_fail() {
    let t = TestTable::new(FormatVersion::V2, Layout::Unpartitioned).await;
    for path in ["a", "b", "c", "d"] {
        t.must(fast_append([t.file(path, "", (1, 10))])).await;
    }
    let snapshots: Vec<Arc<Snapshot>> = t.load().await.metadata.snapshots.clone();
    let [_, b, c, _] = snapshots.as_slice() else {
        panic!("four snapshots");
    };
    let other = Snapshot {
        snapshot_id: b.snapshot_id + 1,
        ..b.as_ref().clone()
    };
    let taken = status(&t, &[&other]).await;
    assert!(
        matches!(taken, CommitStatus::Failed),
        "another has the number: {taken:?}"
    );
    let expire = |id: i64| {
        t.catalog
            .meddle(&t.ident, |table| table.snapshots.retain(|s| s.snapshot_id != id));
    };
    expire(b.snapshot_id);
    let partly = status(&t, &[b, c]).await;
    assert!(matches!(partly, CommitStatus::Committed(_)), "one is there: {partly:?}");
    let built_upon = status(&t, &[b]).await;
    assert!(matches!(built_upon, CommitStatus::Committed(_)), "{built_upon:?}");
    expire(c.snapshot_id);
    let gone = status(&t, &[b]).await;
    assert!(matches!(gone, CommitStatus::Missing), "{gone:?}");
}
