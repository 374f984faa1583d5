//! Deletes metadata files that no outcome of a commit can need. Failures are logged: the files are only garbage.

use std::collections::HashSet;

use crate::io::FileIo;

/// Deletes the files of `written` that are not in `reachable`.
pub(crate) async fn delete_unreachable(io: &FileIo, written: Vec<String>, reachable: &HashSet<String>) {
    let garbage: Vec<String> = written.into_iter().filter(|path| !reachable.contains(path)).collect();
    if garbage.is_empty() {
        return;
    }
    tracing::debug!(
        files = garbage.len(),
        "deleting metadata files of attempts that were not committed"
    );
    for error in io.delete_many(&garbage).await {
        tracing::warn!(%error, "a metadata file of a failed attempt could not be deleted");
    }
}
