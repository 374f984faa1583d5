//! Building a puffin file in memory, piece by piece.

use super::codec::BlobCodec;
use super::footer::{Footer, encode_footer};
use super::{Blob, BlobMetadata, MAGIC};
use crate::error::Result;

/// Property that names the writer.
const CREATED_BY: &str = "created-by";

/// Whether the footer is an LZ4 frame. Java and Trino write it plain unless told otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FooterCompression {
    /// Plain JSON.
    #[default]
    None,
    /// LZ4.
    Lz4,
}

/// Turns blobs into the bytes of a file. Bytes can be taken away while it goes on.
#[derive(Debug)]
pub struct PuffinEncoder {
    footer: Footer,
    compression: FooterCompression,
    pending: Vec<u8>,
    offset: u64,
}

/// The end of a finished file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PuffinEnd {
    /// The bytes that were not taken yet, the footer last.
    pub bytes: Vec<u8>,
    /// Length of the whole file in bytes.
    pub file_size: u64,
    /// Length of the footer in bytes, as table metadata records it for statistics files.
    pub footer_size: u64,
    /// What the footer says.
    pub footer: Footer,
}

impl PuffinEncoder {
    /// An empty file.
    pub fn new(compression: FooterCompression) -> Self {
        let mut footer = Footer::default();
        let writer = concat!("Tarn ", env!("CARGO_PKG_VERSION"));
        footer.properties.insert(CREATED_BY.to_string(), writer.to_string());
        PuffinEncoder {
            footer,
            compression,
            pending: MAGIC.to_vec(),
            offset: MAGIC.len() as u64,
        }
    }

    /// Sets a property of the file.
    pub fn set_property(&mut self, key: impl Into<String>, value: impl Into<String>) {
        self.footer.properties.insert(key.into(), value.into());
    }

    /// Appends a blob; returns what the footer will say of it.
    pub fn push(&mut self, blob: &Blob<'_>) -> Result<BlobMetadata> {
        let data = blob.codec.compress(blob.data)?;
        let metadata = BlobMetadata {
            blob_type: blob.blob_type.to_string(),
            fields: blob.fields.clone(),
            snapshot_id: blob.snapshot_id,
            sequence_number: blob.sequence_number,
            offset: self.offset,
            length: data.len() as u64,
            compression_codec: blob.codec.name().map(str::to_string),
            properties: blob.properties.clone(),
        };
        self.pending.extend_from_slice(&data);
        self.offset += metadata.length;
        self.footer.blobs.push(metadata.clone());
        Ok(metadata)
    }

    /// Number of bytes that can be taken.
    pub fn pending_bytes(&self) -> usize {
        self.pending.len()
    }

    /// Takes the bytes so far.
    pub fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.pending)
    }

    /// Adds the footer.
    pub fn finish(mut self) -> Result<PuffinEnd> {
        let codec = match self.compression {
            FooterCompression::None => BlobCodec::None,
            FooterCompression::Lz4 => BlobCodec::Lz4,
        };
        let footer = encode_footer(&self.footer, codec)?;
        self.pending.extend_from_slice(&footer);
        let footer_size = footer.len() as u64;
        Ok(PuffinEnd {
            bytes: self.pending,
            file_size: self.offset + footer_size,
            footer_size,
            footer: self.footer,
        })
    }
}
