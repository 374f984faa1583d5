//! What a commit came to.

use std::time::Duration;

use crate::catalog::Table;
use crate::error::{Error, ErrorKind};

/// A commit that succeeded.
#[derive(Debug, Clone)]
pub struct CommitOutcome {
    /// The table right after the commit, or later.
    pub table: Table,
    /// Ids of the snapshots that were made, in order of the changes.
    pub snapshot_ids: Vec<i64>,
    /// Attempts it took, the successful one included.
    pub attempts: u32,
    /// Time over all attempts.
    pub duration: Duration,
}

/// Whether a failed commit has surely not happened, so that its caller may delete the data and delete files it wrote.
/// The commit never deletes those itself.
pub fn surely_failed(error: &Error) -> bool {
    error.kind() != ErrorKind::CommitStateUnknown
}
