//! Writes patched files: row group by row group and column by column, several columns at a time.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use arrow::array::RecordBatch;
use datafusion::execution::memory_pool::MemoryPool;
use futures::{Stream, StreamExt, stream};
use parquet::arrow::arrow_writer::{ArrowColumnWriter, ArrowRowGroupWriterFactory};
use parquet::file::metadata::ParquetMetaData;
use parquet::file::writer::SerializedFileWriter;
use tarn_format::io::FileWriter;
use tarn_format::io::file_names::DataFileNames;
use tarn_format::io::location_provider::LocationProvider;
use tarn_format::manifest::data_file::{DataContent, DataFile, FileFormat};
use tarn_format::scan::FileScanTask;
use tarn_format::spec::partition::PartitionSpec;
use tarn_format::spec::schema::{Schema, SchemaRef};
use tarn_format::spec::types::{FieldId, NestedField, StructType};
use tarn_format::{Error, Result, ResultExt};
use tokio::sync::Semaphore;

use super::super::conform::Conform;
use super::super::float_metrics::FloatMetrics;
use super::super::metrics::fill_in;
use super::super::parquet_file::{ParquetFiles, write_error};
use super::super::written_files::WrittenFiles;
use super::job::{ColumnJob, ColumnPlace, FileJob, ReadyColumn};
use super::row_groups::{GroupPlan, plan};
use super::sink::Buffer;
use super::statistics::NeededStatistics;
use super::{FilePatch, GivenColumns, PatchWork, PatchedFile, SourceFile, UpdatedRows};
use crate::arrow::schema::field_id;

/// Writes the patched files of one statement.
pub(crate) struct PatchWriter {
    pub(in crate::write) files: Arc<ParquetFiles>,
    pub(in crate::write) conform: Conform,
    pub(in crate::write) locations: LocationProvider,
    pub(in crate::write) spec: Arc<PartitionSpec>,
    pub(in crate::write) partition_type: StructType,
    pub(in crate::write) sort_order_id: i32,
    pub(in crate::write) written: Arc<WrittenFiles>,
    pub(in crate::write) names: DataFileNames,
    pub(in crate::write) memory: Arc<dyn MemoryPool>,
    /// Columns that are worked on at a time.
    pub(in crate::write) parallelism: usize,
}

impl PatchWriter {
    /// The file of a task, where it can be patched.
    ///
    /// # Errors
    /// As [`SourceFile::open`].
    pub(crate) async fn open(&self, task: &FileScanTask) -> Result<Option<SourceFile>> {
        SourceFile::open(task, &self.files).await
    }

    /// Rows that get other values: `rows` at these positions, ascending. Only the `changed` columns change, or all.
    ///
    /// # Errors
    /// `InvalidInput` for NULL where none may be.
    pub(crate) fn updated_rows(
        &self,
        positions: Vec<u64>,
        rows: &RecordBatch,
        changed: Option<&BTreeSet<FieldId>>,
        given: GivenColumns,
    ) -> Result<UpdatedRows> {
        let stored = match (given, changed) {
            (GivenColumns::Updated, Some(changed)) => Conform::new(self.columns(changed)?).batch(rows)?,
            _ => self.conform.batch(rows)?,
        };
        let new_values = |id: FieldId| {
            let fields = stored.schema_ref().fields();
            let at = fields.iter().position(|f| field_id(f) == Some(id))?;
            changed
                .is_none_or(|ids| ids.contains(&id))
                .then(|| Arc::clone(stored.column(at)))
        };
        let own = self.files.stored.fields().iter().take(self.files.own_columns());
        Ok(UpdatedRows {
            positions,
            columns: own.map(|field| new_values(field_id(field)?)).collect(),
        })
    }

    /// The schema of these columns alone.
    fn columns(&self, ids: &BTreeSet<FieldId>) -> Result<SchemaRef> {
        let schema = &self.files.schema;
        let fields = schema.fields().iter().filter(|f| ids.contains(&f.id));
        let fields = StructType::new(fields.map(|f| NestedField::clone(f)).collect());
        Ok(Arc::new(Schema::new(schema.schema_id(), fields, Vec::new())?))
    }

