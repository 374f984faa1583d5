//! Cherry-picking: the changes of a snapshot that `main` does not have, once more on top of it (Java:
//! `CherryPickOperation`).

use std::sync::Arc;

use super::attempt::Attempt;
use super::change::{Change, ChangeKind, Scope, Validation};
use super::options::CommitOptions;
use super::transaction::Transaction;
use crate::catalog::{Catalog, Table};
use crate::error::{Error, Result};
use crate::manifest::columns::MetricsProjection;
use crate::manifest::data_file::{DataFile, ManifestStatus};
use crate::manifest::manifest_file::ManifestContent;
use crate::spec::snapshot::{Operation, Snapshot};
use crate::spec::table_metadata::{TableMetadata, TableMetadataRef};
use crate::update::TableUpdate;
use crate::update::current_snapshot::{current_ancestors, is_current_ancestor, set_current_snapshot};

/// Keys of snapshot summaries: the id under which a change was staged and under which it was published, the snapshot
/// that was picked, and whether an overwrite replaced partitions (Java: `SnapshotSummary`).
const STAGED_WAP_ID: &str = "wap.id";
const PUBLISHED_WAP_ID: &str = "published-wap-id";
const SOURCE_SNAPSHOT_ID: &str = "source-snapshot-id";
const REPLACE_PARTITIONS: &str = "replace-partitions";

/// Brings the changes of a snapshot to `main`; gives the table after that. When the snapshot follows the current one,
/// `main` moves to it, else a new snapshot with the same files is made. Appends can be picked, and overwrites of
/// partitions that have not changed since; anything else only when `main` can move to it.
///
/// # Errors
/// `Validation` when the snapshot does not exist, is in the history of `main` already, itself or picked before or under
/// its WAP id, or is none that can be picked; those of [`Transaction::commit`].
pub async fn cherry_pick(
    catalog: &dyn Catalog,
    table: &Table,
    snapshot_id: i64,
    options: &CommitOptions,
) -> Result<Table> {
    let base = &table.metadata;
    let picked = base.snapshot_by_id(snapshot_id).cloned().ok_or_else(|| {
        Error::validation(format!(
            "cannot cherry-pick snapshot {snapshot_id}: the table has no such snapshot"
        ))
    })?;
    let kind = Pick::of(&picked);
    refuse_published(base, &picked)?;
    if follows_current(base, &picked) {
        let moved = move_main(catalog, table, &picked, options).await?;
        if moved.metadata.current_snapshot_id == Some(snapshot_id) {
            return Ok(moved);
        }
    } else if kind == Pick::MoveOnly {
        return Err(cannot_pick(&picked));
    }
    let files = changes_of(table, &picked, options).await?;
    let change = change(base, &picked, kind, files)?;
    let checked = Arc::clone(&picked);
    let transaction = Transaction::of(table)
        .update(move |base| {
            refuse_ancestor(base, &checked)?;
            refuse_published(base, &checked)?;
            refuse_foreign_base(base, &checked, kind)?;
            Ok(Vec::new())
        })
        .change(change);
    Ok(transaction.commit(catalog, options).await?.table)
}

/// How a snapshot can be picked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pick {
    /// Its files are appended.
    Append,
    /// Its partitions are replaced.
    ReplacePartitions,
    /// Not at all; `main` can only move to it.
    MoveOnly,
}

impl Pick {
    fn of(picked: &Snapshot) -> Self {
        let replaces = picked
            .summary
            .get(REPLACE_PARTITIONS)
            .is_some_and(|v| v.eq_ignore_ascii_case("true"));
        match picked.operation {
            Some(Operation::Append) => Pick::Append,
            Some(Operation::Overwrite) if replaces => Pick::ReplacePartitions,
            _ => Pick::MoveOnly,
        }
    }
}

fn cannot_pick(picked: &Snapshot) -> Error {
    Error::validation(format!(
        "cannot cherry-pick snapshot {}: it is no append, no overwrite of partitions, and does not follow the current \
         snapshot",
        picked.snapshot_id
    ))
}

/// Whether `main` can simply move to the snapshot.
fn follows_current(base: &TableMetadata, picked: &Snapshot) -> bool {
    picked.parent_snapshot_id == base.current_snapshot().map(|s| s.snapshot_id)
}

/// Moves `main` unless another writer was there first.
async fn move_main(
    catalog: &dyn Catalog,
    table: &Table,
    picked: &Arc<Snapshot>,
    options: &CommitOptions,
) -> Result<Table> {
    let picked = Arc::clone(picked);
    let transaction = Transaction::of(table).update(move |base| -> Result<Vec<TableUpdate>> {
        refuse_published(base, &picked)?;
        if !follows_current(base, &picked) {
            return match Pick::of(&picked) {
                Pick::MoveOnly => Err(cannot_pick(&picked)),
                _ => Ok(Vec::new()),
            };
        }
        let base: TableMetadataRef = Arc::new(base.clone());
        Ok(set_current_snapshot(&base, picked.snapshot_id)?.0)
    });
    Ok(transaction.commit(catalog, options).await?.table)
}

