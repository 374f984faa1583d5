//! Which deletes apply to which data file (spec, "Scan Planning"; Java: `DeleteFileIndex`).
//!
//! | deletes | found by | apply when the data file's sequence number is |
//! | --- | --- | --- |
//! | deletion vector | the data file's path | lower or equal |
//! | position deletes of one file | the data file's path | lower or equal, unless a deletion vector applies |
//! | other position deletes | spec and partition | lower or equal, unless a deletion vector applies |
//! | equality deletes | spec and partition, or anywhere when their spec is unpartitioned | lower |

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

pub use super::equality::FileMetrics;
use super::equality::{EqualityDeletes, KeyFields};
use super::partition_key::PartitionKey;
use super::path_index::PathIndex;
use super::task::{DeleteKind, DeleteTask};
use crate::error::{Error, Result};
use crate::io::location::Spelling;
use crate::manifest::data_file::{DataFile, PartitionTuple};
use crate::metrics::ScanMetrics;
use crate::scan::manifest_entries::ManifestEntries;
use crate::spec::table_metadata::TableMetadata;
use crate::spec::types::FieldId;

/// The deletes of a snapshot, ready to be asked for those of a data file.
#[derive(Debug, Default)]
pub struct DeleteFileIndex {
    global_equality: EqualityDeletes,
    equality: HashMap<PartitionKey, EqualityDeletes>,
    position: HashMap<PartitionKey, PositionDeletes>,
    position_by_path: PathIndex,
    vectors: PathIndex,
    equality_ids: BTreeSet<FieldId>,
    counts: Counts,
    manifest_bytes: usize,
}

#[derive(Debug, Default, Clone, Copy)]
struct Counts {
    equality: u64,
    position: u64,
    vectors: u64,
}

/// Position delete files of one partition, sorted by sequence number.
#[derive(Debug, Default)]
struct PositionDeletes(Vec<DeleteTask>);

impl PositionDeletes {
    fn from(&self, sequence_number: i64) -> &[DeleteTask] {
        let start = self.0.partition_point(|d| d.sequence_number() < sequence_number);
        self.0.get(start..).unwrap_or_default()
    }
}

/// The deletes that are scoped to one partition: looked up once for all data files of it.
#[derive(Debug, Clone, Copy)]
pub struct PartitionDeletes<'a> {
    equality: Option<&'a EqualityDeletes>,
    position: Option<&'a PositionDeletes>,
}

/// A data file, as far as deletes care.
#[derive(Debug, Clone, Copy)]
pub struct DeleteTarget<'a> {
    /// Its location.
    pub path: &'a str,
    /// Its data sequence number.
    pub sequence_number: i64,
    /// The spec it was written with.
    pub spec_id: i32,
    /// Its partition values in the order of that spec.
    pub partition: &'a PartitionTuple,
    /// Its counts and bounds, at least of [`DeleteFileIndex::equality_field_ids`]. What is missing is taken to match.
    pub metrics: FileMetrics<'a>,
}

impl<'a> DeleteTarget<'a> {
    /// A data file as a value, with the data sequence number of its entry.
    pub fn new(file: &'a DataFile, sequence_number: i64) -> Self {
        DeleteTarget {
            path: &file.file_path,
            sequence_number,
            spec_id: file.spec_id,
            partition: &file.partition,
            metrics: FileMetrics::File(file),
        }
    }

    /// Entry `row` of a data manifest.
    ///
    /// # Errors
    /// `Corrupt` when the entry has no data sequence number.
    pub fn of_row(entries: &'a ManifestEntries, row: usize) -> Result<Self> {
        Ok(DeleteTarget {
            path: entries.columns.path(row),
            sequence_number: entries.sequence_number(row)?,
            spec_id: entries.spec_id(),
            partition: entries.columns.partition(row),
            metrics: FileMetrics::Row {
                columns: &entries.columns,
                row,
            },
        })
    }
}

impl DeleteFileIndex {
    /// Whether no deletes at all are indexed.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many delete files and deletion vectors are indexed.
    pub fn len(&self) -> u64 {
        self.counts.equality + self.counts.position + self.counts.vectors
    }

    /// Memory in bytes by estimate, the columns of its manifests included.
    pub fn size_bytes(&self) -> usize {
        const PER_DELETE: usize = 128;
        self.manifest_bytes + PER_DELETE.saturating_mul(self.len() as usize)
    }

    /// Whether equality deletes are indexed.
    pub fn has_equality_deletes(&self) -> bool {
        self.counts.equality > 0
    }

