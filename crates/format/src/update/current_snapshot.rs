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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;
    use crate::update::TableUpdate;
    use crate::update::test_tables::{NOW, changed, snapshot, try_changed, two_columns};

    /// `main` at 3, whose ancestors are 2 and 1, committed a millisecond apart; snapshot 4 apart.
    fn table() -> TableMetadataRef {
        let snapshot = |id: i64, parent| {
            TableUpdate::AddSnapshot(Snapshot {
                timestamp_ms: NOW + id,
                ..snapshot(id, parent, id)
            })
        };
        let main = TableUpdate::SetSnapshotRef {
            name: MAIN_BRANCH.into(),
            reference: SnapshotRef::branch(3),
        };
        let updates = vec![
            snapshot(1, None),
            snapshot(2, Some(1)),
            snapshot(3, Some(2)),
            snapshot(4, None),
            main,
        ];
        changed(&two_columns(), &(updates, vec![]))
    }

    fn current(change: Result<TableChange>) -> Result<Option<i64>> {
        try_changed(&table(), &change?).map(|t| t.current_snapshot_id)
    }

    #[test]
    fn any_snapshot_can_be_current_and_ancestors_can_be_gone_back_to() {
        let base = table();
        assert_eq!(current(set_current_snapshot(&base, 4)).unwrap(), Some(4));
        assert_eq!(current(roll_back_to(&base, 1)).unwrap(), Some(1));
        assert_eq!(current(roll_back_to(&base, 3)).unwrap(), Some(3));
        let kind = |change| current(change).unwrap_err().kind();
        assert_eq!(kind(roll_back_to(&base, 4)), ErrorKind::Validation);
        assert_eq!(kind(roll_back_to(&base, 9)), ErrorKind::NotFound);
        assert_eq!(kind(set_current_snapshot(&base, 9)), ErrorKind::NotFound);
        let empty = two_columns();
        assert_eq!(roll_back_to(&empty, 1).unwrap_err().kind(), ErrorKind::NotFound);
    }

    #[test]
    fn times_lead_to_the_last_ancestor_strictly_before() {
        let base = table();
        assert_eq!(ancestor_before(&base, NOW + 3).unwrap(), 2);
        assert_eq!(ancestor_before(&base, NOW + 4).unwrap(), 3);
        assert_eq!(ancestor_before(&base, i64::MAX).unwrap(), 3);
        assert_eq!(
            ancestor_before(&base, NOW + 1).unwrap_err().kind(),
            ErrorKind::InvalidInput
        );
        assert!(ancestor_before(&two_columns(), i64::MAX).is_err());
    }
}
