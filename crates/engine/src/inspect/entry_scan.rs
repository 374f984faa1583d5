//! Rows made of the entries of manifests, one manifest after another: `files`, `entries` and their kin.

use std::fmt;
use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch};
use arrow::datatypes::{Field, SchemaRef as ArrowSchemaRef};
use datafusion::error::Result;
use futures::stream::{self, BoxStream};
use futures::{StreamExt, TryStreamExt};
use tarn_format::manifest::columns::MetricsProjection;
use tarn_format::manifest::manifest_file::{ManifestContent, ManifestFile};
use tarn_format::scan::manifest_entries::ManifestEntries;

use super::entry_filter::EntryFilter;
use super::exec::RowSource;
use super::groups::groups;
use super::partition_column::ManifestPartitions;
use super::state::TableState;
use super::static_rows::batch;

/// Bytes of manifests, as stored, that one stream reads ahead.
const BYTES_AHEAD: u64 = 4 << 20;
/// Manifests that one stream reads ahead at most.
const MANIFESTS_AHEAD: u64 = 16;

/// Whose manifests are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SnapshotScope {
    /// Those of the snapshot that is shown.
    One,
    /// Those of every snapshot.
    All,
}

/// Which entries are rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EntrySelection {
    /// Those of files that are part of the snapshot.
    Live,
    /// Those of removed files too.
    All,
}

/// Which manifests and entries a scan is about.
#[derive(Debug, Clone, Copy)]
pub(super) struct EntryScope {
    pub(super) snapshots: SnapshotScope,
    /// Data files, delete files, or both when `None`.
    pub(super) content: Option<ManifestContent>,
    pub(super) entries: EntrySelection,
}

/// What the rows of a metadata table are made of.
pub(super) trait EntryColumns: fmt::Debug + Send + Sync {
    /// The metrics that the columns of `schema` show.
    fn metrics(&self, state: &TableState, schema: &ArrowSchemaRef) -> MetricsProjection;

    /// The field of `schema` that holds partitions, at whatever depth.
    fn partition_field<'a>(&self, schema: &'a ArrowSchemaRef) -> Option<&'a Field>;

    /// A column of these entries.
    fn column(&self, field: &Field, part: &ManifestPart, rows: &[u32]) -> Result<ArrayRef>;
}

/// A manifest whose entries become rows.
#[derive(Debug)]
pub(super) struct ManifestPart {
    pub(super) state: Arc<TableState>,
    pub(super) entries: ManifestEntries,
    /// Its partitions; `None` when the query does not want them.
    pub(super) partitions: Option<ManifestPartitions>,
    /// The entries that are rows.
    rows: Vec<u32>,
}

/// A scan over entries.
#[derive(Debug)]
pub(super) struct EntryScan<C> {
    state: Arc<TableState>,
    columns: C,
    scope: EntryScope,
    filter: EntryFilter,
    /// The manifests of each partition, in the order of their lists.
    groups: Vec<Vec<Arc<ManifestFile>>>,
    skipped: usize,
}

impl<C: EntryColumns + 'static> EntryScan<C> {
    /// Finds the manifests; they are read later.
    ///
    /// # Errors
    /// Those of reading manifest lists.
    pub(super) async fn plan(
        state: Arc<TableState>,
        columns: C,
        scope: EntryScope,
        filter: EntryFilter,
        target_partitions: usize,
    ) -> tarn_format::Result<Self> {
        let manifests = scope.manifests(&state).await?;
        let all = manifests.len();
        let matching: Vec<_> = manifests.into_iter().filter(|m| filter.may_match(m)).collect();
        Ok(EntryScan {
            skipped: all - matching.len(),
            groups: groups(matching, |m| length(m), target_partitions),
            state,
            columns,
            scope,
            filter,
        })
    }

    async fn load(
        self: Arc<Self>,
        manifest: Arc<ManifestFile>,
        metrics: Arc<MetricsProjection>,
        schema: ArrowSchemaRef,
    ) -> Result<ManifestPart> {
        let loaded = self.state.load(manifest, &metrics).await;
        let entries = loaded.map_err(|e| self.state.external(e))?;
        let rows = self.scope.rows(&entries, &self.filter);
        let partitions = match self.columns.partition_field(&schema) {
            Some(field) if !rows.is_empty() => {
                let metadata = self.state.metadata();
                Some(ManifestPartitions::new(
                    &entries,
                    metadata,
                    &self.state.partition,
                    field,
                )?)
            }
            _ => None,
        };
        Ok(ManifestPart {
            state: Arc::clone(&self.state),
            entries,
            partitions,
            rows,
        })
    }

    /// The rows of a manifest, made while they are asked for.
    fn batches(
        self: Arc<Self>,
        part: ManifestPart,
        schema: ArrowSchemaRef,
        batch_size: usize,
    ) -> impl Iterator<Item = Result<RecordBatch>> {
        let starts = (0..part.rows.len()).step_by(batch_size);
        starts.map(move |start| {
            let end = part.rows.len().min(start + batch_size);
            let rows = part.rows.get(start..end).unwrap_or_default();
            let columns = schema.fields().iter().map(|f| self.columns.column(f, &part, rows));
            batch(Arc::clone(&schema), columns.collect::<Result<Vec<_>>>()?, rows.len())
        })
    }
}

