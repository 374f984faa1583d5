//! ORC files of rows: decoded into Arrow as their own types say, with field ids (spec, appendix "ORC").
//!
//! A decoder of our own: what it is given may be broken or hostile, and must neither panic nor take the memory that it
//! claims to need; libraries for ORC trust the lengths and runs that they read.

mod codec;
mod column;
mod decimal;
mod file_schema;
mod integers;
mod lzo;
pub(crate) mod protobuf;
mod reader;
mod run_length;
mod sized;
mod stream;
mod stripe;
mod tail;
mod timestamp;
pub(crate) mod types;

#[cfg(test)]
mod made;

pub(crate) use reader::{OrcBatches, OrcFile, RowsAt};

/// The integers of a stream that is not compressed, whose runs are of version 2.
#[cfg(test)]
pub(crate) fn decoded_integers(stream: bytes::Bytes, count: usize) -> tarn_format::Result<Vec<i64>> {
    let compression = stream::Compression {
        codec: None,
        chunk_bytes: 0,
    };
    let stream = stream::Stream::new(Some(stream), compression);
    let mut values = Vec::new();
    integers::IntegerRuns::new(stream, integers::Version::Two, integers::Sign::Signed).read(count, &mut values)?;
    Ok(values)
}
