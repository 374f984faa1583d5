//! Deletes of single data files, found by the file's path.
//!
//! A delete file may name a data file with another scheme or authority than the data manifest does (relocated
//! tables, `s3a` beside `s3`). So entries are hashed by the path alone, compared by the rule of
//! [`spelling`](crate::io::location::spelling), and a lookup prefers spellings that are closer: the same string or the
//! same store, or none told, first, another host of the same path only without those. The same key in another bucket is
//! another file.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};

use super::task::DeleteTask;
use crate::io::location::{Spelling, path_key, spelling as spelling_of};

/// Deletes by the data file they name.
#[derive(Debug, Default)]
pub(super) struct PathIndex {
    hasher: RandomState,
    /// Sorted by hash, then sequence number.
    deletes: Vec<DeleteTask>,
    /// Where in `deletes` those of one hash lie.
    ranges: HashMap<u64, (u32, u32)>,
}

impl PathIndex {
    /// Indexes deletes that all name a data file.
    pub(super) fn new(deletes: Vec<DeleteTask>) -> Self {
        let hasher = RandomState::new();
        let mut keyed: Vec<(u64, DeleteTask)> = deletes
            .into_iter()
            .map(|d| {
                (
                    hasher.hash_one(path_key(d.referenced_data_file().unwrap_or_default())),
                    d,
                )
            })
            .collect();
        keyed.sort_by_key(|(hash, delete)| (*hash, delete.sequence_number()));
        let mut ranges: HashMap<u64, (u32, u32)> = HashMap::with_capacity(keyed.len());
        for (i, (hash, _)) in keyed.iter().enumerate() {
            let i = i as u32;
            ranges.entry(*hash).or_insert((i, i)).1 = i + 1;
        }
        PathIndex {
            hasher,
            deletes: keyed.into_iter().map(|(_, delete)| delete).collect(),
            ranges,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.deletes.is_empty()
    }

    /// The deletes that name `path`, ascending by sequence number, see the module's rule on spellings.
    pub(super) fn find<'a, 'p>(
        &'a self,
        path: &'p str,
    ) -> impl Iterator<Item = (Spelling, &'a DeleteTask)> + use<'a, 'p> {
        let candidates = match self.ranges.get(&self.hasher.hash_one(path_key(path))) {
            Some((from, to)) => self.deletes.get(*from as usize..*to as usize).unwrap_or_default(),
            None => &[],
        };
        let spelling = move |d: &DeleteTask| spelling_of(d.referenced_data_file()?, path);
        let best = candidates.iter().filter_map(spelling).max();
        let least = best.map_or(Spelling::SamePath, Spelling::farthest_beside);
        candidates
            .iter()
            .filter_map(move |d| spelling(d).filter(|s| *s >= least).map(|s| (s, d)))
    }

    /// Two deletes that name exactly the same path, if there are any.
    pub(super) fn duplicate(&self) -> Option<(&DeleteTask, &DeleteTask)> {
        for (from, to) in self.ranges.values() {
            let candidates = self.deletes.get(*from as usize..*to as usize).unwrap_or_default();
            if candidates.len() < 2 {
                continue;
            }
            let mut seen: HashMap<&str, &DeleteTask> = HashMap::new();
            for delete in candidates {
                let path = delete.referenced_data_file().unwrap_or_default();
                if let Some(other) = seen.insert(path, delete) {
                    return Some((other, delete));
                }
            }
        }
        None
    }
}
