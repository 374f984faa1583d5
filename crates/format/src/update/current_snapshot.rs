//! Which snapshot is current: setting `main` to any snapshot, or back to one of its ancestors (Java:
//! `SetSnapshotOperation`).

use std::sync::Arc;

use super::refs::RefsUpdate;
use super::requirements::TableChange;
use crate::error::{Error, Result};
use crate::spec::snapshot::{MAIN_BRANCH, RefKind, Snapshot, SnapshotRef};
use crate::spec::table_metadata::{TableMetadata, TableMetadataRef};

/// Makes a snapshot the current one, whether or not it is an ancestor of the one that is.
///
/// # Errors
/// `NotFound` when the table has no such snapshot.
pub fn set_current_snapshot(base: &TableMetadataRef, snapshot_id: i64) -> Result<TableChange> {
    let mut refs = RefsUpdate::new(base);
    if base.refs.contains_key(MAIN_BRANCH) {
        refs.replace(MAIN_BRANCH, RefKind::Branch, snapshot_id)?;
    } else {
        refs.create(MAIN_BRANCH, SnapshotRef::branch(snapshot_id))?;
    }
    Ok(refs.finish())
}

/// Goes back to an ancestor of the current snapshot, or stays at that.
///
/// # Errors
/// `NotFound` when the table has no such snapshot, `Validation` when it is no ancestor of the current one.
pub fn roll_back_to(base: &TableMetadataRef, snapshot_id: i64) -> Result<TableChange> {
    if base.snapshot_by_id(snapshot_id).is_some() && !is_current_ancestor(base, snapshot_id) {
        return Err(Error::validation(format!(
            "cannot roll back to snapshot {snapshot_id}: it is not an ancestor of the current state"
        )));
    }
    set_current_snapshot(base, snapshot_id)
}

/// The youngest of the current snapshot and its ancestors that was committed before a time, in milliseconds since 1970.
///
/// # Errors
/// `InvalidInput` when there is none.
pub fn ancestor_before(base: &TableMetadata, timestamp_ms: i64) -> Result<i64> {
    let ancestors = current_ancestors(base);
    let older = ancestors.into_iter().filter(|s| s.timestamp_ms < timestamp_ms);
    // Of several of one time the youngest: ancestors come youngest first.
    let youngest = older.reduce(|best, s| if s.timestamp_ms > best.timestamp_ms { s } else { best });
    let found = youngest.map(|s| s.snapshot_id);
    found.ok_or_else(|| {
        Error::invalid(format!(
            "cannot roll back: no snapshot of the current history is older than {timestamp_ms} ms since 1970"
        ))
    })
}

/// Whether a snapshot is the current one or among its ancestors.
pub fn is_current_ancestor(base: &TableMetadata, snapshot_id: i64) -> bool {
    current_ancestors(base).iter().any(|s| s.snapshot_id == snapshot_id)
}

/// The current snapshot and its ancestors that are still kept, youngest first; none for an empty table.
pub fn current_ancestors(base: &TableMetadata) -> Vec<&Arc<Snapshot>> {
    let current = base.current_snapshot_id;
    current.map(|id| base.ancestors_of(id)).unwrap_or_default()
}
