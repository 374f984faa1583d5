//! Block codecs of Avro container files.

use std::io::{Read, Write};

use libdeflater::{CompressionLvl, Compressor as Deflate, DecompressionError, Decompressor as Inflate};

use crate::error::{Error, ErrorKind, Result};
use crate::spec::snapshot::Properties;

/// The most a block may inflate to. Writers make blocks of 16 KB to a few MB.
pub const MAX_BLOCK_BYTES: usize = 512 << 20;

/// The memory that an xz decoder may take: the highest preset's dictionary of 64 MiB, and its tables.
const XZ_MEMORY_BYTES: u64 = 128 << 20;

/// Room that every block gets at first: twice Java's blocks.
const MIN_ROOM_BYTES: usize = 128 << 10;

/// A block codec.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Codec {
    /// Not compressed.
    Null,
    /// Raw deflate, which Iceberg calls gzip. The level is 0 to 9.
    Deflate(u8),
    /// Snappy with a CRC of the uncompressed bytes.
    Snappy,
    /// Zstandard. The level is 1 to 22.
    Zstandard(u8),
    /// Bzip2.
    Bzip2,
    /// Xz.
    Xz,
}

impl Default for Codec {
    /// What `write.manifest.compression-codec` is when not set.
    fn default() -> Self {
        Codec::Deflate(DEFLATE_LEVEL)
    }
}

/// Java's is 9. libdeflate's level 6 makes manifests about as small as zlib's 6 in two thirds of its time; 9 would save
/// 2 to 6 percent for half as much time again.
const DEFLATE_LEVEL: u8 = 6;
const ZSTANDARD_LEVEL: u8 = 3;

/// Table property: codec of manifests.
pub const MANIFEST_COMPRESSION_CODEC: &str = "write.manifest.compression-codec";
/// Table property: its level.
pub const MANIFEST_COMPRESSION_LEVEL: &str = "write.manifest.compression-level";

impl Codec {
    /// The codec of this `avro.codec` name, at its default level.
    ///
    /// # Errors
    /// `Unsupported` when unknown.
    pub fn from_avro_name(name: &str) -> Result<Self> {
        match name {
            "null" | "" => Ok(Codec::Null),
            "deflate" => Ok(Codec::default()),
            "snappy" => Ok(Codec::Snappy),
            "zstandard" => Ok(Codec::Zstandard(ZSTANDARD_LEVEL)),
            "bzip2" => Ok(Codec::Bzip2),
            "xz" => Ok(Codec::Xz),
            other => Err(Error::unsupported(format!("Avro codec '{other}' is not known"))),
        }
    }

    /// The codec that a table's properties ask for in manifests.
    ///
    /// # Errors
    /// `InvalidInput` when codec or level make no sense.
    pub fn from_properties(properties: &Properties) -> Result<Self> {
        let level = match properties.get(MANIFEST_COMPRESSION_LEVEL) {
            None => None,
            Some(text) => Some(text.trim().parse::<u8>().map_err(|e| {
                Error::invalid(format!("{MANIFEST_COMPRESSION_LEVEL} '{text}' is not a level")).with_source(e)
            })?),
        };
        let Some(name) = properties.get(MANIFEST_COMPRESSION_CODEC) else {
            return Ok(level.map_or_else(Codec::default, |l| Codec::Deflate(l.min(9))));
        };
        match name.to_ascii_lowercase().as_str() {
            "gzip" | "deflate" => Ok(Codec::Deflate(level.unwrap_or(DEFLATE_LEVEL).min(9))),
            "zstd" | "zstandard" => Ok(Codec::Zstandard(level.unwrap_or(ZSTANDARD_LEVEL).clamp(1, 22))),
            "snappy" => Ok(Codec::Snappy),
            "uncompressed" | "null" | "none" => Ok(Codec::Null),
            other => Err(Error::invalid(format!(
                "{MANIFEST_COMPRESSION_CODEC} '{other}' is not one of gzip, zstd, snappy, uncompressed"
            ))),
        }
    }

    /// The `avro.codec` name.
    pub fn avro_name(self) -> &'static str {
        match self {
            Codec::Null => "null",
            Codec::Deflate(_) => "deflate",
            Codec::Snappy => "snappy",
            Codec::Zstandard(_) => "zstandard",
            Codec::Bzip2 => "bzip2",
            Codec::Xz => "xz",
        }
    }
}

/// A block after decompression, in a buffer that is reused from block to block.
///
/// [`PADDING`] zero bytes follow the block, so that readers may load words without looking for the end.
#[derive(Debug, Default)]
pub struct BlockBuffer {
    bytes: Vec<u8>,
    len: usize,
}

/// Zero bytes after a block.
pub const PADDING: usize = 16;

impl BlockBuffer {
    /// The block.
    pub fn block(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or_default()
    }

