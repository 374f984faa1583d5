//! One ORC data file: rows in, a [`DataFile`] with metrics out.
//!
//! Stripes are encoded by the ORC library, one by one. The end of the file is written here: the library cannot tell field
//! ids, without which no reader of Iceberg would find a column.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, RecordBatch, RecordBatchOptions};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, FieldRef, Schema as ArrowSchema, SchemaRef as ArrowSchemaRef};
use arrow::error::ArrowError;
use bytes::Bytes;
use orc_rust::ArrowWriterBuilder;
use tarn_format::io::{FileIo, FileWriter};
use tarn_format::manifest::data_file::{DataContent, DataFile, FileFormat};
use tarn_format::spec::schema::Schema;
use tarn_format::{Error, Result, ResultExt};

use super::column_metrics::ColumnMetrics;
use super::metrics_mode::{MetricsConfig, MetricsMode};
use super::orc_options::OrcOptions;
use super::orc_schema::{OrcColumn, columns, root_message};
use crate::scan::orc::protobuf::{put_bytes, put_number};
use crate::scan::orc::{EncodedStripe, encoded_stripe};

/// The first bytes of a file.
const MAGIC: &[u8] = b"ORC";

/// Bytes that a chunk holds at most.
const CHUNK_BYTES: usize = 256 << 10;

/// What all files of a write have in common.
#[derive(Debug)]
pub(super) struct OrcFiles {
    io: FileIo,
    columns: Vec<OrcColumn>,
    stored: ArrowSchemaRef,
    options: OrcOptions,
    metrics: MetricsConfig,
}

impl OrcFiles {
    /// Files of rows of `schema`.
    ///
    /// # Errors
    /// As [`columns`].
    pub(super) fn new(io: FileIo, schema: &Schema, options: OrcOptions, metrics: MetricsConfig) -> Result<Self> {
        let columns = columns(schema)?;
        let field = |c: &OrcColumn| -> FieldRef { Arc::new(Field::new(&c.name, c.stored.clone(), true)) };
        Ok(OrcFiles {
            io,
            stored: Arc::new(ArrowSchema::new(columns.iter().map(field).collect::<Vec<_>>())),
            columns,
            options,
            metrics,
        })
    }

    /// Begins a file.
    pub(super) fn create(self: &Arc<Self>, location: String) -> Result<OrcFile> {
        let primitives = self.columns.iter().map(|c| (c.id, c.primitive.clone()));
        Ok(OrcFile {
            sink: self.io.writer(&location)?,
            location,
            waiting: Vec::new(),
            waiting_bytes: 0,
            rows: 0,
            written: 0,
            stripes: Vec::new(),
            column_bytes: vec![0; self.columns.len()],
            metrics: ColumnMetrics::new(primitives),
            files: Arc::clone(self),
        })
    }
}

/// A file under construction. Dropped, nothing of it is visible.
pub(super) struct OrcFile {
    files: Arc<OrcFiles>,
    sink: FileWriter,
    location: String,
    /// Rows of the next stripe.
    waiting: Vec<RecordBatch>,
    waiting_bytes: usize,
    rows: usize,
    /// Bytes of the file so far.
    written: u64,
    /// Where they begin, and what the footer says of them.
    stripes: Vec<(u64, Vec<u8>)>,
    column_bytes: Vec<u64>,
    metrics: ColumnMetrics,
}

impl OrcFile {
    pub(super) fn location(&self) -> &str {
        &self.location
    }

