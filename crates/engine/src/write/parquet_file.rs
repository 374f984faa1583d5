//! One Parquet data file: rows in, a [`DataFile`] with metrics out.

use std::io::Write;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef as ArrowSchemaRef;
use bytes::Bytes;
use futures::FutureExt;
use futures::future::BoxFuture;
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::arrow::async_writer::{AsyncArrowWriter, AsyncFileWriter};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::SchemaDescriptor;
use tarn_format::io::{FileIo, FileWriter};
use tarn_format::manifest::data_file::{DataContent, DataFile, FileFormat};
use tarn_format::spec::schema::SchemaRef;
use tarn_format::spec::types::FieldId;
use tarn_format::{Error, ErrorKind, Result, ResultExt};

use super::float_metrics::FloatMetrics;
use super::metrics::{fill_in, footer_bound_bytes};
use super::metrics_mode::MetricsConfig;
use super::options::WriteOptions;
use super::parquet_schema::schema_to_parquet;
use crate::arrow::schema::field_id;
use crate::scan::MetadataColumn;

/// Key of the Iceberg schema in a file's metadata.
const SCHEMA_KEY: &str = "iceberg.schema";

/// What all files of a write have in common.
#[derive(Debug)]
pub(super) struct ParquetFiles {
    pub(super) io: FileIo,
    pub(super) schema: SchemaRef,
    pub(super) stored: ArrowSchemaRef,
    pub(super) parquet: SchemaDescriptor,
    pub(super) properties: WriterProperties,
    pub(super) metrics: MetricsConfig,
}

impl ParquetFiles {
    /// Files of rows of `schema`, of which `stored` is the Arrow form.
    ///
    /// # Errors
    /// `Unsupported` when the schema cannot be stored.
    pub(super) fn new(io: FileIo, schema: SchemaRef, stored: ArrowSchemaRef, options: &WriteOptions) -> Result<Self> {
        let parquet = schema_to_parquet(&schema)?;
        let json = serde_json::to_string(schema.as_ref())
            .map_err(|e| Error::invalid("the schema has no JSON form").with_source(e))?;
        let key_values = vec![KeyValue::new(SCHEMA_KEY.to_string(), json)];
        let bound_bytes = footer_bound_bytes(&options.metrics, &schema);
        Ok(ParquetFiles {
            properties: options.parquet.writer_properties(&parquet, bound_bytes, key_values)?,
            metrics: options.metrics.clone(),
            io,
            schema,
            stored,
            parquet,
        })
    }

    /// How many columns are the table's: behind them stands lineage.
    pub(super) fn own_columns(&self) -> usize {
        let lineage = MetadataColumn::LINEAGE.map(|c| c.field_id());
        let is_own = |field: &FieldId| !lineage.contains(field);
        let ids = self.stored.fields().iter().filter_map(|f| field_id(f));
        ids.filter(is_own).count()
    }

    /// A writer of the same files that takes row groups apart.
    pub(super) fn serialized<W: Write + Send>(&self, sink: W) -> Result<SerializedFileWriter<W>> {
        let properties = Arc::new(self.properties.clone());
        SerializedFileWriter::new(sink, self.parquet.root_schema_ptr(), properties).map_err(write_error)
    }

    /// Begins a file.
    pub(super) fn create(&self, location: String) -> Result<ParquetFile> {
        let sink = Sink {
            writer: Some(self.io.writer(&location)?),
        };
        let options = ArrowWriterOptions::new()
            .with_properties(self.properties.clone())
            .with_parquet_schema(self.parquet.clone())
            .with_skip_arrow_metadata(true);
        let writer = AsyncArrowWriter::try_new_with_options(sink, Arc::clone(&self.stored), options)
            .map_err(write_error)
            .context("file", location.as_str())?;
        Ok(ParquetFile {
            writer,
            location,
            floats: FloatMetrics::default(),
            rows: 0,
        })
    }

    /// Completes a file.
    pub(super) async fn finish(&self, file: ParquetFile) -> Result<DataFile> {
        let ParquetFile {
            mut writer,
            location,
            floats,
            ..
        } = file;
        let footer = writer.finish().await.map_err(write_error);
        let footer = footer.context("file", location.as_str())?;
        let mut data = DataFile::new(DataContent::Data, &location, FileFormat::Parquet);
        data.file_size_in_bytes = i64::try_from(writer.bytes_written()).unwrap_or(i64::MAX);
        fill_in(&mut data, &footer, &floats, &self.schema, &self.metrics);
        Ok(data)
    }
}

/// A file under construction. Dropped, nothing of it is visible.
pub(super) struct ParquetFile {
    writer: AsyncArrowWriter<Sink>,
    location: String,
    floats: FloatMetrics,
    rows: usize,
}

impl ParquetFile {
    pub(super) fn location(&self) -> &str {
        &self.location
    }

    /// Appends rows in their stored form.
    pub(super) async fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        self.floats.update(batch);
        self.rows += batch.num_rows();
        let written = self.writer.write(batch).await;
        written.map_err(write_error).context("file", self.location.as_str())
    }

    /// Ends the row group, which frees what it holds in memory.
    pub(super) async fn flush(&mut self) -> Result<()> {
        let flushed = self.writer.flush().await;
        flushed.map_err(write_error).context("file", self.location.as_str())
    }

    /// How large the file would about be if it were finished now, in bytes.
    pub(super) fn size_bytes(&self) -> u64 {
        (self.writer.bytes_written() + self.writer.in_progress_size()) as u64
    }

    /// Memory held, in bytes.
    pub(super) fn memory_bytes(&self) -> usize {
        self.writer.memory_size()
    }

    /// Rows written so far.
    pub(super) fn rows(&self) -> usize {
        self.rows
    }
}

/// Parquet's view of a [`FileWriter`].
struct Sink {
    /// `None` once complete.
    writer: Option<FileWriter>,
}

impl AsyncFileWriter for Sink {
    fn write(&mut self, bytes: Bytes) -> BoxFuture<'_, parquet::errors::Result<()>> {
        async move {
            match &mut self.writer {
                Some(writer) => writer.write(bytes).await.map_err(io_error),
                None => Err(ParquetError::General("the file is complete already".to_string())),
            }
        }
        .boxed()
    }

    fn complete(&mut self) -> BoxFuture<'_, parquet::errors::Result<()>> {
        async move {
            match self.writer.take() {
                Some(writer) => writer.finish().await.map(drop).map_err(io_error),
                None => Ok(()),
            }
        }
        .boxed()
    }
}

pub(super) fn io_error(e: Error) -> ParquetError {
    ParquetError::External(Box::new(e))
}

/// Our own errors come back as they went in.
pub(super) fn write_error(e: ParquetError) -> Error {
    match e {
        ParquetError::External(inner) => match inner.downcast::<Error>() {
            Ok(ours) => *ours,
            Err(other) => Error::new(ErrorKind::Io, "a data file cannot be written").with_source(other),
        },
        other => Error::new(ErrorKind::Io, "a data file cannot be written").with_source(other),
    }
}
