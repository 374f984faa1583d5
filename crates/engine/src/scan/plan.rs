//! From an Iceberg plan to a DataFusion plan: file tasks become file groups with statistics.

use std::sync::Arc;

use datafusion::catalog::Session;
use datafusion::common::stats::Precision;
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::{FileGroup, FileScanConfigBuilder, ParquetSource};
use datafusion::datasource::source::DataSourceExec;
use datafusion::datasource::table_schema::TableSchema;
use datafusion::error::Result;
use datafusion::execution::object_store::ObjectStoreUrl;
use datafusion::logical_expr::Expr;
use datafusion::physical_plan::ExecutionPlan;
use datafusion_datasource::compute_all_files_statistics;
use tarn_format::deletes::DeleteKind;
use tarn_format::manifest::data_file::FileFormat;
use tarn_format::metrics::ScanMetrics;
use tarn_format::scan::incremental::IncrementalScan;
use tarn_format::scan::split::{FileSplit, SplitOptions, plan_groups};
use tarn_format::scan::{FileScanTask, ScanPlan, ScanSetup, Statistics, TableScan};
use tarn_format::spec::name_mapping::{DEFAULT_NAME_MAPPING, NameMapping};
use tarn_format::spec::types::FieldId;
use tarn_format::{Error, ResultExt};

use super::file_constants::ConstantColumns;
use super::metadata_columns::MetadataColumn;
use super::pushdown::to_predicate;
use super::read_options::AnswersFrom;
use super::reader_factory::TableReaderFactory;
use super::source::{IcebergFile, IcebergSource, ScanContext};
use super::statistics::file_statistics;
use crate::arrow::schema::field_id;
use crate::deletes::DeleteLoader;
use crate::external;
use crate::provider::IcebergTable;

/// What a query wants of a table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ScanRequest<'a> {
    /// Indexes of columns; `None` is all.
    pub(crate) projection: Option<&'a Vec<usize>>,
    /// Filters of which all must hold.
    pub(crate) filters: &'a [Expr],
    /// Rows that are enough.
    pub(crate) limit: Option<usize>,
}

/// Plans the scan of a table.
pub(crate) async fn plan_scan(
    table: &IcebergTable,
    state: &dyn Session,
    request: ScanRequest<'_>,
) -> Result<Arc<dyn ExecutionPlan>> {
    let ident = table.table().ident.to_string();
    let plan = plan_files(table, &request).await.context("table", ident);
    let plan = plan.map_err(external)?;
    let readers = Arc::new(TableReaderFactory {
        io: table.table().io.clone(),
        footers: Arc::clone(&table.caches().footers),
    });
    let context = scan_context(table, &plan, Arc::clone(&readers)).map_err(external)?;
    let target_partitions = state.config().target_partitions().max(1);
    let groups = file_groups(table, &plan, target_partitions);
    let table_schema = table_schema(table);
    let all_columns = Arc::clone(table_schema.table_schema());
    let (mut groups, mut statistics) = compute_all_files_statistics(groups, all_columns, true, false)?;
    if groups.is_empty() {
        // A plan of no partitions at all cannot be sorted.
        groups = vec![FileGroup::new(Vec::new())];
        statistics = statistics.with_num_rows(Precision::Exact(0));
    }
    let options = table.read_options().split_options(&table.table().metadata.properties);
    if let Some(options) = options.map_err(external)? {
        // Statistics are those of whole files: pieces of one would count its rows several times.
        groups = split_groups(table, &plan, &options, target_partitions).map_err(external)?;
    }

    let mut options = state.table_options().parquet.clone();
    options.global = state.config_options().execution.parquet.clone();
    let parquet = ParquetSource::new(table_schema)
        .with_table_parquet_options(options)
        .with_parquet_file_reader_factory(readers);
    let source = IcebergSource::new(parquet, Arc::new(context));
    // Any registered store will do: files are opened through the table's own.
    let config = FileScanConfigBuilder::new(ObjectStoreUrl::local_filesystem(), Arc::new(source))
        .with_file_groups(groups)
        .with_statistics(statistics)
        .with_projection_indices(request.projection.cloned())?
        .with_limit(request.limit)
        .build();
    Ok(DataSourceExec::from_data_source(config))
}

async fn plan_files(table: &IcebergTable, request: &ScanRequest<'_>) -> tarn_format::Result<ScanPlan> {
    let loaded = table.table();
    let caches = table.caches();
    let predicate = to_predicate(request.filters, table.iceberg_schema());
    let setup = ScanSetup::new(
        Arc::clone(&loaded.metadata),
        loaded.io.clone(),
        caches.manifests.clone(),
    )
    .delete_indexes(caches.delete_indexes.clone())
    .filter(predicate)
    .statistics(Statistics::Of(statistics_columns(table, request)));
    let plan = match &table.read_options().appended {
        Some(range) => IncrementalScan::new(setup, range.clone()).plan_appends().await?,
        None => TableScan::new(setup).snapshot(table.selector().clone()).plan().await?,
    };
    for task in &plan.tasks {
        check(task, table.metadata_columns())?;
    }
    Ok(plan)
}

