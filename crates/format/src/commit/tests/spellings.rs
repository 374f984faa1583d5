//! Deletes that spell the location of their data file otherwise than it is listed.

use std::sync::Arc;

use super::table::{DELETE_VERSIONS, Layout, TestTable, names};
use crate::commit::append::fast_append;
use crate::commit::delete::DeleteFiles;
use crate::commit::overwrite::OverwriteFiles;
use crate::commit::row_delta::RowDelta;
use crate::error::ErrorKind;
use crate::manifest::data_file::DataFile;
use crate::spec::table_metadata::FormatVersion;

/// Position deletes of `data` under another spelling.
fn deletes(t: &TestTable, path: &str, data: &DataFile, spelling: &str) -> Arc<DataFile> {
    let mut file = t.position_deletes(path, data, 1).as_ref().clone();
    file.referenced_data_file = Some(spelling.into());
    file.into()
}

#[tokio::test]
async fn new_deletes_conflict_in_every_spelling_but_not_in_other_buckets() {
    for version in DELETE_VERSIONS {
        for (spelling, is_conflict) in [("s3a://b/a", true), ("s3://c/a", false)] {
            let t = TestTable::new(version, Layout::Unpartitioned).await;
            let a = t.file("s3://b/a", "", (1, 10));
            let start = Some(t.must(fast_append([a.clone()])).await);
            let delta = RowDelta::new().add_deletes(deletes(&t, "d", &a, spelling));
            t.must(delta.build()).await;
            let change = OverwriteFiles::new().remove_file(a).from_snapshot(start);
            let result = t.commit(change.validate_no_conflicting_deletes().build()).await;
            assert_eq!(result.is_err(), is_conflict, "{spelling}");
        }
    }
}

#[tokio::test]
async fn referenced_files_are_missed_in_every_spelling() {
    for version in DELETE_VERSIONS {
        let t = TestTable::new(version, Layout::Unpartitioned).await;
        let a = t.file("s3://b/a", "", (1, 10));
        let start = Some(t.must(fast_append([a.clone()])).await);
        t.must(
            OverwriteFiles::new()
                .remove_file(a.clone())
                .add_file(t.file("n", "", (1, 10)))
                .build(),
        )
        .await;
        let delta = RowDelta::new()
            .add_deletes(deletes(&t, "d", &a, "s3a://b/a"))
            .validate_data_files_exist(["s3a://b/a".into()])
            .from_snapshot(start);
        let error = t.commit(delta.build()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Validation);
        assert!(error.to_string().contains("missing data files: s3://b/a"), "{error}");
        let both = RowDelta::new()
            .add_deletes(deletes(&t, "d", &a, "s3a://b/a"))
            .remove_rows(a);
        let error = t.commit(both.build()).await.unwrap_err();
        assert!(error.to_string().contains("referenced by new delete files"), "{error}");
    }
}

#[tokio::test]
async fn a_data_file_has_one_deletion_vector_in_any_spelling() {
    let t = TestTable::new(FormatVersion::V3, Layout::Unpartitioned).await;
    let a = t.file("s3://b/a", "", (1, 10));
    let start = t.must(fast_append([a.clone()])).await;
    let base = t
        .must(RowDelta::new().add_deletes(deletes(&t, "v", &a, "s3a://b/a")).build())
        .await;
    let add = |from| {
        RowDelta::new()
            .add_deletes(t.position_deletes("w", &a, 2))
            .from_snapshot(Some(from))
    };
    for (from, message) in [
        (start, "found concurrently added deletion vector"),
        (base, "has a deletion vector already"),
    ] {
        let error = t.commit(add(from).build()).await.unwrap_err();
        assert!(error.to_string().contains(message), "{error}");
    }
    let twice = add(base).add_deletes(deletes(&t, "x", &a, "s3n://b/a"));
    let error = t.commit(twice.build()).await.unwrap_err();
    assert!(
        error.to_string().contains("two deletion vectors for one data file"),
        "{error}"
    );
}

#[tokio::test]
async fn vectors_go_with_their_data_file_in_any_spelling() {
    let t = TestTable::new(FormatVersion::V3, Layout::Unpartitioned).await;
    let a = t.file("s3://b/a", "", (1, 10));
    let old = t.file("old", "", (1, 1));
    t.must(fast_append([a.clone(), old])).await;
    let delta = RowDelta::new()
        .add_deletes(deletes(&t, "v", &a, "s3a://b/a"))
        .add_deletes(deletes(&t, "w", &a, "s3://c/a"));
    t.must(delta.build()).await;
    t.must(DeleteFiles::new().path("s3://b/a").build()).await;
    assert_eq!(t.live().await, names(["old", "w#4"]));
}

#[tokio::test]
async fn files_are_removed_and_added_once_in_any_spelling_of_one_store() {
    for version in DELETE_VERSIONS {
        let t = TestTable::new(version, Layout::Unpartitioned).await;
        let spelled = |path: &str| t.file(path, "", (1, 10));
        let twice = [spelled("s3://b/a"), spelled("s3a://b/a"), spelled("s3://c/a")];
        t.must(fast_append(twice)).await;
        t.must(fast_append([
            spelled("/t/l"),
            spelled("file:/t/l"),
            spelled("s3://b/t/l"),
        ]))
        .await;
        assert_eq!(t.live().await, names(["s3://b/a", "s3://c/a", "/t/l", "s3://b/t/l"]));
        // By location alone, and with the partition.
        t.must(DeleteFiles::new().path("s3n://b/a").build()).await;
        let overwrite = OverwriteFiles::new().remove_file(spelled("file:///t/l"));
        t.must(overwrite.build()).await;
        assert_eq!(t.live().await, names(["s3://c/a", "s3://b/t/l"]));
        // A path alone does not tell for sure which bucket's file is meant.
        for unsure in ["/t/l", "s3://d/a"] {
            t.must(DeleteFiles::new().path(unsure).build()).await;
            assert_eq!(t.live().await, names(["s3://c/a", "s3://b/t/l"]), "{unsure}");
        }
    }
}
