//! Where a file under construction goes: bytes gather in memory and are sent on between columns.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use tarn_format::Result;
use tarn_format::io::FileWriter;

/// What Parquet's writer writes to.
#[derive(Debug, Clone, Default)]
pub(super) struct Buffer(Arc<Mutex<Vec<u8>>>);

impl Buffer {
    fn take(&self) -> Vec<u8> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Sends on what has gathered.
    pub(super) async fn drain_into(&self, file: &mut FileWriter) -> Result<()> {
        let bytes = self.take();
        match bytes.is_empty() {
            true => Ok(()),
            false => file.write(Bytes::from(bytes)).await,
        }
    }
}

impl io::Write for Buffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut gathered = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        gathered.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
