//! Committing a version of a directory table.
//!
//! The commit point is the exclusive creation of `vN.metadata.json`, N one above the base. That alone is not enough: a
//! late writer could make a version again that was deleted after a newer commit, or revive a table that was dropped.
//! So the writer looks around afterwards, and takes back a version that does not continue the table.
//!
//! What it sees is proof because old versions are deleted in ascending order only ([`super::sweep`]): while the base
//! stands, no later version was ever deleted, so the version just created is the first of its number. A file of the
//! base's name is not enough: it may be one that another late writer made again, or of a table that took the name since.
//! Its contents must be those that the commit was made from.
//!
//! One gap is left: a writer that stalls just before it creates its version, while the table is dropped and another one
//! grows to the same number in its place, leaves the old table's metadata current there until it looks around.

use std::time::Instant;

use tarn_format::catalog::TableIdent;
use tarn_format::commit::settings::CommitSettings;
use tarn_format::io::FileIo;
use tarn_format::io::location::{Location, file_name, join};
use tarn_format::spec::table_metadata::TableMetadata;
use tarn_format::{Error, ErrorKind, Result, ResultExt};

use super::sweep::{self, Grace};
use super::versions::{self, Hint, metadata_dir, version_location, version_number};
use crate::metadata_ops::file::{MetadataFile, discard};
use crate::pointers::{EntryKind, existing_entry};

/// How often the fate of a version is looked up while other writers go on.
const MAX_LOOKS: u32 = 16;

/// How many looks must agree that nothing higher is there.
const LOOKS_AT_ABSENCE: u32 = 3;

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
    /// How long old versions stay.
    pub grace: Grace,
}

/// How a version was created.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Created {
    /// Its file was made. Whether it continues the table is open.
    Made,
    /// Others have built on it already.
    Continued,
}

/// What stands under the base's number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BaseNow {
    /// The base.
    Stands,
    /// Something else.
    Replaced,
    /// Nothing.
    Gone,
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

/// What one look around showed.
#[derive(Debug)]
enum Look {
    /// This, whatever else there may be.
    Proven(Fate),
    /// This, if really nothing higher is there.
    NothingHigher(Fate),
}