impl<C: EntryColumns + 'static> RowSource for EntryScan<C> {
    fn partitions(&self) -> usize {
        self.groups.len()
    }

    fn describe(&self) -> String {
        let snapshot = match self.scope.snapshots {
            SnapshotScope::All => "all".to_string(),
            SnapshotScope::One => self.state.snapshot_text(),
        };
        let manifests: usize = self.groups.iter().map(Vec::len).sum();
        format!("snapshot={snapshot}, manifests={manifests} (skipped {})", self.skipped)
    }

    fn open(
        self: Arc<Self>,
        partition: usize,
        schema: ArrowSchemaRef,
        batch_size: usize,
    ) -> BoxStream<'static, Result<RecordBatch>> {
        let manifests = self.groups.get(partition).cloned().unwrap_or_default();
        let metrics = Arc::new(self.columns.metrics(&self.state, &schema));
        let ahead = manifests_ahead(&manifests);
        let (scan, loaded_schema) = (Arc::clone(&self), Arc::clone(&schema));
        let loads = stream::iter(manifests)
            .map(move |manifest| Arc::clone(&scan).load(manifest, Arc::clone(&metrics), Arc::clone(&loaded_schema)));
        let parts = loads.buffered(ahead);
        let batches = parts.map_ok(move |part| {
            let batches = Arc::clone(&self).batches(part, Arc::clone(&schema), batch_size);
            stream::iter(batches)
        });
        batches.try_flatten().boxed()
    }
}

impl EntryScope {
    /// The manifests that may list such entries.
    pub(super) async fn manifests(self, state: &TableState) -> tarn_format::Result<Vec<Arc<ManifestFile>>> {
        let mut manifests = match self.snapshots {
            SnapshotScope::One => state.manifests().await?.iter().cloned().map(Arc::new).collect(),
            SnapshotScope::All => state.reachable_manifests().await?,
        };
        manifests.retain(|m| {
            let has_content = self.content.is_none_or(|content| m.content == content);
            has_content && (self.entries == EntrySelection::All || m.may_have_live_files())
        });
        Ok(manifests)
    }

    /// The entries of a manifest that it is about and that may match a filter, ascending.
    pub(super) fn rows(self, entries: &ManifestEntries, filter: &EntryFilter) -> Vec<u32> {
        let columns = &entries.columns;
        let matching: Option<Vec<bool>> = filter.partitions(entries.spec_id()).map(|evaluator| {
            let tuples = columns.partitions.iter();
            tuples.map(|tuple| evaluator.may_match(tuple)).collect()
        });
        let is_row = |row: &u32| {
            let row = *row as usize;
            let matches = |matching: &Vec<bool>| {
                let index = columns.partition_index.get(row).map(|i| *i as usize);
                index.and_then(|i| matching.get(i)).copied().unwrap_or(true)
            };
            (self.entries == EntrySelection::All || columns.is_live(row)) && matching.as_ref().is_none_or(matches)
        };
        (0..u32::try_from(columns.len).unwrap_or(u32::MAX))
            .filter(is_row)
            .collect()
    }
}

fn length(manifest: &ManifestFile) -> u64 {
    // Lengths may be wrong in the wild: they only tell how to share the work.
    u64::try_from(manifest.manifest_length).unwrap_or(0)
}

/// How many manifests a stream reads ahead: many small ones, few large ones, so that memory stays bounded.
pub(super) fn manifests_ahead(manifests: &[Arc<ManifestFile>]) -> usize {
    let largest = manifests.iter().map(|m| length(m)).max().unwrap_or(0);
    let ahead = BYTES_AHEAD / largest.max(1);
    usize::try_from(ahead.clamp(1, MANIFESTS_AHEAD)).unwrap_or(1)
}
