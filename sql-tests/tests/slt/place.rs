//! Where a combination runs: a fresh directory, a fresh catalog in it, and a session on that.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use tarn::catalogs::load_catalog_with_io;
use tarn::format::catalog::Namespace;
use tarn::format::io::{Durability, FileIo};
use tarn::{Error, ErrorKind, Result, Session};

/// How many partitions a query has, whatever the machine: file counts and plans must not depend on it.
const PARTITIONS: usize = 4;

/// A directory that vanishes with it, and a session.
#[derive(Debug)]
pub struct Place {
    /// Catalog `lake`, namespace `db`, both current.
    pub session: Session,
    directory: tempfile::TempDir,
}

impl Place {
    /// A place with a catalog of this kind (`memory`, `hadoop` or `sqlite`), whose tables have this format version unless
    /// they say another.
    ///
    /// # Errors
    /// Those of making directory, catalog and namespace.
    pub async fn new(kind: &str, version: Option<&str>) -> Result<Self> {
        let directory = tempfile::Builder::new()
            .prefix("tarn-slt-")
            .tempdir_in(fast_directory());
        let directory = directory.map_err(|e| Error::new(ErrorKind::Io, "no directory").with_source(e))?;
        let below = |name: &str| directory.path().join(name).display().to_string();
        let mut properties = BTreeMap::from([
            ("type".to_string(), kind.to_string()),
            ("warehouse".to_string(), below("warehouse")),
        ]);
        if kind == "sqlite" {
            properties.insert("uri".to_string(), below("catalog.db"));
        }
        if let Some(version) = version {
            properties.insert("table-default.format-version".to_string(), version.to_string());
        }
        // What is tested is what statements do, not that the disk keeps it.
        let io = FileIo::builder().with_durability(Durability::OsCache).build();
        let session = Session::builder()
            .catalog("lake", load_catalog_with_io("lake", &properties, io)?)
            .namespace(Namespace::new(["db"]))
            .parallelism(PARTITIONS)
            .build()
            .await?;
        session.sql("CREATE NAMESPACE db").await?;
        Ok(Place { session, directory })
    }

    /// Leaves the directory for others, who remove it.
    pub fn keep(self) -> PathBuf {
        self.directory.keep()
    }

    /// What `$tmp` stands for.
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }
}

/// In memory where the system has such a directory: SQLite syncs at every commit.
fn fast_directory() -> PathBuf {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() {
        memory.to_path_buf()
    } else {
        std::env::temp_dir()
    }
}
