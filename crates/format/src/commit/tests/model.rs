//! Random changes of several writers with stale bases, against a list of live files.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;

use super::catalog::Fault;
use super::table::{ALL_VERSIONS, Layout, TestTable, summary};
use crate::commit::append::{fast_append, merge_append};
use crate::commit::delete::DeleteFiles;
use crate::commit::overwrite::OverwriteFiles;
use crate::commit::replace_partitions::ReplacePartitions;
use crate::commit::rewrite::RewriteFiles;
use crate::commit::rewrite_manifests::{ManifestRewrite, rewrite_manifests};
use crate::error::ErrorKind;
use crate::expr::Predicate;
use crate::manifest::data_file::DataFile;
use crate::spec::table_metadata::FormatVersion;

/// What a writer does.
#[derive(Debug, Clone)]
enum Action {
    Append { p: usize, rows: i64, merge: bool },
    DeletePartition { p: usize },
    DeleteFile { pick: usize },
    ReplacePartition { p: usize, rows: i64 },
    Overwrite { pick: usize, rows: i64 },
    Rewrite { pick: usize },
    RewriteManifests,
}

/// A step: an action, how often it loses the race first, and how many snapshots old its writer's state is.
#[derive(Debug, Clone)]
struct Step {
    action: Action,
    losses: usize,
    staleness: usize,
}

const PARTITIONS: [&str; 3] = ["x", "y", "z"];

