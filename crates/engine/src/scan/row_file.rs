//! Data files that DataFusion's Parquet source cannot read: their rows are decoded here, and brought into the query's shape
//! as the source does it.
//!
//! An Avro file is read as a whole by who has its first byte, and not at all by the others it was split among. Of an ORC
//! file each reads the stripes that begin in its piece.

use std::ops::Range;
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
use tarn_format::manifest::data_file::FileFormat;
use tarn_format::scan::FileScanTask;
use tarn_format::spec::types::FieldId;

use super::deleted_rows::DeletedRowsFilter;
use super::file_opening::FileOpening;
use super::file_planner::BatchStage as _;
use super::metadata_columns::MetadataColumn;
use super::name_mapping::assign_ids;
use super::orc::RowsAt;
use super::row_batches::{FileOfRows, RowBatches};
use crate::arrow::schema::field_id;
use crate::external;

/// Rows that are decoded at a time.
const BATCH_ROWS: usize = 8192;

/// Whether a piece of a file may read rows.
pub(super) fn has_rows(format: FileFormat, piece: &PartitionedFile) -> bool {
    format == FileFormat::Orc || piece.range.as_ref().is_none_or(|range| range.start == 0)
}

/// The bytes of a piece; `None` for the whole file.
fn bytes_of(piece: &PartitionedFile) -> Option<Range<u64>> {
    let range = piece.range.as_ref()?;
    let start = u64::try_from(range.start).unwrap_or(0);
    // The last piece reaches to the file's end, wherever that is.
    let end = u64::try_from(range.end).unwrap_or(0);
    Some(start..end)
}

/// Reads a piece of a file, and makes the query's columns of its rows.
pub(super) async fn open(
    opening: &FileOpening,
    (task, piece): (&FileScanTask, &PartitionedFile),
    projection: &ProjectionExprs,
    filter: Option<DeletedRowsFilter>,
) -> Result<Box<dyn MorselPlanner>> {
    let io = &opening.context.readers.io;
    let file = FileOfRows::open(io, task.path(), task.file_format()).await;
    let file = (file.map_err(external)?, bytes_of(piece));
    let mut opened = RowFile::new(opening, task, projection, file)?;
    opened.deleted = filter;
    Ok(Box::new(OnePlan(Box::new(opened))))
}

/// A file whose rows are decoded batch by batch.
#[derive(Debug)]
struct RowFile {
    batches: RowBatches,
    /// The file's columns, then positions.
    schema: ArrowSchemaRef,
    /// What rows must fulfil, where the source promised to see to it.
    predicate: Option<Arc<dyn PhysicalExpr>>,
    projector: Projector,
    /// What the projector makes, as the plan describes it.
    output: ArrowSchemaRef,
    deleted: Option<DeletedRowsFilter>,
}

impl RowFile {
    fn new(
        opening: &FileOpening,
        task: &FileScanTask,
        projection: &ProjectionExprs,
        (file, range): (FileOfRows, Option<Range<u64>>),
    ) -> Result<Self> {
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
        let batches = file.batches(&indexes, BATCH_ROWS, range).map_err(external)?;
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
        })
    }

    async fn next(&mut self) -> Result<Option<RecordBatch>> {
        let rows = self.batches.next_batch().await.map_err(external)?;
        rows.map(|rows| self.shaped(rows)).transpose()
    }

    /// The rows as the query sees them.
    fn shaped(&self, rows: RowsAt) -> Result<RecordBatch> {
        let mut batch = self.with_positions(rows)?;
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

    fn with_positions(&self, RowsAt { first, batch }: RowsAt) -> Result<RecordBatch> {
        let after = first + batch.num_rows() as i64;
        let positions: ArrayRef = Arc::new(Int64Array::from_iter_values(first..after));
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
            match file.next().await.transpose()? {
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
