//! Snapshots, refs and the snapshot log.

use super::*;

#[test]
fn sequence_numbers_grow() {
    let base = table(FormatVersion::V2);
    let one = change(&base, &[TableUpdate::AddSnapshot(snapshot(1, None, 1)), set_main(1)]).unwrap();
    assert_eq!((one.last_sequence_number, one.current_snapshot_id), (1, Some(1)));
    assert_eq!(
        one.snapshot_log,
        [crate::spec::table_metadata::SnapshotLogEntry {
            timestamp_ms: NOW + 1,
            snapshot_id: 1,
            extra: Default::default(),
        }]
    );
    let stale = change(&one, &[TableUpdate::AddSnapshot(snapshot(2, Some(1), 1))]);
    assert_eq!(kind(stale), ErrorKind::Conflict);
    let twice = change(&one, &[TableUpdate::AddSnapshot(snapshot(1, Some(1), 2))]);
    assert_eq!(kind(twice), ErrorKind::Validation);
    let v1 = table(FormatVersion::V1);
    assert!(change(&v1, &[TableUpdate::AddSnapshot(snapshot(1, None, 1))]).is_err());
    assert!(change(&v1, &[TableUpdate::AddSnapshot(snapshot(1, None, 0))]).is_ok());
}

#[test]
fn v3_row_ids_are_given_once() {
    let base = table(FormatVersion::V3);
    let with_rows = |id, sequence_number, first, added| Snapshot {
        first_row_id: first,
        added_rows: added,
        ..snapshot(id, None, sequence_number)
    };
    let one = change(&base, &[TableUpdate::AddSnapshot(with_rows(1, 1, Some(0), Some(10)))]).unwrap();
    assert_eq!(one.next_row_id, 10);
    let two = change(&one, &[TableUpdate::AddSnapshot(with_rows(2, 2, Some(10), Some(0)))]).unwrap();
    assert_eq!(two.next_row_id, 10);
    let stale = change(&one, &[TableUpdate::AddSnapshot(with_rows(2, 2, Some(9), Some(1)))]);
    assert_eq!(kind(stale), ErrorKind::Conflict);
    let before_upgrade = change(&one, &[TableUpdate::AddSnapshot(with_rows(2, 2, None, None))]);
    assert_eq!(kind(before_upgrade), ErrorKind::Conflict);
    for (first, added) in [(Some(10), None), (Some(10), Some(-1)), (Some(i64::MAX), Some(1))] {
        let wrong = change(&one, &[TableUpdate::AddSnapshot(with_rows(2, 2, first, added))]);
        assert_eq!(kind(wrong), ErrorKind::Validation, "{first:?} {added:?}");
    }
}

fn log_of(table: &TableMetadata) -> Vec<i64> {
    table.snapshot_log.iter().map(|entry| entry.snapshot_id).collect()
}

#[test]
fn the_snapshot_log_tells_what_was_current_between_commits() {
    let base = table(FormatVersion::V2);
    let three = change(
        &base,
        &[
            TableUpdate::AddSnapshot(snapshot(1, None, 1)),
            set_main(1),
            TableUpdate::AddSnapshot(snapshot(2, Some(1), 2)),
            set_main(2),
        ],
    )
    .unwrap();
    // Snapshot 1 was current only inside the commit.
    assert_eq!(log_of(&three), [2]);
    let three = change(
        &three,
        &[TableUpdate::AddSnapshot(snapshot(3, Some(2), 3)), set_main(3)],
    )
    .unwrap();
    let back = change(&three, &[set_main(2)]).unwrap();
    assert_eq!(log_of(&back), [2, 3, 2]);
    // Going back is dated by the commit, not by the snapshot.
    assert_eq!(back.snapshot_log[2].timestamp_ms, NOW + 1000);
    // Removing 3 leaves a gap, so that what came before it goes too.
    let expired = change(&back, &[TableUpdate::RemoveSnapshots(vec![3])]).unwrap();
    assert_eq!(log_of(&expired), [2]);
    assert_eq!(expired.snapshots.len(), 2);
}

#[test]
fn removing_snapshots_removes_refs_and_statistics() {
    let base = table(FormatVersion::V2);
    let statistics = StatisticsFile {
        snapshot_id: 1,
        statistics_path: "s3://b/t/metadata/1.stats".into(),
        file_size_bytes: 10,
        file_footer_size_bytes: 5,
        key_metadata: None,
        blob_metadata: vec![],
        extra: Default::default(),
    };
    let base = change(
        &base,
        &[
            TableUpdate::AddSnapshot(snapshot(1, None, 1)),
            set_main(1),
            TableUpdate::SetSnapshotRef {
                name: "t".into(),
                reference: SnapshotRef::tag(1),
            },
            TableUpdate::SetStatistics(statistics.clone()),
            TableUpdate::SetStatistics(statistics),
        ],
    )
    .unwrap();
    assert_eq!((base.refs.len(), base.statistics.len()), (2, 1));
    let remove = || TableUpdate::RemoveSnapshots(vec![1, 99]);
    let unname = |name: &str| TableUpdate::RemoveSnapshotRef(name.into());
    let emptied = change(&base, &[unname("t"), remove(), unname(MAIN_BRANCH)]).unwrap();
    assert!(emptied.refs.is_empty() && emptied.statistics.is_empty() && emptied.snapshot_log.is_empty());
    assert_eq!((emptied.current_snapshot_id, emptied.last_sequence_number), (None, 1));
    // A tag that the change does not know of is another writer's.
    assert_eq!(
        kind(change(&base, &[unname(MAIN_BRANCH), remove()])),
        ErrorKind::Conflict
    );
    let unchanged = change(&base, &[TableUpdate::RemoveSnapshots(vec![99])]).unwrap();
    assert_eq!(unchanged, base);
}

#[test]
fn refs_keep_their_rules() {
    let base = change(
        &table(FormatVersion::V2),
        &[TableUpdate::AddSnapshot(snapshot(1, None, 1)), set_main(1)],
    )
    .unwrap();
    let with = |kind: fn(i64) -> SnapshotRef, keep, age, ref_age| {
        let mut reference = kind(1);
        reference.retention.min_snapshots_to_keep = keep;
        reference.retention.max_snapshot_age_ms = age;
        reference.retention.max_ref_age_ms = ref_age;
        reference
    };
    for (name, reference, fine) in [
        (MAIN_BRANCH, SnapshotRef::tag(1), false),
        ("t", with(SnapshotRef::tag, Some(1), None, None), false),
        ("t", with(SnapshotRef::tag, None, Some(1), None), false),
        ("t", with(SnapshotRef::tag, None, None, Some(1)), true),
        ("b", with(SnapshotRef::branch, Some(0), None, None), false),
        ("b", with(SnapshotRef::branch, Some(1), Some(0), None), false),
        ("b", with(SnapshotRef::branch, Some(1), Some(1), Some(0)), false),
        ("b", with(SnapshotRef::branch, Some(1), Some(1), Some(1)), true),
    ] {
        let update = TableUpdate::SetSnapshotRef {
            name: name.into(),
            reference: reference.clone(),
        };
        assert_eq!(change(&base, &[update]).is_ok(), fine, "{name} {reference:?}");
    }
    let headless = change(&base, &[TableUpdate::RemoveSnapshotRef(MAIN_BRANCH.into())]).unwrap();
    assert_eq!((headless.current_snapshot_id, headless.snapshots.len()), (None, 1));
}
