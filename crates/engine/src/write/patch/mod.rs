//! Data files written again with some of their rows changed: what does not change is copied as bytes.
//!
//! A row group without a changed row is copied. In a row group whose rows only get new values, the columns that change
//! are encoded anew and the others copied, and rows keep their places; where rows go, the row group is encoded anew.
//! Copied chunks keep their statistics, page indexes and bloom filters. What cannot be copied so that the new file, its
//! footer and its metrics are what they would be if all of it was written anew, is encoded anew; files that cannot be
//! taken apart at all are the caller's business, see [`SourceFile::open`].

mod chunk;
mod column_bytes;
mod encode;
mod floats;
mod job;
mod row_groups;
mod sink;
mod source;
mod statistics;
mod writer;

use std::ops::Range;

use arrow::array::ArrayRef;
use tarn_format::deletes::deletion_vector::DeletionVector;
use tarn_format::manifest::data_file::DataFile;

pub(crate) use source::SourceFile;
pub(crate) use writer::PatchWriter;

/// What changes in a file.
#[derive(Debug, Default)]
pub(crate) struct FilePatch {
    /// Rows that go.
    pub(crate) removed: DeletionVector,
    /// Rows that get other values.
    pub(crate) updated: UpdatedRows,
}

/// Rows that get other values in their places.
#[derive(Debug, Default)]
pub(crate) struct UpdatedRows {
    /// Their positions, ascending.
    pub(crate) positions: Vec<u64>,
    /// For each stored column the new values, as files store them; `None` where all values stay.
    pub(crate) columns: Vec<Option<ArrayRef>>,
}

impl UpdatedRows {
    /// The rows among these positions.
    fn within(&self, rows: &Range<u64>) -> Range<usize> {
        let at = |position: u64| self.positions.partition_point(|p| *p < position);
        at(rows.start)..at(rows.end)
    }

    /// The new values of a column.
    fn column(&self, at: usize) -> Option<&ArrayRef> {
        self.columns.get(at)?.as_ref()
    }
}

/// Which columns the new values of rows are given for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GivenColumns {
    /// All of the table, with lineage behind them where rows bring it.
    All,
    /// Those that change.
    Updated,
}

/// A file that took the place of another.
#[derive(Debug)]
pub(crate) struct PatchedFile {
    pub(crate) file: DataFile,
    pub(crate) work: PatchWork,
}

/// What was copied and what was not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct PatchWork {
    /// Row groups without a changed row.
    pub(crate) copied_row_groups: usize,
    /// Row groups with changed rows, those of which no row is left included.
    pub(crate) changed_row_groups: usize,
    /// Column chunks of the latter that were copied.
    pub(crate) copied_chunks: usize,
    /// Column chunks that were encoded anew.
    pub(crate) encoded_chunks: usize,
}

impl PatchWork {
    pub(crate) fn add(&mut self, other: PatchWork) {
        self.copied_row_groups += other.copied_row_groups;
        self.changed_row_groups += other.changed_row_groups;
        self.copied_chunks += other.copied_chunks;
        self.encoded_chunks += other.encoded_chunks;
    }
}
