//! Scan planning: from a table's state and a predicate to the files that must be read, with their deletes
//! (spec, "Scan Planning").

pub mod bin_packing;
pub mod changelog;
mod entry_selection;
pub mod filter;
pub mod incremental;
pub mod manifest_entries;
mod planner;
pub mod range;
pub mod snapshots;
pub mod split;
pub mod table_scan;
pub mod task;

#[cfg(test)]
mod fixture_tests;
#[cfg(test)]
mod model_tests;
#[cfg(test)]
pub(crate) mod testing;

pub use filter::{RowMatch, ScanFilter};
pub use table_scan::{PlannedDeletes, ScanPlan, ScanSetup, Statistics, TableScan};
pub use task::FileScanTask;
