//! The columns of row groups, made ready one by one: read, and encoded where they change.

use std::ops::Range;
use std::sync::Arc;

use arrow::datatypes::Field;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryPool, MemoryReservation};
use parquet::arrow::arrow_writer::{ArrowColumnChunk, ArrowColumnWriter};
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::writer::SerializedRowGroupWriter;
use tarn_format::{Error, ErrorKind, Result, ResultExt};
use tokio::sync::Semaphore;

use super::super::float_metrics::FloatMetrics;
use super::super::parquet_file::{ParquetFiles, write_error};
use super::FilePatch;
use super::chunk::{ChunkPlace, CopiedChunk, bloom_filter_range, byte_range, copied, is_plain};
use super::column_bytes::ColumnBytes;
use super::encode::ColumnValues;
use super::floats::known;
use super::row_groups::GroupPlan;
use super::sink::Buffer;
use super::source::{PageIndexes, SourceFile};
use super::statistics::{MetricSource, NeededStatistics, suffice};
use crate::arrow::schema::field_id;
use crate::scan::MetadataColumn;

/// What all columns of a file have in common.
pub(super) struct FileJob {
    pub(super) files: Arc<ParquetFiles>,
    pub(super) needed: Arc<NeededStatistics>,
    pub(super) source: Arc<SourceFile>,
    pub(super) patch: Arc<FilePatch>,
    /// How many columns are worked on at a time, those of other files included.
    pub(super) permits: Arc<Semaphore>,
    pub(super) memory: Arc<dyn MemoryPool>,
}

/// One column of one row group.
#[derive(Debug, Clone)]
pub(super) struct ColumnPlace {
    pub(super) group: GroupPlan,
    /// Its index among the stored columns.
    pub(super) column: usize,
    /// Its leaves.
    pub(super) leaves: Range<usize>,
}

/// What is to be done for a column.
pub(super) struct ColumnJob {
    pub(super) place: ColumnPlace,
    /// Writers of the leaves; `None` where the column is copied.
    pub(super) writers: Option<Vec<ArrowColumnWriter>>,
}

/// A column that is ready.
pub(super) struct ReadyColumn {
    chunks: ReadyChunks,
    pub(super) floats: FloatMetrics,
    /// Memory that it holds.
    _memory: MemoryReservation,
}

enum ReadyChunks {
    Copied(Vec<CopiedChunk>),
    Encoded(Vec<ArrowColumnChunk>),
}

impl FileJob {
    /// Whether the column of a row group can be copied.
    pub(super) fn is_copied(&self, place: &ColumnPlace) -> bool {
        let (group, column) = (&place.group, place.column);
        if group.kept.is_some() || column >= self.source.columns {
            return false;
        }
        let is_lineage = MetadataColumn::LINEAGE
            .iter()
            .any(|c| Some(c.field_id()) == field_id(self.field(column)));
        if is_lineage && !group.updated.is_empty() {
            return false;
        }
        if !group.updated.is_empty() && self.patch.updated.column(column).is_some() {
            return false;
        }
        let created_by = self.source.footer.file_metadata().created_by();
        self.chunks(place).all(|chunk| {
            // What lineage leaves open is inherited from the commit: from the old one so far.
            let open = is_lineage && chunk.statistics().and_then(|s| s.null_count_opt()) != Some(0);
            !open && is_plain(chunk, self.source.size_bytes) && suffice(chunk, self.needed.of_chunk(chunk), created_by)
        })
    }

    fn field(&self, column: usize) -> &Field {
        self.files.stored.field(column)
    }

