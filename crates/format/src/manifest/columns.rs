//! A decoded manifest as columns (struct of arrays).
//!
//! One value per entry in each column. Strings and bytes lie in one buffer per column. Metrics are kept only
//! for the projected fields, bounds as bytes in binary single-value form. Partition tuples are kept once each.
//! Inherited values (snapshot ids, sequence numbers, first row ids) are not applied here, because the same
//! manifest may be cached for several snapshots: see [`super::inherit`].

use std::collections::BTreeMap;
use std::mem::size_of;
use std::sync::Arc;

use super::column_data::{LongLists, OptionalBytes, OptionalLongs, Strings};
use super::data_file::{DataContent, DataFile, FileFormat, ManifestEntry, ManifestStatus, PartitionTuple};
use super::inherit::Inheritance;
use crate::error::Result;
use crate::spec::types::FieldId;
use crate::spec::value::Value;

/// The metrics of one field over all entries.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FieldMetrics {
    /// Bytes on disk.
    pub column_size: OptionalLongs,
    /// Values, nulls and NaN included.
    pub value_count: OptionalLongs,
    /// Nulls.
    pub null_count: OptionalLongs,
    /// NaNs.
    pub nan_count: OptionalLongs,
    /// Lower bounds.
    pub lower_bound: OptionalBytes,
    /// Upper bounds.
    pub upper_bound: OptionalBytes,
}

impl FieldMetrics {
    /// Heap bytes.
    pub fn size_bytes(&self) -> usize {
        self.column_size.size_bytes()
            + self.value_count.size_bytes()
            + self.null_count.size_bytes()
            + self.nan_count.size_bytes()
            + self.lower_bound.size_bytes()
            + self.upper_bound.size_bytes()
    }

    /// Whether no entry has any.
    pub fn is_empty(&self) -> bool {
        self.column_size.is_empty()
            && self.value_count.is_empty()
            && self.null_count.is_empty()
            && self.nan_count.is_empty()
            && self.lower_bound.is_empty()
            && self.upper_bound.is_empty()
    }

    pub(super) fn reserve(&mut self, rows: usize, len: usize) {
        self.column_size.reserve(rows, len);
        self.value_count.reserve(rows, len);
        self.null_count.reserve(rows, len);
        self.nan_count.reserve(rows, len);
        self.lower_bound.reserve(rows, len);
        self.upper_bound.reserve(rows, len);
    }

    fn shrink(&mut self) {
        self.column_size.shrink();
        self.value_count.shrink();
        self.null_count.shrink();
        self.nan_count.shrink();
        self.lower_bound.shrink();
        self.upper_bound.shrink();
    }
}

/// Which fields' metrics are decoded.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub enum MetricsProjection {
    /// None.
    #[default]
    None,
    /// Those of these fields, sorted.
    Fields(Vec<FieldId>),
    /// All, and also the split offsets of every entry.
    All,
}

impl MetricsProjection {
    /// The metrics of these fields, in any order.
    pub fn fields(ids: impl IntoIterator<Item = FieldId>) -> Self {
        let mut ids: Vec<FieldId> = ids.into_iter().collect();
        ids.sort_unstable();
        ids.dedup();
        if ids.is_empty() {
            MetricsProjection::None
        } else {
            MetricsProjection::Fields(ids)
        }
    }

    /// Whether what this projection decodes holds all that `other` asks for.
    pub fn covers(&self, other: &MetricsProjection) -> bool {
        match (self, other) {
            (MetricsProjection::All, _) | (_, MetricsProjection::None) => true,
            (MetricsProjection::Fields(have), MetricsProjection::Fields(want)) => {
                want.iter().all(|id| have.binary_search(id).is_ok())
            }
            _ => false,
        }
    }

    /// The smallest projection that covers both.
    #[must_use]
    pub fn union(&self, other: &MetricsProjection) -> Self {
        match (self, other) {
            (MetricsProjection::All, _) | (_, MetricsProjection::All) => MetricsProjection::All,
            (MetricsProjection::None, p) | (p, MetricsProjection::None) => p.clone(),
            (MetricsProjection::Fields(a), MetricsProjection::Fields(b)) => {
                MetricsProjection::fields(a.iter().chain(b).copied())
            }
        }
    }
}

