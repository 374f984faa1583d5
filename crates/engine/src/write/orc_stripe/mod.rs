//! One stripe of an ORC file: rows encoded into the streams of their columns (ORC specification, "Stripes").

mod byte_runs;
mod chunks;
mod column;
mod integers;

use arrow::array::RecordBatch;
use bytes::Bytes;
use tarn_format::Result;

use chunks::Compressor;
pub(super) use chunks::{CHUNK_BYTES, ChunkForm, append_chunk};
use column::ColumnEncoder;

use super::orc_options::OrcCodec;
use super::orc_schema::OrcColumn;
use crate::scan::orc::protobuf::{put_bytes, put_number};

/// What a stream holds, by its number in a file (`Stream.Kind`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StreamKind {
    Present = 0,
    Data = 1,
    Length = 2,
    Secondary = 5,
}

/// A stream that is not compressed yet.
struct Stream {
    kind: StreamKind,
    column: u64,
    bytes: Vec<u8>,
}

/// What is known of a column of a stripe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Facts {
    /// Values that are not null.
    pub(super) values: u64,
    pub(super) has_null: bool,
    /// Of its streams as they are stored.
    pub(super) bytes: u64,
    encoding: u64,
}

impl Facts {
    /// Of the struct that rows are.
    pub(super) fn of_rows(rows: u64) -> Self {
        Facts {
            values: rows,
            ..Facts::default()
        }
    }

    /// Takes in what is known of another stripe.
    pub(super) fn add(&mut self, stripe: &Facts) {
        self.values += stripe.values;
        self.has_null |= stripe.has_null;
        self.bytes += stripe.bytes;
    }
}

/// A stripe's bytes, and what a footer says of it.
#[derive(Debug)]
pub(super) struct EncodedStripe {
    /// Its streams, then its footer.
    pub(super) bytes: Bytes,
    pub(super) streams_bytes: u64,
    pub(super) rows: u64,
    /// Of the columns at all depths, in the order of types, without the root.
    pub(super) facts: Vec<Facts>,
}

/// Encodes rows of these columns.
///
/// # Errors
/// `InvalidInput` for values that the format cannot hold; `Io` when compression fails.
pub(super) fn encode(columns: &[OrcColumn], rows: &[RecordBatch], codec: OrcCodec) -> Result<EncodedStripe> {
    let mut encoders: Vec<ColumnEncoder> = columns.iter().map(ColumnEncoder::new).collect();
    for batch in rows {
        for (encoder, array) in encoders.iter_mut().zip(batch.columns()) {
            encoder.write(array)?;
        }
    }
    let (mut streams, mut facts, mut place) = (Vec::new(), Vec::new(), 1);
    for encoder in encoders {
        encoder.finish(&mut place, &mut streams, &mut facts);
    }
    let rows = rows.iter().map(|batch| batch.num_rows() as u64).sum();
    stored(streams, facts, rows, codec)
}

fn stored(streams: Vec<Stream>, mut facts: Vec<Facts>, rows: u64, codec: OrcCodec) -> Result<EncodedStripe> {
    let mut compressor = Compressor::new(codec)?;
    let (mut bytes, mut footer) = (Vec::new(), Vec::new());
    for stream in streams {
        let start = bytes.len();
        compressor.append(&stream.bytes, &mut bytes)?;
        let len = (bytes.len() - start) as u64;
        if let Some(fact) = facts.get_mut(stream.column as usize - 1) {
            fact.bytes += len;
        }
        let mut message = Vec::new();
        put_number(&mut message, 1, stream.kind as u64);
        put_number(&mut message, 2, stream.column);
        put_number(&mut message, 3, len);
        put_bytes(&mut footer, 1, &message);
    }
    const ROOT_ENCODING: u64 = 0;
    for encoding in std::iter::once(ROOT_ENCODING).chain(facts.iter().map(|fact| fact.encoding)) {
        let mut message = Vec::new();
        put_number(&mut message, 1, encoding);
        put_bytes(&mut footer, 2, &message);
    }
    // What clocks show is stored as if they showed UTC (Java: `OrcFile.WriterOptions.useUTCTimestamp`).
    put_bytes(&mut footer, 3, b"UTC");
    let streams_bytes = bytes.len() as u64;
    compressor.append(&footer, &mut bytes)?;
    Ok(EncodedStripe {
        bytes: Bytes::from(bytes),
        streams_bytes,
        rows,
        facts,
    })
}