    /// The block and its padding.
    pub fn padded(&self) -> &[u8] {
        self.bytes.get(..self.len + PADDING).unwrap_or_default()
    }

    /// A buffer that holds these bytes.
    pub fn of(block: &[u8]) -> Self {
        let mut buffer = BlockBuffer::default();
        buffer.fill(block);
        buffer
    }

    fn fill(&mut self, block: &[u8]) {
        self.reserve(block.len());
        if let Some(place) = self.bytes.get_mut(..block.len()) {
            place.copy_from_slice(block);
        }
        self.finish(block.len());
    }

    /// Makes the buffer at least that long, padding apart.
    fn reserve(&mut self, len: usize) {
        if self.bytes.len() < len + PADDING {
            self.bytes.resize(len + PADDING, 0);
        }
    }

    fn finish(&mut self, len: usize) {
        self.len = len;
        if let Some(padding) = self.bytes.get_mut(len..len + PADDING) {
            padding.fill(0);
        }
    }
}

/// Decompresses the blocks of one file.
pub struct Decompressor {
    codec: Codec,
    inflate: Option<Inflate>,
}

impl std::fmt::Debug for Decompressor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Decompressor").field("codec", &self.codec).finish()
    }
}

impl Decompressor {
    /// For blocks of this codec.
    pub fn new(codec: Codec) -> Self {
        let inflate = matches!(codec, Codec::Deflate(_)).then(Inflate::new);
        Decompressor { codec, inflate }
    }

    /// Decompresses one block.
    ///
    /// # Errors
    /// `Corrupt` when the bytes are not of the codec, `ResourcesExhausted` above [`MAX_BLOCK_BYTES`].
    pub fn decompress(&mut self, block: &[u8], out: &mut BlockBuffer) -> Result<()> {
        match (self.codec, &mut self.inflate) {
            (Codec::Deflate(_), Some(state)) => inflate(state, block, out),
            (Codec::Snappy, _) => unsnap(block, out),
            (Codec::Zstandard(_), _) => {
                let decoder = zstd::stream::read::Decoder::with_buffer(block).map_err(|e| bad("zstandard", e))?;
                read_capped(decoder, "zstandard", block.len(), out)
            }
            (Codec::Bzip2, _) => read_capped(bzip2::read::BzDecoder::new(block), "bzip2", block.len(), out),
            (Codec::Xz, _) => {
                // The dictionary is as large as the block says, before a byte of it is known to be good.
                let stream =
                    liblzma::stream::Stream::new_stream_decoder(XZ_MEMORY_BYTES, 0).map_err(|e| bad("xz", e))?;
                let decoder = liblzma::read::XzDecoder::new_stream(block, stream);
                read_capped(decoder, "xz", block.len(), out)
            }
            _ => {
                out.fill(block);
                Ok(())
            }
        }
    }
}

/// libdeflate inflates whole blocks, a third faster than zlib-rs and other streaming libraries. It must be given
/// room for all of the block, which Avro does not tell: the room is doubled until it suffices, and kept.
fn inflate(state: &mut Inflate, block: &[u8], out: &mut BlockBuffer) -> Result<()> {
    out.reserve(block.len().saturating_mul(4).clamp(MIN_ROOM_BYTES, MAX_BLOCK_BYTES));
    loop {
        let room = out.bytes.len() - PADDING;
        let place = out.bytes.get_mut(..room).unwrap_or_default();
        match state.deflate_decompress(block, place) {
            Ok(written) => {
                out.finish(written);
                return Ok(());
            }
            Err(DecompressionError::InsufficientSpace) => grow(out, room)?,
            Err(e) => return Err(bad("deflate", e)),
        }
    }
}

fn grow(out: &mut BlockBuffer, len: usize) -> Result<()> {
    if len >= MAX_BLOCK_BYTES {
        return Err(too_large());
    }
    out.reserve(len.saturating_mul(2).min(MAX_BLOCK_BYTES));
    Ok(())
}

fn unsnap(block: &[u8], out: &mut BlockBuffer) -> Result<()> {
    let Some((body, crc)) = block.split_last_chunk::<4>() else {
        return Err(Error::corrupt("an Avro block is too short for its snappy checksum"));
    };
    let len = snap::raw::decompress_len(body).map_err(|e| bad("snappy", e))?;
    // Snappy copies at most 64 bytes for three of input: a length beyond that is a lie.
    if len > MAX_BLOCK_BYTES || len > body.len().saturating_mul(64) {
        return Err(too_large());
    }
    out.reserve(len);
    let place = out.bytes.get_mut(..len).unwrap_or_default();
    let written = snap::raw::Decoder::new()
        .decompress(body, place)
        .map_err(|e| bad("snappy", e))?;
    out.finish(written);
    if crc32fast::hash(out.block()) != u32::from_be_bytes(*crc) {
        return Err(Error::corrupt("an Avro block does not match its snappy checksum"));
    }
    Ok(())
}

