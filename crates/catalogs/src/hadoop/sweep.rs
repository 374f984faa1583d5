//! Deleting old versions (`write.metadata.delete-after-commit.enabled`).
//!
//! Strictly in ascending order, and never one while a lower one stands: whoever sees that a version stands knows that
//! none after it was ever deleted. Readers and committers rely on it. So versions below the log go as well, which Java
//! would leave behind.

use tarn_format::io::FileIo;
use tarn_format::io::location::{file_name, join};
use tarn_format::spec::table_metadata::TableMetadata;

use super::versions::{self, metadata_dir, version_number};
use crate::metadata_ops::retire::deletes_after_commit;

/// Deletes the versions below all that `committed` still logs, when the table asks for it and the commit dropped some
/// from the log. Call it only after the commit surely succeeded. Failures end the sweep, which the next commit resumes.
pub(super) async fn delete_old_versions(
    io: &FileIo,
    table_location: &str,
    base: &TableMetadata,
    committed: &TableMetadata,
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
    match versions::metadata_names(io, table_location).await {
        Ok(names) => sweep(io, table_location, &names, oldest_kept).await,
        Err(error) => tracing::warn!(%error, "old metadata files could not be found, they stay"),
    }
}

async fn sweep(io: &FileIo, table_location: &str, names: &[String], oldest_kept: u64) {
    let versions = names.iter().filter_map(|name| Some((version_number(name)?, name)));
    let mut old: Vec<(u64, &String)> = versions.filter(|(number, _)| *number < oldest_kept).collect();
    old.sort();
    for (_, name) in old {
        let location = join(&metadata_dir(table_location), name);
        if let Err(error) = io.delete(&location).await {
            tracing::warn!(file = location, %error, "an old metadata file could not be deleted");
            return;
        }
    }
}
