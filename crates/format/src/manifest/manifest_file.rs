//! An entry of a manifest list: one manifest and what is known of it (spec, "Manifest Lists").

use super::columns::ManifestColumns;

/// Whether a manifest lists data or delete files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum ManifestContent {
    /// Data files.
    Data = 0,
    /// Delete files.
    Deletes = 1,
}

/// What is known of the values of one partition field over a manifest.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct FieldSummary {
    /// Whether some value is null.
    pub contains_null: bool,
    /// Whether some value is NaN; `None` is unknown.
    pub contains_nan: Option<bool>,
    /// Lower bound of the others in binary single-value form; `None` when all are null or NaN, or unknown.
    pub lower_bound: Option<Vec<u8>>,
    /// Upper bound.
    pub upper_bound: Option<Vec<u8>>,
}

/// A manifest as its list knows it. Counts are `None` where an old writer left them out; they may be wrong.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ManifestFile {
    /// Location.
    pub manifest_path: String,
    /// Length in bytes. May be wrong in the wild.
    pub manifest_length: i64,
    /// The spec its files were written with.
    pub partition_spec_id: i32,
    /// Data or deletes.
    pub content: ManifestContent,
    /// Sequence number of the snapshot that added it; 0 for v1.
    pub sequence_number: i64,
    /// Lowest data sequence number of its live files; 0 for v1.
    pub min_sequence_number: i64,
    /// The snapshot that added it.
    pub added_snapshot_id: Option<i64>,
    /// Entries with status added.
    pub added_files_count: Option<i32>,
    /// Entries with status existing.
    pub existing_files_count: Option<i32>,
    /// Entries with status deleted.
    pub deleted_files_count: Option<i32>,
    /// Rows in added files.
    pub added_rows_count: Option<i64>,
    /// Rows in existing files.
    pub existing_rows_count: Option<i64>,
    /// Rows in deleted files.
    pub deleted_rows_count: Option<i64>,
    /// One summary per field of its spec; empty when unknown.
    pub partitions: Vec<FieldSummary>,
    /// Key metadata, when encrypted.
    pub key_metadata: Option<Vec<u8>>,
    /// First `_row_id` of the rows its added files without one hold (v3 data manifests).
    pub first_row_id: Option<i64>,
}

impl ManifestFile {
    /// Whether it may have entries with status added: only a known 0 says no.
    pub fn may_have_added_files(&self) -> bool {
        self.added_files_count != Some(0)
    }

    /// Whether it may have entries with status existing.
    pub fn may_have_existing_files(&self) -> bool {
        self.existing_files_count != Some(0)
    }

    /// Whether it may have entries with status deleted.
    pub fn may_have_deleted_files(&self) -> bool {
        self.deleted_files_count != Some(0)
    }

    /// Whether it may have live entries.
    pub fn may_have_live_files(&self) -> bool {
        self.may_have_added_files() || self.may_have_existing_files()
    }
}

impl ManifestFile {
    /// Whether all counts are known.
    pub fn has_counts(&self) -> bool {
        let files = [
            self.added_files_count,
            self.existing_files_count,
            self.deleted_files_count,
        ];
        let rows = [self.added_rows_count, self.existing_rows_count, self.deleted_rows_count];
        files.iter().all(Option::is_some) && rows.iter().all(Option::is_some)
    }

    /// The manifest with the counts of its entries: for manifests of old v1 writers, which did not give them,
    /// before they are listed by a newer version.
    #[must_use]
    pub fn with_counts(mut self, columns: &ManifestColumns) -> Self {
        let (mut files, mut rows) = ([0_i32; 3], [0_i64; 3]);
        for i in 0..columns.len {
            let status = columns.status(i) as usize;
            if let (Some(files), Some(rows)) = (files.get_mut(status), rows.get_mut(status)) {
                *files = files.saturating_add(1);
                *rows = rows.saturating_add(columns.record_count(i));
            }
        }
        [
            self.existing_files_count,
            self.added_files_count,
            self.deleted_files_count,
        ] = files.map(Some);
        [self.existing_rows_count, self.added_rows_count, self.deleted_rows_count] = rows.map(Some);
        self
    }
}
