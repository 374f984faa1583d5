//! Commits against a catalog in memory. Expectations come from the spec and from reading Java's producers.

mod appends;
mod catalog;
mod cherry_picks;
mod deletes;
mod faults;
mod manifests;
mod model;
mod outcomes;
mod overwrites;
mod retries;
mod row_deltas;
mod spellings;
mod table;
mod transactions;
mod validations;
