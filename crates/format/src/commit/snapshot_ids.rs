//! Snapshot ids: random, positive, not in use.

use uuid::Uuid;

use crate::spec::table_metadata::TableMetadata;

/// An id that no snapshot of the table has: 63 random bits, as Java's `SnapshotIdGeneratorUtil`.
pub(crate) fn new_snapshot_id(base: &TableMetadata) -> i64 {
    loop {
        let (high, low) = Uuid::new_v4().as_u64_pair();
        let id = ((high ^ low) & (i64::MAX as u64)) as i64;
        if id > 0 && base.snapshot_by_id(id).is_none() {
            return id;
        }
    }
}
