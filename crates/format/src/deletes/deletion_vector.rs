//! Deletion vectors: the positions of a data file's deleted rows (Puffin spec, blob type `deletion-vector-v1`).

use std::ops::Range;

use roaring::{RoaringBitmap, RoaringTreemap};

use super::puffin::MAGIC as PUFFIN_MAGIC;
use crate::error::{Error, ErrorKind, Result, ResultExt};
use crate::io::FileIo;
use crate::manifest::data_file::DataFile;

/// First bytes of the vector in its blob.
const MAGIC: [u8; 4] = [0xD1, 0xD3, 0x39, 0x64];
const LENGTH_BYTES: usize = 4;
const CRC_BYTES: usize = 4;
/// The least bytes of one bitmap: its key, and the cookie and count of an empty one.
const MIN_BITMAP_BYTES: usize = 12;
/// The highest key: positions have no sign bit.
const MAX_KEY: u32 = i32::MAX as u32;

/// A set of row positions from 0 to 2^63 - 1.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DeletionVector {
    positions: RoaringTreemap,
}

impl DeletionVector {
    /// The empty set.
    pub fn new() -> Self {
        DeletionVector::default()
    }

    /// The set of these positions, in any order, repeated or not.
    ///
    /// # Errors
    /// `InvalidInput` for a position above 2^63 - 1.
    pub fn from_positions(positions: impl IntoIterator<Item = u64>) -> Result<Self> {
        let mut vector = DeletionVector::new();
        for position in positions {
            vector.insert(position)?;
        }
        Ok(vector)
    }

    /// Adds a position; returns whether it is new.
    ///
    /// # Errors
    /// `InvalidInput` for a position above 2^63 - 1.
    pub fn insert(&mut self, position: u64) -> Result<bool> {
        if position > i64::MAX as u64 {
            return Err(too_high(position));
        }
        Ok(self.positions.insert(position))
    }

    /// Adds all positions of a range.
    ///
    /// # Errors
    /// `InvalidInput` when it reaches above 2^63 - 1.
    pub fn insert_range(&mut self, range: Range<u64>) -> Result<()> {
        if range.is_empty() {
            return Ok(());
        }
        if range.end - 1 > i64::MAX as u64 {
            return Err(too_high(range.end - 1));
        }
        self.positions.insert_range(range);
        Ok(())
    }

    /// Adds the positions of another.
    pub fn union_with(&mut self, other: &DeletionVector) {
        self.positions |= &other.positions;
    }

    /// Whether a position is deleted.
    pub fn contains(&self, position: u64) -> bool {
        self.positions.contains(position)
    }

    /// Whether nothing is deleted.
    pub fn is_empty(&self) -> bool {
        self.positions.is_empty()
    }

    /// Number of deleted positions.
    pub fn cardinality(&self) -> u64 {
        self.positions.len()
    }

    /// Number of deleted positions in a range.
    pub fn cardinality_in(&self, range: Range<u64>) -> u64 {
        self.positions.range_cardinality(range)
    }

    /// The highest deleted position.
    pub fn max(&self) -> Option<u64> {
        self.positions.max()
    }

    /// The positions, ascending.
    pub fn iter(&self) -> impl Iterator<Item = u64> + '_ {
        self.positions.iter()
    }

    /// The positions in a range, ascending.
    pub fn iter_in(&self, range: Range<u64>) -> impl Iterator<Item = u64> + '_ {
        let mut positions = self.positions.iter();
        positions.advance_to(range.start);
        positions.take_while(move |position| *position < range.end)
    }

    /// The positions as maximal ranges within each 2^32, ascending: without visiting each position.
    pub fn ranges(&self) -> impl Iterator<Item = Range<u64>> + '_ {
        self.positions.bitmaps().flat_map(|(key, bitmap)| {
            let base = u64::from(key) << 32;
            let mut positions = bitmap.iter();
            std::iter::from_fn(move || positions.next_range())
                .map(move |run| base + u64::from(*run.start())..base + u64::from(*run.end()) + 1)
        })
    }

    /// The positions as a treemap, for set operations of the engine.
    pub fn as_treemap(&self) -> &RoaringTreemap {
        &self.positions
    }

    /// Reads a blob. `cardinality` is the number of positions that metadata promises, where known.
    ///
    /// # Errors
    /// `Corrupt` when length, magic, checksum, bitmap or cardinality are not right.
    pub fn from_blob(blob: &[u8], cardinality: Option<u64>) -> Result<Self> {
        let vector = checked_vector(blob)?;
        let positions = parse_treemap(vector)?;
        let found = positions.len();
        if let Some(expected) = cardinality.filter(|expected| *expected != found) {
            return Err(Error::corrupt(format!(
                "deletion vector has {found} positions, {expected} were promised"
            )));
        }
        Ok(DeletionVector { positions })
    }

    /// The blob, run-length encoded where that is smaller.
    ///
    /// # Errors
    /// `ResourcesExhausted` when it is larger than 2 GiB.
    pub fn to_blob(&self) -> Result<Vec<u8>> {
        let mut positions = self.positions.clone();
        positions.optimize();
        let length = MAGIC.len() + positions.serialized_size();
        let stored = i32::try_from(length)
            .map_err(|_| Error::new(ErrorKind::ResourcesExhausted, "deletion vector is larger than 2 GiB"))?;
        let mut blob = Vec::with_capacity(LENGTH_BYTES + length + CRC_BYTES);
        blob.extend_from_slice(&stored.to_be_bytes());
        blob.extend_from_slice(&MAGIC);
        positions
            .serialize_into(&mut blob)
            .map_err(|e| Error::new(ErrorKind::Io, "deletion vector cannot be serialised").with_source(e))?;
        let crc = crc32fast::hash(blob.get(LENGTH_BYTES..).unwrap_or_default());
        blob.extend_from_slice(&crc.to_be_bytes());
        Ok(blob)
    }

    /// Reads the deletion vector that a delete file entry describes, in one ranged read.
    ///
    /// # Errors
    /// `InvalidInput` when the entry is no deletion vector, `Corrupt` when it or its blob is not right, naming the file.
    pub async fn read(io: &FileIo, file: &DataFile) -> Result<Self> {
        let location = file.file_path.as_ref();
        let (range, cardinality) = blob_range(file).context("file", location)?;
        let blob = io.read_range(location, range).await?;
        let vector = Self::from_blob(&blob, Some(cardinality)).context("file", location)?;
        Ok(vector)
    }
}

