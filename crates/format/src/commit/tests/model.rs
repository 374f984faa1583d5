//! Random changes of several writers with stale bases, against a list of live files.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;

use super::catalog::Fault;
use super::table::{ALL_VERSIONS, Layout, TestTable, summary};
use crate::commit::Change;
use crate::commit::append::{fast_append, merge_append};
use crate::commit::delete::DeleteFiles;
use crate::commit::overwrite::OverwriteFiles;
use crate::commit::replace_partitions::ReplacePartitions;
use crate::commit::rewrite::RewriteFiles;
use crate::commit::rewrite_manifests::{ManifestRewrite, rewrite_manifests};
use crate::commit::row_delta::RowDelta;
use crate::error::ErrorKind;
use crate::expr::Predicate;
use crate::manifest::data_file::{DataContent, DataFile};
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
    DeleteRows { pick: usize, rows: i64 },
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
        3 => (any::<usize>(), 1..5i64).prop_map(|(pick, rows)| Action::DeleteRows { pick, rows }),
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

/// What is live.
#[derive(Debug, Clone, Default)]
struct Model {
    /// Data files by location.
    files: BTreeMap<String, Arc<DataFile>>,
    /// Deletion vectors by the location of their data file.
    vectors: BTreeMap<String, Arc<DataFile>>,
}

impl Model {
    fn add(&mut self, file: &Arc<DataFile>) {
        self.files.insert(file.file_path.to_string(), Arc::clone(file));
    }

    /// Removes data files, and the vectors of those that are gone.
    fn keep(&mut self, keep: impl Fn(&DataFile) -> bool) {
        self.files.retain(|_, file| keep(file));
        self.vectors.retain(|path, _| self.files.contains_key(path));
    }

    /// Whether a writer that saw `before` may rely on a data file.
    fn has_as_in(&self, before: &Model, file: &DataFile) -> bool {
        let path = file.file_path.as_ref();
        self.files.contains_key(path) && self.vectors.get(path) == before.vectors.get(path)
    }
}

/// What a writer saw before it began.
#[derive(Debug, Clone, Default)]
struct Seen {
    snapshot_id: Option<i64>,
    model: Model,
}

impl Seen {
    fn pick(&self, pick: usize) -> Option<Arc<DataFile>> {
        let files = &self.model.files;
        files.values().nth(pick % files.len().max(1)).cloned()
    }
}

/// A change, the model after it, and the file that must be as it was seen.
struct Plan {
    change: Change,
    next: Model,
    needed: Option<Arc<DataFile>>,
}

struct World {
    t: TestTable,
    model: Model,
    /// The model after each snapshot, newest last.
    past: Vec<Seen>,
    made: usize,
}

impl World {
    fn file(&mut self, p: usize, rows: i64) -> Arc<DataFile> {
        self.made += 1;
        self.t.file(&format!("f{:04}", self.made), PARTITIONS[p], (1, rows))
    }

    /// A change that succeeds whatever others did; `None` when there is nothing to do.
    async fn plan(&mut self, action: &Action, seen: &Seen) -> Option<Plan> {
        let mut next = self.model.clone();
        let change = match action {
            Action::Append { p, rows, merge } => {
                let file = self.file(*p, *rows);
                next.add(&file);
                if *merge {
                    merge_append([file])
                } else {
                    fast_append([file])
                }
            }
            Action::DeletePartition { p } => {
                let partition = self.t.partition(PARTITIONS[*p]);
                next.keep(|f| f.partition != partition);
                DeleteFiles::new().rows(Predicate::eq("p", PARTITIONS[*p])).build()
            }
            Action::DeleteFile { pick } => {
                let file = seen.pick(*pick)?;
                next.keep(|f| f.file_path != file.file_path);
                DeleteFiles::new().path(&file.file_path).build()
            }
            Action::ReplacePartition { p, rows } => {
                let file = self.file(*p, *rows);
                next.keep(|f| f.partition != file.partition);
                next.add(&file);
                ReplacePartitions::new()
                    .add_file(file)
                    .build(&self.t.load().await.metadata)
            }
            Action::RewriteManifests => rewrite_manifests(ManifestRewrite::default()),
            Action::Overwrite { pick, .. } | Action::Rewrite { pick } | Action::DeleteRows { pick, .. } => {
                let old = seen.pick(*pick)?;
                return self.plan_on(action, old, seen);
            }
        };
        Some(Plan {
            change,
            next,
            needed: None,
        })
    }

