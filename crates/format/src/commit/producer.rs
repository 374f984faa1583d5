//! Applies a change to a table state: writes manifests and their list, makes the snapshot (Java: `SnapshotProducer`,
//! `MergingSnapshotProducer`).
//!
//! One producer serves all attempts of a change. It keeps the manifests it wrote, and redoes what a newer base asks
//! for: validation, filtering, merging, the list, row ids, totals.

use std::collections::HashSet;
use std::sync::Arc;

use super::added_files::{self, AddedManifests};
use super::attempt::Attempt;
use super::change::{Change, ChangeKind, Publication, Validation};
use super::deletion_vectors;
use super::file_key::FileSet;
use super::manifest_filter::{Filtered, ManifestFilter, OnRemoval, Removals, count_removed, require_all_removed};
use super::manifest_merge::ManifestMerge;
use super::manifest_output::ManifestOutput;
use super::partition_set::PartitionSet;
use super::rewrite_manifests::ManifestRewriter;
use super::row_filter::RowFilter;
use super::settings::ManifestMerging;
use super::snapshot_ids::new_snapshot_id;
use super::summary::{PreviousTotals, SummaryBuilder, add_properties};
use super::validate::validate;
use crate::error::{Error, Result};
use crate::manifest::avro::codec::Codec;
use crate::manifest::inherit::UNASSIGNED_SEQUENCE_NUMBER;
use crate::manifest::list::{ManifestListWriter, ManifestListWriterOptions};
use crate::manifest::manifest_file::{ManifestContent, ManifestFile};
use crate::spec::snapshot::{
    Operation, Properties, RefKind, Snapshot, SnapshotManifests, SnapshotRef, SnapshotRetention,
};
use crate::spec::table_metadata::{FormatVersion, TableMetadata};
use crate::update::TableUpdate;

/// A change and what its attempts have in common.
#[derive(Debug)]
pub(crate) struct Producer {
    change: Change,
    output: Option<ManifestOutput>,
    bound_to: Option<(FormatVersion, i32)>,
    added: Option<AddedManifests>,
    data_filter: ManifestFilter,
    delete_filter: ManifestFilter,
    merge: ManifestMerge,
    rewriter: ManifestRewriter,
    abandoned: Vec<String>,
}

/// The result of an attempt.
#[derive(Debug)]
pub(crate) struct Produced {
    /// The snapshot, and where it is not staged the branch set to it.
    pub(crate) updates: Vec<TableUpdate>,
    /// The snapshot's id.
    pub(crate) snapshot_id: i64,
    /// Its list and manifests: what must not be deleted when it is committed.
    pub(crate) reachable: HashSet<String>,
}

/// The manifests of a new snapshot and what is told of them.
struct Applied {
    manifests: Vec<ManifestFile>,
    summary: SummaryBuilder,
    properties: Properties,
}

impl Producer {
    /// A producer of this change.
    pub(crate) fn new(change: Change) -> Self {
        Producer {
            change,
            output: None,
            bound_to: None,
            added: None,
            data_filter: ManifestFilter::new(ManifestContent::Data),
            delete_filter: ManifestFilter::new(ManifestContent::Deletes),
            merge: ManifestMerge::default(),
            rewriter: ManifestRewriter::default(),
            abandoned: Vec::new(),
        }
    }

    /// Everything all attempts wrote.
    pub(crate) fn written(&self) -> Vec<String> {
        let output = self.output.iter().flat_map(|o| o.written()).cloned();
        self.abandoned.iter().cloned().chain(output).collect()
    }

    /// Applies the change to the attempt's base.
    pub(crate) async fn apply(&mut self, attempt: &Attempt<'_>, now_ms: i64) -> Result<Produced> {
        self.prepare(attempt)?;
        let base = attempt.base;
        let parent = parent_of(base, &self.change.target_ref)?;
        Box::pin(validate(attempt, &self.change, parent)).await?;
        let existing = match parent {
            Some(snapshot) => attempt.manifests(snapshot).await?,
            None => Vec::new(),
        };
        let applied = match &self.change.kind {
            ChangeKind::RewriteManifests(_) => Box::pin(self.rewrite_manifests(attempt, existing)).await?,
            ChangeKind::Append if self.change.merging == ManifestMerging::Off => {
                Box::pin(self.append(attempt, existing)).await?
            }
            _ => Box::pin(self.merge_files(attempt, existing)).await?,
        };
        Box::pin(self.finish(attempt, parent, applied, now_ms)).await
    }

