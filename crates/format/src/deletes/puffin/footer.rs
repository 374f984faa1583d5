//! The footer: magic, JSON payload (maybe an LZ4 frame), its length, flags, magic (Puffin spec, "Footer structure").

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::codec::BlobCodec;
use super::{BlobMetadata, MAGIC};
use crate::error::{Error, Result};
use crate::spec::types::FieldId;

/// Payload length, flags and the last magic.
const STRUCT_BYTES: usize = 12;
const FLAG_COMPRESSED: u8 = 1;
/// The most bytes that a compressed payload may unfold to.
const MAX_PAYLOAD_BYTES: u64 = 64 << 20;

/// A footer.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Footer {
    /// The blobs, in the footer's order.
    pub blobs: Vec<BlobMetadata>,
    /// Properties of the file, such as `created-by`.
    pub properties: BTreeMap<String, String>,
}

/// What the end of a file shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FooterParse {
    /// The footer, and the offset in the file at which it starts.
    Complete(Footer, u64),
    /// The footer is this many bytes long: more than were given.
    NeedsBytes(u64),
}

/// Reads the footer from `tail`, the last bytes of a file of `file_size` bytes. Every blob it names lies in the file.
///
/// # Errors
/// `Corrupt` when it breaks the spec, `Unsupported` for flags we don't know.
pub fn parse_footer(tail: &[u8], file_size: u64) -> Result<FooterParse> {
    let Some((rest, end)) = tail.split_last_chunk::<STRUCT_BYTES>() else {
        return Err(Error::corrupt(format!(
            "a puffin file has at least {} bytes, this one {file_size}",
            2 * MAGIC.len() + STRUCT_BYTES
        )));
    };
    let [l0, l1, l2, l3, flags, f1, f2, f3, magic @ ..] = *end;
    if magic != MAGIC {
        return Err(Error::corrupt("not a puffin file: it does not end in PFA1"));
    }
    if flags & !FLAG_COMPRESSED != 0 || [f1, f2, f3] != [0; 3] {
        return Err(Error::unsupported(format!(
            "puffin flags {:02x}{f1:02x}{f2:02x}{f3:02x} are not known",
            flags
        )));
    }
    let payload_len = i32::from_le_bytes([l0, l1, l2, l3]);
    let payload_len = u64::try_from(payload_len)
        .map_err(|_| Error::corrupt(format!("puffin footer has a negative length: {payload_len}")))?;
    let footer_len = payload_len + (MAGIC.len() + STRUCT_BYTES) as u64;
    let Some(footer_start) = file_size.checked_sub(footer_len).filter(|at| *at >= MAGIC.len() as u64) else {
        return Err(Error::corrupt(format!(
            "puffin footer of {footer_len} bytes does not fit into a file of {file_size} bytes"
        )));
    };
    if footer_len > tail.len() as u64 {
        return Ok(FooterParse::NeedsBytes(footer_len));
    }
    if tail.len() as u64 == file_size && !tail.starts_with(&MAGIC) {
        return Err(Error::corrupt("not a puffin file: it does not start with PFA1"));
    }
    let start = rest.len() - payload_len as usize;
    let (before, payload) = rest.split_at(start);
    if !before.ends_with(&MAGIC) {
        return Err(Error::corrupt("puffin footer does not start with PFA1"));
    }
    let codec = match flags & FLAG_COMPRESSED {
        0 => BlobCodec::None,
        _ => BlobCodec::Lz4,
    };
    let json = codec.decompress(payload, MAX_PAYLOAD_BYTES)?;
    let parsed: FileMetadataJson = serde_json::from_slice(&json)
        .map_err(|e| Error::corrupt("puffin footer is not valid file metadata").with_source(e))?;
    Ok(FooterParse::Complete(parsed.checked(footer_start)?, footer_start))
}

/// The bytes of a footer.
pub(super) fn encode_footer(footer: &Footer, codec: BlobCodec) -> Result<Vec<u8>> {
    let json = FileMetadataJson::from(footer);
    let json =
        serde_json::to_vec(&json).map_err(|e| Error::invalid("puffin footer cannot be written").with_source(e))?;
    let payload = codec.compress(&json)?;
    let payload_len = i32::try_from(payload.len()).map_err(|_| Error::invalid("puffin footer is larger than 2 GiB"))?;
    let flags = match codec {
        BlobCodec::None => 0,
        _ => FLAG_COMPRESSED,
    };
    let mut out = Vec::with_capacity(payload.len() + MAGIC.len() + STRUCT_BYTES);
    out.extend_from_slice(&MAGIC);
    out.extend_from_slice(&payload);
    out.extend_from_slice(&payload_len.to_le_bytes());
    out.extend_from_slice(&[flags, 0, 0, 0]);
    out.extend_from_slice(&MAGIC);
    Ok(out)
}

#[derive(Serialize, Deserialize)]
struct FileMetadataJson {
    blobs: Vec<BlobMetadataJson>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    properties: Option<BTreeMap<String, String>>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
struct BlobMetadataJson {
    #[serde(rename = "type")]
    blob_type: String,
    fields: Vec<FieldId>,
    snapshot_id: i64,
    sequence_number: i64,
    offset: i64,
    length: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    compression_codec: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    properties: Option<BTreeMap<String, String>>,
}

impl FileMetadataJson {
    fn checked(self, footer_start: u64) -> Result<Footer> {
        let blobs = self.blobs.into_iter().map(|blob| blob.checked(footer_start));
        Ok(Footer {
            blobs: blobs.collect::<Result<_>>()?,
            properties: self.properties.unwrap_or_default(),
        })
    }
}

impl BlobMetadataJson {
    fn checked(self, footer_start: u64) -> Result<BlobMetadata> {
        let outside = || {
            Error::corrupt(format!(
                "puffin blob of type '{}' at offset {} with length {} does not lie between the file's start and its footer",
                self.blob_type, self.offset, self.length
            ))
        };
        let offset = u64::try_from(self.offset).map_err(|_| outside())?;
        let length = u64::try_from(self.length).map_err(|_| outside())?;
        let end = offset.checked_add(length).ok_or_else(outside)?;
        if offset < MAGIC.len() as u64 || end > footer_start {
            return Err(outside());
        }
        Ok(BlobMetadata {
            blob_type: self.blob_type,
            fields: self.fields,
            snapshot_id: self.snapshot_id,
            sequence_number: self.sequence_number,
            offset,
            length,
            compression_codec: self.compression_codec,
            properties: self.properties.unwrap_or_default(),
        })
    }
}

impl From<&Footer> for FileMetadataJson {
    fn from(footer: &Footer) -> Self {
        let some = |map: &BTreeMap<String, String>| (!map.is_empty()).then(|| map.clone());
        let blobs = footer.blobs.iter().map(|blob| BlobMetadataJson {
            blob_type: blob.blob_type.clone(),
            fields: blob.fields.clone(),
            snapshot_id: blob.snapshot_id,
            sequence_number: blob.sequence_number,
            offset: i64::try_from(blob.offset).unwrap_or(i64::MAX),
            length: i64::try_from(blob.length).unwrap_or(i64::MAX),
            compression_codec: blob.compression_codec.clone(),
            properties: some(&blob.properties),
        });
        FileMetadataJson {
            blobs: blobs.collect(),
            properties: some(&footer.properties),
        }
    }
}
