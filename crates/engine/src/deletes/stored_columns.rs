//! Some columns of a delete file, in whichever format it is.

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef as ArrowSchemaRef;
use datafusion::error::{DataFusionError, Result as EngineResult};
use datafusion::parquet::arrow::ProjectionMask;
use datafusion::parquet::arrow::async_reader::{AsyncFileReader, ParquetRecordBatchStreamBuilder};
use datafusion::physical_plan::metrics::ExecutionPlanMetricsSet;
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use tarn_format::manifest::data_file::{DataFile, FileFormat};
use tarn_format::{Error, ErrorKind, Result};

use crate::error_chain::causes;
use crate::external;
use crate::scan::file_errors::{ENCRYPTED, EncryptedFooter, has_key};
use crate::scan::reader_factory::TableReaderFactory;
use crate::scan::row_batches::FileOfRows;

/// A delete file whose schema is known, and whose rows were not read yet.
pub(super) enum StoredFile {
    Parquet(Box<ParquetRecordBatchStreamBuilder<Box<dyn AsyncFileReader>>>),
    Rows(Box<FileOfRows>),
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
        let opened = Self::open_as_plain(readers, file, metrics).await;
        opened.map_err(
            |e| match e.kind() == ErrorKind::Corrupt && has_key(file.key_metadata.as_deref()) {
                true => Error::unsupported(ENCRYPTED).with_context("file", file.file_path.to_string()),
                false => e,
            },
        )
    }

    async fn open_as_plain(
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
            FileFormat::Avro | FileFormat::Orc => {
                let opened = FileOfRows::open(&readers.io, &file.file_path, file.file_format).await?;
                Ok(StoredFile::Rows(Box::new(opened)))
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
            StoredFile::Rows(file) => file.schema(),
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
            StoredFile::Rows(file) => {
                let batches = file.batches(columns, batch_rows, None)?;
                let rows = stream::try_unfold(batches, |mut batches| async move {
                    let rows = batches.next_batch().await.map_err(external)?;
                    Ok(rows.map(|rows| (rows.batch, batches)))
                });
                Ok(rows.boxed())
            }
        }
    }
}

/// The error of a delete file that cannot be read.
fn failed(error: impl Into<DataFusionError>) -> Error {
    let error = error.into();
    let is_encrypted = causes(&error).any(|cause| cause.is::<EncryptedFooter>());
    match is_encrypted {
        true => Error::unsupported(ENCRYPTED),
        false => Error::corrupt("deletes cannot be read").with_source(error),
    }
}
