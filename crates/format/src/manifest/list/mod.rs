//! Manifest lists (spec, "Manifest Lists"): one file per snapshot that names its manifests.

mod reader;
mod writer;

pub use reader::decode;
pub use writer::{ManifestListWriter, ManifestListWriterOptions, WrittenList};

use super::manifest_file::{ManifestContent, ManifestFile};
use super::reader::ManifestHeader;
use crate::error::{Error, ErrorKind, Result, ResultExt};
use crate::io::FileIo;
use crate::spec::snapshot::{Snapshot, SnapshotManifests};
use crate::spec::table_metadata::TableMetadata;

/// Writes a whole list, see [`ManifestListWriter`].
///
/// # Errors
/// As [`ManifestListWriter::add`].
pub fn encode(options: ManifestListWriterOptions, manifests: &[ManifestFile]) -> Result<WrittenList> {
    let mut writer = ManifestListWriter::new(options)?;
    for manifest in manifests {
        writer.add(manifest)?;
    }
    writer.finish()
}

/// The manifests of a snapshot, also of a v1 snapshot that embeds them in table metadata.
///
/// # Errors
/// Those of reading, and `Corrupt` when a file is not what it should be.
pub async fn load(io: &FileIo, metadata: &TableMetadata, snapshot: &Snapshot) -> Result<Vec<ManifestFile>> {
    let locations = match &snapshot.manifests {
        SnapshotManifests::List(location) => {
            let bytes = io.read(location).await?;
            return decode(&bytes).context("file", location);
        }
        SnapshotManifests::Embedded(locations) => locations,
    };
    let mut manifests = Vec::with_capacity(locations.len());
    for location in locations {
        let bytes = io.read(location).await?;
        let header = ManifestHeader::read(&bytes).context("file", location)?;
        let spec_id = header.partition_spec_id.unwrap_or(0);
        if metadata.spec_by_id(spec_id).is_none() {
            let message = format!("a manifest is of partition spec {spec_id}, which the table does not have");
            return Err(Error::new(ErrorKind::Corrupt, message).with_context("file", location));
        }
        manifests.push(embedded(location, bytes.len(), spec_id, snapshot));
    }
    Ok(manifests)
}

/// Nothing is known of a v1 manifest that no list describes, but that its sequence numbers are 0.
fn embedded(location: &str, len: usize, spec_id: i32, snapshot: &Snapshot) -> ManifestFile {
    ManifestFile {
        manifest_path: location.to_string(),
        manifest_length: i64::try_from(len).unwrap_or(i64::MAX),
        partition_spec_id: spec_id,
        content: ManifestContent::Data,
        sequence_number: 0,
        min_sequence_number: 0,
        added_snapshot_id: Some(snapshot.snapshot_id),
        added_files_count: None,
        existing_files_count: None,
        deleted_files_count: None,
        added_rows_count: None,
        existing_rows_count: None,
        deleted_rows_count: None,
        partitions: Vec::new(),
        key_metadata: None,
        first_row_id: None,
    }
}

#[cfg(test)]
mod tests;
