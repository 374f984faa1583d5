//! Finding the current metadata file of a table directory.
//!
//! Versions are `metadata/vN.metadata.json`; `version-hint.text` names one that was current once. The truth is the
//! highest version that exists: the hint only saves listing the directory, and is not believed where it could mislead.

use std::cmp::Reverse;
use std::time::Duration;

use tarn_format::io::location::{file_name, join};
use tarn_format::io::{FileIo, FileStatus};
use tarn_format::{ErrorKind, Result};

/// Where writers leave the version they made last.
pub(super) const VERSION_HINT: &str = "version-hint.text";

/// The longest hint that is read: a name, not a document.
const MAX_HINT_BYTES: u64 = 1024;

/// How many looks must agree that there is no version although a hint names one.
const LOOKS_WITH_HINT: u64 = 12;

/// How many looks must agree that there is no version among other files.
const LOOKS_WITHOUT_HINT: u64 = 3;

/// How names of versions end, in the order in which readers prefer them (Java: `HadoopTableOperations`).
const EXTENSIONS: [&str; 3] = [".metadata.json", ".gz.metadata.json", ".metadata.json.gz"];

/// A metadata file of a directory table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum CurrentMetadata {
    /// `vN.metadata.json` of a directory catalog.
    Version {
        /// N.
        number: u64,
        /// Location of the file.
        location: String,
    },
    /// A file that another kind of catalog named, such as `00001-….metadata.json`. Nobody can tell from the directory
    /// whether it is current: it may be read, not committed to.
    Foreign {
        /// Location of the file.
        location: String,
    },
}

impl CurrentMetadata {
    /// Location of the file.
    pub(super) fn location(&self) -> &str {
        match self {
            CurrentMetadata::Version { location, .. } | CurrentMetadata::Foreign { location } => location,
        }
    }
}

/// The directory of a table's metadata files.
pub(super) fn metadata_dir(table_location: &str) -> String {
    join(table_location, "metadata")
}

/// Where we write version `number`.
pub(super) fn version_location(table_location: &str, number: u64) -> String {
    join(&metadata_dir(table_location), &format!("v{number}.metadata.json"))
}

/// The number in the name of a version, compressed or not; `None` for any other name.
pub(super) fn version_number(name: &str) -> Option<u64> {
    let rest = name.strip_prefix('v')?;
    EXTENSIONS.iter().find_map(|extension| {
        let digits = rest.strip_suffix(extension)?;
        let canonical = digits == "0" || (!digits.starts_with('0') && digits.bytes().all(|b| b.is_ascii_digit()));
        canonical.then(|| digits.parse().ok()).flatten()
    })
}

/// Whether a name is that of a metadata file of any catalog.
pub(super) fn is_metadata_file(name: &str) -> bool {
    EXTENSIONS.iter().any(|e| name.len() > e.len() && name.ends_with(e))
}

/// The current metadata file of the table in this directory; `None` where there is none.
///
/// Copes with a hint that is missing, empty, misnamed, stale or ahead, with versions of other writers that are
/// compressed, and with directories written by other catalogs.
///
/// # Errors
/// Those of storage.
pub(super) async fn current_metadata(io: &FileIo, table_location: &str) -> Result<Option<CurrentMetadata>> {
    let mut look = 1;
    loop {
        let hint = read_hint(io, table_location).await?;
        let hinted = hint.as_deref().and_then(|h| h.parse::<u64>().ok());
        if let Some(number) = hinted
            && let Some(found) = follow_hint(io, table_location, number).await?
        {
            return Ok(Some(found));
        }
        let names = metadata_names(io, table_location).await?;
        if let Some((number, name)) = highest_version(&names) {
            let location = join(&metadata_dir(table_location), name);
            return Ok(Some(CurrentMetadata::Version { number, location }));
        }
        // A listing may miss versions that come and go while it runs. A hint of one says that there is a table; other
        // files, that there may be one.
        let patience = match (hinted, names.is_empty()) {
            (Some(_), _) => LOOKS_WITH_HINT,
            (None, false) => LOOKS_WITHOUT_HINT,
            (None, true) => 0,
        };
        if look >= patience {
            let foreign = foreign_current(&names, hint.as_deref());
            return Ok(foreign.map(|name| CurrentMetadata::Foreign {
                location: join(&metadata_dir(table_location), name),
            }));
        }
        tokio::time::sleep(Duration::from_millis(look)).await;
        look += 1;
    }
}

