//! Reading and writing files by location (a URI or an absolute path) over object stores.
//!
//! Everything the format stores goes through [`FileIo`]; nothing else opens files.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt, PutMode, PutOptions, PutPayload};

use crate::error::{Error, ErrorKind, Result};

/// Access to files by location. Cheap to clone.
#[derive(Clone)]
pub struct FileIo {
    inner: Arc<Inner>,
}

struct Inner {
    store: Arc<dyn ObjectStore>,
}

impl fmt::Debug for FileIo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FileIo").finish_non_exhaustive()
    }
}

/// A file found by listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileStatus {
    /// Location, in the form of the listed prefix.
    pub location: String,
    /// Length in bytes.
    pub size_bytes: u64,
    /// Last change, milliseconds since epoch.
    pub last_modified_ms: i64,
}

impl FileIo {
    /// Local files.
    pub fn local() -> Self {
        FileIo {
            inner: Arc::new(Inner {
                store: Arc::new(object_store::local::LocalFileSystem::new()),
            }),
        }
    }

    fn path(&self, location: &str) -> Result<Path> {
        let path = location.strip_prefix("file://").unwrap_or(location);
        Path::from_absolute_path(path).map_err(|e| {
            Error::invalid("not a usable location")
                .with_context("file", location)
                .with_source(e)
        })
    }

    /// The whole file.
    pub async fn read(&self, location: &str) -> Result<Bytes> {
        let path = self.path(location)?;
        let got = self
            .inner
            .store
            .get(&path)
            .await
            .map_err(|e| store_error(e, location))?;
        got.bytes().await.map_err(|e| store_error(e, location))
    }

    /// Part of a file.
    pub async fn read_range(&self, location: &str, range: Range<u64>) -> Result<Bytes> {
        let path = self.path(location)?;
        self.inner
            .store
            .get_range(&path, range)
            .await
            .map_err(|e| store_error(e, location))
    }

    /// Length in bytes.
    pub async fn size(&self, location: &str) -> Result<u64> {
        let path = self.path(location)?;
        Ok(self
            .inner
            .store
            .head(&path)
            .await
            .map_err(|e| store_error(e, location))?
            .size)
    }

    /// Whether the file exists.
    pub async fn exists(&self, location: &str) -> Result<bool> {
        match self.size(location).await {
            Ok(_) => Ok(true),
            Err(e) if e.kind() == ErrorKind::NotFound => Ok(false),
            Err(e) => Err(e),
        }
    }

    /// Writes a whole file, replacing any other. Readers see all of it or nothing.
    pub async fn write(&self, location: &str, bytes: Bytes) -> Result<()> {
        self.put(location, bytes, PutMode::Overwrite).await
    }

    /// Writes a whole file that must not exist: `AlreadyExists` otherwise. Of several racing calls exactly one succeeds.
    pub async fn create(&self, location: &str, bytes: Bytes) -> Result<()> {
        self.put(location, bytes, PutMode::Create).await
    }

    async fn put(&self, location: &str, bytes: Bytes, mode: PutMode) -> Result<()> {
        let path = self.path(location)?;
        let options = PutOptions::from(mode);
        self.inner
            .store
            .put_opts(&path, PutPayload::from(bytes), options)
            .await
            .map(drop)
            .map_err(|e| store_error(e, location))
    }

    /// Deletes a file; a missing one is no error.
    pub async fn delete(&self, location: &str) -> Result<()> {
        let path = self.path(location)?;
        match self.inner.store.delete(&path).await {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(e) => Err(store_error(e, location)),
        }
    }
}

fn store_error(e: object_store::Error, location: &str) -> Error {
    let (kind, message) = match &e {
        object_store::Error::NotFound { .. } => (ErrorKind::NotFound, "file not found"),
        object_store::Error::AlreadyExists { .. } => (ErrorKind::AlreadyExists, "file exists already"),
        object_store::Error::NotSupported { .. } => (ErrorKind::Unsupported, "the store does not support this"),
        _ => (ErrorKind::Io, "file access failed"),
    };
    Error::new(kind, message).with_context("file", location).with_source(e)
}
