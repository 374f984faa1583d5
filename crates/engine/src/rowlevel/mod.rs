//! Rows deleted and updated: DELETE, UPDATE and MERGE as plan nodes, in both modes.
//!
//! A plan tells which rows change: the file and position of each, what becomes of it, and its new values. Copy-on-write
//! then writes the touched files again, updated rows in their places and what does not change copied as bytes where that
//! can be; merge-on-read leaves the files and writes which positions are deleted. Rows that have no place are written as
//! those of an INSERT, and all is one commit.

mod changed_rows;
mod copy_on_write;
mod gather;
mod merge_on_read;
pub mod options;
mod patches;
mod placed_rows;
pub mod report;
mod row_change_exec;
mod split;
mod statement;
pub mod target;
mod updated_rows;
pub mod whole_files;

#[cfg(test)]
mod tests;

pub use options::{DeleteGranularity, IsolationLevel, Patching, RowLevelMode, RowLevelOptions};
pub use report::{RowChangeReport, row_change_report};
pub use row_change_exec::row_change;
pub use target::{LEADING_COLUMNS, RowAction, RowStatement, RowTarget};
pub use whole_files::{MatchingFiles, delete_files, matching_files};
