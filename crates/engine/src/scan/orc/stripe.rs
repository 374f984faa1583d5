//! One stripe: its footer, and the streams of the columns that are read (ORC specification, "Stripes").

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use tarn_format::io::FileIo;
use tarn_format::{Error, Result};

use super::integers::Version;
use super::protobuf::Fields;
use super::stream::{Compression, Stream};
use super::tail::StripePlace;

/// What the footer of a stripe may take in memory.
const MAX_FOOTER_BYTES: usize = 64 << 20;

/// What a stream holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum StreamKind {
    /// Which values are not null.
    Present,
    Data,
    Length,
    DictionaryData,
    /// Nanoseconds of timestamps, scales of decimals.
    Secondary,
}

impl StreamKind {
    /// `None` for indexes and for what is not known.
    fn of(number: u64) -> Option<Self> {
        Some(match number {
            0 => StreamKind::Present,
            1 => StreamKind::Data,
            2 => StreamKind::Length,
            3 => StreamKind::DictionaryData,
            5 => StreamKind::Secondary,
            _ => return None,
        })
    }
}

/// Which stream of which column.
type StreamKey = (u64, StreamKind);

/// How a column is encoded in a stripe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Encoding {
    pub(super) integers: Version,
    /// Values of its dictionary; `None` when values stand for themselves.
    pub(super) dictionary: Option<u64>,
}

/// A stripe whose streams are in memory, compressed as they are stored.
pub(super) struct Stripe {
    streams: HashMap<StreamKey, Bytes>,
    footer: StripeFooter,
    compression: Compression,
}

impl Stripe {
    /// Reads the streams of these columns.
    ///
    /// # Errors
    /// Those of reading; `Corrupt` when the stripe's footer contradicts its place.
    pub(super) async fn load(
        (io, location): (&FileIo, &str),
        place: &StripePlace,
        compression: Compression,
        columns: &HashSet<u64>,
    ) -> Result<Self> {
        let footer_start = place.offset + place.streams_bytes;
        let footer = io
            .read_range(location, footer_start..footer_start + place.footer_bytes)
            .await?;
        let footer = Stream::new(Some(footer), compression).read_to_end(MAX_FOOTER_BYTES)?;
        let footer = StripeFooter::read(&footer)?;
        let wanted = footer.ranges(place, columns)?;
        let ranges: Vec<Range<u64>> = wanted.iter().map(|(_, range)| range.clone()).collect();
        let read = io.read_ranges(location, &ranges).await?;
        Ok(Stripe {
            streams: wanted.into_iter().map(|(key, _)| key).zip(read).collect(),
            footer,
            compression,
        })
    }

    pub(super) fn stream(&self, column: u64, kind: StreamKind) -> Stream {
        Stream::new(self.streams.get(&(column, kind)).cloned(), self.compression)
    }

    /// The column's stream of this kind, if the stripe has one.
    pub(super) fn own_stream(&self, column: u64, kind: StreamKind) -> Option<Stream> {
        let stored = self.streams.get(&(column, kind))?;
        Some(Stream::new(Some(stored.clone()), self.compression))
    }

    /// What is in memory.
    pub(super) fn stored_bytes(&self) -> u64 {
        self.streams.values().map(|stored| stored.len() as u64).sum()
    }

    pub(super) fn encoding(&self, column: u64) -> Result<Encoding> {
        let index = usize::try_from(column).unwrap_or(usize::MAX);
        let found = self.footer.encodings.get(index).copied();
        found.ok_or_else(|| {
            Error::corrupt(format!(
                "a stripe of the ORC file does not say how column {column} is encoded"
            ))
        })
    }

    /// Where the writer's clock was, for timestamps without a zone.
    pub(super) fn time_zone(&self) -> Option<&Arc<str>> {
        self.footer.time_zone.as_ref()
    }
}

/// A stream's kind, `None` for one that is never read, its column, and its bytes.
type StoredStream = (Option<StreamKind>, u64, u64);

struct StripeFooter {
    streams: Vec<StoredStream>,
    encodings: Vec<Encoding>,
    time_zone: Option<Arc<str>>,
}

impl StripeFooter {
    fn read(message: &[u8]) -> Result<Self> {
        let (mut streams, mut encodings, mut time_zone) = (Vec::new(), Vec::new(), None);
        let mut fields = Fields::of(message);
        while let Some((number, value)) = fields.next_field()? {
            match number {
                1 => streams.push(stream(value.bytes())?),
                2 => encodings.push(encoding(value.bytes())?),
                3 => time_zone = Some(Arc::from(value.text())),
                4 => {
                    return Err(Error::unsupported(
                        "the ORC file has encrypted columns, which cannot be read",
                    ));
                }
                _ => {}
            }
        }
        Ok(StripeFooter {
            streams,
            encodings,
            time_zone,
        })
    }

    /// Where the streams of these columns lie in the file: they follow each other.
    fn ranges(&self, place: &StripePlace, columns: &HashSet<u64>) -> Result<Vec<(StreamKey, Range<u64>)>> {
        let end = place.offset + place.streams_bytes;
        let mut start = place.offset;
        let mut wanted = Vec::new();
        for (kind, column, bytes) in &self.streams {
            let stop = start.saturating_add(*bytes);
            if stop > end {
                return Err(Error::corrupt("the streams of a stripe of the ORC file pass its end"));
            }
            if let Some(kind) = kind
                && columns.contains(column)
            {
                wanted.push(((*column, *kind), start..stop));
            }
            start = stop;
        }
        Ok(wanted)
    }
}

fn stream(message: &[u8]) -> Result<StoredStream> {
    let (mut kind, mut column, mut bytes) = (0, 0, 0);
    let mut fields = Fields::of(message);
    while let Some((number, value)) = fields.next_field()? {
        match number {
            1 => kind = value.number(),
            2 => column = value.number(),
            3 => bytes = value.number(),
            _ => {}
        }
    }
    Ok((StreamKind::of(kind), column, bytes))
}

fn encoding(message: &[u8]) -> Result<Encoding> {
    let (mut kind, mut dictionary) = (0, 0);
    let mut fields = Fields::of(message);
    while let Some((number, value)) = fields.next_field()? {
        match number {
            1 => kind = value.number(),
            2 => dictionary = value.number(),
            _ => {}
        }
    }
    let (integers, dictionary) = match kind {
        0 => (Version::One, None),
        1 => (Version::One, Some(dictionary)),
        2 => (Version::Two, None),
        3 => (Version::Two, Some(dictionary)),
        other => {
            return Err(Error::unsupported(format!(
                "the ORC file has a column of an encoding that is not known (number {other})"
            )));
        }
    };
    Ok(Encoding { integers, dictionary })
}
