//! The stripe of a file that has one, taken out of it: stripes do not say where they lie.

use bytes::Bytes;
use tarn_format::{Error, Result};

use super::stripe::stream_bytes;
use super::tail::{Footer, PostScript};

/// A stripe's bytes, and what a footer says of it.
#[derive(Debug)]
pub(crate) struct EncodedStripe {
    /// Its streams, then its footer.
    pub(crate) bytes: Bytes,
    pub(crate) streams_bytes: u64,
    pub(crate) rows: u64,
    /// What each top-level column takes, in a file without others.
    pub(crate) column_bytes: Vec<u64>,
}

/// The only stripe of a whole file of so many columns.
///
/// # Errors
/// `Corrupt` when it is no such file.
pub(crate) fn encoded_stripe(file: &Bytes, columns: usize) -> Result<EncodedStripe> {
    let file_bytes = file.len() as u64;
    let postscript = PostScript::read(file, file_bytes)?;
    let footer = Footer::read(&postscript.footer(file)?, file_bytes)?;
    let [place] = footer.stripes.as_slice() else {
        return Err(Error::corrupt("the ORC file has not one stripe"));
    };
    let start = place.offset as usize;
    let middle = start + place.streams_bytes as usize;
    let end = middle + place.footer_bytes as usize;
    let by_column = stream_bytes(file.slice(middle..end), postscript.compression)?;
    let column_bytes = (1..=columns as u64).map(|column| by_column.get(&column).copied().unwrap_or(0));
    Ok(EncodedStripe {
        bytes: file.slice(start..end),
        streams_bytes: place.streams_bytes,
        rows: place.rows,
        column_bytes: column_bytes.collect(),
    })
}