/// A manifest's entries as columns.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ManifestColumns {
    /// Number of entries.
    pub len: usize,
    /// What was decoded into `metrics`.
    pub projection: MetricsProjection,
    /// [`ManifestStatus`] as number.
    pub status: Vec<u8>,
    /// As stored.
    pub snapshot_id: OptionalLongs,
    /// As stored.
    pub sequence_number: OptionalLongs,
    /// As stored.
    pub file_sequence_number: OptionalLongs,
    /// [`DataContent`] as number; 0 where the manifest has no such column.
    pub content: Vec<u8>,
    /// Locations; always valid.
    pub file_path: Strings,
    /// Formats.
    pub file_format: Vec<FileFormat>,
    /// Index of each entry's tuple in `partitions`.
    pub partition_index: Vec<u32>,
    /// The partition tuples, each kept once, in the order of the manifest's spec.
    pub partitions: Vec<PartitionTuple>,
    /// Rows.
    pub record_count: Vec<i64>,
    /// Bytes.
    pub file_size_in_bytes: Vec<i64>,
    /// Sort order ids.
    pub sort_order_id: OptionalLongs,
    /// As stored.
    pub first_row_id: OptionalLongs,
    /// Data file that position deletes refer to.
    pub referenced_data_file: Strings,
    /// Offset of a deletion vector's blob.
    pub content_offset: OptionalLongs,
    /// Length of that blob.
    pub content_size_in_bytes: OptionalLongs,
    /// Split offsets; only with [`MetricsProjection::All`].
    pub split_offsets: LongLists,
    /// Key column ids of equality deletes.
    pub equality_ids: LongLists,
    /// Key metadata.
    pub key_metadata: OptionalBytes,
    /// Metrics of the projected fields; a field of which no entry has any is absent.
    pub metrics: BTreeMap<FieldId, FieldMetrics>,
}

static EMPTY_TUPLE: PartitionTuple = PartitionTuple(Vec::new());

impl ManifestColumns {
    /// The location of entry `i`, exactly as written; empty past the end.
    #[inline]
    pub fn path(&self, i: usize) -> &str {
        self.file_path.get(i).unwrap_or_default()
    }

    /// The status of entry `i`.
    #[inline]
    pub fn status(&self, i: usize) -> ManifestStatus {
        match self.status.get(i) {
            Some(1) => ManifestStatus::Added,
            Some(2) => ManifestStatus::Deleted,
            _ => ManifestStatus::Existing,
        }
    }

    /// Whether entry `i` is part of the snapshot.
    #[inline]
    pub fn is_live(&self, i: usize) -> bool {
        self.status.get(i).is_some_and(|s| *s != ManifestStatus::Deleted as u8)
    }

    /// Data or deletes.
    #[inline]
    pub fn content(&self, i: usize) -> DataContent {
        match self.content.get(i) {
            Some(1) => DataContent::PositionDeletes,
            Some(2) => DataContent::EqualityDeletes,
            _ => DataContent::Data,
        }
    }

    /// The format of entry `i`.
    #[inline]
    pub fn file_format(&self, i: usize) -> FileFormat {
        self.file_format.get(i).copied().unwrap_or(FileFormat::Parquet)
    }

    /// The partition tuple of entry `i`, in the order of the manifest's spec.
    #[inline]
    pub fn partition(&self, i: usize) -> &PartitionTuple {
        let index = self.partition_index.get(i).copied().unwrap_or(u32::MAX);
        self.partitions.get(index as usize).unwrap_or(&EMPTY_TUPLE)
    }

    /// Rows of entry `i`.
    #[inline]
    pub fn record_count(&self, i: usize) -> i64 {
        self.record_count.get(i).copied().unwrap_or(0)
    }

    /// Length in bytes of the file of entry `i`.
    #[inline]
    pub fn file_size_in_bytes(&self, i: usize) -> i64 {
        self.file_size_in_bytes.get(i).copied().unwrap_or(0)
    }

    /// Whether entry `i` is a deletion vector.
    #[inline]
    pub fn is_deletion_vector(&self, i: usize) -> bool {
        self.content(i) == DataContent::PositionDeletes && self.file_format(i) == FileFormat::Puffin
    }

    /// The metrics of a field; `None` when not projected or no entry has any.
    pub fn metrics_of(&self, field_id: FieldId) -> Option<&FieldMetrics> {
        self.metrics.get(&field_id)
    }

    /// Entry `i` as a row with everything inherited. Its metrics are those that were projected.
    pub fn entry(&self, i: usize, inheritance: &Inheritance) -> ManifestEntry {
        ManifestEntry {
            status: self.status(i),
            snapshot_id: inheritance.snapshot_id(self, i),
            sequence_number: inheritance.sequence_number(self, i),
            file_sequence_number: inheritance.file_sequence_number(self, i),
            data_file: Arc::new(self.data_file(i, inheritance)),
        }
    }

