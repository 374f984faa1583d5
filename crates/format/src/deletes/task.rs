//! A delete file or deletion vector that a reader must apply to a data file.

use std::fmt;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::manifest::data_file::{DataContent, DataFile, FileFormat, PartitionTuple};
use crate::scan::manifest_entries::ManifestEntries;
use crate::spec::types::FieldId;

/// Id of the column of position deletes that names the data file (spec, "Reserved Field IDs").
pub(super) const DELETE_FILE_PATH_ID: FieldId = 2_147_483_546;

/// How deletes are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DeleteKind {
    /// A file of data file paths and row positions.
    Position,
    /// A file of keys.
    Equality,
    /// A blob of row positions of one data file in a puffin file.
    DeletionVector,
}

/// One delete file or deletion vector: a row of its manifest's columns. Cheap to clone.
#[derive(Clone)]
pub struct DeleteTask {
    entries: Arc<ManifestEntries>,
    row: u32,
    sequence_number: i64,
}

impl DeleteTask {
    /// The deletes of entry `row`.
    ///
    /// # Errors
    /// `Corrupt` for an entry that is no delete file, lacks a sequence number, or is a deletion vector without
    /// its data file or its blob's place.
    pub fn new(entries: Arc<ManifestEntries>, row: usize) -> Result<Self> {
        let sequence_number = entries.sequence_number(row)?;
        let columns = &entries.columns;
        let corrupt = |message: &str| {
            Error::corrupt(message)
                .with_context("file", columns.path(row))
                .with_context("manifest", entries.manifest.manifest_path.as_str())
        };
        match columns.content(row) {
            DataContent::Data => return Err(corrupt("delete manifest lists a data file")),
            DataContent::EqualityDeletes if columns.file_format(row) == FileFormat::Puffin => {
                return Err(corrupt("equality deletes cannot be in a puffin file"));
            }
            DataContent::EqualityDeletes if columns.equality_ids.get(row).is_empty() => {
                return Err(corrupt("equality delete file has no key columns"));
            }
            DataContent::PositionDeletes if columns.is_deletion_vector(row) => {
                if columns.referenced_data_file.get(row).is_none() {
                    return Err(corrupt("deletion vector names no data file"));
                }
                let place = (columns.content_offset.get(row), columns.content_size_in_bytes.get(row));
                if !matches!(place, (Some(offset), Some(size)) if offset >= 0 && size >= 0) {
                    return Err(corrupt("deletion vector has no offset and size in its file"));
                }
            }
            DataContent::EqualityDeletes | DataContent::PositionDeletes => {}
        }
        let row = u32::try_from(row).map_err(|_| corrupt("manifest has too many entries"))?;
        Ok(DeleteTask {
            entries,
            row,
            sequence_number,
        })
    }

    /// The manifest it is listed in.
    pub fn entries(&self) -> &Arc<ManifestEntries> {
        &self.entries
    }

    /// Its entry there.
    pub fn row(&self) -> usize {
        self.row as usize
    }

    /// How it is stored.
    pub fn kind(&self) -> DeleteKind {
        let columns = &self.entries.columns;
        match columns.content(self.row()) {
            DataContent::EqualityDeletes => DeleteKind::Equality,
            _ if columns.is_deletion_vector(self.row()) => DeleteKind::DeletionVector,
            _ => DeleteKind::Position,
        }
    }

    /// Location of the file, exactly as written.
    pub fn path(&self) -> &str {
        self.entries.columns.path(self.row())
    }

    /// Format of the file.
    pub fn file_format(&self) -> FileFormat {
        self.entries.columns.file_format(self.row())
    }

    /// Its data sequence number.
    pub fn sequence_number(&self) -> i64 {
        self.sequence_number
    }

    /// The spec it was written with.
    pub fn spec_id(&self) -> i32 {
        self.entries.spec_id()
    }

    /// Its partition values in the order of that spec.
    pub fn partition(&self) -> &PartitionTuple {
        self.entries.columns.partition(self.row())
    }

    /// Number of delete records; of a deletion vector its cardinality.
    pub fn record_count(&self) -> i64 {
        self.entries.columns.record_count(self.row())
    }

    /// Length of the whole file in bytes.
    pub fn file_size_in_bytes(&self) -> i64 {
        self.entries.columns.file_size_in_bytes(self.row())
    }

    /// Bytes a reader must fetch: the blob of a deletion vector, else the whole file (Java: `ScanTaskUtil`).
    pub fn content_size_in_bytes(&self) -> i64 {
        match self.kind() {
            DeleteKind::DeletionVector => self.blob().map_or(0, |(_, size)| size),
            _ => self.file_size_in_bytes(),
        }
    }

    /// Offset and length of the deletion vector's blob; `None` for files.
    pub fn blob(&self) -> Option<(i64, i64)> {
        let columns = &self.entries.columns;
        let offset = columns.content_offset.get(self.row())?;
        Some((offset, columns.content_size_in_bytes.get(self.row())?))
    }

    /// Key columns of equality deletes; empty for others.
    pub fn equality_ids(&self) -> Vec<FieldId> {
        let ids = self.entries.columns.equality_ids.get(self.row()).iter();
        ids.filter_map(|id| FieldId::try_from(*id).ok()).collect()
    }

    /// The only data file whose rows it deletes, where that is known (Java: `ContentFileUtil.referencedDataFile`):
    /// named, or told by equal bounds of the path column. `None` for equality deletes.
    pub fn referenced_data_file(&self) -> Option<&str> {
        let columns = &self.entries.columns;
        if columns.content(self.row()) != DataContent::PositionDeletes {
            return None;
        }
        if let Some(path) = columns.referenced_data_file.get(self.row()) {
            return Some(path);
        }
        let metrics = columns.metrics_of(DELETE_FILE_PATH_ID)?;
        let lower = metrics.lower_bound.get(self.row())?;
        let upper = metrics.upper_bound.get(self.row())?;
        if lower != upper {
            return None;
        }
        std::str::from_utf8(lower).ok()
    }

    /// Key metadata, when encrypted.
    pub fn key_metadata(&self) -> Option<&[u8]> {
        self.entries.columns.key_metadata.get(self.row())
    }

    /// The file as a value of its own, with all its metrics.
    pub fn data_file(&self) -> DataFile {
        self.entries.data_file(self.row())
    }
}

impl PartialEq for DeleteTask {
    /// Whether it is the same file and, for deletion vectors, the same blob.
    fn eq(&self, other: &Self) -> bool {
        self.path() == other.path() && self.blob() == other.blob()
    }
}

impl fmt::Debug for DeleteTask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeleteTask")
            .field("kind", &self.kind())
            .field("path", &self.path())
            .field("sequence_number", &self.sequence_number)
            .finish()
    }
}
