//! `write.orc.*`: how ORC files are compressed and cut into stripes.

use tarn_format::Result;

use super::options::{Setting, Settings, invalid};

const CODEC: Setting = Setting {
    statement: "compression-codec",
    session: "spark.sql.iceberg.compression-codec",
    table: "write.orc.compression-codec",
};
const STRIPE_BYTES: Setting = Setting {
    statement: "stripe-size-bytes",
    session: "write.orc.stripe-size-bytes",
    table: "write.orc.stripe-size-bytes",
};

/// Java: `OrcConf.STRIPE_SIZE`.
const DEFAULT_STRIPE_BYTES: u64 = 64 << 20;

/// How ORC files are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OrcOptions {
    pub(super) codec: OrcCodec,
    /// Bytes of rows in memory after which a stripe ends.
    pub(super) stripe_bytes: u64,
}

/// A codec that is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OrcCodec {
    None,
    Zlib,
    Snappy,
    Lz4,
    Zstd,
}

impl OrcCodec {
    /// Its number in a file (`CompressionKind`).
    pub(super) fn number(self) -> u64 {
        match self {
            OrcCodec::None => 0,
            OrcCodec::Zlib => 1,
            OrcCodec::Snappy => 2,
            OrcCodec::Lz4 => 4,
            OrcCodec::Zstd => 5,
        }
    }
}

/// The options; zlib where nothing is said, as in Java.
///
/// # Errors
/// `InvalidInput` naming the property that makes no sense.
pub(super) fn options(settings: &Settings<'_>) -> Result<OrcOptions> {
    let (name, text) = settings.get(CODEC).unwrap_or((CODEC.table, "zlib"));
    let codec = match text.trim().to_ascii_lowercase().as_str() {
        // What other formats call gzip is the same deflate.
        "zlib" | "gzip" => OrcCodec::Zlib,
        "snappy" => OrcCodec::Snappy,
        "lz4" => OrcCodec::Lz4,
        "zstd" => OrcCodec::Zstd,
        "none" | "uncompressed" => OrcCodec::None,
        _ => return Err(invalid(name, text, "zlib, snappy, lz4, zstd or none")),
    };
    Ok(OrcOptions {
        codec,
        stripe_bytes: settings.positive(STRIPE_BYTES, DEFAULT_STRIPE_BYTES)?,
    })
}
