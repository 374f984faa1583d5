//! The bytes of one stream of a stripe, decompressed chunk by chunk as they are read.

use bytes::Bytes;
use tarn_format::{Error, ErrorKind, Result};

use super::codec::{Codec, Decompressor};

/// What a file is compressed by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Compression {
    /// `None` when streams are not cut into chunks.
    pub(super) codec: Option<Codec>,
    /// The most that a chunk may hold.
    pub(super) chunk_bytes: usize,
}

/// Bytes of the header of a chunk.
const HEADER_BYTES: usize = 3;

/// A stream, and where its reader is.
pub(super) struct Stream {
    /// What was not decompressed yet.
    stored: Bytes,
    decompressor: Option<Decompressor>,
    chunk: Chunk,
    /// In the chunk.
    position: usize,
}

enum Chunk {
    Stored(Bytes),
    Decompressed(Vec<u8>),
}

impl Chunk {
    fn bytes(&self) -> &[u8] {
        match self {
            Chunk::Stored(bytes) => bytes,
            Chunk::Decompressed(bytes) => bytes,
        }
    }
}

impl Stream {
    /// A stream that a stripe leaves out holds nothing.
    pub(super) fn new(stored: Option<Bytes>, compression: Compression) -> Self {
        let decompressor = compression
            .codec
            .map(|codec| Decompressor::new(codec, compression.chunk_bytes));
        let stored = stored.unwrap_or_default();
        let (stored, chunk) = match decompressor {
            Some(_) => (stored, Bytes::new()),
            None => (Bytes::new(), stored),
        };
        Stream {
            stored,
            decompressor,
            chunk: Chunk::Stored(chunk),
            position: 0,
        }
    }

    /// What is left of the chunk; the next chunk's bytes at its end, none at the end of the stream.
    pub(super) fn rest(&mut self) -> Result<&[u8]> {
        while self.position >= self.chunk.bytes().len() && !self.stored.is_empty() {
            self.next_chunk()?;
        }
        Ok(self.chunk.bytes().get(self.position..).unwrap_or_default())
    }

    /// Passes over bytes that [`Self::rest`] showed.
    pub(super) fn advance(&mut self, len: usize) {
        self.position += len;
    }

    fn next_chunk(&mut self) -> Result<()> {
        let header = self.stored.first_chunk::<HEADER_BYTES>().ok_or_else(ends_early)?;
        let header = u32::from_le_bytes([header[0], header[1], header[2], 0]);
        let len = (header >> 1) as usize;
        if self.stored.len() - HEADER_BYTES < len {
            return Err(ends_early());
        }
        let mut chunk = self.stored.split_to(HEADER_BYTES + len);
        let chunk = chunk.split_off(HEADER_BYTES);
        self.position = 0;
        let is_original = header & 1 == 1;
        match &mut self.decompressor {
            Some(decompressor) if !is_original => {
                let mut out = match &mut self.chunk {
                    Chunk::Decompressed(used) => std::mem::take(used),
                    Chunk::Stored(_) => Vec::new(),
                };
                decompressor.decompress(&chunk, &mut out)?;
                self.chunk = Chunk::Decompressed(out);
            }
            _ => self.chunk = Chunk::Stored(chunk),
        }
        Ok(())
    }

    pub(super) fn byte(&mut self) -> Result<u8> {
        let byte = *self.rest()?.first().ok_or_else(ends_early)?;
        self.advance(1);
        Ok(byte)
    }

    /// Appends so many bytes, or fails. No more memory is taken than the stream has bytes.
    pub(super) fn read(&mut self, mut len: usize, out: &mut Vec<u8>) -> Result<()> {
        while len > 0 {
            let rest = self.rest()?;
            if rest.is_empty() {
                return Err(ends_early());
            }
            let taken = rest.get(..len).unwrap_or(rest);
            out.extend_from_slice(taken);
            let taken = taken.len();
            self.advance(taken);
            len -= taken;
        }
        Ok(())
    }

    /// Everything that is left.
    ///
    /// # Errors
    /// `ResourcesExhausted` when it is more than `most_bytes`.
    pub(super) fn read_to_end(mut self, most_bytes: usize) -> Result<Vec<u8>> {
        let mut out = Vec::new();
        loop {
            let rest = self.rest()?;
            if rest.is_empty() {
                return Ok(out);
            }
            let len = rest.len();
            if out.len() + len > most_bytes {
                return Err(Error::new(
                    ErrorKind::ResourcesExhausted,
                    format!("the ORC file's metadata takes more than {most_bytes} bytes"),
                ));
            }
            out.extend_from_slice(rest);
            self.advance(len);
        }
    }

    /// A number of at most 64 bits, seven bits a byte.
    pub(super) fn varint(&mut self) -> Result<u64> {
        let wide = self.wide_varint(10)?;
        Ok(wide as u64)
    }

    /// A number of seven bits a byte, at most 128 bits in so many bytes.
    pub(super) fn wide_varint(&mut self, most_bytes: u32) -> Result<u128> {
        let mut value = 0_u128;
        for i in 0..most_bytes {
            let byte = self.byte()?;
            value |= u128::from(byte & 0x7f).wrapping_shl(7 * i);
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(Error::corrupt("the ORC file holds a number of too many bits"))
    }
}

pub(super) fn ends_early() -> Error {
    Error::corrupt("a stream of the ORC file ends too early")
}
