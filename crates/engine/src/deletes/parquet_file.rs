//! Opens delete files that are Parquet files.

use datafusion::parquet::arrow::async_reader::{AsyncFileReader, ParquetRecordBatchStreamBuilder};
use datafusion::physical_plan::metrics::ExecutionPlanMetricsSet;
use tarn_format::manifest::data_file::DataFile;
use tarn_format::{Error, Result};

use crate::scan::reader_factory::TableReaderFactory;

/// A reader of a file, its footer read.
///
/// # Errors
/// `Corrupt` when it cannot be opened.
pub(super) async fn open(
    readers: &TableReaderFactory,
    file: &DataFile,
    metrics: &ExecutionPlanMetricsSet,
) -> Result<ParquetRecordBatchStreamBuilder<Box<dyn AsyncFileReader>>> {
    let size = u64::try_from(file.file_size_in_bytes).unwrap_or(0);
    let reader = readers.open(&file.file_path, size, metrics);
    let reader: Box<dyn AsyncFileReader> = reader.map_err(failed)?;
    ParquetRecordBatchStreamBuilder::new(reader).await.map_err(failed)
}

/// The error of a delete file that cannot be read.
pub(super) fn failed(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Error {
    Error::corrupt("deletes cannot be read").with_source(error)
}
