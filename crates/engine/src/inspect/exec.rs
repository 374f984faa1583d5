//! The plan node that reads a metadata table.

use std::fmt;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef as ArrowSchemaRef;
use datafusion::common::stats::Precision;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{Statistics, internal_err};
use datafusion::error::Result;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr};
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType};
use datafusion::physical_plan::metrics::{BaselineMetrics, ExecutionPlanMetricsSet, MetricsSet};
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    ChildrenPropertiesMode, DisplayAs, DisplayFormatType, ExecutionPlan, Partitioning, PlanProperties,
    ReplaceChildrenOptions,
};
use futures::StreamExt;
use futures::stream::BoxStream;

use super::narrowing::narrowed;

/// Makes the rows of a metadata table while a query runs, any number of times.
pub(super) trait RowSource: fmt::Debug + Send + Sync {
    /// Streams that may run at once.
    fn partitions(&self) -> usize {
        1
    }

    /// Number of rows, where it is known before any is made.
    fn row_count(&self) -> Precision<usize> {
        Precision::Absent
    }

    /// What EXPLAIN says besides the table's name; empty for nothing.
    fn describe(&self) -> String {
        String::new()
    }

    /// The rows of one partition in batches of at most `batch_size`, with the columns of `schema`, which are among the
    /// table's.
    fn open(
        self: Arc<Self>,
        partition: usize,
        schema: ArrowSchemaRef,
        batch_size: usize,
    ) -> BoxStream<'static, Result<RecordBatch>>;
}

/// Reads a metadata table.
#[derive(Debug, Clone)]
pub(super) struct MetadataTableExec {
    name: String,
    source: Arc<dyn RowSource>,
    properties: Arc<PlanProperties>,
    metrics: ExecutionPlanMetricsSet,
}

impl MetadataTableExec {
    /// `schema` is what `source` is asked for.
    pub(super) fn new(name: String, source: Arc<dyn RowSource>, schema: ArrowSchemaRef) -> Self {
        let properties = PlanProperties::new(
            EquivalenceProperties::new(schema),
            Partitioning::UnknownPartitioning(source.partitions()),
            EmissionType::Incremental,
            Boundedness::Bounded,
        );
        MetadataTableExec {
            name,
            source,
            properties: Arc::new(properties),
            metrics: ExecutionPlanMetricsSet::new(),
        }
    }
}

impl DisplayAs for MetadataTableExec {
    fn fmt_as(&self, _t: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MetadataTableExec: table={}", self.name)?;
        let description = self.source.describe();
        if description.is_empty() {
            return Ok(());
        }
        write!(f, ", {description}")
    }
}

impl ExecutionPlan for MetadataTableExec {
    fn name(&self) -> &'static str {
        "MetadataTableExec"
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
        children: Vec<Arc<dyn ExecutionPlan>>,
        _options: ReplaceChildrenOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        if !children.is_empty() {
            return internal_err!("a metadata table has no inputs");
        }
        Ok(self)
    }

    fn with_new_children(self: Arc<Self>, children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        self.replace_children(children, ReplaceChildrenOptions::new(ChildrenPropertiesMode::Recompute))
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let batch_size = context.session_config().batch_size();
        let metrics = BaselineMetrics::new(&self.metrics, partition);
        let source = Arc::clone(&self.source);
        let batches = source.open(partition, self.schema(), batch_size.max(1));
        let counted = batches.inspect(move |batch| {
            if let Ok(batch) = batch {
                metrics.record_output(batch.num_rows());
            }
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(self.schema(), counted)))
    }

    /// Fields of structs that the projection does not read are not made: metrics of a column are decoded only when wanted.
    fn try_swapping_with_projection(&self, projection: &ProjectionExec) -> Result<Option<Arc<dyn ExecutionPlan>>> {
        let expressions = projection.expr();
        let Some(schema) = narrowed(&self.schema(), expressions.iter().map(|e| &e.expr)) else {
            return Ok(None);
        };
        let narrow = MetadataTableExec::new(self.name.clone(), Arc::clone(&self.source), schema);
        let projection = ProjectionExec::try_new(expressions.to_vec(), Arc::new(narrow))?;
        Ok(Some(Arc::new(projection)))
    }

    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.metrics.clone_inner())
    }

    fn partition_statistics(&self, partition: Option<usize>) -> Result<Arc<Statistics>> {
        let mut statistics = Statistics::new_unknown(&self.schema());
        if partition.is_none() || self.source.partitions() == 1 {
            statistics.num_rows = self.source.row_count();
        }
        Ok(Arc::new(statistics))
    }
}
