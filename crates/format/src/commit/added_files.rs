//! The files a change adds: checks them and writes them into new manifests.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::attempt::Attempt;
use super::change::{AddedDeleteFile, Change};
use super::file_key::FileSet;
use super::manifest_output::ManifestOutput;
use super::path_set::PathSet;
use super::summary::SummaryBuilder;
use crate::error::{Error, Result};
use crate::manifest::data_file::{DataContent, DataFile};
use crate::manifest::manifest_file::ManifestFile;
use crate::spec::table_metadata::{FormatVersion, TableMetadata};

/// Manifests of added files, and their counts.
#[derive(Debug)]
pub(crate) struct AddedManifests {
    pub(crate) data: Vec<ManifestFile>,
    pub(crate) deletes: Vec<ManifestFile>,
    pub(crate) summary: SummaryBuilder,
}

/// Takes out files that are named twice, and checks that the table can take the others.
///
/// # Errors
/// `InvalidInput` for a file that does not fit its spec, its content or the table's format version.
pub(crate) fn check(change: &mut Change, base: &TableMetadata) -> Result<()> {
    let mut seen = FileSet::default();
    change.added.data.retain(|file| seen.insert(file));
    change.added.deletes.retain(|added| seen.insert(&added.file));
    for file in &change.added.data {
        if file.content != DataContent::Data {
            return Err(unfit("not a data file", file));
        }
        check_partition(file, base)?;
    }
    let mut vectors = PathSet::default();
    for added in &change.added.deletes {
        let file = added.file.as_ref();
        check_delete_file(file, base.format_version)?;
        check_partition(file, base)?;
        let referenced = file.referenced_data_file.as_deref().unwrap_or_default();
        if file.is_deletion_vector() && !vectors.insert(referenced) {
            return Err(Error::validation(format!(
                "two deletion vectors for one data file: {}",
                referenced
            )));
        }
    }
    Ok(())
}

fn check_delete_file(file: &DataFile, version: FormatVersion) -> Result<()> {
    let is_vector = file.is_deletion_vector();
    match (file.content, version) {
        (DataContent::Data, _) => return Err(unfit("not a delete file", file)),
        (_, FormatVersion::V1) => return Err(unfit("deletes are supported in format version 2 and above", file)),
        (DataContent::PositionDeletes, FormatVersion::V2) if is_vector => {
            return Err(unfit("must not use deletion vectors in format version 2", file));
        }
        (DataContent::PositionDeletes, FormatVersion::V3) if !is_vector => {
            return Err(unfit(
                "must use deletion vectors for position deletes in format version 3",
                file,
            ));
        }
        _ => {}
    }
    let is_located = file.referenced_data_file.is_some()
        && file.content_offset.is_some_and(|n| n >= 0)
        && file.content_size_in_bytes.is_some_and(|n| n > 0);
    if is_vector && !is_located {
        return Err(unfit("deletion vector without data file, offset or size", file));
    }
    if file.content == DataContent::EqualityDeletes && file.equality_ids.is_empty() {
        return Err(unfit("equality deletes without key columns", file));
    }
    Ok(())
}

fn check_partition(file: &DataFile, base: &TableMetadata) -> Result<()> {
    match base.spec_by_id(file.spec_id) {
        None => Err(unfit(&format!("cannot find partition spec {}", file.spec_id), file)),
        Some(spec) if spec.fields.len() != file.partition.0.len() => Err(unfit(
            &format!("partition tuple does not fit spec {}", file.spec_id),
            file,
        )),
        Some(_) => Ok(()),
    }
}

fn unfit(message: &str, file: &DataFile) -> Error {
    Error::invalid(message).with_context("file", file.file_path.as_ref())
}

/// Writes the manifests.
pub(crate) async fn write(
    attempt: &Attempt<'_>,
    output: &mut ManifestOutput,
    change: &Change,
) -> Result<AddedManifests> {
    let mut added = AddedManifests {
        data: Vec::new(),
        deletes: Vec::new(),
        summary: SummaryBuilder::default(),
    };
    let mut data: BTreeMap<i32, Vec<Arc<DataFile>>> = BTreeMap::new();
    for file in &change.added.data {
        data.entry(file.spec_id).or_default().push(Arc::clone(file));
    }
    let mut deletes: BTreeMap<i32, Vec<AddedDeleteFile>> = BTreeMap::new();
    for delete in &change.added.deletes {
        deletes.entry(delete.file.spec_id).or_default().push(delete.clone());
    }
    let files = change
        .added
        .data
        .iter()
        .chain(change.added.deletes.iter().map(|d| &d.file));
    for file in files {
        let path = attempt.partition_path(attempt.spec(file.spec_id)?, &file.partition);
        added.summary.added(file, &path);
    }
    let data_sequence_number = change.added.data_sequence_number;
    for (spec_id, files) in &data {
        let manifests = output
            .data_manifests(attempt, *spec_id, files, data_sequence_number)
            .await?;
        added.data.extend(manifests);
    }
    for (spec_id, files) in &deletes {
        added
            .deletes
            .extend(output.delete_manifests(attempt, *spec_id, files).await?);
    }
    Ok(added)
}
