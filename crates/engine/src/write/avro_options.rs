//! `write.avro.*`: how blocks of Avro files are compressed.

use tarn_format::Result;
use tarn_format::manifest::avro::codec::Codec;

use super::options::{Setting, Settings, invalid};

const CODEC: Setting = Setting {
    statement: "compression-codec",
    session: "spark.sql.iceberg.compression-codec",
    table: "write.avro.compression-codec",
};
const LEVEL: Setting = Setting {
    statement: "compression-level",
    session: "spark.sql.iceberg.compression-level",
    table: "write.avro.compression-level",
};

/// The codec, of those that Java writes; gzip where nothing is said.
///
/// # Errors
/// `InvalidInput` naming the property that makes no sense.
pub(super) fn codec(settings: &Settings<'_>) -> Result<Codec> {
    let (name, text) = settings.get(CODEC).unwrap_or((CODEC.table, "gzip"));
    let codec = match text.trim().to_ascii_lowercase().as_str() {
        "gzip" => Codec::from_avro_name("deflate")?,
        "zstd" => Codec::from_avro_name("zstandard")?,
        "snappy" => Codec::Snappy,
        "uncompressed" => Codec::Null,
        _ => return Err(invalid(name, text, "gzip, zstd, snappy or uncompressed")),
    };
    let Some((name, text)) = settings.get(LEVEL) else {
        return Ok(codec);
    };
    let most = match codec {
        Codec::Deflate(_) => 9,
        Codec::Zstandard(_) => 22,
        _ => return Ok(codec),
    };
    match (text.trim().parse::<u8>(), codec) {
        (Ok(level), Codec::Deflate(_)) if level <= most => Ok(Codec::Deflate(level)),
        (Ok(level), Codec::Zstandard(_)) if (1..=most).contains(&level) => Ok(Codec::Zstandard(level)),
        _ => Err(invalid(name, text, &format!("a level of at most {most}"))),
    }
}
