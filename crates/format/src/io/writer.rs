//! Writing a large file piece by piece.

use std::fmt;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use object_store::buffered::BufWriter;
use tokio::io::{AsyncWrite, AsyncWriteExt};

use super::{FileIo, store_error};
use crate::error::{Error, ErrorKind, Result, ResultExt};

/// Bytes held back until a part is sent: small files are one request.
const PART_BYTES: usize = 8 * 1024 * 1024;

/// A file under construction. It appears when [`FileWriter::finish`] returns, whole; dropped or aborted before,
/// nothing of it is visible (object stores may keep unreachable parts until their lifecycle rules remove them).
pub struct FileWriter {
    inner: BufWriter,
    location: String,
    bytes_written: u64,
}

impl fmt::Debug for FileWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FileWriter")
            .field("location", &self.location)
            .field("bytes_written", &self.bytes_written)
            .finish_non_exhaustive()
    }
}

impl FileIo {
    /// Opens a file for streaming; it replaces any other of its name when finished.
    pub fn writer(&self, location: &str) -> Result<FileWriter> {
        let target = self.resolve(location)?;
        let store = target.store().clone();
        Ok(FileWriter {
            inner: BufWriter::with_capacity(store, target.path, PART_BYTES),
            location: location.to_string(),
            bytes_written: 0,
        })
    }
}

impl FileWriter {
    /// Where it will be.
    pub fn location(&self) -> &str {
        &self.location
    }

    /// Bytes accepted so far.
    pub fn bytes_written(&self) -> u64 {
        self.bytes_written
    }

    /// Appends, without a copy where the store allows.
    pub async fn write(&mut self, bytes: Bytes) -> Result<()> {
        let len = bytes.len() as u64;
        self.inner
            .put(bytes)
            .await
            .map_err(store_error)
            .context("file", self.location.as_str())?;
        self.bytes_written += len;
        Ok(())
    }

    /// Completes the file and returns its length in bytes.
    pub async fn finish(mut self) -> Result<u64> {
        self.inner.shutdown().await.map_err(|e| {
            let error = match e.downcast::<object_store::Error>() {
                Ok(e) => store_error(e),
                Err(e) => Error::new(ErrorKind::Io, "file cannot be written").with_source(e),
            };
            error.with_context("file", self.location.as_str())
        })?;
        Ok(self.bytes_written)
    }

    /// Gives up: nothing of the file stays where the store can take it back.
    pub async fn abort(mut self) -> Result<()> {
        self.inner
            .abort()
            .await
            .map_err(store_error)
            .context("file", self.location.as_str())
    }
}

impl AsyncWrite for FileWriter {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.inner).poll_write(cx, buf);
        if let Poll::Ready(Ok(n)) = &polled {
            self.bytes_written += *n as u64;
        }
        polled
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }
}
