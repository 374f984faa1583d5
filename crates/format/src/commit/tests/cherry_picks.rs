//! Cherry-picks: expectations from Java's `CherryPickOperation` and its messages.

use crate::catalog::Table;
use crate::commit::append::fast_append;
use crate::commit::change::Change;
use crate::commit::cherry_pick::cherry_pick;
use crate::commit::overwrite::OverwriteFiles;
use crate::commit::replace_partitions::ReplacePartitions;
use crate::error::{ErrorKind, Result};
use crate::spec::snapshot::Operation;
use crate::spec::table_metadata::FormatVersion;

use super::table::{ALL_VERSIONS, Layout, TestTable, names, summary};

async fn pick(t: &TestTable, snapshot_id: i64) -> Result<Table> {
    cherry_pick(t.catalog.as_ref(), &t.load().await, snapshot_id, &t.options).await
}

fn staged(change: Change, wap_id: &str) -> Change {
    change.staged().with_summary("wap.id", wap_id)
}

#[tokio::test]
async fn a_staged_append_is_moved_to_when_it_follows_and_copied_when_not() {
    for version in ALL_VERSIONS {
        let t = TestTable::new(version, Layout::ByP).await;
        let first = t.must(staged(fast_append([t.file("a", "x", (1, 10))]), "one")).await;
        let moved = pick(&t, first).await.unwrap();
        assert_eq!(moved.metadata.current_snapshot_id, Some(first));
        assert_eq!(moved.metadata.snapshots.len(), 1);

        let second = t.must(staged(fast_append([t.file("b", "x", (1, 5))]), "two")).await;
        t.must(fast_append([t.file("c", "y", (1, 2))])).await;
        let copied = pick(&t, second).await.unwrap();
        assert_ne!(copied.metadata.current_snapshot_id, Some(second));
        assert_eq!(t.live().await, names(["a", "b", "c"]));
        let snapshot = t.current().await;
        assert_eq!(snapshot.operation, Some(Operation::Append));
        let told = summary(&snapshot, ["published-wap-id", "source-snapshot-id", "total-records"]);
        assert_eq!(told, ["two".to_string(), second.to_string(), "17".to_string()]);

        for (id, part) in [(second, "second time"), (first, "second time")] {
            let error = pick(&t, id).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Validation);
            assert!(error.to_string().contains(part), "{error}");
        }
    }
}

#[tokio::test]
async fn what_the_history_has_is_not_picked_again() {
    let t = TestTable::new(FormatVersion::V2, Layout::ByP).await;
    let first = t.must(fast_append([t.file("a", "x", (1, 10))])).await;
    let side = t.must(fast_append([t.file("b", "x", (1, 5))]).on_branch("side")).await;
    t.must(fast_append([t.file("c", "y", (1, 2))])).await;
    pick(&t, side).await.unwrap();
    assert_eq!(t.live().await, names(["a", "b", "c"]));
    for (id, part) in [
        (first, "ancestor of the current state already"),
        (side, "was picked already"),
        (12345, "no such snapshot"),
    ] {
        let error = pick(&t, id).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Validation);
        assert!(error.to_string().contains(part), "{error}");
    }
    assert_eq!(t.live().await, names(["a", "b", "c"]));
}

#[tokio::test]
async fn replaced_partitions_are_picked_while_they_are_unchanged() {
    for version in ALL_VERSIONS {
        let t = TestTable::new(version, Layout::ByP).await;
        t.must(fast_append([t.file("a", "x", (1, 10)), t.file("b", "y", (1, 5))]))
            .await;
        let metadata = t.load().await.metadata;
        let replace = |file| ReplacePartitions::new().add_file(file).build(&metadata).staged();
        let one = t.must(replace(t.file("a2", "x", (1, 3)))).await;
        let other = t.must(replace(t.file("b2", "y", (1, 3)))).await;
        t.must(fast_append([t.file("c", "y", (6, 7))])).await;
        pick(&t, one).await.unwrap();
        assert_eq!(t.live().await, names(["a2", "b", "c"]));
        assert_eq!(t.current().await.operation, Some(Operation::Overwrite));
        // Rows of `c` would be lost.
        let error = pick(&t, other).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Validation);
        assert_eq!(t.live().await, names(["a2", "b", "c"]));
    }
}

#[tokio::test]
async fn other_overwrites_are_only_moved_to() {
    let t = TestTable::new(FormatVersion::V2, Layout::ByP).await;
    let a = t.file("a", "x", (1, 10));
    t.must(fast_append([a.clone()])).await;
    let overwrite = |name| {
        OverwriteFiles::new()
            .remove_file(a.clone())
            .add_file(t.file(name, "x", (1, 10)))
            .build()
            .staged()
    };
    let one = t.must(overwrite("b")).await;
    let other = t.must(overwrite("c")).await;
    pick(&t, one).await.unwrap();
    assert_eq!(t.live().await, names(["b"]));
    let error = pick(&t, other).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Validation);
    assert!(error.to_string().contains("no append"), "{error}");
}

#[tokio::test]
async fn a_pick_that_loses_its_place_is_copied() {
    let t = TestTable::new(FormatVersion::V2, Layout::ByP).await;
    let staged = t.must(fast_append([t.file("a", "x", (1, 10))]).staged()).await;
    t.catalog
        .rival(crate::commit::Transaction::on(t.ident.clone()).change(fast_append([t.file("b", "x", (1, 5))])));
    let table = pick(&t, staged).await.unwrap();
    assert_ne!(table.metadata.current_snapshot_id, Some(staged));
    assert_eq!(t.live().await, names(["a", "b"]));
}
