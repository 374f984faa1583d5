//! Avro object container files: header, blocks, sync markers.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::codec::{BlockBuffer, Codec, Compressor, Decompressor, MAX_BLOCK_BYTES};
use super::cursor::Cursor;
use super::encoder::Encoder;
use super::schema::AvroSchema;
use crate::error::{Error, Result};

/// What a file begins with.
pub const MAGIC: &[u8; 4] = b"Obj\x01";
/// Magic of Iceberg's AES GCM streams, in which encrypted manifests come.
const ENCRYPTED_MAGIC: &[u8; 4] = b"AGS1";
const SYNC_BYTES: usize = 16;

/// Uncompressed bytes after which a block ends: the Java writer's sync interval.
pub const BLOCK_TARGET_BYTES: usize = 64_000;

/// The header of a container file.
#[derive(Debug, Clone)]
pub struct Header {
    /// Key-value metadata, `avro.*` included.
    pub metadata: BTreeMap<String, Vec<u8>>,
    sync: [u8; SYNC_BYTES],
    codec: Codec,
}

impl Header {
    /// A metadata value as text; `None` when absent or not UTF-8.
    pub fn text(&self, key: &str) -> Option<&str> {
        self.metadata.get(key).and_then(|v| std::str::from_utf8(v).ok())
    }

    /// How blocks are compressed.
    pub fn codec(&self) -> Codec {
        self.codec
    }

    /// The schema the file was written with.
    ///
    /// # Errors
    /// `Corrupt` when absent or no schema.
    pub fn schema(&self) -> Result<Arc<AvroSchema>> {
        let json = self.metadata.get("avro.schema");
        AvroSchema::parse(json.ok_or_else(|| Error::corrupt("the Avro file has no schema"))?)
    }
}

/// Reads the blocks of a file that is in memory.
#[derive(Debug)]
pub struct ContainerReader<'a> {
    /// The header.
    pub header: Header,
    rest: &'a [u8],
    decompressor: Decompressor,
    buffer: BlockBuffer,
}

/// A decompressed block.
#[derive(Debug)]
pub struct Block<'a> {
    /// The number of records that the file says it holds. Not to be trusted.
    pub record_count: u64,
    /// Length of the file behind it.
    pub bytes_left: usize,
    /// The records.
    pub buffer: &'a BlockBuffer,
}

impl<'a> ContainerReader<'a> {
    /// Reads the header.
    ///
    /// # Errors
    /// `Corrupt` when this is no Avro file, `Unsupported` when it is encrypted or of an unknown codec.
    pub fn new(bytes: &'a [u8]) -> Result<Self> {
        let (header, rest) = read_header(bytes)?;
        Ok(ContainerReader {
            decompressor: Decompressor::new(header.codec),
            header,
            rest,
            buffer: BlockBuffer::default(),
        })
    }

    /// The next block; `None` at the end of the file.
    ///
    /// # Errors
    /// `Corrupt` when the file ends inside a block, a length lies, or the sync marker is wrong.
    pub fn next_block(&mut self) -> Result<Option<Block<'_>>> {
        let block = read_block(&self.header, self.rest, &mut self.decompressor, &mut self.buffer)?;
        let Some((record_count, rest)) = block else {
            return Ok(None);
        };
        self.rest = rest;
        Ok(Some(Block {
            record_count,
            bytes_left: rest.len(),
            buffer: &self.buffer,
        }))
    }
}

/// Reads the block with which `rest` begins into `buffer`. Returns the number of records that it says it holds, and what
/// follows it; `None` at the end of the file.
///
/// # Errors
/// As [`ContainerReader::next_block`].
pub fn read_block<'a>(
    header: &Header,
    rest: &'a [u8],
    decompressor: &mut Decompressor,
    buffer: &mut BlockBuffer,
) -> Result<Option<(u64, &'a [u8])>> {
    if rest.is_empty() {
        return Ok(None);
    }
    let (record_count, rest) = read_long(rest)?;
    let (size_bytes, rest) = read_long(rest)?;
    let record_count = u64::try_from(record_count).map_err(|_| Error::corrupt("an Avro block has a negative count"))?;
    let size_bytes = usize::try_from(size_bytes).map_err(|_| Error::corrupt("an Avro block has a negative size"))?;
    if size_bytes.saturating_add(SYNC_BYTES) > rest.len() || size_bytes > MAX_BLOCK_BYTES {
        return Err(Error::corrupt("the Avro file ends inside a block"));
    }
    let (block, rest) = rest.split_at(size_bytes);
    let (sync, rest) = rest.split_at(SYNC_BYTES);
    if sync != header.sync {
        return Err(Error::corrupt("an Avro block is not followed by the sync marker"));
    }
    decompressor.decompress(block, buffer)?;
    Ok(Some((record_count, rest)))
}

/// Bytes of a block's two leading numbers, at most.
const BLOCK_HEAD_BYTES: usize = 20;

/// How many bytes of the file the block with which `rest` begins takes; `None` when `rest` is too short to tell. A file may
/// end before.
///
/// # Errors
/// `Corrupt` when the block claims a size that no block has.
pub fn block_len(rest: &[u8]) -> Result<Option<usize>> {
    if rest.len() < BLOCK_HEAD_BYTES {
        return Ok(None);
    }
    let (_, after) = read_long(rest)?;
    let (size_bytes, after) = read_long(after)?;
    match usize::try_from(size_bytes) {
        Ok(size) if size <= MAX_BLOCK_BYTES => Ok(Some(rest.len() - after.len() + size + SYNC_BYTES)),
        _ => Err(Error::corrupt(format!("an Avro block claims {size_bytes} bytes"))),
    }
}