    /// Chooses the snapshot id and drops what was made for another format version or schema.
    fn prepare(&mut self, attempt: &Attempt<'_>) -> Result<()> {
        let base = attempt.base;
        let is_taken = |id: i64| base.snapshot_by_id(id).is_some();
        if self.output.as_ref().is_some_and(|o| is_taken(o.snapshot_id())) {
            self.forget();
        }
        let binding = (base.format_version, base.current_schema_id);
        if self.bound_to.is_some_and(|bound| bound.0 != binding.0) {
            self.forget();
        } else if self.bound_to.is_some_and(|bound| bound != binding) {
            self.data_filter.clear();
            self.delete_filter.clear();
        }
        self.bound_to = Some(binding);
        if self.output.is_none() {
            self.output = Some(ManifestOutput::new(new_snapshot_id(base)));
        }
        added_files::check(&mut self.change, base)
    }

    fn forget(&mut self) {
        if let Some(output) = self.output.take() {
            self.abandoned.extend(output.written().iter().cloned());
        }
        self.added = None;
        self.data_filter.clear();
        self.delete_filter.clear();
        self.merge.clear();
        self.rewriter = ManifestRewriter::default();
    }

    async fn append(&mut self, attempt: &Attempt<'_>, existing: Vec<ManifestFile>) -> Result<Applied> {
        let mut summary = SummaryBuilder::default();
        let added = self.added_manifests(attempt).await?;
        summary.merge(&added.summary);
        let manifests = added.data.iter().cloned().chain(existing).collect();
        Ok(Applied {
            manifests,
            summary,
            properties: Properties::new(),
        })
    }

    async fn rewrite_manifests(&mut self, attempt: &Attempt<'_>, existing: Vec<ManifestFile>) -> Result<Applied> {
        let output = output(&mut self.output)?;
        let ChangeKind::RewriteManifests(rewrite) = &self.change.kind else {
            return Err(Error::invalid("not a rewrite of manifests"));
        };
        let (manifests, properties) = self.rewriter.rewrite(attempt, output, rewrite, existing).await?;
        Ok(Applied {
            manifests,
            summary: SummaryBuilder::default(),
            properties,
        })
    }

    async fn added_manifests(&mut self, attempt: &Attempt<'_>) -> Result<&AddedManifests> {
        let output = output(&mut self.output)?;
        let added = match self.added.take() {
            Some(added) => added,
            None => added_files::write(attempt, output, &self.change).await?,
        };
        Ok(self.added.insert(added))
    }

    async fn merge_files(&mut self, attempt: &Attempt<'_>, existing: Vec<ManifestFile>) -> Result<Applied> {
        let (data, deletes): (Vec<_>, Vec<_>) = existing
            .into_iter()
            .partition(|manifest| manifest.content == ManifestContent::Data);
        let data = self.filter_data(attempt, &data).await?;
        let deletes = self.filter_deletes(attempt, &data, &deletes).await?;
        let mut summary = SummaryBuilder::default();
        count_removed(attempt, &data, &mut summary)?;
        count_removed(attempt, &deletes, &mut summary)?;
        let added = self.added_manifests(attempt).await?;
        summary.merge(&added.summary);
        let (new_data, new_deletes) = (added.data.clone(), added.deletes.clone());
        let deletes: Vec<ManifestFile> = deletes.into_iter().map(|f| f.manifest).collect();
        deletion_vectors::check_unique(attempt, &self.change, &deletes).await?;
        let output = output(&mut self.output)?;
        let snapshot_id = output.snapshot_id();
        let is_needed = |m: &ManifestFile| m.may_have_live_files() || m.added_snapshot_id == Some(snapshot_id);
        let old_data = data.into_iter().map(|f| f.manifest);
        let mut data: Vec<_> = new_data.into_iter().chain(old_data).filter(is_needed).collect();
        let mut deletes: Vec<_> = new_deletes.into_iter().chain(deletes).filter(is_needed).collect();
        let may_merge = [self.change.merging, attempt.settings.manifest_merging];
        if may_merge == [ManifestMerging::ByTable; 2] {
            data = self.merge.merge(attempt, output, data).await?;
            deletes = self.merge.merge(attempt, output, deletes).await?;
        }
        data.append(&mut deletes);
        Ok(Applied {
            manifests: data,
            summary,
            properties: Properties::new(),
        })
    }

