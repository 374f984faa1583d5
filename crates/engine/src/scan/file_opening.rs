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
use datafusion_datasource::morsel::{MorselPlanner, Morselizer};
use object_store::ObjectStore;
use tarn_format::deletes::deletion_vector::DeletionVector;
use tarn_format::scan::FileScanTask;
use tarn_format::spec::types::FieldId;

use super::field_id_adapter::FieldIdAdapterFactory;
use super::file_planner::DeferredPlanner;
use super::row_access::access_plan;
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
    fn plan_file(&self, mut file: PartitionedFile) -> Result<Box<dyn MorselPlanner>> {
        let task = task_of(&file)?;
        // Sizes in manifests may be wrong: the last range of a file reaches to its true end, else rows would be lost.
        if let Some(range) = &mut file.range
            && range.end as u64 >= file.object_meta.size
        {
            range.end = i64::MAX;
        }
        if task.deletes().is_empty() {
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
    pub(super) inner: Arc<dyn FileSource>,
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
        let context = &self.context;
        let constants = context.constants.of(task).map_err(external)?;
        let mut config = self.config.clone();
        config.expr_adapter_factory = Some(Arc::new(FieldIdAdapterFactory {
            schema: Arc::clone(&context.schema),
            name_mapping: Arc::clone(&context.name_mapping),
            constants: Arc::new(constants),
            without_nan: Arc::new(without_nan(task, self.inner.table_schema().table_schema())),
        }));
        let store = Arc::clone(&self.object_store);
        let morselizer = self.inner.create_morselizer(store, &config, self.partition)?;
        morselizer.plan_file(file)
    }

    async fn plan_with_deletes(
        &self,
        task: &FileScanTask,
        mut file: PartitionedFile,
    ) -> Result<Box<dyn MorselPlanner>> {
        let deleted = self.context.deletes.deleted_positions(task).await;
        if let Some(deleted) = deleted.map_err(external)?.filter(|deleted| !deleted.is_empty()) {
            file = self.without_rows(&deleted, file).await?;
        }
        self.plan(task, file)
    }

    /// The file without these rows. Its footer is read, and cached for the reader that follows.
    async fn without_rows(&self, deleted: &DeletionVector, file: PartitionedFile) -> Result<PartitionedFile> {
        let readers = &self.context.readers;
        let mut reader = readers.create_reader(self.partition, file.clone(), None, self.inner.metrics())?;
        let footer = reader.get_metadata(None).await?;
        Ok(file.with_extension(access_plan(deleted, footer.row_groups())))
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
