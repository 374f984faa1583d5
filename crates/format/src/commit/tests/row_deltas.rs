//! Row deltas and the rules for delete files.

use super::table::{DELETE_VERSIONS, Layout, TestTable, names, summary};
use crate::commit::append::fast_append;
use crate::commit::row_delta::RowDelta;
use crate::error::ErrorKind;
use crate::manifest::manifest_file::ManifestContent;
use crate::spec::snapshot::Operation;
use crate::spec::table_metadata::FormatVersion;

#[tokio::test]
async fn deletes_and_rows_in_one_snapshot() {
    for version in DELETE_VERSIONS {
        let t = TestTable::new(version, Layout::ByP).await;
        let a = t.file("a", "x", (1, 10));
        t.must(fast_append([a.clone()])).await;
        let delta = RowDelta::new()
            .add_rows(t.file("b", "x", (1, 2)))
            .add_deletes(t.position_deletes("d", &a, 2))
            .add_deletes(t.equality_deletes("e", "x", (5, 6)));
        t.must(delta.build()).await;
        let snapshot = t.current().await;
        assert_eq!(snapshot.operation, Some(Operation::Overwrite));
        let v3 = version == FormatVersion::V3;
        let keys = [
            "added-delete-files",
            "added-equality-delete-files",
            "added-position-deletes",
            "added-dvs",
        ];
        assert_eq!(summary(&snapshot, keys), ["2", "1", "2", if v3 { "1" } else { "-" }]);
        let keys = [
            "added-position-delete-files",
            "total-delete-files",
            "total-equality-deletes",
            "total-records",
        ];
        assert_eq!(summary(&snapshot, keys), [if v3 { "-" } else { "1" }, "2", "2", "12"]);
        let manifests = t.manifests().await;
        let deletes: Vec<_> = manifests
            .iter()
            .filter(|m| m.content == ManifestContent::Deletes)
            .collect();
        assert_eq!(deletes.len(), 1);
        assert_eq!((deletes[0].sequence_number, deletes[0].first_row_id), (2, None));
        assert_eq!(t.entry("e").await.sequence_number, Some(2));
        if v3 {
            assert_eq!((snapshot.first_row_id, snapshot.added_rows), (Some(10), Some(2)));
        }
    }
}

#[tokio::test]
async fn only_deletes_are_a_delete() {
    for version in DELETE_VERSIONS {
        let t = TestTable::new(version, Layout::Unpartitioned).await;
        let a = t.file("a", "", (1, 10));
        t.must(fast_append([a.clone()])).await;
        t.must(RowDelta::new().add_deletes(t.position_deletes("d", &a, 2)).build())
            .await;
        assert_eq!(t.current().await.operation, Some(Operation::Delete));
    }
}

#[tokio::test]
async fn format_versions_refuse_foreign_deletes() {
    let v1 = TestTable::new(FormatVersion::V1, Layout::Unpartitioned).await;
    let v2 = TestTable::new(FormatVersion::V2, Layout::Unpartitioned).await;
    let v3 = TestTable::new(FormatVersion::V3, Layout::Unpartitioned).await;
    let a = v1.file("a", "", (1, 10));
    let cases = [
        (
            &v1,
            v1.equality_deletes("e", "", (1, 1)),
            "deletes are supported in format version 2 and above",
        ),
        (
            &v2,
            v3.position_deletes("v", &a, 1),
            "must not use deletion vectors in format version 2",
        ),
        (
            &v3,
            v2.position_deletes("p", &a, 1),
            "must use deletion vectors for position deletes in format version 3",
        ),
    ];
    for (t, file, message) in cases {
        let error = t.commit(RowDelta::new().add_deletes(file).build()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        assert!(error.to_string().contains(message), "{error}");
    }
}

#[tokio::test]
async fn a_data_file_has_one_deletion_vector() {
    let t = TestTable::new(FormatVersion::V3, Layout::ByP).await;
    let a = t.file("a", "x", (1, 10));
    t.must(fast_append([a.clone()])).await;
    let old = t.position_deletes("v1", &a, 1);
    let new = t.position_deletes("v2", &a, 2);
    let both = RowDelta::new()
        .add_deletes(old.clone())
        .add_deletes(new.clone())
        .build();
    let error = t.commit(both).await.unwrap_err();
    assert!(
        error.to_string().contains("two deletion vectors for one data file: a"),
        "{error}"
    );
    let base = t.must(RowDelta::new().add_deletes(old.clone()).build()).await;
    let add = || RowDelta::new().add_deletes(new.clone()).from_snapshot(Some(base));
    let error = t.commit(add().build()).await.unwrap_err();
    assert!(error.to_string().contains("has a deletion vector already"), "{error}");
    t.must(add().remove_deletes(old).build()).await;
    assert_eq!(t.live().await, names(["a", "v2#4"]));
    let keys = [
        "added-dvs",
        "removed-dvs",
        "added-position-deletes",
        "removed-position-deletes",
    ];
    assert_eq!(summary(t.current().await.as_ref(), keys), ["1", "1", "2", "1"]);
    assert_eq!(
        summary(
            t.current().await.as_ref(),
            ["total-delete-files", "total-position-deletes"]
        ),
        ["1", "2"]
    );
}

#[tokio::test]
async fn two_vectors_in_one_puffin_file_are_two_files() {
    let t = TestTable::new(FormatVersion::V3, Layout::Unpartitioned).await;
    let (a, b) = (t.file("a", "", (1, 10)), t.file("b", "", (11, 20)));
    t.must(fast_append([a.clone(), b.clone()])).await;
    let va = t.position_deletes("v", &a, 1);
    let mut vb = t.position_deletes("v", &b, 2).as_ref().clone();
    vb.content_offset = Some(44);
    let base = t
        .must(RowDelta::new().add_deletes(va.clone()).add_deletes(vb.into()).build())
        .await;
    assert_eq!(t.live().await, names(["a", "b", "v#4", "v#44"]));
    let replace = RowDelta::new()
        .remove_deletes(va)
        .add_deletes(t.position_deletes("w", &a, 3));
    t.must(replace.from_snapshot(Some(base)).validate_deleted_files().build())
        .await;
    assert_eq!(t.live().await, names(["a", "b", "v#44", "w#4"]));
}

#[tokio::test]
async fn a_file_is_not_removed_and_deleted_from_at_once() {
    let t = TestTable::new(FormatVersion::V3, Layout::Unpartitioned).await;
    let a = t.file("a", "", (1, 10));
    t.must(fast_append([a.clone()])).await;
    let delta = RowDelta::new()
        .add_deletes(t.position_deletes("v", &a, 1))
        .remove_rows(a);
    let error = t.commit(delta.build()).await.unwrap_err();
    assert!(
        error.to_string().contains("referenced by new delete files: a"),
        "{error}"
    );
}