    /// The file of entry `i` as a row, see [`Self::entry`].
    pub fn data_file(&self, i: usize, inheritance: &Inheritance) -> DataFile {
        let mut file = DataFile::new(self.content(i), self.path(i), self.file_format(i));
        file.spec_id = inheritance.spec_id();
        file.partition = self.partition(i).clone();
        file.record_count = self.record_count(i);
        file.file_size_in_bytes = self.file_size_in_bytes(i);
        file.sort_order_id = self.sort_order_id.get(i).and_then(|id| i32::try_from(id).ok());
        file.first_row_id = inheritance.first_row_id(self, i);
        file.referenced_data_file = self.referenced_data_file.get(i).map(Arc::from);
        file.content_offset = self.content_offset.get(i);
        file.content_size_in_bytes = self.content_size_in_bytes.get(i);
        file.split_offsets = self.split_offsets.get(i).to_vec();
        let ids = self.equality_ids.get(i).iter();
        file.equality_ids = ids.filter_map(|id| FieldId::try_from(*id).ok()).collect();
        file.key_metadata = self.key_metadata.get(i).map(<[u8]>::to_vec);
        for (id, metrics) in &self.metrics {
            insert(&mut file.column_sizes, *id, metrics.column_size.get(i));
            insert(&mut file.value_counts, *id, metrics.value_count.get(i));
            insert(&mut file.null_value_counts, *id, metrics.null_count.get(i));
            insert(&mut file.nan_value_counts, *id, metrics.nan_count.get(i));
            insert(
                &mut file.lower_bounds,
                *id,
                metrics.lower_bound.get(i).map(<[u8]>::to_vec),
            );
            insert(
                &mut file.upper_bounds,
                *id,
                metrics.upper_bound.get(i).map(<[u8]>::to_vec),
            );
        }
        file
    }