    /// A change that needs `old` to be as the writer saw it.
    fn plan_on(&mut self, action: &Action, old: Arc<DataFile>, seen: &Seen) -> Option<Plan> {
        let mut next = self.model.clone();
        let base = seen.snapshot_id;
        let change = match action {
            Action::Overwrite { rows, .. } => {
                let file = self.file(0, *rows);
                next.keep(|f| f.file_path != old.file_path);
                next.add(&file);
                let change = OverwriteFiles::new().remove_file(old.clone()).add_file(file);
                change.from_snapshot(base).validate_no_conflicting_deletes().build()
            }
            Action::DeleteRows { rows, .. } if self.t.version == FormatVersion::V3 => {
                self.made += 1;
                let vector = self.t.position_deletes(&format!("v{:04}", self.made), &old, *rows);
                let mut delta = RowDelta::new().add_deletes(vector.clone()).from_snapshot(base);
                if let Some(replaced) = seen.model.vectors.get(old.file_path.as_ref()) {
                    delta = delta.remove_deletes(replaced.clone());
                }
                next.vectors.insert(old.file_path.to_string(), vector);
                let delta = delta.validate_data_files_exist([old.file_path.clone()]);
                delta.validate_deleted_files().build()
            }
            Action::Rewrite { .. } => {
                self.made += 1;
                let mut file = old.as_ref().clone();
                file.file_path = Arc::from(format!("f{:04}", self.made));
                let file = Arc::new(file);
                next.keep(|f| f.file_path != old.file_path);
                next.add(&file);
                let change = RewriteFiles::new().replace_file(old.clone()).add_file(file);
                change.from_snapshot(base).build()
            }
            _ => return None,
        };
        Some(Plan {
            change,
            next,
            needed: Some(old),
        })
    }

    async fn run(&mut self, step: &Step) {
        let seen = self.past[self.past.len().saturating_sub(1 + step.staleness)].clone();
        let Some(plan) = self.plan(&step.action, &seen).await else {
            return;
        };
        self.t.catalog.inject(vec![Fault::Conflict; step.losses]);
        let is_stale = plan.needed.is_some_and(|old| !self.model.has_as_in(&seen.model, &old));
        match self.t.commit(plan.change).await {
            Ok(outcome) => {
                assert!(!is_stale, "{step:?} used a file that has changed");
                assert_eq!(outcome.attempts as usize, step.losses + 1);
                self.model = plan.next;
                self.past.push(Seen {
                    snapshot_id: Some(outcome.snapshot_ids[0]),
                    model: self.model.clone(),
                });
            }
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Validation, "{step:?}: {error}");
                assert!(is_stale, "{step:?} failed for nothing: {error}");
                self.t.catalog.clear_faults();
            }
        }
        self.check(step).await;
    }

    async fn check(&self, step: &Step) {
        let live = self.t.live().await;
        let vectors = self.model.vectors.values();
        let names = vectors.clone().map(|v| format!("{}#4", v.file_path));
        assert_eq!(
            live,
            self.model.files.keys().cloned().chain(names).collect(),
            "after {step:?}"
        );
        let metadata = self.t.load().await.metadata;
        let Some(snapshot) = metadata.current_snapshot() else {
            return;
        };
        let files = self.model.files.values();
        let expected = [
            self.model.files.len() as i64,
            files.clone().map(|f| f.record_count).sum(),
            files.map(|f| f.file_size_in_bytes).sum::<i64>() + 40 * self.model.vectors.len() as i64,
            self.model.vectors.len() as i64,
            vectors.map(|v| v.record_count).sum(),
        ];
        let keys = [
            "total-data-files",
            "total-records",
            "total-files-size",
            "total-delete-files",
            "total-position-deletes",
        ];
        assert_eq!(
            summary(snapshot, keys),
            expected.map(|n| n.to_string()),
            "after {step:?}"
        );
        if self.t.version == FormatVersion::V3 {
            self.check_row_ids(metadata.next_row_id).await;
        }
    }

    /// No two live rows share a row id.
    async fn check_row_ids(&self, next_row_id: i64) {
        let entries = self.t.entries().await.into_iter();
        let entries = entries.filter(|e| e.is_live() && e.data_file.content == DataContent::Data);
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
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn tables_follow_the_model(
        version in prop::sample::select(ALL_VERSIONS.to_vec()),
        steps in prop::collection::vec(step(), 1..16),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let properties = [("commit.manifest.min-count-to-merge", "3")];
            let t = TestTable::with_properties(version, Layout::ByP, &properties).await;
            let mut world = World { t, model: Model::default(), past: vec![Seen::default()], made: 0 };
            for step in &steps {
                world.run(step).await;
            }
        });
    }
}