    /// Writes files, several at a time.
    ///
    /// # Errors
    /// Those of reading the old files and writing the new ones.
    pub(crate) async fn write_all(&self, files: Vec<(SourceFile, FilePatch)>) -> Result<Vec<PatchedFile>> {
        let permits = Arc::new(Semaphore::new(self.parallelism));
        let writes: Vec<_> = files
            .into_iter()
            .map(|(source, patch)| self.write(source, patch, Arc::clone(&permits)))
            .collect();
        let mut writes = stream::iter(writes).buffered(self.parallelism);
        let mut written = Vec::new();
        while let Some(file) = writes.next().await {
            written.extend(file?);
        }
        Ok(written)
    }

    /// Writes a file; `None` when no row is left.
    async fn write(
        &self,
        source: SourceFile,
        patch: FilePatch,
        permits: Arc<Semaphore>,
    ) -> Result<Option<PatchedFile>> {
        let groups = plan(&source, &patch);
        if groups.is_empty() {
            return Ok(None);
        }
        let partition = source.task.partition().clone();
        let path = self.spec.partition_to_path(&partition, &self.partition_type);
        let name = self.names.next_name(FileFormat::Parquet);
        let location = self.locations.new_data_location(&path, &name)?;
        self.written.add(&location);
        let job = Arc::new(FileJob {
            files: Arc::clone(&self.files),
            needed: Arc::new(NeededStatistics::new(&self.files)),
            source: Arc::new(source),
            patch: Arc::new(patch),
            permits,
            memory: Arc::clone(&self.memory),
        });
        let file = self.files.io.writer(&location)?;
        let written = NewFile::new(&job, self.parallelism, file)?.write(groups).await;
        let written = written.context("file", location.as_str())?;
        let mut data = DataFile::new(DataContent::Data, &location, FileFormat::Parquet);
        data.file_size_in_bytes = i64::try_from(written.size_bytes).unwrap_or(i64::MAX);
        let files = &self.files;
        fill_in(
            &mut data,
            &written.footer,
            &written.floats,
            &files.schema,
            &files.metrics,
        );
        data.spec_id = self.spec.spec_id;
        data.partition = partition;
        data.sort_order_id = Some(self.sort_order_id);
        Ok(Some(PatchedFile {
            file: data,
            work: written.work,
        }))
    }
}

/// A file that is complete.
struct WrittenFile {
    footer: ParquetMetaData,
    floats: FloatMetrics,
    work: PatchWork,
    size_bytes: u64,
}

/// A file under construction. Dropped, nothing of it is visible.
struct NewFile<'a> {
    job: &'a Arc<FileJob>,
    parallelism: usize,
    /// The leaves of each stored column.
    leaves: Vec<Range<usize>>,
    buffer: Buffer,
    writer: SerializedFileWriter<Buffer>,
    file: FileWriter,
}

impl<'a> NewFile<'a> {
    fn new(job: &'a Arc<FileJob>, parallelism: usize, file: FileWriter) -> Result<Self> {
        let buffer = Buffer::default();
        let writer = job.files.serialized(buffer.clone())?;
        Ok(NewFile {
            leaves: leaves_of_columns(&job.files),
            job,
            parallelism,
            buffer,
            writer,
            file,
        })
    }