    fn chunks<'a>(&'a self, place: &ColumnPlace) -> impl Iterator<Item = &'a ColumnChunkMetaData> + use<'a> {
        let chunks = self.source.footer.row_group(place.group.at).columns();
        chunks.iter().skip(place.leaves.start).take(place.leaves.len())
    }

    /// Makes a column ready.
    ///
    /// # Errors
    /// Those of reading; `Corrupt` when the file is not what its footer says.
    pub(super) async fn run(self: Arc<Self>, job: ColumnJob) -> Result<ReadyColumn> {
        let permit = Arc::clone(&self.permits).acquire_owned().await;
        let _permit = permit.map_err(|e| Error::corrupt("columns are no longer worked on").with_source(e))?;
        let memory = MemoryConsumer::new("IcebergPatchedColumn").register(&self.memory);
        let location = self.source.task.path().to_string();
        let ready = match job.writers {
            Some(writers) => self.encoded(job.place, writers, memory).await,
            None => self.copied(job.place, memory).await,
        };
        ready.context("file", location)
    }

    async fn copied(&self, place: ColumnPlace, memory: MemoryReservation) -> Result<ReadyColumn> {
        let mut ranges = Vec::new();
        for chunk in self.chunks(&place) {
            ranges.extend(bloom_filter_range(chunk)?);
        }
        let filters = self.files.io.read_ranges(self.source.task.path(), &ranges).await?;
        let bytes = self.read(&place, &memory).await?;
        let mut filters = filters.into_iter();
        let mut chunks = Vec::new();
        for (leaf, (_, bytes)) in place.leaves.clone().zip(&bytes.chunks) {
            let group = place.group.at;
            let chunk = self.source.footer.row_group(group).column(leaf);
            let filter = bloom_filter_range(chunk)?.and_then(|_| filters.next());
            chunks.push(copied(&self.source, ChunkPlace { group, leaf }, bytes.clone(), filter)?);
        }
        Ok(ReadyColumn {
            chunks: ReadyChunks::Copied(chunks),
            floats: self.copied_floats(place, bytes).await?,
            _memory: memory,
        })
    }

    async fn copied_floats(&self, place: ColumnPlace, bytes: ColumnBytes) -> Result<FloatMetrics> {
        let mut floats = FloatMetrics::default();
        for chunk in self.chunks(&place) {
            if self.needed.of_chunk(chunk) != MetricSource::Values {
                continue;
            }
            let info = chunk.column_descr().self_type().get_basic_info();
            match known(chunk, &self.source.task) {
                Some(column) => floats.add(info.id(), column),
                None => return compute(move |values| values.floats(), self.values(place, Some(bytes))).await,
            }
        }
        Ok(floats)
    }

    async fn encoded(
        &self,
        place: ColumnPlace,
        writers: Vec<ArrowColumnWriter>,
        memory: MemoryReservation,
    ) -> Result<ReadyColumn> {
        let is_new = place.group.is_replaced() && self.patch.updated.column(place.column).is_some();
        let bytes = match place.column >= self.source.columns || is_new {
            true => None,
            false => Some(self.read(&place, &memory).await?),
        };
        if let Some(bytes) = &bytes {
            // What is encoded anew is about as large as what was read.
            memory.grow(bytes.chunks.iter().map(|(_, bytes)| bytes.len()).sum());
        }
        let encoded = compute(move |values| values.encode(writers), self.values(place, bytes)).await?;
        Ok(ReadyColumn {
            chunks: ReadyChunks::Encoded(encoded.chunks),
            floats: encoded.floats,
            _memory: memory,
        })
    }

    fn values(&self, place: ColumnPlace, bytes: Option<ColumnBytes>) -> ColumnValues {
        ColumnValues {
            source: Arc::clone(&self.source),
            patch: Arc::clone(&self.patch),
            field: Arc::clone(&self.files.stored.fields()[place.column]),
            group: place.group,
            column: place.column,
            bytes,
        }
    }

    async fn read(&self, place: &ColumnPlace, memory: &MemoryReservation) -> Result<ColumnBytes> {
        let file_size_bytes = self.source.size_bytes;
        let ranges: Option<Vec<_>> = self
            .chunks(place)
            .map(|chunk| byte_range(chunk, file_size_bytes))
            .collect();
        let ranges = ranges.ok_or_else(|| Error::corrupt("a column chunk lies outside of its file"))?;
        let total: u64 = ranges.iter().map(|r| r.end - r.start).sum();
        memory.grow(usize::try_from(total).unwrap_or(usize::MAX));
        let bytes = self.files.io.read_ranges(self.source.task.path(), &ranges).await?;
        Ok(ColumnBytes {
            chunks: ranges.iter().map(|r| r.start).zip(bytes).collect(),
            file_size_bytes,
        })
    }
}

/// Does what takes long where it holds up nothing else.
async fn compute<T: Send + 'static>(
    work: impl FnOnce(ColumnValues) -> Result<T> + Send + 'static,
    values: ColumnValues,
) -> Result<T> {
    let done = tokio::task::spawn_blocking(move || work(values)).await;
    done.map_err(|e| Error::new(ErrorKind::Io, "the encoding of a column was interrupted").with_source(e))?
}

impl ReadyColumn {
    /// Appends the column's chunks to a row group.
    pub(super) fn append_to(self, group: &mut SerializedRowGroupWriter<'_, Buffer>, source: &SourceFile) -> Result<()> {
        match self.chunks {
            ReadyChunks::Copied(chunks) => {
                for chunk in chunks {
                    let start = byte_range(&chunk.close.metadata, source.size_bytes).map_or(0, |r| r.start);
                    let bytes = ColumnBytes {
                        chunks: vec![(start, chunk.bytes)],
                        file_size_bytes: source.size_bytes,
                    };
                    group.append_column(&bytes, chunk.close).map_err(write_error)?;
                }
            }
            ReadyChunks::Encoded(chunks) => {
                for mut chunk in chunks {
                    if source.page_indexes == PageIndexes::Nowhere {
                        let close = chunk.close_mut();
                        (close.column_index, close.offset_index) = (None, None);
                    }
                    chunk.append_to_row_group(group).map_err(write_error)?;
                }
            }
        }
        Ok(())
    }
}