    /// Appends rows in their stored form.
    pub(super) async fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        let taken = self.take(batch);
        taken.context("file", self.location.as_str())?;
        match self.waiting_bytes as u64 >= self.files.options.stripe_bytes {
            true => self.flush().await,
            false => Ok(()),
        }
    }

    fn take(&mut self, batch: &RecordBatch) -> Result<()> {
        let unfit = |e| Error::invalid("rows cannot be written to an ORC file").with_source(e);
        self.metrics
            .update(batch)
            .map_err(|e| Error::invalid("the rows of an ORC file cannot be compared").with_source(e))?;
        let fields = self.files.stored.fields();
        let stored = batch
            .columns()
            .iter()
            .zip(fields)
            .map(|(a, f)| stored(a, f.data_type()));
        let stored: Result<Vec<ArrayRef>, ArrowError> = stored.collect();
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        let stored = stored
            .and_then(|arrays| RecordBatch::try_new_with_options(Arc::clone(&self.files.stored), arrays, &options));
        let stored = stored.map_err(unfit)?;
        let sizes = stored.columns().iter().map(|a| a.to_data().get_slice_memory_size());
        self.waiting_bytes += sizes.sum::<Result<usize, _>>().map_err(unfit)?;
        self.rows += stored.num_rows();
        self.waiting.push(stored);
        Ok(())
    }

    /// Ends the stripe, if it has rows.
    pub(super) async fn flush(&mut self) -> Result<()> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        let encoded = encode(&self.files, &std::mem::take(&mut self.waiting));
        self.waiting_bytes = 0;
        let EncodedStripe {
            bytes,
            streams_bytes,
            rows,
            column_bytes,
        } = encoded.context("file", self.location.as_str())?;
        if self.written == 0 {
            self.put(Bytes::from_static(MAGIC)).await?;
        }
        let start = self.written;
        let mut message = Vec::new();
        put_number(&mut message, 1, start);
        put_number(&mut message, 2, 0);
        put_number(&mut message, 3, streams_bytes);
        put_number(&mut message, 4, bytes.len() as u64 - streams_bytes);
        put_number(&mut message, 5, rows);
        self.stripes.push((start, message));
        for (total, own) in self.column_bytes.iter_mut().zip(column_bytes) {
            *total += own;
        }
        self.put(bytes).await
    }

    async fn put(&mut self, bytes: Bytes) -> Result<()> {
        self.written += bytes.len() as u64;
        let written = self.sink.write(bytes).await;
        written.context("file", self.location.as_str())
    }

    /// How large the file would about be if it were finished now, in bytes.
    pub(super) fn size_bytes(&self) -> u64 {
        self.written + self.waiting_bytes as u64
    }

    /// Memory held, in bytes.
    pub(super) fn memory_bytes(&self) -> usize {
        self.waiting_bytes
    }

    /// Rows written so far.
    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// Completes the file.
    pub(super) async fn finish(mut self) -> Result<DataFile> {
        self.flush().await?;
        if self.written == 0 {
            self.put(Bytes::from_static(MAGIC)).await?;
        }
        let tail = self.tail();
        self.put(Bytes::from(tail)).await?;
        let written = self.sink.finish().await.context("file", self.location.as_str())?;
        let mut data = DataFile::new(DataContent::Data, &self.location, FileFormat::Orc);
        data.record_count = i64::try_from(self.rows).unwrap_or(i64::MAX);
        data.file_size_in_bytes = i64::try_from(written).unwrap_or(i64::MAX);
        data.split_offsets = self.stripes.iter().map(|(start, _)| *start as i64).collect();
        let config = &self.files.metrics;
        for (column, bytes) in self.files.columns.iter().zip(&self.column_bytes) {
            if config.mode(column.id) != MetricsMode::None {
                data.column_sizes.insert(column.id, *bytes as i64);
            }
        }
        self.metrics.fill_in(&mut data, config);
        Ok(data)
    }

    /// Footer and postscript.
    fn tail(&self) -> Vec<u8> {
        let codec = self.files.options.codec.number();
        let footer = self.footer();
        let mut tail = Vec::with_capacity(footer.len() + 64);
        match codec {
            0 => tail.extend_from_slice(&footer),
            // Chunks that are stored as they are.
            _ => footer.chunks(CHUNK_BYTES).for_each(|chunk| {
                let header = (chunk.len() << 1 | 1) as u32;
                tail.extend_from_slice(header.to_le_bytes().get(..3).unwrap_or_default());
                tail.extend_from_slice(chunk);
            }),
        }
        let mut postscript = Vec::new();
        put_number(&mut postscript, 1, tail.len() as u64);
        put_number(&mut postscript, 2, codec);
        put_number(&mut postscript, 3, CHUNK_BYTES as u64);
        // Version 0.12 of the format.
        put_bytes(&mut postscript, 4, &[0, 12]);
        put_number(&mut postscript, 5, 0);
        put_number(&mut postscript, 6, UNKNOWN_WRITER);
        put_bytes(&mut postscript, 8000, MAGIC);
        tail.extend_from_slice(&postscript);
        tail.push(postscript.len() as u8);
        tail
    }

    fn footer(&self) -> Vec<u8> {
        let mut footer = Vec::new();
        put_number(&mut footer, 1, MAGIC.len() as u64);
        put_number(&mut footer, 2, self.written);
        self.stripes
            .iter()
            .for_each(|(_, stripe)| put_bytes(&mut footer, 3, stripe));
        put_bytes(&mut footer, 4, &root_message(&self.files.columns));
        self.files
            .columns
            .iter()
            .for_each(|c| put_bytes(&mut footer, 4, &c.message));
        put_number(&mut footer, 6, self.rows as u64);
        let root = (0, 0);
        let columns = self.metrics.nulls().zip(self.column_bytes.iter().copied());
        for (nulls, bytes) in std::iter::once(root).chain(columns) {
            let mut statistics = Vec::new();
            put_number(&mut statistics, 1, (self.rows - nulls) as u64);
            put_number(&mut statistics, 10, u64::from(nulls > 0));
            put_number(&mut statistics, 11, bytes);
            put_bytes(&mut footer, 7, &statistics);
        }
        // There are no indexes of rows.
        put_number(&mut footer, 8, 0);
        put_number(&mut footer, 9, UNKNOWN_WRITER);
        footer
    }
}

/// Neither Java nor another writer whose faults readers make up for (`OrcFile.WriterImplementation`).
const UNKNOWN_WRITER: u64 = u32::MAX as u64;

/// A column as the encoder takes it.
fn stored(array: &ArrayRef, to: &DataType) -> Result<ArrayRef, ArrowError> {
    match array.data_type() == to {
        true => Ok(Arc::clone(array)),
        false => cast(array, to),
    }
}

/// Encodes rows as a stripe of a file of their own, and takes the stripe out: it does not say where it lies.
fn encode(files: &OrcFiles, rows: &[RecordBatch]) -> Result<EncodedStripe> {
    let bad = |e| Error::invalid("rows cannot be written to an ORC file").with_source(e);
    let mut file = Vec::new();
    let mut builder = ArrowWriterBuilder::new(&mut file, Arc::clone(&files.stored))
        .with_stripe_byte_size(usize::MAX)
        .with_compression_block_size(CHUNK_BYTES);
    if let Some(codec) = files.options.codec.of_writer() {
        builder = builder.with_compression(codec);
    }
    let mut writer = builder.try_build().map_err(bad)?;
    rows.iter().try_for_each(|batch| writer.write(batch)).map_err(bad)?;
    writer.close().map_err(bad)?;
    encoded_stripe(&Bytes::from(file), files.columns.len())
}
