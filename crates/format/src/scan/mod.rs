//! Scan planning: from a table's state and a predicate to the files that must be read, with their deletes
//! (spec, "Scan Planning").

pub mod manifest_entries;
pub mod snapshots;
#[cfg(test)]
pub(crate) mod testing;
