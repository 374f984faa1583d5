//! Reads the records of an Avro file in batches.

use std::fmt;
use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow::datatypes::{FieldRef, Schema as ArrowSchema, SchemaRef as ArrowSchemaRef};
use tarn_format::io::FileIo;
use tarn_format::manifest::avro::cursor::{Cursor, Malformed};
use tarn_format::manifest::avro::schema::{AvroSchema, AvroType};
use tarn_format::manifest::avro::skip::{Skip, SkipCompiler};
use tarn_format::{Error, Result};

use super::blocks::Blocks;
use super::column::Column;
use super::file_schema;

/// Bytes of records after which a batch ends, if it has not as many rows yet as it may.
const BATCH_BYTES: usize = 32 << 20;

/// A file whose header was read.
#[derive(Debug)]
pub(crate) struct AvroFile {
    blocks: Blocks,
    avro: Arc<AvroSchema>,
    schema: ArrowSchemaRef,
}

impl AvroFile {
    /// Reads the header.
    ///
    /// # Errors
    /// Those of reading; `Corrupt` when this is no Avro file of records, `Unsupported` for codecs and types that are not
    /// known.
    pub(crate) async fn open(io: &FileIo, location: &str) -> Result<Self> {
        let blocks = Blocks::open(io, location).await?;
        let avro = blocks.header.schema()?;
        refuse_empty_items(&avro)?;
        Ok(AvroFile {
            schema: file_schema::schema(&avro)?,
            avro,
            blocks,
        })
    }

    /// All columns, with their field ids where the file has some.
    pub(crate) fn schema(&self) -> &ArrowSchemaRef {
        &self.schema
    }

    /// The columns at these indexes, ascending, in batches of so many rows at most.
    ///
    /// # Errors
    /// `Unsupported` for types that cannot be read.
    pub(crate) fn batches(self, columns: &[usize], batch_rows: usize) -> Result<AvroBatches> {
        let mut fields: Vec<FieldRef> = Vec::new();
        let mut read: Vec<Column> = Vec::new();
        let mut steps = Vec::new();
        let mut skips = SkipCompiler::default();
        let avro_fields = self.avro.record_fields().unwrap_or_default();
        for (i, (field, avro)) in self.schema.fields().iter().zip(avro_fields).enumerate() {
            if columns.contains(&i) {
                steps.push(Step::Read(read.len()));
                read.push(Column::new(field, &avro.schema)?);
                fields.push(Arc::clone(field));
            } else {
                steps.push(Step::Skip(skips.compile(&avro.schema)));
            }
        }
        if SkipCompiler::default().compile(&self.avro) == Skip::Nothing {
            return Err(Error::unsupported("the Avro file's records have no columns"));
        }
        let width = read.iter().fold(1, |sum: usize, c| sum.saturating_add(c.width_bytes()));
        if width > BATCH_BYTES {
            return Err(Error::unsupported(format!(
                "the Avro file's records take {width} bytes each, more than {BATCH_BYTES}"
            )));
        }
        Ok(AvroBatches {
            schema: Arc::new(ArrowSchema::new(fields)),
            columns: read,
            steps,
            blocks: self.blocks,
            position: 0,
            records_left: 0,
            batch_rows: batch_rows.min(BATCH_BYTES / width).max(1),
        })
    }
}

/// Arrays of items that take no bytes could be of any length: Iceberg's writers make none.
fn refuse_empty_items(schema: &Arc<AvroSchema>) -> Result<()> {
    match &schema.avro_type {
        AvroType::Array(items) => {
            if SkipCompiler::default().compile(items) == Skip::Nothing {
                return Err(Error::unsupported(
                    "the Avro file has an array whose items hold nothing",
                ));
            }
            refuse_empty_items(items)
        }
        AvroType::Map(values) => refuse_empty_items(values),
        AvroType::Union(branches) => branches.iter().try_for_each(refuse_empty_items),
        AvroType::Record(fields) => fields.iter().try_for_each(|f| refuse_empty_items(&f.schema)),
        _ => Ok(()),
    }
}

/// What is done with a field of a record.
#[derive(Debug)]
enum Step {
    /// It goes to this column.
    Read(usize),
    Skip(Skip),
}

/// The batches of a file. One block is in memory at a time.
pub(crate) struct AvroBatches {
    schema: ArrowSchemaRef,
    columns: Vec<Column>,
    steps: Vec<Step>,
    blocks: Blocks,
    /// In the block.
    position: usize,
    records_left: u64,
    batch_rows: usize,
}

impl fmt::Debug for AvroBatches {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AvroBatches")
            .field("schema", &self.schema)
            .field("blocks", &self.blocks)
            .finish_non_exhaustive()
    }
}

impl AvroBatches {
    /// The next batch; `None` at the end of the file.
    ///
    /// # Errors
    /// Those of reading; `Corrupt` when the file breaks off or holds what its schema does not allow.
    pub(crate) async fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        let mut rows = 0;
        let mut bytes = 0;
        while rows < self.batch_rows && bytes < BATCH_BYTES {
            if self.records_left == 0 && !self.load_block().await? {
                break;
            }
            let start = self.position;
            rows += self.decode(self.batch_rows - rows, BATCH_BYTES - bytes)?;
            bytes += self.position - start;
        }
        if rows == 0 {
            return Ok(None);
        }
        let columns: Result<Vec<ArrayRef>, _> = self.columns.iter_mut().map(Column::finish).collect();
        let bad = |e| Error::corrupt("the Avro file holds values that are not of their type").with_source(e);
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let batch = RecordBatch::try_new_with_options(Arc::clone(&self.schema), columns.map_err(bad)?, &options);
        batch.map(Some).map_err(bad)
    }

    /// Loads the next block that has records; false at the end of the file.
    async fn load_block(&mut self) -> Result<bool> {
        while self.records_left == 0 {
            let Some(records) = self.blocks.advance().await? else {
                return Ok(false);
            };
            self.records_left = records;
            self.position = 0;
        }
        Ok(true)
    }

    /// Decodes records of the block, so many rows at most and until they take so many bytes; returns how many.
    fn decode(&mut self, most_rows: usize, most_bytes: usize) -> Result<usize> {
        let records = usize::try_from(self.records_left).unwrap_or(usize::MAX).min(most_rows);
        let mut cursor = Cursor::new(self.blocks.block()).at(self.position);
        let enough = self.position.saturating_add(most_bytes);
        let mut decoded = 0;
        while decoded < records && cursor.position() < enough {
            decode_record(&self.steps, &mut self.columns, &mut cursor)?;
            decoded += 1;
        }
        self.position = cursor.position();
        self.records_left -= decoded as u64;
        if self.records_left == 0 && cursor.remaining() > 0 {
            return Err(Error::corrupt("an Avro block holds more than its records"));
        }
        Ok(decoded)
    }
}

fn decode_record(steps: &[Step], columns: &mut [Column], cursor: &mut Cursor<'_>) -> Result<(), Malformed> {
    for step in steps {
        match step {
            Step::Skip(skip) => skip.skip(cursor)?,
            Step::Read(index) => {
                if let Some(column) = columns.get_mut(*index) {
                    column.decode(cursor)?;
                }
            }
        }
    }
    cursor.check()
}

#[cfg(test)]
mod tests;
