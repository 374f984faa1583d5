//! Merge-on-read: files with changed rows stay, and which of their rows are deleted is written beside them (Java:
//! `SparkPositionDeltaWrite`).

use std::collections::BTreeMap;
use std::sync::Arc;

use datafusion::error::Result;
use tarn_format::ResultExt;
use tarn_format::commit::Change;
use tarn_format::commit::row_delta::RowDelta;
use tarn_format::deletes::deletion_vector_writer::DeletionVectorWriter;
use tarn_format::deletes::{DeleteKind, DeleteTask};
use tarn_format::io::file_names::DataFileNames;
use tarn_format::io::location_provider::LocationProvider;
use tarn_format::manifest::data_file::{DataFile, FileFormat, PartitionTuple};
use tarn_format::scan::FileScanTask;
use tarn_format::spec::table_metadata::FormatVersion;
use tarn_format::{Error, Result as FormatResult};
use uuid::Uuid;

use super::changed_rows::RowsByFile;
use super::gather::{gather, plan_of};
use super::options::{DeleteGranularity, IsolationLevel};
use super::split::Places;
use super::statement::{Prepared, Statement};
use crate::deletes::DeleteLoader;
use crate::external;
use crate::write::patch::PatchWork;
use crate::write::position_deletes::PositionDeleteWriter;
use crate::write::statement_write::StatementWrite;

/// Delete files of a statement.
#[derive(Debug, Default)]
struct Deletes {
    added: Vec<DataFile>,
    /// Earlier ones whose positions the added ones hold.
    replaced: Vec<DataFile>,
}

impl Statement<'_> {
    /// Writes new rows, and which rows are deleted.
    pub(super) async fn merge_on_read(&self, write: &StatementWrite) -> Result<Prepared> {
        let (streams, split, changed) = self.split(Places::Dropped)?;
        let files = match self.is_delete() {
            true => {
                // There are no new rows: reading is all.
                gather(streams, usize::MAX).await?;
                Vec::new()
            }
            false => self.write(write, plan_of(split.rows_schema(), streams)?).await?,
        };
        let (gone, counts) = changed.take();
        let change = self.delta(write, files, gone).await;
        let change = change
            .context("table", self.target.write.table_name())
            .map_err(external)?;
        Ok(Prepared {
            change,
            counts,
            work: PatchWork::default(),
        })
    }

    async fn delta(
        &self,
        write: &StatementWrite,
        files: Vec<DataFile>,
        gone: RowsByFile,
    ) -> FormatResult<Option<Change>> {
        let touched = self.touched(&gone).await?;
        let base = touched.snapshot.as_ref().map(|s| s.snapshot_id);
        if gone.is_empty() {
            return Ok(self.added(files, base));
        }
        let referenced: Vec<Arc<str>> = gone.keys().cloned().collect();
        let deletes = match self.target.write.table.metadata.format_version {
            FormatVersion::V3 => self.deletion_vectors(write, &touched.tasks, &gone).await?,
            _ => self.position_deletes(write, &touched.tasks, gone).await?,
        };
        let mut delta = RowDelta::new()
            .from_snapshot(base)
            .conflict_filter(self.target.conflict_filter.clone())
            .validate_data_files_exist(referenced);
        delta = files.into_iter().map(Arc::new).fold(delta, RowDelta::add_rows);
        delta = deletes
            .added
            .into_iter()
            .map(Arc::new)
            .fold(delta, RowDelta::add_deletes);
        delta = deletes
            .replaced
            .into_iter()
            .map(Arc::new)
            .fold(delta, RowDelta::remove_deletes);
        if !self.is_delete() {
            delta = delta.validate_deleted_files().validate_no_conflicting_deletes();
        }
        if self.target.options.isolation == IsolationLevel::Serializable {
            delta = delta.validate_no_conflicting_data();
        }
        Ok(Some(delta.build()))
    }

    /// One deletion vector for each file, with what was deleted before.
    async fn deletion_vectors(
        &self,
        write: &StatementWrite,
        touched: &[FileScanTask],
        gone: &RowsByFile,
    ) -> FormatResult<Deletes> {
        let table = &self.target.write.table;
        let names = DataFileNames::new(0, 0, Uuid::new_v4().to_string()).with_suffix("deletes");
        let locations = LocationProvider::for_table(&table.metadata)?;
        let location = locations.new_data_location("", &names.next_name(FileFormat::Puffin))?;
        write.begin(&location);
        let mut writer = DeletionVectorWriter::new(&table.io, location);
        let loader = self.loader();
        let mut replaced = Vec::new();
        for task in touched {
            let data_file = task.data_file();
            if let Some(rows) = gone.get(task.path()) {
                writer.merge_positions(&data_file, rows, None);
            }
            if let Some(earlier) = loader.deleted_positions(task).await? {
                writer.merge_positions(&data_file, &earlier, None);
            }
            let earlier = task.deletes().iter().filter(|d| match d.kind() {
                DeleteKind::DeletionVector => true,
                DeleteKind::Position => is_of_one_file(d, task),
                DeleteKind::Equality => false,
            });
            replaced.extend(earlier.map(DeleteTask::data_file));
        }
        let written = writer.finish().await?;
        Ok(Deletes {
            added: written.added,
            replaced,
        })
    }

    /// Files of position deletes, one for each data file or each partition.
    async fn position_deletes(
        &self,
        write: &StatementWrite,
        touched: &[FileScanTask],
        mut gone: RowsByFile,
    ) -> FormatResult<Deletes> {
        let granularity = self.target.options.granularity;
        let loader = self.loader();
        let mut deletes = Deletes::default();
        let mut groups: Vec<Group> = Vec::new();
        for task in touched {
            // A path that is listed twice is one file.
            let Some(mut rows) = gone.remove(task.path()) else {
                continue;
            };
            if granularity == DeleteGranularity::File {
                for earlier in task.deletes().iter().filter(|d| is_of_one_file(d, task)) {
                    rows.union_with(&loader.positions_of(task, earlier).await?);
                    deletes.replaced.push(earlier.data_file());
                }
            }
            let key = (task.spec_id(), task.partition());
            let same = |g: &&mut Group| granularity == DeleteGranularity::Partition && (g.spec_id, &g.partition) == key;
            match groups.iter_mut().find(same) {
                Some(group) => drop(group.rows.insert(Arc::from(task.path()), rows)),
                None => groups.push(Group {
                    spec_id: task.spec_id(),
                    partition: task.partition().clone(),
                    rows: BTreeMap::from([(Arc::from(task.path()), rows)]),
                }),
            }
        }
        let writer = PositionDeleteWriter::new(&self.target.write, write)?;
        for group in groups {
            let spec = self.target.write.table.metadata.spec_by_id(group.spec_id);
            let spec = spec.ok_or_else(|| Error::corrupt(format!("the table has no spec {}", group.spec_id)))?;
            deletes
                .added
                .push(writer.write(spec, &group.partition, &group.rows).await?);
        }
        Ok(deletes)
    }

    fn loader(&self) -> DeleteLoader {
        let read = &self.target.read;
        DeleteLoader::new(read.table().io.clone(), read.caches())
    }
}

/// Rows that one file of position deletes is for.
struct Group {
    spec_id: i32,
    partition: PartitionTuple,
    rows: RowsByFile,
}

/// Whether position deletes are those of this data file alone (Java: `ContentFileUtil.isFileScoped`).
fn is_of_one_file(delete: &DeleteTask, task: &FileScanTask) -> bool {
    delete.kind() == DeleteKind::Position && delete.referenced_data_file() == Some(task.path())
}
