//! Appends: new data files, nothing else.

use std::sync::Arc;

use super::change::{Change, ChangeKind};
use super::settings::ManifestMerging;
use crate::manifest::data_file::DataFile;

/// An append that leaves existing manifests alone: cheapest to commit (Java: `FastAppend`).
///
/// An append of no files is a commit too, of an empty snapshot; callers that don't want one must not call.
pub fn fast_append(files: impl IntoIterator<Item = Arc<DataFile>>) -> Change {
    Change {
        merging: ManifestMerging::Off,
        ..merge_append(files)
    }
}

/// An append that merges small manifests as `commit.manifest.*` say (Java: `MergeAppend`, the default of `newAppend`).
pub fn merge_append(files: impl IntoIterator<Item = Arc<DataFile>>) -> Change {
    let mut change = Change::new(ChangeKind::Append);
    change.added.data = files.into_iter().collect();
    change
}
