//! Choosing snapshots. Rules and errors are those of Java's `SnapshotUtil` and `SnapshotScan`.

use std::sync::Arc;

use super::*;
use crate::error::ErrorKind;
use crate::scan::testing::{reference, schema, snapshot, table};
use crate::spec::snapshot::SnapshotRef;
use crate::spec::table_metadata::SnapshotLogEntry;

/// 1 <- 2 <- 3 (current) and 2 <- 4 (branch `b`), a tag on 2; snapshot 2 has schema 1, and schema 2 is current.
fn history() -> TableMetadata {
    let mut table = table();
    table.schemas.push(Arc::new(schema().with_schema_id(1)));
    table.schemas.push(Arc::new(schema().with_schema_id(2)));
    table.current_schema_id = 2;
    let mut second = snapshot(2, Some(1), "l2");
    second.schema_id = Some(1);
    table.snapshots = [
        snapshot(1, None, "l1"),
        second,
        snapshot(3, Some(2), "l3"),
        snapshot(4, Some(2), "l4"),
    ]
    .map(Arc::new)
    .into();
    table.current_snapshot_id = Some(3);
    let refs = [
        ("main", reference(3, RefKind::Branch)),
        ("b", reference(4, RefKind::Branch)),
        ("t", reference(2, RefKind::Tag)),
    ];
    table.refs = refs.map(|(n, r): (&str, SnapshotRef)| (n.to_string(), r)).into();
    table.snapshot_log = [1, 2, 3]
        .map(|id| SnapshotLogEntry {
            timestamp_ms: id * 100,
            snapshot_id: id,
            extra: Default::default(),
        })
        .into();
    table
}

fn chosen(selector: SnapshotSelector) -> (Option<i64>, i32) {
    let selected = selector.select(&history()).unwrap();
    (selected.snapshot.map(|s| s.snapshot_id), selected.schema.schema_id())
}

#[test]
fn time_travel_reads_with_the_snapshots_schema_and_branches_with_the_tables() {
    assert_eq!(chosen(SnapshotSelector::Current), (Some(3), 2));
    assert_eq!(chosen(SnapshotSelector::Ref("main".into())), (Some(3), 2));
    assert_eq!(chosen(SnapshotSelector::Ref("b".into())), (Some(4), 2));
    assert_eq!(chosen(SnapshotSelector::Ref("t".into())), (Some(2), 1));
    assert_eq!(chosen(SnapshotSelector::Id(2)), (Some(2), 1));
    assert_eq!(chosen(SnapshotSelector::Id(3)), (Some(3), 0));
    assert_eq!(chosen(SnapshotSelector::AsOf(299)), (Some(2), 1));
}

#[test]
fn an_empty_table_has_a_current_state() {
    let selected = SnapshotSelector::Current.select(&table()).unwrap();
    assert!(selected.snapshot.is_none());
    assert!(
        SnapshotSelector::Ref("main".into())
            .select(&table())
            .unwrap()
            .snapshot
            .is_none()
    );
}

#[test]
fn what_is_missing_is_named() {
    let fails = |selector: SnapshotSelector| selector.select(&history()).unwrap_err();
    let unknown = fails(SnapshotSelector::Id(77));
    assert_eq!(
        (unknown.kind(), unknown.message()),
        (ErrorKind::NotFound, "cannot find snapshot with id 77")
    );
    let unknown = fails(SnapshotSelector::Ref("x".into()));
    assert_eq!(
        (unknown.kind(), unknown.message()),
        (ErrorKind::NotFound, "cannot find ref 'x'")
    );
    let early = fails(SnapshotSelector::AsOf(99));
    assert_eq!(
        early.message(),
        "cannot find a snapshot older than 1970-01-01T00:00:00.099+00:00"
    );

    let mut table = history();
    table.refs.insert("gone".into(), reference(99, RefKind::Tag));
    let dangling = SnapshotSelector::Ref("gone".into()).select(&table).unwrap_err();
    assert_eq!(dangling.kind(), ErrorKind::Corrupt);
    table.schemas.remove(1);
    assert_eq!(
        SnapshotSelector::Id(2).select(&table).unwrap_err().kind(),
        ErrorKind::Corrupt
    );
}