/// A snapshot that is part of the current state must not be added to it again.
fn refuse_ancestor(base: &TableMetadata, picked: &Snapshot) -> Result<()> {
    let id = picked.snapshot_id;
    if is_current_ancestor(base, id) {
        return Err(Error::validation(format!(
            "cannot cherry-pick snapshot {id}: it is an ancestor of the current state already"
        )));
    }
    let source = id.to_string();
    let mut ancestors = current_ancestors(base).into_iter();
    let copy = ancestors.find(|s| s.summary.get(SOURCE_SNAPSHOT_ID) == Some(&source));
    match copy {
        Some(copy) => Err(Error::validation(format!(
            "cannot cherry-pick snapshot {id}: it was picked already, as snapshot {}",
            copy.snapshot_id
        ))),
        None => Ok(()),
    }
}

/// A WAP id is published once (Java: `WapUtil.validateWapPublish`).
fn refuse_published(base: &TableMetadata, picked: &Snapshot) -> Result<()> {
    let Some(wap_id) = picked.summary.get(STAGED_WAP_ID).filter(|id| !id.is_empty()) else {
        return Ok(());
    };
    let is_it = |s: &Snapshot, key: &str| s.summary.get(key) == Some(wap_id);
    let ancestors = current_ancestors(base);
    let published = ancestors
        .iter()
        .any(|s| is_it(s, STAGED_WAP_ID) || is_it(s, PUBLISHED_WAP_ID));
    if published {
        return Err(Error::validation(format!(
            "cannot publish WAP id '{wap_id}' a second time: the current state has it"
        )));
    }
    Ok(())
}

/// Whether partitions have changed can only be told since a state that the table went through.
fn refuse_foreign_base(base: &TableMetadata, picked: &Snapshot, kind: Pick) -> Result<()> {
    match picked.parent_snapshot_id {
        Some(parent) if kind == Pick::ReplacePartitions && !is_current_ancestor(base, parent) => {
            Err(Error::validation(format!(
                "cannot cherry-pick overwrite {}: it is not based on an ancestor of the current state",
                picked.snapshot_id
            )))
        }
        _ => Ok(()),
    }
}

/// The data files that a snapshot added and removed.
struct Files {
    added: Vec<Arc<DataFile>>,
    removed: Vec<Arc<DataFile>>,
}

async fn changes_of(table: &Table, picked: &Snapshot, options: &CommitOptions) -> Result<Files> {
    let attempt = Attempt::new(&table.io, &options.cache, &table.metadata)?;
    let mut manifests = attempt.manifests(picked).await?;
    manifests.retain(|m| m.content == ManifestContent::Data && m.added_snapshot_id == Some(picked.snapshot_id));
    let mut files = Files {
        added: Vec::new(),
        removed: Vec::new(),
    };
    for entries in attempt.entries(manifests, &MetricsProjection::All).await? {
        for i in 0..entries.columns.len {
            match entries.columns.status(i) {
                ManifestStatus::Added => files.added.push(Arc::new(entries.data_file(i))),
                ManifestStatus::Deleted => files.removed.push(Arc::new(entries.data_file(i))),
                ManifestStatus::Existing => {}
            }
        }
    }
    Ok(files)
}

fn change(base: &TableMetadata, picked: &Snapshot, kind: Pick, files: Files) -> Result<Change> {
    let mut change = match kind {
        Pick::Append => Change::new(ChangeKind::Append),
        Pick::ReplacePartitions => {
            let partitions = files.added.iter().map(|f| (f.spec_id, f.partition.clone()));
            let mut change = Change::new(ChangeKind::ReplacePartitions);
            change.validations = vec![
                Validation::NoNewDataFiles(Scope::Partitions(partitions.collect())),
                Validation::RemovedFilesExist,
            ];
            change.base_snapshot = picked.parent_snapshot_id;
            change.removed.data = files.removed;
            change
        }
        Pick::MoveOnly => return Err(cannot_pick(picked)),
    };
    refuse_foreign_base(base, picked, kind)?;
    change.added.data = files.added;
    if let Some(wap_id) = picked.summary.get(STAGED_WAP_ID) {
        change = change.with_summary(PUBLISHED_WAP_ID, wap_id);
    }
    Ok(change.with_summary(SOURCE_SNAPSHOT_ID, picked.snapshot_id.to_string()))
}