fn action() -> impl Strategy<Value = Action> {
    let p = 0..PARTITIONS.len();
    let rows = 1..20i64;
    prop_oneof![
        4 => (p.clone(), rows.clone(), any::<bool>()).prop_map(|(p, rows, merge)| Action::Append { p, rows, merge }),
        1 => p.clone().prop_map(|p| Action::DeletePartition { p }),
        2 => any::<usize>().prop_map(|pick| Action::DeleteFile { pick }),
        1 => (p, rows.clone()).prop_map(|(p, rows)| Action::ReplacePartition { p, rows }),
        2 => (any::<usize>(), rows).prop_map(|(pick, rows)| Action::Overwrite { pick, rows }),
        2 => any::<usize>().prop_map(|pick| Action::Rewrite { pick }),
        1 => Just(Action::RewriteManifests),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    (action(), 0..3usize, 0..3usize).prop_map(|(action, losses, staleness)| Step {
        action,
        losses,
        staleness,
    })
}

/// Live files by location.
type Model = BTreeMap<String, Arc<DataFile>>;

struct World {
    t: TestTable,
    model: Model,
    /// The model after each snapshot, newest last.
    past: Vec<(Option<i64>, Model)>,
    made: usize,
}

impl World {
    fn file(&mut self, p: usize, rows: i64) -> Arc<DataFile> {
        self.made += 1;
        self.t.file(&format!("f{:04}", self.made), PARTITIONS[p], (1, rows))
    }

    async fn run(&mut self, step: &Step) {
        let seen = self.past.len().saturating_sub(1 + step.staleness);
        let (base, stale) = self.past[seen].clone();
        let pick = |pick: usize| stale.values().nth(pick % stale.len().max(1)).cloned();
        let mut next = self.model.clone();
        let mut needed = None;
        let change = match &step.action {
            Action::Append { p, rows, merge } => {
                let file = self.file(*p, *rows);
                next.insert(file.file_path.to_string(), file.clone());
                if *merge {
                    merge_append([file])
                } else {
                    fast_append([file])
                }
            }
            Action::DeletePartition { p } => {
                next.retain(|_, f| f.partition != self.t.partition(PARTITIONS[*p]));
                DeleteFiles::new().rows(Predicate::eq("p", PARTITIONS[*p])).build()
            }
            Action::DeleteFile { pick: n } => {
                let Some(file) = pick(*n) else { return };
                next.remove(file.file_path.as_ref());
                DeleteFiles::new().path(&file.file_path).build()
            }
            Action::ReplacePartition { p, rows } => {
                let file = self.file(*p, *rows);
                next.retain(|_, f| f.partition != file.partition);
                next.insert(file.file_path.to_string(), file.clone());
                ReplacePartitions::new()
                    .add_file(file)
                    .build(&self.t.load().await.metadata)
            }
            Action::Overwrite { pick: n, rows } => {
                let Some(old) = pick(*n) else { return };
                let file = self.file(0, *rows);
                next.remove(old.file_path.as_ref());
                next.insert(file.file_path.to_string(), file.clone());
                needed = Some(old.clone());
                let change = OverwriteFiles::new()
                    .remove_file(old)
                    .add_file(file)
                    .from_snapshot(base);
                change.validate_no_conflicting_deletes().build()
            }
            Action::Rewrite { pick: n } => {
                let Some(old) = pick(*n) else { return };
                self.made += 1;
                let mut file = old.as_ref().clone();
                file.file_path = Arc::from(format!("f{:04}", self.made));
                next.remove(old.file_path.as_ref());
                next.insert(file.file_path.to_string(), Arc::new(file.clone()));
                needed = Some(old.clone());
                RewriteFiles::new()
                    .replace_file(old)
                    .add_file(file.into())
                    .from_snapshot(base)
                    .build()
            }
            Action::RewriteManifests => rewrite_manifests(ManifestRewrite::default()),
        };
        self.t.catalog.inject(vec![Fault::Conflict; step.losses]);
        let is_gone = needed.is_some_and(|old| !self.model.contains_key(old.file_path.as_ref()));
        match self.t.commit(change).await {
            Ok(outcome) => {
                assert!(!is_gone, "{step:?} replaced a file that is gone");
                assert_eq!(outcome.attempts as usize, step.losses + 1);
                self.model = next;
                self.past.push((Some(outcome.snapshot_ids[0]), self.model.clone()));
            }
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Validation, "{step:?}: {error}");
                assert!(is_gone, "{step:?} failed for nothing: {error}");
                self.t.catalog.clear_faults();
            }
        }
        self.check(step).await;
    }

    async fn check(&self, step: &Step) {
        let live = self.t.live().await;
        let expected = self.model.keys().cloned().collect();
        assert_eq!(live, expected, "after {step:?}");
        let metadata = self.t.load().await.metadata;
        let Some(snapshot) = metadata.current_snapshot() else {
            return;
        };
        let records: i64 = self.model.values().map(|f| f.record_count).sum();
        let bytes: i64 = self.model.values().map(|f| f.file_size_in_bytes).sum();
        let totals = summary(snapshot, ["total-data-files", "total-records", "total-files-size"]);
        let expected = [self.model.len() as i64, records, bytes].map(|n| n.to_string());
        assert_eq!(totals, expected, "after {step:?}");
        if self.t.version == FormatVersion::V3 {
            self.check_row_ids(metadata.next_row_id).await;
        }
    }

    /// No two live rows share a row id.
    async fn check_row_ids(&self, next_row_id: i64) {
        let entries = self.t.entries().await.into_iter().filter(|e| e.is_live());
        let mut ranges: Vec<(i64, i64)> = entries
            .map(|e| {
                let first = e.data_file.first_row_id.expect("a row id");
                (first, first + e.data_file.record_count)
            })
            .collect();
        ranges.sort_unstable();
        assert!(ranges.windows(2).all(|w| w[0].1 <= w[1].0), "{ranges:?}");
        assert!(ranges.last().is_none_or(|last| last.1 <= next_row_id));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn tables_follow_the_model(
        version in prop::sample::select(ALL_VERSIONS.to_vec()),
        steps in prop::collection::vec(step(), 1..16),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let properties = [("commit.manifest.min-count-to-merge", "3")];
            let t = TestTable::with_properties(version, Layout::ByP, &properties).await;
            let mut world = World { t, model: Model::new(), past: vec![(None, Model::new())], made: 0 };
            for step in &steps {
                world.run(step).await;
            }
        });
    }
}
