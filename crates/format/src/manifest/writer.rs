//! Writes manifests (spec, "Manifests"; Java: `ManifestWriter`).

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;

use super::avro::codec::Codec;
use super::avro::container::ContainerWriter;
use super::avro::encoder::Encoder;
use super::data_file::{DataContent, DataFile, ManifestEntry, ManifestStatus};
use super::inherit::UNASSIGNED_SEQUENCE_NUMBER;
use super::manifest_file::{ManifestContent, ManifestFile};
use super::partition_values;
use super::summary::PartitionSummary;
use super::write_schema::manifest_schema;
use crate::error::{Error, Result};
use crate::spec::partition::PartitionSpec;
use crate::spec::schema::SchemaRef;
use crate::spec::table_metadata::{FormatVersion, TableMetadata};
use crate::spec::types::{FieldId, StructType};

/// What v1 writers give as block size, which nobody reads: 64 MiB, Java's constant.
const V1_BLOCK_SIZE: i64 = 64 * 1024 * 1024;

/// What a manifest is written with.
#[derive(Debug, Clone)]
pub struct ManifestWriterOptions {
    /// Version of the table.
    pub format_version: FormatVersion,
    /// Spec of all files.
    pub spec: Arc<PartitionSpec>,
    /// Type of their partition tuples.
    pub partition_type: StructType,
    /// Schema of the table, for the header.
    pub schema: SchemaRef,
    /// Data or deletes.
    pub content: ManifestContent,
    /// The snapshot that adds the manifest; `None` when it is to be inherited (not in v1).
    pub snapshot_id: Option<i64>,
    /// Codec of the blocks.
    pub codec: Codec,
    /// First row id of a data manifest that is rewritten and keeps it (v3); `None` lets the list assign one.
    pub first_row_id: Option<i64>,
}

impl ManifestWriterOptions {
    /// Data files of `spec`, whose partition type is taken from `schema`, in the default codec.
    pub fn new(format_version: FormatVersion, spec: Arc<PartitionSpec>, schema: SchemaRef) -> Self {
        ManifestWriterOptions {
            format_version,
            partition_type: spec.partition_type(&schema),
            spec,
            schema,
            content: ManifestContent::Data,
            snapshot_id: None,
            codec: Codec::default(),
            first_row_id: None,
        }
    }

    /// Data files of a table's spec: its current schema, the codec of its properties, and a partition type that
    /// knows source columns of older schemas too.
    ///
    /// # Errors
    /// When the table has no such spec, or its codec property makes no sense.
    pub fn for_table(metadata: &TableMetadata, spec_id: i32) -> Result<Self> {
        let spec = metadata
            .spec_by_id(spec_id)
            .ok_or_else(|| Error::corrupt(format!("the table has no partition spec {spec_id}")))?;
        Ok(ManifestWriterOptions {
            partition_type: metadata.partition_type_of(spec_id)?,
            codec: Codec::from_properties(&metadata.properties)?,
            ..Self::new(
                metadata.format_version,
                Arc::clone(spec),
                Arc::clone(metadata.current_schema()),
            )
        })
    }

    /// For this content.
    #[must_use]
    pub fn with_content(mut self, content: ManifestContent) -> Self {
        self.content = content;
        self
    }

    /// Added by this snapshot.
    #[must_use]
    pub fn with_snapshot_id(mut self, snapshot_id: i64) -> Self {
        self.snapshot_id = Some(snapshot_id);
        self
    }

    /// In this codec.
    #[must_use]
    pub fn with_codec(mut self, codec: Codec) -> Self {
        self.codec = codec;
        self
    }
}

/// Writes one manifest into memory.
#[derive(Debug)]
pub struct ManifestWriter {
    options: ManifestWriterOptions,
    container: ContainerWriter,
    summary: PartitionSummary,
    counts: [Count; 3],
    min_sequence_number: Option<i64>,
}

/// Files and rows of one status.
#[derive(Debug, Clone, Copy, Default)]
struct Count {
    files: i32,
    rows: i64,
}

/// An entry about to be written.
struct Record<'a> {
    status: ManifestStatus,
    snapshot_id: Option<i64>,
    sequence_number: Option<i64>,
    file_sequence_number: Option<i64>,
    file: &'a DataFile,
}

impl ManifestWriter {
    /// Starts a manifest.
    ///
    /// # Errors
    /// `Validation` when the version has no such manifests, `InvalidInput` when the spec cannot be written.
    pub fn new(options: ManifestWriterOptions) -> Result<Self> {
        if options.format_version == FormatVersion::V1 {
            if options.content == ManifestContent::Deletes {
                return Err(Error::validation(
                    "a table of format version 1 cannot store delete files",
                ));
            }
            if options.snapshot_id.is_none() {
                return Err(Error::invalid("a manifest of format version 1 needs a snapshot id"));
            }
        }
        let schema_json = manifest_schema(options.format_version, &options.partition_type)?;
        let container = ContainerWriter::new(&schema_json, &header(&options)?, options.codec);
        Ok(ManifestWriter {
            summary: PartitionSummary::new(&options.partition_type),
            container,
            options,
            counts: [Count::default(); 3],
            min_sequence_number: None,
        })
    }

