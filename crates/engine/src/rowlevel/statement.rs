//! One execution of a statement that changes rows: what both modes share.

use std::collections::HashSet;
use std::sync::Arc;

use arrow::array::RecordBatch;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::{SendableRecordBatchStream, SessionState, TaskContext};
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties};
use tarn_format::commit::Change;
use tarn_format::commit::overwrite::OverwriteFiles;
use tarn_format::expr::Predicate;
use tarn_format::manifest::data_file::DataFile;
use tarn_format::scan::{FileScanTask, ScanPlan, ScanSetup, Statistics, TableScan};
use tarn_format::spec::schema::Schema;
use tarn_format::spec::types::{FieldId, PrimitiveType, Type};
use tarn_format::{Error, ResultExt};

use super::changed_rows::{ChangedRows, RowCounts, RowsByFile};
use super::options::{IsolationLevel, RowLevelMode};
use super::report::RowChangeReport;
use super::split::{Places, Split};
use super::target::{RowStatement, RowTarget};
use crate::external;
use crate::write::append::arrange;
use crate::write::layout::Layout;
use crate::write::patch::PatchWork;
use crate::write::statement_write::StatementWrite;

/// One execution.
#[derive(Clone, Copy)]
pub(super) struct Statement<'a> {
    pub(super) input: &'a Arc<dyn ExecutionPlan>,
    pub(super) target: &'a RowTarget,
    pub(super) state: &'a SessionState,
    pub(super) context: &'a Arc<TaskContext>,
}

/// What is to be committed.
pub(super) struct Prepared {
    /// `None` when nothing changes.
    pub(super) change: Option<Change>,
    pub(super) counts: RowCounts,
    pub(super) work: PatchWork,
}

