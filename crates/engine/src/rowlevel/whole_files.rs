//! Deletes of whole files, which read and write no data (Java: `SparkTable.canDeleteWhere`, `deleteWhere`).

use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use arrow::array::RecordBatch;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr};
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, Partitioning, PlanProperties, ReplaceChildrenOptions,
};
use tarn_format::ResultExt;
use tarn_format::commit::delete::DeleteFiles;
use tarn_format::expr::Predicate;
use tarn_format::scan::filter::RowMatch;
use tarn_format::scan::{ScanSetup, TableScan};
use tarn_format::spec::snapshot::MAIN_BRANCH;

use super::report::RowChangeReport;
use crate::external;
use crate::provider::IcebergTable;
use crate::write::WriteTarget;
use crate::write::append::check_branch;
use crate::write::append_exec::{count_batch, count_schema};
use crate::write::report::ReportSlot;
use crate::write::statement_write::StatementWrite;

/// The files in which a predicate matches rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MatchingFiles {
    /// There are none.
    None,
    /// It matches all rows of these files.
    Whole {
        /// How many.
        files: usize,
        /// Their rows, deleted ones included where their number is not known.
        rows: u64,
    },
    /// It may match some rows of a file and not others.
    Parts,
}

/// Looks, in metadata alone, whether the rows that match a predicate fill whole files. The predicate must be true for the
/// very rows that are meant.
///
/// # Errors
/// Those of planning a scan.
pub async fn matching_files(table: &IcebergTable, filter: &Predicate) -> tarn_format::Result<MatchingFiles> {
    let (loaded, caches) = (table.table(), table.caches());
    let setup = ScanSetup::new(
        Arc::clone(&loaded.metadata),
        loaded.io.clone(),
        caches.manifests.clone(),
    )
    .delete_indexes(caches.delete_indexes.clone())
    .filter(filter.clone());
    let plan = TableScan::new(setup).snapshot(table.selector().clone()).plan().await?;
    if plan.tasks.is_empty() {
        return Ok(MatchingFiles::None);
    }
    if plan.tasks.iter().any(|task| task.row_match() != RowMatch::All) {
        return Ok(MatchingFiles::Parts);
    }
    let rows = plan.tasks.iter().map(|task| {
        let stored = u64::try_from(task.record_count()).unwrap_or(0);
        task.live_record_count().unwrap_or(stored)
    });
    Ok(MatchingFiles::Whole {
        files: plan.tasks.len(),
        rows: rows.sum(),
    })
}

/// A plan that removes the files whose rows match a predicate, and commits once per execution. Its result is one row with
/// the number of rows, `count`, which `matching` tells; where that is [`MatchingFiles::None`], nothing is committed.
///
/// # Errors
/// `NotFound` for a branch that does not exist. At execution `Validation` when a file has come in of which only some rows
/// match.
pub fn delete_files(target: WriteTarget, filter: Predicate, matching: MatchingFiles) -> Result<Arc<dyn ExecutionPlan>> {
    let checked = check_branch(&target).context("table", target.table_name());
    checked.map_err(external)?;
    let properties = PlanProperties::new(
        EquivalenceProperties::new(count_schema()),
        Partitioning::UnknownPartitioning(1),
        EmissionType::Final,
        Boundedness::Bounded,
    );
    Ok(Arc::new(DeleteFilesExec {
        target: Arc::new(target),
        filter,
        matching,
        report: ReportSlot::default(),
        properties: Arc::new(properties),
    }))
}

/// Removes files. Its output is one row with the number of their rows.
#[derive(Debug, Clone)]
pub struct DeleteFilesExec {
    target: Arc<WriteTarget>,
    filter: Predicate,
    matching: MatchingFiles,
    report: ReportSlot<RowChangeReport>,
    properties: Arc<PlanProperties>,
}

impl DeleteFilesExec {
    pub(super) fn report(&self) -> Option<RowChangeReport> {
        self.report.get()
    }

    async fn run(self) -> Result<RecordBatch> {
        let start = Instant::now();
        let mut report = RowChangeReport::default();
        if let MatchingFiles::Whole { files, rows } = self.matching {
            (report.removed_files, report.deleted_rows) = (files, rows);
        }
        if self.matching != MatchingFiles::None {
            let table = self.target.table_name();
            let write = StatementWrite::new(Arc::clone(&self.target));
            let outcome = write.commit(DeleteFiles::new().rows(self.filter).build()).await;
            let outcome = outcome.context("table", table).map_err(external)?;
            report.snapshot_id = outcome.snapshot_ids.last().copied();
            report.attempts = outcome.attempts;
        }
        report.duration = start.elapsed();
        let rows = report.deleted_rows;
        self.report.set(report);
        count_batch(rows)
    }
}

impl DisplayAs for DeleteFilesExec {
    fn fmt_as(&self, _t: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let table = &self.target.table.ident;
        let branch = self.target.branch.as_deref().unwrap_or(MAIN_BRANCH);
        let filter = &self.filter;
        write!(
            f,
            "IcebergDeleteFilesExec: table={table}, branch={branch}, filter={filter}"
        )?;
        match self.matching {
            MatchingFiles::None => f.write_str(", files=0"),
            MatchingFiles::Whole { files, .. } => write!(f, ", files={files}"),
            MatchingFiles::Parts => Ok(()),
        }
    }
}

impl ExecutionPlan for DeleteFilesExec {
    fn name(&self) -> &'static str {
        "IcebergDeleteFilesExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        Vec::new()
    }

    fn apply_expressions(
        &self,
        _f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn replace_children(
        self: Arc<Self>,
        _children: Vec<Arc<dyn ExecutionPlan>>,
        _options: ReplaceChildrenOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(self)
    }

    fn with_new_children(self: Arc<Self>, _children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(self)
    }

    fn execute(&self, partition: usize, _context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        if partition != 0 {
            let message = format!("a delete of files has one partition, not partition {partition}");
            return Err(DataFusionError::Internal(message));
        }
        let delete = self.clone();
        let rows = futures::stream::once(async move { Box::pin(delete.run()).await });
        Ok(Box::pin(RecordBatchStreamAdapter::new(count_schema(), rows)))
    }
}
