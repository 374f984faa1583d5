//! Every operation on files fails once, or the process dies there, for each kind of change.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::table::{ALL_VERSIONS, Layout, TestTable};
use crate::commit::append::{fast_append, merge_append};
use crate::commit::delete::DeleteFiles;
use crate::commit::overwrite::OverwriteFiles;
use crate::commit::replace_partitions::ReplacePartitions;
use crate::commit::rewrite::RewriteFiles;
use crate::commit::rewrite_manifests::{ManifestRewrite, rewrite_manifests};
use crate::commit::row_delta::RowDelta;
use crate::commit::{Change, CommitOptions, surely_failed};
use crate::expr::Predicate;
use crate::io::fault::{Effect, Fault, FaultStore, Operation};
use crate::manifest::cache::ManifestCache;
use crate::manifest::list;
use crate::spec::table_metadata::{FormatVersion, TableMetadata};

const PROPERTIES: &[(&str, &str)] = &[("commit.manifest.min-count-to-merge", "2")];

/// The kinds of change, applied to a table with files `a` and `c` in x and `b` in y, in two manifests.
const KINDS: [&str; 8] = [
    "fast append",
    "merge append",
    "delete",
    "overwrite",
    "replace partitions",
    "rewrite",
    "row delta",
    "rewrite manifests",
];

async fn table(store: &FaultStore, version: FormatVersion) -> TestTable {
    let t = TestTable::in_io(store.file_io(), version, Layout::ByP, PROPERTIES).await;
    t.must(fast_append([t.file("a", "x", (1, 10)), t.file("b", "y", (1, 5))]))
        .await;
    t.must(fast_append([t.file("c", "x", (11, 20))])).await;
    if version == FormatVersion::V2 {
        t.must(
            RowDelta::new()
                .add_deletes(t.equality_deletes("e", "x", (1, 1)))
                .build(),
        )
        .await;
    }
    t
}

fn change(kind: &str, t: &TestTable, metadata: &TableMetadata) -> Option<Change> {
    let (a, c) = (t.file("a", "x", (1, 10)), t.file("c", "x", (11, 20)));
    let n = t.file("n", "x", (1, 2));
    let deletes = t.version > FormatVersion::V1;
    Some(match kind {
        "fast append" => fast_append([n]),
        "merge append" => merge_append([n]),
        "delete" => DeleteFiles::new().rows(Predicate::eq("p", "x")).build(),
        "overwrite" => {
            let change = OverwriteFiles::new().remove_file(a).add_file(n);
            change
                .validate_no_conflicting_data()
                .from_snapshot(metadata.current_snapshot_id)
                .build()
        }
        "replace partitions" => ReplacePartitions::new().add_file(n).build(metadata),
        "rewrite" => {
            let change = RewriteFiles::new()
                .replace_file(a)
                .replace_file(c)
                .add_file(t.file("n", "x", (1, 20)));
            change.from_snapshot(metadata.current_snapshot_id).build()
        }
        "row delta" if deletes => {
            let delta = RowDelta::new().add_rows(n).add_deletes(t.position_deletes("d", &a, 1));
            delta.validate_data_files_exist([Arc::clone(&a.file_path)]).build()
        }
        "rewrite manifests" => rewrite_manifests(ManifestRewrite::default()),
        _ => return None,
    })
}

/// Reads everything the table reaches; the live files.
async fn live(t: &TestTable) -> BTreeSet<String> {
    let table = t.load().await;
    for snapshot in &table.metadata.snapshots {
        for manifest in list::load(&table.io, &table.metadata, snapshot).await.unwrap() {
            table.io.read(&manifest.manifest_path).await.unwrap();
        }
    }
    t.live().await
}

async fn avro_files(t: &TestTable) -> usize {
    let table = t.load().await;
    let files = table
        .io
        .list(&format!("{}/metadata", table.metadata.location))
        .await
        .unwrap();
    files.iter().filter(|f| f.location.ends_with(".avro")).count()
}

/// Runs a change against every fault that `fault` makes of an index, until none is met.
async fn run(kind: &str, version: FormatVersion, fault: impl Fn(usize) -> Fault) -> usize {
    for index in 0.. {
        let store = FaultStore::memory();
        let mut t = table(&store, version).await;
        // A cache that was warm before would hide operations.
        t.options = CommitOptions {
            cache: ManifestCache::default(),
            ..t.options
        };
        let metadata = t.load().await.metadata;
        let Some(change) = change(kind, &t, &metadata) else {
            return 0;
        };
        let before = live(&t).await;
        let files_before = avro_files(&t).await;
        store.clear_records();
        store.set(fault(index));
        let result = t.commit(change).await;
        store.heal();
        let context = format!("{kind}, version {version}, operation {index}");
        let after = live(&t).await;
        let moved = t.load().await.metadata.current_snapshot_id != metadata.current_snapshot_id;
        match &result {
            Ok(outcome) => assert_eq!(
                Some(outcome.snapshot_ids[0]),
                t.load().await.metadata.current_snapshot_id
            ),
            Err(error) if surely_failed(error) => assert!(!moved, "{context}: {error}"),
            Err(_) => {}
        }
        if !moved {
            assert_eq!(after, before, "{context}");
        }
        if !store.was_hit() {
            assert!(result.is_ok(), "{context}: {result:?}");
            return index;
        }
        let deletions_worked = matches!(&result, Err(error) if surely_failed(error));
        if deletions_worked && !moved {
            let left = avro_files(&t).await.saturating_sub(files_before);
            assert!(left == 0 || !could_delete(&store), "{context}: {left} files left");
        }
    }
    0
}

/// Whether one operation failed, and it was no deletion.
fn could_delete(store: &FaultStore) -> bool {
    let records = store.records();
    let failed: Vec<Operation> = records
        .iter()
        .filter(|r| r.fault.is_some())
        .map(|r| r.operation)
        .collect();
    matches!(failed.as_slice(), [operation] if *operation != Operation::Delete)
}

#[tokio::test]
async fn one_failure_leaves_the_old_table_or_the_new_one() {
    for version in ALL_VERSIONS {
        for kind in KINDS {
            let operations = run(kind, version, Fault::nth).await;
            if kind != "row delta" || version > FormatVersion::V1 {
                assert!(
                    operations >= 3,
                    "{kind} of version {version} has {operations} operations"
                );
            }
        }
    }
}

#[tokio::test]
async fn one_failure_after_its_effect_too() {
    for kind in KINDS {
        run(kind, FormatVersion::V2, |index| Fault::nth(index).effect(Effect::Done)).await;
        run(kind, FormatVersion::V3, |index| Fault::nth(index).effect(Effect::Torn)).await;
    }
}

#[tokio::test]
async fn death_at_any_operation_loses_nothing() {
    for version in ALL_VERSIONS {
        for kind in KINDS {
            run(kind, version, Fault::killed_at).await;
        }
    }
    for kind in KINDS {
        let killed = |index| Fault::killed_at(index).effect(Effect::Done);
        run(kind, FormatVersion::V3, killed).await;
    }
}
