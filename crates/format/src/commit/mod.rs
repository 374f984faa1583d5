//! Commits: changes of a table's files as data, one producer that applies them, and the loop that gets them in.
//!
//! A change is built by [`append`], [`overwrite`], [`delete`], [`replace_partitions`], [`row_delta`], [`rewrite`] or
//! [`rewrite_manifests`], and committed by [`commit`] or within a [`Transaction`]. Data files are never read, written
//! or deleted here.

pub mod append;
pub mod change;
pub mod cherry_pick;
pub mod delete;
pub mod options;
pub mod outcome;
pub mod overwrite;
pub mod replace_partitions;
pub mod retry;
pub mod rewrite;
pub mod rewrite_manifests;
pub mod row_delta;
pub mod settings;
pub mod transaction;

mod added_files;
mod attempt;
mod cleanup;
mod commit_loop;
mod copied_types;
mod deletion_vectors;
mod file_key;
mod manifest_filter;
mod manifest_merge;
mod manifest_output;
mod partition_set;
mod path_set;
mod producer;
mod row_filter;
mod snapshot_ids;
mod status_check;
mod summary;
mod validate;

#[cfg(test)]
mod tests;

pub use change::{Change, ChangeKind, Publication, Scope, Validation};
pub use options::CommitOptions;
pub use outcome::{CommitOutcome, surely_failed};
pub use transaction::{Transaction, commit};
