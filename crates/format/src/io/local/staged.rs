//! A file under construction: a hidden staging file beside its target, renamed or linked into place.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path as FsPath, PathBuf};

use bytes::Bytes;
use object_store::{Error, Result};
use uuid::Uuid;

use super::{Durability, write_error};

const PREFIX: &str = ".tarn-";
const SUFFIX: &str = ".tmp";

/// How often a vanishing parent directory is made again before giving up.
const PARENT_ATTEMPTS: usize = 4;

/// Whether this is the name of a staging file, which listings leave out.
pub(super) fn is_staging_name(name: &str) -> bool {
    name.starts_with(PREFIX) && name.ends_with(SUFFIX)
}

/// A staging file. Dropped unpublished, it is deleted.
#[derive(Debug)]
pub(super) struct Staged {
    file: File,
    staging: Option<PathBuf>,
    target: PathBuf,
    durability: Durability,
}

impl Staged {
    /// Opens a staging file for `target`; missing parents are made.
    pub(super) fn new(target: &FsPath, durability: Durability) -> Result<Self> {
        let parent = target.parent().ok_or_else(|| Error::Generic {
            store: "local",
            source: "the root directory is no file".into(),
        })?;
        let staging = parent.join(format!("{PREFIX}{}{SUFFIX}", Uuid::new_v4().simple()));
        let mut attempts = 0;
        let file = loop {
            match OpenOptions::new().write(true).create_new(true).open(&staging) {
                Ok(file) => break file,
                // Another process may remove the directory between making it and using it.
                Err(e) if e.kind() == io::ErrorKind::NotFound && attempts < PARENT_ATTEMPTS => {
                    attempts += 1;
                    create_parents(parent, durability).map_err(|e| write_error(parent, e))?;
                }
                Err(e) => return Err(write_error(target, e)),
            }
        };
        Ok(Staged {
            file,
            staging: Some(staging),
            target: target.to_path_buf(),
            durability,
        })
    }

    /// Appends.
    pub(super) fn write<'a>(&mut self, chunks: impl Iterator<Item = &'a Bytes>) -> Result<()> {
        for chunk in chunks {
            self.file.write_all(chunk).map_err(|e| write_error(&self.target, e))?;
        }
        Ok(())
    }

    /// Appends all of a file.
    pub(super) fn copy_from(&mut self, source: &mut File) -> Result<()> {
        io::copy(source, &mut self.file)
            .map(drop)
            .map_err(|e| write_error(&self.target, e))
    }

    /// Gives the file its name, replacing any other.
    pub(super) fn publish(mut self) -> Result<()> {
        self.sync()?;
        if let Some(staging) = &self.staging {
            fs::rename(staging, &self.target).map_err(|e| write_error(&self.target, e))?;
        }
        self.staging = None;
        sync_parent(&self.target, self.durability)
    }

    /// Gives the file its name, which must be free.
    pub(super) fn publish_new(mut self) -> Result<()> {
        self.sync()?;
        if let Some(staging) = self.staging.take() {
            let linked = fs::hard_link(&staging, &self.target);
            let is_ours = linked.is_ok() || has_second_name(&self.file);
            // The staging name must go whether the link succeeded or not; a leftover is hidden and harmless.
            let _ = fs::remove_file(&staging);
            linked.or_else(|e| {
                if is_ours {
                    Ok(())
                } else {
                    Err(link_error(&self.target, e))
                }
            })?;
        }
        sync_parent(&self.target, self.durability)
    }

    fn sync(&self) -> Result<()> {
        match self.durability {
            Durability::Synced => self.file.sync_data().map_err(|e| write_error(&self.target, e)),
            Durability::OsCache => Ok(()),
        }
    }
}

fn link_error(target: &FsPath, e: io::Error) -> Error {
    match e.kind() {
        io::ErrorKind::Unsupported | io::ErrorKind::PermissionDenied => Error::NotSupported {
            source: format!("exclusive create needs hard links, which this file system refuses: {e}").into(),
        },
        _ => write_error(target, e),
    }
}

/// Whether a staging file got its second name although linking reported a failure: a network file system that repeats a
/// request whose answer was lost says that the name exists, and it is ours.
#[cfg(unix)]
fn has_second_name(staging: &File) -> bool {
    use std::os::unix::fs::MetadataExt;
    staging.metadata().is_ok_and(|metadata| metadata.nlink() == 2)
}

#[cfg(not(unix))]
fn has_second_name(_staging: &File) -> bool {
    false
}

impl Drop for Staged {
    fn drop(&mut self) {
        if let Some(staging) = self.staging.take() {
            let _ = fs::remove_file(staging);
        }
    }
}

/// Makes the directory that holds `path` remember its names.
pub(super) fn sync_parent(path: &FsPath, durability: Durability) -> Result<()> {
    match (durability, path.parent()) {
        (Durability::Synced, Some(parent)) => sync_dir(parent).map_err(|e| write_error(path, e)),
        _ => Ok(()),
    }
}

fn sync_dir(dir: &FsPath) -> io::Result<()> {
    match File::open(dir)?.sync_all() {
        // Some network file systems cannot sync directories; they order names themselves.
        Err(e) if matches!(e.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) => Ok(()),
        done => done,
    }
}

/// Makes `dir` and its missing ancestors.
pub(super) fn create_parents(dir: &FsPath, durability: Durability) -> io::Result<()> {
    let missing: Vec<&FsPath> = dir.ancestors().take_while(|d| !d.exists()).collect();
    if missing.is_empty() {
        return Ok(());
    }
    fs::create_dir_all(dir)?;
    if durability == Durability::Synced {
        for parent in missing.iter().rev().filter_map(|d| d.parent()) {
            sync_dir(parent)?;
        }
    }
    Ok(())
}
