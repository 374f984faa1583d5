//! Locations: the strings by which metadata names files.
//!
//! A location is `scheme://authority/path`, `scheme:/path`, or a bare path. Iceberg never URL-encodes them: a `%20`
//! in a location is three characters of the file's name, and `#` and `?` are ordinary. Nothing here touches storage.

use std::path::Path as FsPath;

use object_store::path::Path;

use crate::error::{Error, Result};

/// A location taken apart. The parts borrow from the string, unchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Location<'a> {
    /// The scheme as written, without colon; empty for a bare path.
    pub scheme: &'a str,
    /// Bucket, container or host; empty when there is none.
    pub authority: &'a str,
    /// The rest. Starts with `/` unless the location is relative or ends after the authority.
    pub path: &'a str,
}

impl<'a> Location<'a> {
    /// Takes a location apart. Never fails: what is no URI is a bare path.
    pub fn parse(location: &'a str) -> Self {
        let bare = Location {
            scheme: "",
            authority: "",
            path: location,
        };
        let Some((scheme, rest)) = location.split_once(':') else {
            return bare;
        };
        if !is_scheme(scheme) || !rest.starts_with('/') {
            return bare;
        }
        let Some(after) = rest.strip_prefix("//") else {
            return Location {
                scheme,
                authority: "",
                path: rest,
            };
        };
        let end = after.find('/').unwrap_or(after.len());
        let (authority, path) = after.split_at(end);
        Location {
            scheme,
            authority,
            path,
        }
    }

    /// The name under which stores are registered: lower case, with the aliases of one store made equal
    /// (`s3a` and `s3n` are `s3`, `abfss` is `abfs`, a bare path is `file`).
    pub fn store_scheme(&self) -> String {
        let scheme = self.scheme.to_ascii_lowercase();
        match scheme.as_str() {
            "" => "file".to_string(),
            "s3a" | "s3n" => "s3".to_string(),
            "abfss" => "abfs".to_string(),
            "wasbs" => "wasb".to_string(),
            "gcs" => "gs".to_string(),
            _ => scheme,
        }
    }

    /// Whether the authority names hosts that serve a file system: not part of what tells files apart.
    fn has_host_authority(&self) -> bool {
        ["hdfs", "viewfs", "file"]
            .iter()
            .any(|scheme| self.scheme.eq_ignore_ascii_case(scheme))
    }

    /// Whether this names a local file.
    pub fn is_local(&self) -> bool {
        self.scheme.is_empty() || self.scheme.eq_ignore_ascii_case("file")
    }
}

fn is_scheme(s: &str) -> bool {
    s.starts_with(|c: char| c.is_ascii_alphabetic())
        && s.bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.'))
}

/// The path of a location without scheme and authority: equal for two spellings of one file, so a key to look them up
/// by. Two files in different stores may have it in common: whether they are one is for [`spelling`] to say.
///
/// ```
/// use tarn_format::io::location::path_key;
/// assert_eq!(path_key("s3a://bucket/t/data/f.parquet"), "/t/data/f.parquet");
/// assert_eq!(path_key("file:/t/data/f.parquet"), path_key("/t/data/f.parquet"));
/// ```
pub fn path_key(location: &str) -> &str {
    Location::parse(location).path
}

/// How close two spellings of one file's location are, see [`spelling`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Spelling {
    /// The same path, and authorities that differ but do not tell files apart.
    SamePath,
    /// The same path, and one of the two does not say in which store.
    Unplaced,
    /// The same path in the same store: surely one file.
    SameStore,
    /// The same string.
    Exact,
}

impl Spelling {
    /// The farthest spelling that still names the same file when this is the closest that was found: another host of the
    /// same path only counts where nothing closer does.
    pub fn farthest_beside(self) -> Spelling {
        match self {
            Spelling::SamePath => Spelling::SamePath,
            _ => Spelling::Unplaced,
        }
    }
}

/// Whether two locations name one file, and how closely they are spelled; `None` when they name two.
///
/// Equal strings do. Otherwise their paths must be equal, and
/// - either the authorities are equal and the schemes name one store (`s3`, `s3a` and `s3n` do, and `file:///t/f`,
///   `file:/t/f` and `/t/f`, see [`Location::store_scheme`]): [`Spelling::SameStore`],
/// - or one of the two has no scheme or no authority (`/t/f`, `file:/t/f`), so that its path is all it tells:
///   [`Spelling::Unplaced`],
/// - or both are of a file system whose authority tells hosts, not stores (`hdfs`, `viewfs`, `file`):
///   [`Spelling::SamePath`].
///
/// One key in two buckets is two files.
///
/// This is the only rule by which the paths of files are compared. Readers apply deletes of any spelling, closer ones
/// first, for a delete left out brings rows back; commits take any spelling for a possible conflict, for the same reason;
/// but only what is surely one file is removed, or taken for added already.
///
/// ```
/// use tarn_format::io::location::{Spelling, spelling};
/// assert_eq!(spelling("s3://b/t/f", "s3a://b/t/f"), Some(Spelling::SameStore));
/// assert_eq!(spelling("hdfs://nn1:8020/t/f", "hdfs://nn2/t/f"), Some(Spelling::SamePath));
/// assert_eq!(spelling("s3://b1/t/f", "s3://b2/t/f"), None);
/// ```
pub fn spelling(a: &str, b: &str) -> Option<Spelling> {
    if a == b {
        return Some(Spelling::Exact);
    }
    let (a, b) = (Location::parse(a), Location::parse(b));
    let is_bare = |l: &Location<'_>| l.scheme.is_empty() || l.authority.is_empty();
    if a.path != b.path {
        None
    } else if a.authority == b.authority && a.store_scheme() == b.store_scheme() {
        Some(Spelling::SameStore)
    } else if is_bare(&a) || is_bare(&b) {
        Some(Spelling::Unplaced)
    } else if a.has_host_authority() && b.has_host_authority() {
        Some(Spelling::SamePath)
    } else {
        None
    }
}

