//! Puffin files (Puffin spec): blobs of statistics and deletion vectors with a JSON footer.

mod codec;
mod encoder;
mod footer;
mod reader;
mod writer;

use std::collections::BTreeMap;

use crate::spec::types::FieldId;

pub use codec::BlobCodec;
pub use encoder::{FooterCompression, PuffinEncoder, PuffinEnd};
pub use footer::{Footer, FooterParse, parse_footer};
pub use reader::{PuffinReader, decode_blob};
pub use writer::PuffinWriter;

/// The blob type of deletion vectors.
pub const DELETION_VECTOR_V1: &str = "deletion-vector-v1";
/// The blob type of theta sketches, which count distinct values.
pub const THETA_SKETCH_V1: &str = "apache-datasketches-theta-v1";

/// First and last bytes of a file, and first bytes of its footer.
pub(crate) const MAGIC: [u8; 4] = *b"PFA1";

/// What the footer says of one blob. Types and codecs that we don't know are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlobMetadata {
    /// What it is.
    pub blob_type: String,
    /// Ids of the fields it was computed for, in the order that matters to it.
    pub fields: Vec<FieldId>,
    /// The snapshot it was computed from; -1 when inherited.
    pub snapshot_id: i64,
    /// The sequence number of that snapshot; -1 when inherited.
    pub sequence_number: i64,
    /// Where it starts, in bytes from the start of the file.
    pub offset: u64,
    /// Its length in the file, in bytes.
    pub length: u64,
    /// Name of its codec; `None` is uncompressed.
    pub compression_codec: Option<String>,
    /// Properties.
    pub properties: BTreeMap<String, String>,
}

/// A blob to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blob<'a> {
    /// What it is.
    pub blob_type: &'a str,
    /// Ids of the fields it was computed for.
    pub fields: Vec<FieldId>,
    /// The snapshot it was computed from; -1 when inherited.
    pub snapshot_id: i64,
    /// The sequence number of that snapshot; -1 when inherited.
    pub sequence_number: i64,
    /// Its contents, uncompressed.
    pub data: &'a [u8],
    /// How it shall be compressed.
    pub codec: BlobCodec,
    /// Properties.
    pub properties: BTreeMap<String, String>,
}

#[cfg(test)]
mod tests;