    async fn write(mut self, groups: Vec<GroupPlan>) -> Result<WrittenFile> {
        let rows: u64 = groups.iter().map(|group| group.rows_kept).sum();
        let (mut floats, mut work) = (FloatMetrics::default(), self.work(&groups));
        let kept = groups.len();
        let mut columns = self.columns(groups);
        for _ in 0..kept {
            let mut group = self.writer.next_row_group().map_err(write_error)?;
            for _ in &self.leaves {
                let Some(column) = columns.next().await else {
                    return Err(Error::corrupt("a row group lacks a column"));
                };
                let mut column = column?;
                floats.merge(std::mem::take(&mut column.floats));
                column.append_to(&mut group, &self.job.source)?;
                self.buffer.drain_into(&mut self.file).await?;
            }
            group.close().map_err(write_error)?;
        }
        drop(columns);
        work.changed_row_groups += self.job.source.footer.num_row_groups() - kept;
        let footer = self.writer.finish().map_err(write_error)?;
        if u64::try_from(footer.file_metadata().num_rows()) != Ok(rows) {
            return Err(Error::corrupt(
                "the rows of the old file are not as many as its footer says",
            ));
        }
        self.buffer.drain_into(&mut self.file).await?;
        let size_bytes = self.file.finish().await?;
        Ok(WrittenFile {
            footer,
            floats,
            work,
            size_bytes,
        })
    }

    /// All columns in the order of the file, some of them in work while earlier ones are written.
    fn columns(&self, groups: Vec<GroupPlan>) -> impl Stream<Item = Result<ReadyColumn>> + Unpin + Send + use<> {
        let factory = ArrowRowGroupWriterFactory::new(&self.writer, Arc::clone(&self.job.files.stored));
        let (job, leaves) = (Arc::clone(self.job), self.leaves.clone());
        let jobs = groups.into_iter().enumerate().flat_map(move |(at, group)| {
            match column_jobs(&job, &leaves, &group, || factory.create_column_writers(at)) {
                Ok(jobs) => jobs.into_iter().map(Ok).collect(),
                Err(e) => vec![Err(e)],
            }
        });
        let job = Arc::clone(self.job);
        let ready = stream::iter(jobs).map(move |column| {
            let job = Arc::clone(&job);
            async move { job.run(column?).await }
        });
        ready.buffered(self.parallelism).boxed()
    }

    fn work(&self, groups: &[GroupPlan]) -> PatchWork {
        let mut work = PatchWork::default();
        for group in groups {
            match group.is_unchanged() {
                true => work.copied_row_groups += 1,
                false => work.changed_row_groups += 1,
            }
            for place in places(&self.leaves, group) {
                match self.job.is_copied(&place) {
                    true if group.is_unchanged() => {}
                    true => work.copied_chunks += place.leaves.len(),
                    false => work.encoded_chunks += place.leaves.len(),
                }
            }
        }
        work
    }
}

/// The columns of one row group.
fn column_jobs(
    job: &FileJob,
    leaves: &[Range<usize>],
    group: &GroupPlan,
    writers: impl FnOnce() -> parquet::errors::Result<Vec<ArrowColumnWriter>>,
) -> Result<Vec<ColumnJob>> {
    let places: Vec<(ColumnPlace, bool)> = places(leaves, group)
        .map(|place| {
            let copied = job.is_copied(&place);
            (place, copied)
        })
        .collect();
    let mut writers = match places.iter().all(|(_, copied)| *copied) {
        true => Vec::new(),
        false => writers().map_err(write_error)?,
    }
    .into_iter();
    let jobs = places.into_iter().map(|(place, copied)| {
        let own: Vec<ArrowColumnWriter> = writers.by_ref().take(place.leaves.len()).collect();
        ColumnJob {
            writers: (!copied).then_some(own),
            place,
        }
    });
    Ok(jobs.collect())
}

fn places(leaves: &[Range<usize>], group: &GroupPlan) -> impl Iterator<Item = ColumnPlace> {
    leaves.iter().enumerate().map(|(column, leaves)| ColumnPlace {
        group: group.clone(),
        column,
        leaves: leaves.clone(),
    })
}

fn leaves_of_columns(files: &ParquetFiles) -> Vec<Range<usize>> {
    let mut columns: Vec<Range<usize>> = Vec::new();
    for leaf in 0..files.parquet.num_columns() {
        match columns.get_mut(files.parquet.get_column_root_idx(leaf)) {
            Some(column) => column.end = leaf + 1,
            None => columns.push(leaf..leaf + 1),
        }
    }
    columns
}
