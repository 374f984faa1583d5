//! What a store's failure means to the user.

use std::error::Error as StdError;
use std::io;

use crate::error::{Error, ErrorKind};

/// The store's error with its kind and one line that says what to do about it.
pub(super) fn store_error(e: object_store::Error) -> Error {
    use object_store::Error as Store;
    let (kind, message) = match &e {
        Store::NotFound { .. } => (ErrorKind::NotFound, "file not found"),
        Store::AlreadyExists { .. } | Store::Precondition { .. } => (ErrorKind::AlreadyExists, "file exists already"),
        Store::NotSupported { .. } | Store::NotImplemented { .. } => {
            (ErrorKind::Unsupported, "the store does not support this")
        }
        Store::InvalidPath { .. } => (ErrorKind::InvalidInput, "not a usable location"),
        Store::PermissionDenied { .. } => (ErrorKind::Io, "access denied"),
        Store::Unauthenticated { .. } => (ErrorKind::Io, "the store refused the credentials"),
        other => (ErrorKind::Io, os_message(other)),
    };
    Error::new(kind, message).with_source(e)
}

fn os_message(e: &(dyn StdError + 'static)) -> &'static str {
    let mut cause = Some(e);
    while let Some(current) = cause {
        if let Some(os) = current.downcast_ref::<io::Error>() {
            return match os.kind() {
                io::ErrorKind::StorageFull => "no space is left on the device",
                io::ErrorKind::QuotaExceeded => "the disk quota is exceeded",
                io::ErrorKind::ReadOnlyFilesystem => "the file system is read-only",
                io::ErrorKind::PermissionDenied => "access denied",
                io::ErrorKind::InvalidFilename => "the file system refuses this name",
                io::ErrorKind::NotADirectory => "part of the path is a file, not a directory",
                _ => "file access failed",
            };
        }
        cause = current.source();
    }
    "file access failed"
}
