//! One Avro data file: rows in, a [`DataFile`] with the number of rows out. As in Java, Avro files have no other metrics.

use arrow::array::RecordBatch;
use bytes::Bytes;
use tarn_format::io::{FileIo, FileWriter};
use tarn_format::manifest::avro::codec::Codec;
use tarn_format::manifest::avro::container::ContainerWriter;
use tarn_format::manifest::data_file::{DataContent, DataFile, FileFormat};
use tarn_format::spec::schema::Schema;
use tarn_format::{Error, Result, ResultExt};

use super::avro_rows::Rows;
use super::avro_schema::schema_to_avro;

/// Key of the Iceberg schema in a file's metadata.
const SCHEMA_KEY: &str = "iceberg.schema";

/// Bytes of finished blocks that wait to be written.
const WAITING_BYTES: usize = 1 << 20;

/// What all files of a write have in common.
#[derive(Debug)]
pub(super) struct AvroFiles {
    io: FileIo,
    avro_schema: String,
    iceberg_schema: String,
    codec: Codec,
}

impl AvroFiles {
    /// Files of rows of `schema`.
    ///
    /// # Errors
    /// As [`schema_to_avro`].
    pub(super) fn new(io: FileIo, schema: &Schema, codec: Codec) -> Result<Self> {
        let json = serde_json::to_string(schema);
        Ok(AvroFiles {
            avro_schema: schema_to_avro(schema)?.to_string(),
            iceberg_schema: json.map_err(|e| Error::invalid("the schema has no JSON form").with_source(e))?,
            io,
            codec,
        })
    }

    /// Begins a file.
    pub(super) fn create(&self, location: String) -> Result<AvroFile> {
        let metadata = [(SCHEMA_KEY, self.iceberg_schema.clone())];
        Ok(AvroFile {
            container: ContainerWriter::new(&self.avro_schema, &metadata, self.codec),
            sink: self.io.writer(&location)?,
            location,
            rows: 0,
        })
    }
}

/// A file under construction. Dropped, nothing of it is visible.
pub(super) struct AvroFile {
    container: ContainerWriter,
    sink: FileWriter,
    location: String,
    rows: usize,
}

impl AvroFile {
    pub(super) fn location(&self) -> &str {
        &self.location
    }

    /// Appends rows in their stored form.
    pub(super) async fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        let rows = Rows::new(batch).context("file", self.location.as_str())?;
        for row in 0..batch.num_rows() {
            self.container.record(|encoder| rows.encode(row, encoder))?;
        }
        self.rows += batch.num_rows();
        match self.container.waiting_bytes() >= WAITING_BYTES {
            true => self.flush().await,
            false => Ok(()),
        }
    }

    /// Writes the finished blocks.
    pub(super) async fn flush(&mut self) -> Result<()> {
        let blocks = self.container.take_blocks();
        self.put(blocks).await
    }

    async fn put(&mut self, bytes: Vec<u8>) -> Result<()> {
        let written = self.sink.write(Bytes::from(bytes)).await;
        written.context("file", self.location.as_str())
    }

    /// How large the file is so far, in bytes.
    pub(super) fn size_bytes(&self) -> u64 {
        self.container.bytes_written() as u64
    }

    /// Memory held, in bytes.
    pub(super) fn memory_bytes(&self) -> usize {
        self.container.waiting_bytes()
    }

    /// Rows written so far.
    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// Completes the file.
    pub(super) async fn finish(mut self) -> Result<DataFile> {
        self.container.flush()?;
        self.flush().await?;
        let AvroFile {
            sink, location, rows, ..
        } = self;
        let written = sink.finish().await.context("file", location.as_str())?;
        let mut data = DataFile::new(DataContent::Data, &location, FileFormat::Avro);
        data.record_count = i64::try_from(rows).unwrap_or(i64::MAX);
        data.file_size_in_bytes = i64::try_from(written).unwrap_or(i64::MAX);
        Ok(data)
    }
}
