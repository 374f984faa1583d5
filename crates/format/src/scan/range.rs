//! Ranges of snapshots that incremental scans read (Java: `BaseIncrementalScan`).

use std::sync::Arc;

use super::snapshots::{ancestors_between, is_ancestor_of, is_parent_ancestor_of};
use crate::error::{Error, Result};
use crate::spec::snapshot::{RefKind, Snapshot};
use crate::spec::table_metadata::TableMetadata;

/// A snapshot at an end of a range: by id, or by the tag that points to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RangeEnd {
    /// The snapshot of this id.
    Id(i64),
    /// The snapshot of this tag. Branches move, so they are refused.
    Tag(String),
}

/// Where a range starts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum RangeStart {
    /// At the oldest ancestor that is still kept.
    #[default]
    Oldest,
    /// At this snapshot, its own changes included.
    Inclusive(RangeEnd),
    /// After this snapshot, which itself may be expired.
    Exclusive(RangeEnd),
}

/// Which snapshots an incremental scan reads.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SnapshotRange {
    /// The start.
    pub start: RangeStart,
    /// The last snapshot; `None` is the head of the branch.
    pub end: Option<RangeEnd>,
    /// The branch the end must lie on; `None` is `main`, on which a given end need not lie.
    pub branch: Option<String>,
}

impl SnapshotRange {
    /// The changes after one snapshot up to another.
    pub fn between(after: i64, up_to: i64) -> Self {
        SnapshotRange {
            start: RangeStart::Exclusive(RangeEnd::Id(after)),
            end: Some(RangeEnd::Id(up_to)),
            branch: None,
        }
    }

    /// The changes after a snapshot up to the current one.
    pub fn after(snapshot_id: i64) -> Self {
        SnapshotRange {
            start: RangeStart::Exclusive(RangeEnd::Id(snapshot_id)),
            ..SnapshotRange::default()
        }
    }

    /// The snapshots of the range, oldest first. Empty for an empty table when neither end is given.
    ///
    /// # Errors
    /// `NotFound` for a snapshot or ref the table does not have (an expired start that is included too).
    /// `InvalidInput` when a ref is of the wrong kind, the end is not on the branch, or the start is no ancestor of
    /// the end: because it is on another branch, or because snapshots after it are expired.
    pub fn resolve<'a>(&self, metadata: &'a TableMetadata) -> Result<Vec<&'a Arc<Snapshot>>> {
        let branch_head = self.branch.as_deref().map(|name| head_of(metadata, name)).transpose()?;
        let end = match &self.end {
            Some(end) => self.given_end(metadata, end, branch_head)?,
            None => match branch_head.or(metadata.current_snapshot_id) {
                Some(head) => head,
                None if self.start == RangeStart::Oldest => return Ok(Vec::new()),
                None => {
                    return Err(Error::invalid(
                        "end snapshot is not set and table has no current snapshot",
                    ));
                }
            },
        };
        let start = self.start_exclusive(metadata, end)?;
        let mut snapshots: Vec<_> = ancestors_between(metadata, end, start).collect();
        snapshots.reverse();
        Ok(snapshots)
    }

    fn given_end(&self, metadata: &TableMetadata, end: &RangeEnd, branch_head: Option<i64>) -> Result<i64> {
        let id = end.resolve(metadata)?;
        if metadata.snapshot_by_id(id).is_none() {
            return Err(Error::not_found(format!("cannot find the end snapshot: {id}")));
        }
        match (branch_head, &self.branch) {
            (Some(head), Some(branch)) if !is_ancestor_of(metadata, head, id) => Err(Error::invalid(format!(
                "end snapshot is not a valid snapshot on the current branch: {branch}"
            ))),
            _ => Ok(id),
        }
    }

    fn start_exclusive(&self, metadata: &TableMetadata, end: i64) -> Result<Option<i64>> {
        match &self.start {
            RangeStart::Oldest => Ok(None),
            RangeStart::Inclusive(start) => {
                let id = start.resolve(metadata)?;
                let Some(snapshot) = metadata.snapshot_by_id(id) else {
                    return Err(Error::not_found(format!("cannot find the starting snapshot: {id}")));
                };
                if !is_ancestor_of(metadata, end, id) {
                    let message =
                        format!("starting snapshot (inclusive) {id} is not an ancestor of end snapshot {end}");
                    return Err(Error::invalid(message));
                }
                Ok(snapshot.parent_snapshot_id)
            }
            RangeStart::Exclusive(start) => {
                let id = start.resolve(metadata)?;
                if !is_parent_ancestor_of(metadata, end, id) {
                    let message =
                        format!("starting snapshot (exclusive) {id} is not a parent ancestor of end snapshot {end}");
                    return Err(Error::invalid(message));
                }
                Ok(Some(id))
            }
        }
    }
}

impl RangeEnd {
    fn resolve(&self, metadata: &TableMetadata) -> Result<i64> {
        match self {
            RangeEnd::Id(id) => Ok(*id),
            RangeEnd::Tag(name) => match metadata.refs.get(name) {
                Some(reference) if reference.kind == RefKind::Tag => Ok(reference.snapshot_id),
                Some(_) => Err(Error::invalid(format!("ref {name} is not a tag"))),
                None => Err(Error::not_found(format!("cannot find ref: {name}"))),
            },
        }
    }
}

