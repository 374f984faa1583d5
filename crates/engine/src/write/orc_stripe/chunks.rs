//! A stream cut into chunks that are compressed one by one (ORC specification, "Compression").

use libdeflater::{CompressionLvl, Compressor as Deflate};
use tarn_format::{Error, ErrorKind, Result};
use zstd::bulk::Compressor as Zstd;

use crate::write::orc_options::OrcCodec;

/// Bytes that a chunk holds at most before it is compressed.
pub(in crate::write) const CHUNK_BYTES: usize = 256 << 10;

/// Bytes of a chunk's header.
const HEADER_BYTES: usize = 3;

/// Zstandard's own default.
const ZSTD_LEVEL: i32 = 3;

/// Compresses streams.
pub(super) struct Compressor(Method);

enum Method {
    None,
    Deflate(Box<Deflate>),
    Snappy(Box<snap::raw::Encoder>),
    Lz4,
    Zstd(Box<Zstd<'static>>),
}

impl Compressor {
    /// # Errors
    /// `Io` when the library cannot be set up.
    pub(super) fn new(codec: OrcCodec) -> Result<Self> {
        Ok(Compressor(match codec {
            OrcCodec::None => Method::None,
            OrcCodec::Zlib => Method::Deflate(Box::new(Deflate::new(CompressionLvl::default()))),
            OrcCodec::Snappy => Method::Snappy(Box::new(snap::raw::Encoder::new())),
            OrcCodec::Lz4 => Method::Lz4,
            OrcCodec::Zstd => Method::Zstd(Box::new(Zstd::new(ZSTD_LEVEL).map_err(failed)?)),
        }))
    }

    /// Appends the stream as it is stored.
    ///
    /// # Errors
    /// `Io` when compression fails.
    pub(super) fn append(&mut self, stream: &[u8], out: &mut Vec<u8>) -> Result<()> {
        if matches!(self.0, Method::None) {
            out.extend_from_slice(stream);
            return Ok(());
        }
        let mut compressed = Vec::new();
        for chunk in stream.chunks(CHUNK_BYTES) {
            self.compress(chunk, &mut compressed)?;
            match compressed.len() < chunk.len() {
                true => append_chunk(&compressed, ChunkForm::Compressed, out),
                false => append_chunk(chunk, ChunkForm::AsItIs, out),
            }
        }
        Ok(())
    }

    fn compress(&mut self, chunk: &[u8], out: &mut Vec<u8>) -> Result<()> {
        out.clear();
        match &mut self.0 {
            Method::None => out.extend_from_slice(chunk),
            Method::Deflate(deflate) => {
                out.resize(deflate.deflate_compress_bound(chunk.len()), 0);
                let len = deflate.deflate_compress(chunk, out).map_err(failed)?;
                out.truncate(len);
            }
            Method::Snappy(snappy) => {
                out.resize(snap::raw::max_compress_len(chunk.len()), 0);
                let len = snappy.compress(chunk, out).map_err(failed)?;
                out.truncate(len);
            }
            Method::Lz4 => *out = lz4_flex::block::compress(chunk),
            Method::Zstd(zstd) => *out = zstd.compress(chunk).map_err(failed)?,
        }
        Ok(())
    }
}

/// How a chunk's bytes stand in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::write) enum ChunkForm {
    Compressed,
    AsItIs,
}

/// Appends a chunk of a file that is compressed.
pub(in crate::write) fn append_chunk(chunk: &[u8], stored: ChunkForm, out: &mut Vec<u8>) {
    let header = (chunk.len() as u32) << 1 | u32::from(stored == ChunkForm::AsItIs);
    out.extend_from_slice(header.to_le_bytes().get(..HEADER_BYTES).unwrap_or_default());
    out.extend_from_slice(chunk);
}

fn failed(error: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::new(ErrorKind::Io, "a stream of an ORC file cannot be compressed").with_source(error)
}
