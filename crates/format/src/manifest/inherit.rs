//! Values that entries inherit from their manifest's entry in the manifest list
//! (spec, "Sequence Number Inheritance", "First Row ID Inheritance").

use super::columns::ManifestColumns;
use super::data_file::ManifestStatus;
use super::manifest_file::{ManifestContent, ManifestFile};

/// Sequence number of a manifest that was written and not committed yet (Java: `ManifestWriter.UNASSIGNED_SEQ`).
pub const UNASSIGNED_SEQUENCE_NUMBER: i64 = -1;

/// What the entries of one manifest inherit.
#[derive(Debug, Clone, PartialEq)]
pub struct Inheritance {
    spec_id: i32,
    snapshot_id: Option<i64>,
    sequence_number: i64,
    row_ids: RowIds,
}

/// How entries come by their first row id.
#[derive(Debug, Clone, PartialEq)]
enum RowIds {
    /// They have none: deletes, and manifests from before v3.
    None,
    /// The manifest is not committed: those it stores, none is assigned.
    AsStored,
    /// One per entry, assigned.
    Assigned(Vec<Option<i64>>),
}

impl Inheritance {
    /// What the entries `columns` of `manifest` inherit.
    pub fn new(manifest: &ManifestFile, columns: &ManifestColumns) -> Self {
        let row_ids = match (manifest.content, manifest.first_row_id) {
            (ManifestContent::Deletes, _) => RowIds::None,
            (ManifestContent::Data, Some(first)) => RowIds::Assigned(assign_row_ids(first, columns)),
            (ManifestContent::Data, None) if manifest.sequence_number == UNASSIGNED_SEQUENCE_NUMBER => RowIds::AsStored,
            (ManifestContent::Data, None) => RowIds::None,
        };
        Inheritance {
            spec_id: manifest.partition_spec_id,
            snapshot_id: manifest.added_snapshot_id,
            sequence_number: manifest.sequence_number,
            row_ids,
        }
    }

    /// The spec of every entry.
    pub fn spec_id(&self) -> i32 {
        self.spec_id
    }

    /// The snapshot that added the file of entry `i`, or removed it when deleted.
    #[inline]
    pub fn snapshot_id(&self, columns: &ManifestColumns, i: usize) -> Option<i64> {
        columns.snapshot_id.get(i).or(self.snapshot_id)
    }

    /// The data sequence number of entry `i`; `None` only where the manifest is not committed or breaks the spec
    /// (an existing or deleted entry without one).
    #[inline]
    pub fn sequence_number(&self, columns: &ManifestColumns, i: usize) -> Option<i64> {
        columns.sequence_number.get(i).or_else(|| self.inherited(columns, i))
    }

    /// The sequence number of the snapshot that added the file of entry `i`; `None` as [`Self::sequence_number`],
    /// and for existing entries of writers that did not know it.
    #[inline]
    pub fn file_sequence_number(&self, columns: &ManifestColumns, i: usize) -> Option<i64> {
        columns
            .file_sequence_number
            .get(i)
            .or_else(|| self.inherited(columns, i))
    }

    fn inherited(&self, columns: &ManifestColumns, i: usize) -> Option<i64> {
        // A sequence number of 0 is that of a v1 manifest: all its entries have 0.
        let is_inherited = self.sequence_number == 0 || columns.status(i) == ManifestStatus::Added;
        (is_inherited && self.sequence_number != UNASSIGNED_SEQUENCE_NUMBER).then_some(self.sequence_number)
    }

    /// The first row id of entry `i`; `None` for deletes and where the table assigns none.
    #[inline]
    pub fn first_row_id(&self, columns: &ManifestColumns, i: usize) -> Option<i64> {
        match &self.row_ids {
            RowIds::None => None,
            RowIds::AsStored => columns.first_row_id.get(i),
            RowIds::Assigned(ids) => ids.get(i).copied().flatten(),
        }
    }
}

/// Stored ids, and for live entries without one the manifest's id plus the rows of those before.
fn assign_row_ids(first: i64, columns: &ManifestColumns) -> Vec<Option<i64>> {
    let mut next = first;
    (0..columns.len)
        .map(|i| {
            let stored = columns.first_row_id.get(i);
            if stored.is_some() || !columns.is_live(i) {
                return stored;
            }
            let assigned = next;
            next = next.saturating_add(columns.record_count(i).max(0));
            Some(assigned)
        })
        .collect()
}

#[cfg(test)]
mod tests;
