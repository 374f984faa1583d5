//! Data files that deletes refer to, in whatever spelling.
//!
//! A delete file may spell the location of its data file otherwise than the data manifest does: `s3a` for `s3`, `/t` for
//! `file:///t`, a name service of HDFS or none. Files of one path in two buckets are two files. The rule is that of
//! [`spelling`](crate::io::location::spelling).

use std::sync::Arc;

use crate::io::location::Spelling;
use crate::io::location_map::LocationMap;

/// A set of locations.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct PathSet {
    files: LocationMap<()>,
}

impl PathSet {
    /// Adds a location; whether its file was new, as far as can be told.
    pub(crate) fn insert(&mut self, location: &str) -> bool {
        let is_new = !self.contains(location);
        self.files.entry(&Arc::from(location));
        is_new
    }

    /// Whether it has no location.
    pub(crate) fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Whether it may have this file: to find conflicts.
    pub(crate) fn contains(&self, location: &str) -> bool {
        self.files.closest(location).is_some()
    }

    /// Whether it has this file for sure: to remove it or what belongs to it.
    pub(crate) fn surely_contains(&self, location: &str) -> bool {
        self.files.closest(location) >= Some(Spelling::SameStore)
    }

    /// Its locations, unordered; of several spellings that are surely one file, the first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        self.files.iter().map(|(location, ())| location.as_ref())
    }
}

impl<'a> FromIterator<&'a str> for PathSet {
    fn from_iter<I: IntoIterator<Item = &'a str>>(locations: I) -> Self {
        let mut set = PathSet::default();
        for location in locations {
            set.insert(location);
        }
        set
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_file_are_one_file() {
        for (a, b, may, surely) in [
            ("s3://b/t/f", "s3://b/t/f", true, true),
            ("s3://b/t/f", "s3a://b/t/f", true, true),
            ("s3n://b/t/f", "S3://b/t/f", true, true),
            ("/t/f", "file:///t/f", true, true),
            ("file:/t/f", "file:///t/f", true, true),
            ("hdfs://a/t/f", "hdfs://b:8020/t/f", true, false),
            ("hdfs://a/t/f", "/t/f", true, false),
            ("viewfs://a/t/f", "hdfs:/t/f", true, false),
            ("s3://b/t/f", "s3://c/t/f", false, false),
            ("s3://b/t/f", "gs://b/t/f", false, false),
            ("s3://b/t/f", "/t/f", true, false),
            ("s3://b/t/f", "s3://b/t/g", false, false),
        ] {
            for (a, b) in [(a, b), (b, a)] {
                let mut set = PathSet::from_iter([a]);
                assert_eq!(set.contains(b), may, "{a} {b}");
                assert_eq!(set.surely_contains(b), surely, "{a} {b}");
                assert_eq!(set.insert(b), !may, "{a} {b}");
                assert!(set.surely_contains(b));
            }
        }
        assert!(PathSet::default().is_empty() && !PathSet::default().contains("f"));
    }
}
