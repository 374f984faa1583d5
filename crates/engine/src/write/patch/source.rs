//! A Parquet file of which parts are copied: its footer, and whether it stores what the table's files store now.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use futures::FutureExt;
use futures::future::BoxFuture;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use parquet::arrow::async_reader::MetadataFetch;
use parquet::basic::ColumnOrder;
use parquet::file::metadata::{
    PageIndexPolicy, ParquetMetaData, ParquetMetaDataOptions, ParquetMetaDataReader, RowGroupMetaData,
};
use parquet::schema::types::SchemaDescriptor;
use tarn_format::io::FileIo;
use tarn_format::manifest::data_file::FileFormat;
use tarn_format::scan::FileScanTask;
use tarn_format::{Result, ResultExt};

use super::super::parquet_file::{ParquetFiles, io_error};
use super::column_bytes::read_error;

/// Bytes that the first read of a footer takes: enough for footer and page indexes of most files.
const FOOTER_BYTES: usize = 64 * 1024;

/// A file that can be patched.
#[derive(Debug)]
pub(crate) struct SourceFile {
    pub(super) task: FileScanTask,
    pub(super) size_bytes: u64,
    pub(super) footer: Arc<ParquetMetaData>,
    /// Reads columns in the types that files are written from.
    pub(super) reader: ArrowReaderMetadata,
    /// Stored columns; those of lineage may be missing behind them.
    pub(super) columns: usize,
    pub(super) page_indexes: PageIndexes,
}

/// Whether chunks have page indexes: a file has them for all chunks or for none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PageIndexes {
    Everywhere,
    Nowhere,
}

impl SourceFile {
    /// The file of a task; `None` where it has to be written anew as a whole: another format, encrypted, with deletes, or
    /// with columns that are not stored as `files` store them.
    ///
    /// # Errors
    /// Those of reading the footer.
    pub(in crate::write) async fn open(task: &FileScanTask, files: &ParquetFiles) -> Result<Option<Self>> {
        let plain = task.file_format() == FileFormat::Parquet && task.key_metadata().is_none();
        if !plain || !task.deletes().is_empty() {
            return Ok(None);
        }
        let size_bytes = files.io.size(task.path()).await?;
        let fetch = Fetch {
            io: &files.io,
            location: task.path(),
        };
        let options = ParquetMetaDataOptions::new().with_encoding_stats_as_mask(false);
        let footer = ParquetMetaDataReader::new()
            .with_page_index_policy(PageIndexPolicy::Optional)
            .with_metadata_options(Some(options))
            .with_prefetch_hint(Some(FOOTER_BYTES))
            .load_and_finish(fetch, size_bytes)
            .await
            .map_err(read_error)
            .context("file", task.path())?;
        Ok(Self::with_footer(task, size_bytes, footer, files))
    }

    fn with_footer(
        task: &FileScanTask,
        size_bytes: u64,
        footer: ParquetMetaData,
        files: &ParquetFiles,
    ) -> Option<Self> {
        let metadata = footer.file_metadata();
        let columns = same_columns(metadata.schema_descr(), &files.parquet, files.own_columns())?;
        let ordered = |order: &ColumnOrder| matches!(order, ColumnOrder::TYPE_DEFINED_ORDER(_));
        if !metadata
            .column_orders()
            .is_some_and(|orders| orders.iter().all(ordered))
        {
            // Statistics would mean something else in the new file.
            return None;
        }
        if footer.row_groups().iter().any(|group| group.num_rows() < 0) {
            return None;
        }
        let page_indexes = page_indexes(&footer)?;
        let own: Vec<usize> = (0..columns).collect();
        let stored = Arc::new(files.stored.project(&own).ok()?);
        let footer = Arc::new(footer);
        let options = ArrowReaderOptions::new().with_schema(stored);
        Some(SourceFile {
            task: task.clone(),
            size_bytes,
            reader: ArrowReaderMetadata::try_new(Arc::clone(&footer), options).ok()?,
            footer,
            columns,
            page_indexes,
        })
    }

    pub(crate) fn path(&self) -> &str {
        self.task.path()
    }

    /// Its row groups with the positions of their rows.
    pub(super) fn row_groups(&self) -> impl Iterator<Item = (usize, Range<u64>)> + '_ {
        let mut start = 0;
        self.footer.row_groups().iter().enumerate().map(move |(at, group)| {
            let end = start + row_count(group);
            (at, std::mem::replace(&mut start, end)..end)
        })
    }
}

pub(super) fn row_count(group: &RowGroupMetaData) -> u64 {
    u64::try_from(group.num_rows()).unwrap_or(0)
}

/// How many columns the file stores, where they are those of new files: all, or all but lineage.
fn same_columns(file: &SchemaDescriptor, new: &SchemaDescriptor, own_columns: usize) -> Option<usize> {
    let (file, new) = (file.root_schema().get_fields(), new.root_schema().get_fields());
    let counted = file.len() == new.len() || file.len() == own_columns;
    (counted && file.iter().zip(new).all(|(a, b)| a == b)).then_some(file.len())
}

/// `None` where some chunks have indexes and others do not: Parquet's writer knows no such file.
fn page_indexes(footer: &ParquetMetaData) -> Option<PageIndexes> {
    let mut chunks = footer.row_groups().iter().flat_map(RowGroupMetaData::columns);
    if chunks.clone().all(|c| c.offset_index_offset().is_none()) {
        return Some(PageIndexes::Nowhere);
    }
    let read = footer.offset_index().is_some() && chunks.all(|c| c.offset_index_offset().is_some());
    read.then_some(PageIndexes::Everywhere)
}

struct Fetch<'a> {
    io: &'a FileIo,
    location: &'a str,
}

impl MetadataFetch for Fetch<'_> {
    fn fetch(&mut self, range: Range<u64>) -> BoxFuture<'_, parquet::errors::Result<Bytes>> {
        let read = self.io.read_range(self.location, range);
        read.map(|bytes| bytes.map_err(io_error)).boxed()
    }
}
