//! Metadata tables: what a table's metadata says, as rows (reference, "Inspecting tables").
//!
//! A file for each table, named after it; what several share stands beside them. Rows are made from the decoded columns
//! of manifests, manifest by manifest and batch by batch, while the query asks for them.

mod bounds;
mod data_file;
mod entries;
mod entry_filter;
mod entry_scan;
mod exec;
mod files;
mod groups;
mod history;
mod kind;
mod manifests;
mod metadata_log_entries;
mod metric_maps;
mod narrowing;
mod partition_column;
mod partitions;
mod position_deletes;
mod readable_metrics;
mod refs;
mod snapshots;
mod state;
mod static_rows;
mod table;

pub use kind::MetadataTableKind;
pub use table::MetadataTable;

#[cfg(test)]
mod tests;
