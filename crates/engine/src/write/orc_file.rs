//! One ORC data file: rows in, a [`DataFile`] with metrics out.

use std::sync::Arc;

use arrow::array::RecordBatch;
use bytes::Bytes;
use tarn_format::io::{FileIo, FileWriter};
use tarn_format::manifest::data_file::{DataContent, DataFile, FileFormat};
use tarn_format::spec::schema::Schema;
use tarn_format::spec::types::{FieldId, PrimitiveType, Type};
use tarn_format::{Error, Result, ResultExt};

use super::column_metrics::ColumnMetrics;
use super::metrics_mode::{MetricsConfig, MetricsMode};
use super::orc_options::OrcOptions;
use super::orc_schema::{OrcColumn, Stored, columns, type_messages};
use super::orc_stripe::{CHUNK_BYTES, ChunkForm, EncodedStripe, Facts, append_chunk, encode};
use crate::scan::orc::protobuf::{put_bytes, put_number};

/// The first bytes of a file.
const MAGIC: &[u8] = b"ORC";

/// What all files of a write have in common.
#[derive(Debug)]
pub(super) struct OrcFiles {
    io: FileIo,
    columns: Vec<OrcColumn>,
    options: OrcOptions,
    metrics: MetricsConfig,
}

impl OrcFiles {
    /// Files of rows of `schema`.
    ///
    /// # Errors
    /// As [`columns`].
    pub(super) fn new(io: FileIo, schema: &Schema, options: OrcOptions, metrics: MetricsConfig) -> Result<Self> {
        Ok(OrcFiles {
            io,
            columns: columns(schema)?,
            options,
            metrics,
        })
    }

    /// Begins a file.
    pub(super) fn create(self: &Arc<Self>, location: String) -> Result<OrcFile> {
        let types = self.columns.iter().map(OrcColumn::types).sum();
        Ok(OrcFile {
            sink: self.io.writer(&location)?,
            location,
            waiting: Vec::new(),
            waiting_bytes: 0,
            rows: 0,
            written: 0,
            stripes: Vec::new(),
            facts: vec![Facts::default(); types],
            metrics: ColumnMetrics::new(leaves(&self.columns)),
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
    /// Of the columns at all depths, in the order of types, without the root.
    facts: Vec<Facts>,
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
        let sizes = batch.columns().iter().map(|a| a.to_data().get_slice_memory_size());
        self.waiting_bytes += sizes.sum::<Result<usize, _>>().map_err(unfit)?;
        self.rows += batch.num_rows();
        self.waiting.push(batch.clone());
        Ok(())
    }

    /// Ends the stripe, if it has rows.
    pub(super) async fn flush(&mut self) -> Result<()> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        let rows = std::mem::take(&mut self.waiting);
        let encoded = encode(&self.files.columns, &rows, self.files.options.codec);
        self.waiting_bytes = 0;
        let EncodedStripe {
            bytes,
            streams_bytes,
            rows,
            facts,
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
        self.facts.iter_mut().zip(&facts).for_each(|(all, own)| all.add(own));
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
        for (id, place) in sized(&self.files.columns) {
            if let Some(facts) = self.facts.get(place).filter(|_| config.mode(id) != MetricsMode::None) {
                data.column_sizes.insert(id, facts.bytes as i64);
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
            _ => {
                let chunks = footer.chunks(CHUNK_BYTES);
                chunks.for_each(|chunk| append_chunk(chunk, ChunkForm::AsItIs, &mut tail));
            }
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
        let types = type_messages(&self.files.columns);
        types.iter().for_each(|message| put_bytes(&mut footer, 4, message));
        put_number(&mut footer, 6, self.rows as u64);
        let root = Facts::of_rows(self.rows as u64);
        for facts in std::iter::once(&root).chain(&self.facts) {
            let mut statistics = Vec::new();
            put_number(&mut statistics, 1, facts.values);
            put_number(&mut statistics, 10, u64::from(facts.has_null));
            put_number(&mut statistics, 11, facts.bytes);
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

/// The columns that hold single values and are in no list or map: id, type, and the way to each from the rows' columns.
fn leaves(columns: &[OrcColumn]) -> Vec<(FieldId, PrimitiveType, Vec<usize>)> {
    let mut found = Vec::new();
    for (index, column) in columns.iter().enumerate() {
        match (&column.field_type, column.stored) {
            (Type::Primitive(primitive), _) => found.push((column.id, primitive.clone(), vec![index])),
            (_, Stored::Struct) => found.extend(leaves(&column.children).into_iter().map(|(id, primitive, way)| {
                let way = std::iter::once(index).chain(way).collect();
                (id, primitive, way)
            })),
            _ => {}
        }
    }
    found
}

/// The columns in no list or map, with their places among all but the root.
fn sized(columns: &[OrcColumn]) -> Vec<(FieldId, usize)> {
    fn add(columns: &[OrcColumn], mut place: usize, found: &mut Vec<(FieldId, usize)>) {
        for column in columns {
            found.push((column.id, place));
            if column.stored == Stored::Struct {
                add(&column.children, place + 1, found);
            }
            place += column.types();
        }
    }
    let mut found = Vec::new();
    add(columns, 0, &mut found);
    found
}
