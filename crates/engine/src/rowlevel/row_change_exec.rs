//! The plan node that changes the rows its input names, once per execution.

use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use arrow::array::RecordBatch;
use arrow::datatypes::DataType;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::{SendableRecordBatchStream, SessionState, TaskContext};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::metrics::{ExecutionPlanMetricsSet, MetricBuilder, MetricsSet};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    ChildrenPropertiesMode, DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties, ReplaceChildrenOptions,
};
use tarn_format::spec::snapshot::MAIN_BRANCH;
use tarn_format::{Error, ResultExt};

use super::options::RowLevelMode;
use super::report::RowChangeReport;
use super::statement::Statement;
use super::target::{LEADING_COLUMNS, RowStatement, RowTarget};
use crate::external;
use crate::write::append::{check_branch, check_rows};
use crate::write::append_exec::{count_batch, count_schema, plan_properties};
use crate::write::report::ReportSlot;
use crate::write::row_lineage::RowLineage;

/// A plan that changes the rows which `plan` names, and commits once per execution. Its result is one row with the number
/// of changed rows, `count`. Nothing happens before it is executed, and nothing is committed when no row changes.
///
/// The input's columns are the [`LEADING_COLUMNS`], the table's in order (none for DELETE), from format version 3 on the
/// `_row_id` of the row that changes (NULL for a new row; none for DELETE), and [`RowTarget::keys`]. `state` plans what is
/// read again.
///
/// # Errors
/// `InvalidInput` when columns do not match; `NotFound` for a branch that does not exist.
pub fn row_change(
    plan: Arc<dyn ExecutionPlan>,
    target: RowTarget,
    state: SessionState,
) -> Result<Arc<dyn ExecutionPlan>> {
    let checked = check(&plan, &target).context("table", target.write.table_name());
    checked.map_err(external)?;
    Ok(Arc::new(RowChangeExec {
        properties: Arc::new(plan_properties(&plan)),
        input: plan,
        target: Arc::new(target),
        state: Arc::new(state),
        report: ReportSlot::default(),
        metrics: ExecutionPlanMetricsSet::new(),
    }))
}

fn check(plan: &Arc<dyn ExecutionPlan>, target: &RowTarget) -> tarn_format::Result<()> {
    check_branch(&target.write)?;
    let schema = plan.schema();
    let last = schema.fields().len().checked_sub(target.keys.len());
    let Some(last) = last.filter(|last| *last >= LEADING_COLUMNS) else {
        return Err(Error::invalid("a row-level change has too few columns"));
    };
    if target.statement == RowStatement::Delete && last == LEADING_COLUMNS {
        return Ok(());
    }
    let last = match target.lineage() {
        RowLineage::Assigned => last,
        RowLineage::Stored if *schema.field(last - 1).data_type() == DataType::Int64 => last - 1,
        RowLineage::Stored => return Err(Error::invalid("a row-level change tells no row ids")),
    };
    if let (Some(updates), Some(columns)) = (&target.updates, &target.updated_columns)
        && updates.schema().fields().len() != LEADING_COLUMNS + columns.len()
    {
        return Err(Error::invalid(
            "updates of a row-level change have not the columns that change",
        ));
    }
    let rows: Vec<usize> = (LEADING_COLUMNS..last).collect();
    let rows = schema.project(&rows);
    let rows = rows.map_err(|e| Error::invalid("a row-level change has too few columns").with_source(e))?;
    check_rows(&target.write.table.metadata, &rows)
}

/// Changes rows. Its output is one row with their number.
#[derive(Debug, Clone)]
pub struct RowChangeExec {
    input: Arc<dyn ExecutionPlan>,
    target: Arc<RowTarget>,
    state: Arc<SessionState>,
    report: ReportSlot<RowChangeReport>,
    metrics: ExecutionPlanMetricsSet,
    properties: Arc<PlanProperties>,
}

impl RowChangeExec {
    pub(super) fn report(&self) -> Option<RowChangeReport> {
        self.report.get()
    }

    async fn run(self, context: Arc<TaskContext>) -> Result<RecordBatch> {
        let start = Instant::now();
        let statement = Statement {
            input: &self.input,
            target: &self.target,
            state: &self.state,
            context: &context,
        };
        let mut report = statement.run().await?;
        report.duration = start.elapsed();
        let rows = report.rows();
        self.tell(&report);
        self.report.set(report);
        count_batch(rows)
    }

    /// Tells EXPLAIN ANALYZE what was done.
    fn tell(&self, report: &RowChangeReport) {
        let count = |rows: u64| usize::try_from(rows).unwrap_or(usize::MAX);
        let counts = [
            ("deleted_rows", count(report.deleted_rows)),
            ("updated_rows", count(report.updated_rows)),
            ("inserted_rows", count(report.inserted_rows)),
            ("added_files", report.added_files),
            ("removed_files", report.removed_files),
            ("added_delete_files", report.added_delete_files),
            ("copied_row_groups", report.copied_row_groups),
            ("copied_chunks", report.copied_chunks),
            ("encoded_chunks", report.encoded_chunks),
        ];
        for (name, value) in counts {
            MetricBuilder::new(&self.metrics).global_counter(name).add(value);
        }
    }
}

impl DisplayAs for RowChangeExec {
    fn fmt_as(&self, _t: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let write = &self.target.write;
        let branch = write.branch.as_deref().unwrap_or(MAIN_BRANCH);
        let mode = match self.target.options.mode {
            RowLevelMode::CopyOnWrite => "copy-on-write",
            RowLevelMode::MergeOnRead => "merge-on-read",
        };
        write!(
            f,
            "IcebergRowChangeExec: table={}, branch={branch}, statement={}, mode={mode}, conflict_filter={}",
            write.table.ident,
            self.target.statement.property_word(),
            self.target.conflict_filter,
        )
    }
}

impl ExecutionPlan for RowChangeExec {
    fn name(&self) -> &'static str {
        "IcebergRowChangeExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.metrics.clone_inner())
    }

    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        vec![false]
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    fn apply_expressions(
        &self,
        _f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn replace_children(
        self: Arc<Self>,
        mut children: Vec<Arc<dyn ExecutionPlan>>,
        _options: ReplaceChildrenOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let (Some(input), true) = (children.pop(), children.is_empty()) else {
            return Err(DataFusionError::Internal("a change of rows has one input".to_string()));
        };
        Ok(Arc::new(RowChangeExec {
            properties: Arc::new(plan_properties(&input)),
            input,
            ..self.as_ref().clone()
        }))
    }

    fn with_new_children(self: Arc<Self>, children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        self.replace_children(children, ReplaceChildrenOptions::new(ChildrenPropertiesMode::Recompute))
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        if partition != 0 {
            let message = format!("a change of rows has one partition, not partition {partition}");
            return Err(DataFusionError::Internal(message));
        }
        let change = self.clone();
        let rows = futures::stream::once(async move { Box::pin(change.run(context)).await });
        Ok(Box::pin(RecordBatchStreamAdapter::new(count_schema(), rows)))
    }
}