    /// Whether position deletes or deletion vectors are indexed.
    pub fn has_position_deletes(&self) -> bool {
        self.counts.position + self.counts.vectors > 0
    }

    /// The key columns of all equality deletes: data files' metrics of these make the index more selective.
    pub fn equality_field_ids(&self) -> &BTreeSet<FieldId> {
        &self.equality_ids
    }

    /// Adds what is indexed to a scan's metrics.
    pub fn count_into(&self, metrics: &mut ScanMetrics) {
        metrics.indexed_delete_files += self.len();
        metrics.equality_delete_files += self.counts.equality;
        metrics.positional_delete_files += self.counts.position;
        metrics.dvs += self.counts.vectors;
    }

    /// The deletes scoped to this partition.
    pub fn partition(&self, spec_id: i32, tuple: &PartitionTuple) -> PartitionDeletes<'_> {
        if self.equality.is_empty() && self.position.is_empty() {
            return PartitionDeletes {
                equality: None,
                position: None,
            };
        }
        let key = PartitionKey::new(spec_id, tuple);
        PartitionDeletes {
            equality: self.equality.get(&key),
            position: self.position.get(&key),
        }
    }

    /// The deletes that a reader of this data file must apply.
    ///
    /// # Errors
    /// As [`Self::deletes_in`].
    pub fn deletes_of(&self, file: DeleteTarget<'_>) -> Result<Vec<DeleteTask>> {
        if self.is_empty() {
            return Ok(Vec::new());
        }
        self.deletes_in(self.partition(file.spec_id, file.partition), file)
    }

    /// As [`Self::deletes_of`], with the file's partition looked up before: equality deletes first, then either one
    /// deletion vector or position deletes.
    ///
    /// # Errors
    /// `Corrupt` when two deletion vectors apply, a deletion vector is older than its data file, or deletes name this
    /// data file but were written for another partition. (Iceberg 1.10 applies the latter, newer versions refuse them;
    /// the spec wants partitions to be equal.)
    pub fn deletes_in(&self, scope: PartitionDeletes<'_>, file: DeleteTarget<'_>) -> Result<Vec<DeleteTask>> {
        let mut found = Vec::new();
        self.global_equality
            .collect(file.sequence_number, file.metrics, &mut found);
        if let Some(equality) = scope.equality {
            equality.collect(file.sequence_number, file.metrics, &mut found);
        }
        if let Some(vector) = self.vector_of(file)? {
            found.push(vector.clone());
            return Ok(found);
        }
        if let Some(position) = scope.position {
            found.extend_from_slice(position.from(file.sequence_number));
        }
        if !self.position_by_path.is_empty() {
            for (spelling, delete) in self.position_by_path.find(file.path) {
                if delete.sequence_number() >= file.sequence_number && is_of_partition(spelling, delete, file)? {
                    found.push(delete.clone());
                }
            }
        }
        Ok(found)
    }

    fn vector_of(&self, file: DeleteTarget<'_>) -> Result<Option<&DeleteTask>> {
        if self.vectors.is_empty() {
            return Ok(None);
        }
        let mut found: Option<&DeleteTask> = None;
        for (spelling, vector) in self.vectors.find(file.path) {
            if vector.sequence_number() < file.sequence_number {
                if spelling != Spelling::Exact {
                    continue;
                }
                let message = format!(
                    "deletion vector has sequence number {}, older than its data file's {}",
                    vector.sequence_number(),
                    file.sequence_number
                );
                return Err(Error::corrupt(message)
                    .with_context("file", file.path)
                    .with_context("deletes", vector.path()));
            }
            if !is_of_partition(spelling, vector, file)? {
                continue;
            }
            if let Some(other) = found {
                return Err(two_vectors(file.path, other, vector));
            }
            found = Some(vector);
        }
        Ok(found)
    }
}

/// Whether deletes that name the file are of its partition. Those that name it exactly must be.
fn is_of_partition(spelling: Spelling, delete: &DeleteTask, file: DeleteTarget<'_>) -> Result<bool> {
    let is_same = delete.spec_id() == file.spec_id
        && (delete.partition() == file.partition
            || PartitionKey::new(delete.spec_id(), delete.partition())
                == PartitionKey::new(file.spec_id, file.partition));
    if !is_same && spelling == Spelling::Exact {
        let message = format!(
            "deletes were written for another partition than their data file (specs {} and {})",
            delete.spec_id(),
            file.spec_id
        );
        return Err(Error::corrupt(message)
            .with_context("file", file.path)
            .with_context("deletes", delete.path()));
    }
    Ok(is_same)
}

