//! How far the running statements have come, as far as their plans tell.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::statistics::{StatisticsArgs, StatisticsContext};

/// What running statements have read. Plans count as they go: numbers only grow, and may lag.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Progress {
    /// Rows that scans gave.
    pub rows: u64,
    /// Rows that scans will give at most, by what the tables' metadata tell before any pruning inside of files; `None`
    /// when a scan does not know.
    pub total_rows: Option<u64>,
    /// Bytes that scans read from files.
    pub bytes: u64,
}

/// The plans that are being executed.
#[derive(Debug, Default)]
pub(super) struct Watched(Mutex<Vec<Weak<dyn ExecutionPlan>>>);

impl Watched {
    pub(super) fn add(&self, plan: &Arc<dyn ExecutionPlan>) {
        let mut plans = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        plans.retain(|plan| plan.strong_count() > 0);
        plans.push(Arc::downgrade(plan));
    }

    pub(super) fn progress(&self) -> Progress {
        let plans = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut progress = Progress {
            total_rows: Some(0),
            ..Progress::default()
        };
        for plan in plans.iter().filter_map(Weak::upgrade) {
            add(&mut progress, plan.as_ref());
        }
        progress
    }
}

fn add(progress: &mut Progress, plan: &dyn ExecutionPlan) {
    let children = plan.children();
    for child in &children {
        add(progress, child.as_ref());
    }
    if !children.is_empty() {
        return;
    }
    if let Some(metrics) = plan.metrics() {
        progress.rows += metrics.output_rows().unwrap_or(0) as u64;
        let bytes = metrics.sum_by_name("bytes_scanned");
        progress.bytes += bytes.map_or(0, |value| value.as_usize() as u64);
    }
    let statistics = StatisticsContext::new().compute(plan, &StatisticsArgs::new()).ok();
    let rows = statistics.and_then(|s| s.num_rows.get_value().copied());
    progress.total_rows = progress.total_rows.zip(rows).map(|(total, rows)| total + rows as u64);
}
