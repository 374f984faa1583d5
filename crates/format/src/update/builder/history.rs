//! The snapshot log, the metadata log and the time of a change.

use std::collections::HashSet;

use super::properties::positive_property;
use super::{CLOCK_TOLERANCE_MS, MetadataBuilder};
use crate::error::{Error, Result};
use crate::spec::table_metadata::MetadataLogEntry;

/// How many entries the metadata log keeps.
pub(crate) const PREVIOUS_VERSIONS_MAX: &str = "write.metadata.previous-versions-max";
const PREVIOUS_VERSIONS_MAX_DEFAULT: usize = 100;

impl MetadataBuilder {
    /// Dates the change and brings both logs up to date.
    pub(super) fn finish_history(&mut self, now_ms: i64) -> Result<()> {
        self.state.last_updated_ms = now_ms;
        for position in &self.changes.undated_log_entries {
            if let Some(entry) = self.state.snapshot_log.get_mut(*position) {
                entry.timestamp_ms = now_ms;
            }
        }
        self.prune_snapshot_log();
        self.check_snapshot_log()?;
        self.extend_metadata_log()
    }

    /// Drops entries of snapshots that were current only inside this change, and those of removed snapshots with all
    /// before them: a gap would claim that a snapshot was current when it was not (Java: `updateSnapshotLog`).
    fn prune_snapshot_log(&mut self) {
        let current = self.state.current_snapshot_id;
        let passed = self.changes.main_snapshots.iter().filter(|id| Some(**id) != current);
        let intermediate: HashSet<i64> = passed.copied().collect();
        if intermediate.is_empty() && !self.changes.snapshots_removed {
            return;
        }
        let kept: HashSet<i64> = self.state.snapshots.iter().map(|s| s.snapshot_id).collect();
        let mut log = Vec::with_capacity(self.state.snapshot_log.len());
        for entry in self.state.snapshot_log.drain(..) {
            if !kept.contains(&entry.snapshot_id) {
                if self.changes.snapshots_removed {
                    log.clear();
                }
            } else if !intermediate.contains(&entry.snapshot_id) {
                log.push(entry);
            }
        }
        self.state.snapshot_log = log;
    }

    fn check_snapshot_log(&self) -> Result<()> {
        let log = &self.state.snapshot_log;
        let known = self.base.as_ref().map_or(0, |base| base.snapshot_log.len());
        // Entries of the base are what they are; only new ones are checked.
        let grown = log.len() > known || !self.changes.main_snapshots.is_empty();
        if let ([.., before, last], true) = (log.as_slice(), grown) {
            check_order_in_time(before.timestamp_ms, last.timestamp_ms, "the last snapshot log entry")?;
        }
        match log.last() {
            Some(last) => check_order_in_time(
                last.timestamp_ms,
                self.state.last_updated_ms,
                "the last snapshot log entry",
            ),
            None => Ok(()),
        }
    }

    fn extend_metadata_log(&mut self) -> Result<()> {
        let (Some(base), Some(location)) = (&self.base, &self.previous_location) else {
            return Ok(());
        };
        check_order_in_time(base.last_updated_ms, self.state.last_updated_ms, "the last change")?;
        let max = positive_property(
            &self.state.properties,
            PREVIOUS_VERSIONS_MAX,
            PREVIOUS_VERSIONS_MAX_DEFAULT,
        )?;
        let log = &mut self.state.metadata_log;
        let surplus = (log.len() + 1).saturating_sub(max);
        log.drain(..surplus.min(log.len()));
        log.push(MetadataLogEntry {
            timestamp_ms: base.last_updated_ms,
            metadata_file: location.clone(),
            extra: Default::default(),
        });
        Ok(())
    }
}

fn check_order_in_time(before_ms: i64, after_ms: i64, what: &str) -> Result<()> {
    if after_ms.saturating_sub(before_ms) >= -CLOCK_TOLERANCE_MS {
        return Ok(());
    }
    Err(Error::validation(format!(
        "the change is dated {after_ms}, more than a minute before {what} at {before_ms}: check the clocks"
    )))
}