#[test]
fn time_is_looked_up_in_the_log_not_in_the_snapshots() {
    let mut table = history();
    // Rolled back to 1 at 350 ms.
    table.snapshot_log.push(SnapshotLogEntry {
        timestamp_ms: 350,
        snapshot_id: 1,
        extra: Default::default(),
    });
    assert_eq!(snapshot_id_as_of(&table, 349).unwrap(), 3);
    assert_eq!(snapshot_id_as_of(&table, 350).unwrap(), 1);
    assert_eq!(snapshot_id_as_of(&table, 100).unwrap(), 1);
    assert_eq!(snapshot_id_as_of(&table, i64::MAX).unwrap(), 1);
    let far = snapshot_id_as_of(&table, i64::MIN).unwrap_err();
    assert_eq!(far.kind(), ErrorKind::NotFound);
}

#[test]
fn history_is_walked_to_the_oldest_kept_snapshot() {
    let table = history();
    let ids = |latest, oldest| {
        ancestors_between(&table, latest, oldest)
            .map(|s| s.snapshot_id)
            .collect::<Vec<_>>()
    };
    assert_eq!(ids(3, None), [3, 2, 1]);
    assert_eq!(ids(3, Some(1)), [3, 2]);
    assert!(ids(3, Some(3)).is_empty());
    assert!(is_ancestor_of(&table, 4, 1) && is_ancestor_of(&table, 4, 4));
    assert!(!is_ancestor_of(&table, 4, 3));
    assert!(is_parent_ancestor_of(&table, 4, 2) && !is_parent_ancestor_of(&table, 4, 4));
    assert_eq!(oldest_ancestor_of(&table, 4).map(|s| s.snapshot_id), Some(1));
    assert_eq!(snapshot_after(&table, 2).unwrap().snapshot_id, 3);
    assert_eq!(snapshot_after(&table, 4).unwrap_err().kind(), ErrorKind::InvalidInput);
    assert_eq!(snapshot_after(&table, 9).unwrap_err().kind(), ErrorKind::NotFound);
}

#[test]
fn oldest_ancestor_after_a_time() {
    let mut table = history();
    let id = |table: &TableMetadata, ms| oldest_ancestor_after(table, ms).map(|s| s.map(|s| s.snapshot_id));
    assert_eq!(id(&table, 200).unwrap(), Some(2));
    assert_eq!(id(&table, 201).unwrap(), Some(3));
    assert_eq!(id(&table, 301).unwrap(), None);
    assert_eq!(id(&table, 50).unwrap(), Some(1));
    table.snapshots.remove(0);
    assert_eq!(id(&table, 50).unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(id(&super::super::testing::table(), 50).unwrap(), None);
}

#[test]
fn a_circle_in_the_history_ends() {
    let mut table = history();
    table.snapshots[0] = Arc::new(snapshot(1, Some(3), "l1"));
    assert_eq!(ancestors(&table, 3).count(), 3);
}

#[test]
fn of_several_commits_in_a_millisecond_time_travel_reads_the_last() {
    let mut table = history();
    table.snapshot_log = [(100, 1), (200, 2), (200, 3), (300, 1)]
        .map(|(timestamp_ms, snapshot_id)| SnapshotLogEntry {
            timestamp_ms,
            snapshot_id,
            extra: Default::default(),
        })
        .into();
    assert_eq!(snapshot_id_as_of(&table, 199).unwrap(), 1);
    assert_eq!(snapshot_id_as_of(&table, 200).unwrap(), 3);
    assert_eq!(snapshot_id_as_of(&table, 299).unwrap(), 3);
}
