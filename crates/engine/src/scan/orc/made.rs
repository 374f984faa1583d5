//! ORC files made by hand for tests, message by message.

use super::protobuf::{put_bytes, put_number};

/// Kinds of types by their numbers.
pub(super) const BOOLEAN: u64 = 0;
pub(super) const SHORT: u64 = 2;
pub(super) const INT: u64 = 3;
pub(super) const LONG: u64 = 4;
pub(super) const STRING: u64 = 7;
pub(super) const BINARY: u64 = 8;
pub(super) const TIMESTAMP: u64 = 9;
pub(super) const LIST: u64 = 10;
pub(super) const MAP: u64 = 11;
pub(super) const STRUCT: u64 = 12;
pub(super) const UNION: u64 = 13;
pub(super) const DECIMAL: u64 = 14;
pub(super) const CHAR: u64 = 17;

/// Kinds of streams by their numbers.
pub(super) const PRESENT: u64 = 0;
pub(super) const DATA: u64 = 1;
pub(super) const LENGTH: u64 = 2;
pub(super) const DICTIONARY: u64 = 3;
pub(super) const SECONDARY: u64 = 5;
pub(super) const ROW_INDEX: u64 = 6;

/// A type of a file.
#[derive(Clone)]
pub(super) struct Made(Vec<u8>);

impl Made {
    pub(super) fn new(kind: u64) -> Self {
        let mut message = Vec::new();
        put_number(&mut message, 1, kind);
        Made(message)
    }

    pub(super) fn id(self, id: i32) -> Self {
        self.attribute("iceberg.id", &id.to_string())
    }

    pub(super) fn attribute(mut self, key: &str, value: &str) -> Self {
        let mut pair = Vec::new();
        put_bytes(&mut pair, 1, key.as_bytes());
        put_bytes(&mut pair, 2, value.as_bytes());
        put_bytes(&mut self.0, 7, &pair);
        self
    }

    pub(super) fn children(mut self, places: &[u64]) -> Self {
        places.iter().for_each(|place| put_number(&mut self.0, 2, *place));
        self
    }

    pub(super) fn names(mut self, names: &[&str]) -> Self {
        names.iter().for_each(|name| put_bytes(&mut self.0, 3, name.as_bytes()));
        self
    }

    pub(super) fn decimal(precision: u64, scale: u64) -> Self {
        let mut made = Self::new(DECIMAL);
        put_number(&mut made.0, 5, precision);
        put_number(&mut made.0, 6, scale);
        made
    }
}

/// A stripe of a file.
#[derive(Clone, Default)]
pub(super) struct MadeStripe {
    pub(super) rows: u64,
    /// Kind, column and bytes of each stream.
    pub(super) streams: Vec<(u64, u64, Vec<u8>)>,
    /// Encoding of each column, and the size of its dictionary.
    pub(super) encodings: Vec<(u64, u64)>,
    pub(super) zone: Option<&'static str>,
}

/// A file that is not compressed.
pub(super) fn file(types: &[Made], stripes: &[MadeStripe]) -> Vec<u8> {
    let mut file = b"ORC".to_vec();
    let mut footer = Vec::new();
    for stripe in stripes {
        put_bytes(&mut footer, 3, &put_stripe(&mut file, stripe));
    }
    types.iter().for_each(|made| put_bytes(&mut footer, 4, &made.0));
    with_footer(file, &footer)
}

/// The file with its end.
pub(super) fn with_footer(mut file: Vec<u8>, footer: &[u8]) -> Vec<u8> {
    file.extend_from_slice(footer);
    let mut postscript = Vec::new();
    put_number(&mut postscript, 1, footer.len() as u64);
    put_number(&mut postscript, 2, 0);
    put_bytes(&mut postscript, 8000, b"ORC");
    file.extend_from_slice(&postscript);
    file.push(postscript.len() as u8);
    file
}

/// Adds a stripe; returns what the footer says of it.
fn put_stripe(file: &mut Vec<u8>, stripe: &MadeStripe) -> Vec<u8> {
    let start = file.len();
    let mut footer = Vec::new();
    for (kind, column, bytes) in &stripe.streams {
        file.extend_from_slice(bytes);
        let mut stream = Vec::new();
        put_number(&mut stream, 1, *kind);
        put_number(&mut stream, 2, *column);
        put_number(&mut stream, 3, bytes.len() as u64);
        put_bytes(&mut footer, 1, &stream);
    }
    for (kind, dictionary) in &stripe.encodings {
        let mut encoding = Vec::new();
        put_number(&mut encoding, 1, *kind);
        put_number(&mut encoding, 2, *dictionary);
        put_bytes(&mut footer, 2, &encoding);
    }
    stripe
        .zone
        .iter()
        .for_each(|zone| put_bytes(&mut footer, 3, zone.as_bytes()));
    let mut place = Vec::new();
    put_number(&mut place, 1, start as u64);
    put_number(&mut place, 3, (file.len() - start) as u64);
    put_number(&mut place, 4, footer.len() as u64);
    put_number(&mut place, 5, stripe.rows);
    file.extend_from_slice(&footer);
    place
}
