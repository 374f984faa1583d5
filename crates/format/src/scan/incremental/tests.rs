//! Appends and changes in ranges of snapshots, by the rules of Java's `BaseIncrementalAppendScan` and
//! `BaseIncrementalChangelogScan`.

use super::*;
use crate::error::ErrorKind;
use crate::expr::Predicate;
use crate::manifest::data_file::{DataContent, DataFile, ManifestStatus};
use crate::scan::changelog::ChangelogOperation;
use crate::scan::range::{RangeEnd, RangeStart};
use crate::scan::testing::{MemoryTable, data, with_ids};

/// 1: appends `a` and `b`. 2: appends `c`. 3: overwrites `a` by `d`. 4: rewrites `c` into `e`. 5: appends `f`.
async fn history() -> MemoryTable {
    let mut table = MemoryTable::new();
    let file = |name: &str, id: i32| with_ids(data(name), id, id);
    let new = |name: &str, id| vec![(ManifestStatus::Added, file(name, id), None)];
    table
        .added(ManifestContent::Data, 0, vec![file("a", 1), file("b", 2)])
        .await;
    table.commit(Operation::Append).await;
    table.manifest(ManifestContent::Data, 0, new("c", 3)).await;
    table.commit(Operation::Append).await;

    table.drop_manifest(0);
    let mut entries = new("d", 4);
    entries.push((ManifestStatus::Deleted, file("a", 1), Some(1)));
    entries.push((ManifestStatus::Existing, file("b", 2), Some(1)));
    table.manifest(ManifestContent::Data, 0, entries).await;
    table.commit(Operation::Overwrite).await;

    table.drop_manifest(0);
    let mut entries = new("e", 3);
    entries.push((ManifestStatus::Deleted, file("c", 3), Some(2)));
    table.manifest(ManifestContent::Data, 0, entries).await;
    table.commit(Operation::Replace).await;
    table.manifest(ManifestContent::Data, 0, new("f", 6)).await;
    table.commit(Operation::Append).await;
    table
}

async fn appends(table: &MemoryTable, range: SnapshotRange) -> Result<Vec<String>> {
    let plan = IncrementalScan::new(table.setup(), range).plan_appends().await?;
    let mut paths: Vec<String> = plan.tasks.iter().map(|t| t.path().to_string()).collect();
    paths.sort();
    Ok(paths)
}

#[tokio::test]
async fn only_what_append_snapshots_added_is_read() {
    let table = history().await;
    assert_eq!(
        appends(&table, SnapshotRange::default()).await.unwrap(),
        ["a", "b", "c", "f"]
    );
    assert_eq!(appends(&table, SnapshotRange::after(1)).await.unwrap(), ["c", "f"]);
    assert_eq!(appends(&table, SnapshotRange::between(1, 2)).await.unwrap(), ["c"]);
    assert!(appends(&table, SnapshotRange::between(2, 4)).await.unwrap().is_empty());
    let from_two = SnapshotRange {
        start: RangeStart::Inclusive(RangeEnd::Id(2)),
        ..SnapshotRange::default()
    };
    assert_eq!(appends(&table, from_two).await.unwrap(), ["c", "f"]);
}

#[tokio::test]
async fn appends_are_filtered_and_carry_no_deletes() {
    let mut table = history().await;
    let deletes = DataFile {
        content: DataContent::EqualityDeletes,
        equality_ids: vec![1],
        ..data("eq")
    };
    table.added(ManifestContent::Deletes, 0, vec![deletes]).await;
    table.commit(Operation::Delete).await;
    let setup = table.setup().filter(Predicate::lt("id", 3));
    let plan = IncrementalScan::new(setup, SnapshotRange::default())
        .plan_appends()
        .await
        .unwrap();
    assert_eq!(plan.tasks.len(), 2);
    assert!(plan.tasks.iter().all(|t| t.deletes().is_empty()));
    assert_eq!(plan.snapshot.map(|s| s.snapshot_id), Some(6));
}

#[tokio::test]
async fn an_expired_or_foreign_start_is_refused() {
    let table = history().await;
    let error = appends(&table, SnapshotRange::after(99)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    assert!(
        appends(&MemoryTable::new(), SnapshotRange::default())
            .await
            .unwrap()
            .is_empty()
    );
}

#[tokio::test]
async fn changes_come_in_order_and_rewrites_change_nothing() {
    let table = history().await;
    let scan = IncrementalScan::new(table.setup(), SnapshotRange::after(1));
    let plan = scan.plan_changelog().await.unwrap();
    let changes: Vec<_> = plan
        .tasks
        .iter()
        .map(|t| (t.change_ordinal, t.commit_snapshot_id, t.operation, t.file.path()))
        .collect();
    use ChangelogOperation::{Delete, Insert};
    assert_eq!(
        changes,
        [
            (0, 2, Insert, "c"),
            (1, 3, Delete, "a"),
            (1, 3, Insert, "d"),
            (2, 5, Insert, "f")
        ]
    );
}

#[tokio::test]
async fn changes_with_delete_files_are_unsupported() {
    let mut table = history().await;
    let deletes = DataFile {
        content: DataContent::PositionDeletes,
        ..data("pos")
    };
    table.added(ManifestContent::Deletes, 0, vec![deletes]).await;
    table.commit(Operation::Delete).await;
    let scan = |range| IncrementalScan::new(table.setup(), range);
    let error = scan(SnapshotRange::after(5)).plan_changelog().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.to_string().contains("snapshot: 6"), "{error}");
    assert_eq!(
        scan(SnapshotRange::between(4, 5))
            .plan_changelog()
            .await
            .unwrap()
            .tasks
            .len(),
        1
    );
}
