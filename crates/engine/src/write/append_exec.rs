//! The plan node that writes its input into data files and commits them once per execution.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use arrow::array::{ArrayRef, RecordBatch, UInt64Array};
use arrow::datatypes::{DataType, Field, Schema as ArrowSchema, SchemaRef as ArrowSchemaRef};
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{EquivalenceProperties, OrderingRequirements, PhysicalExpr};
use datafusion::physical_plan::execution_plan::{EvaluationType, SchedulingType};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    ChildrenPropertiesMode, DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties,
    InputDistributionRequirements, Partitioning, PlanProperties, ReplaceChildrenOptions,
};
use tarn_format::ResultExt;
use tarn_format::commit::Change;
use tarn_format::commit::append::merge_append;
use tarn_format::commit::overwrite::OverwriteFiles;
use tarn_format::commit::replace_partitions::ReplacePartitions;
use tarn_format::manifest::data_file::DataFile;
use tarn_format::spec::snapshot::MAIN_BRANCH;

use super::append::{ExistingRows, WriteTarget};
use super::layout::Layout;
use super::report::{AppendReport, ReportSlot};
use super::statement_write::StatementWrite;
use crate::external;
use crate::rowlevel::IsolationLevel;

/// Appends its input's rows to a table. Its output is one row with their number.
#[derive(Debug, Clone)]
pub struct AppendExec {
    input: Arc<dyn ExecutionPlan>,
    target: Arc<WriteTarget>,
    layout: Layout,
    report: ReportSlot<AppendReport>,
    properties: Arc<PlanProperties>,
}

impl AppendExec {
    pub(super) fn new(input: Arc<dyn ExecutionPlan>, target: Arc<WriteTarget>, layout: Layout) -> Self {
        AppendExec {
            properties: Arc::new(plan_properties(&input)),
            input,
            target,
            layout,
            report: ReportSlot::default(),
        }
    }

    pub(super) fn report(&self) -> Option<AppendReport> {
        self.report.get()
    }
}

pub(crate) fn plan_properties(input: &Arc<dyn ExecutionPlan>) -> PlanProperties {
    PlanProperties::new(
        EquivalenceProperties::new(count_schema()),
        Partitioning::UnknownPartitioning(1),
        input.pipeline_behavior(),
        input.boundedness(),
    )
    .with_scheduling_type(SchedulingType::Cooperative)
    .with_evaluation_type(EvaluationType::Eager)
}

/// One column `count`, as DataFusion's own INSERT has it.
pub(crate) fn count_schema() -> ArrowSchemaRef {
    Arc::new(ArrowSchema::new(vec![Field::new("count", DataType::UInt64, false)]))
}

impl DisplayAs for AppendExec {
    fn fmt_as(&self, _t: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let table = &self.target.table.ident;
        let branch = self.target.branch.as_deref().unwrap_or(MAIN_BRANCH);
        let existing = &self.target.existing;
        write!(
            f,
            "IcebergAppendExec: table={table}, branch={branch}{existing}, format={}",
            self.target.options.format
        )
    }
}

impl ExecutionPlan for AppendExec {
    fn name(&self) -> &'static str {
        "IcebergAppendExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn input_distribution_requirements(&self) -> InputDistributionRequirements {
        InputDistributionRequirements::new(vec![self.layout.distribution.clone()])
    }

    fn required_input_ordering(&self) -> Vec<Option<OrderingRequirements>> {
        vec![self.layout.required_ordering()]
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
            return Err(DataFusionError::Internal("an append has one input".to_string()));
        };
        Ok(Arc::new(AppendExec {
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
            let message = format!("an append has one partition, not partition {partition}");
            return Err(DataFusionError::Internal(message));
        }
        let append = self.clone();
        let rows = futures::stream::once(async move { Box::pin(append.run(context)).await });
        Ok(Box::pin(RecordBatchStreamAdapter::new(count_schema(), rows)))
    }
}

impl AppendExec {
    async fn run(self, context: Arc<TaskContext>) -> Result<RecordBatch> {
        let start = Instant::now();
        let table = self.target.table_name();
        let write = StatementWrite::new(Arc::clone(&self.target));
        let files = match write.write(&self.input, &self.layout, &context).await {
            Ok(files) => files,
            Err(e) => {
                write.delete().await;
                return Err(e);
            }
        };
        let mut report = AppendReport {
            snapshot_id: None,
            files: files.len(),
            rows: files.iter().map(|f| f.record_count.unsigned_abs()).sum(),
            bytes: files.iter().map(|f| f.file_size_in_bytes.unsigned_abs()).sum(),
            attempts: 0,
            duration: Duration::ZERO,
        };
        if let Some(change) = change(&self.target, files) {
            let outcome = write.commit(change).await;
            let outcome = outcome.context("table", table).map_err(external)?;
            report.snapshot_id = outcome.snapshot_ids.last().copied();
            report.attempts = outcome.attempts;
        }
        report.duration = start.elapsed();
        let rows = report.rows;
        self.report.set(report);
        count_batch(rows)
    }
}

/// The change that adds the files; `None` where there is nothing to change.
fn change(target: &WriteTarget, files: Vec<DataFile>) -> Option<Change> {
    let mut files = files.into_iter().map(Arc::new);
    let checks = target.options.overwrite;
    match &target.existing {
        ExistingRows::Kept => Some(merge_append(files)),
        ExistingRows::ReplacedWhere(filter) => {
            let overwrite = OverwriteFiles::new()
                .rows(filter.clone())
                .from_snapshot(checks.from_snapshot);
            let overwrite = files.fold(overwrite, OverwriteFiles::add_file);
            let overwrite = match checks.isolation {
                None => overwrite,
                Some(IsolationLevel::Snapshot) => overwrite.validate_no_conflicting_deletes(),
                Some(IsolationLevel::Serializable) => overwrite
                    .validate_no_conflicting_deletes()
                    .validate_no_conflicting_data(),
            };
            Some(overwrite.build())
        }
        // Java skips the commit as well: no partition is named.
        ExistingRows::ReplacedByPartition if files.len() == 0 => None,
        ExistingRows::ReplacedByPartition => {
            let replace = ReplacePartitions::new().from_snapshot(checks.from_snapshot);
            let replace = files.by_ref().fold(replace, ReplacePartitions::add_file);
            let replace = match checks.isolation {
                None => replace,
                Some(IsolationLevel::Snapshot) => replace.validate_no_conflicting_deletes(),
                Some(IsolationLevel::Serializable) => {
                    replace.validate_no_conflicting_deletes().validate_no_conflicting_data()
                }
            };
            Some(replace.build(&target.table.metadata))
        }
    }
}

pub(crate) fn count_batch(rows: u64) -> Result<RecordBatch> {
    let counts: ArrayRef = Arc::new(UInt64Array::from(vec![rows]));
    Ok(RecordBatch::try_new(count_schema(), vec![counts])?)
}
