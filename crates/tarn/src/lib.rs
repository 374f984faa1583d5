//! Tarn as a library: sessions that speak Spark SQL on Iceberg tables, over DataFusion.
//!
//! ```no_run
//! # async fn run() -> tarn::Result<()> {
//! let session = tarn::Session::builder().build().await?;
//! session.sql("CREATE TABLE t (id bigint, name string)").await?.collect().await?;
//! # Ok(())
//! # }
//! ```

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

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_readmes_first_statements_work_and_nothing_is_on_disk_before() -> Result<()> {
        let directory = tempfile::tempdir().unwrap();
        let home = directory.path().join("lake");
        let session = Session::builder().home(&home).build().await?;
        assert!(!home.exists());
        session.sql("CREATE NAMESPACE db").await?;
        session
            .sql("CREATE TABLE db.t (id bigint, name string) PARTITIONED BY (bucket(4, id))")
            .await?;
        session.sql("INSERT INTO db.t VALUES (1, 'one'), (2, 'two')").await?;
        let batches = session.sql("SELECT * FROM db.t WHERE id > 1").await?.collect().await?;
        assert_eq!(batches.iter().map(|b| b.num_rows()).sum::<usize>(), 1);

        // A later session finds what this one left.
        let later = Session::builder().home(&home).build().await?;
        let counted = later.sql("SELECT count(*) FROM lake.db.t").await?.collect().await?;
        let text = datafusion::arrow::util::pretty::pretty_format_batches(&counted)
            .unwrap()
            .to_string();
        assert!(text.contains("| 2 "), "{text}");
        Ok(())
    }
}
