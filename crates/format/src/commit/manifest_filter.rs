//! Takes removed files out of existing manifests (Java: `ManifestFilterManager`).
//!
//! A manifest that cannot hold a removed file is kept as it is, unread if its summaries allow. Results are kept over
//! attempts: manifests are immutable, so the same one is filtered the same way again. The same one means all that its
//! list says of it: others may have given it row ids since, and a manifest of an earlier step of this transaction gets
//! another sequence number in every attempt.

use std::collections::HashMap;
use std::sync::Arc;

use super::attempt::Attempt;
use super::file_key::FileSet;
use super::manifest_output::ManifestOutput;
use super::partition_set::PartitionSet;
use super::path_set::PathSet;
use super::row_filter::RowFilter;
use super::summary::SummaryBuilder;
use crate::error::{Error, Result, ResultExt};
use crate::expr::partition_evaluator::Verdict;
use crate::manifest::columns::MetricsProjection;
use crate::manifest::data_file::DataFile;
use crate::manifest::manifest_file::{ManifestContent, ManifestFile};
use crate::scan::manifest_entries::ManifestEntries;

/// What happens when a file is to be removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OnRemoval {
    /// It is removed.
    Remove,
    /// The commit fails.
    Refuse,
}

/// Which files of manifests of one content are removed.
#[derive(Debug)]
pub(crate) struct Removals {
    /// Files named with their partitions.
    pub(crate) named: FileSet,
    /// Partitions of `named`.
    pub(crate) named_partitions: PartitionSet,
    /// Locations whose partitions are not known.
    pub(crate) paths: PathSet,
    /// Partitions dropped whole.
    pub(crate) dropped: PartitionSet,
    /// Rows removed by whole files.
    pub(crate) rows: Option<RowFilter>,
    /// Delete files of lower data sequence numbers apply to nothing.
    pub(crate) deletes_before: i64,
    /// Data files removed by this commit: deletion vectors for them go too.
    pub(crate) vanished: PathSet,
    /// What happens on a removal.
    pub(crate) on_removal: OnRemoval,
}

impl Default for Removals {
    fn default() -> Self {
        Removals {
            named: FileSet::default(),
            named_partitions: PartitionSet::default(),
            paths: PathSet::default(),
            dropped: PartitionSet::default(),
            rows: None,
            deletes_before: 0,
            vanished: PathSet::default(),
            on_removal: OnRemoval::Remove,
        }
    }
}

/// A manifest after filtering.
#[derive(Debug, Clone)]
pub(crate) struct Filtered {
    /// The manifest that takes its place: itself when nothing was removed.
    pub(crate) manifest: ManifestFile,
    /// The files removed, without metrics.
    pub(crate) removed: Arc<Vec<Arc<DataFile>>>,
    /// Entries of files that were removed by an earlier entry of the same manifest.
    duplicates: i64,
}

/// Filters manifests of one content and keeps the results.
#[derive(Debug)]
pub(crate) struct ManifestFilter {
    content: ManifestContent,
    results: HashMap<ManifestFile, Filtered>,
    /// What the results rest on besides the change itself.
    vanished: PathSet,
    deletes_before: i64,
}

impl ManifestFilter {
    /// A filter without results.
    pub(crate) fn new(content: ManifestContent) -> Self {
        ManifestFilter {
            content,
            results: HashMap::new(),
            vanished: PathSet::default(),
            deletes_before: 0,
        }
    }

    /// Forgets all results, for when the format version or the schema that filters bind to changed.
    pub(crate) fn clear(&mut self) {
        self.results.clear();
    }