    /// Adds a new file. Its data sequence number is inherited unless given; its file sequence number always is.
    ///
    /// # Errors
    /// `Validation` when the file is not of this manifest's kind, `InvalidInput` when its partition does not fit.
    pub fn added(&mut self, file: &DataFile, data_sequence_number: Option<i64>) -> Result<()> {
        self.write(&Record {
            status: ManifestStatus::Added,
            snapshot_id: self.options.snapshot_id,
            sequence_number: data_sequence_number.filter(|n| *n >= 0),
            file_sequence_number: None,
            file,
        })
    }

    /// Carries over a file of an earlier snapshot, everything inherited.
    ///
    /// # Errors
    /// As [`Self::added`], and `Validation` when snapshot id or sequence number are unknown.
    pub fn existing(&mut self, entry: &ManifestEntry) -> Result<()> {
        if entry.snapshot_id.is_none() {
            return Err(unassigned(entry, "snapshot id"));
        }
        self.write_old(entry, ManifestStatus::Existing, entry.snapshot_id)
    }

    /// Notes that this snapshot removes a file.
    ///
    /// # Errors
    /// As [`Self::added`], and `Validation` when its sequence number is unknown.
    pub fn deleted(&mut self, entry: &ManifestEntry) -> Result<()> {
        self.write_old(entry, ManifestStatus::Deleted, self.options.snapshot_id)
    }

    fn write_old(&mut self, entry: &ManifestEntry, status: ManifestStatus, snapshot_id: Option<i64>) -> Result<()> {
        if entry.sequence_number.is_none() && self.options.format_version > FormatVersion::V1 {
            return Err(unassigned(entry, "sequence number"));
        }
        self.write(&Record {
            status,
            snapshot_id,
            sequence_number: entry.sequence_number,
            file_sequence_number: entry.file_sequence_number,
            file: &entry.data_file,
        })
    }

    fn write(&mut self, record: &Record<'_>) -> Result<()> {
        self.check(record.file)?;
        // Encoded first, so that a value that does not fit leaves the block whole.
        let tuple = partition_values::widened(&record.file.partition, &self.options.partition_type);
        let mut partition = Encoder::default();
        partition_values::encode(&mut partition, &tuple, &self.options.partition_type)
            .map_err(|e| e.with_context("file", record.file.file_path.as_ref()))?;
        let version = self.options.format_version;
        self.container
            .record(|e| encode_entry(e, version, record, partition.bytes()))?;
        self.summary.add(&tuple);
        if let Some(count) = self.counts.get_mut(record.status as usize) {
            count.files = count.files.saturating_add(1);
            count.rows = count.rows.saturating_add(record.file.record_count);
        }
        if let (Some(n), true) = (record.sequence_number, record.status != ManifestStatus::Deleted) {
            self.min_sequence_number = Some(self.min_sequence_number.map_or(n, |min| min.min(n)));
        }
        Ok(())
    }

    fn check(&self, file: &DataFile) -> Result<()> {
        let refuse = |message: &str| Err(Error::validation(message).with_context("file", file.file_path.as_ref()));
        let is_data = file.content == DataContent::Data;
        if is_data != (self.options.content == ManifestContent::Data) {
            return refuse("data files and delete files cannot share a manifest");
        }
        if self.options.format_version < FormatVersion::V3 && file.is_deletion_vector() {
            return refuse("deletion vectors need format version 3");
        }
        Ok(())
    }

    /// The number of entries so far.
    pub fn entry_count(&self) -> u64 {
        self.container.record_count()
    }

    /// Length of the file so far in bytes, but for the block being filled: when to start the next manifest.
    pub fn bytes_written(&self) -> usize {
        self.container.bytes_written()
    }

    /// The file and what the manifest list will say of it. Sequence numbers are
    /// [`UNASSIGNED_SEQUENCE_NUMBER`] until the list assigns them.
    ///
    /// # Errors
    /// `Io` when compression fails.
    pub fn finish(self, location: impl Into<String>) -> Result<(Bytes, ManifestFile)> {
        let [existing, added, deleted] = self.counts;
        let bytes = Bytes::from(self.container.finish()?);
        let manifest = ManifestFile {
            manifest_path: location.into(),
            manifest_length: i64::try_from(bytes.len()).unwrap_or(i64::MAX),
            partition_spec_id: self.options.spec.spec_id,
            content: self.options.content,
            sequence_number: UNASSIGNED_SEQUENCE_NUMBER,
            min_sequence_number: self.min_sequence_number.unwrap_or(UNASSIGNED_SEQUENCE_NUMBER),
            added_snapshot_id: self.options.snapshot_id,
            added_files_count: Some(added.files),
            existing_files_count: Some(existing.files),
            deleted_files_count: Some(deleted.files),
            added_rows_count: Some(added.rows),
            existing_rows_count: Some(existing.rows),
            deleted_rows_count: Some(deleted.rows),
            partitions: self.summary.finish()?,
            key_metadata: None,
            first_row_id: self.options.first_row_id,
        };
        Ok((bytes, manifest))
    }
}

