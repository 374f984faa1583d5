//! What a database error means: who is to blame, and whether a commit may have happened.

use tarn_format::{Error, ErrorKind};

/// SQLite's primary result codes (sqlite.org/rescode.html).
const SQLITE_BUSY: i64 = 5;
const SQLITE_LOCKED: i64 = 6;
const SQLITE_READONLY: i64 = 8;
const SQLITE_CORRUPT: i64 = 11;
const SQLITE_FULL: i64 = 13;
const SQLITE_CANTOPEN: i64 = 14;
const SQLITE_NOTADB: i64 = 26;

/// The primary result code of a SQLite error.
fn primary_code(error: &sqlx::Error) -> Option<i64> {
    let code = error.as_database_error()?.code()?;
    code.parse::<i64>().ok().map(|extended| extended & 0xff)
}

/// An error whose statement surely changed nothing.
pub(crate) fn database_error(error: sqlx::Error, message: &str) -> Error {
    let (kind, message) = match primary_code(&error) {
        Some(SQLITE_BUSY | SQLITE_LOCKED) => (
            ErrorKind::Io,
            format!("{message}: another process keeps the database locked, try again"),
        ),
        Some(SQLITE_READONLY) => (ErrorKind::Io, format!("{message}: the database is read-only")),
        Some(SQLITE_CORRUPT | SQLITE_NOTADB) => (
            ErrorKind::Corrupt,
            format!("{message}: the file is not a sound SQLite database"),
        ),
        Some(SQLITE_FULL) => (ErrorKind::Io, format!("{message}: the disk is full")),
        Some(SQLITE_CANTOPEN) => (ErrorKind::Io, format!("{message}: the database cannot be opened")),
        _ if matches!(error, sqlx::Error::ColumnDecode { .. }) => (ErrorKind::Corrupt, message.to_owned()),
        _ => (ErrorKind::Io, message.to_owned()),
    };
    Error::new(kind, message).with_source(error)
}

/// Whether a failed COMMIT is known to have left the transaction open: SQLite could not get the lock.
pub(crate) fn commit_was_refused(error: &sqlx::Error) -> bool {
    matches!(primary_code(error), Some(SQLITE_BUSY | SQLITE_LOCKED))
}
