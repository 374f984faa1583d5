//! Appends: snapshot fields, sequence numbers, row ids, summaries, branches, staging.

use std::collections::BTreeMap;

use super::table::{ALL_VERSIONS, Layout, TestTable, names, summary};
use crate::commit::append::{fast_append, merge_append};
use crate::error::ErrorKind;
use crate::manifest::data_file::ManifestStatus;
use crate::spec::snapshot::{MAIN_BRANCH, Operation};
use crate::spec::table_metadata::FormatVersion;

#[tokio::test]
async fn the_first_snapshot_has_the_specs_fields() {
    for version in ALL_VERSIONS {
        let t = TestTable::new(version, Layout::ByP).await;
        let files = [t.file("a", "x", (1, 10)), t.file("b", "y", (11, 15))];
        let id = t.must(fast_append(files)).await;
        let table = t.load().await;
        let metadata = &table.metadata;
        let snapshot = t.current().await;
        assert!(id > 0);
        assert_eq!(snapshot.snapshot_id, id);
        assert_eq!(snapshot.parent_snapshot_id, None);
        assert_eq!(snapshot.operation, Some(Operation::Append));
        assert_eq!(snapshot.schema_id, Some(metadata.current_schema_id));
        let sequence_number = if version == FormatVersion::V1 { 0 } else { 1 };
        assert_eq!(snapshot.sequence_number, sequence_number);
        assert_eq!(metadata.last_sequence_number, sequence_number);
        let row_ids = version == FormatVersion::V3;
        assert_eq!(snapshot.first_row_id, row_ids.then_some(0));
        assert_eq!(snapshot.added_rows, row_ids.then_some(15));
        assert_eq!(metadata.next_row_id, if row_ids { 15 } else { 0 });
        let expected = [
            ("added-data-files", "2"),
            ("added-files-size", "1500"),
            ("added-records", "15"),
            ("changed-partition-count", "2"),
            ("total-data-files", "2"),
            ("total-delete-files", "0"),
            ("total-equality-deletes", "0"),
            ("total-files-size", "1500"),
            ("total-position-deletes", "0"),
            ("total-records", "15"),
        ];
        let expected: BTreeMap<_, _> = expected.map(|(k, v)| (k.to_string(), v.to_string())).into();
        assert_eq!(snapshot.summary, expected);
        for entry in t.entries().await {
            assert_eq!(entry.status, ManifestStatus::Added);
            assert_eq!(entry.snapshot_id, Some(id));
            assert_eq!(entry.sequence_number, Some(sequence_number));
            assert_eq!(entry.file_sequence_number, Some(sequence_number));
        }
        if row_ids {
            assert_eq!(t.entry("a").await.data_file.first_row_id, Some(0));
            assert_eq!(t.entry("b").await.data_file.first_row_id, Some(10));
        }
    }
}

#[tokio::test]
async fn later_appends_keep_what_is_there() {
    for version in ALL_VERSIONS {
        let t = TestTable::new(version, Layout::Unpartitioned).await;
        let first = t.must(fast_append([t.file("a", "", (1, 10))])).await;
        let before = t.current().await;
        t.must(fast_append([t.file("b", "", (11, 13))])).await;
        let snapshot = t.current().await;
        assert_eq!(snapshot.parent_snapshot_id, Some(first));
        assert!(snapshot.timestamp_ms >= before.timestamp_ms);
        assert_eq!(t.manifests().await.len(), 2);
        assert_eq!(t.live().await, names(["a", "b"]));
        assert_eq!(t.entry("a").await.snapshot_id, Some(first));
        let totals = summary(&snapshot, ["total-records", "total-data-files", "total-files-size"]);
        assert_eq!(totals, ["13", "2", "1300"]);
        if version == FormatVersion::V3 {
            assert_eq!(t.entry("b").await.data_file.first_row_id, Some(10));
            assert_eq!(t.load().await.metadata.next_row_id, 13);
        }
    }
}

#[tokio::test]
async fn an_append_of_nothing_is_a_snapshot() {
    let t = TestTable::new(FormatVersion::V2, Layout::Unpartitioned).await;
    t.must(merge_append([])).await;
    let snapshot = t.current().await;
    assert_eq!(
        summary(&snapshot, ["changed-partition-count", "total-records"]),
        ["0", "0"]
    );
    assert!(t.manifests().await.is_empty());
}

