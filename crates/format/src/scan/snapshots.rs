//! Choosing a snapshot, and walking its history (Java: `SnapshotUtil`, `SnapshotScan`).

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use chrono::DateTime;

use crate::error::{Error, Result};
use crate::spec::schema::SchemaRef;
use crate::spec::snapshot::{MAIN_BRANCH, RefKind, Snapshot};
use crate::spec::table_metadata::TableMetadata;

/// Which state of a table is meant.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum SnapshotSelector {
    /// The current one: the head of `main`.
    #[default]
    Current,
    /// The snapshot of this id.
    Id(i64),
    /// The snapshot a branch or tag points to.
    Ref(String),
    /// The snapshot that was current at this time, milliseconds since epoch.
    AsOf(i64),
}

impl fmt::Display for SnapshotSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SnapshotSelector::Current => f.write_str("current snapshot"),
            SnapshotSelector::Id(id) => write!(f, "snapshot {id}"),
            SnapshotSelector::Ref(name) => write!(f, "ref {name}"),
            SnapshotSelector::AsOf(ms) => write!(f, "snapshot as of {}", format_timestamp_ms(*ms)),
        }
    }
}

/// A chosen state of a table.
#[derive(Debug, Clone)]
pub struct SelectedSnapshot {
    /// The snapshot; `None` only for the current state of an empty table.
    pub snapshot: Option<Arc<Snapshot>>,
    /// The schema to read it with.
    pub schema: SchemaRef,
}

impl SnapshotSelector {
    /// Finds the snapshot and the schema to read it with: a snapshot named by id, time or tag is read with its own
    /// schema, a branch and the current state with the table's.
    ///
    /// # Errors
    /// `NotFound` for an unknown snapshot or ref, or a time before the first snapshot. `Corrupt` when a ref points to
    /// nothing or the snapshot's schema is missing.
    pub fn select(&self, metadata: &TableMetadata) -> Result<SelectedSnapshot> {
        match self {
            SnapshotSelector::Current => Ok(SelectedSnapshot {
                snapshot: metadata.current_snapshot().cloned(),
                schema: Arc::clone(metadata.current_schema()),
            }),
            SnapshotSelector::Id(id) => with_own_schema(metadata, *id),
            SnapshotSelector::AsOf(ms) => with_own_schema(metadata, snapshot_id_as_of(metadata, *ms)?),
            SnapshotSelector::Ref(name) => select_ref(metadata, name),
        }
    }
}

fn with_own_schema(metadata: &TableMetadata, snapshot_id: i64) -> Result<SelectedSnapshot> {
    let snapshot = find_snapshot(metadata, snapshot_id)?;
    Ok(SelectedSnapshot {
        schema: schema_of(metadata, snapshot)?,
        snapshot: Some(Arc::clone(snapshot)),
    })
}

fn select_ref(metadata: &TableMetadata, name: &str) -> Result<SelectedSnapshot> {
    if name == MAIN_BRANCH {
        return SnapshotSelector::Current.select(metadata);
    }
    let Some(reference) = metadata.refs.get(name) else {
        return Err(Error::not_found(format!("cannot find ref '{name}'")));
    };
    let Some(snapshot) = metadata.snapshot_by_id(reference.snapshot_id) else {
        let message = format!(
            "ref '{name}' points to snapshot {}, which is missing",
            reference.snapshot_id
        );
        return Err(Error::corrupt(message));
    };
    let schema = match reference.kind {
        RefKind::Branch => Arc::clone(metadata.current_schema()),
        RefKind::Tag => schema_of(metadata, snapshot)?,
    };
    Ok(SelectedSnapshot {
        snapshot: Some(Arc::clone(snapshot)),
        schema,
    })
}

/// The snapshot of this id.
///
/// # Errors
/// `NotFound` when the table does not have it.
pub fn find_snapshot(metadata: &TableMetadata, snapshot_id: i64) -> Result<&Arc<Snapshot>> {
    metadata
        .snapshot_by_id(snapshot_id)
        .ok_or_else(|| Error::not_found(format!("cannot find snapshot with id {snapshot_id}")))
}

/// The schema a snapshot was written with; the table's current one where an old writer did not tell.
///
/// # Errors
/// `Corrupt` when the snapshot names a schema the table does not have.
pub fn schema_of(metadata: &TableMetadata, snapshot: &Snapshot) -> Result<SchemaRef> {
    let Some(schema_id) = snapshot.schema_id else {
        return Ok(Arc::clone(metadata.current_schema()));
    };
    metadata.schema_by_id(schema_id).cloned().ok_or_else(|| {
        let message = format!(
            "snapshot {} names schema {schema_id}, which is missing",
            snapshot.snapshot_id
        );
        Error::corrupt(message)
    })
}

