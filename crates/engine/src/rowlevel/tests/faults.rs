//! Every I/O of a change of rows fails once, in every way: the table is then as before or as after, and what lies around
//! beside that no snapshot names.

use std::collections::BTreeSet;

use datafusion::error::DataFusionError;
use datafusion::logical_expr::{col, lit, when};
use tarn_format::ErrorKind;
use tarn_format::io::fault::{Effect, Fault};

use super::*;

const WAYS: [(FormatVersion, RowLevelMode); 3] = [
    (FormatVersion::V2, RowLevelMode::CopyOnWrite),
    (FormatVersion::V2, RowLevelMode::MergeOnRead),
    (FormatVersion::V3, RowLevelMode::MergeOnRead),
];

#[derive(Debug, Clone, Copy)]
enum Kind {
    Delete,
    Update,
    /// Some rows go, some change, some stay.
    Merge,
}

impl Kind {
    fn change(self, mode: RowLevelMode) -> Change {
        match self {
            Kind::Delete => delete(mode, (col("id") % lit(5)).eq(lit(2))),
            Kind::Update => update(mode, (col("id") % lit(5)).eq(lit(2))),
            Kind::Merge => {
                let third = |n: i32| (col("id") % lit(3)).eq(lit(n));
                let action = when(third(0), lit(RowAction::Delete as i32))
                    .when(third(1), lit(RowAction::Update as i32))
                    .otherwise(lit(RowAction::Keep as i32));
                Change {
                    statement: RowStatement::Merge,
                    action: action.unwrap(),
                    ..update(mode, col("id").gt_eq(lit(6)))
                }
            }
        }
    }

    fn after(self) -> Vec<(i32, String)> {
        let row = |id: i32| {
            let changed = Some((id, format!("new {id}")));
            match self {
                Kind::Delete if id % 5 == 2 => None,
                Kind::Update if id % 5 == 2 => changed,
                Kind::Merge if id >= 6 && id % 3 == 0 => None,
                Kind::Merge if id >= 6 && id % 3 == 1 => changed,
                _ => Some((id, id.to_string())),
            }
        };
        (0..20).filter_map(row).collect()
    }
}

fn before() -> Vec<(i32, String)> {
    (0..20).map(|id| (id, id.to_string())).collect()
}

/// A table that waits for nothing, of which some rows are deleted already where that is remembered.
async fn made(version: FormatVersion) -> Site {
    let making = [
        "commit.retry.min-wait-ms",
        "commit.retry.max-wait-ms",
        "commit.status-check.min-wait-ms",
        "commit.status-check.max-wait-ms",
    ];
    let making = making
        .into_iter()
        .fold(Making::new().version(version), |making, key| making.property(key, 0));
    let making = making
        .property("commit.retry.num-retries", 1)
        .property("commit.status-check.num-retries", 1);
    let site = Site::new(columns(), making).await;
    for ids in [-2..10, 10..20] {
        site.append(rows(&site, ids.map(|id| (id, id.to_string()))).await)
            .await
            .unwrap();
    }
    let mode = match version {
        FormatVersion::V1 => RowLevelMode::CopyOnWrite,
        _ => RowLevelMode::MergeOnRead,
    };
    delete(mode, col("id").lt(lit(0))).run(&site).await.unwrap();
    site
}

/// Data and delete files.
async fn stored(site: &Site) -> BTreeSet<String> {
    let stored = site.stored_files().await;
    stored.into_iter().filter(|path| path.contains("/data/")).collect()
}

/// Changes rows while every operation fails in turn.
async fn try_all(kind: Kind, ways: &[(FormatVersion, RowLevelMode)], make: fn(usize) -> Fault, effect: Effect) {
    for (version, mode) in ways.iter().copied() {
        let mut index = 0;
        loop {
            let site = made(version).await;
            let (plan, context) = kind.change(mode).plan(&site).await;
            let files_before = stored(&site).await;
            site.store.clear_records();
            site.store.set(make(index).effect(effect));
            let outcome = datafusion::physical_plan::collect(plan, context.task_ctx()).await;
            let was_hit = site.store.was_hit();
            site.store.heal();
            if !was_hit {
                break;
            }
            let told = format!("{kind:?} {version:?} {mode:?} operation {index}, {effect:?}: {outcome:?}");
            let (old, new) = (rows(&site, before()).await, rows(&site, kind.after()).await);
            let found = site.rows("id").await;
            match &outcome {
                Ok(_) => assert_eq!(found, new, "{told}"),
                Err(e) if kind_of(e) == Some(ErrorKind::CommitStateUnknown) => {
                    assert!(found == old || found == new, "{told}")
                }
                Err(_) => {
                    assert_eq!(found, old, "{told}");
                    // Only what a failing store would not delete is left, and no snapshot names it.
                    let named: BTreeSet<String> = files_before.clone();
                    let left: BTreeSet<String> = stored(&site).await.difference(&named).cloned().collect();
                    let live: BTreeSet<String> = site.files().await.iter().map(|f| key(&f.file_path)).collect();
                    assert!(left.is_disjoint(&live), "{told}");
                }
            }
            // The table can be changed again.
            let again = kind.change(mode).run(&site).await;
            assert!(again.is_ok(), "{told}, then {again:?}");
            index += 1;
        }
        assert!(index > 5, "{kind:?} {mode:?} has more than {index} operations");
    }
}

/// The kind of our error; `None` for those of reading Parquet.
fn kind_of(error: &DataFusionError) -> Option<ErrorKind> {
    match error {
        DataFusionError::External(inner) => inner.downcast_ref::<Error>().map(Error::kind),
        DataFusionError::Context(_, inner) => kind_of(inner),
        DataFusionError::Shared(inner) => kind_of(inner),
        _ => None,
    }
}

/// The store's key of a location.
fn key(location: &str) -> String {
    location.trim_start_matches("s3://").to_string()
}

#[tokio::test]
async fn deletes_survive_every_fault() {
    try_all(Kind::Delete, &WAYS, Fault::nth, Effect::None).await;
    try_all(Kind::Delete, &WAYS[1..2], Fault::killed_at, Effect::Torn).await;
}

#[tokio::test]
async fn updates_survive_every_fault() {
    try_all(Kind::Update, &WAYS[..1], Fault::nth, Effect::Done).await;
    try_all(Kind::Update, &WAYS[2..], Fault::killed_at, Effect::None).await;
}

/// Without deletes beside the files all rows are updated in their places, whatever else is read.
#[tokio::test]
async fn updates_in_place_survive_every_fault() {
    let ways = [(FormatVersion::V1, RowLevelMode::CopyOnWrite)];
    try_all(Kind::Update, &ways, Fault::nth, Effect::None).await;
    try_all(Kind::Update, &ways, Fault::killed_at, Effect::Torn).await;
}

#[tokio::test]
async fn merges_survive_every_fault() {
    try_all(Kind::Merge, &WAYS[1..], Fault::nth, Effect::Torn).await;
    try_all(Kind::Merge, &WAYS[..1], Fault::killed_at, Effect::Done).await;
}
