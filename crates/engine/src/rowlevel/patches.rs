//! Copy-on-write by patches: which of the touched files are taken apart, and what changes in them.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use datafusion::error::{DataFusionError, Result};
use datafusion::physical_plan::ExecutionPlan;
use futures::{StreamExt, TryStreamExt, stream};
use tarn_format::deletes::deletion_vector::DeletionVector;
use tarn_format::manifest::data_file::DataFile;
use tarn_format::scan::FileScanTask;
use tarn_format::spec::types::FieldId;

use super::changed_rows::{ChangedRows, RowsByFile};
use super::copy_on_write::{WAITING_ROWS_BYTES, is_gone};
use super::gather::{Gathered, gather};
use super::options::Patching;
use super::placed_rows::{PlacedRows, RowsInPlace};
use super::split::Split;
use super::statement::{Prepared, Statement};
use super::target::LEADING_COLUMNS;
use crate::external;
use crate::write::patch::{FilePatch, GivenColumns, PatchWork, PatchWriter, SourceFile, UpdatedRows};
use crate::write::statement_write::StatementWrite;

/// Files below this size are small: where there are several, or new rows, they become one.
const SMALL_FILE_BYTES: i64 = 1 << 20;

/// Footers that are read ahead.
const OPEN_AHEAD: usize = 8;

/// What was patched.
#[derive(Debug, Default)]
pub(super) struct Patched {
    pub(super) files: Vec<DataFile>,
    pub(super) work: PatchWork,
    /// The files in whose place they are.
    pub(super) of: HashSet<Arc<str>>,
}

/// What is written beside patched files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OtherRows {
    /// Rows that small files could be written with.
    Some,
    None,
}

