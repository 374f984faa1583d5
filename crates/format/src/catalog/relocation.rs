//! Opening a table that was copied elsewhere without rewriting the paths in its metadata.
//!
//! A path that metadata records is looked for below the directory where the metadata was found: the longest tail of
//! the path that exists there tells which beginning has to be replaced. Nothing is guessed beyond that.

use crate::error::Result;
use crate::io::{FileIo, location};
use crate::spec::snapshot::SnapshotManifests;
use crate::spec::table_metadata::TableMetadata;

use super::table_directory::METADATA_DIRECTORY;

/// Prefix replacements `(from, to)` that make a moved table readable from where it lies.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Relocation {
    /// The directory that holds the table now.
    pub directory: String,
    /// Replacements, for [`crate::io::FileIoBuilder::with_location_prefix`]. Empty when the table was not moved.
    pub prefixes: Vec<(String, String)>,
}

impl Relocation {
    /// Where the table of `metadata`, read from `metadata_file`, lies now.
    ///
    /// # Errors
    /// Those of asking the store whether a file exists.
    pub async fn detect(io: &FileIo, metadata: &TableMetadata, metadata_file: &str) -> Result<Relocation> {
        let mut relocation = Relocation {
            directory: table_directory(metadata_file).to_string(),
            prefixes: Vec::new(),
        };
        let snapshot = metadata.current_snapshot().or_else(|| metadata.snapshots.last());
        let recorded = match snapshot.map(|s| &s.manifests) {
            Some(SnapshotManifests::List(list)) => Some(list.as_str()),
            Some(SnapshotManifests::Embedded(manifests)) => manifests.first().map(String::as_str),
            None => None,
        };
        if let Some(recorded) = recorded
            && relocation.add_path(io, recorded).await?
        {
            relocation.add(&metadata.location);
        }
        Ok(relocation)
    }

    /// Learns from one recorded path. True when it lies below the table's directory under another beginning.
    ///
    /// # Errors
    /// Those of asking the store whether a file exists.
    pub async fn add_path(&mut self, io: &FileIo, recorded: &str) -> Result<bool> {
        // A table's own files are seldom deeper; a hostile path must not cost thousands of requests.
        const DEEPEST_TAIL: usize = 64;
        if recorded.split('/').any(|part| part == "..") {
            return Ok(false);
        }
        let cuts: Vec<usize> = recorded.match_indices('/').map(|(at, _)| at).collect();
        let starts = cuts.iter().rev().take(DEEPEST_TAIL).rev().copied();
        for cut in starts {
            let (beginning, tail) = (&recorded[..cut], &recorded[cut + 1..]);
            if tail.is_empty() || tail.starts_with('/') {
                continue;
            }
            if io.exists(&location::join(&self.directory, tail)).await.unwrap_or(false) {
                let moved = location::strip_trailing_slash(beginning) != self.directory;
                if moved {
                    self.add(beginning);
                }
                return Ok(moved);
            }
        }
        Ok(false)
    }

    fn add(&mut self, from: &str) {
        let from = location::strip_trailing_slash(from);
        let known = self.prefixes.iter().any(|(known, _)| known == from);
        if !from.is_empty() && from != self.directory && !known {
            self.prefixes.push((from.to_string(), self.directory.clone()));
        }
    }
}

/// The table's directory, of its metadata file: the one above `metadata`, or where the file lies.
fn table_directory(metadata_file: &str) -> &str {
    let holding = location::parent(metadata_file).unwrap_or(metadata_file);
    match location::file_name(holding) {
        METADATA_DIRECTORY => location::parent(holding).unwrap_or(holding),
        _ => holding,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn learn(existing: &[&str], recorded: &str) -> (bool, Vec<(String, String)>) {
        let io = FileIo::memory();
        for location in existing {
            io.write(location, bytes::Bytes::new()).await.unwrap();
        }
        let mut relocation = Relocation {
            directory: "/copy/t".to_string(),
            prefixes: Vec::new(),
        };
        let moved = relocation.add_path(&io, recorded).await.unwrap();
        (moved, relocation.prefixes)
    }

    fn to_copy(from: &str) -> (bool, Vec<(String, String)>) {
        (true, vec![(from.to_string(), "/copy/t".to_string())])
    }

    #[tokio::test]
    async fn the_longest_tail_that_exists_tells_the_old_beginning() {
        let list = "/copy/t/metadata/snap-1.avro";
        assert_eq!(
            learn(&[list], "s3://b/wh/t/metadata/snap-1.avro").await,
            to_copy("s3://b/wh/t")
        );
        assert_eq!(learn(&[list], "t/metadata/snap-1.avro").await, to_copy("t"));
        let deeper = "/copy/t/t/metadata/snap-1.avro";
        assert_eq!(
            learn(&[list, deeper], "/old/t/metadata/snap-1.avro").await,
            to_copy("/old")
        );
    }

    #[tokio::test]
    async fn a_table_in_its_place_or_elsewhere_is_left_alone() {
        let list = "/copy/t/metadata/snap-1.avro";
        assert_eq!(learn(&[list], list).await, (false, Vec::new()));
        assert_eq!(learn(&[list], "s3://b/other/snap-2.avro").await, (false, Vec::new()));
        assert_eq!(learn(&["/copy/t/secret"], "/old/../secret").await, (false, Vec::new()));
    }

    #[test]
    fn the_table_directory_is_above_metadata() {
        assert_eq!(table_directory("/wh/t/metadata/v1.metadata.json"), "/wh/t");
        assert_eq!(table_directory("/wh/t/v1.metadata.json"), "/wh/t");
    }
}
