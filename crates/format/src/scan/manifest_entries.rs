//! The entries of one manifest as a scan sees them: cached columns and what they inherit.
//!
//! Tasks point at a row in here instead of copying it, so a plan costs a few words per surviving file and
//! statistics stay reachable without a copy.

use std::sync::Arc;

use crate::error::{Error, Result};
use crate::manifest::columns::ManifestColumns;
use crate::manifest::data_file::{DataFile, ManifestEntry};
use crate::manifest::inherit::Inheritance;
use crate::manifest::manifest_file::ManifestFile;

/// A manifest's columns together with what its entries inherit.
#[derive(Debug)]
pub struct ManifestEntries {
    /// The manifest as its list knows it.
    pub manifest: Arc<ManifestFile>,
    /// Its entries as stored.
    pub columns: Arc<ManifestColumns>,
    inheritance: Inheritance,
}

impl ManifestEntries {
    /// Joins a manifest and its columns.
    pub fn new(manifest: Arc<ManifestFile>, columns: Arc<ManifestColumns>) -> Self {
        let inheritance = Inheritance::new(&manifest, &columns);
        ManifestEntries {
            manifest,
            columns,
            inheritance,
        }
    }

    /// What the entries inherit.
    pub fn inheritance(&self) -> &Inheritance {
        &self.inheritance
    }

    /// The spec of every entry.
    pub fn spec_id(&self) -> i32 {
        self.inheritance.spec_id()
    }

    /// The data sequence number of entry `row`.
    ///
    /// # Errors
    /// `Corrupt` when there is none: a committed entry stores or inherits one.
    pub fn sequence_number(&self, row: usize) -> Result<i64> {
        self.inheritance.sequence_number(&self.columns, row).ok_or_else(|| {
            Error::corrupt("manifest entry has no data sequence number")
                .with_context("file", self.columns.path(row))
                .with_context("manifest", self.manifest.manifest_path.as_str())
        })
    }

    /// The snapshot that added the file of entry `row`, or removed it when deleted.
    pub fn snapshot_id(&self, row: usize) -> Option<i64> {
        self.inheritance.snapshot_id(&self.columns, row)
    }

    /// The first row id of entry `row`; `None` where the table assigns none.
    pub fn first_row_id(&self, row: usize) -> Option<i64> {
        self.inheritance.first_row_id(&self.columns, row)
    }

    /// Entry `row` as a row of its own, with the metrics that were projected.
    pub fn entry(&self, row: usize) -> ManifestEntry {
        self.columns.entry(row, &self.inheritance)
    }

    /// The file of entry `row` as a value of its own, with the metrics that were projected.
    pub fn data_file(&self, row: usize) -> DataFile {
        self.columns.data_file(row, &self.inheritance)
    }
}
