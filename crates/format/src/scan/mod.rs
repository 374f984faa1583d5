//! Scan planning: from a table's state and a predicate to the files that must be read, with their deletes
//! (spec, "Scan Planning").

pub mod bin_packing;
pub mod manifest_entries;
pub mod range;
pub mod snapshots;
#[cfg(test)]
pub(crate) mod testing;