    /// Filters `manifests`, keeping their order.
    pub(crate) async fn filter(
        &mut self,
        attempt: &Attempt<'_>,
        output: &mut ManifestOutput,
        manifests: &[ManifestFile],
        removals: &Removals,
    ) -> Result<Vec<Filtered>> {
        // Deletes that were needless for newer data files may apply to older ones; not the other way round.
        if self.vanished != removals.vanished || removals.deletes_before < self.deletes_before {
            self.vanished.clone_from(&removals.vanished);
            self.results.clear();
        }
        self.deletes_before = removals.deletes_before;
        let mut to_read = Vec::new();
        for manifest in manifests {
            if !self.results.contains_key(manifest) && self.may_remove(attempt, manifest, removals)? {
                to_read.push(manifest.clone());
            }
        }
        let projection = match &removals.rows {
            Some(rows) => rows.projection(),
            None => MetricsProjection::None,
        };
        for entries in attempt.entries(to_read, &projection).await? {
            let filtered = self.apply(attempt, output, &entries, removals).await?;
            self.results.insert(entries.manifest.as_ref().clone(), filtered);
        }
        let result = |manifest: &ManifestFile| match self.results.get(manifest) {
            Some(filtered) => filtered.clone(),
            None => kept(manifest),
        };
        Ok(manifests.iter().map(result).collect())
    }

    fn may_remove(&self, attempt: &Attempt<'_>, manifest: &ManifestFile, removals: &Removals) -> Result<bool> {
        if !manifest.may_have_live_files() {
            return Ok(false);
        }
        if !removals.paths.is_empty() || !removals.vanished.is_empty() {
            return Ok(true);
        }
        let partition_type = attempt.partition_type(manifest.partition_spec_id)?;
        if removals.named_partitions.may_be_in(manifest, &partition_type)
            || removals.dropped.may_be_in(manifest, &partition_type)
        {
            return Ok(true);
        }
        match &removals.rows {
            Some(rows) => rows.may_be_in(attempt.base, manifest),
            None => Ok(false),
        }
    }

    async fn apply(
        &self,
        attempt: &Attempt<'_>,
        output: &mut ManifestOutput,
        entries: &ManifestEntries,
        removals: &Removals,
    ) -> Result<Filtered> {
        let manifest = &entries.manifest;
        let removed = self
            .removed_rows(attempt, entries, removals)
            .context("manifest", &manifest.manifest_path)?;
        let Some(first) = removed.iter().position(|r| *r) else {
            return Ok(kept(manifest));
        };
        if removals.on_removal == OnRemoval::Refuse {
            let spec = attempt.spec(manifest.partition_spec_id)?;
            let path = attempt.partition_path(spec, entries.columns.partition(first));
            return Err(Error::validation(format!(
                "cannot commit file that conflicts with existing partition: {path}"
            )));
        }
        rewrite(attempt, output, manifest, &removed).await
    }

    /// Which live entries are removed.
    fn removed_rows(&self, attempt: &Attempt<'_>, entries: &ManifestEntries, removals: &Removals) -> Result<Vec<bool>> {
        let (spec_id, columns) = (entries.spec_id(), &entries.columns);
        let dropped: Vec<bool> = match removals.dropped.is_empty() {
            true => Vec::new(),
            false => {
                let tuples = columns.partitions.iter();
                tuples.map(|tuple| removals.dropped.contains(spec_id, tuple)).collect()
            }
        };
        let is_dropped = |i: usize| {
            let tuple = columns.partition_index.get(i).map(|t| *t as usize);
            tuple.and_then(|t| dropped.get(t)).copied().unwrap_or(false)
        };
        let is_marked = |i: usize| {
            removals.paths.surely_contains(columns.path(i))
                || removals.named.contains_entry(columns, i)
                || is_dropped(i)
                || (self.content == ManifestContent::Deletes && is_needless(entries, i, removals))
        };
        let mut removed: Vec<bool> = (0..columns.len).map(|i| columns.is_live(i) && is_marked(i)).collect();
        let Some(rows) = &removals.rows else {
            return Ok(removed);
        };
        let matched = rows.evaluate(attempt.base, &entries.manifest, columns)?;
        for (i, (removed, matched)) in removed.iter_mut().zip(matched).enumerate() {
            if *removed || !columns.is_live(i) {
                continue;
            }
            match matched {
                Verdict::None => {}
                Verdict::All => *removed = true,
                // A delete file may hold deletes of rows that stay.
                Verdict::Some if self.content == ManifestContent::Deletes => {}
                Verdict::Some => {
                    return Err(Error::validation(format!(
                        "cannot delete file where some, but not all, rows match filter {rows}: {}",
                        columns.path(i)
                    )));
                }
            }
        }
        Ok(removed)
    }
}

