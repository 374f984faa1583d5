//! Finding the current metadata file of a table (or view) that is known only by its directory.
//!
//! Without a catalog nobody can say for sure which file is current: the hint of hadoop tables, and the highest
//! version number in the file names, are what all writers leave behind.

use crate::error::{Error, ErrorKind, Result, ResultExt};
use crate::io::{FileIo, FileStatus, location};

/// The file in which hadoop tables note their current version.
pub const VERSION_HINT: &str = "version-hint.text";

/// The directory below a table's own in which its metadata lies.
pub const METADATA_DIRECTORY: &str = "metadata";

/// The location of the newest metadata file below `directory`: in its `metadata` directory, or directly in it.
///
/// The version hint counts as the lowest version that may be current, as in Java's `HadoopTableOperations`: a higher
/// version beside it wins. Names are `vN.metadata.json` and `N-UUID.metadata.json`, with or without a codec
/// (`vN.gz.metadata.json`, `vN.metadata.json.gz`). A hint that is no number names the file, as DuckDB leaves it
/// (`UUID` for `UUID.metadata.json`).
///
/// # Errors
/// `NotFound` when the directory does not exist or holds no metadata file.
pub async fn newest_metadata_file(io: &FileIo, directory: &str) -> Result<String> {
    let metadata = location::join(directory, METADATA_DIRECTORY);
    let listing = match io.list_dir(&metadata).await {
        Err(e) if e.kind() == ErrorKind::NotFound => io.list_dir(directory).await?,
        listed => listed?,
    };
    let hint = match listing
        .files
        .iter()
        .find(|f| location::file_name(&f.location) == VERSION_HINT)
    {
        Some(hint) => read_hint(io, hint).await?,
        None => None,
    };
    let hinted = match hint {
        Some(Hint::Version(version)) => Some(version),
        Some(Hint::Name(name)) => match listing.files.iter().find(|f| is_named(&f.location, &name)) {
            Some(file) => return Ok(file.location.clone()),
            None => None,
        },
        None => None,
    };
    let mut candidates: Vec<(i64, &FileStatus)> = Vec::new();
    for file in &listing.files {
        if let Some(version) = version_of(location::file_name(&file.location)) {
            candidates.push((version, file));
        }
    }
    // Of several files of one version (a commit that lost) the last written is the best guess.
    let newest = candidates
        .iter()
        .max_by_key(|(version, file)| (*version, file.last_modified_ms));
    match (newest, hinted) {
        (Some((version, _)), Some(hinted)) if *version < hinted => Err(Error::not_found(format!(
            "the version hint says {hinted}, but the newest metadata file is version {version}"
        ))),
        (Some((_, file)), _) => Ok(file.location.clone()),
        (None, _) => Err(Error::not_found("no metadata file in this directory")),
    }
    .context("directory", directory)
}

/// The version in a metadata file's name; `None` for other files.
pub fn version_of(file_name: &str) -> Option<i64> {
    let stem = file_name
        .strip_suffix(".metadata.json")
        .or_else(|| file_name.strip_suffix(".metadata.json.gz"))?;
    let digits = stem.strip_prefix('v').unwrap_or(stem);
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    digits.get(..end)?.parse().ok()
}

/// What a hint file says.
enum Hint {
    Version(i64),
    /// A metadata file's name, in full or without its ending.
    Name(String),
}

/// What the hint file says; `None` when it makes no sense.
async fn read_hint(io: &FileIo, hint: &FileStatus) -> Result<Option<Hint>> {
    /// Names of metadata files are shorter; a longer hint is none.
    const LONGEST_HINT_BYTES: u64 = 256;
    if hint.size_bytes > LONGEST_HINT_BYTES {
        return Ok(None);
    }
    let bytes = io.read(&hint.location).await?;
    let text = std::str::from_utf8(&bytes).map_or("", str::trim);
    Ok(match text.parse() {
        Ok(version) => Some(Hint::Version(version)),
        Err(_) if text.is_empty() => None,
        Err(_) => Some(Hint::Name(text.to_string())),
    })
}

/// Whether a metadata file's name, or what is before its ending, is this.
fn is_named(file: &str, name: &str) -> bool {
    let file = location::file_name(file);
    let stem = [".metadata.json", ".metadata.json.gz"]
        .iter()
        .find_map(|ending| file.strip_suffix(ending));
    stem.is_some_and(|stem| stem == name || file == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_from_names() {
        for (name, version) in [
            ("v3.metadata.json", Some(3)),
            ("v12.gz.metadata.json", Some(12)),
            ("v12.metadata.json.gz", Some(12)),
            ("00007-9f2a.metadata.json", Some(7)),
            ("00007-9f2a.gz.metadata.json", Some(7)),
            ("v1749025517.metadata.json", Some(1_749_025_517)),
            ("metadata.json", None),
            ("x.metadata.json", None),
            ("v99999999999999999999.metadata.json", None),
            ("snap-1.avro", None),
        ] {
            assert_eq!(version_of(name), version, "{name}");
        }
    }

    async fn directory(files: &[(&str, &str)]) -> FileIo {
        let io = FileIo::memory();
        for (name, text) in files {
            let location = format!("/t/metadata/{name}");
            io.write(&location, bytes::Bytes::copy_from_slice(text.as_bytes()))
                .await
                .unwrap();
        }
        io
    }

    #[tokio::test]
    async fn the_highest_version_wins_over_an_older_hint() {
        let io = directory(&[("v2.metadata.json", ""), ("v10.metadata.json", ""), (VERSION_HINT, "2")]).await;
        assert_eq!(
            newest_metadata_file(&io, "/t").await.unwrap(),
            "/t/metadata/v10.metadata.json"
        );
        // The metadata directory itself may be named too.
        assert_eq!(
            newest_metadata_file(&io, "/t/metadata").await.unwrap(),
            "/t/metadata/v10.metadata.json"
        );
    }

    #[tokio::test]
    async fn a_hint_may_name_the_file() {
        let name = "c210c9d1-128f.metadata.json";
        for hint in ["c210c9d1-128f", "c210c9d1-128f.metadata.json\n"] {
            let io = directory(&[(name, ""), ("9b98ddd0-f3ac.metadata.json", ""), (VERSION_HINT, hint)]).await;
            assert_eq!(
                newest_metadata_file(&io, "/t").await.unwrap(),
                format!("/t/metadata/{name}")
            );
        }
        // A name of nothing, or of another kind of file, is no hint.
        for hint in ["c210", "snap-1.avro", "../c210c9d1-128f"] {
            let io = directory(&[("v2.metadata.json", ""), ("snap-1.avro", ""), (VERSION_HINT, hint)]).await;
            assert_eq!(
                newest_metadata_file(&io, "/t").await.unwrap(),
                "/t/metadata/v2.metadata.json"
            );
        }
    }

    #[tokio::test]
    async fn a_hint_beyond_all_files_and_an_empty_directory_are_told() {
        let io = directory(&[("v2.metadata.json", ""), (VERSION_HINT, "3\n")]).await;
        let error = newest_metadata_file(&io, "/t").await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
        assert!(error.to_string().contains("hint says 3"), "{error}");

        let io = directory(&[("snap-1.avro", "")]).await;
        let error = newest_metadata_file(&io, "/t").await.unwrap_err();
        assert!(error.to_string().contains("no metadata file"), "{error}");
    }
}
