//! Directories: real ones on a file system, emulated ones in stores that know only objects.

use std::fmt::Debug;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use futures::{StreamExt, TryStreamExt};
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt, PutMode, PutOptions, PutPayload};

use super::location::strip_trailing_slash;
use super::registry::Target;
use super::{FileIo, FileStatus, store_error};
use crate::error::{Error, ErrorKind, Result, ResultExt};

/// Name of the empty object that keeps an emulated directory alive. Listings leave it out.
pub(super) const MARKER: &str = ".tarn-dir";

/// What deleting a directory does to its contents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeleteDir {
    /// A directory with files or directories in it is not deleted: `NotEmpty`.
    IfEmpty,
    /// Everything below goes too. Not atomic.
    WithContents,
}

/// The files and directories directly in a directory, sorted by location.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DirListing {
    /// Files.
    pub files: Vec<FileStatus>,
    /// Locations of directories, without trailing slash, in the form of the listed one.
    pub dirs: Vec<String>,
}

/// What a store with real directories can do with them.
#[async_trait]
pub trait Directories: Debug + Send + Sync {
    /// Makes a directory and its missing parents. `AlreadyExists` when there is a file or directory of this name: of
    /// several racing calls exactly one succeeds.
    async fn create_dir(&self, path: &Path) -> Result<()>;
    /// Deletes a directory; a missing one is no error.
    async fn delete_dir(&self, path: &Path, what: DeleteDir) -> Result<()>;
    /// Gives a directory another name, in one step, with all that is in it. `NotFound` when there is none,
    /// `Unsupported` when the names are on different file systems. The new name must be free, and its parent exist.
    async fn rename_dir(&self, from: &Path, to: &Path) -> Result<()>;
}

impl FileIo {
    /// The files and directories directly in a directory, empty directories too.
    ///
    /// # Errors
    /// `NotFound` when there is no such directory. Stores without directories have one where something lies below it
    /// or where [`FileIo::create_dir`] made one.
    pub async fn list_dir(&self, location: &str) -> Result<DirListing> {
        let target = self.resolve(location)?;
        let listed = target.store().list_with_delimiter(Some(&target.path)).await;
        let listed = listed.map_err(store_error).context("directory", location)?;
        let empty = listed.objects.is_empty() && listed.common_prefixes.is_empty();
        if empty && target.directories().is_none() && !target.path.is_root() {
            return Err(Error::not_found("directory not found").with_context("directory", location));
        }
        let base = strip_trailing_slash(location);
        let child = |path: &Path| super::below(base, &target.path, path);
        let files = listed
            .objects
            .iter()
            .filter(|meta| meta.location.filename() != Some(MARKER))
            .map(|meta| super::status(child(&meta.location), meta))
            .collect();
        let dirs = listed.common_prefixes.iter().map(child).collect();
        Ok(DirListing { files, dirs })
    }

    /// Whether there is a directory (see [`FileIo::list_dir`] for stores without).
    pub async fn dir_exists(&self, location: &str) -> Result<bool> {
        match self.list_dir(location).await {
            Ok(_) => Ok(true),
            Err(e) if e.kind() == ErrorKind::NotFound => Ok(false),
            Err(e) => Err(e),
        }
    }

    /// Makes a directory and its missing parents.
    ///
    /// # Errors
    /// `AlreadyExists` when it exists: of several racing calls exactly one succeeds.
    pub async fn create_dir(&self, location: &str) -> Result<()> {
        let target = self.resolve(location)?;
        let made = match target.directories() {
            Some(directories) => directories.create_dir(&target.path).await,
            None => create_marker(&target).await,
        };
        made.map_err(|e| match e.kind() {
            ErrorKind::AlreadyExists => Error::new(ErrorKind::AlreadyExists, "directory exists already"),
            _ => e,
        })
        .context("directory", location)
    }

    /// Deletes a directory; a missing one is no error.
    ///
    /// # Errors
    /// `NotEmpty` with [`DeleteDir::IfEmpty`] when something is in it.
    pub async fn delete_dir(&self, location: &str, what: DeleteDir) -> Result<()> {
        let target = self.resolve(location)?;
        if target.path.is_root() {
            return Err(Error::invalid("the root directory cannot be deleted").with_context("directory", location));
        }
        match target.directories() {
            Some(directories) => directories.delete_dir(&target.path, what).await,
            None => delete_emulated(&target, what).await,
        }
        .context("directory", location)
    }

    /// Gives a directory another name, in one step, with all that is in it. The new name must be free, and the
    /// directory that is to hold it exist.
    ///
    /// # Errors
    /// `NotFound` when there is no such directory; `Unsupported` in stores without directories, and across stores or
    /// file systems.
    pub async fn rename_dir(&self, from: &str, to: &str) -> Result<()> {
        let (source, target) = (self.resolve(from)?, self.resolve(to)?);
        let renamed = match (source.directories(), target.directories()) {
            (Some(directories), Some(others)) if Arc::ptr_eq(directories, others) => {
                directories.rename_dir(&source.path, &target.path).await
            }
            _ => Err(Error::unsupported("the store cannot rename directories")),
        };
        renamed.context("directory", from)
    }
}

async fn create_marker(target: &Target<'_>) -> Result<()> {
    let listed = target.store().list_with_delimiter(Some(&target.path)).await;
    let listed = listed.map_err(store_error)?;
    if !listed.objects.is_empty() || !listed.common_prefixes.is_empty() {
        return Err(Error::new(ErrorKind::AlreadyExists, "directory exists already"));
    }
    let marker = target.path.clone().join(MARKER);
    let options = PutOptions::from(PutMode::Create);
    let put = target
        .store()
        .put_opts(&marker, PutPayload::from(Bytes::new()), options);
    put.await.map(drop).map_err(store_error)
}

async fn delete_emulated(target: &Target<'_>, what: DeleteDir) -> Result<()> {
    let marker = target.path.clone().join(MARKER);
    let store = target.store();
    if what == DeleteDir::WithContents {
        let below = store.list(Some(&target.path)).map_ok(|meta| meta.location).boxed();
        return store
            .delete_stream(below)
            .try_for_each(|_| async { Ok(()) })
            .await
            .map_err(store_error);
    }
    let listed = store.list_with_delimiter(Some(&target.path)).await;
    let listed = listed.map_err(store_error)?;
    if !listed.common_prefixes.is_empty() || listed.objects.iter().any(|o| o.location != marker) {
        return Err(Error::new(ErrorKind::NotEmpty, "directory is not empty"));
    }
    match store.delete(&marker).await {
        Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
        Err(e) => Err(store_error(e)),
    }
}
