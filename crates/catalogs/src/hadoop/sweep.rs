//! Deleting old versions (`write.metadata.delete-after-commit.enabled`).
//!
//! Strictly in ascending order, and never one while a lower one stands: whoever sees that a version stands knows that
//! none after it was ever deleted. Readers and committers rely on it. So versions below the log go as well, which Java
//! would leave behind.
//!
//! A version that leaves the log (`write.metadata.previous-versions-max`) is not deleted at once as in Java: a writer
//! that stalls must still find its base, or the version after its own, to know what became of its commit. It stays
//! for a [`Grace`].

use std::time::Duration;

use tarn_format::io::location::file_name;
use tarn_format::io::{FileIo, FileStatus};
use tarn_format::spec::table_metadata::TableMetadata;

use super::versions::{self, version_number};
use crate::metadata_ops::retire::deletes_after_commit;

/// How long a version stays after it left the log: until so many newer ones stand beside it, or, where commits are
/// rare, until it has not been current for so long. A writer that stalls longer never loses a commit unnoticed, but may
/// not learn what became of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Grace {
    /// Versions that stay besides the current one, while they are young.
    pub versions: u64,
    /// How long after a newer one was made a version is young.
    pub age: Duration,
}

impl Default for Grace {
    /// As many versions as the log holds by default, so that tables with that log notice nothing.
    fn default() -> Self {
        Grace {
            versions: 100,
            age: Duration::from_secs(600),
        }
    }
}

/// Deletes the versions below all that `committed`, just made as version `number`, still logs, when the table asks for
/// it and the log is full. Call it only after the commit surely succeeded and the hint was raised: readers that
/// follow a hint must not come to where versions were deleted. Failures end the sweep, which the next commit resumes.
pub(super) async fn delete_old_versions(
    io: &FileIo,
    table_location: &str,
    (base, committed): (&TableMetadata, &TableMetadata),
    number: u64,
    grace: Grace,
) {
    if !deletes_after_commit(&committed.properties) {
        return;
    }
    let logged = |metadata: &TableMetadata| {
        let versions = metadata
            .metadata_log
            .iter()
            .filter_map(|e| version_number(file_name(&e.metadata_file)));
        versions.min()
    };
    let Some(oldest_kept) = logged(committed) else {
        return;
    };
    if logged(base).is_none_or(|oldest| oldest >= oldest_kept) {
        return;
    }
    match versions::metadata_files(io, table_location).await {
        Ok(files) => {
            let far_behind = number.saturating_sub(grace.versions);
            for location in doomed(&files, oldest_kept, far_behind, grace.age) {
                if let Err(error) = io.delete(location).await {
                    tracing::warn!(file = location, %error, "an old metadata file could not be deleted");
                    return;
                }
            }
        }
        Err(error) => tracing::warn!(%error, "old metadata files could not be found, they stay"),
    }
}

/// The versions to delete, in order: those below `oldest_kept`, up to the first that is neither below `far_behind` nor
/// old. Times are compared with that of the newest file, so that the clock is the store's own.
fn doomed(files: &[FileStatus], oldest_kept: u64, far_behind: u64, grace: Duration) -> Vec<&str> {
    let versions = files
        .iter()
        .filter_map(|f| Some((version_number(file_name(&f.location))?, f)));
    let mut versions: Vec<(u64, &FileStatus)> = versions.collect();
    versions.sort_by(|a, b| (a.0, &a.1.location).cmp(&(b.0, &b.1.location)));
    let now_ms = versions.iter().map(|(_, f)| f.last_modified_ms).max().unwrap_or(0);
    let grace_ms = i64::try_from(grace.as_millis()).unwrap_or(i64::MAX);
    // A version stops being current when the one after it is made.
    let successors = versions.iter().skip(1).map(|(_, f)| f.last_modified_ms);
    versions
        .iter()
        .zip(successors)
        .take_while(|((number, _), replaced_ms)| {
            *number < oldest_kept && (*number < far_behind || now_ms.saturating_sub(*replaced_ms) >= grace_ms)
        })
        .map(|((_, file), _)| file.location.as_str())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE_MS: i64 = 60_000;

    /// Versions made at these minutes, from version 1.
    fn made_at(minutes: &[i64]) -> Vec<FileStatus> {
        let made = minutes.iter().zip(1..).map(|(minute, number)| FileStatus {
            location: format!("/t/metadata/v{number}.metadata.json"),
            size_bytes: 1,
            last_modified_ms: minute * MINUTE_MS,
        });
        made.collect()
    }

    fn deleted(minutes: &[i64], oldest_kept: u64, far_behind: u64) -> usize {
        doomed(&made_at(minutes), oldest_kept, far_behind, Duration::from_secs(600)).len()
    }

    #[test]
    fn versions_stay_while_young_unless_far_behind() {
        // All young.
        assert_eq!(deleted(&[0, 1, 2, 3, 4, 5], 5, 0), 0);
        assert_eq!(deleted(&[0, 1, 2, 3, 4, 5], 5, 4), 3);
        // All but the last two are long replaced.
        assert_eq!(deleted(&[0, 60, 120, 180], 3, 0), 2);
        // Version 1 was made long ago, but current until a minute ago.
        assert_eq!(deleted(&[0, 119, 120], 2, 0), 0);
    }

    #[test]
    fn what_is_logged_stays_and_nothing_goes_before_a_lower_version() {
        assert_eq!(deleted(&[0, 60, 120, 180], 2, 100), 1);
        // Version 1 looks young: its successor was touched. Version 2 must wait for it.
        assert_eq!(deleted(&[0, 175, 60, 180], 4, 0), 0);
    }
}