fn two_vectors(path: &str, a: &DeleteTask, b: &DeleteTask) -> Error {
    let place = |d: &DeleteTask| format!("{} at {}", d.path(), d.blob().map_or(0, |(offset, _)| offset));
    Error::corrupt("data file has two deletion vectors")
        .with_context("file", path)
        .with_context("deletes", place(a))
        .with_context("other deletes", place(b))
}

/// Collects deletes, then builds the index.
#[derive(Debug)]
pub struct DeleteFileIndexBuilder<'a> {
    metadata: &'a TableMetadata,
    after_sequence_number: i64,
    unpartitioned: HashSet<i32>,
    fields: KeyFields<'a>,
    index: DeleteFileIndex,
    position_by_path: Vec<DeleteTask>,
    vectors: Vec<DeleteTask>,
}

impl<'a> DeleteFileIndexBuilder<'a> {
    /// An index over deletes of this table.
    pub fn new(metadata: &'a TableMetadata) -> Self {
        let unpartitioned = metadata.partition_specs.iter().filter(|s| s.is_unpartitioned());
        DeleteFileIndexBuilder {
            metadata,
            after_sequence_number: i64::MIN,
            unpartitioned: unpartitioned.map(|s| s.spec_id).collect(),
            fields: KeyFields::new(metadata),
            index: DeleteFileIndex::default(),
            position_by_path: Vec::new(),
            vectors: Vec::new(),
        }
    }

    /// Leaves out deletes whose data sequence number is not higher.
    #[must_use]
    pub fn after_sequence_number(mut self, sequence_number: i64) -> Self {
        self.after_sequence_number = sequence_number;
        self
    }

    /// Adds the deletes of entry `row`.
    ///
    /// # Errors
    /// As [`DeleteTask::new`], and `Corrupt` for a spec the table does not have.
    pub fn add(&mut self, entries: &Arc<ManifestEntries>, row: usize) -> Result<()> {
        let task = DeleteTask::new(Arc::clone(entries), row)?;
        if task.sequence_number() <= self.after_sequence_number {
            return Ok(());
        }
        if self.metadata.spec_by_id(task.spec_id()).is_none() {
            return Err(
                Error::corrupt(format!("manifest names unknown partition spec {}", task.spec_id()))
                    .with_context("manifest", entries.manifest.manifest_path.as_str()),
            );
        }
        match task.kind() {
            DeleteKind::DeletionVector => {
                self.index.counts.vectors += 1;
                self.vectors.push(task);
            }
            DeleteKind::Position => {
                self.index.counts.position += 1;
                if task.referenced_data_file().is_some() {
                    self.position_by_path.push(task);
                } else {
                    let key = PartitionKey::new(task.spec_id(), task.partition());
                    self.index.position.entry(key).or_default().0.push(task);
                }
            }
            DeleteKind::Equality => {
                self.index.counts.equality += 1;
                self.index.equality_ids.extend(task.equality_ids());
                if self.unpartitioned.contains(&task.spec_id()) {
                    self.index.global_equality.push(task, &mut self.fields);
                } else {
                    let key = PartitionKey::new(task.spec_id(), task.partition());
                    let scope = self.index.equality.entry(key).or_default();
                    scope.push(task, &mut self.fields);
                }
            }
        }
        Ok(())
    }

    /// Adds all live deletes of a manifest.
    ///
    /// # Errors
    /// As [`Self::add`].
    pub fn add_manifest(&mut self, entries: &Arc<ManifestEntries>) -> Result<()> {
        self.index.manifest_bytes += entries.columns.size_bytes();
        (0..entries.columns.len)
            .filter(|row| entries.columns.is_live(*row))
            .try_for_each(|row| self.add(entries, row))
    }

    /// The index.
    ///
    /// # Errors
    /// `Corrupt` when two deletion vectors name the same data file.
    pub fn build(self) -> Result<DeleteFileIndex> {
        let mut index = self.index;
        index.global_equality.sort();
        index.equality.values_mut().for_each(EqualityDeletes::sort);
        for scope in index.position.values_mut() {
            scope.0.sort_by_key(DeleteTask::sequence_number);
        }
        index.position_by_path = PathIndex::new(self.position_by_path);
        index.vectors = PathIndex::new(self.vectors);
        if let Some((a, b)) = index.vectors.duplicate() {
            return Err(two_vectors(a.referenced_data_file().unwrap_or_default(), a, b));
        }
        Ok(index)
    }
}

#[cfg(test)]
mod tests;