    /// The columns of these rows with all their metrics. Nothing is inherited or dropped.
    ///
    /// # Errors
    /// `ResourcesExhausted` when a column would pass 4 GiB.
    pub fn from_entries<'a>(entries: impl IntoIterator<Item = &'a ManifestEntry>) -> Result<Self> {
        let mut columns = ManifestColumns {
            projection: MetricsProjection::All,
            ..ManifestColumns::default()
        };
        for entry in entries {
            columns.push_entry(entry)?;
        }
        columns.shrink();
        Ok(columns)
    }

    fn push_entry(&mut self, entry: &ManifestEntry) -> Result<()> {
        let row = self.len;
        let file = &entry.data_file;
        self.status.push(entry.status as u8);
        push(&mut self.snapshot_id, row, entry.snapshot_id);
        push(&mut self.sequence_number, row, entry.sequence_number);
        push(&mut self.file_sequence_number, row, entry.file_sequence_number);
        self.content.push(file.content as u8);
        self.file_path.push_at(row, &file.file_path)?;
        self.file_format.push(file.file_format);
        let index = match self.partitions.iter().position(|p| *p == file.partition) {
            Some(index) => index,
            None => {
                self.partitions.push(file.partition.clone());
                self.partitions.len() - 1
            }
        };
        self.partition_index.push(index as u32);
        self.record_count.push(file.record_count);
        self.file_size_in_bytes.push(file.file_size_in_bytes);
        push(&mut self.sort_order_id, row, file.sort_order_id.map(i64::from));
        push(&mut self.first_row_id, row, file.first_row_id);
        if let Some(path) = &file.referenced_data_file {
            self.referenced_data_file.push_at(row, path)?;
        }
        push(&mut self.content_offset, row, file.content_offset);
        push(&mut self.content_size_in_bytes, row, file.content_size_in_bytes);
        for offset in &file.split_offsets {
            self.split_offsets.push_at(row, *offset)?;
        }
        for id in &file.equality_ids {
            self.equality_ids.push_at(row, i64::from(*id))?;
        }
        if let Some(key) = &file.key_metadata {
            self.key_metadata.push_at(row, key)?;
        }
        self.push_metrics(row, file)?;
        self.len += 1;
        Ok(())
    }

    fn push_metrics(&mut self, row: usize, file: &DataFile) -> Result<()> {
        for (id, v) in &file.column_sizes {
            self.metrics.entry(*id).or_default().column_size.push_at(row, *v);
        }
        for (id, v) in &file.value_counts {
            self.metrics.entry(*id).or_default().value_count.push_at(row, *v);
        }
        for (id, v) in &file.null_value_counts {
            self.metrics.entry(*id).or_default().null_count.push_at(row, *v);
        }
        for (id, v) in &file.nan_value_counts {
            self.metrics.entry(*id).or_default().nan_count.push_at(row, *v);
        }
        for (id, v) in &file.lower_bounds {
            self.metrics.entry(*id).or_default().lower_bound.push_at(row, v)?;
        }
        for (id, v) in &file.upper_bounds {
            self.metrics.entry(*id).or_default().upper_bound.push_at(row, v)?;
        }
        Ok(())
    }

    /// Makes room for so many more entries like those it has.
    pub(super) fn reserve(&mut self, rows: usize) {
        let len = self.len;
        self.status.reserve_exact(rows);
        self.content.reserve_exact(rows);
        self.file_format.reserve_exact(rows);
        self.partition_index.reserve_exact(rows);
        self.record_count.reserve_exact(rows);
        self.file_size_in_bytes.reserve_exact(rows);
        self.file_path.reserve(rows, len);
        for longs in [
            &mut self.snapshot_id,
            &mut self.sequence_number,
            &mut self.file_sequence_number,
            &mut self.sort_order_id,
        ] {
            longs.reserve(rows, len);
        }
    }

    /// Gives back unused memory, as before a long stay in the cache.
    pub fn shrink(&mut self) {
        self.status.shrink_to_fit();
        self.content.shrink_to_fit();
        self.file_format.shrink_to_fit();
        self.partition_index.shrink_to_fit();
        self.partitions.shrink_to_fit();
        self.record_count.shrink_to_fit();
        self.file_size_in_bytes.shrink_to_fit();
        self.file_path.shrink();
        self.referenced_data_file.shrink();
        self.split_offsets.shrink();
        self.equality_ids.shrink();
        self.key_metadata.shrink();
        for longs in [
            &mut self.snapshot_id,
            &mut self.sequence_number,
            &mut self.file_sequence_number,
            &mut self.sort_order_id,
            &mut self.first_row_id,
            &mut self.content_offset,
            &mut self.content_size_in_bytes,
        ] {
            longs.shrink();
        }
        self.metrics.values_mut().for_each(FieldMetrics::shrink);
    }

    /// Memory in bytes, this struct included.
    pub fn size_bytes(&self) -> usize {
        let longs = [
            &self.snapshot_id,
            &self.sequence_number,
            &self.file_sequence_number,
            &self.sort_order_id,
            &self.first_row_id,
            &self.content_offset,
            &self.content_size_in_bytes,
        ];
        let metrics = self.metrics.values();
        size_of::<Self>()
            + longs.iter().map(|l| l.size_bytes()).sum::<usize>()
            + self.status.capacity()
            + self.content.capacity()
            + self.file_format.capacity()
            + self.partition_index.capacity() * size_of::<u32>()
            + self.partitions.iter().map(tuple_size).sum::<usize>()
            + (self.record_count.capacity() + self.file_size_in_bytes.capacity()) * size_of::<i64>()
            + self.file_path.size_bytes()
            + self.referenced_data_file.size_bytes()
            + self.split_offsets.size_bytes()
            + self.equality_ids.size_bytes()
            + self.key_metadata.size_bytes()
            + metrics
                .map(|m| m.size_bytes() + size_of::<(FieldId, FieldMetrics)>())
                .sum::<usize>()
    }
}

fn insert<T>(map: &mut BTreeMap<FieldId, T>, id: FieldId, value: Option<T>) {
    if let Some(value) = value {
        map.insert(id, value);
    }
}

fn push(column: &mut OptionalLongs, row: usize, value: Option<i64>) {
    if let Some(value) = value {
        column.push_at(row, value);
    }
}

fn tuple_size(tuple: &PartitionTuple) -> usize {
    // The counters of an Arc lie before its bytes.
    let heap = |v: &Option<Value>| match v {
        Some(Value::String(s)) => s.len() + 2 * size_of::<usize>(),
        Some(Value::Binary(b)) => b.len() + 2 * size_of::<usize>(),
        _ => 0,
    };
    size_of::<PartitionTuple>()
        + tuple.0.capacity() * size_of::<Option<Value>>()
        + tuple.0.iter().map(heap).sum::<usize>()
}