/// Goes from the hinted version to the last one after it.
///
/// `None` where a listing must decide: the hinted version or the one before it is gone. The latter betrays a version
/// that a late writer made again after it was deleted ([`super::sweep`]) and could not take back: of the versions that
/// count, the last two are always kept, and they are deleted in ascending order only.
async fn follow_hint(io: &FileIo, table_location: &str, hinted: u64) -> Result<Option<CurrentMetadata>> {
    let Some(before) = hinted.checked_sub(1).filter(|b| *b > 0) else {
        return Ok(None);
    };
    let Some(mut location) = existing(io, table_location, hinted).await? else {
        return Ok(None);
    };
    if existing(io, table_location, before).await?.is_none() {
        return Ok(None);
    }
    let mut number = hinted;
    while let Some(next) = number.checked_add(1) {
        match existing(io, table_location, next).await? {
            Some(found) => (number, location) = (next, found),
            None => break,
        }
    }
    Ok(Some(CurrentMetadata::Version { number, location }))
}

/// The file of a version, under any of its names.
pub(super) async fn existing(io: &FileIo, table_location: &str, number: u64) -> Result<Option<String>> {
    for extension in EXTENSIONS {
        let location = join(&metadata_dir(table_location), &format!("v{number}{extension}"));
        if io.exists(&location).await? {
            return Ok(Some(location));
        }
    }
    Ok(None)
}

async fn read_hint(io: &FileIo, table_location: &str) -> Result<Option<String>> {
    let location = join(&metadata_dir(table_location), VERSION_HINT);
    match io.size(&location).await {
        Ok(size) if size <= MAX_HINT_BYTES => {}
        Ok(_) => return Ok(None),
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(e),
    }
    match io.read(&location).await {
        Ok(bytes) => {
            let text = String::from_utf8_lossy(&bytes);
            let line = text.lines().next().unwrap_or_default().trim().to_owned();
            Ok(Some(line).filter(|l| !l.is_empty()))
        }
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(None),
        Err(e) => Err(e),
    }
}

/// What became of a hint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hint {
    /// It names the version, or a higher one that stands.
    Left,
    /// It may name a lower one.
    Failed,
}

/// Leaves the hint, unless it names a higher version that stands: lowering it could lead readers to versions made again
/// after they were deleted. Failing to costs readers a listing, never a commit, so it is only logged.
pub(super) async fn raise_hint(io: &FileIo, table_location: &str, number: u64) -> Hint {
    match names_higher_version(io, table_location, number).await {
        Ok(true) => return Hint::Left,
        Ok(false) => {}
        Err(error) => tracing::warn!(table_location, %error, "the version hint could not be read"),
    }
    let location = hint_location(table_location);
    match io.write(&location, number.to_string().into()).await {
        Ok(()) => Hint::Left,
        Err(error) => {
            tracing::warn!(file = location, %error, "the version hint could not be written");
            Hint::Failed
        }
    }
}

async fn names_higher_version(io: &FileIo, table_location: &str, number: u64) -> Result<bool> {
    let hint = read_hint(io, table_location).await?;
    match hint.and_then(|h| h.parse::<u64>().ok()).filter(|h| *h > number) {
        Some(hinted) => Ok(existing(io, table_location, hinted).await?.is_some()),
        None => Ok(false),
    }
}

/// Where the hint is.
pub(super) fn hint_location(table_location: &str) -> String {
    join(&metadata_dir(table_location), VERSION_HINT)
}

/// Names of all files in the metadata directory; none where there is no directory.
pub(super) async fn metadata_names(io: &FileIo, table_location: &str) -> Result<Vec<String>> {
    let files = metadata_files(io, table_location).await?;
    Ok(files.iter().map(|f| file_name(&f.location).to_owned()).collect())
}

/// All files in the metadata directory; none where there is no directory.
pub(super) async fn metadata_files(io: &FileIo, table_location: &str) -> Result<Vec<FileStatus>> {
    match io.list_dir(&metadata_dir(table_location)).await {
        Ok(listing) => Ok(listing.files),
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        Err(e) => Err(e),
    }
}

/// The highest version among names. Of several files of one version the one that readers prefer.
pub(super) fn highest_version(names: &[String]) -> Option<(u64, &str)> {
    let versions = names.iter().filter_map(|n| Some((version_number(n)?, n.as_str())));
    versions.max_by_key(|(number, name)| (*number, Reverse(preference(name))))
}

/// Lower is preferred. The longer names end like the shorter ones, so the longest match tells.
fn preference(name: &str) -> usize {
    EXTENSIONS.iter().rposition(|e| name.ends_with(e)).unwrap_or(0)
}

/// The file that a foreign hint names, else the one with the highest number in front.
fn foreign_current<'a>(names: &'a [String], hint: Option<&str>) -> Option<&'a str> {
    let files = || names.iter().map(String::as_str).filter(|n| is_metadata_file(n));
    if let Some(hint) = hint {
        let named = files().find(|n| EXTENSIONS.iter().any(|e| n.strip_suffix(e) == Some(hint)) || *n == hint);
        if named.is_some() {
            return named;
        }
    }
    files().max_by_key(|n| (leading_number(n), *n))
}

fn leading_number(name: &str) -> Option<u64> {
    name.split_once('-')?.0.parse().ok()
}

#[cfg(test)]
mod tests;
