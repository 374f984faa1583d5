//! The bytes of some column chunks as a file that holds nothing else.

use bytes::Bytes;
use bytes::buf::{Buf, Reader};
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, Length};
use tarn_format::Error;

/// Chunks by where they begin.
#[derive(Debug, Clone)]
pub(super) struct ColumnBytes {
    pub(super) chunks: Vec<(u64, Bytes)>,
    pub(super) file_size_bytes: u64,
}

impl ColumnBytes {
    /// What the chunk around an offset has from there on.
    fn from(&self, start: u64) -> parquet::errors::Result<Bytes> {
        let rest = self.chunks.iter().find_map(|(begin, bytes)| {
            let skipped = usize::try_from(start.checked_sub(*begin)?).ok()?;
            (skipped < bytes.len()).then(|| bytes.slice(skipped..))
        });
        rest.ok_or_else(|| ParquetError::EOF(format!("offset {start} lies in none of the column's chunks")))
    }
}

impl Length for ColumnBytes {
    fn len(&self) -> u64 {
        self.file_size_bytes
    }
}

impl ChunkReader for ColumnBytes {
    type T = Reader<Bytes>;

    fn get_read(&self, start: u64) -> parquet::errors::Result<Reader<Bytes>> {
        Ok(self.from(start)?.reader())
    }

    fn get_bytes(&self, start: u64, length: usize) -> parquet::errors::Result<Bytes> {
        let rest = self.from(start)?;
        match length <= rest.len() {
            true => Ok(rest.slice(..length)),
            false => Err(ParquetError::EOF(format!(
                "a column chunk ends before the {length} bytes at offset {start} do"
            ))),
        }
    }
}

/// The error of a file that is read. Our own errors come back as they went in.
pub(super) fn read_error(e: ParquetError) -> Error {
    match e {
        ParquetError::External(inner) => match inner.downcast::<Error>() {
            Ok(ours) => *ours,
            Err(other) => Error::corrupt("a data file cannot be read").with_source(other),
        },
        other => Error::corrupt("a data file cannot be read").with_source(other),
    }
}