    async fn filter_data(&mut self, attempt: &Attempt<'_>, manifests: &[ManifestFile]) -> Result<Vec<Filtered>> {
        let removed = &self.change.removed;
        let removals = Removals {
            named: FileSet::new(removed.data.iter().map(AsRef::as_ref)),
            named_partitions: PartitionSet::new(removed.data.iter().map(|f| (f.spec_id, &f.partition))),
            paths: removed.paths.iter().map(AsRef::as_ref).collect(),
            ..self.common_removals(attempt)?
        };
        let output = output(&mut self.output)?;
        let filtered = self.data_filter.filter(attempt, output, manifests, &removals).await?;
        if self.change.validates(&Validation::RemovedFilesExist) {
            require_all_removed(&filtered, &removals)?;
        }
        Ok(filtered)
    }

    async fn filter_deletes(
        &mut self,
        attempt: &Attempt<'_>,
        data: &[Filtered],
        manifests: &[ManifestFile],
    ) -> Result<Vec<Filtered>> {
        let removed = &self.change.removed;
        let vanished = data.iter().flat_map(|f| f.removed.iter());
        // New data files that keep an old sequence number need the deletes from then on. (Java's filter only looks at
        // the existing manifests and can drop equality deletes that still apply to rewritten files.)
        let sequence_numbers = data
            .iter()
            .map(|f| f.manifest.min_sequence_number)
            .filter(|n| *n != UNASSIGNED_SEQUENCE_NUMBER)
            .chain(self.change.added.data_sequence_number);
        let removals = Removals {
            named: FileSet::new(removed.deletes.iter().map(AsRef::as_ref)),
            named_partitions: PartitionSet::new(removed.deletes.iter().map(|f| (f.spec_id, &f.partition))),
            deletes_before: sequence_numbers.fold(attempt.base.last_sequence_number, i64::min),
            vanished: vanished.map(|file| file.file_path.as_ref()).collect(),
            ..self.common_removals(attempt)?
        };
        let output = output(&mut self.output)?;
        let filtered = self.delete_filter.filter(attempt, output, manifests, &removals).await?;
        if self.change.validates(&Validation::RemovedFilesExist) {
            require_all_removed(&filtered, &removals)?;
        }
        Ok(filtered)
    }

    /// What data and delete files are removed by alike.
    fn common_removals(&self, attempt: &Attempt<'_>) -> Result<Removals> {
        let removed = &self.change.removed;
        let rows = match &removed.row_filter {
            Some(filter) => Some(RowFilter::bind(
                filter,
                attempt.base.current_schema(),
                self.change.case,
            )?),
            None => None,
        };
        Ok(Removals {
            dropped: PartitionSet::new(removed.partitions.iter().map(|(id, tuple)| (*id, tuple))),
            rows,
            on_removal: match self.change.validates(&Validation::NothingRemoved) {
                true => OnRemoval::Refuse,
                false => OnRemoval::Remove,
            },
            ..Removals::default()
        })
    }

