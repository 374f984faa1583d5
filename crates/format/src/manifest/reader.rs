//! Decodes manifests into columns.

use std::collections::HashMap;

use super::avro::container::{ContainerReader, read_header};
use super::avro::cursor::{Cursor, Malformed};
use super::columns::{ManifestColumns, MetricsProjection};
use super::data_file::FileFormat;
use super::manifest_file::ManifestContent;
use super::metrics_maps::{MetricMaps, is_present};
use super::partition_values::{self, PartitionPlan};
use super::plan::{self, CollectionNulls, Column, EntryPlan, Step, Width};
use crate::error::{Error, Result};
use crate::spec::types::{PrimitiveType, StructType};

/// Decodes a manifest file.
///
/// Partition tuples are in the order of `partition_type`, or of the writer's fields without one; metrics are
/// those of the projected fields.
///
/// # Errors
/// `Corrupt` when the file is not a manifest or breaks off, `Unsupported` when it is encrypted.
pub fn decode(
    bytes: &[u8],
    partition_type: Option<&StructType>,
    projection: &MetricsProjection,
) -> Result<ManifestColumns> {
    let mut container = ContainerReader::new(bytes)?;
    let width = match projection {
        MetricsProjection::None => Width::Narrow,
        MetricsProjection::Fields(_) => Width::SomeMetrics,
        MetricsProjection::All => Width::Full,
    };
    let plan = EntryPlan::compile(&container.header.schema()?, partition_type, width)?;
    let mut decoder = EntryDecoder::new(&plan, projection, bytes.len());
    let mut record = 0_u64;
    while let Some(block) = container.next_block()? {
        let bytes_left = block.bytes_left;
        let mut cursor = Cursor::new(block.buffer);
        // Every entry takes bytes, so a count that lies ends with the block.
        for _ in 0..block.record_count {
            decoder
                .entry(&mut cursor)
                .map_err(|e| Error::from(e).with_context("entry", record.to_string()))?;
            record += 1;
        }
        if cursor.remaining() > 0 {
            return Err(Error::corrupt("an Avro block holds more than its entries"));
        }
        if record == block.record_count {
            decoder.reserve(bytes_left);
        }
    }
    Ok(decoder.finish())
}

/// The types in which the writer of a manifest gave the values of each field of `partition_type`, by the file's own
/// schema: for fields whose type the table's metadata does not tell. `None` where the file has only nulls.
///
/// # Errors
/// `Corrupt` when the file is not a manifest.
pub fn written_partition_types(bytes: &[u8], partition_type: &StructType) -> Result<Vec<Option<PrimitiveType>>> {
    let (header, _) = read_header(bytes)?;
    let schema = header.schema()?;
    let fields = plan::partition_fields(&schema).unwrap_or_default();
    Ok(partition_values::written_types(fields, partition_type))
}

/// What a manifest's header says. All of it is optional in the wild.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ManifestHeader {
    /// `format-version`.
    pub format_version: Option<i64>,
    /// `partition-spec-id`.
    pub partition_spec_id: Option<i32>,
    /// `schema-id`.
    pub schema_id: Option<i32>,
    /// `content`.
    pub content: Option<ManifestContent>,
    /// `schema`, as JSON.
    pub schema_json: Option<String>,
    /// `partition-spec`, as a JSON array of fields.
    pub partition_spec_json: Option<String>,
}

impl ManifestHeader {
    /// Reads the header of a manifest; the first bytes of the file suffice when they hold all of it.
    ///
    /// # Errors
    /// `Corrupt` when the file is no Avro file, `Unsupported` when it is encrypted.
    pub fn read(bytes: &[u8]) -> Result<Self> {
        let (header, _) = read_header(bytes)?;
        let number = |key| header.text(key).and_then(|t| t.trim().parse::<i64>().ok());
        let id = |key| number(key).and_then(|n| i32::try_from(n).ok());
        Ok(ManifestHeader {
            format_version: number("format-version"),
            partition_spec_id: id("partition-spec-id"),
            schema_id: id("schema-id"),
            content: match header.text("content") {
                Some("data") => Some(ManifestContent::Data),
                Some("deletes") => Some(ManifestContent::Deletes),
                _ => None,
            },
            schema_json: header.text("schema").map(str::to_string),
            partition_spec_json: header.text("partition-spec").map(str::to_string),
        })
    }
}

struct EntryDecoder<'a> {
    plan: &'a EntryPlan,
    columns: ManifestColumns,
    metrics: MetricMaps,
    partitions: PartitionIndex,
    file_bytes: usize,
}

