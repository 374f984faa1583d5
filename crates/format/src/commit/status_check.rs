//! Finds out what became of a commit whose answer was lost (Java: `BaseMetastoreOperations.checkCommitStatus`).

use std::time::Instant;

use super::retry::RetryPolicy;
use crate::catalog::{Catalog, Table, TableIdent};
use crate::error::ErrorKind;
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
    /// The table could not be loaded.
    Unknown,
}

/// What to look for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sought<'a> {
    /// What it would have done.
    pub(crate) updates: &'a [TableUpdate],
    /// The snapshots it would have added.
    pub(crate) snapshot_ids: &'a [i64],
    /// The uuid of a table it would have created.
    pub(crate) created_uuid: Option<uuid::Uuid>,
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
            Err(error) if error.kind() == ErrorKind::NotFound => return CommitStatus::Missing,
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
    if sought.created_uuid.is_some() {
        return match metadata.table_uuid == sought.created_uuid {
            true => CommitStatus::Committed(Box::new(table)),
            false => CommitStatus::Missing,
        };
    }
    // Without a snapshot there is nothing to recognise the commit by.
    if sought.snapshot_ids.is_empty() {
        return CommitStatus::Missing;
    }
    if sought
        .snapshot_ids
        .iter()
        .all(|id| metadata.snapshot_by_id(*id).is_some())
    {
        return CommitStatus::Committed(Box::new(table));
    }
    if sought.updates.iter().any(|update| is_overtaken(update, metadata)) {
        return CommitStatus::Failed;
    }
    CommitStatus::Missing
}

/// Whether the update can never be applied any more: from v2 on, a snapshot with a parent whose sequence number others
/// have passed is refused, however late the request arrives.
fn is_overtaken(update: &TableUpdate, metadata: &TableMetadata) -> bool {
    match update {
        TableUpdate::AddSnapshot(snapshot) => {
            metadata.format_version >= FormatVersion::V2
                && snapshot.parent_snapshot_id.is_some()
                && snapshot.sequence_number <= metadata.last_sequence_number
        }
        _ => false,
    }
}
