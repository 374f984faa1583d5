//! Dropping a directory table.
//!
//! The table is there as long as its highest version is. So that version goes last of the metadata, and before anything
//! it needs: a drop that dies in between leaves the whole table, or orphans in a directory that is no table.

use tarn_format::catalog::{Purge, TableIdent};
use tarn_format::io::location::join;
use tarn_format::io::{DeleteDir, FileIo};
use tarn_format::spec::table_metadata::TableMetadata;
use tarn_format::{Error, Result, ResultExt};

use super::versions::{self, is_metadata_file, metadata_dir, version_number};
use crate::metadata_ops::purge::{delete_table_files, gc_enabled};

/// How many listings must agree that no metadata file is left among other files.
const EMPTY_LISTINGS: u32 = 3;

/// How often commits that land during the drop are swept away.
const MAX_SWEEPS: u32 = 64;

/// Drops the table whose current metadata is `metadata` at `location` (`None` when unreadable).
///
/// As in Java, the directory goes with everything in it, even without purge: a directory that stayed would look like a
/// namespace. Purging also deletes files elsewhere that the metadata reaches. With `gc.enabled=false` only metadata
/// files go, so that data another table may use stays.
pub(super) async fn drop_table(
    io: &FileIo,
    ident: &TableIdent,
    table_location: &str,
    (metadata, location): (Option<&TableMetadata>, &str),
    purge: Purge,
) -> Result<()> {
    delete_versions(io, table_location)
        .await
        .context("table", ident.to_string())?;
    let Some(metadata) = metadata else {
        tracing::warn!(table = %ident, "metadata of a dropped table is unreadable, files outside its directory stay behind");
        return delete_directory(io, ident, table_location).await;
    };
    if purge == Purge::Delete {
        delete_table_files(io, ident, metadata, location).await;
    }
    if gc_enabled(&metadata.properties) {
        return delete_directory(io, ident, table_location).await;
    }
    Ok(())
}

/// Deletes all metadata files, the current one last, until no commit adds another.
async fn delete_versions(io: &FileIo, table_location: &str) -> Result<()> {
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
        delete_names(io, table_location, &earlier).await?;
        io.delete(&versions::hint_location(table_location)).await?;
        // Of one version under several names the preferred one goes last.
        delete_names(io, table_location, &last).await?;
    }
    Err(Error::conflict(
        "commits keep arriving at the table, it was not dropped",
    ))
}

async fn delete_names(io: &FileIo, table_location: &str, names: &[&str]) -> Result<()> {
    for name in names {
        io.delete(&join(&metadata_dir(table_location), name)).await?;
    }
    Ok(())
}

/// The table is gone by now: what cannot be deleted is an orphan.
async fn delete_directory(io: &FileIo, ident: &TableIdent, table_location: &str) -> Result<()> {
    if let Err(error) = io.delete_dir(table_location, DeleteDir::WithContents).await {
        tracing::warn!(table = %ident, %error, "the directory of a dropped table could not be deleted");
    }
    Ok(())
}