/// Room is made for at most one entry in so many compressed bytes.
const MIN_ENTRY_BYTES: usize = 32;

impl<'a> EntryDecoder<'a> {
    fn new(plan: &'a EntryPlan, projection: &MetricsProjection, file_bytes: usize) -> Self {
        EntryDecoder {
            plan,
            file_bytes,
            columns: ManifestColumns {
                projection: projection.clone(),
                ..ManifestColumns::default()
            },
            metrics: MetricMaps::new(projection),
            partitions: PartitionIndex::default(),
        }
    }

    fn entry(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Malformed> {
        let plan = self.plan;
        let row = self.columns.len;
        for step in &plan.steps {
            match step {
                Step::Skip(skip) => skip.skip(cursor)?,
                Step::Number(column, null) => {
                    if is_present(cursor, *null)? {
                        let value = cursor.long()?;
                        self.number(*column, row, value)?;
                    }
                }
                Step::Text(column, null) => {
                    if is_present(cursor, *null)? {
                        let bytes = cursor.bytes()?;
                        self.text(*column, row, bytes)?;
                    }
                }
                Step::Counts(metric, nulls) => self.metrics.counts(cursor, *metric, *nulls, row)?,
                Step::Bounds(metric, nulls) => self.metrics.bounds(cursor, *metric, *nulls, row)?,
                Step::Numbers(column, nulls) => self.numbers(cursor, *column, *nulls, row)?,
                Step::Partition(skip, null) => {
                    if !is_present(cursor, *null)? {
                        continue;
                    }
                    let start = cursor.position();
                    skip.skip(cursor)?;
                    let index = self.partitions.of(start, cursor, &plan.partition, &mut self.columns)?;
                    self.columns.partition_index.push(index);
                }
                Step::Require(null) => {
                    if !is_present(cursor, *null)? {
                        return Err(Malformed::Null);
                    }
                }
            }
        }
        cursor.check()?;
        self.complete(row)
    }

    #[inline]
    fn number(&mut self, column: Column, row: usize, value: i64) -> Result<(), Malformed> {
        let columns = &mut self.columns;
        match column {
            Column::Status => columns.status.push(code(value)?),
            Column::Content => columns.content.push(code(value)?),
            Column::RecordCount => columns.record_count.push(value),
            Column::FileSize => columns.file_size_in_bytes.push(value),
            Column::SnapshotId => columns.snapshot_id.push_at(row, value),
            Column::SequenceNumber => columns.sequence_number.push_at(row, value),
            Column::FileSequenceNumber => columns.file_sequence_number.push_at(row, value),
            Column::SortOrderId => columns.sort_order_id.push_at(row, value),
            Column::FirstRowId => columns.first_row_id.push_at(row, value),
            Column::ContentOffset => columns.content_offset.push_at(row, value),
            Column::ContentSize => columns.content_size_in_bytes.push_at(row, value),
            _ => {}
        }
        Ok(())
    }

    #[inline]
    fn text(&mut self, column: Column, row: usize, bytes: &[u8]) -> Result<(), Malformed> {
        let columns = &mut self.columns;
        let text = || std::str::from_utf8(bytes).map_err(|_| Malformed::Utf8);
        let pushed = match column {
            Column::FilePath => columns.file_path.push_at(row, text()?),
            Column::ReferencedDataFile => columns.referenced_data_file.push_at(row, text()?),
            Column::KeyMetadata => columns.key_metadata.push_at(row, bytes),
            Column::FileFormat => {
                columns.file_format.push(format(bytes)?);
                Ok(())
            }
            _ => Ok(()),
        };
        pushed.map_err(|_| Malformed::TooLarge)
    }

    fn numbers(
        &mut self,
        cursor: &mut Cursor<'_>,
        column: Column,
        nulls: CollectionNulls,
        row: usize,
    ) -> Result<(), Malformed> {
        if !is_present(cursor, nulls.whole)? {
            return Ok(());
        }
        let list = match column {
            Column::SplitOffsets => &mut self.columns.split_offsets,
            _ => &mut self.columns.equality_ids,
        };
        loop {
            let items = cursor.items()?;
            if items.count == 0 {
                return Ok(());
            }
            for _ in 0..items.count {
                if !is_present(cursor, nulls.item)? {
                    continue;
                }
                list.push_at(row, cursor.long()?).map_err(|_| Malformed::TooLarge)?;
            }
            cursor.end_items(items)?;
        }
    }

    /// Gives the entry what its file has no field for, and makes sure that every dense column has grown by one.
    #[inline]
    fn complete(&mut self, row: usize) -> Result<(), Malformed> {
        let columns = &mut self.columns;
        let len = row + 1;
        // v1 has no content; the others are missing only in unpartitioned tables of careless writers.
        if columns.content.len() < len {
            columns.content.push(0);
        }
        if columns.file_format.len() < len {
            columns.file_format.push(format_of_path(columns.path(row)));
        }
        if columns.partition_index.len() < len {
            let index = self.partitions.of_null(&self.plan.partition, columns)?;
            columns.partition_index.push(index);
        }
        let is_complete = columns.status.len() == len
            && columns.record_count.len() == len
            && columns.file_size_in_bytes.len() == len
            && columns.file_path.get(row).is_some();
        if !is_complete || u32::try_from(len).is_err() {
            return Err(if is_complete {
                Malformed::TooLarge
            } else {
                Malformed::Null
            });
        }
        columns.len = len;
        Ok(())
    }

    /// After the first block: makes room for what the rest of the file should hold, if it is alike. The room is of the
    /// order of the file's own length, whatever the block claims.
    fn reserve(&mut self, bytes_left: usize) {
        if self.columns.projection == MetricsProjection::All || self.columns.len == 0 {
            return;
        }
        let rows = (bytes_left / MIN_ENTRY_BYTES).min(self.rows_to_come(bytes_left));
        self.columns.reserve(rows);
        self.metrics.reserve(rows, self.columns.len);
    }

    fn rows_to_come(&self, bytes_left: usize) -> usize {
        let bytes_read = self.file_bytes.saturating_sub(bytes_left).max(1);
        // A little more, lest the last rows move everything.
        let bytes_left = bytes_left.saturating_add(bytes_left / 32);
        self.columns.len.saturating_mul(bytes_left) / bytes_read
    }

    fn finish(mut self) -> ManifestColumns {
        self.columns.metrics = self.metrics.finish();
        self.columns.shrink();
        self.columns
    }
}

/// A status or content.
fn code(value: i64) -> Result<u8, Malformed> {
    match value {
        0..=2 => Ok(value as u8),
        _ => Err(Malformed::Code),
    }
}

#[inline]
fn format(name: &[u8]) -> Result<FileFormat, Malformed> {
    match name {
        b"PARQUET" | b"parquet" => Ok(FileFormat::Parquet),
        name => std::str::from_utf8(name)
            .ok()
            .and_then(FileFormat::from_name)
            .ok_or(Malformed::Code),
    }
}

fn format_of_path(path: &str) -> FileFormat {
    let extension = path.rsplit_once('.').map_or("", |(_, extension)| extension);
    FileFormat::from_name(extension).unwrap_or(FileFormat::Parquet)
}

/// Finds the tuple of a partition record by its bytes, and decodes each only once.
#[derive(Default)]
struct PartitionIndex {
    by_bytes: HashMap<Box<[u8]>, u32>,
    last_bytes: Vec<u8>,
    last: Option<u32>,
    /// The tuple of entries without a partition record.
    of_null: Option<u32>,
}

impl PartitionIndex {
    fn of_null(&mut self, plan: &PartitionPlan, columns: &mut ManifestColumns) -> Result<u32, Malformed> {
        if let Some(index) = self.of_null {
            return Ok(index);
        }
        let index = u32::try_from(columns.partitions.len()).map_err(|_| Malformed::TooLarge)?;
        columns.partitions.push(plan.empty());
        self.of_null = Some(index);
        Ok(index)
    }

    fn of(
        &mut self,
        start: usize,
        cursor: &Cursor<'_>,
        plan: &PartitionPlan,
        columns: &mut ManifestColumns,
    ) -> Result<u32, Malformed> {
        let bytes = cursor.since(start)?;
        if let Some(last) = self.last {
            // Neighbours are mostly of one partition.
            if self.last_bytes == bytes {
                return Ok(last);
            }
        }
        let index = match self.by_bytes.get(bytes) {
            Some(index) => *index,
            None => {
                let index = u32::try_from(columns.partitions.len()).map_err(|_| Malformed::TooLarge)?;
                columns.partitions.push(plan.decode(&mut cursor.at(start))?);
                self.by_bytes.insert(Box::from(bytes), index);
                index
            }
        };
        self.last_bytes.clear();
        self.last_bytes.extend_from_slice(bytes);
        self.last = Some(index);
        Ok(index)
    }
}
