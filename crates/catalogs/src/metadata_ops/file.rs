//! Writing one new metadata file, and naming it.

use tarn_format::io::FileIo;
use tarn_format::io::location;
use tarn_format::io::location_provider::{metadata_file_name, metadata_file_version};
use tarn_format::spec::metadata_file::{MetadataCodec, WriteMode};
use tarn_format::spec::table_metadata::TableMetadata;
use tarn_format::spec::view_metadata::ViewMetadata;
use tarn_format::{ErrorKind, Result};

/// Table or view metadata, as far as files are concerned.
pub(crate) trait MetadataFile: PartialEq + Send + Sync + Sized {
    async fn read_file(io: &FileIo, location: &str) -> Result<Self>;
    async fn create_file(&self, io: &FileIo, location: &str) -> Result<()>;
}

impl MetadataFile for TableMetadata {
    async fn read_file(io: &FileIo, location: &str) -> Result<Self> {
        TableMetadata::read(io, location).await
    }

    async fn create_file(&self, io: &FileIo, location: &str) -> Result<()> {
        self.write(io, location, WriteMode::Create).await
    }
}

impl MetadataFile for ViewMetadata {
    async fn read_file(io: &FileIo, location: &str) -> Result<Self> {
        ViewMetadata::read(io, location).await
    }

    async fn create_file(&self, io: &FileIo, location: &str) -> Result<()> {
        self.write(io, location, WriteMode::Create).await
    }
}

/// Writes a metadata file whose name is unique to this write.
///
/// A store may report failure for a write that happened (a lost answer, then `AlreadyExists` on its own retry): what
/// stands there decides. A write that failed leaves nothing behind, as far as that can be had.
pub(crate) async fn write_unique<M: MetadataFile>(io: &FileIo, location: &str, metadata: &M) -> Result<()> {
    let Err(error) = metadata.create_file(io, location).await else {
        return Ok(());
    };
    if !matches!(error.kind(), ErrorKind::AlreadyExists | ErrorKind::Io) {
        return Err(error);
    }
    match M::read_file(io, location).await {
        Ok(found) if found == *metadata => Ok(()),
        _ => {
            discard(io, location).await;
            Err(error)
        }
    }
}

/// Deletes a metadata file that no pointer ever named. Failing to only leaves an orphan.
pub(crate) async fn discard(io: &FileIo, location: &str) {
    if let Err(error) = io.delete(location).await {
        tracing::warn!(file = location, %error, "an unused metadata file could not be deleted");
    }
}

/// The number of the version after the one at `current`; 0 for the first, and after names of other catalogs (Java:
/// `BaseMetastoreTableOperations`).
pub(crate) fn next_version(current: Option<&str>) -> i32 {
    let version = current.and_then(metadata_file_version);
    version.map_or(0, |v| v.saturating_add(1))
}

/// Where the metadata of the version after `current` of a view goes.
pub(crate) fn next_view_location(metadata: &ViewMetadata, current: Option<&str>) -> Result<String> {
    let codec = match metadata.properties.get("write.metadata.compression-codec") {
        Some(name) => MetadataCodec::from_name(name)?,
        // Unlike tables, views are compressed by default (Java: `ViewProperties`).
        None => MetadataCodec::Gzip,
    };
    let name = metadata_file_name(next_version(current), uuid::Uuid::new_v4(), codec);
    Ok(match metadata.properties.get("write.metadata.path") {
        Some(path) => location::join(path, &name),
        None => location::join(&location::join(&metadata.location, "metadata"), &name),
    })
}

#[cfg(test)]
mod tests {
    use super::next_version;

    #[test]
    fn versions_go_on_from_names_of_metastore_tables_only() {
        assert_eq!(next_version(None), 0);
        assert_eq!(next_version(Some("s3://b/t/metadata/00012-1f2e.metadata.json")), 13);
        assert_eq!(next_version(Some("/t-1/metadata/v3.metadata.json")), 0);
        assert_eq!(next_version(Some("/t/metadata/x-1.metadata.json")), 0);
    }
}
