//! Data files in the format that a table is written in.

use std::sync::Arc;

use arrow::array::RecordBatch;
use tarn_format::Result;
use tarn_format::manifest::data_file::{DataFile, FileFormat};

use super::avro_file::{AvroFile, AvroFiles};
use super::orc_file::{OrcFile, OrcFiles};
use super::parquet_file::{ParquetFile, ParquetFiles};

/// What all files of a write have in common.
#[derive(Debug)]
pub(super) enum DataFiles {
    Parquet(Arc<ParquetFiles>),
    Avro(AvroFiles),
    Orc(Arc<OrcFiles>),
}

impl DataFiles {
    /// Their format.
    pub(super) fn format(&self) -> FileFormat {
        match self {
            DataFiles::Parquet(_) => FileFormat::Parquet,
            DataFiles::Avro(_) => FileFormat::Avro,
            DataFiles::Orc(_) => FileFormat::Orc,
        }
    }

    /// Begins a file.
    pub(super) fn create(&self, location: String) -> Result<OpenDataFile> {
        Ok(match self {
            DataFiles::Parquet(files) => OpenDataFile::Parquet(Arc::clone(files), Box::new(files.create(location)?)),
            DataFiles::Avro(files) => OpenDataFile::Avro(Box::new(files.create(location)?)),
            DataFiles::Orc(files) => OpenDataFile::Orc(Box::new(files.create(location)?)),
        })
    }
}

/// A file under construction. Dropped, nothing of it is visible.
pub(super) enum OpenDataFile {
    Parquet(Arc<ParquetFiles>, Box<ParquetFile>),
    Avro(Box<AvroFile>),
    Orc(Box<OrcFile>),
}

impl OpenDataFile {
    pub(super) fn location(&self) -> &str {
        match self {
            OpenDataFile::Parquet(_, file) => file.location(),
            OpenDataFile::Avro(file) => file.location(),
            OpenDataFile::Orc(file) => file.location(),
        }
    }

    /// Appends rows in their stored form.
    pub(super) async fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        match self {
            OpenDataFile::Parquet(_, file) => file.write(batch).await,
            OpenDataFile::Avro(file) => file.write(batch).await,
            OpenDataFile::Orc(file) => file.write(batch).await,
        }
    }

    /// Frees what it holds in memory.
    pub(super) async fn flush(&mut self) -> Result<()> {
        match self {
            OpenDataFile::Parquet(_, file) => file.flush().await,
            OpenDataFile::Avro(file) => file.flush().await,
            OpenDataFile::Orc(file) => file.flush().await,
        }
    }

    /// How large the file would about be if it were finished now, in bytes.
    pub(super) fn size_bytes(&self) -> u64 {
        match self {
            OpenDataFile::Parquet(_, file) => file.size_bytes(),
            OpenDataFile::Avro(file) => file.size_bytes(),
            OpenDataFile::Orc(file) => file.size_bytes(),
        }
    }

    /// Memory held, in bytes.
    pub(super) fn memory_bytes(&self) -> usize {
        match self {
            OpenDataFile::Parquet(_, file) => file.memory_bytes(),
            OpenDataFile::Avro(file) => file.memory_bytes(),
            OpenDataFile::Orc(file) => file.memory_bytes(),
        }
    }

    /// Rows written so far.
    pub(super) fn rows(&self) -> usize {
        match self {
            OpenDataFile::Parquet(_, file) => file.rows(),
            OpenDataFile::Avro(file) => file.rows(),
            OpenDataFile::Orc(file) => file.rows(),
        }
    }

    /// Completes the file.
    pub(super) async fn finish(self) -> Result<DataFile> {
        match self {
            OpenDataFile::Parquet(files, file) => files.finish(*file).await,
            OpenDataFile::Avro(file) => file.finish().await,
            OpenDataFile::Orc(file) => file.finish().await,
        }
    }
}
