//! Finds out what became of a commit whose answer was lost (Java: `BaseMetastoreOperations.checkCommitStatus`).

use std::sync::Arc;
use std::time::Instant;

use super::retry::RetryPolicy;
use crate::catalog::{Catalog, Table, TableIdent};
use crate::error::ErrorKind;
use crate::spec::snapshot::Snapshot;
use crate::spec::table_metadata::{FormatVersion, TableMetadata};
use crate::update::TableUpdate;

/// What became of a commit.
#[derive(Debug)]
pub(crate) enum CommitStatus {
    /// It happened; the table as it is now.
    Committed(Box<Table>),
    /// It did not happen and cannot happen any more.
    Failed,
    /// It is not there, but a request under way might still bring it.
    Missing,
    /// The table could not be loaded, or does not tell.
    Unknown,
}

/// What to look for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sought<'a> {
    /// What it would have done.
    pub(crate) updates: &'a [TableUpdate],
    /// The snapshots it would have added.
    pub(crate) snapshot_ids: &'a [i64],
    /// The table.
    pub(crate) table: SoughtTable,
    /// The metadata file of the table it was made for.
    pub(crate) base_location: Option<&'a str>,
}

/// The table that a commit is for, and its uuid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SoughtTable {
    /// One that the commit would have created.
    Created(Option<uuid::Uuid>),
    /// One that was there. Old tables may have no uuid yet.
    Existing(Option<uuid::Uuid>),
}

/// Loads the table until it can be told.
pub(crate) async fn check(
    catalog: &dyn Catalog,
    ident: &TableIdent,
    policy: &RetryPolicy,
    sought: Sought<'_>,
) -> CommitStatus {
    let begun = Instant::now();
    let mut attempt = 1;
    loop {
        match catalog.load_table(ident).await {
            Ok(table) => return judge(table, sought),
            Err(error) if error.kind() == ErrorKind::NotFound => match sought.table {
                SoughtTable::Created(_) => return CommitStatus::Missing,
                // Dropped meanwhile: before or after the commit, nobody knows.
                SoughtTable::Existing(_) => return CommitStatus::Unknown,
            },
            Err(error) => tracing::warn!(table = %ident, %error, attempt, "cannot check if the commit happened"),
        }
        if !policy.allows_another(attempt, begun.elapsed()) {
            return CommitStatus::Unknown;
        }
        tokio::time::sleep(policy.wait(attempt)).await;
        attempt += 1;
    }
}

fn judge(table: Table, sought: Sought<'_>) -> CommitStatus {
    let metadata = &table.metadata;
    // Snapshots come all together, but others may have built on them and expired some since.
    let is_ours = |id: i64| sought.snapshot_ids.contains(&id);
    let is_known = |s: &Arc<Snapshot>| is_ours(s.snapshot_id) || s.parent_snapshot_id.is_some_and(is_ours);
    let has_snapshots = metadata.snapshots.iter().any(is_known);
    match sought.table {
        SoughtTable::Created(uuid) => {
            // One staged table may be created by several, of which one gets through.
            return match metadata.table_uuid == uuid && (has_snapshots || sought.snapshot_ids.is_empty()) {
                true => CommitStatus::Committed(Box::new(table)),
                false => CommitStatus::Missing,
            };
        }
        // Dropped meanwhile too, and another has its name.
        SoughtTable::Existing(uuid @ Some(_)) if metadata.table_uuid != uuid => return CommitStatus::Unknown,
        SoughtTable::Existing(_) => {}
    }
    // Without a snapshot there is nothing to recognise the commit by, unless nothing at all has happened.
    if sought.snapshot_ids.is_empty() {
        return match table.metadata_location.as_deref() {
            Some(location) if Some(location) == sought.base_location => CommitStatus::Missing,
            _ => CommitStatus::Unknown,
        };
    }
    if has_snapshots {
        return CommitStatus::Committed(Box::new(table));
    }
    if sought.updates.iter().any(|update| is_overtaken(update, metadata)) {
        return CommitStatus::Failed;
    }
    CommitStatus::Missing
}

/// Whether the update was not and never can be applied: from v2 on, another snapshot took the sequence number, and a
/// snapshot with a parent whose number was passed is refused, however late the request arrives. That the number was
/// passed is not enough: the snapshot may have been there and been expired since.
fn is_overtaken(update: &TableUpdate, metadata: &TableMetadata) -> bool {
    match update {
        TableUpdate::AddSnapshot(snapshot) => {
            metadata.format_version >= FormatVersion::V2
                && snapshot.parent_snapshot_id.is_some()
                && snapshot.sequence_number > 0
                && metadata.snapshots.iter().any(|other| {
                    other.sequence_number == snapshot.sequence_number && other.snapshot_id != snapshot.snapshot_id
                })
        }
        _ => false,
    }
}
