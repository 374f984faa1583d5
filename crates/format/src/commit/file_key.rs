//! What makes two manifest entries the same file.

use std::sync::Arc;

use crate::io::location_map::LocationMap;
use crate::manifest::columns::ManifestColumns;
use crate::manifest::data_file::DataFile;

/// A set of files: by location, in whatever spelling is surely the same file, and for deletion vectors, of which one puffin
/// file holds many, by the blob's offset too.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct FileSet {
    offsets: LocationMap<Vec<Option<i64>>>,
}

impl FileSet {
    /// The set of these files.
    pub(crate) fn new<'a>(files: impl IntoIterator<Item = &'a DataFile>) -> Self {
        let mut set = FileSet::default();
        for file in files {
            set.insert(file);
        }
        set
    }

    /// Adds a file; whether it was new.
    pub(crate) fn insert(&mut self, file: &DataFile) -> bool {
        let offset = file.content_offset.filter(|_| file.is_deletion_vector());
        let (_, offsets) = self.offsets.entry(&file.file_path);
        let is_new = !offsets.contains(&offset);
        if is_new {
            offsets.push(offset);
        }
        is_new
    }

    /// Whether it surely has a file of this location.
    pub(crate) fn contains_path(&self, path: &str) -> bool {
        self.offsets.get(path).is_some()
    }

    /// Whether it has the file of entry `i`.
    pub(crate) fn contains_entry(&self, columns: &ManifestColumns, i: usize) -> bool {
        let Some(offsets) = self.offsets.get(columns.path(i)) else {
            return false;
        };
        offsets.contains(&columns.content_offset.get(i).filter(|_| columns.is_deletion_vector(i)))
    }

    /// Locations of files that `other` has not, sorted.
    pub(crate) fn missing_from<'a>(&'a self, other: &FileSet) -> Vec<&'a str> {
        let is_missing = |path: &Arc<str>, offsets: &Vec<Option<i64>>| match other.offsets.get(path) {
            Some(theirs) => offsets.iter().any(|offset| !theirs.contains(offset)),
            None => true,
        };
        let missing = self.offsets.iter().filter(|(path, offsets)| is_missing(path, offsets));
        let mut missing: Vec<&str> = missing.map(|(path, _)| path.as_ref()).collect();
        missing.sort_unstable();
        missing
    }
}
