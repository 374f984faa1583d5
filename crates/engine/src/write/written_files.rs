//! The data files of a write that is not committed yet: gone again unless it is.

use std::mem::take;
use std::sync::{Mutex, PoisonError};

use tarn_format::io::FileIo;

/// Locations of begun and finished files. Dropped while the write is open, it deletes them.
#[derive(Debug)]
pub(super) struct WrittenFiles {
    io: FileIo,
    locations: Mutex<Vec<String>>,
}

impl WrittenFiles {
    pub(super) fn new(io: FileIo) -> Self {
        WrittenFiles {
            io,
            locations: Mutex::default(),
        }
    }

    /// Remembers a file before it is begun.
    pub(super) fn add(&self, location: &str) {
        self.lock().push(location.to_string());
    }

    /// The table has them, or may have: nothing is deleted any more.
    pub(super) fn keep(&self) {
        self.lock().clear();
    }

    /// Deletes them. Failures are logged: the files are only garbage.
    pub(super) async fn delete(&self) {
        let locations = take(&mut *self.lock());
        delete(&self.io, locations).await;
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<String>> {
        self.locations.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for WrittenFiles {
    fn drop(&mut self) {
        let locations = take(&mut *self.lock());
        if locations.is_empty() {
            return;
        }
        // A cancelled statement: nobody waits any more, so the deletion runs on its own.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            let io = self.io.clone();
            runtime.spawn(async move { delete(&io, locations).await });
        }
    }
}

async fn delete(io: &FileIo, locations: Vec<String>) {
    for error in io.delete_many(&locations).await {
        tracing::warn!(%error, "a data file of a failed write could not be deleted");
    }
}