fn check(task: &FileScanTask, columns: &[MetadataColumn]) -> tarn_format::Result<()> {
    let refuse = |what: String| Err(Error::unsupported(what).with_context("file", task.path()));
    if task.file_format() != FileFormat::Parquet {
        return refuse(format!(
            "reading {} data files is not supported yet",
            task.file_format()
        ));
    }
    if task.deletes().iter().any(|d| d.kind() == DeleteKind::Equality) {
        return refuse("tables with equality deletes cannot be read yet".to_string());
    }
    if !task.deletes().is_empty() && columns.contains(&MetadataColumn::Deleted) {
        return refuse("column _deleted of tables with row-level deletes cannot be read yet".to_string());
    }
    Ok(())
}

/// The columns that are read: only their statistics are decoded and told to the planner.
fn statistics_columns(table: &IcebergTable, request: &ScanRequest<'_>) -> Vec<FieldId> {
    let schema = table.arrow_schema();
    let fields = schema.fields();
    match request.projection {
        None => fields.iter().filter_map(|f| field_id(f)).collect(),
        Some(projection) => {
            let projected = projection.iter().filter_map(|i| field_id(fields.get(*i)?));
            let filtered = request.filters.iter().flat_map(|f| f.column_refs());
            let filtered = filtered.filter_map(|c| field_id(schema.field_with_name(&c.name).ok()?));
            projected.chain(filtered).collect()
        }
    }
}

fn scan_context(
    table: &IcebergTable,
    plan: &ScanPlan,
    readers: Arc<TableReaderFactory>,
) -> tarn_format::Result<ScanContext> {
    let metadata = &table.table().metadata;
    let mapping = match metadata.properties.get(DEFAULT_NAME_MAPPING) {
        None => NameMapping::of_schema(table.iceberg_schema()),
        Some(json) => NameMapping::from_json(json).context("property", DEFAULT_NAME_MAPPING)?,
    };
    let columns = table.metadata_columns().to_vec();
    Ok(ScanContext {
        readers,
        deletes: DeleteLoader::new(table.table().io.clone(), table.caches()),
        schema: Arc::clone(table.iceberg_schema()),
        name_mapping: Arc::new(mapping),
        constants: ConstantColumns::new(Arc::clone(metadata), Arc::clone(table.iceberg_schema()), columns),
        description: describe(table, plan),
    })
}

fn describe(table: &IcebergTable, plan: &ScanPlan) -> String {
    let mut snapshot = match &plan.snapshot {
        Some(snapshot) => snapshot.snapshot_id.to_string(),
        None => "none".to_string(),
    };
    if table.read_options().appended.is_some() {
        snapshot.insert_str(0, "appended up to ");
    }
    let metrics: &ScanMetrics = &plan.metrics;
    format!(
        "table={}, snapshot={snapshot}, files={} (skipped {}), manifests={} (skipped {}), iceberg_filter={}",
        table.table().ident,
        metrics.result_data_files,
        metrics.skipped_data_files,
        metrics.scanned_data_manifests,
        metrics.skipped_data_manifests,
        plan.filter.predicate(),
    )
}

/// The columns a reader is asked for: those of the table, constant metadata columns, then what the reader makes itself.
fn table_schema(table: &IcebergTable) -> TableSchema {
    let schema = table.arrow_schema();
    if !table.metadata_columns().contains(&MetadataColumn::Pos) {
        return TableSchema::from(Arc::clone(schema));
    }
    let (made, stored): (Vec<_>, Vec<_>) = schema
        .fields()
        .iter()
        .cloned()
        .partition(|f| f.name() == MetadataColumn::Pos.name());
    let stored = arrow::datatypes::Schema::new(stored);
    TableSchema::builder(Arc::new(stored))
        .with_virtual_columns(made)
        .build()
}

fn file_groups(table: &IcebergTable, plan: &ScanPlan, target_partitions: usize) -> Vec<FileGroup> {
    let files: Vec<PartitionedFile> = plan.tasks.iter().map(|task| partitioned_file(table, task)).collect();
    FileGroup::new(files).split_files(target_partitions)
}

/// Pieces of files, packed as was asked for, in at most as many groups as run at a time.
fn split_groups(
    table: &IcebergTable,
    plan: &ScanPlan,
    options: &SplitOptions,
    target_partitions: usize,
) -> tarn_format::Result<Vec<FileGroup>> {
    let packed = plan_groups(&plan.tasks, options)?;
    let mut groups: Vec<Vec<PartitionedFile>> = vec![Vec::new(); packed.len().min(target_partitions)];
    for (i, splits) in packed.into_iter().enumerate() {
        let Some(group) = groups.get_mut(i % target_partitions) else {
            continue;
        };
        group.extend(splits.into_iter().map(|split| piece(table, &split)));
    }
    Ok(groups.into_iter().map(FileGroup::new).collect())
}

fn piece(table: &IcebergTable, split: &FileSplit) -> PartitionedFile {
    let file = partitioned_file(table, &split.task);
    let end = split.start.saturating_add(split.length);
    match (i64::try_from(split.start), i64::try_from(end)) {
        (Ok(start), Ok(end)) => file.with_range(start, end),
        _ => file,
    }
}

fn partitioned_file(table: &IcebergTable, task: &FileScanTask) -> PartitionedFile {
    let size = u64::try_from(task.file_size_in_bytes()).unwrap_or(0);
    let mut statistics = file_statistics(task, table.arrow_schema(), table.iceberg_schema());
    if table.read_options().answers == AnswersFrom::Data {
        statistics = Arc::new(Arc::unwrap_or_clone(statistics).to_inexact());
    }
    PartitionedFile::new(task.path(), size)
        .with_statistics(statistics)
        .with_extension(IcebergFile { task: task.clone() })
}