    /// Writes the list and makes the snapshot.
    async fn finish(
        &mut self,
        attempt: &Attempt<'_>,
        parent: Option<&Arc<Snapshot>>,
        applied: Applied,
        now_ms: i64,
    ) -> Result<Produced> {
        let base = attempt.base;
        let operation = self.change.operation();
        check_replace(operation, &applied.summary)?;
        let output = output(&mut self.output)?;
        let sequence_number = base.next_sequence_number();
        let location = attempt.metadata_location(&output.next_list_name());
        let mut list = ManifestListWriter::new(ManifestListWriterOptions {
            format_version: base.format_version,
            snapshot_id: output.snapshot_id(),
            parent_snapshot_id: parent.map(|s| s.snapshot_id),
            sequence_number,
            first_row_id: base.next_row_id,
            codec: Codec::from_properties(&base.properties)?,
        })?;
        let mut reachable = HashSet::from([location.clone()]);
        for manifest in &applied.manifests {
            reachable.insert(manifest.manifest_path.clone());
            list.add(&attempt.counted(manifest).await?)?;
        }
        let list = list.finish()?;
        output.create(attempt, location.clone(), list.bytes).await?;
        let has_row_ids = base.format_version >= FormatVersion::V3;
        let snapshot = Snapshot {
            snapshot_id: output.snapshot_id(),
            parent_snapshot_id: parent.map(|s| s.snapshot_id),
            sequence_number,
            timestamp_ms: timestamp(base, now_ms),
            manifests: SnapshotManifests::List(location),
            operation: Some(operation),
            summary: self.summary(attempt, parent, &applied)?,
            schema_id: Some(base.current_schema_id),
            first_row_id: has_row_ids.then_some(base.next_row_id),
            added_rows: has_row_ids.then(|| list.next_row_id.saturating_sub(base.next_row_id)),
            key_id: None,
            extra: Default::default(),
        };
        let snapshot_id = snapshot.snapshot_id;
        let mut updates = vec![TableUpdate::AddSnapshot(snapshot)];
        if self.change.publication == Publication::Branch {
            updates.push(set_branch(base, &self.change.target_ref, snapshot_id));
        }
        Ok(Produced {
            updates,
            snapshot_id,
            reachable,
        })
    }

    fn summary(&self, attempt: &Attempt<'_>, parent: Option<&Arc<Snapshot>>, applied: &Applied) -> Result<Properties> {
        let previous = match parent {
            Some(parent) => PreviousTotals::Summary(&parent.summary),
            None => PreviousTotals::Empty,
        };
        let limit = match self.change.kind {
            ChangeKind::RewriteManifests(_) => 0,
            _ => attempt.settings.partition_summary_limit,
        };
        let mut summary = applied.summary.build(limit, previous);
        add_properties(&mut summary, &applied.properties)?;
        add_properties(&mut summary, &self.change.summary)?;
        Ok(summary)
    }
}

fn output(output: &mut Option<ManifestOutput>) -> Result<&mut ManifestOutput> {
    output
        .as_mut()
        .ok_or_else(|| Error::invalid("the attempt was not prepared"))
}

/// The snapshot that a change of this branch follows. A branch that does not exist begins at the current snapshot.
fn parent_of<'a>(base: &'a TableMetadata, target_ref: &str) -> Result<Option<&'a Arc<Snapshot>>> {
    let Some(reference) = base.refs.get(target_ref) else {
        return Ok(base.current_snapshot());
    };
    if reference.kind == RefKind::Tag {
        return Err(Error::invalid(format!(
            "'{target_ref}' is a tag, not a branch: tags cannot be the target of a commit"
        )));
    }
    let snapshot = base.snapshot_by_id(reference.snapshot_id);
    match snapshot {
        Some(snapshot) => Ok(Some(snapshot)),
        None => Err(Error::corrupt(format!(
            "branch '{target_ref}' points to snapshot {}, which does not exist",
            reference.snapshot_id
        ))),
    }
}

fn set_branch(base: &TableMetadata, name: &str, snapshot_id: i64) -> TableUpdate {
    let reference = match base.refs.get(name) {
        Some(reference) => SnapshotRef {
            snapshot_id,
            ..reference.clone()
        },
        None => SnapshotRef {
            snapshot_id,
            kind: RefKind::Branch,
            retention: SnapshotRetention::default(),
            extra: Default::default(),
        },
    };
    TableUpdate::SetSnapshotRef {
        name: name.to_string(),
        reference,
    }
}

/// Now, but never before what the table has seen, whatever the clocks of other writers say.
fn timestamp(base: &TableMetadata, now_ms: i64) -> i64 {
    let last = base.snapshots.iter().map(|s| s.timestamp_ms).max().unwrap_or(i64::MIN);
    now_ms.max(base.last_updated_ms).max(last)
}

/// Replacing files can only lose rows, to deletes that were applied on the way.
fn check_replace(operation: Operation, summary: &SummaryBuilder) -> Result<()> {
    let (added, removed) = summary.records();
    if operation == Operation::Replace && added > removed {
        return Err(Error::validation(format!(
            "invalid replace operation: {added} added records, {removed} replaced records"
        )));
    }
    Ok(())
}
