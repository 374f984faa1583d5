//! Where results go: stdout, or a file.

use std::fs::File;
use std::io::{self, BufWriter, Stdout, Write};
use std::path::Path;

/// Where results go.
#[derive(Debug)]
pub enum Sink {
    Stdout(BufWriter<Stdout>),
    File(BufWriter<File>),
}

impl Sink {
    pub fn stdout() -> Self {
        Sink::Stdout(BufWriter::new(io::stdout()))
    }

    /// A new file, replacing one that is there.
    ///
    /// # Errors
    /// Those of creating it.
    pub fn file(path: &Path) -> io::Result<Self> {
        Ok(Sink::File(BufWriter::new(File::create(path)?)))
    }

    pub fn is_stdout(&self) -> bool {
        matches!(self, Sink::Stdout(_))
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Sink::Stdout(out) => out.write(bytes),
            Sink::File(out) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Sink::Stdout(out) => out.flush(),
            Sink::File(out) => out.flush(),
        }
    }
}
