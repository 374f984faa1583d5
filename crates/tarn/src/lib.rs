//! Tarn as a library: sessions that speak Spark SQL on Iceberg tables, over DataFusion.
//!
//! ```no_run
//! # async fn run() -> tarn::Result<()> {
//! let session = tarn::Session::builder().build().await?;
//! session.sql("CREATE TABLE t (id bigint, name string)").await?;
//! session.sql("INSERT INTO t VALUES (1, 'one')").await?;
//! let batches = session.sql("SELECT * FROM t").await?.collect().await?;
//! # Ok(())
//! # }
//! ```
//!
//! [`Session::builder`] takes catalogs, settings, limits and `tarn.toml` files; [`Session::sql`](tarn_sql::Session::sql)
//! runs statements; [`Session::context`](tarn_sql::Session::context) is DataFusion's context on the same tables, for
//! DataFrames. The folder `examples` shows both. The crates beneath are re-exported: [`mod@format`] for metadata, scans and
//! commits without a query engine, [`catalogs`], [`engine`] and [`sql`].

#![warn(missing_docs)]

mod builder;
pub mod config;
mod memory;

use std::ops::Deref;

pub use datafusion;
pub use tarn_catalogs as catalogs;
pub use tarn_engine as engine;
pub use tarn_format as format;
pub use tarn_format::{Error, ErrorKind, Result};
pub use tarn_sql as sql;
pub use tarn_sql::Output;

pub use builder::SessionBuilder;
pub use config::Config;
pub use memory::MemoryLimit;

/// A session, see [`tarn_sql::Session`]. Cheap to clone; clones share everything.
#[derive(Debug, Clone)]
pub struct Session(tarn_sql::Session);

impl Session {
    /// A session on embedded defaults, to be changed before it is built.
    pub fn builder() -> SessionBuilder {
        SessionBuilder::default()
    }
}

impl Deref for Session {
    type Target = tarn_sql::Session;

    fn deref(&self) -> &tarn_sql::Session {
        &self.0
    }
}

// The examples name the crate as others do.
#[cfg(test)]
extern crate self as tarn;

#[cfg(test)]
mod tests;
