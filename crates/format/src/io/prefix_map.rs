//! The location-prefix map, by which tables open that were moved without rewriting their metadata.

use super::location::{Location, strip_trailing_slash};

/// Replaces the beginning of locations. The longest matching prefix wins; a prefix ends at a `/`.
///
/// Spellings of one store match each other: `s3`, `s3a` and `s3n`; `file:/x`, `file:///x` and `/x`. A prefix
/// may be relative (`data/warehouse`), since some writers leave relative locations.
#[derive(Debug, Clone, Default)]
pub struct PrefixMap {
    /// Longest path first.
    entries: Vec<Entry>,
}

#[derive(Debug, Clone)]
struct Entry {
    scheme: String,
    authority: String,
    path: String,
    to: String,
}

impl PrefixMap {
    /// An empty map.
    pub fn new() -> Self {
        PrefixMap::default()
    }

    /// Adds a mapping; one with an equal `from` is replaced.
    pub fn insert(&mut self, from: &str, to: &str) {
        let parsed = Location::parse(from);
        let entry = Entry {
            scheme: parsed.store_scheme(),
            authority: parsed.authority.to_string(),
            path: parsed.path.trim_end_matches('/').to_string(),
            to: strip_trailing_slash(to).to_string(),
        };
        self.entries
            .retain(|e| (&e.scheme, &e.authority, &e.path) != (&entry.scheme, &entry.authority, &entry.path));
        let at = self.entries.partition_point(|e| e.path.len() >= entry.path.len());
        self.entries.insert(at, entry);
    }

    /// Whether nothing is mapped.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The location under its new prefix; `None` when no prefix matches.
    pub fn apply(&self, location: &str) -> Option<String> {
        if self.entries.is_empty() {
            return None;
        }
        let parsed = Location::parse(location);
        let scheme = parsed.store_scheme();
        self.entries.iter().find_map(|entry| {
            if entry.scheme != scheme || entry.authority != parsed.authority {
                return None;
            }
            let rest = parsed.path.strip_prefix(entry.path.as_str())?;
            if !rest.is_empty() && !rest.starts_with('/') {
                return None;
            }
            // A target that is the root must not give a doubled slash.
            let to = if rest.starts_with('/') {
                entry.to.trim_end_matches('/')
            } else {
                &entry.to
            };
            Some(format!("{to}{rest}"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(entries: &[(&str, &str)]) -> PrefixMap {
        let mut map = PrefixMap::new();
        for (from, to) in entries {
            map.insert(from, to);
        }
        map
    }

    #[test]
    fn longest_prefix_wins_whatever_the_order() {
        for entries in [
            [("s3://b/wh", "/one"), ("s3://b/wh/db/t", "/two")],
            [("s3://b/wh/db/t", "/two"), ("s3://b/wh", "/one")],
        ] {
            let map = map(&entries);
            assert_eq!(map.apply("s3://b/wh/db/t/f").as_deref(), Some("/two/f"));
            assert_eq!(map.apply("s3://b/wh/db/u/f").as_deref(), Some("/one/db/u/f"));
            assert_eq!(map.apply("s3://b/wh/db/t").as_deref(), Some("/two"));
        }
    }

    #[test]
    fn prefix_ends_at_a_slash() {
        let map = map(&[("/wh/t", "/moved/")]);
        assert_eq!(map.apply("/wh/t2/f"), None);
        assert_eq!(map.apply("/wh/t/f").as_deref(), Some("/moved/f"));
        assert_eq!(map.apply("/wh"), None);
    }

    #[test]
    fn spellings_of_one_store_match() {
        let map = map(&[("s3://b/", "/m"), ("file:///wh/", "/l")]);
        for location in ["s3://b/k", "s3a://b/k", "s3n://b/k", "S3A://b/k"] {
            assert_eq!(map.apply(location).as_deref(), Some("/m/k"), "{location}");
        }
        for location in ["/wh/x", "file:/wh/x", "file:///wh/x"] {
            assert_eq!(map.apply(location).as_deref(), Some("/l/x"), "{location}");
        }
        assert_eq!(map.apply("s3://c/k"), None);
        assert_eq!(map.apply("gs://b/k"), None);
    }

    #[test]
    fn relative_prefixes_and_the_root() {
        let relative = map(&[("data/wh", "/abs"), ("PLACEHOLDER", "/p")]);
        assert_eq!(relative.apply("data/wh/t/m").as_deref(), Some("/abs/t/m"));
        assert_eq!(relative.apply("PLACEHOLDER/m").as_deref(), Some("/p/m"));
        assert_eq!(relative.apply("other/wh"), None);
        assert_eq!(map(&[("hdfs://h:1", "/")]).apply("hdfs://h:1/a").as_deref(), Some("/a"));
        assert_eq!(map(&[("/", "s3://b")]).apply("/a/b").as_deref(), Some("s3://b/a/b"));
    }

    #[test]
    fn equal_prefix_is_replaced() {
        let map = map(&[("/a", "/x"), ("file:/a/", "/y")]);
        assert_eq!(map.apply("/a/f").as_deref(), Some("/y/f"));
    }
}
