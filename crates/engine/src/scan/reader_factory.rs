//! Opens Parquet files of a table through its own [`FileIo`], whatever store DataFusion has registered, with footers
//! cached.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::parquet::{CachedParquetFileReaderFactory, ParquetFileReaderFactory};
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::cache::cache_manager::FileMetadataCache;
use datafusion::parquet::arrow::arrow_reader::ArrowReaderOptions;
use datafusion::parquet::arrow::async_reader::AsyncFileReader;
use datafusion::parquet::errors::{ParquetError, Result as ParquetResult};
use datafusion::parquet::file::metadata::ParquetMetaData;
use datafusion::physical_plan::metrics::ExecutionPlanMetricsSet;
use futures::FutureExt;
use futures::future::BoxFuture;
use object_store::ObjectStoreExt;
use object_store::path::Path;
use tarn_format::io::FileIo;

use super::file_errors::EncryptedFooter;
use super::source::IcebergFile;
use super::strict_store::StrictStore;
use crate::caches::with_store;
use crate::external;

/// Makes readers of a table's files.
#[derive(Debug)]
pub(crate) struct TableReaderFactory {
    pub(crate) io: FileIo,
    pub(crate) footers: Arc<FileMetadataCache>,
}

impl ParquetFileReaderFactory for TableReaderFactory {
    fn create_reader(
        &self,
        partition_index: usize,
        file: PartitionedFile,
        metadata_size_hint: Option<usize>,
        metrics: &ExecutionPlanMetricsSet,
    ) -> Result<Box<dyn AsyncFileReader + Send>> {
        let Some(iceberg) = file.extensions.get::<IcebergFile>() else {
            return Err(DataFusionError::Internal(
                "a file of an Iceberg scan has no task".to_string(),
            ));
        };
        let location = iceberg.task.path().to_string();
        let opener = self.opener(&location, partition_index, metrics)?;
        let opener = Opener {
            metadata_size_hint,
            ..opener
        };
        opener.reader(file)
    }
}

impl TableReaderFactory {
    /// Opens a file that is no data file of a scan, such as one of position deletes. `size_bytes` is what its manifest says.
    pub(crate) fn open(
        &self,
        location: &str,
        size_bytes: u64,
        metrics: &ExecutionPlanMetricsSet,
    ) -> Result<Box<dyn AsyncFileReader + Send>> {
        let opener = self.opener(location, 0, metrics)?;
        opener.reader(PartitionedFile::new(location, size_bytes))
    }

    fn opener(&self, location: &str, partition_index: usize, metrics: &ExecutionPlanMetricsSet) -> Result<Opener> {
        let located = self.io.object(location).and_then(|(store, path)| {
            let id = self.io.object_id(location)?.store;
            Ok((StrictStore { inner: store, id }, path))
        });
        let (store, path) = located.map_err(external)?;
        Ok(Opener {
            path: with_store(store.id, &path),
            store: Arc::new(store),
            footers: Arc::clone(&self.footers),
            partition_index,
            metadata_size_hint: None,
            metrics: metrics.clone(),
        })
    }
}

/// What is needed to open a file again.
struct Opener {
    store: Arc<StrictStore>,
    path: Path,
    footers: Arc<FileMetadataCache>,
    partition_index: usize,
    metadata_size_hint: Option<usize>,
    metrics: ExecutionPlanMetricsSet,
}

impl Opener {
    fn reader(self, mut file: PartitionedFile) -> Result<Box<dyn AsyncFileReader + Send>> {
        file.object_meta.location = self.path.clone();
        let inner = self.open(file.clone())?;
        Ok(Box::new(TableFileReader {
            inner,
            file,
            opener: self,
        }))
    }

    fn open(&self, file: PartitionedFile) -> Result<Box<dyn AsyncFileReader + Send>> {
        let store = Arc::clone(&self.store);
        let readers = CachedParquetFileReaderFactory::new(store, Arc::clone(&self.footers));
        readers.create_reader(self.partition_index, file, self.metadata_size_hint, &self.metrics)
    }
}

/// A reader that believes the manifest's file size until the footer is not where it should be.
struct TableFileReader {
    inner: Box<dyn AsyncFileReader + Send>,
    file: PartitionedFile,
    opener: Opener,
}

/// How a file ends whose footer is encrypted (Parquet, "Modular Encryption").
const ENCRYPTED_END: &[u8] = b"PARE";

async fn is_encrypted(store: &StrictStore, location: &Path, size_bytes: u64) -> bool {
    let start = size_bytes.saturating_sub(ENCRYPTED_END.len() as u64);
    let end = store.get_range(location, start..size_bytes).await;
    end.is_ok_and(|end| end == ENCRYPTED_END)
}

impl AsyncFileReader for TableFileReader {
    fn get_bytes(&mut self, range: Range<u64>) -> BoxFuture<'_, ParquetResult<Bytes>> {
        self.inner.get_bytes(range)
    }

    fn get_byte_ranges(&mut self, ranges: Vec<Range<u64>>) -> BoxFuture<'_, ParquetResult<Vec<Bytes>>> {
        self.inner.get_byte_ranges(ranges)
    }

    fn get_metadata<'a>(
        &'a mut self,
        options: Option<&'a ArrowReaderOptions>,
    ) -> BoxFuture<'a, ParquetResult<Arc<ParquetMetaData>>> {
        async move {
            let error = match self.inner.get_metadata(options).await {
                Ok(metadata) => return Ok(metadata),
                Err(error) => error,
            };
            let status = self.opener.store.head(&self.file.object_meta.location).await;
            // The cache of footers keeps only the text of a store's error.
            let status = status.map_err(|e| ParquetError::External(Box::new(e)))?;
            if is_encrypted(&self.opener.store, &self.file.object_meta.location, status.size).await {
                return Err(ParquetError::External(Box::new(EncryptedFooter)));
            }
            // What went wrong first is what there is to tell, unless the size is shown to be wrong.
            if status.size == self.file.object_meta.size {
                return Err(error);
            }
            self.file.object_meta.size = status.size;
            let opened = self.opener.open(self.file.clone());
            self.inner = opened.map_err(|e| ParquetError::External(Box::new(e)))?;
            self.inner.get_metadata(options).await
        }
        .boxed()
    }
}
