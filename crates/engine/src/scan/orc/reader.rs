//! Reads the rows of an ORC file in batches, stripe by stripe.

use std::collections::{HashSet, VecDeque};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow::datatypes::{FieldRef, Schema as ArrowSchema, SchemaRef as ArrowSchemaRef};
use tarn_format::io::FileIo;
use tarn_format::{Result, ResultExt};

use super::column::{Column, Room, bad_values, nulls};
use super::file_schema::{FileSchema, Node};
use super::run_length::BooleanRuns;
use super::stream::Compression;
use super::stripe::{StreamKind, Stripe};
use super::tail::{Footer, PostScript, StripePlace};

/// Bytes of a file's end that are read at first: most footers are smaller.
const END_BYTES: u64 = 32 << 10;

/// Bytes of the file, compressed, after which a batch ends, if it has not as many rows yet as it may.
const BATCH_STORED_BYTES: u64 = 16 << 20;

/// The type that all columns belong to.
const ROOT: u64 = 0;

/// A file whose footer was read.
#[derive(Debug)]
pub(crate) struct OrcFile {
    io: FileIo,
    location: Arc<str>,
    compression: Compression,
    stripes: Vec<StripePlace>,
    schema: FileSchema,
}

/// Rows of a file that follow each other.
#[derive(Debug)]
pub(crate) struct RowsAt {
    /// The position of the first.
    pub(crate) first: i64,
    pub(crate) batch: RecordBatch,
}

impl OrcFile {
    /// Reads the footer.
    ///
    /// # Errors
    /// Those of reading; `Corrupt` when this is no ORC file of rows, `Unsupported` for codecs, types and encryption that
    /// cannot be read.
    pub(crate) async fn open(io: &FileIo, location: &str) -> Result<Self> {
        let (mut end, file_bytes) = io.read_tail(location, END_BYTES).await?;
        let opened = async {
            let postscript = PostScript::read(&end, file_bytes)?;
            if postscript.tail_bytes() > end.len() as u64 {
                let start = file_bytes - postscript.tail_bytes();
                end = io.read_range(location, start..file_bytes).await?;
            }
            let footer = Footer::read(&postscript.footer(&end)?, file_bytes)?;
            Ok(OrcFile {
                io: io.clone(),
                location: Arc::from(location),
                compression: postscript.compression,
                schema: FileSchema::of(&footer.types)?,
                stripes: footer.stripes,
            })
        };
        opened.await.context("file", location)
    }

    /// All columns, with their field ids where the file has some.
    pub(crate) fn schema(&self) -> &ArrowSchemaRef {
        &self.schema.arrow
    }

    /// The columns at these indexes, ascending, in batches of so many rows at most, of the stripes that begin in the range.
    pub(crate) fn batches(self, columns: &[usize], batch_rows: usize, range: Option<Range<u64>>) -> OrcBatches {
        let all = self.schema.columns.into_iter().enumerate();
        let columns: Vec<Node> = all.filter(|(i, _)| columns.contains(i)).map(|(_, c)| c).collect();
        let fields: Vec<FieldRef> = columns.iter().map(|c| Arc::clone(&c.field)).collect();
        let mut wanted = HashSet::from([ROOT]);
        columns.iter().for_each(|column| add_all(column, &mut wanted));
        let is_ours = |place: &StripePlace| range.as_ref().is_none_or(|range| range.contains(&place.offset));
        OrcBatches {
            io: self.io,
            location: self.location,
            compression: self.compression,
            stripes: self.stripes.into_iter().filter(is_ours).collect(),
            schema: Arc::new(ArrowSchema::new(fields)),
            columns,
            wanted,
            batch_rows: batch_rows.max(1),
            current: None,
        }
    }
}

fn add_all(node: &Node, columns: &mut HashSet<u64>) {
    columns.insert(node.column);
    node.children.iter().for_each(|child| add_all(child, columns));
}

/// The batches of a file. One stripe is in memory at a time.
pub(crate) struct OrcBatches {
    io: FileIo,
    location: Arc<str>,
    compression: Compression,
    /// Those that were not read yet.
    stripes: VecDeque<StripePlace>,
    schema: ArrowSchemaRef,
    columns: Vec<Node>,
    /// Places of all types that are read.
    wanted: HashSet<u64>,
    batch_rows: usize,
    current: Option<OpenStripe>,
}

impl fmt::Debug for OrcBatches {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OrcBatches")
            .field("schema", &self.schema)
            .field("stripes", &self.stripes.len())
            .finish_non_exhaustive()
    }
}

/// A stripe that is decoded.
struct OpenStripe {
    columns: Vec<Column>,
    /// Which rows are there at all; `None` when all are.
    present: Option<BooleanRuns>,
    next_row: u64,
    rows_left: u64,
    batch_rows: u64,
}

impl OrcBatches {
    /// The next batch; `None` at the end of the file.
    ///
    /// # Errors
    /// Those of reading; `Corrupt` when the file breaks off or holds what its types do not allow.
    pub(crate) async fn next_batch(&mut self) -> Result<Option<RowsAt>> {
        loop {
            if let Some(stripe) = self.current.as_mut().filter(|stripe| stripe.rows_left > 0) {
                let rows = stripe.next_batch(&self.schema);
                return rows.context("file", self.location.as_ref()).map(Some);
            }
            // The stripe's memory is given back before the next one takes its own.
            self.current = None;
            let Some(place) = self.stripes.pop_front() else {
                return Ok(None);
            };
            let opened = self.open(&place).await;
            self.current = Some(opened.context("file", self.location.as_ref())?);
        }
    }

    async fn open(&self, place: &StripePlace) -> Result<OpenStripe> {
        let file = (&self.io, self.location.as_ref());
        let stripe = Stripe::load(file, place, self.compression, &self.wanted).await?;
        let columns: Result<Vec<Column>> = self.columns.iter().map(|node| Column::new(&stripe, node)).collect();
        let row_bytes = stripe.stored_bytes() / place.rows.max(1);
        Ok(OpenStripe {
            columns: columns?,
            present: stripe.own_stream(ROOT, StreamKind::Present).map(BooleanRuns::new),
            next_row: place.first_row,
            rows_left: place.rows,
            batch_rows: (BATCH_STORED_BYTES / row_bytes.max(1)).clamp(1, self.batch_rows as u64),
        })
    }
}

impl OpenStripe {
    fn next_batch(&mut self, schema: &ArrowSchemaRef) -> Result<RowsAt> {
        let count = self.rows_left.min(self.batch_rows);
        let rows = usize::try_from(count).unwrap_or(usize::MAX);
        let mut room = Room::new();
        let present = nulls(self.present.as_mut(), rows, None)?;
        let columns = self.columns.iter_mut();
        let columns: Result<Vec<ArrayRef>> = columns.map(|c| c.read(rows, present.as_ref(), &mut room)).collect();
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let batch = RecordBatch::try_new_with_options(Arc::clone(schema), columns?, &options).map_err(bad_values)?;
        let first = self.next_row as i64;
        self.next_row += count;
        self.rows_left -= count;
        Ok(RowsAt { first, batch })
    }
}

#[cfg(test)]
mod tests;
