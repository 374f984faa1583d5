//! Copies of column chunks: their bytes, and what the footer says of them.

use std::ops::Range;

use bytes::Bytes;
use parquet::bloom_filter::Sbbf;
use parquet::column::writer::ColumnCloseResult;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::page_index::column_index::ColumnIndexMetaData;
use tarn_format::{Error, Result};

use super::column_bytes::read_error;
use super::source::{PageIndexes, SourceFile};

/// Where magic numbers and footer leave room for chunks.
const MAGIC_BYTES: u64 = 4;

/// A chunk in its old file: row group and leaf column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ChunkPlace {
    pub(super) group: usize,
    pub(super) leaf: usize,
}

/// A chunk that is appended to a row group as it is.
#[derive(Debug)]
pub(super) struct CopiedChunk {
    pub(super) bytes: Bytes,
    pub(super) close: ColumnCloseResult,
}

/// The bytes of a chunk, where they lie in the file.
pub(super) fn byte_range(chunk: &ColumnChunkMetaData, file_size_bytes: u64) -> Option<Range<u64>> {
    let start = chunk.dictionary_page_offset().unwrap_or(chunk.data_page_offset());
    let start = u64::try_from(start).ok()?;
    let end = start.checked_add(u64::try_from(chunk.compressed_size()).ok()?)?;
    (start >= MAGIC_BYTES && end <= file_size_bytes).then_some(start..end)
}

/// Whether bytes and footer of the chunk tell all there is to it.
pub(super) fn is_plain(chunk: &ColumnChunkMetaData, file_size_bytes: u64) -> bool {
    let range = byte_range(chunk, file_size_bytes);
    let has_data = range.is_some_and(|r| u64::try_from(chunk.data_page_offset()).is_ok_and(|at| r.contains(&at)));
    has_data
        && chunk.file_path().is_none()
        && chunk.index_page_offset().is_none()
        && chunk.bloom_filter_offset().is_some() == chunk.bloom_filter_length().is_some()
}

/// The bytes of the chunk's bloom filter.
pub(super) fn bloom_filter_range(chunk: &ColumnChunkMetaData) -> Result<Option<Range<u64>>> {
    let (Some(offset), Some(length)) = (chunk.bloom_filter_offset(), chunk.bloom_filter_length()) else {
        return Ok(None);
    };
    let range = u64::try_from(offset)
        .ok()
        .zip(u64::try_from(length).ok())
        .and_then(|(start, length)| Some(start..start.checked_add(length)?));
    match range {
        Some(range) => Ok(Some(range)),
        None => Err(Error::corrupt("a bloom filter lies outside of its file")),
    }
}

/// A copy of a chunk, `bloom_filter` being the bytes of its bloom filter.
pub(super) fn copied(
    source: &SourceFile,
    place: ChunkPlace,
    bytes: Bytes,
    bloom_filter: Option<Bytes>,
) -> Result<CopiedChunk> {
    let group = source.footer.row_group(place.group);
    let metadata = group.column(place.leaf).clone();
    let filter = bloom_filter.map(|bytes| Sbbf::from_bytes(&bytes)).transpose();
    let (column_index, offset_index) = match source.page_indexes {
        PageIndexes::Nowhere => (None, None),
        PageIndexes::Everywhere => {
            let columns = source
                .footer
                .column_index()
                .and_then(|i| i.get(place.group)?.get(place.leaf));
            let offsets = source
                .footer
                .offset_index()
                .and_then(|i| i.get(place.group)?.get(place.leaf));
            let columns = columns.filter(|i| !matches!(i, ColumnIndexMetaData::NONE));
            (columns.cloned(), offsets.cloned())
        }
    };
    Ok(CopiedChunk {
        close: ColumnCloseResult {
            bytes_written: bytes.len() as u64,
            rows_written: super::source::row_count(group),
            metadata,
            bloom_filter: filter.map_err(read_error)?,
            column_index,
            offset_index,
        },
        bytes,
    })
}
