//! Opens the files of a scan: what is the file's own (constants, columns by field id, deletes) is decided here, the reading
//! is DataFusion's.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use arrow::datatypes::Schema as ArrowSchema;
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::parquet::ParquetFileReaderFactory;
use datafusion::datasource::physical_plan::{FileScanConfig, FileSource};
use datafusion::error::{DataFusionError, Result};
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::projection::{ProjectionExpr, ProjectionExprs};
use datafusion_datasource::morsel::{MorselPlanner, Morselizer};
use object_store::ObjectStore;
use tarn_format::deletes::deletion_vector::DeletionVector;
use tarn_format::manifest::data_file::FileFormat;
use tarn_format::scan::FileScanTask;
use tarn_format::spec::types::FieldId;

use super::deleted_rows::{DeletedRows, DeletedRowsFilter, KeyTest, PositionTest};
use super::field_id_adapter::FieldIdAdapterFactory;
use super::file_errors::FileErrors;
use super::file_planner::{BatchStage as _, DeferredPlanner, StagedPlanner};
use super::metadata_columns::MetadataColumn;
use super::row_access::{Scattered, row_access};
use super::row_file::{self, NoPlan, has_rows};
use super::row_lineage::InheritedLineage;
use super::source::{IcebergFile, ScanContext};
use crate::arrow::schema::field_id;
use crate::external;

/// Opens files one by one.
#[derive(Debug)]
pub(super) struct IcebergMorselizer {
    opening: Arc<FileOpening>,
}

impl IcebergMorselizer {
    pub(super) fn new(opening: FileOpening) -> Self {
        IcebergMorselizer {
            opening: Arc::new(opening),
        }
    }
}

impl Morselizer for IcebergMorselizer {
    fn plan_file(&self, file: PartitionedFile) -> Result<Box<dyn MorselPlanner>> {
        let task = task_of(&file)?;
        let state = Arc::clone(&self.opening.context.state);
        let errors = Arc::new(FileErrors::new(task.path(), task.key_metadata(), state));
        let planner = self.plan_task(task, file).map_err(|e| errors.error(e))?;
        Ok(Box::new(StagedPlanner::new(planner, errors)))
    }
}

impl IcebergMorselizer {
    fn plan_task(&self, task: FileScanTask, mut file: PartitionedFile) -> Result<Box<dyn MorselPlanner>> {
        // Sizes in manifests may be wrong: the last range of a file reaches to its true end, else rows would be lost.
        if let Some(range) = &mut file.range
            && range.end as u64 >= file.object_meta.size
        {
            range.end = i64::MAX;
        }
        let is_parquet = task.file_format() == FileFormat::Parquet;
        if !is_parquet && !has_rows(task.file_format(), &file) {
            return Ok(Box::new(NoPlan));
        }
        if is_parquet && task.deletes().is_empty() && !self.opening.context.deletes.has_more(&task) {
            return self.opening.plan(&task, file);
        }
        let opening = Arc::clone(&self.opening);
        Ok(Box::new(DeferredPlanner::new(async move {
            opening.plan_with_deletes(&task, file).await
        })))
    }
}

fn task_of(file: &PartitionedFile) -> Result<FileScanTask> {
    match file.extensions.get::<IcebergFile>() {
        Some(iceberg) => Ok(iceberg.task.clone()),
        None => Err(DataFusionError::Internal(
            "a file of an Iceberg scan has no task".to_string(),
        )),
    }
}

/// What files of one partition of the plan are opened with.
pub(super) struct FileOpening {
    /// Reads all columns that there are.
    pub(super) inner: Arc<dyn FileSource>,
    /// Reads what the query asks for.
    pub(super) projected: Arc<dyn FileSource>,
    /// What the query asks for.
    pub(super) projection: ProjectionExprs,
    pub(super) context: Arc<ScanContext>,
    pub(super) object_store: Arc<dyn ObjectStore>,
    pub(super) config: FileScanConfig,
    pub(super) partition: usize,
}

impl fmt::Debug for FileOpening {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FileOpening")
            .field("partition", &self.partition)
            .finish_non_exhaustive()
    }
}

impl FileOpening {
    /// Plans the reading of a file, of its rows those that the file's extensions select.
    fn plan(&self, task: &FileScanTask, file: PartitionedFile) -> Result<Box<dyn MorselPlanner>> {
        self.plan_with(&self.projected, self.config.clone(), task, file)
    }

    fn plan_with(
        &self,
        source: &Arc<dyn FileSource>,
        mut config: FileScanConfig,
        task: &FileScanTask,
        file: PartitionedFile,
    ) -> Result<Box<dyn MorselPlanner>> {
        config.expr_adapter_factory = Some(Arc::new(self.adapter(task)?));
        let store = Arc::clone(&self.object_store);
        let morselizer = source.create_morselizer(store, &config, self.partition)?;
        morselizer.plan_file(file)
    }

    /// How the table's columns are found in a file.
    pub(super) fn adapter(&self, task: &FileScanTask) -> Result<FieldIdAdapterFactory> {
        let context = &self.context;
        Ok(FieldIdAdapterFactory {
            schema: Arc::clone(&context.schema),
            name_mapping: Arc::clone(&context.name_mapping),
            constants: Arc::new(context.constants.of(task).map_err(external)?),
            without_nan: Arc::new(without_nan(task, self.inner.table_schema().table_schema())),
            lineage: InheritedLineage::of(task),
        })
    }

