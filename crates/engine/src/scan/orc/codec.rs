//! Codecs of ORC's chunks (ORC specification, "Compression").

use libdeflater::Decompressor as Inflate;
use tarn_format::{Error, Result};
use zstd::bulk::Decompressor as Unzstd;

use super::lzo;

/// The most that a chunk may hold: its length is of 23 bits.
pub(super) const MAX_CHUNK_BYTES: usize = 1 << 23;

/// How the chunks of a file are compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Codec {
    /// Raw deflate.
    Zlib,
    Snappy,
    Lzo,
    Lz4,
    Zstd,
}

impl Codec {
    /// The codec of a `CompressionKind`; `None` when files are not cut into chunks at all.
    ///
    /// # Errors
    /// `Unsupported` for numbers that are not known.
    pub(super) fn of(kind: u64) -> Result<Option<Self>> {
        Ok(Some(match kind {
            0 => return Ok(None),
            1 => Codec::Zlib,
            2 => Codec::Snappy,
            3 => Codec::Lzo,
            4 => Codec::Lz4,
            5 => Codec::Zstd,
            other => {
                return Err(Error::unsupported(format!(
                    "the ORC file is compressed by a codec that is not known (number {other})"
                )));
            }
        }))
    }
}

/// Decompresses the chunks of a stream.
pub(super) struct Decompressor {
    codec: Codec,
    /// The most that a chunk may hold.
    chunk_bytes: usize,
    inflate: Option<Inflate>,
    unzstd: Option<Unzstd<'static>>,
}

impl Decompressor {
    pub(super) fn new(codec: Codec, chunk_bytes: usize) -> Self {
        Decompressor {
            codec,
            chunk_bytes: chunk_bytes.min(MAX_CHUNK_BYTES),
            inflate: None,
            unzstd: None,
        }
    }

    /// Decompresses a chunk into `out`, whose contents it replaces.
    ///
    /// # Errors
    /// `Corrupt` when the bytes are not of the codec, or more than a chunk of the file may hold.
    pub(super) fn decompress(&mut self, chunk: &[u8], out: &mut Vec<u8>) -> Result<()> {
        match self.codec {
            Codec::Zlib => {
                out.resize(self.chunk_bytes, 0);
                let inflate = self.inflate.get_or_insert_with(Inflate::new);
                let written = inflate.deflate_decompress(chunk, out).map_err(bad)?;
                out.truncate(written);
            }
            Codec::Snappy => {
                let len = snap::raw::decompress_len(chunk).map_err(bad)?;
                if len > self.chunk_bytes {
                    return Err(Error::corrupt(format!(
                        "a chunk of the ORC file holds {len} bytes where {} are the most",
                        self.chunk_bytes
                    )));
                }
                out.resize(len, 0);
                let written = snap::raw::Decoder::new().decompress(chunk, out).map_err(bad)?;
                out.truncate(written);
            }
            Codec::Lz4 => {
                out.resize(self.chunk_bytes, 0);
                let written = lz4_flex::block::decompress_into(chunk, out).map_err(bad)?;
                out.truncate(written);
            }
            Codec::Zstd => {
                out.clear();
                out.reserve(self.chunk_bytes);
                if self.unzstd.is_none() {
                    self.unzstd = Some(Unzstd::new().map_err(bad)?);
                }
                if let Some(unzstd) = &mut self.unzstd {
                    unzstd.decompress_to_buffer(chunk, out).map_err(bad)?;
                }
            }
            Codec::Lzo => lzo::decompress(chunk, self.chunk_bytes, out)?,
        }
        Ok(())
    }
}

fn bad(error: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::corrupt("a chunk of the ORC file cannot be decompressed").with_source(error)
}