/// Whether a delete file applies to nothing any more.
fn is_needless(entries: &ManifestEntries, i: usize, removals: &Removals) -> bool {
    let columns = &entries.columns;
    let sequence_number = entries.inheritance().sequence_number(columns, i).unwrap_or(0);
    if sequence_number > 0 && sequence_number < removals.deletes_before {
        return true;
    }
    let referenced = || columns.referenced_data_file.get(i);
    columns.is_deletion_vector(i) && referenced().is_some_and(|path| removals.vanished.surely_contains(path))
}

fn kept(manifest: &ManifestFile) -> Filtered {
    Filtered {
        manifest: manifest.clone(),
        removed: Arc::default(),
        duplicates: 0,
    }
}

/// Writes the manifest anew with the removed files as deleted and the others as existing entries.
async fn rewrite(
    attempt: &Attempt<'_>,
    output: &mut ManifestOutput,
    manifest: &ManifestFile,
    removed: &[bool],
) -> Result<Filtered> {
    let entries = attempt.all_entries(manifest).await?;
    let spec_id = manifest.partition_spec_id;
    let partition_type = match attempt.copied_type(spec_id, &[manifest]).await? {
        Some(partition_type) => partition_type,
        None => attempt.partition_type(spec_id)?,
    };
    let mut writer = output.copier(attempt, (spec_id, manifest.content), &partition_type)?;
    let mut seen = FileSet::default();
    let mut files = Vec::new();
    let mut duplicates = 0i64;
    for i in (0..entries.columns.len).filter(|i| entries.columns.is_live(*i)) {
        let entry = entries.entry(i);
        if !removed.get(i).copied().unwrap_or(false) {
            writer.existing(&entry)?;
            continue;
        }
        writer.deleted(&entry)?;
        if seen.insert(&entry.data_file) {
            files.push(Arc::new(without_metrics(&entry.data_file)));
        } else {
            duplicates += 1;
        }
    }
    if duplicates > 0 {
        tracing::warn!(manifest = %manifest.manifest_path, duplicates, "removed files were listed more than once");
    }
    Ok(Filtered {
        manifest: output.store(attempt, writer).await?,
        removed: Arc::new(files),
        duplicates,
    })
}

fn without_metrics(file: &DataFile) -> DataFile {
    DataFile {
        spec_id: file.spec_id,
        partition: file.partition.clone(),
        record_count: file.record_count,
        file_size_in_bytes: file.file_size_in_bytes,
        referenced_data_file: file.referenced_data_file.clone(),
        content_offset: file.content_offset,
        content_size_in_bytes: file.content_size_in_bytes,
        ..DataFile::new(file.content, &file.file_path, file.file_format)
    }
}

/// Counts what filtering removed.
pub(crate) fn count_removed(attempt: &Attempt<'_>, filtered: &[Filtered], summary: &mut SummaryBuilder) -> Result<()> {
    for result in filtered.iter().filter(|f| !f.removed.is_empty()) {
        let spec = attempt.spec(result.manifest.partition_spec_id)?;
        for file in result.removed.iter() {
            summary.removed(file, &attempt.partition_path(spec, &file.partition));
        }
        summary.duplicate_deletes(result.duplicates);
    }
    Ok(())
}

/// Fails when a file that was named for removal was not found.
pub(crate) fn require_all_removed(filtered: &[Filtered], removals: &Removals) -> Result<()> {
    let removed = FileSet::new(filtered.iter().flat_map(|f| f.removed.iter()).map(AsRef::as_ref));
    let mut missing = removals.named.missing_from(&removed);
    missing.extend(removals.paths.iter().filter(|path: &&str| !removed.contains_path(path)));
    if missing.is_empty() {
        return Ok(());
    }
    missing.sort_unstable();
    Err(Error::validation(format!(
        "missing required files to delete: {}",
        abbreviated(&missing)
    )))
}

/// The first few of a list that may be long.
pub(crate) fn abbreviated(items: &[&str]) -> String {
    const SHOWN: usize = 10;
    let shown = items.iter().take(SHOWN).copied().collect::<Vec<_>>().join(", ");
    match items.len().checked_sub(SHOWN) {
        Some(more) if more > 0 => format!("{shown} and {more} more"),
        _ => shown,
    }
}
