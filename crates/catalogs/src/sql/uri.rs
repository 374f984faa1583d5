//! Where the database of a sql catalog is: the spellings of SQLAlchemy (PyIceberg), JDBC (Java) and a plain path.

use std::path::PathBuf;

use tarn_format::{Error, Result};

/// The database that a `uri` property names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Database {
    /// A SQLite file, as an absolute path.
    File(PathBuf),
    /// A private SQLite database in memory.
    Memory,
}

impl Database {
    /// Reads a `uri` property. The value is not repeated in errors: it may hold a password.
    pub(crate) fn from_uri(uri: &str) -> Result<Self> {
        let uri = uri.trim();
        let uri = uri.strip_prefix("jdbc:").unwrap_or(uri);
        let path = match uri.split_once(':') {
            Some(("sqlite", rest)) => strip_authority(rest)?,
            Some(("file", rest)) => strip_file_authority(rest),
            Some((scheme, _)) if is_scheme(scheme) => return Err(unknown_scheme(scheme)),
            _ => uri,
        };
        let path = path.split(['?', '#']).next().unwrap_or_default();
        match path {
            "" => Err(Error::invalid(
                "the catalog's uri names no database file (write sqlite:///absolute/path.db)",
            )),
            ":memory:" => Ok(Database::Memory),
            path => std::path::absolute(path)
                .map(Database::File)
                .map_err(|e| Error::invalid("the catalog's uri is not a usable path").with_source(e)),
        }
    }
}

/// SQLAlchemy: three slashes and a relative path, or four and an absolute one; sqlx and people: two or three.
///
/// `sqlite:///x` is thus `x` to PyIceberg where SQLite's own tools read `/x`. We take the absolute path, as the file
/// of a catalog that two engines share is written that way; `sqlite:////x` names it too.
fn strip_authority(rest: &str) -> Result<&str> {
    // sqlite-jdbc takes SQLite's own URIs too.
    let rest = rest.strip_prefix("file:").unwrap_or(rest);
    let Some(after) = rest.strip_prefix("//") else {
        return Ok(rest);
    };
    if after == "/:memory:" {
        return Ok(":memory:");
    }
    if let Some(absolute) = after.strip_prefix("//") {
        return rest
            .get(rest.len() - absolute.len() - 1..)
            .ok_or_else(|| Error::invalid("the catalog's uri is not usable"));
    }
    Ok(after)
}

fn strip_file_authority(rest: &str) -> &str {
    rest.strip_prefix("//").unwrap_or(rest)
}

fn is_scheme(text: &str) -> bool {
    // One letter is a Windows drive.
    text.len() > 1
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
}

fn unknown_scheme(scheme: &str) -> Error {
    Error::unsupported(format!("a sql catalog on `{scheme}` is not supported (known: sqlite)"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tarn_format::ErrorKind;

    fn file(path: &str) -> Database {
        Database::File(PathBuf::from(path))
    }

    #[test]
    fn every_spelling_of_one_file() {
        for uri in [
            "sqlite:///data/cat.db",
            "sqlite:////data/cat.db",
            "sqlite:/data/cat.db",
            "jdbc:sqlite:/data/cat.db",
            "jdbc:sqlite:file:/data/cat.db",
            "jdbc:sqlite:/data/cat.db?journal_mode=wal",
            "file:///data/cat.db",
            "file:/data/cat.db",
            "/data/cat.db",
        ] {
            assert_eq!(Database::from_uri(uri).unwrap(), file("/data/cat.db"), "{uri}");
        }
        let relative = Database::from_uri("sqlite:cat.db").unwrap();
        assert_eq!(
            relative,
            Database::File(std::env::current_dir().unwrap().join("cat.db"))
        );
    }

    #[test]
    fn memory_in_the_spellings_of_all() {
        for uri in [
            "sqlite::memory:",
            "sqlite:///:memory:",
            "sqlite://:memory:",
            "jdbc:sqlite::memory:",
            ":memory:",
        ] {
            assert_eq!(Database::from_uri(uri).unwrap(), Database::Memory, "{uri}");
        }
    }

    #[test]
    fn other_databases_are_refused_without_their_passwords() {
        let error = Database::from_uri("jdbc:postgresql://me:secret@host/db").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert!(error.to_string().contains("postgresql"));
        assert!(!error.to_string().contains("secret"));
        assert_eq!(
            Database::from_uri("sqlite:").unwrap_err().kind(),
            ErrorKind::InvalidInput
        );
    }
}
