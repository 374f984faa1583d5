//! Committing a version of a directory table.
//!
//! The commit point is the exclusive creation of `vN.metadata.json`, N one above the base. That alone is not enough: a
//! late writer could make a version again that was deleted after a newer commit, or revive a table that was dropped.
//! So the directory is listed afterwards, and a version that does not continue the table is taken back.

use std::time::Instant;

use tarn_format::catalog::TableIdent;
use tarn_format::io::FileIo;
use tarn_format::io::location::{Location, file_name, join};
use tarn_format::spec::table_metadata::TableMetadata;
use tarn_format::{Error, ErrorKind, Result, ResultExt};

use super::versions::{self, metadata_dir, version_location, version_number};
use crate::metadata_ops::file::{MetadataFile, discard};
use crate::metadata_ops::retire::delete_removed_metadata;
use crate::metadata_ops::status::StatusChecks;
use crate::pointers::{EntryKind, existing_entry};

/// How often the fate of a version is looked up while other writers go on.
const MAX_LOOKS: u32 = 16;

/// The version a commit was made from.
#[derive(Debug, Clone, Copy)]
pub(super) struct Base<'a> {
    pub number: u64,
    pub metadata: &'a TableMetadata,
}

/// A version that is to follow its base, or to be the first.
#[derive(Debug)]
pub(super) struct NewVersion<'a> {
    pub io: &'a FileIo,
    pub ident: &'a TableIdent,
    /// The table's directory.
    pub table_location: &'a str,
    /// `None` creates the table.
    pub base: Option<Base<'a>>,
    pub metadata: &'a TableMetadata,
}

/// What became of a version that was created.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It is current, or newer ones were made from it.
    Committed,
    /// The table went on without it.
    Lost,
    /// The table was dropped.
    Dropped,
    /// The table went on so far that nobody can tell.
    Unclear,
}

