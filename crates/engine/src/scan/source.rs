//! [`IcebergSource`]: Parquet files of an Iceberg table as a DataFusion file source.
//!
//! It wraps DataFusion's Parquet source, which does the reading: row-group, page and bloom pruning, dynamic filters, byte
//! ranges. What Iceberg adds is decided per file when it is opened: where it lies, its constants, and its
//! columns by field id.

use std::fmt;
use std::sync::Arc;

use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::config::ConfigOptions;
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::{
    FileOpener, FileScanConfig, FileScanConfigBuilder, FileSource, ParquetSource,
};
use datafusion::datasource::table_schema::TableSchema;
use datafusion::error::{DataFusionError, Result};
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::projection::{ProjectionExpr, ProjectionExprs};
use datafusion::physical_expr::utils::collect_columns;
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr};
use datafusion::physical_expr_common::sort_expr::PhysicalSortExpr;
use datafusion::physical_plan::filter_pushdown::{FilterPushdownPropagation, PushedDown};
use datafusion::physical_plan::metrics::ExecutionPlanMetricsSet;
use datafusion::physical_plan::{DisplayFormatType, SortOrderPushdownResult, apply_expression_roots};
use datafusion_datasource::morsel::Morselizer;
use object_store::ObjectStore;
use tarn_format::scan::FileScanTask;
use tarn_format::spec::name_mapping::NameMapping;
use tarn_format::spec::schema::Schema;

use super::deleted_rows::DeletedRows;
use super::equality_deletes::EqualityDeletes;
use super::file_constants::ConstantColumns;
use super::file_errors::ReadState;
use super::file_opening::{FileOpening, IcebergMorselizer, projected};
use super::metadata_columns::MetadataColumn;
use super::reader_factory::TableReaderFactory;
use crate::arrow::schema::field_id;
use crate::deletes::DeleteLoader;

/// What all files of a scan share.
#[derive(Debug)]
pub(crate) struct ScanContext {
    /// Opens the table's files.
    pub(crate) readers: Arc<TableReaderFactory>,
    /// Loads what is deleted.
    pub(crate) deletes: DeleteLoader,
    /// What equality deletes it deletes by.
    pub(crate) equality: EqualityDeletes,
    pub(crate) deleted_rows: DeletedRows,
    /// What rows are read with, key columns of equality deletes included.
    pub(crate) schema: Arc<Schema>,
    /// Ids of files without any: the mapping of the table, or that of its schema.
    pub(crate) name_mapping: Arc<NameMapping>,
    pub(crate) constants: ConstantColumns,
    /// What is read, as errors tell it.
    pub(crate) state: Arc<ReadState>,
    /// One line for EXPLAIN: snapshot, files, manifests and filter.
    pub(crate) description: String,
}

/// The Iceberg side of a [`PartitionedFile`], carried as its extension.
#[derive(Debug, Clone)]
pub(crate) struct IcebergFile {
    pub(crate) task: FileScanTask,
}

/// The source of an Iceberg scan.
#[derive(Clone)]
pub struct IcebergSource {
    /// Reads all columns that there are: files with deletes need others than the query asks for.
    inner: Arc<dyn FileSource>,
    /// What the query asks for.
    projection: ProjectionExprs,
    context: Arc<ScanContext>,
}

impl fmt::Debug for IcebergSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IcebergSource")
            .field("context", &self.context.description)
            .finish_non_exhaustive()
    }
}

impl IcebergSource {
    pub(crate) fn new(parquet: ParquetSource, context: Arc<ScanContext>) -> Self {
        let schema = parquet.table_schema().table_schema();
        let all: Vec<usize> = (0..schema.fields().len()).collect();
        IcebergSource {
            projection: ProjectionExprs::from_indices(&all, schema),
            inner: Arc::new(parquet),
            context,
        }
    }

    fn with_inner(&self, inner: Arc<dyn FileSource>) -> Arc<dyn FileSource> {
        Arc::new(IcebergSource { inner, ..self.clone() })
    }

    /// Whether the expression needs to know which rows are deleted: that is found out after the inner source's reading.
    fn needs_marks(&self, expr: &Arc<dyn PhysicalExpr>) -> bool {
        let is_mark = |column: &Column| column.name() == MetadataColumn::Deleted.name();
        self.context.deleted_rows == DeletedRows::Marked && collect_columns(expr).iter().any(is_mark)
    }

    /// Whether the expression needs rows' positions: the inner source's filters cannot have them.
    fn needs_positions(&self, expr: &Arc<dyn PhysicalExpr>) -> bool {
        let schema = self.inner.table_schema().table_schema();
        let is_row_id = |column: &Column| {
            let field = schema.fields().get(column.index());
            field.and_then(|f| field_id(f)) == Some(MetadataColumn::RowId.field_id())
        };
        collect_columns(expr).iter().any(is_row_id)
    }
}