/// The snapshot that was current at a time, by the snapshot log.
///
/// # Errors
/// `NotFound` for a time before the first entry of the log.
pub fn snapshot_id_as_of(metadata: &TableMetadata, timestamp_ms: i64) -> Result<i64> {
    let mut best: Option<(i64, i64)> = None;
    for entry in &metadata.snapshot_log {
        // Of several commits in one millisecond the last was current at its end. (Java takes the first.)
        if entry.timestamp_ms <= timestamp_ms && best.is_none_or(|(time, _)| entry.timestamp_ms >= time) {
            best = Some((entry.timestamp_ms, entry.snapshot_id));
        }
    }
    best.map(|(_, id)| id).ok_or_else(|| {
        let time = format_timestamp_ms(timestamp_ms);
        Error::not_found(format!("cannot find a snapshot older than {time}"))
    })
}

/// Whether `ancestor_id` is `snapshot_id` or among its ancestors that are still kept.
pub fn is_ancestor_of(metadata: &TableMetadata, snapshot_id: i64, ancestor_id: i64) -> bool {
    ancestors(metadata, snapshot_id).any(|s| s.snapshot_id == ancestor_id)
}

/// Whether `parent_id` is the parent of `snapshot_id` or of one of its ancestors. The parent itself may be expired.
pub fn is_parent_ancestor_of(metadata: &TableMetadata, snapshot_id: i64, parent_id: i64) -> bool {
    ancestors(metadata, snapshot_id).any(|s| s.parent_snapshot_id == Some(parent_id))
}

/// A snapshot and its ancestors that are still kept, newest first. Ends where a broken history turns in a circle.
pub fn ancestors(metadata: &TableMetadata, snapshot_id: i64) -> impl Iterator<Item = &Arc<Snapshot>> {
    let mut unseen: HashMap<i64, &Arc<Snapshot>> = metadata.snapshots.iter().map(|s| (s.snapshot_id, s)).collect();
    let first = unseen.remove(&snapshot_id);
    std::iter::successors(first, move |snapshot| unseen.remove(&snapshot.parent_snapshot_id?))
}

/// The ancestors after `oldest_exclusive` up to `latest`, newest first; down to the oldest one kept when it is `None`
/// or not among them.
pub fn ancestors_between(
    metadata: &TableMetadata,
    latest: i64,
    oldest_exclusive: Option<i64>,
) -> impl Iterator<Item = &Arc<Snapshot>> {
    ancestors(metadata, latest).take_while(move |s| Some(s.snapshot_id) != oldest_exclusive)
}

/// The oldest ancestor of a snapshot that is still kept; itself when it has none.
pub fn oldest_ancestor_of(metadata: &TableMetadata, snapshot_id: i64) -> Option<&Arc<Snapshot>> {
    ancestors(metadata, snapshot_id).last()
}

/// The oldest ancestor of the current snapshot that was committed at or after a time; `None` when the current
/// snapshot is older.
///
/// # Errors
/// `NotFound` when it cannot be told, because older snapshots are expired.
pub fn oldest_ancestor_after(metadata: &TableMetadata, timestamp_ms: i64) -> Result<Option<&Arc<Snapshot>>> {
    let Some(current_id) = metadata.current_snapshot_id else {
        return Ok(None);
    };
    let mut last = None;
    for snapshot in ancestors(metadata, current_id) {
        if snapshot.timestamp_ms < timestamp_ms {
            return Ok(last);
        }
        last = Some(snapshot);
        if snapshot.timestamp_ms == timestamp_ms {
            return Ok(last);
        }
    }
    match last {
        Some(snapshot) if snapshot.parent_snapshot_id.is_none() => Ok(last),
        None => Ok(None),
        Some(_) => {
            let time = format_timestamp_ms(timestamp_ms);
            Err(Error::not_found(format!("cannot find snapshot older than {time}")))
        }
    }
}

/// The ancestor of the current snapshot whose parent is `snapshot_id`.
///
/// # Errors
/// `NotFound` when the table does not have that snapshot; `InvalidInput` when it is no ancestor of the current one.
pub fn snapshot_after(metadata: &TableMetadata, snapshot_id: i64) -> Result<&Arc<Snapshot>> {
    if metadata.snapshot_by_id(snapshot_id).is_none() {
        return Err(Error::not_found(format!("cannot find parent snapshot {snapshot_id}")));
    }
    let current = metadata.current_snapshot_id;
    current
        .and_then(|id| ancestors(metadata, id).find(|s| s.parent_snapshot_id == Some(snapshot_id)))
        .ok_or_else(|| {
            Error::invalid(format!(
                "cannot find snapshot after {snapshot_id}: not an ancestor of the table's current snapshot"
            ))
        })
}

/// UTC with milliseconds, as `2024-01-31T12:00:00.000+00:00`; the number itself when out of range.
pub(crate) fn format_timestamp_ms(ms: i64) -> String {
    match DateTime::from_timestamp_millis(ms) {
        Some(time) => time.format("%Y-%m-%dT%H:%M:%S%.3f+00:00").to_string(),
        None => format!("{ms} ms since epoch"),
    }
}

#[cfg(test)]
mod tests;