/// Reads the header alone.
///
/// # Errors
/// As [`ContainerReader::new`].
pub fn read_header(bytes: &[u8]) -> Result<(Header, &[u8])> {
    let Some(body) = bytes.strip_prefix(MAGIC) else {
        if bytes.starts_with(ENCRYPTED_MAGIC) {
            return Err(Error::unsupported("the file is encrypted"));
        }
        return Err(Error::corrupt("not an Avro file"));
    };
    let mut metadata = BTreeMap::new();
    let mut rest = body;
    loop {
        let (mut count, after) = read_long(rest)?;
        rest = after;
        if count == 0 {
            break;
        }
        if count < 0 {
            (_, rest) = read_long(rest)?;
            count = count.checked_neg().unwrap_or(i64::MAX);
        }
        // Each pair takes bytes, so a count that lies ends with the file.
        for _ in 0..count {
            let (key, after) = read_sized(rest)?;
            let (value, after) = read_sized(after)?;
            let key = std::str::from_utf8(key).map_err(|_| Error::corrupt("an Avro header key is not UTF-8"))?;
            metadata.insert(key.to_string(), value.to_vec());
            rest = after;
        }
    }
    let Some((sync, rest)) = rest.split_first_chunk::<SYNC_BYTES>() else {
        return Err(header_ends());
    };
    let codec = match metadata.get("avro.codec") {
        None => Codec::Null,
        Some(name) => Codec::from_avro_name(&String::from_utf8_lossy(name))?,
    };
    let header = Header {
        metadata,
        sync: *sync,
        codec,
    };
    Ok((header, rest))
}

fn read_long(bytes: &[u8]) -> Result<(i64, &[u8])> {
    let head = bytes.get(..bytes.len().min(10)).unwrap_or_default();
    let buffer = BlockBuffer::of(head);
    let mut cursor = Cursor::new(&buffer);
    let value = cursor.long()?;
    cursor.check()?;
    Ok((value, bytes.get(cursor.position()..).unwrap_or_default()))
}

fn read_sized(bytes: &[u8]) -> Result<(&[u8], &[u8])> {
    let (len, rest) = read_long(bytes)?;
    let len = usize::try_from(len).map_err(|_| header_ends())?;
    rest.split_at_checked(len).ok_or_else(header_ends)
}

fn header_ends() -> Error {
    Error::corrupt("the Avro file ends inside its header")
}

/// Writes a file into memory.
#[derive(Debug)]
pub struct ContainerWriter {
    out: Vec<u8>,
    sync: [u8; SYNC_BYTES],
    compressor: Compressor,
    block: Encoder,
    block_records: u64,
    records: u64,
    compressed: Vec<u8>,
    /// Bytes that were taken out.
    taken: usize,
}

impl ContainerWriter {
    /// Writes the header with this schema and metadata (without `avro.*`).
    pub fn new(schema_json: &str, metadata: &[(&str, String)], codec: Codec) -> Self {
        let sync = *uuid::Uuid::new_v4().as_bytes();
        let mut header = Encoder::default();
        header.raw(MAGIC);
        let own = [("avro.schema", schema_json), ("avro.codec", codec.avro_name())];
        let all = own.into_iter().chain(metadata.iter().map(|(k, v)| (*k, v.as_str())));
        header.array(all.collect::<Vec<_>>().into_iter(), |e, (key, value)| {
            e.sized(key.as_bytes());
            e.sized(value.as_bytes());
        });
        header.raw(&sync);
        ContainerWriter {
            out: header.bytes().to_vec(),
            sync,
            compressor: Compressor::new(codec),
            block: Encoder::default(),
            block_records: 0,
            records: 0,
            compressed: Vec::new(),
            taken: 0,
        }
    }

    /// Writes one record.
    ///
    /// # Errors
    /// `Io` when compression fails.
    pub fn record(&mut self, write: impl FnOnce(&mut Encoder)) -> Result<()> {
        write(&mut self.block);
        self.block_records += 1;
        self.records += 1;
        if self.block.bytes().len() >= BLOCK_TARGET_BYTES {
            self.flush()?;
        }
        Ok(())
    }

    /// The number of records so far.
    pub fn record_count(&self) -> u64 {
        self.records
    }

    /// Bytes of the finished blocks and the header: a lower bound of the file's length.
    pub fn bytes_written(&self) -> usize {
        self.taken + self.out.len()
    }

    /// Bytes in memory.
    pub fn waiting_bytes(&self) -> usize {
        self.out.len() + self.block.bytes().len()
    }

    /// The header and the finished blocks, as far as they were not taken before: the file is written in pieces.
    pub fn take_blocks(&mut self) -> Vec<u8> {
        self.taken += self.out.len();
        std::mem::take(&mut self.out)
    }

    /// Finishes the block that was begun.
    ///
    /// # Errors
    /// `Io` when compression fails.
    pub fn flush(&mut self) -> Result<()> {
        if self.block_records == 0 {
            return Ok(());
        }
        self.compressed.clear();
        self.compressor.compress(self.block.bytes(), &mut self.compressed)?;
        let mut head = Encoder::default();
        head.long(i64::try_from(self.block_records).unwrap_or(i64::MAX));
        head.count(self.compressed.len());
        self.out.extend_from_slice(head.bytes());
        self.out.extend_from_slice(&self.compressed);
        self.out.extend_from_slice(&self.sync);
        self.block.clear();
        self.block_records = 0;
        Ok(())
    }

    /// The file, without what was taken before.
    ///
    /// # Errors
    /// `Io` when compression fails.
    pub fn finish(mut self) -> Result<Vec<u8>> {
        self.flush()?;
        Ok(self.out)
    }
}