impl Statement<'_> {
    /// Whether updated rows may stay in their files: neither partition nor sort order of a row can change.
    pub(super) fn updates_in_place(&self) -> bool {
        let metadata = &self.target.write.table.metadata;
        let schema = metadata.current_schema();
        let partition = metadata.default_spec().fields.iter().flat_map(|f| &f.source_ids);
        let order = metadata.default_sort_order().fields.iter().flat_map(|f| &f.source_ids);
        let column_of = |id: FieldId| {
            let parents = std::iter::successors(Some(id), |id| schema.parent_id(*id));
            parents.last().unwrap_or(id)
        };
        let mut decisive = partition.chain(order).map(|id| column_of(*id));
        match &self.target.updated_columns {
            None => decisive.next().is_none(),
            Some(updated) => decisive.all(|column| !updated.contains(&column)),
        }
    }

    /// Patches touched files where that can be and pays. Rows that find their places in them are taken.
    ///
    /// # Errors
    /// Those of reading the old files and writing the new ones; `InvalidInput` for NULL where none may be.
    pub(super) async fn patch(
        &self,
        write: &StatementWrite,
        touched: &[FileScanTask],
        gone: &RowsByFile,
        rows: &mut PlacedRows,
        others: OtherRows,
    ) -> Result<Patched> {
        let chosen = self.chosen(touched, |task| has_rows(task, gone, rows), others);
        match self.open(write, chosen).await? {
            Some((writer, sources)) => {
                self.write_patches(&writer, sources, gone, rows, GivenColumns::All)
                    .await
            }
            None => Ok(Patched::default()),
        }
    }

    /// Updates rows by their new values alone: in their places where files can be patched, in files that are written anew
    /// as a whole otherwise. `None`, and nothing written, where there are more new values than are kept in memory, or none.
    ///
    /// # Errors
    /// As [`Self::patch`], and those of the plan.
    pub(super) async fn update(
        &self,
        write: &StatementWrite,
        updates: &Arc<dyn ExecutionPlan>,
    ) -> Result<Option<Prepared>> {
        let table = &self.target.write.table_name();
        if updates.schema().fields().len() <= LEADING_COLUMNS {
            return Ok(None);
        }
        let changed = Arc::new(ChangedRows::new(self.target.statement));
        let split = Split::of_updates(&updates.schema(), self.target, Arc::clone(&changed));
        let gathered = gather(self.streams(updates, &split)?, WAITING_ROWS_BYTES).await?;
        let Gathered::All(batches) = gathered else {
            return Ok(None);
        };
        let mut rows = PlacedRows::new(batches)?;
        let (gone, counts) = changed.take();
        let mut touched = self.touched(&gone).await.of_table(table)?;
        let base = touched.snapshot.as_ref().map(|s| s.snapshot_id);
        let removed: Vec<Arc<DataFile>> = touched.tasks.iter().map(|t| Arc::new(t.data_file())).collect();
        let chosen = match self.updates_in_place() {
            true => self.chosen(&touched.tasks, |_| true, OtherRows::None),
            false => Vec::new(),
        };
        let patched = match self.open(write, chosen).await? {
            Some((writer, sources)) => {
                self.write_patches(&writer, sources, &gone, &mut rows, GivenColumns::Updated)
                    .await?
            }
            None => Patched::default(),
        };
        let mut files = patched.files;
        touched.tasks.retain(|task| !patched.of.contains(task.path()));
        if !touched.tasks.is_empty() {
            let updated = self.updated_rows(&touched, &mut rows)?;
            files.extend(self.write(write, updated).await?);
        }
        if rows.has_placed_rows() {
            let message = "updated rows belong into none of the files that were read";
            return Err(DataFusionError::Internal(message.to_string()));
        }
        Ok(Some(Prepared {
            change: (!removed.is_empty()).then(|| self.overwrite(files, removed, base)),
            counts,
            work: patched.work,
        }))
    }

    /// The files among these that can be patched, and what patches them; `None` where no file can.
    async fn open(
        &self,
        write: &StatementWrite,
        chosen: Vec<&FileScanTask>,
    ) -> Result<Option<(PatchWriter, Vec<SourceFile>)>> {
        let table = &self.target.write.table_name();
        if chosen.is_empty() {
            return Ok(None);
        }
        let Some(writer) = write.patch_writer(self.context).of_table(table)? else {
            return Ok(None);
        };
        let mut opening = Vec::new();
        for task in chosen {
            opening.push(writer.open(task));
        }
        let opened = stream::iter(opening).buffered(OPEN_AHEAD);
        let opened: Vec<Option<SourceFile>> = opened.try_collect().await.of_table(table)?;
        Ok(Some((writer, opened.into_iter().flatten().collect())))
    }

    async fn write_patches(
        &self,
        writer: &PatchWriter,
        sources: Vec<SourceFile>,
        gone: &RowsByFile,
        rows: &mut PlacedRows,
        given: GivenColumns,
    ) -> Result<Patched> {
        let table = &self.target.write.table_name();
        let mut patched = Patched::default();
        let mut patches = Vec::new();
        for source in sources {
            let path: Arc<str> = Arc::from(source.path());
            let updated = match rows.take(&path)? {
                None => UpdatedRows::default(),
                Some(RowsInPlace { positions, rows }) => {
                    let changed = self.target.updated_columns.as_ref();
                    let rows = writer.updated_rows(positions, &rows, changed, given);
                    rows.of_table(table)?
                }
            };
            let removed = match gone.get(&path) {
                None => DeletionVector::new(),
                Some(gone) => without(gone, &updated.positions).of_table(table)?,
            };
            patched.of.insert(path);
            patches.push((source, FilePatch { removed, updated }));
        }
        for file in writer.write_all(patches).await.of_table(table)? {
            patched.work.add(file.work);
            patched.files.push(file.file);
        }
        Ok(patched)
    }

    /// The files with rows that are to be patched.
    fn chosen<'t>(
        &self,
        touched: &'t [FileScanTask],
        has_rows: impl Fn(&FileScanTask) -> bool,
        others: OtherRows,
    ) -> Vec<&'t FileScanTask> {
        let fitting = touched.iter().filter(|task| has_rows(task) && self.keeps_layout(task));
        let mut chosen: Vec<_> = fitting.collect();
        match self.target.options.patching {
            Patching::Never => chosen.clear(),
            Patching::Always => {}
            Patching::WhereUseful => {
                let mut small: HashMap<String, usize> = HashMap::new();
                for task in chosen.iter().filter(|task| is_small(task)) {
                    *small.entry(self.partition_of(task)).or_default() += 1;
                }
                let is_alone = |task: &FileScanTask| small.get(&self.partition_of(task)) == Some(&1);
                chosen.retain(|task| !is_small(task) || (others == OtherRows::None && is_alone(task)));
            }
        }
        chosen
    }

    /// The partition of a file of the current spec, as paths spell it.
    fn partition_of(&self, task: &FileScanTask) -> String {
        let metadata = &self.target.write.table.metadata;
        let spec = metadata.default_spec();
        let types = spec.partition_type(metadata.current_schema());
        spec.partition_to_path(task.partition(), &types)
    }

    /// Whether the file's rows stay in its partition, and in its order as far as there is one.
    fn keeps_layout(&self, task: &FileScanTask) -> bool {
        let metadata = &self.target.write.table.metadata;
        let order = metadata.default_sort_order();
        let is_sorted = order.fields.is_empty() || task.sort_order_id() == Some(order.order_id);
        task.spec_id() == metadata.default_spec().spec_id && is_sorted
    }
}

/// Whether rows of the file are left, or come into it.
fn has_rows(task: &FileScanTask, gone: &RowsByFile, rows: &PlacedRows) -> bool {
    !is_gone(task, gone) || rows.has_rows_of(task.path())
}

fn is_small(task: &FileScanTask) -> bool {
    task.file_size_in_bytes() < SMALL_FILE_BYTES
}

/// Rows that go and are not updated instead.
fn without(gone: &DeletionVector, updated: &[u64]) -> tarn_format::Result<DeletionVector> {
    let mut updated = updated.iter().copied().peekable();
    let goes = |position: &u64| {
        while updated.next_if(|u| u < position).is_some() {}
        updated.peek() != Some(position)
    };
    DeletionVector::from_positions(gone.iter().filter(goes))
}

/// Errors of ours that tell the table.
trait OfTable<T> {
    fn of_table(self, table: &str) -> Result<T>;
}

impl<T> OfTable<T> for tarn_format::Result<T> {
    fn of_table(self, table: &str) -> Result<T> {
        self.map_err(|e| external(e.with_context("table", table)))
    }
}