fn read_capped(mut reader: impl Read, codec: &'static str, len: usize, out: &mut BlockBuffer) -> Result<()> {
    out.reserve(len.saturating_mul(4).clamp(MIN_ROOM_BYTES, MAX_BLOCK_BYTES));
    let mut written = 0;
    loop {
        let room = out.bytes.len() - PADDING;
        if written >= room {
            grow(out, room)?;
            continue;
        }
        let place = out.bytes.get_mut(written..room).unwrap_or_default();
        match reader.read(place) {
            Ok(0) => break,
            Ok(n) => written += n,
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
            Err(e) => return Err(bad(codec, e)),
        }
    }
    out.finish(written);
    Ok(())
}

/// Compresses the blocks of one file.
pub struct Compressor {
    codec: Codec,
    deflate: Option<Deflate>,
}

impl std::fmt::Debug for Compressor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Compressor").field("codec", &self.codec).finish()
    }
}

impl Compressor {
    /// For blocks of this codec.
    pub fn new(codec: Codec) -> Self {
        let deflate = match codec {
            Codec::Deflate(level) => CompressionLvl::new(i32::from(level.min(9))).ok().map(Deflate::new),
            _ => None,
        };
        Compressor { codec, deflate }
    }

    /// Compresses one block, behind what `out` holds.
    ///
    /// # Errors
    /// `Io` when the library fails, which it does only out of memory.
    pub fn compress(&mut self, block: &[u8], out: &mut Vec<u8>) -> Result<()> {
        match (self.codec, &mut self.deflate) {
            (Codec::Deflate(_), Some(state)) => deflate(state, block, out)?,
            // The library knows every level there is.
            (Codec::Deflate(level), None) => {
                return Err(Error::invalid(format!("there is no level {level} of deflate")));
            }
            (Codec::Null, _) => out.extend_from_slice(block),
            (Codec::Snappy, _) => {
                let body = snap::raw::Encoder::new()
                    .compress_vec(block)
                    .map_err(|e| failed(std::io::Error::other(e)))?;
                out.extend_from_slice(&body);
                out.extend_from_slice(&crc32fast::hash(block).to_be_bytes());
            }
            (Codec::Zstandard(level), _) => {
                zstd::stream::copy_encode(block, out, i32::from(level)).map_err(failed)?;
            }
            (Codec::Bzip2, _) => {
                let mut encoder = bzip2::write::BzEncoder::new(out, bzip2::Compression::best());
                encoder
                    .write_all(block)
                    .and_then(|()| encoder.finish())
                    .map_err(failed)?;
            }
            (Codec::Xz, _) => {
                let mut encoder = liblzma::write::XzEncoder::new(out, 6);
                encoder
                    .write_all(block)
                    .and_then(|()| encoder.finish())
                    .map_err(failed)?;
            }
        }
        Ok(())
    }
}

fn deflate(state: &mut Deflate, block: &[u8], out: &mut Vec<u8>) -> Result<()> {
    let start = out.len();
    out.resize(start + state.deflate_compress_bound(block.len()), 0);
    let place = out.get_mut(start..).unwrap_or_default();
    let written = state
        .deflate_compress(block, place)
        .map_err(|e| failed(std::io::Error::other(e)))?;
    out.truncate(start + written);
    Ok(())
}

fn failed(e: std::io::Error) -> Error {
    Error::new(ErrorKind::Io, "compressing an Avro block failed").with_source(e)
}

fn bad(codec: &str, e: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Error {
    Error::corrupt(format!("an Avro block is not valid {codec}")).with_source(e)
}

fn too_large() -> Error {
    Error::new(ErrorKind::ResourcesExhausted, "an Avro block inflates beyond 512 MiB")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_compressed_comes_back() {
        let levels = (0..=9).map(Codec::Deflate);
        let others = [Codec::Null, Codec::Snappy, Codec::Zstandard(3), Codec::Bzip2, Codec::Xz];
        let long: Vec<u8> = (0..300_000_u32).flat_map(|n| (n / 7).to_le_bytes()).collect();
        for codec in levels.chain(others) {
            let (mut compressor, mut decompressor) = (Compressor::new(codec), Decompressor::new(codec));
            // One state serves all blocks of a file.
            for block in [&long[..], b"a", b"", &long[..1000]] {
                let mut compressed = b"before".to_vec();
                compressor.compress(block, &mut compressed).unwrap();
                let mut out = BlockBuffer::default();
                decompressor.decompress(&compressed[6..], &mut out).unwrap();
                assert!(out.block() == block, "{codec:?}, {} bytes", block.len());
            }
        }
    }
}
