//! Data files that deletes refer to, in whatever spelling.
//!
//! A delete file may spell the location of its data file otherwise than the data manifest does: `s3a` for `s3`, `/t` for
//! `file:///t`, a name service of HDFS or none. Files of one path in two buckets are two files.

use std::collections::HashMap;

use crate::io::location::{Location, path_key};

/// A set of locations.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct PathSet {
    /// Spellings by their path.
    spellings: HashMap<String, Vec<String>>,
}

/// How alike two spellings of one path are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Likeness {
    /// The same path in what may be the same file system.
    Path,
    /// The same store and authority.
    Store,
}

impl PathSet {
    /// Adds a location; whether its file was new, as far as can be told.
    pub(crate) fn insert(&mut self, location: &str) -> bool {
        let is_new = !self.contains(location);
        let spellings = self.spellings.entry(path_key(location).to_string()).or_default();
        if !spellings.iter().any(|s| s == location) {
            spellings.push(location.to_string());
        }
        is_new
    }

    /// Whether it has no location.
    pub(crate) fn is_empty(&self) -> bool {
        self.spellings.is_empty()
    }

    /// Whether it may have this file: to find conflicts.
    pub(crate) fn contains(&self, location: &str) -> bool {
        self.likeness(location).is_some()
    }

    /// Whether it has this file for sure: to remove what belongs to it.
    pub(crate) fn surely_contains(&self, location: &str) -> bool {
        self.likeness(location) == Some(Likeness::Store)
    }

    fn likeness(&self, location: &str) -> Option<Likeness> {
        if self.spellings.is_empty() {
            return None;
        }
        let spellings = self.spellings.get(path_key(location))?;
        spellings.iter().filter_map(|s| likeness(s, location)).max()
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

/// How alike two locations are whose paths are equal.
fn likeness(a: &str, b: &str) -> Option<Likeness> {
    if a == b {
        return Some(Likeness::Store);
    }
    let (a, b) = (Location::parse(a), Location::parse(b));
    let (a_store, b_store) = (a.store_scheme(), b.store_scheme());
    if a_store == b_store && a.authority == b.authority {
        return Some(Likeness::Store);
    }
    // Hosts of HDFS come and go; buckets are part of the name.
    let is_file_system = |store: &str| matches!(store, "hdfs" | "viewfs" | "file");
    let has_no_bucket = a.authority.is_empty() && b.authority.is_empty();
    (has_no_bucket || (is_file_system(&a_store) && is_file_system(&b_store))).then_some(Likeness::Path)
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
            ("s3://b/t/f", "/t/f", false, false),
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