#[tokio::test]
async fn a_file_named_twice_is_added_once() {
    let t = TestTable::new(FormatVersion::V2, Layout::Unpartitioned).await;
    let file = t.file("a", "", (1, 10));
    t.must(fast_append([file.clone(), file])).await;
    assert_eq!(
        summary(t.current().await.as_ref(), ["added-data-files", "added-records"]),
        ["1", "10"]
    );
    assert_eq!(t.entries().await.len(), 1);
}

#[tokio::test]
async fn files_that_do_not_fit_are_refused() {
    let t = TestTable::new(FormatVersion::V2, Layout::ByP).await;
    let good = t.file("a", "x", (1, 10));
    let mut wrong_spec = t.file("b", "x", (1, 10)).as_ref().clone();
    wrong_spec.spec_id = 7;
    let mut wrong_tuple = t.file("b", "x", (1, 10)).as_ref().clone();
    wrong_tuple.partition.0.clear();
    let deletes = t.equality_deletes("d", "x", (1, 2));
    for bad in [wrong_spec.into(), wrong_tuple.into(), deletes] {
        let error = t.commit(fast_append([good.clone(), bad])).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput, "{error}");
    }
    assert!(t.load().await.metadata.snapshots.is_empty());
    assert_eq!(t.catalog.commits(), 0);
}

#[tokio::test]
async fn small_manifests_are_merged_when_there_are_enough() {
    for version in ALL_VERSIONS {
        let properties = [("commit.manifest.min-count-to-merge", "3")];
        let t = TestTable::with_properties(version, Layout::Unpartitioned, &properties).await;
        let first = t.must(merge_append([t.file("a", "", (1, 10))])).await;
        t.must(merge_append([t.file("b", "", (11, 15))])).await;
        assert_eq!(t.manifests().await.len(), 2);
        let third = t.must(merge_append([t.file("c", "", (16, 18))])).await;
        let manifests = t.manifests().await;
        assert_eq!(manifests.len(), 1);
        assert_eq!(manifests[0].added_files_count, Some(1));
        assert_eq!(manifests[0].existing_files_count, Some(2));
        assert_eq!(manifests[0].added_snapshot_id, Some(third));
        let (a, c) = (t.entry("a").await, t.entry("c").await);
        assert_eq!((a.status, a.snapshot_id), (ManifestStatus::Existing, Some(first)));
        assert_eq!((c.status, c.snapshot_id), (ManifestStatus::Added, Some(third)));
        let sequence_numbers = if version == FormatVersion::V1 { [0, 0] } else { [1, 3] };
        assert_eq!([a.sequence_number, c.sequence_number], sequence_numbers.map(Some));
        assert_eq!(manifests[0].min_sequence_number, sequence_numbers[0]);
        if version == FormatVersion::V3 {
            let first_row_ids = [a.data_file.first_row_id, t.entry("b").await.data_file.first_row_id];
            assert_eq!(first_row_ids, [Some(0), Some(10)], "ids once given stay");
            assert!(c.data_file.first_row_id >= Some(15));
            let ids = [0, 10, c.data_file.first_row_id.unwrap()];
            assert!(t.load().await.metadata.next_row_id >= ids[2] + 3);
        }
    }
}

#[tokio::test]
async fn merging_respects_size_and_switch() {
    for properties in [
        [
            ("commit.manifest.min-count-to-merge", "2"),
            ("commit.manifest.target-size-bytes", "10"),
        ],
        [
            ("commit.manifest.min-count-to-merge", "2"),
            ("commit.manifest-merge.enabled", "false"),
        ],
    ] {
        let t = TestTable::with_properties(FormatVersion::V2, Layout::Unpartitioned, &properties).await;
        for (i, path) in ["a", "b", "c"].into_iter().enumerate() {
            let id = i as i64;
            t.must(merge_append([t.file(path, "", (id, id))])).await;
        }
        assert_eq!(t.manifests().await.len(), 3, "{properties:?}");
    }
}

