//! What a write did, for whoever ran it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use datafusion::physical_plan::ExecutionPlan;

use super::append_exec::AppendExec;

/// A committed append.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppendReport {
    /// The new snapshot; `None` when there was nothing to commit.
    pub snapshot_id: Option<i64>,
    /// Data files added.
    pub files: usize,
    /// Rows added.
    pub rows: u64,
    /// Length of the data files in bytes.
    pub bytes: u64,
    /// Attempts the commit took.
    pub attempts: u32,
    /// Time from the start of execution to the commit's end.
    pub duration: Duration,
}

/// Where an execution leaves its report. Plans that were made of each other share it.
#[derive(Debug, Clone)]
pub(crate) struct ReportSlot<R>(Arc<Mutex<Option<R>>>);

impl<R> Default for ReportSlot<R> {
    fn default() -> Self {
        ReportSlot(Arc::new(Mutex::new(None)))
    }
}

impl<R: Clone> ReportSlot<R> {
    pub(crate) fn set(&self, report: R) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(report);
    }

    pub(crate) fn get(&self) -> Option<R> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// The report of the last execution of a plan that [`super::append()`] made, however the plan was wrapped since; `None`
/// before it was executed and for other plans.
pub fn append_report(plan: &Arc<dyn ExecutionPlan>) -> Option<AppendReport> {
    if let Some(append) = plan.downcast_ref::<AppendExec>() {
        return append.report();
    }
    plan.children().into_iter().find_map(append_report)
}
