//! Metadata files: table and view metadata as JSON bytes, gzipped or not, in storage.

use std::io::{Read, Write};

use bytes::Bytes;
use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use serde_json::Value as Json;

use super::json_fields::JsonForm;
use super::table_metadata::TableMetadata;
use super::view_metadata::ViewMetadata;
use crate::error::{Error, ErrorKind, Result, ResultExt};
use crate::io::FileIo;

/// The most bytes that gzipped metadata may unfold to.
const MAX_METADATA_BYTES: u64 = 1 << 30;
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

/// How a metadata file is compressed, told by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetadataCodec {
    /// Plain JSON.
    None,
    /// gzip.
    Gzip,
}

impl MetadataCodec {
    /// The codec of the table property `write.metadata.compression-codec`, in any case.
    ///
    /// # Errors
    /// `InvalidInput` for another name.
    pub fn from_name(name: &str) -> Result<Self> {
        match name.to_ascii_lowercase().as_str() {
            "none" => Ok(MetadataCodec::None),
            "gzip" => Ok(MetadataCodec::Gzip),
            _ => Err(Error::invalid(format!(
                "metadata codec '{name}' is not 'none' or 'gzip'"
            ))),
        }
    }

    /// The codec of a file of this name: `x.gz.metadata.json`, or `x.metadata.json.gz` from old writers, is gzipped.
    pub fn from_file_name(name: &str) -> Self {
        if name.ends_with(".gz.metadata.json") || name.ends_with(".metadata.json.gz") {
            MetadataCodec::Gzip
        } else {
            MetadataCodec::None
        }
    }

    /// How names of metadata files end.
    pub fn extension(self) -> &'static str {
        match self {
            MetadataCodec::None => ".metadata.json",
            MetadataCodec::Gzip => ".gz.metadata.json",
        }
    }

    fn encode(self, json: Vec<u8>) -> Result<Vec<u8>> {
        match self {
            MetadataCodec::None => Ok(json),
            MetadataCodec::Gzip => {
                let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
                let written = encoder.write_all(&json).and_then(|()| encoder.finish());
                written.map_err(|e| Error::new(ErrorKind::Io, "metadata cannot be compressed").with_source(e))
            }
        }
    }
}

/// What to do when the file exists already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteMode {
    /// Fail with `AlreadyExists`; of several racing writers one succeeds.
    Create,
    /// Replace it.
    Overwrite,
}

macro_rules! metadata_file {
    ($type:ty, $what:literal) => {
        impl $type {
            /// Reads JSON bytes, gunzipped first when they start with gzip's magic.
            ///
            /// # Errors
            /// `Corrupt` when they are not valid metadata, `Unsupported` for a format version or type we don't know.
            pub fn from_json(bytes: &[u8]) -> Result<Self> {
                <$type as JsonForm>::from_value(parse(bytes, $what)?)
            }

            /// The JSON bytes, uncompressed.
            ///
            /// # Errors
            /// `InvalidInput` when a default value is not of its field's type.
            pub fn to_json(&self) -> Result<Vec<u8>> {
                print(&self.to_value()?)
            }

            /// Reads a metadata file.
            ///
            /// # Errors
            /// Those of [`FileIo::read`] and of `from_json`, naming the file.
            pub async fn read(io: &FileIo, location: &str) -> Result<Self> {
                let bytes = io.read(location).await?;
                Self::from_json(&bytes).context("file", location)
            }

            /// Writes a metadata file, gzipped when its name says so.
            ///
            /// # Errors
            /// `AlreadyExists` in [`WriteMode::Create`] when the file is there; those of storage.
            pub async fn write(&self, io: &FileIo, location: &str, mode: WriteMode) -> Result<()> {
                let bytes = MetadataCodec::from_file_name(location).encode(self.to_json()?)?;
                match mode {
                    WriteMode::Create => io.create(location, Bytes::from(bytes)).await,
                    WriteMode::Overwrite => io.write(location, Bytes::from(bytes)).await,
                }
            }
        }
    };
}

metadata_file!(TableMetadata, "table metadata");
metadata_file!(ViewMetadata, "view metadata");

fn parse(bytes: &[u8], what: &'static str) -> Result<Json> {
    let parsed = if bytes.starts_with(&GZIP_MAGIC) {
        serde_json::from_slice(&gunzip(bytes, what)?)
    } else {
        serde_json::from_slice(bytes)
    };
    parsed.map_err(|e| Error::corrupt(format!("{what} is not valid JSON")).with_source(e))
}

fn gunzip(bytes: &[u8], what: &'static str) -> Result<Vec<u8>> {
    let mut unfolded = Vec::new();
    let limit = MAX_METADATA_BYTES + 1;
    MultiGzDecoder::new(bytes)
        .take(limit)
        .read_to_end(&mut unfolded)
        .map_err(|e| Error::corrupt(format!("{what} is not valid gzip")).with_source(e))?;
    if unfolded.len() as u64 == limit {
        let message = format!("{what} unfolds to more than {MAX_METADATA_BYTES} bytes");
        return Err(Error::new(ErrorKind::ResourcesExhausted, message));
    }
    Ok(unfolded)
}

fn print(json: &Json) -> Result<Vec<u8>> {
    serde_json::to_vec(json).map_err(|e| Error::invalid("metadata cannot be written as JSON").with_source(e))
}

#[cfg(test)]
mod tests;
