//! The blocks of an Avro file, fetched piece by piece: a piece of the file and a block are in memory, not all of it.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use tarn_format::io::FileIo;
use tarn_format::manifest::avro::codec::{BlockBuffer, Decompressor};
use tarn_format::manifest::avro::container::{Header, MAGIC, block_len, read_block, read_header};
use tarn_format::{Error, ErrorKind, Result, ResultExt};

/// Bytes that are fetched at a time, unless a block is larger.
const PIECE_BYTES: u64 = 8 << 20;

/// What the header may take: it holds the schema as text.
const MAX_HEADER_BYTES: u64 = 256 << 20;

/// A file whose header was read.
pub(super) struct Blocks {
    io: FileIo,
    location: Arc<str>,
    pub(super) header: Header,
    file_bytes: u64,
    /// A piece of the file from the next block on.
    piece: Bytes,
    /// Where the piece begins.
    start: u64,
    decompressor: Decompressor,
    block: BlockBuffer,
}

impl fmt::Debug for Blocks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Blocks")
            .field("location", &self.location)
            .field("start", &self.start)
            .finish_non_exhaustive()
    }
}

impl Blocks {
    /// Reads the header.
    ///
    /// # Errors
    /// Those of reading; `Corrupt` when this is no Avro file, `Unsupported` when it is encrypted or of an unknown codec.
    pub(super) async fn open(io: &FileIo, location: &str) -> Result<Self> {
        let mut wanted = PIECE_BYTES;
        loop {
            let (piece, file_bytes) = io.read_head(location, wanted).await?;
            match read_header(&piece) {
                Ok((header, rest)) => {
                    let start = piece.len() - rest.len();
                    return Ok(Blocks {
                        io: io.clone(),
                        location: Arc::from(location),
                        decompressor: Decompressor::new(header.codec()),
                        header,
                        file_bytes,
                        piece: piece.slice(start..),
                        start: start as u64,
                        block: BlockBuffer::default(),
                    });
                }
                // It may end behind the piece.
                Err(e) if e.kind() == ErrorKind::Corrupt && may_go_on(&piece, file_bytes) => wanted *= 2,
                Err(e) => return Err(e.with_context("file", location)),
            }
        }
    }

    /// Brings the next block to [`Self::block`]; returns the number of records that it says it holds, `None` at the end of
    /// the file.
    ///
    /// # Errors
    /// Those of reading; `Corrupt` when the file breaks off, or its length or mark is wrong.
    pub(super) async fn advance(&mut self) -> Result<Option<u64>> {
        self.fetch().await.context("file", &*self.location)?;
        let block = read_block(&self.header, &self.piece, &mut self.decompressor, &mut self.block);
        let Some((records, rest)) = block? else {
            return Ok(None);
        };
        let taken = self.piece.len() - rest.len();
        self.piece = self.piece.slice(taken..);
        self.start += taken as u64;
        Ok(Some(records))
    }

    /// The block, decompressed.
    pub(super) fn block(&self) -> &BlockBuffer {
        &self.block
    }

    /// Sees to it that the piece holds the whole of the next block, as far as the file has it.
    async fn fetch(&mut self) -> Result<()> {
        loop {
            let left = self.file_bytes.saturating_sub(self.start);
            let missing = left > self.piece.len() as u64;
            let wanted = match block_len(&self.piece) {
                Ok(Some(len)) if len > self.piece.len() && missing => len as u64,
                Ok(None) if missing => 0,
                _ => return Ok(()),
            };
            let wanted = wanted.max(PIECE_BYTES).min(left);
            if wanted <= self.piece.len() as u64 {
                return Err(Error::corrupt("the Avro file ends inside a block"));
            }
            let range = self.start..self.start + wanted;
            self.piece = self.io.read_range(&self.location, range).await?;
        }
    }
}

/// Whether a header that does not end in the piece may end behind it.
fn may_go_on(piece: &Bytes, file_bytes: u64) -> bool {
    piece.starts_with(MAGIC) && (piece.len() as u64) < file_bytes.min(MAX_HEADER_BYTES)
}