fn unassigned(entry: &ManifestEntry, what: &str) -> Error {
    let message = format!("an entry that is carried over must have a {what}");
    Error::validation(message).with_context("file", entry.data_file.file_path.as_ref())
}

fn header(options: &ManifestWriterOptions) -> Result<Vec<(&'static str, String)>> {
    let not_json = |e: serde_json::Error| Error::invalid("the table's schema or spec has no JSON form").with_source(e);
    let spec = serde_json::to_value(options.spec.as_ref()).map_err(not_json)?;
    let fields = spec.get("fields").map_or_else(|| "[]".to_string(), ToString::to_string);
    let mut header = vec![
        (
            "schema",
            serde_json::to_string(options.schema.as_ref()).map_err(not_json)?,
        ),
        ("schema-id", options.schema.schema_id().to_string()),
        ("partition-spec", fields),
        ("partition-spec-id", options.spec.spec_id.to_string()),
        ("format-version", options.format_version.to_string()),
    ];
    if options.format_version > FormatVersion::V1 {
        let content = match options.content {
            ManifestContent::Data => "data",
            ManifestContent::Deletes => "deletes",
        };
        header.push(("content", content.to_string()));
    }
    Ok(header)
}

/// Writes an entry in the order of [`manifest_schema`].
fn encode_entry(e: &mut Encoder, version: FormatVersion, record: &Record<'_>, partition: &[u8]) {
    e.long(record.status as i64);
    if version == FormatVersion::V1 {
        e.long(record.snapshot_id.unwrap_or_default());
    } else {
        e.optional(record.snapshot_id, Encoder::long);
        e.optional(record.sequence_number, Encoder::long);
        e.optional(record.file_sequence_number, Encoder::long);
    }
    encode_file(e, version, record.file, partition);
}

fn encode_file(e: &mut Encoder, version: FormatVersion, file: &DataFile, partition: &[u8]) {
    if version > FormatVersion::V1 {
        e.long(file.content as i64);
    }
    e.sized(file.file_path.as_bytes());
    e.sized(file.file_format.as_str().as_bytes());
    e.raw(partition);
    e.long(file.record_count);
    e.long(file.file_size_in_bytes);
    if version == FormatVersion::V1 {
        e.long(V1_BLOCK_SIZE);
    }
    counts(e, &file.column_sizes);
    counts(e, &file.value_counts);
    counts(e, &file.null_value_counts);
    counts(e, &file.nan_value_counts);
    bounds(e, &file.lower_bounds);
    bounds(e, &file.upper_bounds);
    e.optional(file.key_metadata.as_deref(), Encoder::sized);
    e.optional(not_empty(&file.split_offsets), |e, offsets| {
        e.array(offsets.iter(), |e, offset| e.long(*offset));
    });
    if version > FormatVersion::V1 {
        e.optional(not_empty(&file.equality_ids), |e, ids| {
            e.array(ids.iter(), |e, id| e.long(i64::from(*id)));
        });
    }
    e.optional(file.sort_order_id, |e, id| e.long(i64::from(id)));
    let is_data = file.content == DataContent::Data;
    let is_position_deletes = file.content == DataContent::PositionDeletes;
    if version > FormatVersion::V2 {
        e.optional(file.first_row_id.filter(|_| is_data), Encoder::long);
    }
    if version > FormatVersion::V1 {
        let path = file.referenced_data_file.as_deref().filter(|_| is_position_deletes);
        e.optional(path, |e, path| e.sized(path.as_bytes()));
    }
    if version > FormatVersion::V2 {
        e.optional(file.content_offset.filter(|_| is_position_deletes), Encoder::long);
        e.optional(
            file.content_size_in_bytes.filter(|_| is_position_deletes),
            Encoder::long,
        );
    }
}

fn not_empty<T>(list: &[T]) -> Option<&[T]> {
    (!list.is_empty()).then_some(list)
}

fn counts(e: &mut Encoder, map: &BTreeMap<FieldId, i64>) {
    let map = Some(map).filter(|m| !m.is_empty());
    e.optional(map, |e, map| {
        e.array(map.iter(), |e, (id, count)| {
            e.long(i64::from(*id));
            e.long(*count);
        });
    });
}

fn bounds(e: &mut Encoder, map: &BTreeMap<FieldId, Vec<u8>>) {
    let map = Some(map).filter(|m| !m.is_empty());
    e.optional(map, |e, map| {
        e.array(map.iter(), |e, (id, bound)| {
            e.long(i64::from(*id));
            e.sized(bound);
        });
    });
}
