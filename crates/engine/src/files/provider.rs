//! [`FilesTable`]: listed files as a DataFusion table.

use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::{ColumnStatistics, Statistics};
use datafusion::datasource::file_format::FileFormat;
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::{FileGroup, FileScanConfigBuilder};
use datafusion::datasource::table_schema::TableSchema;
use datafusion::error::Result;
use datafusion::execution::object_store::ObjectStoreUrl;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_plan::ExecutionPlan;
use datafusion_datasource::compute_all_files_statistics;
use futures::{StreamExt, TryStreamExt, stream};
use object_store::ObjectMeta;
use tarn_format::{Error, ResultExt};

use super::listing::Listing;
use super::nan::GuardedFactory;
use super::partitions::PartitionColumns;

/// Footers that are read at a time.
const CONCURRENT_FOOTERS: usize = 16;

/// What is known of the files together.
pub(super) struct FilesParts {
    /// Columns as the files have them.
    pub(super) stored: SchemaRef,
    /// The same columns as they are read.
    pub(super) columns: SchemaRef,
    pub(super) format: Arc<dyn FileFormat>,
    pub(super) name: &'static str,
}

/// Files that were listed once.
#[derive(Debug)]
pub struct FilesTable {
    store: ObjectStoreUrl,
    files: Vec<PartitionedFile>,
    schema: TableSchema,
    format: Arc<dyn FileFormat>,
}

impl FilesTable {
    pub(super) async fn new(
        state: &dyn Session,
        listing: Listing,
        files: Vec<ObjectMeta>,
        parts: FilesParts,
        partitions: PartitionColumns,
    ) -> tarn_format::Result<Self> {
        let schema = TableSchema::builder(Arc::clone(&parts.columns))
            .with_table_partition_cols(partitions.fields.clone())
            .build();
        let mut values = partitions.values.into_iter();
        let with_values = files.into_iter().map(|f| (f, values.next().unwrap_or_default()));
        let described = with_values.map(|(file, values)| describe(state, &listing, &parts, file, values));
        let described: Vec<_> = described
            .map(|f| -> futures::future::BoxFuture<'_, _> { Box::pin(f) })
            .collect();
        let files = stream::iter(described)
            .buffered(CONCURRENT_FOOTERS)
            .try_collect()
            .await?;
        Ok(FilesTable {
            store: listing.store_url,
            files,
            schema,
            format: parts.format,
        })
    }
}

async fn describe(
    state: &dyn Session,
    listing: &Listing,
    parts: &FilesParts,
    file: ObjectMeta,
    values: Vec<datafusion::common::ScalarValue>,
) -> tarn_format::Result<PartitionedFile> {
    let schema = Arc::clone(&parts.stored);
    let statistics = parts.format.infer_stats(state, &listing.store, schema, &file).await;
    let statistics = statistics
        .map_err(|e| Error::corrupt(format!("a file cannot be read as {}", parts.name)).with_source(e))
        .context("file", file.location.to_string())?;
    let statistics = trusted(statistics, parts);
    let file = PartitionedFile::new_from_meta(file).with_partition_values(values);
    Ok(file.with_statistics(Arc::new(statistics)))
}

/// Bounds leave NaN out, and are those of the stored type.
fn trusted(mut statistics: Statistics, parts: &FilesParts) -> Statistics {
    let types = parts.stored.fields().iter().zip(parts.columns.fields());
    for (column, (stored, read)) in statistics.column_statistics.iter_mut().zip(types) {
        if stored.data_type().is_floating() || stored.data_type() != read.data_type() {
            *column = ColumnStatistics {
                null_count: column.null_count,
                ..ColumnStatistics::new_unknown()
            };
        }
    }
    statistics
}

#[async_trait]
impl TableProvider for FilesTable {
    fn schema(&self) -> SchemaRef {
        Arc::clone(self.schema.table_schema())
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        _filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let target_partitions = state.config().target_partitions().max(1);
        let groups = FileGroup::new(self.files.clone()).split_files(target_partitions);
        let (groups, statistics) = compute_all_files_statistics(groups, self.schema(), true, false)?;
        let source = self.format.file_source(self.schema.clone());
        let config = FileScanConfigBuilder::new(self.store.clone(), source)
            .with_file_groups(groups)
            .with_statistics(statistics)
            .with_projection_indices(projection.cloned())?
            .with_limit(limit)
            .with_expr_adapter(Some(Arc::new(GuardedFactory)))
            .build();
        self.format.create_physical_plan(state, config).await
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> Result<Vec<TableProviderFilterPushDown>> {
        Ok(vec![TableProviderFilterPushDown::Inexact; filters.len()])
    }
}
