//! The plan node that writes its input into data files and commits them once per execution.

use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use arrow::array::{ArrayRef, RecordBatch, UInt64Array};
use arrow::datatypes::{DataType, Field, Schema as ArrowSchema, SchemaRef as ArrowSchemaRef};
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{Distribution, EquivalenceProperties, OrderingRequirements, PhysicalExpr};
use datafusion::physical_plan::execution_plan::{EvaluationType, SchedulingType};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    ChildrenPropertiesMode, DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties,
    InputDistributionRequirements, Partitioning, PlanProperties, ReplaceChildrenOptions,
};
use tarn_format::ResultExt;
use tarn_format::commit::append::merge_append;
use tarn_format::commit::{Change, CommitOutcome, Transaction, surely_failed};
use tarn_format::io::location_provider::LocationProvider;
use tarn_format::manifest::data_file::DataFile;
use tarn_format::spec::snapshot::MAIN_BRANCH;
use uuid::Uuid;

use super::append::WriteTarget;
use super::conform::Conform;
use super::layout::Layout;
use super::parquet_file::ParquetFiles;
use super::report::{AppendReport, ReportSlot};
use super::rolling::WriteContext;
use super::table_write::{Pairing, TableWrite};
use super::written_files::WrittenFiles;
use crate::external;

/// Appends its input's rows to a table. Its output is one row with their number.
#[derive(Debug, Clone)]
pub struct AppendExec {
    input: Arc<dyn ExecutionPlan>,
    target: Arc<WriteTarget>,
    layout: Layout,
    report: ReportSlot,
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

    /// Whether any row may go into any file.
    fn pairing(&self, context: &TaskContext) -> Pairing {
        let spread = matches!(self.layout.distribution, Distribution::UnspecifiedDistribution);
        let unsorted = self.layout.ordering.is_none() && self.input.output_ordering().is_none();
        let unpartitioned = self.target.table.metadata.default_spec().is_unpartitioned();
        if spread && unsorted && unpartitioned {
            Pairing::Shared(context.session_config().target_partitions())
        } else {
            Pairing::OneToOne
        }
    }
}

fn plan_properties(input: &Arc<dyn ExecutionPlan>) -> PlanProperties {
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
pub(super) fn count_schema() -> ArrowSchemaRef {
    Arc::new(ArrowSchema::new(vec![Field::new("count", DataType::UInt64, false)]))
}

impl DisplayAs for AppendExec {
    fn fmt_as(&self, _t: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let table = &self.target.table.ident;
        let branch = self.target.branch.as_deref().unwrap_or(MAIN_BRANCH);
        write!(f, "IcebergAppendExec: table={table}, branch={branch}, format=parquet")
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
        let written = Arc::new(WrittenFiles::new(self.target.table.io.clone()));
        let write = self.table_write(&context, &written);
        let write = write.context("table", table.as_str()).map_err(external)?;
        let partitions = self.input.output_partitioning().partition_count();
        let streams: Result<Vec<_>> = (0..partitions)
            .map(|p| self.input.execute(p, Arc::clone(&context)))
            .collect();
        let files = match write.run(streams?, self.pairing(&context)).await {
            Ok(files) => files,
            Err(e) => {
                drop(write);
                written.delete().await;
                return Err(e);
            }
        };
        let rows = files.iter().map(|f| f.record_count.unsigned_abs()).sum();
        let bytes = files.iter().map(|f| f.file_size_in_bytes.unsigned_abs()).sum();
        let file_count = files.len();
        let outcome = self.commit(files, written).await;
        let outcome = outcome.context("table", table).map_err(external)?;
        let Some(snapshot_id) = outcome.snapshot_ids.last().copied() else {
            return Err(DataFusionError::Internal("an append made no snapshot".to_string()));
        };
        self.report.set(AppendReport {
            snapshot_id,
            files: file_count,
            rows,
            bytes,
            attempts: outcome.attempts,
            duration: start.elapsed(),
        });
        count_batch(rows)
    }

    fn table_write(&self, context: &TaskContext, written: &Arc<WrittenFiles>) -> tarn_format::Result<TableWrite> {
        let target = &self.target;
        let metadata = &target.table.metadata;
        let schema = Arc::clone(metadata.current_schema());
        let conform = Conform::new(Arc::clone(&schema));
        let stored = Arc::clone(conform.stored_schema());
        let io = target.table.io.clone();
        let files = ParquetFiles::new(io, Arc::clone(&schema), stored, &target.options)?;
        let spec = Arc::clone(metadata.default_spec());
        Ok(TableWrite {
            context: Arc::new(WriteContext {
                files,
                locations: LocationProvider::for_table(metadata)?,
                partition_type: spec.partition_type(&schema),
                spec,
                sort_order_id: metadata.default_sort_order().order_id,
                target_file_size_bytes: target.options.target_file_size_bytes,
                written: Arc::clone(written),
                memory: Arc::clone(context.memory_pool()),
            }),
            table: target.table_name().into(),
            conform,
            schema,
            open_files: target.options.open_files,
            operation_id: Uuid::new_v4().to_string(),
        })
    }

    /// Commits on its own: a cancelled statement must not leave the commit half done, nor delete files it may need.
    async fn commit(&self, files: Vec<DataFile>, written: Arc<WrittenFiles>) -> tarn_format::Result<CommitOutcome> {
        let target = Arc::clone(&self.target);
        let committing = tokio::spawn(async move {
            let change = change(&target, files);
            let table = &target.table;
            // A staged table, as CREATE TABLE AS SELECT has it, comes into being with its rows.
            let transaction = match (&target.replaces, &table.metadata_location) {
                (Some(replaced), _) => Transaction::replace(replaced.table.clone(), replaced.updates.clone()),
                (None, None) => Transaction::create(table.clone()),
                (None, Some(_)) => Transaction::of(table),
            };
            let transaction = transaction.change(change);
            let outcome = transaction.commit(target.catalog.as_ref(), &target.commit).await;
            match &outcome {
                Err(e) if surely_failed(e) => written.delete().await,
                _ => written.keep(),
            }
            outcome
        });
        committing.await.unwrap_or_else(|e| {
            let kind = tarn_format::ErrorKind::CommitStateUnknown;
            Err(tarn_format::Error::new(kind, "the commit was interrupted").with_source(e))
        })
    }
}

fn change(target: &WriteTarget, files: Vec<DataFile>) -> Change {
    let mut change = merge_append(files.into_iter().map(Arc::new));
    change.publication = target.publication;
    change.summary.extend(target.options.snapshot_properties.clone());
    match &target.branch {
        Some(branch) => change.on_branch(branch),
        None => change,
    }
}

fn count_batch(rows: u64) -> Result<RecordBatch> {
    let counts: ArrayRef = Arc::new(UInt64Array::from(vec![rows]));
    Ok(RecordBatch::try_new(count_schema(), vec![counts])?)
}
