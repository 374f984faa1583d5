//! At most one deletion vector per data file (spec, "Deletion Vectors").

use super::attempt::Attempt;
use super::change::Change;
use super::partition_set::PartitionSet;
use super::path_set::PathSet;
use crate::error::{Error, Result};
use crate::manifest::columns::MetricsProjection;
use crate::manifest::manifest_file::ManifestFile;

/// Fails when a data file that gets a deletion vector has one in `manifests`, which are those that stay.
///
/// Java leaves this to writers. A table with two vectors for one file cannot be read, so it is checked here.
pub(crate) async fn check_unique(attempt: &Attempt<'_>, change: &Change, manifests: &[ManifestFile]) -> Result<()> {
    let vectors: Vec<_> = change
        .added
        .deletes
        .iter()
        .filter(|d| d.file.is_deletion_vector())
        .collect();
    if vectors.is_empty() {
        return Ok(());
    }
    let targets: PathSet = vectors
        .iter()
        .filter_map(|d| d.file.referenced_data_file.as_deref())
        .collect();
    // A vector has the partition of its data file, and so have all vectors of one data file.
    let partitions = PartitionSet::new(vectors.iter().map(|d| (d.file.spec_id, &d.file.partition)));
    let mut to_read = Vec::new();
    for manifest in manifests.iter().filter(|m| m.may_have_live_files()) {
        let partition_type = attempt.partition_type(manifest.partition_spec_id)?;
        if partitions.may_be_in(manifest, &partition_type) {
            to_read.push(manifest.clone());
        }
    }
    for entries in attempt.entries(to_read, &MetricsProjection::None).await? {
        let columns = &entries.columns;
        for i in (0..columns.len).filter(|i| columns.is_live(*i) && columns.is_deletion_vector(*i)) {
            let referenced = columns.referenced_data_file.get(i);
            if let Some(path) = referenced.filter(|path| targets.contains(path)) {
                return Err(Error::validation(
                    "data file has a deletion vector already, which must be removed when another is added",
                )
                .with_context("file", path));
            }
        }
    }
    Ok(())
}
