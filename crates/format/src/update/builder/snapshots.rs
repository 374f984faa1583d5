//! Snapshots and refs under change.

use std::collections::HashSet;
use std::sync::Arc;

use super::MetadataBuilder;
use crate::error::{Error, Result};
use crate::spec::snapshot::{MAIN_BRANCH, RefKind, Snapshot, SnapshotRef};
use crate::spec::table_metadata::{FormatVersion, SnapshotLogEntry};

impl MetadataBuilder {
    pub(super) fn add_snapshot(&mut self, snapshot: &Snapshot) -> Result<()> {
        let state = &mut self.state;
        let id = snapshot.snapshot_id;
        if state.schemas.is_empty() {
            return Err(Error::validation("a snapshot cannot be added before a schema"));
        }
        if state.snapshot_by_id(id).is_some() {
            return Err(Error::validation(format!("snapshot {id} exists already")));
        }
        let sequence_number = snapshot.sequence_number;
        if state.format_version == FormatVersion::V1 {
            if sequence_number != 0 {
                let message =
                    format!("snapshot {id} has sequence number {sequence_number}, in format version 1 it must be 0");
                return Err(Error::validation(message));
            }
        } else if sequence_number <= state.last_sequence_number && snapshot.parent_snapshot_id.is_some() {
            return Err(Error::conflict(format!(
                "snapshot {id} has sequence number {sequence_number}, but {} was given already",
                state.last_sequence_number
            )));
        }
        let next_row_id = match state.format_version {
            FormatVersion::V3 => Some(next_row_id(snapshot, state.next_row_id)?),
            FormatVersion::V1 | FormatVersion::V2 => None,
        };
        state.next_row_id = next_row_id.unwrap_or(state.next_row_id);
        state.last_sequence_number = state.last_sequence_number.max(sequence_number);
        state.snapshots.push(Arc::new(snapshot.clone()));
        self.changes.added_snapshots.insert(id);
        self.changes.any = true;
        Ok(())
    }

    pub(super) fn set_ref(&mut self, name: &str, reference: &SnapshotRef) -> Result<()> {
        if self.state.refs.get(name) == Some(reference) {
            return Ok(());
        }
        let id = reference.snapshot_id;
        let Some(snapshot) = self.state.snapshot_by_id(id) else {
            return Err(Error::validation(format!(
                "ref '{name}' cannot point to unknown snapshot {id}"
            )));
        };
        let snapshot_ms = snapshot.timestamp_ms;
        check_ref(name, reference)?;
        if name == MAIN_BRANCH {
            self.state.current_snapshot_id = Some(id);
            let added = self.changes.added_snapshots.contains(&id);
            if added {
                self.changes.main_snapshots.push(id);
            } else {
                // Going back to an older snapshot happens when the change is built.
                self.changes.undated_log_entries.push(self.state.snapshot_log.len());
            }
            self.state.snapshot_log.push(SnapshotLogEntry {
                timestamp_ms: snapshot_ms,
                snapshot_id: id,
                extra: Default::default(),
            });
        }
        self.state.refs.insert(name.to_string(), reference.clone());
        self.changes.dangling_refs.remove(name);
        self.changes.any = true;
        Ok(())
    }

    pub(super) fn remove_ref(&mut self, name: &str) {
        self.changes.dangling_refs.remove(name);
        if name == MAIN_BRANCH {
            self.state.current_snapshot_id = None;
        }
        self.changes.any |= self.state.refs.remove(name).is_some();
    }

    /// Removes snapshots, their statistics, and the refs to them; ids not there are ignored.
    ///
    /// Refs must be removed or moved by name too, before or after: else they are those of writers that were not seen.
    pub(super) fn remove_snapshots(&mut self, ids: &[i64]) {
        let ids: HashSet<i64> = ids.iter().copied().collect();
        let state = &mut self.state;
        let before = state.snapshots.len();
        state.snapshots.retain(|s| !ids.contains(&s.snapshot_id));
        if state.snapshots.len() == before {
            return;
        }
        state.statistics.retain(|file| !ids.contains(&file.snapshot_id));
        state
            .partition_statistics
            .retain(|file| !ids.contains(&file.snapshot_id));
        self.changes.snapshots_removed = true;
        self.changes.any = true;
        let refs = self.state.refs.iter();
        let dangling = refs.filter(|(_, reference)| ids.contains(&reference.snapshot_id));
        let dangling: Vec<String> = dangling.map(|(name, _)| name.clone()).collect();
        for name in dangling {
            self.remove_ref(&name);
            self.changes.dangling_refs.insert(name);
        }
    }

    /// Fails when a ref went only because its snapshot was removed. (Java drops such refs, but its own changes name
    /// them; what they don't name was made or moved by another writer meanwhile.)
    pub(super) fn check_dangling_refs(&self) -> Result<()> {
        match self.changes.dangling_refs.first() {
            Some(name) => Err(Error::conflict(format!(
                "ref '{name}' points to a snapshot that is removed"
            ))),
            None => Ok(()),
        }
    }
}

/// The table's next row id after a v3 snapshot took its own (spec, "Row Lineage Assignment").
fn next_row_id(snapshot: &Snapshot, next_row_id: i64) -> Result<i64> {
    let id = snapshot.snapshot_id;
    // A snapshot that was made before another writer upgraded the table can be made anew.
    let outdated = || {
        Error::conflict(format!(
            "snapshot {id} has no first-row-id, which format version 3 needs"
        ))
    };
    let missing = || Error::validation(format!("snapshot {id} has no added-rows, which format version 3 needs"));
    let first = snapshot.first_row_id.ok_or_else(outdated)?;
    let added = snapshot.added_rows.ok_or_else(missing)?;
    if first < next_row_id {
        return Err(Error::conflict(format!(
            "snapshot {id} has first-row-id {first}, but row ids below {next_row_id} were given already"
        )));
    }
    let next = first.checked_add(added).filter(|_| added >= 0);
    next.ok_or_else(|| Error::validation(format!("snapshot {id} has an impossible number of added rows, {added}")))
}

/// Rules of refs: `main` is a branch, tags keep no snapshots, durations and counts are positive (Java: `SnapshotRef`).
pub(crate) fn check_ref(name: &str, reference: &SnapshotRef) -> Result<()> {
    let refuse = |why: &str| Err(Error::validation(format!("ref '{name}': {why}")));
    let retention = &reference.retention;
    if name == MAIN_BRANCH && reference.kind != RefKind::Branch {
        return refuse("it must be a branch");
    }
    let keeps = retention.min_snapshots_to_keep.is_some() || retention.max_snapshot_age_ms.is_some();
    if reference.kind == RefKind::Tag && keeps {
        return refuse("a tag has no snapshots to keep");
    }
    if retention.min_snapshots_to_keep.is_some_and(|n| n <= 0) {
        return refuse("the number of snapshots to keep must be positive");
    }
    if retention.max_snapshot_age_ms.is_some_and(|n| n <= 0) {
        return refuse("the age of snapshots to keep must be positive");
    }
    if retention.max_ref_age_ms.is_some_and(|n| n <= 0) {
        return refuse("the age of the ref must be positive");
    }
    Ok(())
}
