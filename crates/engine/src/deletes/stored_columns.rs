//! Some columns of a delete file, in whichever format it is.

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef as ArrowSchemaRef;
use datafusion::error::Result as EngineResult;
use datafusion::parquet::arrow::ProjectionMask;
use datafusion::parquet::arrow::async_reader::{AsyncFileReader, ParquetRecordBatchStreamBuilder};
use datafusion::physical_plan::metrics::ExecutionPlanMetricsSet;
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use tarn_format::manifest::data_file::{DataFile, FileFormat};
use tarn_format::{Error, Result};

use crate::external;
use crate::scan::avro::AvroFile;
use crate::scan::reader_factory::TableReaderFactory;

/// A delete file whose schema is known, and whose rows were not read yet.
pub(super) enum StoredFile {
    Parquet(Box<ParquetRecordBatchStreamBuilder<Box<dyn AsyncFileReader>>>),
    Avro(Box<AvroFile>),
}

impl StoredFile {
    /// Opens a file.
    ///
    /// # Errors
    /// `Corrupt` when it cannot be opened, `Unsupported` for formats that are not read yet.
    pub(super) async fn open(
        readers: &TableReaderFactory,
        file: &DataFile,
        metrics: &ExecutionPlanMetricsSet,
    ) -> Result<Self> {
        match file.file_format {
            FileFormat::Parquet => {
                let size = u64::try_from(file.file_size_in_bytes).unwrap_or(0);
                let reader = readers.open(&file.file_path, size, metrics);
                let reader: Box<dyn AsyncFileReader> = reader.map_err(failed)?;
                let builder = ParquetRecordBatchStreamBuilder::new(reader).await;
                Ok(StoredFile::Parquet(Box::new(builder.map_err(failed)?)))
            }
            FileFormat::Avro => {
                let bytes = readers.io.read(&file.file_path).await?;
                Ok(StoredFile::Avro(Box::new(AvroFile::open(bytes)?)))
            }
            format => Err(Error::unsupported(format!(
                "deletes in {format} files cannot be read yet"
            ))),
        }
    }

    /// All columns.
    pub(super) fn schema(&self) -> &ArrowSchemaRef {
        match self {
            StoredFile::Parquet(builder) => builder.schema(),
            StoredFile::Avro(file) => file.schema(),
        }
    }

    /// The columns at these indexes, ascending.
    ///
    /// # Errors
    /// Those of beginning to read.
    pub(super) fn batches(
        self,
        columns: &[usize],
        batch_rows: usize,
    ) -> Result<BoxStream<'static, EngineResult<RecordBatch>>> {
        match self {
            StoredFile::Parquet(builder) => {
                let mask = ProjectionMask::roots(builder.parquet_schema(), columns.iter().copied());
                let batches = builder.with_projection(mask).with_batch_size(batch_rows).build();
                Ok(batches.map_err(failed)?.map(|batch| Ok(batch?)).boxed())
            }
            StoredFile::Avro(file) => {
                let mut batches = file.batches(columns, batch_rows)?;
                let batches = std::iter::from_fn(move || batches.next_batch().map_err(external).transpose());
                Ok(stream::iter(batches).boxed())
            }
        }
    }
}

/// The error of a delete file that cannot be read.
fn failed(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Error {
    Error::corrupt("deletes cannot be read").with_source(error)
}
