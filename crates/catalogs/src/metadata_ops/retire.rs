//! Deleting metadata files that a commit dropped from the metadata log (`write.metadata.delete-after-commit.enabled`).

use std::collections::HashSet;

use tarn_format::io::FileIo;
use tarn_format::spec::snapshot::Properties;
use tarn_format::spec::table_metadata::TableMetadata;

/// Deletes the metadata files that `base` logged and `committed` does not, oldest first; only when the table asks for
/// it. Call it only after the commit surely succeeded. Failures leave orphans and are logged.
pub(crate) async fn delete_removed_metadata(io: &FileIo, base: &TableMetadata, committed: &TableMetadata) {
    if !deletes_after_commit(&committed.properties) {
        return;
    }
    let kept: HashSet<&str> = committed
        .metadata_log
        .iter()
        .map(|e| e.metadata_file.as_str())
        .collect();
    let logged = base.metadata_log.iter().map(|e| e.metadata_file.as_str());
    for location in logged.filter(|l| !kept.contains(l)) {
        if let Err(error) = io.delete(location).await {
            tracing::warn!(file = location, %error, "an old metadata file could not be deleted");
        }
    }
}

/// Whether the table wants old metadata files deleted. It does not by default. A directory catalog deletes them only
/// after a while (see `hadoop::sweep`).
pub(crate) fn deletes_after_commit(properties: &Properties) -> bool {
    let enabled = properties.get("write.metadata.delete-after-commit.enabled");
    enabled.is_some_and(|v| v.trim().eq_ignore_ascii_case("true"))
}
