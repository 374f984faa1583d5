//! Compression of blobs and footers: one LZ4 or Zstandard frame, with its content size.

use std::borrow::Cow;
use std::io::{Read, Write};

use crate::error::{Error, ErrorKind, Result};

/// How a blob is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BlobCodec {
    /// Not at all.
    #[default]
    None,
    /// An LZ4 frame.
    Lz4,
    /// A Zstandard frame.
    Zstd,
}

impl BlobCodec {
    /// The codec of this name in a footer.
    ///
    /// # Errors
    /// `Unsupported` for another name.
    pub fn from_name(name: Option<&str>) -> Result<Self> {
        match name {
            None => Ok(BlobCodec::None),
            Some("lz4") => Ok(BlobCodec::Lz4),
            Some("zstd") => Ok(BlobCodec::Zstd),
            Some(other) => Err(Error::unsupported(format!(
                "puffin codec '{other}' is not 'lz4' or 'zstd'"
            ))),
        }
    }

    /// The name in footers.
    pub fn name(self) -> Option<&'static str> {
        match self {
            BlobCodec::None => None,
            BlobCodec::Lz4 => Some("lz4"),
            BlobCodec::Zstd => Some("zstd"),
        }
    }

    pub(super) fn compress(self, data: &[u8]) -> Result<Cow<'_, [u8]>> {
        let compressed = match self {
            BlobCodec::None => return Ok(Cow::Borrowed(data)),
            BlobCodec::Zstd => zstd::bulk::compress(data, zstd::DEFAULT_COMPRESSION_LEVEL),
            BlobCodec::Lz4 => {
                let frame = lz4_flex::frame::FrameInfo::new().content_size(Some(data.len() as u64));
                let mut encoder = lz4_flex::frame::FrameEncoder::with_frame_info(frame, Vec::new());
                let written = encoder.write_all(data);
                written.and_then(|()| encoder.finish().map_err(std::io::Error::other))
            }
        };
        compressed
            .map(Cow::Owned)
            .map_err(|e| Error::new(ErrorKind::Io, "puffin blob cannot be compressed").with_source(e))
    }

    /// Unfolds at most `limit` bytes; the buffer grows with what really comes out.
    pub(super) fn decompress(self, data: &[u8], limit: u64) -> Result<Cow<'_, [u8]>> {
        let mut out = Vec::new();
        let read = match self {
            BlobCodec::None => return Ok(Cow::Borrowed(data)),
            BlobCodec::Lz4 => lz4_flex::frame::FrameDecoder::new(data)
                .take(limit.saturating_add(1))
                .read_to_end(&mut out),
            BlobCodec::Zstd => zstd::stream::read::Decoder::new(data)
                .and_then(|decoder| decoder.take(limit.saturating_add(1)).read_to_end(&mut out)),
        };
        read.map_err(|e| Error::corrupt("puffin data cannot be decompressed").with_source(e))?;
        if out.len() as u64 > limit {
            let message = format!("puffin data unfolds to more than {limit} bytes");
            return Err(Error::new(ErrorKind::ResourcesExhausted, message));
        }
        Ok(Cow::Owned(out))
    }
}
