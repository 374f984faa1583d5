//! Files whose rows are decoded here, in whichever format they are: all but Parquet, which DataFusion decodes.

use std::ops::Range;

use arrow::datatypes::SchemaRef as ArrowSchemaRef;
use tarn_format::io::FileIo;
use tarn_format::manifest::data_file::FileFormat;
use tarn_format::{Error, Result};

use super::avro::{AvroBatches, AvroFile};
use super::orc::{OrcBatches, OrcFile, RowsAt};

/// A file whose schema is known, and whose rows were not read yet.
#[derive(Debug)]
pub(crate) enum FileOfRows {
    Avro(AvroFile),
    Orc(OrcFile),
}

impl FileOfRows {
    /// # Errors
    /// Those of reading; `Corrupt` when the file is none of its format, `Unsupported` for what cannot be read.
    pub(crate) async fn open(io: &FileIo, location: &str, format: FileFormat) -> Result<Self> {
        match format {
            FileFormat::Avro => Ok(FileOfRows::Avro(AvroFile::open(io, location).await?)),
            FileFormat::Orc => Ok(FileOfRows::Orc(OrcFile::open(io, location).await?)),
            other => Err(Error::unsupported(format!("{other} files of rows cannot be read yet"))),
        }
    }

    /// All columns, with their field ids where the file has some.
    pub(crate) fn schema(&self) -> &ArrowSchemaRef {
        match self {
            FileOfRows::Avro(file) => file.schema(),
            FileOfRows::Orc(file) => file.schema(),
        }
    }

    /// The columns at these indexes, ascending, in batches of so many rows at most. Of an ORC file, only the stripes that
    /// begin in `range`; an Avro file is read as a whole.
    ///
    /// # Errors
    /// `Unsupported` for types that cannot be read.
    pub(crate) fn batches(self, columns: &[usize], batch_rows: usize, range: Option<Range<u64>>) -> Result<RowBatches> {
        Ok(match self {
            FileOfRows::Avro(file) => RowBatches::Avro {
                batches: Box::new(file.batches(columns, batch_rows)?),
                next: 0,
            },
            FileOfRows::Orc(file) => RowBatches::Orc(Box::new(file.batches(columns, batch_rows, range))),
        })
    }
}

/// The batches of a file.
#[derive(Debug)]
pub(crate) enum RowBatches {
    Avro {
        batches: Box<AvroBatches>,
        /// The position of the next row.
        next: i64,
    },
    Orc(Box<OrcBatches>),
}

impl RowBatches {
    /// The next batch; `None` at the end of the file.
    ///
    /// # Errors
    /// Those of reading; `Corrupt` when the file breaks off or holds what its schema does not allow.
    pub(crate) async fn next_batch(&mut self) -> Result<Option<RowsAt>> {
        match self {
            RowBatches::Orc(batches) => batches.next_batch().await,
            RowBatches::Avro { batches, next } => {
                let Some(batch) = batches.next_batch().await? else {
                    return Ok(None);
                };
                let first = *next;
                *next += batch.num_rows() as i64;
                Ok(Some(RowsAt { first, batch }))
            }
        }
    }
}
