//! Writes manifest lists (Java: `ManifestListWriter`).

use bytes::Bytes;

use crate::error::{Error, Result};
use crate::manifest::avro::codec::Codec;
use crate::manifest::avro::container::ContainerWriter;
use crate::manifest::avro::encoder::Encoder;
use crate::manifest::inherit::UNASSIGNED_SEQUENCE_NUMBER;
use crate::manifest::manifest_file::{FieldSummary, ManifestContent, ManifestFile};
use crate::manifest::write_schema::manifest_list_schema;
use crate::spec::table_metadata::FormatVersion;

/// What a list is written with.
#[derive(Debug, Clone)]
pub struct ManifestListWriterOptions {
    /// Version of the table.
    pub format_version: FormatVersion,
    /// The snapshot.
    pub snapshot_id: i64,
    /// Its parent.
    pub parent_snapshot_id: Option<i64>,
    /// Its sequence number; 0 in v1.
    pub sequence_number: i64,
    /// The table's next row id; used in v3 only.
    pub first_row_id: i64,
    /// Codec of the blocks.
    pub codec: Codec,
}

/// A list that was written.
#[derive(Debug, Clone)]
pub struct WrittenList {
    /// The file.
    pub bytes: Bytes,
    /// The manifests as the file has them: sequence numbers, snapshot ids and row ids assigned.
    pub manifests: Vec<ManifestFile>,
    /// The table's next row id after this snapshot (v3); otherwise the first one.
    pub next_row_id: i64,
}

/// Writes one list into memory.
#[derive(Debug)]
pub struct ManifestListWriter {
    options: ManifestListWriterOptions,
    container: ContainerWriter,
    manifests: Vec<ManifestFile>,
    next_row_id: i64,
}

impl ManifestListWriter {
    /// Starts a list.
    ///
    /// # Errors
    /// `InvalidInput` when a v3 table has no first row id.
    pub fn new(options: ManifestListWriterOptions) -> Result<Self> {
        if options.format_version > FormatVersion::V2 && options.first_row_id < 0 {
            return Err(Error::invalid("a snapshot of format version 3 needs a first row id"));
        }
        let parent = options
            .parent_snapshot_id
            .map_or_else(|| "null".to_string(), |id| id.to_string());
        let mut header = vec![
            ("snapshot-id", options.snapshot_id.to_string()),
            ("parent-snapshot-id", parent),
        ];
        if options.format_version > FormatVersion::V1 {
            header.push(("sequence-number", options.sequence_number.to_string()));
        }
        if options.format_version > FormatVersion::V2 {
            header.push(("first-row-id", options.first_row_id.to_string()));
        }
        header.push(("format-version", options.format_version.to_string()));
        let schema_json = manifest_list_schema(options.format_version);
        Ok(ManifestListWriter {
            container: ContainerWriter::new(&schema_json, &header, options.codec),
            next_row_id: options.first_row_id,
            options,
            manifests: Vec::new(),
        })
    }

    /// Adds a manifest. One without sequence numbers gets the snapshot's; in v3 a data manifest without a first
    /// row id gets the next one, and leaves room for all its live rows.
    ///
    /// # Errors
    /// `Validation` when the version cannot list it, when it is of another snapshot and has no sequence number, or
    /// when its counts are unknown where the version requires them (see [`ManifestFile::with_counts`]).
    pub fn add(&mut self, manifest: &ManifestFile) -> Result<()> {
        let assigned = self
            .assign(manifest)
            .map_err(|e| e.with_context("file", manifest.manifest_path.as_str()))?;
        let version = self.options.format_version;
        self.container.record(|e| encode(e, version, &assigned))?;
        self.manifests.push(assigned);
        Ok(())
    }

