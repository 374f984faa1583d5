//! Copy-on-write: files with changed rows are written again without them (Java: `SparkWrite.CopyOnWriteOperation`).

use std::sync::Arc;

use datafusion::error::Result;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::union::UnionExec;
use tarn_format::ResultExt;
use tarn_format::commit::Change;
use tarn_format::commit::overwrite::OverwriteFiles;
use tarn_format::manifest::data_file::DataFile;
use tarn_format::scan::{FileScanTask, ScanPlan};

use super::changed_rows::RowsByFile;
use super::gather::{Gathered, gather, plan_of};
use super::options::IsolationLevel;
use super::patches::OtherRows;
use super::placed_rows::{PlacedRows, stream_without_places, without_places};
use super::split::Places;
use super::statement::{Prepared, Statement, in_memory};
use crate::deletes::DeleteLoader;
use crate::external;
use crate::scan::plan::{ScanRequest, scan_planned};
use crate::scan::{AnswersFrom, MetadataColumn, ReadOptions};
use crate::write::row_lineage::RowLineage;
use crate::write::statement_write::StatementWrite;

/// New rows up to this many bytes wait for the rows that are kept, so that both come into the same files.
pub(super) const WAITING_ROWS_BYTES: usize = 64 << 20;

impl Statement<'_> {
    /// Writes the touched files again, updated rows in their places where those may stay there, and all other new rows.
    pub(super) async fn copy_on_write(&self, write: &StatementWrite) -> Result<Prepared> {
        if let Some(updates) = &self.target.updates
            && let Some(prepared) = Box::pin(self.update(write, updates)).await?
        {
            return Ok(prepared);
        }
        let (streams, split, changed) = self.split(Places::Told)?;
        let mut files = Vec::new();
        let mut rows = match gather(streams, WAITING_ROWS_BYTES).await? {
            Gathered::All(batches) if self.updates_in_place() => PlacedRows::new(batches)?,
            Gathered::All(batches) => PlacedRows::anywhere(batches)?,
            Gathered::More(streams) => {
                let schema = without_places(split.rows_schema())?;
                let streams: Result<Vec<_>> = streams.into_iter().map(stream_without_places).collect();
                files.extend(self.write(write, plan_of(&schema, streams?)?).await?);
                PlacedRows::default()
            }
        };
        let (gone, counts) = changed.take();
        let touched = self.touched(&gone).await;
        let mut touched = touched
            .context("table", self.target.write.table_name())
            .map_err(external)?;
        let base = touched.snapshot.as_ref().map(|s| s.snapshot_id);
        let removed: Vec<Arc<DataFile>> = touched.tasks.iter().map(|t| Arc::new(t.data_file())).collect();
        let others = match files.is_empty() && !rows.has_new_rows() {
            true => OtherRows::None,
            false => OtherRows::Some,
        };
        let patched = self.patch(write, &touched.tasks, &gone, &mut rows, others).await?;
        let is_done = |task: &FileScanTask| patched.of.contains(task.path());
        touched.tasks.retain(|task| !is_done(task) && !is_gone(task, &gone));
        files.extend(patched.files);
        let kept = match touched.tasks.is_empty() {
            true => None,
            false => Some(self.kept_rows(&touched, gone)?),
        };
        for plan in together(in_memory(rows.rest()?)?, kept)? {
            files.extend(self.write(write, plan).await?);
        }
        let change = match removed.is_empty() {
            true => self.added(files, base),
            false => Some(self.overwrite(files, removed, base)),
        };
        Ok(Prepared {
            change,
            counts,
            work: patched.work,
        })
    }

    /// The rows of files that do not change.
    fn kept_rows(&self, touched: &ScanPlan, gone: RowsByFile) -> Result<Arc<dyn ExecutionPlan>> {
        let lineage: &[MetadataColumn] = match self.target.lineage() {
            RowLineage::Stored => &MetadataColumn::LINEAGE,
            RowLineage::Assigned => &[],
        };
        self.rows_of_files(touched, lineage, gone)
    }

    /// All columns of files, these metadata columns behind them, without the rows that are deleted and those that are `gone`.
    pub(super) fn rows_of_files(
        &self,
        files: &ScanPlan,
        metadata_columns: &[MetadataColumn],
        gone: RowsByFile,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        // What metadata tells of whole files does not hold of what is left of them.
        let from_data = ReadOptions {
            answers: AnswersFrom::Data,
            ..ReadOptions::default()
        };
        let read = self.target.read.clone().with_read_options(from_data);
        let read = read.map_err(external)?.with_metadata_columns(metadata_columns);
        let deletes = DeleteLoader::new(read.table().io.clone(), read.caches()).with_more(gone);
        let request = ScanRequest {
            projection: None,
            filters: &[],
            limit: None,
        };
        scan_planned(&read, self.state, files, request, deletes)
    }

    pub(super) fn overwrite(&self, added: Vec<DataFile>, removed: Vec<Arc<DataFile>>, base: Option<i64>) -> Change {
        let overwrite = OverwriteFiles::new()
            .from_snapshot(base)
            .conflict_filter(self.target.conflict_filter.clone())
            .validate_no_conflicting_deletes();
        let overwrite = removed.into_iter().fold(overwrite, OverwriteFiles::remove_file);
        let overwrite = added
            .into_iter()
            .map(Arc::new)
            .fold(overwrite, OverwriteFiles::add_file);
        match self.target.options.isolation {
            IsolationLevel::Serializable => overwrite.validate_no_conflicting_data().build(),
            IsolationLevel::Snapshot => overwrite.build(),
        }
    }
}

/// Whether no row of a file is left. Where that is not known, the file is read.
pub(super) fn is_gone(task: &FileScanTask, gone: &RowsByFile) -> bool {
    let changed = gone.get(task.path()).map(|rows| rows.cardinality());
    changed.is_some() && task.live_record_count() == changed
}

/// One plan for new and kept rows, where their columns have the same types; else one for each.
fn together(
    waiting: Option<Arc<dyn ExecutionPlan>>,
    kept: Option<Arc<dyn ExecutionPlan>>,
) -> Result<Vec<Arc<dyn ExecutionPlan>>> {
    let (Some(waiting), Some(kept)) = (&waiting, &kept) else {
        return Ok(waiting.into_iter().chain(kept).collect());
    };
    let (new, old) = (waiting.schema(), kept.schema());
    let same = new.fields().len() == old.fields().len()
        && new
            .fields()
            .iter()
            .zip(old.fields())
            .all(|(a, b)| a.data_type() == b.data_type());
    let both = vec![Arc::clone(kept), Arc::clone(waiting)];
    match same {
        true => Ok(vec![UnionExec::try_new(both)?]),
        false => Ok(both),
    }
}
