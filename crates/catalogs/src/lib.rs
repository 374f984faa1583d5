//! Iceberg catalogs: in memory, in a directory (hadoop), and in a SQLite database (the JDBC catalog's own tables).
//!
//! All speak [`tarn_format::catalog::Catalog`]; [`load_catalog`] makes one from properties. This crate knows nothing of
//! query engines.

#![warn(missing_docs)]

pub mod hadoop;
mod load;
mod memory;
mod metadata_ops;
pub mod metastore;
mod pointers;
mod sql;
#[cfg(any(test, feature = "testkit"))]
pub mod testkit;

pub use load::{Catalogs, load_catalog, load_catalog_with_io};
