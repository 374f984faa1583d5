//! The Apache Iceberg table format: metadata, manifests, expressions, scan planning and commits.
//!
//! This crate knows nothing of query engines, Parquet or SQL. Modules follow the specification's nouns.

#![warn(missing_docs)]

pub mod catalog;
pub mod commit;
pub mod deletes;
pub mod error;
pub mod expr;
pub mod io;
pub mod manifest;
pub mod metrics;
pub mod scan;
pub mod spec;
pub mod transform;
pub mod update;

pub use error::{Error, ErrorKind, Result, ResultExt};
