//! Data files that DataFusion's Parquet source cannot read: their rows are decoded here, and brought into the query's shape
//! as the source does it.
//!
//! Such a file is read as a whole by who has its first byte, and not at all by the others it was split among.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, Int64Array, RecordBatch, RecordBatchOptions};
use arrow::compute::filter_record_batch;
use arrow::datatypes::{DataType, Field, FieldRef, Schema as ArrowSchema, SchemaRef as ArrowSchemaRef};
use datafusion::datasource::listing::PartitionedFile;
use datafusion::error::{DataFusionError, Result};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::projection::{ProjectionExprs, Projector};
use datafusion::physical_expr::utils::collect_columns;
use datafusion::physical_expr_adapter::PhysicalExprAdapterFactory;
use datafusion_datasource::morsel::{Morsel, MorselPlan, MorselPlanner};
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use tarn_format::Error;
use tarn_format::scan::FileScanTask;
use tarn_format::spec::types::FieldId;

use super::avro::{AvroBatches, AvroFile};
use super::deleted_rows::DeletedRowsFilter;
use super::file_opening::FileOpening;
use super::file_planner::BatchStage as _;
use super::metadata_columns::MetadataColumn;
use super::name_mapping::assign_ids;
use crate::arrow::schema::field_id;
use crate::external;

/// Rows that are decoded at a time.
const BATCH_ROWS: usize = 8192;

/// Whether a piece of a file reads its rows.
pub(super) fn has_rows(file: &PartitionedFile) -> bool {
    file.range.as_ref().is_none_or(|range| range.start == 0)
}

/// Reads a file, and makes the query's columns of its rows.
pub(super) async fn open(
    opening: &FileOpening,
    task: &FileScanTask,
    projection: &ProjectionExprs,
    filter: Option<DeletedRowsFilter>,
) -> Result<Box<dyn MorselPlanner>> {
    let read = opening.context.readers.io.read(task.path()).await;
    let file = read.and_then(AvroFile::open).map_err(external)?;
    let mut opened = RowFile::new(opening, task, projection, file)?;
    opened.deleted = filter;
    Ok(Box::new(OnePlan(Box::new(opened))))
}

/// A file whose rows are decoded batch by batch.
#[derive(Debug)]
struct RowFile {
    batches: AvroBatches,
    /// The file's columns, then positions.
    schema: ArrowSchemaRef,
    /// What rows must fulfil, where the source promised to see to it.
    predicate: Option<Arc<dyn PhysicalExpr>>,
    projector: Projector,
    /// What the projector makes, as the plan describes it.
    output: ArrowSchemaRef,
    deleted: Option<DeletedRowsFilter>,
    next_position: i64,
}

impl RowFile {
    fn new(opening: &FileOpening, task: &FileScanTask, projection: &ProjectionExprs, file: AvroFile) -> Result<Self> {
        let table = opening.inner.table_schema().table_schema();
        let predicate = opening.inner.filter();
        let exprs = projection.expr_iter().chain(predicate.clone());
        let wanted: Vec<FieldId> = exprs
            .flat_map(|expr| collect_columns(&expr))
            .filter_map(|column| field_id(table.fields().get(column.index())?))
            .collect();
        let identified = assign_ids(file.schema(), &opening.context.name_mapping);
        let fields = identified.fields().iter().zip(file.schema().fields()).enumerate();
        // Arrays are of the file's own types, which have no ids where the name mapping gives them.
        let columns: Vec<(usize, FieldRef)> = fields
            .filter(|(_, (field, _))| field_id(field).is_some_and(|id| wanted.contains(&id)))
            .map(|(i, (_, own))| (i, Arc::clone(own)))
            .collect();
        let indexes: Vec<usize> = columns.iter().map(|(i, _)| *i).collect();
        let batches = file.batches(&indexes, BATCH_ROWS).map_err(external)?;
        let position: FieldRef = Arc::new(Field::new(MetadataColumn::Pos.name(), DataType::Int64, false));
        let stored = columns.into_iter().map(|(_, field)| field);
        let schema = Arc::new(ArrowSchema::new(stored.chain([position]).collect::<Vec<_>>()));
        let adapter = opening.adapter(task)?.create(Arc::clone(table), Arc::clone(&schema))?;
        let adapted = projection.clone().try_map_exprs(|expr| adapter.rewrite(expr))?;
        Ok(RowFile {
            batches,
            predicate: predicate.map(|predicate| adapter.rewrite(predicate)).transpose()?,
            projector: adapted.make_projector(&schema)?,
            output: Arc::new(projection.project_schema(table)?),
            schema,
            deleted: None,
            next_position: 0,
        })
    }

    fn next(&mut self) -> Result<Option<RecordBatch>> {
        let batch = self.batches.next_batch().map_err(external)?;
        batch.map(|batch| self.shaped(batch)).transpose()
    }

    /// The rows as the query sees them.
    fn shaped(&mut self, batch: RecordBatch) -> Result<RecordBatch> {
        let mut batch = self.with_positions(batch)?;
        if let Some(predicate) = &self.predicate {
            let kept = predicate.evaluate(&batch)?.into_array(batch.num_rows())?;
            let kept = kept.as_boolean_opt().ok_or_else(|| not_boolean(predicate))?;
            batch = filter_record_batch(&batch, kept)?;
        }
        let rows = batch.num_rows();
        let (_, columns, _) = self.projector.project_batch(&batch)?.into_parts();
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let projected = RecordBatch::try_new_with_options(Arc::clone(&self.output), columns, &options)?;
        match &self.deleted {
            Some(deleted) => deleted.batch(projected),
            None => Ok(projected),
        }
    }

    fn with_positions(&mut self, batch: RecordBatch) -> Result<RecordBatch> {
        let start = self.next_position;
        self.next_position += batch.num_rows() as i64;
        let positions: ArrayRef = Arc::new(Int64Array::from_iter_values(start..self.next_position));
        let (_, mut columns, _) = batch.into_parts();
        columns.push(positions);
        Ok(RecordBatch::try_new(Arc::clone(&self.schema), columns)?)
    }
}

fn not_boolean(predicate: &Arc<dyn PhysicalExpr>) -> DataFusionError {
    external(Error::invalid(format!("{predicate} is no condition")))
}

impl Morsel for RowFile {
    fn into_stream(self: Box<Self>) -> BoxStream<'static, Result<RecordBatch>> {
        stream::unfold(Some(self), |file| async move {
            let mut file = file?;
            match file.next().transpose()? {
                Ok(batch) => Some((Ok(batch), Some(file))),
                Err(error) => Some((Err(error), None)),
            }
        })
        .boxed()
    }
}

/// A planner of one morsel.
#[derive(Debug)]
struct OnePlan(Box<dyn Morsel>);

impl MorselPlanner for OnePlan {
    fn plan(self: Box<Self>) -> Result<Option<MorselPlan>> {
        Ok(Some(MorselPlan::new().with_morsels(vec![self.0])))
    }
}

/// A planner of nothing.
#[derive(Debug)]
pub(super) struct NoPlan;

impl MorselPlanner for NoPlan {
    fn plan(self: Box<Self>) -> Result<Option<MorselPlan>> {
        Ok(None)
    }
}
