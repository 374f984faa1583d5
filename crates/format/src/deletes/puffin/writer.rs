//! Writing puffin files to storage.

use bytes::Bytes;

use super::encoder::{FooterCompression, PuffinEncoder, PuffinEnd};
use super::{Blob, BlobMetadata};
use crate::error::Result;
use crate::io::{FileIo, FileWriter};

/// Bytes gathered before they are handed to the store.
const CHUNK_BYTES: usize = 1 << 20;

/// A puffin file being written. It appears when finished.
#[derive(Debug)]
pub struct PuffinWriter {
    encoder: PuffinEncoder,
    file: FileWriter,
}

impl PuffinWriter {
    /// Begins a file.
    pub fn new(io: &FileIo, location: &str, compression: FooterCompression) -> Result<Self> {
        Ok(PuffinWriter {
            encoder: PuffinEncoder::new(compression),
            file: io.writer(location)?,
        })
    }

    /// Sets a property of the file.
    pub fn set_property(&mut self, key: impl Into<String>, value: impl Into<String>) {
        self.encoder.set_property(key, value);
    }

    /// Appends a blob; returns what the footer will say of it.
    pub async fn add(&mut self, blob: &Blob<'_>) -> Result<BlobMetadata> {
        let metadata = self.encoder.push(blob)?;
        if self.encoder.pending_bytes() >= CHUNK_BYTES {
            self.file.write(Bytes::from(self.encoder.take())).await?;
        }
        Ok(metadata)
    }

    /// Writes the footer and makes the file visible. `bytes` of the result is empty.
    pub async fn finish(self) -> Result<PuffinEnd> {
        let PuffinWriter { encoder, mut file } = self;
        let mut end = encoder.finish()?;
        file.write(Bytes::from(std::mem::take(&mut end.bytes))).await?;
        file.finish().await?;
        Ok(end)
    }
}
