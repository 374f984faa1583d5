//! Reading puffin files: the footer in one ranged read, blobs one at a time.

use bytes::Bytes;

use super::BlobMetadata;
use super::codec::BlobCodec;
use super::footer::{Footer, FooterParse, parse_footer};
use crate::error::{Error, Result, ResultExt};
use crate::io::FileIo;

/// How much of the file's end is fetched at first: footers of a few dozen blobs fit.
const TAIL_BYTES: u64 = 16 * 1024;
/// The most bytes that a compressed blob may unfold to.
const MAX_BLOB_BYTES: u64 = 256 << 20;

/// An open puffin file.
#[derive(Debug, Clone)]
pub struct PuffinReader {
    io: FileIo,
    location: String,
    footer: Footer,
    file_size: u64,
}

impl PuffinReader {
    /// Opens a file: one read, two when the footer is large.
    ///
    /// # Errors
    /// Those of reading, and `Corrupt` or `Unsupported` for the footer, naming the file.
    pub async fn open(io: &FileIo, location: &str) -> Result<Self> {
        let (tail, file_size) = io.read_tail(location, TAIL_BYTES).await?;
        Self::with_tail(io, location, &tail, file_size).await
    }

    /// Opens a file of known size and, where table metadata records it, footer size.
    ///
    /// # Errors
    /// As [`PuffinReader::open`]; a wrong size is `Corrupt`.
    pub async fn open_sized(io: &FileIo, location: &str, file_size: u64, footer_size: Option<u64>) -> Result<Self> {
        let tail_bytes = footer_size
            .unwrap_or(TAIL_BYTES)
            .clamp(1, file_size.max(1))
            .min(file_size);
        let tail = io.read_range(location, file_size - tail_bytes..file_size).await?;
        Self::with_tail(io, location, &tail, file_size).await
    }

    async fn with_tail(io: &FileIo, location: &str, tail: &Bytes, file_size: u64) -> Result<Self> {
        let parsed = parse_footer(tail, file_size).context("file", location)?;
        let parsed = match parsed {
            FooterParse::Complete(..) => parsed,
            // The parser has checked that the file holds that many.
            FooterParse::NeedsBytes(n) => {
                let whole = io.read_range(location, file_size.saturating_sub(n)..file_size).await?;
                parse_footer(&whole, file_size).context("file", location)?
            }
        };
        match parsed {
            FooterParse::Complete(footer, _) => Ok(PuffinReader {
                io: io.clone(),
                location: location.to_string(),
                footer,
                file_size,
            }),
            FooterParse::NeedsBytes(_) => {
                Err(Error::corrupt("puffin footer changes its length while read").with_context("file", location))
            }
        }
    }

    /// The footer.
    pub fn footer(&self) -> &Footer {
        &self.footer
    }

    /// Length of the file in bytes.
    pub fn file_size(&self) -> u64 {
        self.file_size
    }

    /// The contents of a blob, decompressed.
    ///
    /// # Errors
    /// `Unsupported` for an unknown codec, `Corrupt` when it cannot be decompressed, `ResourcesExhausted` when it unfolds to
    /// more than 256 MiB.
    pub async fn read_blob(&self, blob: &BlobMetadata) -> Result<Bytes> {
        let end = blob
            .offset
            .checked_add(blob.length)
            .filter(|end| *end <= self.file_size)
            .ok_or_else(|| Error::corrupt("puffin blob lies outside of its file"))
            .context("file", self.location.as_str())?;
        let raw = self.io.read_range(&self.location, blob.offset..end).await?;
        decode_blob(blob, raw).context("file", self.location.as_str())
    }
}

/// Decompresses a blob's bytes as its metadata says.
///
/// # Errors
/// As [`PuffinReader::read_blob`].
pub fn decode_blob(blob: &BlobMetadata, raw: Bytes) -> Result<Bytes> {
    match BlobCodec::from_name(blob.compression_codec.as_deref())? {
        BlobCodec::None => Ok(raw),
        codec => Ok(codec.decompress(&raw, MAX_BLOB_BYTES)?.into_owned().into()),
    }
}