/// Where the blob lies, and the number of positions the entry promises.
fn blob_range(file: &DataFile) -> Result<(Range<u64>, u64)> {
    if !file.is_deletion_vector() {
        return Err(Error::invalid("delete file is not a deletion vector"));
    }
    let (Some(offset), Some(size)) = (file.content_offset, file.content_size_in_bytes) else {
        return Err(Error::corrupt("deletion vector has no content offset or size"));
    };
    let bad = || {
        Error::corrupt(format!(
            "deletion vector at offset {offset} with size {size} lies in no file"
        ))
    };
    let offset = u64::try_from(offset).map_err(|_| bad())?;
    let size = u64::try_from(size).map_err(|_| bad())?;
    let end = offset
        .checked_add(size)
        .filter(|end| *end <= i64::MAX as u64)
        .ok_or_else(bad)?;
    if offset < PUFFIN_MAGIC.len() as u64 {
        // Old writers left bare blobs; readers of puffin files must not take them for one.
        return Err(Error::corrupt(
            "deletion vector is a bare blob: it starts where the puffin file's magic must be",
        ));
    }
    let cardinality = u64::try_from(file.record_count)
        .map_err(|_| Error::corrupt(format!("deletion vector has a record count of {}", file.record_count)))?;
    Ok((offset..end, cardinality))
}

/// The serialised bitmaps of a blob whose length, magic and checksum are right.
fn checked_vector(blob: &[u8]) -> Result<&[u8]> {
    let too_short = || Error::corrupt(format!("deletion vector blob has only {} bytes", blob.len()));
    let (length, rest) = blob.split_first_chunk::<LENGTH_BYTES>().ok_or_else(too_short)?;
    let (data, crc) = rest.split_last_chunk::<CRC_BYTES>().ok_or_else(too_short)?;
    let length = u32::from_be_bytes(*length);
    if u64::from(length) != data.len() as u64 {
        return Err(Error::corrupt(format!(
            "deletion vector says it has {length} bytes, its blob has {}",
            data.len()
        )));
    }
    let (magic, vector) = data.split_first_chunk::<4>().ok_or_else(too_short)?;
    if *magic != MAGIC {
        return Err(Error::corrupt(format!(
            "deletion vector has magic {:08X}, not D1D33964",
            u32::from_be_bytes(*magic)
        )));
    }
    let (expected, found) = (u32::from_be_bytes(*crc), crc32fast::hash(data));
    if expected != found {
        return Err(Error::corrupt(format!(
            "deletion vector has checksum {found:08x}, not {expected:08x}"
        )));
    }
    Ok(vector)
}

/// Reads the portable 64-bit form. Allocates in proportion to the input.
fn parse_treemap(mut bytes: &[u8]) -> Result<RoaringTreemap> {
    let (count, rest) = bytes
        .split_first_chunk::<8>()
        .ok_or_else(|| Error::corrupt("deletion vector ends before its bitmap count"))?;
    let count = u64::from_le_bytes(*count);
    if count > (rest.len() / MIN_BITMAP_BYTES) as u64 {
        return Err(Error::corrupt(format!(
            "deletion vector says it has {count} bitmaps, in {} bytes",
            rest.len()
        )));
    }
    bytes = rest;
    let mut bitmaps: Vec<(u32, RoaringBitmap)> = Vec::new();
    let mut last_key = None;
    for _ in 0..count {
        let (key, rest) = bytes
            .split_first_chunk::<4>()
            .ok_or_else(|| Error::corrupt("deletion vector ends before a bitmap"))?;
        let key = u32::from_le_bytes(*key);
        if key > MAX_KEY || last_key.is_some_and(|last| key <= last) {
            return Err(Error::corrupt(format!(
                "deletion vector has the bitmap key {key:#x}, which is negative or out of order"
            )));
        }
        last_key = Some(key);
        bytes = rest;
        let bitmap = RoaringBitmap::deserialize_from(&mut bytes)
            .map_err(|e| Error::corrupt("deletion vector has an invalid bitmap").with_source(e))?;
        // Java writes empty bitmaps for the keys in between.
        if !bitmap.is_empty() {
            bitmaps.push((key, bitmap));
        }
    }
    if !bytes.is_empty() {
        return Err(Error::corrupt(format!(
            "deletion vector has {} bytes after its bitmaps",
            bytes.len()
        )));
    }
    Ok(RoaringTreemap::from_bitmaps(bitmaps))
}

fn too_high(position: u64) -> Error {
    Error::invalid(format!("row position {position} is above 2^63 - 1"))
}

#[cfg(test)]
mod tests;
