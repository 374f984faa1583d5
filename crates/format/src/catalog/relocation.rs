//! Opening a table that was copied elsewhere without rewriting the paths in its metadata.
//!
//! A path that metadata records is looked for below the directory where the metadata was found: the longest tail of
//! the path that exists there tells which beginning has to be replaced. Nothing is guessed beyond that.

use std::collections::BTreeSet;

use crate::error::Result;
use crate::io::{FileIo, location};
use crate::manifest::list;
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
        let Some(recorded) = recorded else {
            return Ok(relocation);
        };
        if let Some(found) = relocation.add_path(io, recorded).await?
            && !relocation.prefixes.is_empty()
        {
            relocation.add(&metadata.location);
            relocation.add_manifests(io, &found).await?;
        }
        Ok(relocation)
    }

    /// Learns from the manifests of a list: some writers record them under another beginning than the list.
    async fn add_manifests(&mut self, io: &FileIo, list: &str) -> Result<()> {
        // What is no list (or a manifest embedded in v1 metadata) is told when the table is read.
        let Ok(manifests) = list::decode(&io.read(list).await?) else {
            return Ok(());
        };
        let mut directories = BTreeSet::new();
        for manifest in &manifests {
            let recorded = &manifest.manifest_path;
            if directories.insert(location::parent(recorded)) && !self.reaches(io, recorded).await? {
                self.add_path(io, recorded).await?;
            }
        }
        Ok(())
    }

    /// Whether the prefixes known so far lead to the file.
    async fn reaches(&self, io: &FileIo, recorded: &str) -> Result<bool> {
        for (from, to) in &self.prefixes {
            if let Some(rest) = recorded.strip_prefix(from).and_then(|rest| rest.strip_prefix('/')) {
                return io.exists(&location::join(to, rest)).await;
            }
        }
        Ok(false)
    }

    /// Learns from one recorded path. Gives the file's location when it lies below the table's directory, whether
    /// under the recorded beginning or another.
    ///
    /// # Errors
    /// Those of asking the store whether a file exists.
    pub async fn add_path(&mut self, io: &FileIo, recorded: &str) -> Result<Option<String>> {
        // A table's own files are seldom deeper; a hostile path must not cost thousands of requests.
        const DEEPEST_TAIL: usize = 64;
        if recorded.split('/').any(|part| part == "..") {
            return Ok(None);
        }
        let cuts: Vec<usize> = recorded.match_indices('/').map(|(at, _)| at).collect();
        let starts = cuts.iter().rev().take(DEEPEST_TAIL).rev().copied();
        for cut in starts {
            let (beginning, tail) = (&recorded[..cut], &recorded[cut + 1..]);
            if tail.is_empty() || tail.starts_with('/') {
                continue;
            }
            let candidate = location::join(&self.directory, tail);
            if io.exists(&candidate).await? {
                self.add(beginning);
                return Ok(Some(candidate));
            }
        }
        Ok(None)
    }

    fn add(&mut self, from: &str) {
        let from = location::strip_trailing_slash(from);
        let below = |known: &str| {
            from.strip_prefix(known)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let known = self.prefixes.iter().any(|(known, _)| below(known));
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

    async fn learn(existing: &[&str], recorded: &str) -> (Option<String>, Vec<(String, String)>) {
        let io = FileIo::memory();
        for location in existing {
            io.write(location, bytes::Bytes::new()).await.unwrap();
        }
        let mut relocation = Relocation {
            directory: "/copy/t".to_string(),
            prefixes: Vec::new(),
        };
        let found = relocation.add_path(&io, recorded).await.unwrap();
        (found, relocation.prefixes)
    }

    #[tokio::test]
    async fn the_longest_tail_that_exists_tells_the_old_beginning() {
        let list = "/copy/t/metadata/snap-1.avro";
        let deeper = "/copy/t/t/metadata/snap-1.avro";
        for (existing, recorded, found, beginning) in [
            (vec![list], "s3://b/wh/t/metadata/snap-1.avro", list, "s3://b/wh/t"),
            (vec![list], "t/metadata/snap-1.avro", list, "t"),
            (vec![list, deeper], "/old/t/metadata/snap-1.avro", deeper, "/old"),
        ] {
            let prefix = (beginning.to_string(), "/copy/t".to_string());
            assert_eq!(
                learn(&existing, recorded).await,
                (Some(found.to_string()), vec![prefix]),
                "{recorded}"
            );
        }
    }

    #[tokio::test]
    async fn a_table_in_its_place_or_elsewhere_is_left_alone() {
        let list = "/copy/t/metadata/snap-1.avro";
        assert_eq!(learn(&[list], list).await, (Some(list.to_string()), Vec::new()));
        assert_eq!(learn(&[list], "s3://b/other/snap-2.avro").await, (None, Vec::new()));
        assert_eq!(learn(&["/copy/t/secret"], "/old/../secret").await, (None, Vec::new()));
    }

    #[test]
    fn the_table_directory_is_above_metadata() {
        assert_eq!(table_directory("/wh/t/metadata/v1.metadata.json"), "/wh/t");
        assert_eq!(table_directory("/wh/t/v1.metadata.json"), "/wh/t");
    }
}