impl NewVersion<'_> {
    fn number(&self) -> u64 {
        self.base.map_or(1, |b| b.number.saturating_add(1))
    }

    /// Writes the version and returns its location once it is surely part of the table.
    pub(super) async fn commit(&self) -> Result<String> {
        let location = version_location(self.table_location, self.number());
        self.refuse_lateness().await?;
        let created = match self.metadata.create_file(self.io, &location).await {
            Ok(()) => Created::Made,
            Err(error) => self
                .resolve_failed_create(&location, error)
                .await
                .context("table", self.ident.to_string())?,
        };
        if created == Created::Made {
            self.settle(&location).await.context("table", self.ident.to_string())?;
        }
        let hint = versions::raise_hint(self.io, self.table_location, self.number()).await;
        if let Some(base) = self.base
            && hint == Hint::Left
        {
            let metadata = (base.metadata, self.metadata);
            sweep::delete_old_versions(self.io, self.table_location, metadata, self.number(), self.grace).await;
        }
        Ok(location)
    }

    /// `Ok` when the version just created is part of the table. One that is not is taken back.
    async fn settle(&self, location: &str) -> Result<()> {
        match self.fate(location).await? {
            Fate::Committed => Ok(()),
            Fate::Lost => {
                discard(self.io, location).await;
                Err(self.lost())
            }
            Fate::Dropped => {
                discard(self.io, location).await;
                Err(self.dropped())
            }
            Fate::Unclear => Err(self.unclear()),
        }
    }

    /// Fails when the base is gone already: the table went on so far that our version's number may be free again.
    async fn refuse_lateness(&self) -> Result<()> {
        match self.base_now().await? {
            None | Some(BaseNow::Stands) => Ok(()),
            Some(BaseNow::Replaced) => Err(self.lost()),
            Some(BaseNow::Gone) => match versions::current_metadata(self.io, self.table_location).await? {
                Some(_) => Err(self.lost()),
                None => Err(self.dropped()),
            },
        }
    }

    /// What stands under the base's number now; `None` when the commit has no base.
    async fn base_now(&self) -> Result<Option<BaseNow>> {
        let Some(base) = self.base else {
            return Ok(None);
        };
        let Some(file) = versions::existing(self.io, self.table_location, base.number).await? else {
            return Ok(Some(BaseNow::Gone));
        };
        match TableMetadata::read(self.io, &file).await {
            Ok(found) if found == *base.metadata => Ok(Some(BaseNow::Stands)),
            Ok(_) => Ok(Some(BaseNow::Replaced)),
            Err(e) if e.kind() == ErrorKind::NotFound => Ok(Some(BaseNow::Gone)),
            Err(e) if matches!(e.kind(), ErrorKind::Corrupt | ErrorKind::Unsupported) => Ok(Some(BaseNow::Replaced)),
            Err(e) => Err(e),
        }
    }

    fn dropped(&self) -> Error {
        Error::not_found("the table was dropped while the commit ran").with_context("table", self.ident.to_string())
    }

    fn lost(&self) -> Error {
        match self.base {
            None => existing_entry(EntryKind::Table, self.ident),
            Some(_) => Error::conflict("another writer committed to the table first")
                .with_context("table", self.ident.to_string()),
        }
    }

    fn unclear(&self) -> Error {
        self.unknown(Error::conflict("many other commits followed"))
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
    async fn resolve_failed_create(&self, location: &str, error: Error) -> Result<Created> {
        if !matches!(error.kind(), ErrorKind::AlreadyExists | ErrorKind::Io) {
            return Err(error);
        }
        // Local files: nothing is on its way any more, and `AlreadyExists` is not the echo of our own creation.
        let truthful = Location::parse(location).is_local();
        let policy = CommitSettings::from_properties(&self.metadata.properties).status_check;
        let begun = Instant::now();
        let mut attempt = 1;
        loop {
            match TableMetadata::read(self.io, location).await {
                Ok(found) if found == *self.metadata => {
                    return if self.cannot_be_anothers() {
                        Ok(Created::Made)
                    } else if truthful && error.kind() == ErrorKind::AlreadyExists {
                        Err(self.lost())
                    } else {
                        Err(self.unknown(error))
                    };
                }
                Ok(_) => return Err(self.lost()),
                Err(e) if e.kind() == ErrorKind::NotFound && error.kind() == ErrorKind::AlreadyExists => {
                    // Another's file, deleted since; ours only if the store met its own file.
                    return if truthful {
                        Err(self.lost())
                    } else {
                        self.resolve_absent(location, self.lost()).await
                    };
                }
                Err(e) if e.kind() == ErrorKind::NotFound && truthful => {
                    return self.resolve_absent(location, error).await;
                }
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

    /// What became of a version that is not there, although it may have been created: others may have built on it and
    /// deleted it since. Fails with `error` when it surely was not created.
    async fn resolve_absent(&self, location: &str, error: Error) -> Result<Created> {
        match self.base_now().await {
            // Ours would be deleted after the base only.
            Ok(Some(BaseNow::Stands)) => return Err(error),
            Ok(_) => {}
            Err(_) => return Err(self.unknown(error)),
        }
        match self.fate(location).await? {
            Fate::Committed => Ok(Created::Continued),
            Fate::Lost => Err(self.lost()),
            Fate::Dropped if self.base.is_none() => Err(error),
            Fate::Dropped => Err(self.dropped()),
            Fate::Unclear => Err(self.unknown(error)),
        }
    }

    /// Whether no other writer can have made the same metadata: it holds a fresh table uuid or snapshot id. Two writers
    /// that set the same property in the same millisecond write equal files.
    fn cannot_be_anothers(&self) -> bool {
        self.base.is_none() || self.new_snapshots().next().is_some()
    }

    /// Looks whether the version at `location`, just created, continues the table.
    pub(super) async fn fate(&self, location: &str) -> Result<Fate> {
        let policy = CommitSettings::from_properties(&self.metadata.properties).status_check;
        let begun = Instant::now();
        let (mut failures, mut empty_looks) = (0, 0);
        for _ in 0..MAX_LOOKS {
            match self.look(location).await {
                // A listing may miss files that come and go while it runs: seeing nothing higher once proves little.
                Ok(Some(Look::NothingHigher(fate))) => {
                    empty_looks += 1;
                    if empty_looks == LOOKS_AT_ABSENCE {
                        return Ok(fate);
                    }
                }
                Ok(Some(Look::Proven(fate))) => return Ok(fate),
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

    /// One look; `None` when it saw the table in motion and another look is needed.
    async fn look(&self, location: &str) -> Result<Option<Look>> {
        let base = self.base_now().await?;
        let names = versions::metadata_names(self.io, self.table_location).await?;
        if base == Some(BaseNow::Stands) {
            let rival = self.rival_of_same_number(&names, location);
            return Ok(Some(Look::Proven(if rival { Fate::Lost } else { Fate::Committed })));
        }
        // The base is gone or there was none: others went on since, or ages ago, or the table was dropped.
        let next = self.number().saturating_add(1);
        if let Some(next) = versions::existing(self.io, self.table_location, next).await? {
            let continued = self.continued_by(&next, location).await?;
            return Ok(continued.map(|c| Look::Proven(if c { Fate::Committed } else { Fate::Lost })));
        }
        let ours_stands = self.io.exists(location).await?;
        match versions::highest_version(&names).filter(|(number, _)| *number > self.number()) {
            // Had the next version followed ours, it would have been deleted after ours. It is gone, ours is not.
            Some(_) if ours_stands => Ok(Some(Look::Proven(Fate::Lost))),
            Some((_, highest)) => {
                let highest = join(&metadata_dir(self.table_location), highest);
                let continued = self.continued_by(&highest, location).await?;
                Ok(continued.map(|c| Look::Proven(if c { Fate::Committed } else { Fate::Unclear })))
            }
            None if self.base.is_none() && ours_stands => Ok(Some(Look::NothingHigher(Fate::Committed))),
            // Another table has taken the name.
            None if base == Some(BaseNow::Replaced) => Ok(Some(Look::NothingHigher(Fate::Lost))),
            None => Ok(Some(Look::NothingHigher(Fate::Dropped))),
        }
    }

    /// Whether another writer made the same version under its compressed name.
    fn rival_of_same_number(&self, names: &[String], location: &str) -> bool {
        names
            .iter()
            .any(|n| version_number(n) == Some(self.number()) && n != file_name(location))
    }

    /// Whether a later version was made from ours; `None` when it vanished or does not tell. It holds what only our
    /// commit can have brought, or, where there is no such thing, logs ours (the time tells ours from an earlier one of
    /// its name).
    async fn continued_by(&self, later: &str, location: &str) -> Result<Option<bool>> {
        let later = match TableMetadata::read(self.io, later).await {
            Ok(later) => later,
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(e),
        };
        let logged = later.metadata_log.iter().any(|entry| {
            file_name(&entry.metadata_file) == file_name(location)
                && entry.timestamp_ms == self.metadata.last_updated_ms
        });
        if self.brought_by_us(&later) {
            return Ok(Some(true));
        }
        // Two writers may make versions of one name in the same millisecond: a log without our snapshot proves nothing.
        Ok(match (logged, self.cannot_be_anothers()) {
            (true, true) => None,
            (logged, _) => Some(logged),
        })
    }

    /// Whether metadata holds the uuid of the table we created, or a snapshot that we added.
    fn brought_by_us(&self, later: &TableMetadata) -> bool {
        match self.base {
            None => later.table_uuid == self.metadata.table_uuid,
            Some(_) => self.new_snapshots().any(|id| later.snapshot_by_id(id).is_some()),
        }
    }

    /// Ids of snapshots that the base does not have.
    fn new_snapshots(&self) -> impl Iterator<Item = i64> {
        let known = |id| self.base.is_some_and(|b| b.metadata.snapshot_by_id(id).is_some());
        self.metadata
            .snapshots
            .iter()
            .map(|s| s.snapshot_id)
            .filter(move |id| !known(*id))
    }
}

#[cfg(test)]
mod tests;
