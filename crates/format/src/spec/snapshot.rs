//! Snapshots and references to them (spec, "Snapshots", "Snapshot References").

use std::fmt;

use serde::{Deserialize, Serialize};

use super::unknown_fields::UnknownFields;

/// String properties in a fixed order, so that written JSON is stable.
pub type Properties = std::collections::BTreeMap<String, String>;

/// The branch that readers and writers use when none is named.
pub const MAIN_BRANCH: &str = "main";

/// What a snapshot did (spec, snapshot summary `operation`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Operation {
    /// Only added data files.
    Append,
    /// Replaced files without changing the table's rows.
    Replace,
    /// Added and removed rows.
    Overwrite,
    /// Only removed rows.
    Delete,
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Operation::Append => "append",
            Operation::Replace => "replace",
            Operation::Overwrite => "overwrite",
            Operation::Delete => "delete",
        })
    }
}

/// The state of a table at one time.
#[derive(Debug, Clone, PartialEq)]
pub struct Snapshot {
    /// Unique id.
    pub snapshot_id: i64,
    /// The snapshot this one was made from; `None` for the first.
    pub parent_snapshot_id: Option<i64>,
    /// Order of the commit; 0 in v1.
    pub sequence_number: i64,
    /// Commit time, milliseconds since epoch.
    pub timestamp_ms: i64,
    /// Where the manifests are listed.
    pub manifests: SnapshotManifests,
    /// The operation; `None` where an old writer gave no summary.
    pub operation: Option<Operation>,
    /// The summary without `operation`. Totals in it may be wrong: never answer queries from them.
    pub summary: Properties,
    /// The schema that was current; `None` from old writers.
    pub schema_id: Option<i32>,
    /// The first `_row_id` of the rows this snapshot added (v3).
    pub first_row_id: Option<i64>,
    /// Upper bound of rows that were given ids in this snapshot (v3).
    pub added_rows: Option<i64>,
    /// Id of the key that encrypts the manifest list's key metadata (v3).
    pub key_id: Option<String>,
    /// Fields this version of the engine does not know, kept as read.
    pub extra: UnknownFields,
}

/// Where a snapshot's manifests are listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SnapshotManifests {
    /// Location of a manifest list.
    List(String),
    /// Locations of the manifests themselves (v1 only).
    Embedded(Vec<String>),
}

/// How long a branch keeps snapshots, and a ref itself is kept.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SnapshotRetention {
    /// Fewest snapshots a branch keeps. Branches only.
    pub min_snapshots_to_keep: Option<i32>,
    /// Age in milliseconds up to which a branch keeps snapshots. Branches only.
    pub max_snapshot_age_ms: Option<i64>,
    /// Age in milliseconds of its snapshot after which the ref is dropped. Never for `main`.
    pub max_ref_age_ms: Option<i64>,
}

/// Branch or tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RefKind {
    /// Moves with commits.
    Branch,
    /// Stays.
    Tag,
}

impl fmt::Display for RefKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            RefKind::Branch => "branch",
            RefKind::Tag => "tag",
        })
    }
}

/// A named reference to a snapshot.
#[derive(Debug, Clone, PartialEq)]
pub struct SnapshotRef {
    /// The snapshot.
    pub snapshot_id: i64,
    /// Branch or tag.
    pub kind: RefKind,
    /// Retention.
    pub retention: SnapshotRetention,
    /// Fields this version of the engine does not know, kept as read.
    pub extra: UnknownFields,
}
