//! From an Iceberg plan to a DataFusion plan: file tasks become file groups with statistics.

use std::sync::Arc;

use arrow::datatypes::SchemaRef as ArrowSchemaRef;
use datafusion::catalog::Session;
use datafusion::common::stats::Precision;
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::{FileGroup, FileScanConfigBuilder, FileSource, ParquetSource};
use datafusion::datasource::source::DataSourceExec;
use datafusion::error::Result;
use datafusion::execution::object_store::ObjectStoreUrl;
use datafusion::logical_expr::Expr;
use datafusion::physical_expr::LexOrdering;
use datafusion::physical_plan::{ExecutionPlan, Partitioning};
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

use super::columns::{Positions, ScanColumns};
use super::deleted_rows::DeletedRows;
use super::distinct_counts::{distinct_counts, tell};
use super::equality_deletes::EqualityDeletes;
use super::file_constants::ConstantColumns;
use super::file_errors::ReadState;
use super::late_decoding::keeps_few_rows;
use super::metadata_columns::MetadataColumn;
use super::proven_order::{arrange, order_of_files};
use super::pushdown::to_predicate;
use super::read_options::AnswersFrom;
use super::reader_factory::TableReaderFactory;
use super::report;
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
    report::send(table, &plan, &request);
    let deletes = DeleteLoader::new(table.table().io.clone(), table.caches());
    scan_planned(table, state, &plan, request, deletes)
}

/// The scan of files that are planned already, without the rows that `deletes` knows of.
pub(crate) fn scan_planned(
    table: &IcebergTable,
    state: &dyn Session,
    plan: &ScanPlan,
    request: ScanRequest<'_>,
    deletes: DeleteLoader,
) -> Result<Arc<dyn ExecutionPlan>> {
    let readers = Arc::new(TableReaderFactory {
        io: table.table().io.clone(),
        footers: Arc::clone(&table.caches().footers),
    });
    let deleted = deleted_rows(table, &request);
    let positions = match table.metadata_columns().contains(&MetadataColumn::RowId) {
        true => Positions::Needed,
        false => positions(plan, &deletes),
    };
    let context = scan_context(table, plan, Arc::clone(&readers), (deleted, deletes)).map_err(external)?;
    let columns = ScanColumns::new(table, &context.equality, positions);
    let projection = columns.projection(table, request.projection);
    let metadata = &table.table().metadata;
    let described = (columns.all().as_ref(), table.iceberg_schema().as_ref());
    let files = Files {
        table,
        columns: Arc::clone(columns.all()),
        deleted,
        order: order_of_files(&plan.tasks, metadata, described),
    };
    let target_partitions = state.config().target_partitions().max(1);
    let groups = files.groups(plan, target_partitions);
    let all_columns = Arc::clone(columns.all());
    let (mut groups, mut statistics) = compute_all_files_statistics(groups, all_columns, true, false)?;
    if let Some(snapshot) = &plan.snapshot {
        let counts = distinct_counts(metadata, snapshot.snapshot_id);
        tell(&mut statistics, columns.all(), &counts);
    }
    let options = table.read_options().split_options(&metadata.properties);
    if let Some(options) = options.map_err(external)? {
        // Statistics are those of whole files: pieces of one would count its rows several times.
        groups = files
            .split_groups(plan, &options, target_partitions)
            .map_err(external)?;
    }
    if groups.is_empty() {
        // A plan of no partitions at all cannot be sorted.
        groups = vec![FileGroup::new(Vec::new())];
        statistics = statistics.with_num_rows(Precision::Exact(0));
    }

    let mut options = state.table_options().parquet.clone();
    options.global = state.config_options().execution.parquet.clone();
    let known = (columns.all(), &statistics);
    let read = request.projection.map_or(table.arrow_schema().fields().len(), Vec::len);
    options.global.pushdown_filters |=
        tells_positions(table, &request) || keeps_few_rows(state, request.filters, known, read);
    let parquet = ParquetSource::new(columns.table_schema)
        .with_table_parquet_options(options)
        .with_parquet_file_reader_factory(readers);
    report::show(parquet.metrics(), &plan.metrics);
    let source = IcebergSource::new(parquet, Arc::new(context));
    // DataFusion forgets for a limit that order matters, and lets partitions take each other's files, unless these are said
    // to be where they must be.
    let ordered = files.order.is_some();
    let partitioning = ordered.then(|| Partitioning::UnknownPartitioning(groups.len()));
    // Any registered store will do: files are opened through the table's own.
    let config = FileScanConfigBuilder::new(ObjectStoreUrl::local_filesystem(), Arc::new(source))
        .with_file_groups(groups)
        .with_statistics(statistics)
        .with_output_ordering(files.order.into_iter().collect())
        .with_output_partitioning(partitioning)
        .with_projection_indices(projection)?
        .with_limit(request.limit)
        .build();
    Ok(DataSourceExec::from_data_source(config))
}