    fn assign(&mut self, manifest: &ManifestFile) -> Result<ManifestFile> {
        let mut manifest = manifest.clone();
        let own = self.options.snapshot_id;
        let snapshot_id = *manifest.added_snapshot_id.get_or_insert(own);
        if self.options.format_version == FormatVersion::V1 {
            if manifest.content == ManifestContent::Deletes {
                return Err(Error::validation(
                    "a table of format version 1 cannot list delete manifests",
                ));
            }
            manifest.sequence_number = 0;
            manifest.min_sequence_number = 0;
            manifest.first_row_id = None;
            return Ok(manifest);
        }
        let is_unassigned = |n: i64| n == UNASSIGNED_SEQUENCE_NUMBER;
        if is_unassigned(manifest.sequence_number) || is_unassigned(manifest.min_sequence_number) {
            if snapshot_id != own {
                return Err(Error::validation(format!(
                    "a manifest of snapshot {snapshot_id} has no sequence number"
                )));
            }
            for number in [&mut manifest.sequence_number, &mut manifest.min_sequence_number] {
                if is_unassigned(*number) {
                    *number = self.options.sequence_number;
                }
            }
        }
        if !manifest.has_counts() {
            return Err(Error::validation(
                "the counts of a manifest are unknown, which its list must give",
            ));
        }
        manifest.first_row_id = match (self.options.format_version, manifest.content, manifest.first_row_id) {
            (FormatVersion::V3, ManifestContent::Data, None) => Some(self.take_row_ids(&manifest)?),
            (FormatVersion::V3, ManifestContent::Data, assigned) => assigned,
            _ => None,
        };
        Ok(manifest)
    }

    fn take_row_ids(&mut self, manifest: &ManifestFile) -> Result<i64> {
        let first = self.next_row_id;
        // Existing files may lack ids too, when they are from before the table was of v3.
        let rows = [manifest.existing_rows_count, manifest.added_rows_count];
        for rows in rows.into_iter().flatten() {
            if rows < 0 {
                return Err(Error::validation("a manifest has a negative row count"));
            }
            let next = self.next_row_id.checked_add(rows);
            self.next_row_id = next.ok_or_else(|| Error::validation("the table's row ids are used up"))?;
        }
        Ok(first)
    }

    /// The file.
    ///
    /// # Errors
    /// `Io` when compression fails.
    pub fn finish(self) -> Result<WrittenList> {
        Ok(WrittenList {
            bytes: Bytes::from(self.container.finish()?),
            manifests: self.manifests,
            next_row_id: self.next_row_id,
        })
    }
}

/// Writes a manifest in the order of [`manifest_list_schema`].
fn encode(e: &mut Encoder, version: FormatVersion, manifest: &ManifestFile) {
    e.sized(manifest.manifest_path.as_bytes());
    e.long(manifest.manifest_length);
    e.long(i64::from(manifest.partition_spec_id));
    let files = [
        manifest.added_files_count,
        manifest.existing_files_count,
        manifest.deleted_files_count,
    ];
    let rows = [
        manifest.added_rows_count,
        manifest.existing_rows_count,
        manifest.deleted_rows_count,
    ];
    if version == FormatVersion::V1 {
        e.long(manifest.added_snapshot_id.unwrap_or_default());
        files
            .into_iter()
            .for_each(|n| e.optional(n.map(i64::from), Encoder::long));
        summaries(e, &manifest.partitions);
        rows.into_iter().for_each(|n| e.optional(n, Encoder::long));
    } else {
        e.long(manifest.content as i64);
        e.long(manifest.sequence_number);
        e.long(manifest.min_sequence_number);
        e.long(manifest.added_snapshot_id.unwrap_or_default());
        files.into_iter().for_each(|n| e.long(i64::from(n.unwrap_or_default())));
        rows.into_iter().for_each(|n| e.long(n.unwrap_or_default()));
        summaries(e, &manifest.partitions);
    }
    e.optional(manifest.key_metadata.as_deref(), Encoder::sized);
    if version > FormatVersion::V2 {
        e.optional(manifest.first_row_id, Encoder::long);
    }
}

fn summaries(e: &mut Encoder, partitions: &[FieldSummary]) {
    e.optional(Some(partitions), |e, partitions| {
        e.array(partitions.iter(), |e, summary| {
            e.boolean(summary.contains_null);
            e.optional(summary.contains_nan, Encoder::boolean);
            e.optional(summary.lower_bound.as_deref(), Encoder::sized);
            e.optional(summary.upper_bound.as_deref(), Encoder::sized);
        });
    });
}
