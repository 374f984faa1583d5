//! Rewrites of manifests, and manifests of old writers.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::table::{ALL_VERSIONS, Layout, TestTable, names, summary};
use crate::commit::append::fast_append;
use crate::commit::rewrite_manifests::{ManifestRewrite, rewrite_manifests};
use crate::commit::row_delta::RowDelta;
use crate::error::ErrorKind;
use crate::manifest::data_file::ManifestStatus;
use crate::spec::snapshot::Operation;
use crate::spec::table_metadata::FormatVersion;

#[tokio::test]
async fn manifests_are_combined_and_files_stay() {
    for version in ALL_VERSIONS {
        let t = TestTable::new(version, Layout::ByP).await;
        let first = t.must(fast_append([t.file("a", "y", (1, 10))])).await;
        t.must(fast_append([t.file("b", "x", (11, 15))])).await;
        let before = t.entries().await;
        let row_id_before = t.load().await.metadata.next_row_id;
        t.must(rewrite_manifests(ManifestRewrite::default())).await;
        let snapshot = t.current().await;
        assert_eq!(snapshot.operation, Some(Operation::Replace));
        let keys = [
            "manifests-created",
            "manifests-kept",
            "manifests-replaced",
            "entries-processed",
        ];
        assert_eq!(summary(&snapshot, keys), ["1", "0", "2", "2"]);
        assert_eq!(
            summary(&snapshot, ["total-records", "changed-partition-count"]),
            ["15", "0"]
        );
        let entries = t.entries().await;
        let paths: Vec<&str> = entries.iter().map(|e| e.data_file.file_path.as_ref()).collect();
        assert_eq!(paths, ["b", "a"], "clustered by partition");
        assert!(entries.iter().all(|e| e.status == ManifestStatus::Existing));
        assert_eq!(t.entry("a").await.snapshot_id, Some(first));
        for old in before {
            let new = t.entry(&old.data_file.file_path).await;
            assert_eq!(new.sequence_number, old.sequence_number);
            assert_eq!(new.file_sequence_number, old.file_sequence_number);
            assert_eq!(new.data_file.first_row_id, old.data_file.first_row_id);
        }
        let metadata = t.load().await.metadata;
        if version == FormatVersion::V3 {
            let added = snapshot.added_rows.unwrap();
            assert_eq!(metadata.next_row_id, row_id_before + added);
        }
    }
}

#[tokio::test]
async fn some_manifests_can_be_chosen() {
    let t = TestTable::new(FormatVersion::V2, Layout::Unpartitioned).await;
    let a = t.file("a", "", (1, 10));
    t.must(fast_append([a.clone()])).await;
    t.must(fast_append([t.file("b", "", (11, 15))])).await;
    t.must(RowDelta::new().add_deletes(t.position_deletes("d", &a, 1)).build())
        .await;
    let manifests = t.manifests().await;
    let chosen: BTreeSet<String> = manifests[1..].iter().map(|m| m.manifest_path.clone()).collect();
    let rewrite = ManifestRewrite {
        paths: Some(chosen.clone()),
        ..ManifestRewrite::default()
    };
    t.must(rewrite_manifests(rewrite.clone())).await;
    assert_eq!(t.live().await, names(["a", "b", "d"]));
    let after: BTreeSet<String> = t.manifests().await.into_iter().map(|m| m.manifest_path).collect();
    assert!(after.contains(&manifests[0].manifest_path) && after.is_disjoint(&chosen));
    let error = t.commit(rewrite_manifests(rewrite)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Validation);
    assert!(
        error.to_string().contains("no longer in the current snapshot"),
        "{error}"
    );
}

#[tokio::test]
async fn upgraded_tables_go_on() {
    use crate::commit::Transaction;
    use crate::commit::append::merge_append;
    use crate::update::TableUpdate;
    let properties = [("commit.manifest.min-count-to-merge", "3")];
    let mut t = TestTable::with_properties(FormatVersion::V1, Layout::Unpartitioned, &properties).await;
    t.must(fast_append([t.file("a", "", (1, 10))])).await;
    for version in [FormatVersion::V2, FormatVersion::V3] {
        Transaction::on(t.ident.clone())
            .update(move |_| Ok(vec![TableUpdate::UpgradeFormatVersion(version)]))
            .commit(t.catalog.as_ref(), &t.options)
            .await
            .unwrap();
        t.version = version;
        let path = format!("of-{version}");
        t.must(fast_append([t.file(&path, "", (1, 5))])).await;
    }
    let sequence_numbers = [("a", 0), ("of-2", 1), ("of-3", 2)];
    for (path, n) in sequence_numbers {
        assert_eq!(t.entry(path).await.sequence_number, Some(n), "{path}");
    }
    t.must(merge_append([t.file("z", "", (1, 1))])).await;
    assert_eq!(t.manifests().await.len(), 1);
    for (path, n) in sequence_numbers {
        let entry = t.entry(path).await;
        assert_eq!(
            (entry.sequence_number, entry.status),
            (Some(n), ManifestStatus::Existing),
            "{path}"
        );
    }
    // After the upgrade every live row has an id, and no id is given twice.
    let mut taken: Vec<(i64, i64)> = Vec::new();
    for entry in t.entries().await {
        let first = entry.data_file.first_row_id.expect("a row id");
        taken.push((first, first + entry.data_file.record_count));
    }
    taken.sort_unstable();
    assert!(taken.windows(2).all(|w| w[0].1 <= w[1].0), "{taken:?}");
    assert!(taken.last().unwrap().1 <= t.load().await.metadata.next_row_id);
}

#[tokio::test]
async fn v1_snapshots_that_embed_their_manifests_are_built_upon() {
    use crate::commit::Transaction;
    use crate::commit::append::merge_append;
    use crate::commit::delete::DeleteFiles;
    use crate::spec::snapshot::SnapshotManifests;
    use crate::update::TableUpdate;
    let properties = [("commit.manifest.min-count-to-merge", "2")];
    for upgraded in [FormatVersion::V1, FormatVersion::V2, FormatVersion::V3] {
        let t = TestTable::with_properties(FormatVersion::V1, Layout::ByP, &properties).await;
        let first = t
            .must(fast_append([t.file("a", "x", (1, 10)), t.file("b", "y", (1, 5))]))
            .await;
        let paths: Vec<String> = t.manifests().await.into_iter().map(|m| m.manifest_path).collect();
        t.catalog.meddle(&t.ident, |metadata| {
            let snapshot = Arc::make_mut(&mut metadata.snapshots[0]);
            snapshot.manifests = SnapshotManifests::Embedded(paths);
        });
        Transaction::on(t.ident.clone())
            .update(move |_| Ok(vec![TableUpdate::UpgradeFormatVersion(upgraded)]))
            .commit(t.catalog.as_ref(), &t.options)
            .await
            .unwrap();
        t.must(fast_append([t.file("c", "x", (1, 1))])).await;
        let old = t.manifests().await.pop().unwrap();
        if upgraded > FormatVersion::V1 {
            assert_eq!((old.added_files_count, old.added_rows_count), (Some(2), Some(15)));
        }
        assert_eq!(old.added_snapshot_id, Some(first));
        t.must(DeleteFiles::new().path("a").build()).await;
        t.must(merge_append([t.file("d", "x", (1, 1))])).await;
        assert_eq!(t.live().await, names(["b", "c", "d"]));
        assert_eq!(t.entry("b").await.snapshot_id, Some(first));
        assert_eq!(t.entry("b").await.sequence_number, Some(0));
    }
}
