//! What the end of an ORC file tells: its types, stripes and codec (ORC specification, "File Tail").

use bytes::Bytes;
use tarn_format::{Error, Result};

use super::codec::{Codec, MAX_CHUNK_BYTES};
use super::protobuf::{Fields, Value};
use super::stream::{Compression, Stream};
use super::types::OrcType;

/// What the footer may take in memory.
const MAX_FOOTER_BYTES: usize = 256 << 20;

/// Bytes that a chunk holds at most when the file does not say.
const DEFAULT_CHUNK_BYTES: u64 = 256 << 10;

/// The last message of a file, which is never compressed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PostScript {
    pub(super) compression: Compression,
    /// Bytes of the footer, and of what lies behind it.
    footer_bytes: u64,
    behind_bytes: u64,
}

impl PostScript {
    /// Reads it from the end of a file.
    ///
    /// # Errors
    /// `Corrupt` when this is no end of an ORC file, `Unsupported` for codecs that are not known.
    pub(super) fn read(end: &[u8], file_bytes: u64) -> Result<Self> {
        let (len, rest) = end.split_last().ok_or_else(no_file)?;
        let start = rest.len().checked_sub(usize::from(*len)).ok_or_else(no_file)?;
        let message = rest.get(start..).unwrap_or_default();
        let (mut footer_bytes, mut chunk_bytes, mut codec) = (None, DEFAULT_CHUNK_BYTES, None);
        let mut fields = Fields::of(message);
        let mut is_orc = false;
        while let Some((number, value)) = fields.next_field().map_err(|_| no_file())? {
            match number {
                1 => footer_bytes = Some(value.number()),
                2 => codec = Codec::of(value.number())?,
                3 => chunk_bytes = value.number(),
                8000 => is_orc = value.bytes() == b"ORC",
                _ => {}
            }
        }
        let behind_bytes = u64::from(*len) + 1;
        let footer_bytes = footer_bytes.filter(|_| is_orc).ok_or_else(no_file)?;
        if footer_bytes.saturating_add(behind_bytes) > file_bytes {
            return Err(Error::corrupt(format!(
                "the ORC file has {file_bytes} bytes, fewer than its footer takes"
            )));
        }
        Ok(PostScript {
            compression: Compression {
                codec,
                chunk_bytes: usize::try_from(chunk_bytes).unwrap_or(MAX_CHUNK_BYTES),
            },
            footer_bytes,
            behind_bytes,
        })
    }

    /// How many bytes of the file's end hold the footer and all behind it.
    pub(super) fn tail_bytes(&self) -> u64 {
        self.footer_bytes + self.behind_bytes
    }

    /// The footer of a file's end that has [`Self::tail_bytes`] at least, decompressed.
    pub(super) fn footer(&self, end: &Bytes) -> Result<Vec<u8>> {
        let bytes_at = |back: u64| usize::try_from(back).ok().and_then(|back| end.len().checked_sub(back));
        let (Some(start), Some(stop)) = (bytes_at(self.tail_bytes()), bytes_at(self.behind_bytes)) else {
            return Err(no_file());
        };
        Stream::new(Some(end.slice(start..stop)), self.compression).read_to_end(MAX_FOOTER_BYTES)
    }
}

fn no_file() -> Error {
    Error::corrupt("the file is no ORC file, or its end is missing")
}

/// Where a stripe lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct StripePlace {
    /// Of its first byte in the file.
    pub(super) offset: u64,
    /// Bytes of its streams: indexes, then data.
    pub(super) streams_bytes: u64,
    pub(super) footer_bytes: u64,
    pub(super) rows: u64,
    /// The position of its first row in the file.
    pub(super) first_row: u64,
}

/// The footer of a file.
#[derive(Debug)]
pub(super) struct Footer {
    /// A tree in the order of its nodes, the root first.
    pub(super) types: Vec<OrcType>,
    pub(super) stripes: Vec<StripePlace>,
}

impl Footer {
    /// # Errors
    /// `Corrupt` when it contradicts itself or the file's size, `Unsupported` for encrypted columns.
    pub(super) fn read(message: &[u8], file_bytes: u64) -> Result<Self> {
        let (mut types, mut stripes) = (Vec::new(), Vec::new());
        let mut fields = Fields::of(message);
        let mut first_row = 0_u64;
        while let Some((number, value)) = fields.next_field()? {
            match number {
                3 => {
                    let stripe = stripe(value, first_row, file_bytes)?;
                    first_row = stripe.first_row.saturating_add(stripe.rows);
                    stripes.push(stripe);
                }
                4 => types.push(OrcType::read(value.bytes())?),
                10 => {
                    return Err(Error::unsupported(
                        "the ORC file has encrypted columns, which cannot be read",
                    ));
                }
                _ => {}
            }
        }
        // Positions of rows are of 64 bits with a sign.
        if i64::try_from(first_row).is_err() {
            return Err(Error::corrupt(format!(
                "the ORC file says that it has {first_row} rows"
            )));
        }
        Ok(Footer { types, stripes })
    }
}

fn stripe(value: Value<'_>, first_row: u64, file_bytes: u64) -> Result<StripePlace> {
    let (mut offset, mut index_bytes, mut data_bytes, mut footer_bytes, mut rows) = (0, 0, 0, 0, 0);
    let mut fields = Fields::of(value.bytes());
    while let Some((number, value)) = fields.next_field()? {
        match number {
            1 => offset = value.number(),
            2 => index_bytes = value.number(),
            3 => data_bytes = value.number(),
            4 => footer_bytes = value.number(),
            5 => rows = value.number(),
            _ => {}
        }
    }
    let streams_bytes: u64 = index_bytes.saturating_add(data_bytes);
    let end = offset.saturating_add(streams_bytes).saturating_add(footer_bytes);
    if end > file_bytes {
        return Err(Error::corrupt(format!(
            "a stripe of the ORC file ends at byte {end}, and the file at {file_bytes}"
        )));
    }
    Ok(StripePlace {
        offset,
        streams_bytes,
        footer_bytes,
        rows,
        first_row,
    })
}