fn head_of(metadata: &TableMetadata, branch: &str) -> Result<i64> {
    match metadata.refs.get(branch) {
        Some(reference) if reference.kind == RefKind::Branch => Ok(reference.snapshot_id),
        Some(_) => Err(Error::invalid(format!("ref {branch} is not a branch"))),
        None => Err(Error::not_found(format!("cannot find ref: {branch}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;
    use crate::scan::testing::{reference, snapshot, table};

    /// (0, expired) <- 1 <- 2 <- 3 (main) and 2 <- 4 (branch `b`), tag `t` on 2.
    fn history() -> TableMetadata {
        let mut table = table();
        let snapshots = [(1, Some(0)), (2, Some(1)), (3, Some(2)), (4, Some(2))];
        table.snapshots = snapshots.map(|(id, parent)| Arc::new(snapshot(id, parent, "l"))).into();
        table.current_snapshot_id = Some(3);
        let refs = [
            ("main", 3, RefKind::Branch),
            ("b", 4, RefKind::Branch),
            ("t", 2, RefKind::Tag),
        ];
        table.refs = refs
            .map(|(name, id, kind)| (name.to_string(), reference(id, kind)))
            .into();
        table
    }

    fn ids(range: &SnapshotRange) -> Result<Vec<i64>> {
        let table = history();
        let snapshots = range.resolve(&table)?;
        Ok(snapshots.iter().map(|s| s.snapshot_id).collect())
    }

    fn range(start: RangeStart, end: Option<RangeEnd>, branch: Option<&str>) -> SnapshotRange {
        SnapshotRange {
            start,
            end,
            branch: branch.map(str::to_string),
        }
    }

    fn id(id: i64) -> RangeEnd {
        RangeEnd::Id(id)
    }

    #[test]
    fn ranges_run_from_the_oldest_to_the_newest() {
        assert_eq!(ids(&SnapshotRange::default()).unwrap(), [1, 2, 3]);
        assert_eq!(ids(&SnapshotRange::between(1, 3)).unwrap(), [2, 3]);
        assert_eq!(ids(&SnapshotRange::after(2)).unwrap(), [3]);
        assert_eq!(
            ids(&range(RangeStart::Inclusive(id(2)), Some(id(4)), None)).unwrap(),
            [2, 4]
        );
        let tag = || RangeEnd::Tag("t".into());
        assert_eq!(ids(&range(RangeStart::Exclusive(tag()), None, None)).unwrap(), [3]);
        assert_eq!(ids(&range(RangeStart::Oldest, Some(tag()), None)).unwrap(), [1, 2]);
        assert_eq!(
            ids(&range(RangeStart::Exclusive(id(1)), None, Some("b"))).unwrap(),
            [2, 4]
        );
    }

    #[test]
    fn an_expired_start_is_known_only_as_a_parent() {
        assert_eq!(ids(&SnapshotRange::after(0)).unwrap(), [1, 2, 3]);
        let included = ids(&range(RangeStart::Inclusive(id(0)), None, None)).unwrap_err();
        assert_eq!(included.to_string(), "cannot find the starting snapshot: 0");
        let long_gone = ids(&SnapshotRange::after(-5)).unwrap_err();
        assert_eq!(long_gone.kind(), ErrorKind::InvalidInput);
        assert_eq!(
            long_gone.message(),
            "starting snapshot (exclusive) -5 is not a parent ancestor of end snapshot 3"
        );
    }

    #[test]
    fn ends_must_fit_together() {
        let fails = |range: SnapshotRange| {
            let error = ids(&range).unwrap_err();
            (error.kind(), error.message().to_string())
        };
        assert_eq!(
            fails(range(RangeStart::Inclusive(id(4)), None, None)),
            (
                ErrorKind::InvalidInput,
                "starting snapshot (inclusive) 4 is not an ancestor of end snapshot 3".to_string()
            )
        );
        // A head has nothing after it.
        assert_eq!(fails(SnapshotRange::after(3)).0, ErrorKind::InvalidInput);
        assert_eq!(fails(SnapshotRange::between(1, 99)).0, ErrorKind::NotFound);
        assert_eq!(
            fails(range(RangeStart::Oldest, Some(id(3)), Some("b"))).1,
            "end snapshot is not a valid snapshot on the current branch: b"
        );
        assert_eq!(
            fails(range(RangeStart::Oldest, None, Some("t"))).1,
            "ref t is not a branch"
        );
        assert_eq!(fails(range(RangeStart::Oldest, None, Some("x"))).0, ErrorKind::NotFound);
        let branch_as_end = Some(RangeEnd::Tag("b".into()));
        assert_eq!(
            fails(range(RangeStart::Oldest, branch_as_end, None)).1,
            "ref b is not a tag"
        );
    }

    #[test]
    fn an_empty_table_has_an_empty_range_only_without_ends() {
        let empty = table();
        assert!(SnapshotRange::default().resolve(&empty).unwrap().is_empty());
        let error = SnapshotRange::after(1).resolve(&empty).unwrap_err();
        assert_eq!(
            error.message(),
            "end snapshot is not set and table has no current snapshot"
        );
    }
}