#[tokio::test]
async fn many_files_are_rolled_into_several_manifests() {
    let properties = [("commit.manifest.target-size-bytes", "1000")];
    let t = TestTable::with_properties(FormatVersion::V3, Layout::Unpartitioned, &properties).await;
    let files: Vec<_> = (0..1_000)
        .map(|i| t.file(&format!("f{i:04}"), "", (i * 10, i * 10 + 9)))
        .collect();
    t.must(fast_append(files)).await;
    assert!(t.manifests().await.len() > 1);
    let mut ids: Vec<i64> = t
        .entries()
        .await
        .iter()
        .map(|e| e.data_file.first_row_id.unwrap())
        .collect();
    ids.sort_unstable();
    assert_eq!(
        ids,
        (0..1_000).map(|i| i * 10).collect::<Vec<_>>(),
        "no row id is given twice"
    );
}

#[tokio::test]
async fn a_branch_begins_at_the_current_snapshot_and_moves_alone() {
    let t = TestTable::new(FormatVersion::V2, Layout::Unpartitioned).await;
    let main = t.must(fast_append([t.file("a", "", (1, 10))])).await;
    let branch = t
        .must(fast_append([t.file("b", "", (11, 12))]).on_branch("audit"))
        .await;
    let metadata = t.load().await.metadata;
    assert_eq!(metadata.refs[MAIN_BRANCH].snapshot_id, main);
    assert_eq!(metadata.refs["audit"].snapshot_id, branch);
    let snapshot = metadata.snapshot_by_id(branch).unwrap();
    assert_eq!(snapshot.parent_snapshot_id, Some(main));
    assert_eq!(summary(snapshot, ["total-records"]), ["12"]);
}

#[tokio::test]
async fn a_tag_is_no_target() {
    use crate::spec::snapshot::{RefKind, SnapshotRef, SnapshotRetention};
    use crate::update::TableUpdate;
    let t = TestTable::new(FormatVersion::V2, Layout::Unpartitioned).await;
    let snapshot_id = t.must(fast_append([t.file("a", "", (1, 10))])).await;
    let tag = TableUpdate::SetSnapshotRef {
        name: "v1".into(),
        reference: SnapshotRef {
            snapshot_id,
            kind: RefKind::Tag,
            retention: SnapshotRetention::default(),
            extra: Default::default(),
        },
    };
    crate::commit::Transaction::on(t.ident.clone())
        .update(move |_| Ok(vec![tag.clone()]))
        .commit(t.catalog.as_ref(), &t.options)
        .await
        .unwrap();
    let error = t
        .commit(fast_append([t.file("b", "", (1, 1))]).on_branch("v1"))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    assert!(error.to_string().contains("is a tag, not a branch"), "{error}");
}

#[tokio::test]
async fn a_staged_snapshot_moves_no_branch() {
    let t = TestTable::new(FormatVersion::V2, Layout::Unpartitioned).await;
    let main = t.must(fast_append([t.file("a", "", (1, 10))])).await;
    let change = fast_append([t.file("b", "", (11, 12))])
        .staged()
        .with_summary("wap.id", "w1");
    let staged = t.must(change).await;
    let metadata = t.load().await.metadata;
    assert_eq!(metadata.current_snapshot_id, Some(main));
    assert_eq!(metadata.refs.len(), 1);
    let snapshot = metadata.snapshot_by_id(staged).unwrap();
    assert_eq!(snapshot.parent_snapshot_id, Some(main));
    assert_eq!(summary(snapshot, ["wap.id", "total-records"]), ["w1", "12"]);
}

#[tokio::test]
async fn partitions_are_summarised_on_request() {
    let properties = [("write.summary.partition-limit", "10")];
    let t = TestTable::with_properties(FormatVersion::V2, Layout::ByP, &properties).await;
    t.must(fast_append([t.file("a", "x", (1, 10)), t.file("b", "y", (11, 12))]))
        .await;
    let keys = ["partition-summaries-included", "partitions.p=x", "partitions.p=y"];
    let expected = [
        "true",
        "added-data-files=1,added-records=10,added-files-size=1000",
        "added-data-files=1,added-records=2,added-files-size=200",
    ];
    assert_eq!(summary(t.current().await.as_ref(), keys), expected);
}