impl FileSource for IcebergSource {
    fn create_file_opener(
        &self,
        _object_store: Arc<dyn ObjectStore>,
        _base_config: &FileScanConfig,
        _partition: usize,
    ) -> Result<Arc<dyn FileOpener>> {
        Err(DataFusionError::Internal(
            "an Iceberg scan opens files by morsels".to_string(),
        ))
    }

    fn create_morselizer(
        &self,
        object_store: Arc<dyn ObjectStore>,
        base_config: &FileScanConfig,
        partition: usize,
    ) -> Result<Box<dyn Morselizer>> {
        // Every file gets its own adapter; without the list of files the config is cheap to copy for each.
        let config = FileScanConfigBuilder::from(base_config.clone())
            .with_file_groups(Vec::new())
            .build();
        Ok(Box::new(IcebergMorselizer::new(FileOpening {
            projected: projected(&self.inner, &self.projection)?,
            inner: Arc::clone(&self.inner),
            projection: self.projection.clone(),
            context: Arc::clone(&self.context),
            object_store,
            config,
            partition,
        })))
    }

    fn table_schema(&self) -> &TableSchema {
        self.inner.table_schema()
    }

    fn with_batch_size(&self, batch_size: usize) -> Arc<dyn FileSource> {
        self.with_inner(self.inner.with_batch_size(batch_size))
    }

    fn filter(&self) -> Option<Arc<dyn PhysicalExpr>> {
        self.inner.filter()
    }

    fn projection(&self) -> Option<&ProjectionExprs> {
        Some(&self.projection)
    }

    fn metrics(&self) -> &ExecutionPlanMetricsSet {
        self.inner.metrics()
    }

    fn file_type(&self) -> &str {
        "iceberg"
    }

    fn fmt_extra(&self, t: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match t {
            DisplayFormatType::Default | DisplayFormatType::Verbose => write!(f, ", {}", self.context.description)?,
            DisplayFormatType::TreeRender => writeln!(f, "{}", self.context.description)?,
        }
        self.inner.fmt_extra(t, f)
    }

    fn try_pushdown_filters(
        &self,
        filters: Vec<Arc<dyn PhysicalExpr>>,
        config: &ConfigOptions,
    ) -> Result<FilterPushdownPropagation<Arc<dyn FileSource>>> {
        let count = filters.len();
        let given = filters
            .into_iter()
            .filter(|f| !self.needs_marks(f) && !self.needs_positions(f));
        let pushed = self.inner.try_pushdown_filters(given.collect(), config)?;
        // Filters are looked at again above: for a file of another schema the Parquet reader may drop one without a word.
        Ok(FilterPushdownPropagation {
            filters: vec![PushedDown::No; count],
            updated_node: pushed.updated_node.map(|inner| self.with_inner(inner)),
        })
    }

    fn try_pushdown_projection(&self, projection: &ProjectionExprs) -> Result<Option<Arc<dyn FileSource>>> {
        let projection = self.projection.try_merge(projection)?;
        let computed = |p: &ProjectionExpr| !p.expr.is::<Column>() && self.needs_marks(&p.expr);
        if projection.iter().any(computed) {
            return Ok(None);
        }
        Ok(Some(Arc::new(IcebergSource {
            projection,
            ..self.clone()
        })))
    }

    fn try_pushdown_sort(
        &self,
        order: &[PhysicalSortExpr],
        eq_properties: &EquivalenceProperties,
    ) -> Result<SortOrderPushdownResult<Arc<dyn FileSource>>> {
        Ok(match self.inner.try_pushdown_sort(order, eq_properties)? {
            SortOrderPushdownResult::Exact { inner } => SortOrderPushdownResult::Exact {
                inner: self.with_inner(inner),
            },
            SortOrderPushdownResult::Inexact { inner } => SortOrderPushdownResult::Inexact {
                inner: self.with_inner(inner),
            },
            SortOrderPushdownResult::Unsupported => SortOrderPushdownResult::Unsupported,
        })
    }

    fn apply_expressions(
        &self,
        f: &mut dyn for<'a> FnMut(&'a Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        let projected = self.projection.iter().map(|p| &p.expr);
        apply_expression_roots(self.inner.filter().iter().chain(projected), f)
    }

    fn reorder_files(&self, files: Vec<PartitionedFile>) -> Vec<PartitionedFile> {
        self.inner.reorder_files(files)
    }
}
