//! Dropping a directory table.
//!
//! Where directories can be renamed, the table's directory takes a hidden name first, in one step: the name is free when
//! nothing of the old table is reachable under it any more, and what a killed drop leaves is hidden.
//!
//! Elsewhere the table is there as long as its highest version is. So that version goes last of the metadata, and
//! before anything it needs: a drop that dies in between leaves the whole table, or orphans in a directory that is no
//! table. From then on another table may grow in the place. So the files to delete are those seen before, and metadata
//! files, whose names come again, are not among them.

use tarn_format::catalog::{Purge, TableIdent, gc_enabled};
use tarn_format::io::location::{file_name, join};
use tarn_format::io::{DeleteDir, FileIo};
use tarn_format::spec::table_metadata::TableMetadata;
use tarn_format::{Error, ErrorKind, Result, ResultExt};

use super::namespaces::tombstone_of;
use super::versions::{self, VERSION_HINT, is_metadata_file, metadata_dir, version_number};
use crate::metadata_ops::purge::reachable_files;

/// How many listings must agree that no metadata file is left among other files.
const EMPTY_LISTINGS: u32 = 3;

/// How often commits that land during the drop are swept away.
const MAX_SWEEPS: u32 = 64;

/// Drops the table whose current metadata is `metadata` (`None` when unreadable).
///
/// As in Java, the directory goes with everything in it, even without purge: a directory that stayed would look like a
/// namespace. Purging also deletes files elsewhere that the metadata reaches. With `gc.enabled=false` only metadata
/// files go, so that data another table may use stays.
pub(super) async fn drop_table(
    io: &FileIo,
    ident: &TableIdent,
    table_location: &str,
    metadata: Option<&TableMetadata>,
    purge: Purge,
) -> Result<()> {
    if metadata.is_none() {
        tracing::warn!(table = %ident, "metadata of a dropped table is unreadable, files outside its directory stay behind");
    }
    let mut doomed = match metadata {
        Some(metadata) if purge == Purge::Delete => purged_files(io, metadata).await,
        _ => Vec::new(),
    };
    if metadata.is_none_or(|m| gc_enabled(&m.properties)) {
        if let Some(tombstone) = hide(io, table_location).await.context("table", ident.to_string())? {
            let inside = join(table_location, "");
            doomed.retain(|file| !file.starts_with(&inside));
            delete_files(io, ident, &doomed).await;
            delete_directory(io, ident, &tombstone, DeleteDir::WithContents).await;
            return Ok(());
        }
        let found = io.list(table_location).await.context("table", ident.to_string())?;
        let found = found.into_iter().map(|f| f.location);
        doomed.extend(found.filter(|file| !may_come_again(file)));
    }
    delete_versions(io, table_location, metadata)
        .await
        .context("table", ident.to_string())?;
    delete_files(io, ident, &doomed).await;
    if metadata.is_none_or(|m| gc_enabled(&m.properties)) {
        delete_directory(io, ident, table_location, DeleteDir::IfEmpty).await;
    }
    Ok(())
}

/// All that the metadata of a table reaches, but for files of which a new table in its place may have its own.
async fn purged_files(io: &FileIo, metadata: &TableMetadata) -> Vec<String> {
    let mut files = reachable_files(io, metadata).await;
    files.extend(metadata.metadata_log.iter().map(|e| e.metadata_file.clone()));
    files.retain(|file| !may_come_again(file));
    files
}

/// Whether a new table in the same place may have a file of this name.
fn may_come_again(location: &str) -> bool {
    let name = file_name(location);
    version_number(name).is_some() || name == VERSION_HINT
}

/// Renames the directory of a table to a hidden name, which it returns; `None` where directories cannot be renamed.
async fn hide(io: &FileIo, table_location: &str) -> Result<Option<String>> {
    let tombstone = tombstone_of(table_location);
    match io.rename_dir(table_location, &tombstone).await {
        Ok(()) => Ok(Some(tombstone)),
        Err(e) if e.kind() == ErrorKind::Unsupported => Ok(None),
        Err(e) if e.kind() == ErrorKind::NotFound => Err(Error::not_found("another process dropped the table")),
        Err(e) => Err(e),
    }
}

/// Deletes all metadata files, the current one last, until no commit adds another or another table has taken the place.
async fn delete_versions(io: &FileIo, table_location: &str, dropped: Option<&TableMetadata>) -> Result<()> {
    let mut empty_listings = 0;
    for _ in 0..MAX_SWEEPS {
        let names = versions::metadata_names(io, table_location).await?;
        let mut doomed: Vec<&str> = names
            .iter()
            .map(String::as_str)
            .filter(|n| is_metadata_file(n))
            .collect();
        if doomed.is_empty() {
            // A listing may miss files that come and go while it runs.
            empty_listings += 1;
            if names.is_empty() || empty_listings == EMPTY_LISTINGS {
                return Ok(());
            }
            continue;
        }
        doomed.sort_by_key(|n| (version_number(n), *n));
        let highest = version_number(doomed.last().copied().unwrap_or_default());
        // All files of the highest version count as current; of foreign ones the last by name.
        let (last, earlier): (Vec<&str>, Vec<&str>) = match highest {
            Some(_) => doomed.iter().partition(|n| version_number(n) == highest),
            None => doomed
                .split_last()
                .map(|(last, rest)| (vec![*last], rest.to_vec()))
                .unwrap_or_default(),
        };
        if is_another_table(io, table_location, &last, dropped).await? {
            return Ok(());
        }
        delete_names(io, table_location, &earlier).await?;
        io.delete(&versions::hint_location(table_location)).await?;
        // Of one version under several names the preferred one goes last.
        delete_names(io, table_location, &last).await?;
    }
    Err(Error::conflict(
        "commits keep arriving at the table, it was not dropped",
    ))
}

/// Whether the current version is of another table than the dropped one. What cannot be read is taken for the latter.
async fn is_another_table(
    io: &FileIo,
    table_location: &str,
    current: &[&str],
    dropped: Option<&TableMetadata>,
) -> Result<bool> {
    let (Some(dropped), Some(name)) = (dropped, current.last()) else {
        return Ok(false);
    };
    match TableMetadata::read(io, &join(&metadata_dir(table_location), name)).await {
        Ok(found) => Ok(found.table_uuid != dropped.table_uuid),
        Err(e)
            if matches!(
                e.kind(),
                ErrorKind::NotFound | ErrorKind::Corrupt | ErrorKind::Unsupported
            ) =>
        {
            Ok(false)
        }
        Err(e) => Err(e),
    }
}

async fn delete_names(io: &FileIo, table_location: &str, names: &[&str]) -> Result<()> {
    for name in names {
        io.delete(&join(&metadata_dir(table_location), name)).await?;
    }
    Ok(())
}

/// The table is gone by now: what cannot be deleted is an orphan.
async fn delete_files(io: &FileIo, ident: &TableIdent, files: &[String]) {
    for error in io.delete_many(files).await {
        tracing::warn!(table = %ident, %error, "a file of a dropped table could not be deleted");
    }
}

/// As [`delete_files`]. A directory with something in it is another table's by now.
async fn delete_directory(io: &FileIo, ident: &TableIdent, directory: &str, what: DeleteDir) {
    match io.delete_dir(directory, what).await {
        Err(e) if e.kind() == ErrorKind::NotEmpty => {}
        Err(error) => {
            tracing::warn!(table = %ident, %error, "the directory of a dropped table could not be deleted");
        }
        Ok(()) => {}
    }
}

#[cfg(test)]
mod tests;
