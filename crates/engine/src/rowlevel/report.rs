//! What a change of rows did, for whoever ran it.

use std::sync::Arc;
use std::time::Duration;

use datafusion::physical_plan::ExecutionPlan;

use super::row_change_exec::RowChangeExec;
use super::whole_files::DeleteFilesExec;

/// A change of rows that is done.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RowChangeReport {
    /// The new snapshot; `None` when nothing had to be changed.
    pub snapshot_id: Option<i64>,
    /// Rows that are gone.
    pub deleted_rows: u64,
    /// Rows that have other values.
    pub updated_rows: u64,
    /// Rows that are new.
    pub inserted_rows: u64,
    /// Data files added.
    pub added_files: usize,
    /// Data files removed.
    pub removed_files: usize,
    /// Delete files added.
    pub added_delete_files: usize,
    /// Row groups that were copied as bytes into added files.
    pub copied_row_groups: usize,
    /// Column chunks that were copied as bytes in row groups with changed rows.
    pub copied_chunks: usize,
    /// Column chunks that were encoded anew in files of which other chunks were copied, or could have been.
    pub encoded_chunks: usize,
    /// Length of all added files in bytes.
    pub bytes: u64,
    /// Attempts the commit took.
    pub attempts: u32,
    /// Time from the start of execution to the commit's end.
    pub duration: Duration,
}

impl RowChangeReport {
    /// Rows that were changed in any way.
    pub fn rows(&self) -> u64 {
        self.deleted_rows + self.updated_rows + self.inserted_rows
    }
}

/// The report of the last execution of a plan that [`super::row_change`] or [`super::delete_files`] made, however it was
/// wrapped since; `None` before it was executed and for other plans.
pub fn row_change_report(plan: &Arc<dyn ExecutionPlan>) -> Option<RowChangeReport> {
    if let Some(change) = plan.downcast_ref::<RowChangeExec>() {
        return change.report();
    }
    if let Some(delete) = plan.downcast_ref::<DeleteFilesExec>() {
        return delete.report();
    }
    plan.children().into_iter().find_map(row_change_report)
}