    async fn plan_with_deletes(
        &self,
        task: &FileScanTask,
        mut file: PartitionedFile,
    ) -> Result<Box<dyn MorselPlanner>> {
        let deletes = &self.context.deletes;
        let positions = deletes.deleted_positions(task).await.map_err(external)?;
        let mut positions = positions.filter(|deleted| !deleted.is_empty());
        let is_parquet = task.file_format() == FileFormat::Parquet;
        if is_parquet
            && self.context.deleted_rows == DeletedRows::LeftOut
            && let Some(deleted) = positions.take()
        {
            let scattered;
            (file, scattered) = self.without_rows(&deleted, file).await?;
            positions = (scattered == Scattered::Read).then_some(deleted);
        }
        let mut reading = HiddenColumns::new(self);
        let mut keys = Vec::new();
        for set in self.context.equality.sets_of(task) {
            let table = deletes.keys(set, &self.context.name_mapping).await;
            let columns = set
                .columns
                .iter()
                .map(|key| Ok((reading.add(key.field.name())?, key.clone())));
            keys.push(KeyTest {
                table: table.map_err(external)?,
                columns: columns.collect::<Result<_>>()?,
            });
        }
        if keys.is_empty() && positions.is_none() {
            return match is_parquet {
                true => self.plan(task, file),
                false => row_file::open(self, (task, &file), &self.projection, None).await,
            };
        }
        let position = |deleted| {
            let column = reading.add(MetadataColumn::Pos.name())?;
            Ok::<_, DataFusionError>(PositionTest { deleted, column })
        };
        let filter = DeletedRowsFilter {
            width: self.projection.as_ref().len(),
            sequence_number: task.sequence_number(),
            positions: positions.map(position).transpose()?,
            keys,
            marks: (self.context.deleted_rows == DeletedRows::Marked).then(|| self.marks()),
        };
        if !is_parquet {
            return row_file::open(self, (task, &file), &reading.projection(), Some(filter)).await;
        }
        // The limit counts what is left of the rows: the stream of all files applies it.
        let mut config = self.config.clone();
        config.limit = None;
        let source = projected(&self.inner, &reading.projection())?;
        let planner = self.plan_with(&source, config, task, file)?;
        Ok(Box::new(StagedPlanner::new(planner, Arc::new(filter))))
    }

    /// Where the query's columns are `_deleted`. That it is nothing more than this column there, is seen to when
    /// projections are pushed down.
    fn marks(&self) -> Vec<usize> {
        let is_mark = |p: &ProjectionExpr| {
            let column = p.expr.downcast_ref::<Column>();
            column.is_some_and(|c| c.name() == MetadataColumn::Deleted.name())
        };
        let columns = self.projection.iter().enumerate();
        columns.filter(|(_, p)| is_mark(p)).map(|(i, _)| i).collect()
    }

    /// The file without these rows, but for those that lie scattered. Its footer is read, and cached for the reader that
    /// follows.
    async fn without_rows(
        &self,
        deleted: &DeletionVector,
        file: PartitionedFile,
    ) -> Result<(PartitionedFile, Scattered)> {
        let readers = &self.context.readers;
        let mut reader = readers.create_reader(self.partition, file.clone(), None, self.inner.metrics())?;
        let footer = reader.get_metadata(None).await?;
        let access = row_access(deleted, footer.row_groups());
        Ok((file.with_extension(access.plan), access.scattered))
    }
}

/// The source with a projection.
pub(super) fn projected(source: &Arc<dyn FileSource>, projection: &ProjectionExprs) -> Result<Arc<dyn FileSource>> {
    let projected = source.try_pushdown_projection(projection)?;
    projected.ok_or_else(|| DataFusionError::Internal("the reader of an Iceberg scan takes no projection".to_string()))
}

/// The columns of a query followed by others.
struct HiddenColumns<'a> {
    opening: &'a FileOpening,
    /// Indexes in the reader's schema.
    added: Vec<usize>,
}

impl<'a> HiddenColumns<'a> {
    fn new(opening: &'a FileOpening) -> Self {
        HiddenColumns {
            opening,
            added: Vec::new(),
        }
    }

    /// Adds a column; returns where batches have it.
    fn add(&mut self, name: &str) -> Result<usize> {
        let index = self.opening.inner.table_schema().table_schema().index_of(name)?;
        let known = self.added.iter().position(|added| *added == index);
        let place = known.unwrap_or_else(|| {
            self.added.push(index);
            self.added.len() - 1
        });
        Ok(self.opening.projection.as_ref().len() + place)
    }

    fn projection(&self) -> ProjectionExprs {
        let schema = self.opening.inner.table_schema().table_schema();
        let added = self.added.iter().map(|index| {
            let name = schema.field(*index).name();
            ProjectionExpr::new(Arc::new(Column::new(name, *index)), name.as_str())
        });
        self.opening.projection.iter().cloned().chain(added).collect()
    }
}

/// The floating-point columns in which the file holds no NaN.
fn without_nan(task: &FileScanTask, schema: &ArrowSchema) -> HashSet<FieldId> {
    let floating = schema.fields().iter().filter(|f| f.data_type().is_floating());
    floating
        .filter_map(|f| field_id(f))
        .filter(|id| task.statistics(*id).and_then(|s| s.nan_count()) == Some(0))
        .collect()
}