/// Whether positions are asked for, as changes of rows do: few rows are expected then, and their other columns are decoded
/// for these alone.
fn tells_positions(table: &IcebergTable, request: &ScanRequest<'_>) -> bool {
    let fields = table.arrow_schema().fields();
    let is_position = |at: usize| fields.get(at).is_some_and(|f| f.name() == MetadataColumn::Pos.name());
    request
        .projection
        .is_some_and(|projection| projection.iter().any(|at| is_position(*at)))
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
        check(task)?;
    }
    Ok(plan)
}

fn check(task: &FileScanTask) -> tarn_format::Result<()> {
    let refuse = |what: String| Err(Error::unsupported(what).with_context("file", task.path()));
    if !matches!(
        task.file_format(),
        FileFormat::Parquet | FileFormat::Avro | FileFormat::Orc
    ) {
        return refuse(format!(
            "reading {} data files is not supported yet",
            task.file_format()
        ));
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
    (deleted_rows, deletes): (DeletedRows, DeleteLoader),
) -> tarn_format::Result<ScanContext> {
    let metadata = &table.table().metadata;
    let mapping = match metadata.properties.get(DEFAULT_NAME_MAPPING) {
        None => NameMapping::of_schema(table.iceberg_schema()),
        Some(json) => NameMapping::from_json(json).context("property", DEFAULT_NAME_MAPPING)?,
    };
    let columns = table.metadata_columns().to_vec();
    let io = &table.table().io;
    let equality = EqualityDeletes::of(&plan.tasks, metadata, table.iceberg_schema(), io)?;
    let schema = equality.with_columns(table.iceberg_schema())?;
    Ok(ScanContext {
        readers,
        deletes,
        equality,
        deleted_rows,
        name_mapping: Arc::new(mapping),
        constants: ConstantColumns::new(Arc::clone(metadata), Arc::clone(&schema), columns),
        schema,
        state: Arc::new(ReadState {
            table: table.table().ident.to_string(),
            snapshot_id: plan.snapshot.as_ref().map(|s| s.snapshot_id),
        }),
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

/// Deleted rows are shown to a query that asks for `_deleted` (Java: `DeleteFilter.hasIsDeletedColumn`).
fn deleted_rows(table: &IcebergTable, request: &ScanRequest<'_>) -> DeletedRows {
    let shown = table.arrow_schema().fields();
    let is_mark = |name: &str| name == MetadataColumn::Deleted.name();
    let is_asked_for = match request.projection {
        None => table.metadata_columns().contains(&MetadataColumn::Deleted),
        Some(projection) => projection
            .iter()
            .filter_map(|i| shown.get(*i))
            .any(|f| is_mark(f.name())),
    };
    match is_asked_for {
        true => DeletedRows::Marked,
        false => DeletedRows::LeftOut,
    }
}

/// Positions tell which rows that are read are deleted.
fn positions(plan: &ScanPlan, deletes: &DeleteLoader) -> Positions {
    let by_position =
        |task: &FileScanTask| deletes.has_more(task) || task.deletes().iter().any(|d| d.kind() != DeleteKind::Equality);
    match plan.tasks.iter().any(by_position) {
        true => Positions::Needed,
        false => Positions::AsAskedFor,
    }
}

/// Makes DataFusion's files of Iceberg's.
struct Files<'a> {
    table: &'a IcebergTable,
    /// The columns that statistics are told of.
    columns: ArrowSchemaRef,
    deleted: DeletedRows,
    /// The order of rows in each.
    order: Option<LexOrdering>,
}

impl Files<'_> {
    fn groups(&self, plan: &ScanPlan, target_partitions: usize) -> Vec<FileGroup> {
        let mut files: Vec<PartitionedFile> = plan.tasks.iter().map(|task| self.file(task)).collect();
        if let Some(order) = &self.order {
            arrange(&mut files, order);
        }
        FileGroup::new(files).split_files(target_partitions)
    }

    /// Pieces of files, packed as was asked for, in at most as many groups as run at a time.
    fn split_groups(
        &self,
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
            group.extend(splits.into_iter().map(|split| self.piece(&split)));
        }
        Ok(groups.into_iter().map(FileGroup::new).collect())
    }

    fn piece(&self, split: &FileSplit) -> PartitionedFile {
        let file = self.file(&split.task);
        let end = split.start.saturating_add(split.length);
        match (i64::try_from(split.start), i64::try_from(end)) {
            (Ok(start), Ok(end)) => file.with_range(start, end),
            _ => file,
        }
    }

    fn file(&self, task: &FileScanTask) -> PartitionedFile {
        let size = u64::try_from(task.file_size_in_bytes()).unwrap_or(0);
        let mut statistics = file_statistics(task, &self.columns, self.table.iceberg_schema(), self.deleted);
        if self.table.read_options().answers == AnswersFrom::Data {
            statistics = Arc::new(Arc::unwrap_or_clone(statistics).to_inexact());
        }
        PartitionedFile::new(task.path(), size)
            .with_statistics(statistics)
            .with_extension(IcebergFile { task: task.clone() })
    }
}

#[cfg(test)]
mod tests;