/// Whether two locations name one file, by the rule of [`spelling`].
pub fn same_file(a: &str, b: &str) -> bool {
    spelling(a, b).is_some()
}

/// Joins a base location and a relative path with exactly one `/` between them.
pub fn join(base: &str, relative: &str) -> String {
    let base = match strip_trailing_slash(base) {
        "/" => "",
        base => base,
    };
    format!("{base}/{}", relative.trim_start_matches('/'))
}

/// The location without its trailing slashes, as Java's `LocationUtil.stripTrailingSlash`: the slashes of a bare
/// `scheme://` stay.
pub fn strip_trailing_slash(location: &str) -> &str {
    let mut rest = location;
    while let Some(shorter) = rest.strip_suffix('/') {
        if shorter.ends_with(":/") || shorter.is_empty() {
            break;
        }
        rest = shorter;
    }
    rest
}

/// The last path segment: the file's name. Empty when the location ends in `/`.
pub fn file_name(location: &str) -> &str {
    path_key(location).rsplit('/').next().unwrap_or("")
}

/// The location of the directory that holds this file; `None` at the root.
pub fn parent(location: &str) -> Option<&str> {
    let trimmed = strip_trailing_slash(location);
    let path = path_key(trimmed);
    let cut = path.rfind('/')?;
    if path.len() == 1 {
        return None;
    }
    // A file directly below the root of a bare path has the root itself as parent.
    let keep = trimmed.len() - path.len() + cut;
    Some(if keep == 0 { "/" } else { &trimmed[..keep] })
}

/// The absolute location of a local path given by a user: relative paths start at the working directory, `.`, `..`
/// and symbolic links are resolved as far as the path exists.
///
/// # Errors
/// `InvalidInput` for a path that is not UTF-8 or cannot be made absolute.
pub fn from_local_path(path: &FsPath) -> Result<String> {
    let bad = |why: &str| Error::invalid(why).with_context("path", path.display().to_string());
    let absolute = std::path::absolute(path).map_err(|e| bad("not a usable path").with_source(e))?;
    let mut missing = Vec::new();
    let mut existing = absolute.as_path();
    let resolved = loop {
        match existing.canonicalize() {
            Ok(resolved) => break resolved,
            Err(_) => match (existing.parent(), existing.file_name()) {
                (Some(parent), Some(name)) => {
                    missing.push(name);
                    existing = parent;
                }
                _ => return Err(bad("path has a '..' that cannot be resolved")),
            },
        }
    };
    let full = missing.iter().rev().fold(resolved, |p, name| p.join(name));
    full.to_str()
        .map(str::to_string)
        .ok_or_else(|| bad("path is not valid UTF-8"))
}

/// Refuses a location with a `.` or `..` segment: metadata must not reach files outside of what it names.
///
/// # Errors
/// `InvalidInput` naming the location and the segment.
pub fn refuse_climbing(location: &str) -> Result<()> {
    let parsed = Location::parse(location);
    for part in std::iter::once(parsed.authority).chain(parsed.path.split('/')) {
        if part == ".." || part == "." {
            return Err(Error::invalid(format!("location has a '{part}' segment")).with_context("file", location));
        }
    }
    Ok(())
}

/// How a location becomes the key of an object in a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Addressing {
    /// The path alone: the store is one bucket, or the local file system.
    Path,
    /// The authority is the key's first segment: one store holds every bucket of its scheme.
    AuthorityAndPath,
}

/// What a doubled `/` in a path means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EmptySegments {
    /// Nothing, as in a file system.
    Collapse,
    /// Another key, as in an object store; such keys cannot be addressed.
    Refuse,
}

/// The key of the location's object. Characters stay as they are.
///
/// # Errors
/// `InvalidInput` for `.`/`..` segments and control characters, `Unsupported` for empty segments where they matter.
pub(crate) fn object_path(location: &str, addressing: Addressing, empty: EmptySegments) -> Result<Path> {
    refuse_climbing(location)?;
    let parsed = Location::parse(location);
    let mut key = String::with_capacity(location.len());
    if addressing == Addressing::AuthorityAndPath {
        key.push_str(parsed.authority);
    }
    let trimmed = parsed.path.trim_start_matches('/').trim_end_matches('/');
    for segment in trimmed.split('/') {
        if segment.is_empty() {
            if empty == EmptySegments::Refuse && !trimmed.is_empty() {
                return Err(
                    Error::unsupported("location has an empty path segment ('//')").with_context("file", location)
                );
            }
            continue;
        }
        if !key.is_empty() {
            key.push('/');
        }
        key.push_str(segment);
    }
    Path::parse(&key).map_err(|e| {
        Error::invalid("location has a character that no file name may have")
            .with_context("file", location)
            .with_source(e)
    })
}

#[cfg(test)]
mod tests;
