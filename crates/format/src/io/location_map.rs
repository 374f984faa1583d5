//! Files found by location in whatever spelling, by the one rule of [`spelling`].

use std::collections::HashMap;
use std::sync::Arc;

use super::location::{Spelling, path_key, spelling};

/// Values by location. Two spellings of which is sure that they name one file ([`Spelling::SameStore`]) are one key.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LocationMap<V> {
    /// By the path, which all spellings of a file have in common.
    by_path: HashMap<Box<str>, Vec<(Arc<str>, V)>>,
}

impl<V> Default for LocationMap<V> {
    fn default() -> Self {
        LocationMap {
            by_path: HashMap::new(),
        }
    }
}

impl<V> LocationMap<V> {
    pub(crate) fn is_empty(&self) -> bool {
        self.by_path.is_empty()
    }

    /// How close a spelling of this location is held; `None` when there is none of what may be this file.
    pub(crate) fn closest(&self, location: &str) -> Option<Spelling> {
        let held = self.of_path(location).iter();
        held.filter_map(|(held, _)| spelling(held, location)).max()
    }

    /// The value of the file, when it surely is this one.
    pub(crate) fn get(&self, location: &str) -> Option<&V> {
        let mut held = self.of_path(location).iter();
        held.find(|(held, _)| is_same(held, location)).map(|(_, value)| value)
    }

    /// The value of the file, a new one when it has none, and the spelling it was first given in.
    pub(crate) fn entry(&mut self, location: &Arc<str>) -> (&Arc<str>, &mut V)
    where
        V: Default,
    {
        let held = self.by_path.entry(path_key(location).into()).or_default();
        let position = held.iter().position(|(held, _)| is_same(held, location));
        let position = position.unwrap_or_else(|| {
            held.push((Arc::clone(location), V::default()));
            held.len() - 1
        });
        let (spelled, value) = &mut held[position];
        (spelled, value)
    }

    /// The files as first spelled, unordered.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Arc<str>, &V)> {
        self.by_path
            .values()
            .flatten()
            .map(|(location, value)| (location, value))
    }

    fn of_path(&self, location: &str) -> &[(Arc<str>, V)] {
        if self.by_path.is_empty() {
            return &[];
        }
        self.by_path.get(path_key(location)).map_or(&[], Vec::as_slice)
    }
}

fn is_same(a: &str, b: &str) -> bool {
    spelling(a, b) >= Some(Spelling::SameStore)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_in_the_spellings_that_are_surely_one_file() {
        let mut map = LocationMap::<u32>::default();
        for location in [
            "s3://b/t/f",
            "S3A://b/t/f",
            "s3://c/t/f",
            "/t/f",
            "file:///t/f",
            "hdfs://nn/t/f",
        ] {
            *map.entry(&location.into()).1 += 1;
        }
        assert_eq!(map.entry(&"s3n://b/t/f".into()).0.as_ref(), "s3://b/t/f");
        for (location, value, closest) in [
            ("s3a://b/t/f", Some(2), Some(Spelling::SameStore)),
            ("s3://c/t/f", Some(1), Some(Spelling::Exact)),
            ("file:/t/f", Some(2), Some(Spelling::SameStore)),
            ("hdfs://other/t/f", None, Some(Spelling::Unplaced)),
            ("s3://d/t/f", None, Some(Spelling::Unplaced)),
            ("s3://b/t/g", None, None),
        ] {
            assert_eq!(map.get(location).copied(), value, "{location}");
            assert_eq!(map.closest(location), closest, "{location}");
        }
        assert_eq!(map.iter().count(), 4);
    }
}