impl Statement<'_> {
    /// Changes the rows and commits.
    ///
    /// # Errors
    /// Those of the input, of writing and of the commit. Nothing has happened then, unless the commit's outcome is unknown.
    pub(super) async fn run(self) -> Result<RowChangeReport> {
        let table = self.target.write.table_name();
        let write = StatementWrite::new(Arc::new(self.target.write.clone())).with_lineage(self.target.lineage());
        let prepared = match self.target.options.mode {
            RowLevelMode::CopyOnWrite => self.copy_on_write(&write).await,
            RowLevelMode::MergeOnRead => self.merge_on_read(&write).await,
        };
        let prepared = match prepared {
            Ok(prepared) => prepared,
            Err(e) => {
                write.delete().await;
                return Err(e);
            }
        };
        let mut report = RowChangeReport {
            deleted_rows: prepared.counts.deleted,
            updated_rows: prepared.counts.updated,
            inserted_rows: prepared.counts.inserted,
            copied_row_groups: prepared.work.copied_row_groups,
            copied_chunks: prepared.work.copied_chunks,
            encoded_chunks: prepared.work.encoded_chunks,
            ..RowChangeReport::default()
        };
        let Some(change) = prepared.change else {
            return Ok(report);
        };
        let size = |file: &Arc<DataFile>| file.file_size_in_bytes.unsigned_abs();
        let deletes = &change.added.deletes;
        report.added_files = change.added.data.len();
        report.removed_files = change.removed.data.len();
        report.added_delete_files = deletes.len();
        report.bytes = change.added.data.iter().map(size).sum::<u64>() + delete_bytes(deletes.iter().map(|d| &d.file));
        let outcome = write.commit(change).await.context("table", table).map_err(external)?;
        report.snapshot_id = outcome.snapshot_ids.last().copied();
        report.attempts = outcome.attempts;
        Ok(report)
    }

    /// The streams of new rows; changed rows of files are taken down while they are read.
    pub(super) fn split(&self, places: Places) -> Result<(Vec<SendableRecordBatchStream>, Split, Arc<ChangedRows>)> {
        let changed = Arc::new(ChangedRows::new(self.target.statement));
        let split = Split::new(&self.input.schema(), self.target, Arc::clone(&changed), places);
        Ok((self.streams(self.input, &split)?, split, changed))
    }

    pub(super) fn streams(
        &self,
        input: &Arc<dyn ExecutionPlan>,
        split: &Split,
    ) -> Result<Vec<SendableRecordBatchStream>> {
        let partitions = input.output_partitioning().partition_count();
        let streams = (0..partitions).map(|p| Ok(split.stream(input.execute(p, Arc::clone(self.context))?)));
        streams.collect()
    }

    /// Writes the rows of a plan in the table's layout.
    pub(super) async fn write(&self, write: &StatementWrite, plan: Arc<dyn ExecutionPlan>) -> Result<Vec<DataFile>> {
        let target = &self.target.write;
        let layout = Layout::new(&target.table.metadata, &target.options, &plan.schema());
        let layout = layout.context("table", target.table_name()).map_err(external)?;
        let plan = arrange(plan, &layout)?;
        write.write(&plan, &layout, self.context).await
    }

    /// The files of the scanned state whose rows change, with all their deletes. They are looked for where the statement
    /// may have read them.
    ///
    /// # Errors
    /// Those of reading manifests; `Corrupt` when a file is not there.
    pub(super) async fn touched(&self, changed: &RowsByFile) -> tarn_format::Result<ScanPlan> {
        let scan = self.scan(match changed.is_empty() {
            true => Predicate::AlwaysFalse,
            false => self.target.conflict_filter.clone(),
        });
        let plan = scan.only_files(changed.keys().cloned()).plan().await?;
        let found: HashSet<&str> = plan.tasks.iter().map(FileScanTask::path).collect();
        if let Some(missing) = changed.keys().find(|path| !found.contains(path.as_ref())) {
            return Err(
                Error::corrupt("rows were read from a file that the table does not have")
                    .with_context("file", missing.as_ref()),
            );
        }
        Ok(plan)
    }

    /// A scan of the state that the statement reads.
    pub(super) fn scan(&self, filter: Predicate) -> TableScan {
        let read = &self.target.read;
        let (table, caches) = (read.table(), read.caches());
        let metadata = Arc::clone(&table.metadata);
        let setup = ScanSetup::new(metadata, table.io.clone(), caches.manifests.clone())
            .statistics(Statistics::Of(floating_columns(read.iceberg_schema())))
            .delete_indexes(caches.delete_indexes.clone())
            .filter(filter);
        TableScan::new(setup).snapshot(read.selector().clone())
    }

    /// A change that adds files only: an append that, where isolation is serializable, fails when others added rows which
    /// the statement would have seen. `None` without files.
    pub(super) fn added(&self, files: Vec<DataFile>, base: Option<i64>) -> Option<Change> {
        if files.is_empty() {
            return None;
        }
        let overwrite = OverwriteFiles::new()
            .from_snapshot(base)
            .conflict_filter(self.target.conflict_filter.clone());
        let overwrite = files
            .into_iter()
            .map(Arc::new)
            .fold(overwrite, OverwriteFiles::add_file);
        Some(match self.target.options.isolation {
            IsolationLevel::Serializable => overwrite.validate_no_conflicting_data().build(),
            IsolationLevel::Snapshot => overwrite.build(),
        })
    }

    /// Whether the statement only removes rows.
    pub(super) fn is_delete(&self) -> bool {
        self.target.statement == RowStatement::Delete
    }
}

/// Columns whose NaN only the table's metadata counts.
fn floating_columns(schema: &Schema) -> Vec<FieldId> {
    let floating = |id: &FieldId| {
        let field = schema.field_by_id(*id);
        field.is_some_and(|f| {
            matches!(
                f.field_type,
                Type::Primitive(PrimitiveType::Float | PrimitiveType::Double)
            )
        })
    };
    schema.field_ids().filter(floating).collect()
}

/// Bytes of delete files, of which deletion vectors share some.
fn delete_bytes<'a>(files: impl Iterator<Item = &'a Arc<DataFile>>) -> u64 {
    let sizes = files.map(|f| (Arc::clone(&f.file_path), f.file_size_in_bytes.unsigned_abs()));
    sizes.collect::<std::collections::BTreeMap<_, _>>().into_values().sum()
}

/// Rows of batches as a plan.
pub(super) fn in_memory(batches: Vec<RecordBatch>) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    use datafusion::datasource::memory::MemorySourceConfig;
    let Some(schema) = batches.first().map(RecordBatch::schema) else {
        return Ok(None);
    };
    let plan: Arc<dyn ExecutionPlan> = MemorySourceConfig::try_new_exec(&[batches], schema, None)
        .map_err(|e| DataFusionError::Context("new rows".to_string(), Box::new(e)))?;
    Ok(Some(plan))
}