impl NewVersion<'_> {
    fn number(&self) -> u64 {
        self.base.map_or(1, |b| b.number.saturating_add(1))
    }

    /// Writes the version and returns its location once it is surely part of the table.
    pub(super) async fn commit(&self) -> Result<String> {
        let location = version_location(self.table_location, self.number());
        if let Err(error) = self.metadata.create_file(self.io, &location).await {
            self.resolve_failed_create(&location, error)
                .await
                .context("table", self.ident.to_string())?;
        }
        match self.fate(&location).await.context("table", self.ident.to_string())? {
            Fate::Committed => {}
            Fate::Lost => {
                discard(self.io, &location).await;
                return Err(self.lost());
            }
            Fate::Dropped => {
                discard(self.io, &location).await;
                return Err(Error::not_found("the table was dropped while the commit ran")
                    .with_context("table", self.ident.to_string()));
            }
            Fate::Unclear => return Err(self.unknown(Error::conflict("many other commits followed"))),
        }
        versions::write_hint(self.io, self.table_location, self.number()).await;
        if let Some(base) = self.base {
            delete_removed_metadata(self.io, base.metadata, self.metadata).await;
        }
        Ok(location)
    }

    fn lost(&self) -> Error {
        match self.base {
            None => existing_entry(EntryKind::Table, self.ident),
            Some(_) => Error::conflict("another writer committed to the table first")
                .with_context("table", self.ident.to_string()),
        }
    }

    fn unknown(&self, cause: Error) -> Error {
        Error::new(
            ErrorKind::CommitStateUnknown,
            "the commit may or may not have happened: look at the table before trying again",
        )
        .with_context("table", self.ident.to_string())
        .with_source(cause)
    }

    /// `Ok` when the failed creation happened nevertheless: a store may lose its answer and then meet its own file.
    async fn resolve_failed_create(&self, location: &str, error: Error) -> Result<()> {
        if !matches!(error.kind(), ErrorKind::AlreadyExists | ErrorKind::Io) {
            return Err(error);
        }
        let policy = StatusChecks::of(&self.metadata.properties);
        let begun = Instant::now();
        let mut attempt = 1;
        loop {
            match TableMetadata::read(self.io, location).await {
                Ok(found) if found == *self.metadata => {
                    return if self.cannot_be_anothers() {
                        Ok(())
                    } else {
                        Err(self.unknown(error))
                    };
                }
                Ok(_) => return Err(self.lost()),
                Err(e) if e.kind() == ErrorKind::NotFound && error.kind() == ErrorKind::AlreadyExists => {
                    // Another's file, deleted since.
                    return Err(self.lost());
                }
                Err(e) if e.kind() == ErrorKind::NotFound && Location::parse(location).is_local() => return Err(error),
                Err(e) if matches!(e.kind(), ErrorKind::Corrupt | ErrorKind::Unsupported) => return Err(self.lost()),
                Err(_) => {}
            }
            if !policy.allows_another(attempt, begun.elapsed()) {
                return Err(self.unknown(error));
            }
            tokio::time::sleep(policy.wait(attempt)).await;
            attempt += 1;
        }
    }

    /// Whether no other writer can have made the same metadata: it holds a fresh table uuid or snapshot id. Two writers
    /// that set the same property in the same millisecond write equal files.
    fn cannot_be_anothers(&self) -> bool {
        let Some(base) = self.base else {
            return true;
        };
        let mut snapshots = self.metadata.snapshots.iter();
        snapshots.any(|s| base.metadata.snapshot_by_id(s.snapshot_id).is_none())
    }

    /// Looks whether the version at `location`, just created, continues the table.
    pub(super) async fn fate(&self, location: &str) -> Result<Fate> {
        let policy = StatusChecks::of(&self.metadata.properties);
        let begun = Instant::now();
        let mut failures = 0;
        for _ in 0..MAX_LOOKS {
            match self.look(location).await {
                Ok(Some(fate)) => return Ok(fate),
                Ok(None) => {}
                Err(error) => {
                    failures += 1;
                    if !policy.allows_another(failures, begun.elapsed()) {
                        return Err(self.unknown(error));
                    }
                    tokio::time::sleep(policy.wait(failures)).await;
                }
            }
        }
        Ok(Fate::Unclear)
    }

    /// One look; `None` when files vanished in between and another look is needed.
    async fn look(&self, location: &str) -> Result<Option<Fate>> {
        let number = self.number();
        let names = versions::metadata_names(self.io, self.table_location).await?;
        let stands = |n: u64| names.iter().any(|name| version_number(name) == Some(n));
        let ours = names.iter().any(|n| n == file_name(location));
        let Some((highest, highest_name)) = versions::highest_version(&names).filter(|(n, _)| *n > number) else {
            let base_stands = self.base.is_none_or(|b| stands(b.number));
            return Ok(Some(match (ours, base_stands) {
                (true, true) if self.rival_of_same_number(&names, location) => Fate::Lost,
                (true, true) => Fate::Committed,
                _ => Fate::Dropped,
            }));
        };
        match self.continues(highest_name, location).await? {
            None => return Ok(None),
            Some(true) => return Ok(Some(Fate::Committed)),
            Some(false) => {}
        }
        // The log of the highest may be too short to reach us. That of the next version is not.
        let next = number.saturating_add(1);
        let next_name = names
            .iter()
            .find(|name| version_number(name) == Some(next) && next != highest);
        Ok(match next_name {
            Some(name) => self
                .continues(name, location)
                .await?
                .map(|c| if c { Fate::Committed } else { Fate::Lost }),
            None if next == highest || ours => Some(Fate::Lost),
            None => Some(Fate::Unclear),
        })
    }

    /// Whether another writer made the same version under its compressed name.
    fn rival_of_same_number(&self, names: &[String], location: &str) -> bool {
        names
            .iter()
            .any(|n| version_number(n) == Some(self.number()) && n != file_name(location))
    }

    /// Whether a later version was made from ours; `None` when it vanished.
    async fn continues(&self, later_name: &str, location: &str) -> Result<Option<bool>> {
        let later_location = join(&metadata_dir(self.table_location), later_name);
        let later = match TableMetadata::read(self.io, &later_location).await {
            Ok(later) => later,
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(e),
        };
        // The time tells our version from an earlier one of its name.
        Ok(Some(later.metadata_log.iter().any(|entry| {
            file_name(&entry.metadata_file) == file_name(location)
                && entry.timestamp_ms == self.metadata.last_updated_ms
        })))
    }
}
