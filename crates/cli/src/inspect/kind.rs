//! Which kind of Iceberg file some bytes are, told by their content.

use tarn_format::{Error, Result};

/// A kind of file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Table metadata, gzipped or not.
    Table,
    /// View metadata.
    View,
    /// A manifest list.
    ManifestList,
    /// A manifest.
    Manifest,
    /// A puffin file: statistics or deletion vectors.
    Puffin,
}

const GZIP: &[u8] = &[0x1f, 0x8b];
const AVRO: &[u8] = b"Obj\x01";
const PUFFIN: &[u8] = b"PFA1";
const PARQUET: &[u8] = b"PAR1";
const ORC: &[u8] = b"ORC";

/// How far into an Avro file the fields that tell its kind are looked for: the writer's schema stands in its header.
const AVRO_HEADER_BYTES: usize = 4 * 1024 * 1024;

/// The kind of a file.
///
/// # Errors
/// `InvalidInput` for what is no Iceberg metadata, saying what it looks like.
pub fn of(bytes: &[u8]) -> Result<Kind> {
    if bytes.starts_with(PUFFIN) {
        return Ok(Kind::Puffin);
    }
    if bytes.starts_with(AVRO) {
        let header = bytes.get(..AVRO_HEADER_BYTES).unwrap_or(bytes);
        return match (
            contains(header, b"\"data_file\""),
            contains(header, b"\"manifest_path\""),
        ) {
            (true, _) => Ok(Kind::Manifest),
            (false, true) => Ok(Kind::ManifestList),
            (false, false) => Err(Error::invalid(
                "an Avro file, but neither a manifest nor a manifest list",
            )),
        };
    }
    if bytes.starts_with(GZIP) {
        return Ok(Kind::Table);
    }
    if bytes.starts_with(PARQUET) || bytes.starts_with(ORC) {
        return Err(Error::invalid(
            "a data file, not metadata: name the table's directory instead",
        ));
    }
    let text = bytes.trim_ascii_start();
    if text.is_empty() {
        return Err(Error::corrupt("the file is empty"));
    }
    if !text.starts_with(b"{") {
        return Err(Error::invalid(
            "neither JSON, Avro nor puffin: not a file of an Iceberg table or view",
        ));
    }
    Ok(if contains(text, b"\"view-uuid\"") {
        Kind::View
    } else {
        Kind::Table
    })
}

fn contains(bytes: &[u8], needle: &[u8]) -> bool {
    bytes.windows(needle.len()).any(|window| window == needle)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_told_by_content() {
        for (bytes, expected) in [
            (&b"PFA1...."[..], Some(Kind::Puffin)),
            (b"Obj\x01 {\"name\": \"data_file\"}", Some(Kind::Manifest)),
            (b"Obj\x01 {\"name\": \"manifest_path\"}", Some(Kind::ManifestList)),
            (b"Obj\x01 {\"name\": \"id\"}", None),
            (b"\x1f\x8b\x08", Some(Kind::Table)),
            (b" {\"format-version\": 2}", Some(Kind::Table)),
            (b"{\"view-uuid\": \"x\"}", Some(Kind::View)),
            (b"PAR1", None),
            (b"hello", None),
            (b"", None),
        ] {
            assert_eq!(of(bytes).ok(), expected, "{}", String::from_utf8_lossy(bytes));
        }
    }
}
