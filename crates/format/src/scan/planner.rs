//! The shared core of all scans: manifests in, tasks out.
//!
//! Manifests are loaded concurrently; pruning runs on blocking threads in batches, so that a warm plan keeps all cores
//! busy without a hop per manifest. Entries that are pruned cost nothing but their bit.

use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use futures::stream::{self, FuturesOrdered, StreamExt};
use futures::{FutureExt, Stream};
use tokio::task::{JoinHandle, spawn_blocking};

use super::entry_selection::EntrySelection;
use super::filter::{PartitionFilter, ScanFilter};
use super::manifest_entries::ManifestEntries;
use super::task::FileScanTask;
use crate::deletes::DeleteTask;
use crate::deletes::index::{DeleteFileIndex, DeleteFileIndexBuilder, DeleteTarget, PartitionDeletes};
use crate::deletes::index_cache::{DeleteIndexCache, DeleteIndexKey};
use crate::error::{Error, ErrorKind, Result, ResultExt};
use crate::io::FileIo;
use crate::io::location::refuse_climbing;
use crate::manifest::cache::ManifestCache;
use crate::manifest::columns::{ManifestColumns, MetricsProjection};
use crate::manifest::data_file::{DataContent, FileFormat};
use crate::manifest::manifest_file::ManifestFile;
use crate::metrics::ScanMetrics;
use crate::spec::table_metadata::TableMetadataRef;
use crate::spec::types::{FieldId, StructType};

/// Entries that one blocking thread prunes at least before another takes over.
const BATCH_ROWS: usize = 16 * 1024;

/// From so many deletes on an index is built of all of them and shared with later scans. Below, it is cheaper to look
/// only at those the filter asks for.
const SHARED_INDEX_DELETES: i64 = 2_000;

/// What all stages of one plan share.
#[derive(Debug)]
pub(super) struct Planner {
    pub(super) metadata: TableMetadataRef,
    pub(super) io: FileIo,
    pub(super) cache: ManifestCache,
    pub(super) delete_indexes: DeleteIndexCache,
    pub(super) filter: Arc<ScanFilter>,
    /// Of which rows deletes are wanted: those of the filter, or all.
    pub(super) deletes_of: Arc<ScanFilter>,
    /// Statistics that tasks keep, beside those the filter needs.
    pub(super) statistics: MetricsProjection,
    pub(super) selection: EntrySelection,
    pub(super) concurrency: usize,
}

/// A manifest and its decoded columns.
type Loaded = (Arc<ManifestFile>, Arc<ManifestColumns>);

impl Planner {
    /// Reads the delete manifests that may matter and indexes their live deletes.
    pub(super) async fn index_deletes(
        self: &Arc<Self>,
        manifests: Vec<&ManifestFile>,
        metrics: &mut ScanMetrics,
    ) -> Result<Arc<DeleteFileIndex>> {
        let total = manifests.len() as u64;
        let manifests = self.matching_manifests(&self.deletes_of, manifests, ManifestFile::may_have_live_files)?;
        metrics.total_delete_manifests += total;
        metrics.scanned_delete_manifests += manifests.len() as u64;
        metrics.skipped_delete_manifests += total - manifests.len() as u64;
        if manifests.is_empty() {
            return Ok(Arc::default());
        }
        let deletes: i64 = manifests.iter().map(|m| live_files(m)).sum();
        let key = (deletes >= SHARED_INDEX_DELETES).then(|| DeleteIndexKey::new(&self.io, &self.metadata, &manifests));
        let key = key.transpose()?;
        if let Some(index) = key.as_ref().and_then(|key| self.delete_indexes.get(key)) {
            index.count_into(metrics);
            return Ok(index);
        }
        let mut loads = Box::pin(self.load(manifests, MetricsProjection::All)?);
        let mut loaded = Vec::new();
        while let Some(manifest) = loads.next().await {
            loaded.push(manifest?);
        }
        let planner = Arc::clone(self);
        let is_shared = key.is_some();
        let build = spawn_blocking(move || match is_shared {
            true => Ok((planner.build_whole_index(loaded)?, 0)),
            false => planner.build_index(loaded),
        });
        let (index, skipped) = joined(build.await)??;
        index.count_into(metrics);
        metrics.skipped_delete_files += skipped;
        let index = Arc::new(index);
        if let Some(key) = key {
            self.delete_indexes.insert(key, Arc::clone(&index));
        }
        Ok(index)
    }

    /// The index of the deletes that may touch rows of the filter, and how many others there are.
    fn build_index(&self, loaded: Vec<Loaded>) -> Result<(DeleteFileIndex, u64)> {
        let mut builder = DeleteFileIndexBuilder::new(&self.metadata);
        let mut skipped = 0;
        for (manifest, columns) in loaded {
            let live = (0..columns.len).filter(|row| columns.is_live(*row)).count();
            let rows = self.deletes_of.matching_deletes(manifest.partition_spec_id, &columns)?;
            skipped += (live - rows.len()) as u64;
            let entries = Arc::new(ManifestEntries::new(manifest, columns));
            for row in rows {
                check_location(&entries, row as usize)?;
                builder.add(&entries, row as usize)?;
            }
        }
        Ok((builder.build()?, skipped))
    }

    /// The index of all deletes, for scans with any filter.
    fn build_whole_index(&self, loaded: Vec<Loaded>) -> Result<DeleteFileIndex> {
        let mut builder = DeleteFileIndexBuilder::new(&self.metadata);
        for (manifest, columns) in loaded {
            let entries = Arc::new(ManifestEntries::new(manifest, columns));
            (0..entries.columns.len).try_for_each(|row| check_location(&entries, row))?;
            builder.add_manifest(&entries)?;
        }
        builder.build()
    }

    /// Reads the data manifests that may matter and makes a task of every file that does, in the order of the
    /// manifests.
    pub(super) async fn plan_files(
        self: &Arc<Self>,
        manifests: Vec<&ManifestFile>,
        deletes: Arc<DeleteFileIndex>,
        metrics: &mut ScanMetrics,
    ) -> Result<Vec<FileScanTask>> {
        let total = manifests.len() as u64;
        let selection = self.selection.clone();
        let manifests = self.matching_manifests(&self.filter, manifests, |m| selection.may_select_from(m))?;
        metrics.total_data_manifests += total;
        metrics.scanned_data_manifests += manifests.len() as u64;
        metrics.skipped_data_manifests += total - manifests.len() as u64;

        let projection = self.projection(deletes.equality_field_ids());
        let mut loads = Box::pin(self.load(manifests, projection)?);
        let mut batches = Batches::new(self, deletes);
        loop {
            let next = match loads.next().now_or_never() {
                Some(next) => next,
                None => {
                    batches.start().await?;
                    loads.next().await
                }
            };
            match next {
                Some(manifest) => batches.push(manifest?).await?,
                None => break,
            }
        }
        let (tasks, pruned) = batches.finish().await?;
        *metrics += pruned;
        Ok(tasks)
    }

    /// The statistics to decode: those of the filter, of the tasks and of equality deletes' keys.
    fn projection(&self, equality_ids: &BTreeSet<FieldId>) -> MetricsProjection {
        let filter = MetricsProjection::fields(self.filter.field_ids());
        let keys = MetricsProjection::fields(equality_ids.iter().copied());
        self.statistics.union(&filter).union(&keys)
    }

    fn matching_manifests(
        &self,
        filter: &ScanFilter,
        manifests: Vec<&ManifestFile>,
        has_entries: impl Fn(&ManifestFile) -> bool,
    ) -> Result<Vec<Arc<ManifestFile>>> {
        let mut matching = Vec::new();
        for manifest in manifests {
            if has_entries(manifest) && filter.may_match_manifest(manifest)? {
                matching.push(Arc::new(manifest.clone()));
            }
        }
        Ok(matching)
    }

    /// Loads manifests concurrently, in their order.
    fn load(
        self: &Arc<Self>,
        manifests: Vec<Arc<ManifestFile>>,
        projection: MetricsProjection,
    ) -> Result<impl Stream<Item = Result<Loaded>> + use<>> {
        let mut types: HashMap<i32, Arc<StructType>> = HashMap::new();
        let mut requests = Vec::with_capacity(manifests.len());
        for manifest in manifests {
            let spec_id = manifest.partition_spec_id;
            let partition_type = match types.get(&spec_id) {
                Some(found) => Arc::clone(found),
                None => {
                    let found = Arc::new(self.metadata.partition_type_of(spec_id)?);
                    Arc::clone(types.entry(spec_id).or_insert(found))
                }
            };
            requests.push((manifest, partition_type));
        }
        let planner = Arc::clone(self);
        let loads = requests.into_iter().map(move |(manifest, partition_type)| {
            let (planner, projection) = (Arc::clone(&planner), projection.clone());
            async move {
                let columns = planner
                    .cache
                    .get(&planner.io, &manifest, Some(&partition_type), &projection)
                    .await
                    .context("manifest", manifest.manifest_path.as_str())?;
                Ok((manifest, columns))
            }
        });
        Ok(stream::iter(loads).buffered(self.concurrency))
    }

    /// The tasks of one manifest.
    fn tasks_of(
        &self,
        (manifest, columns): Loaded,
        deletes: &DeleteFileIndex,
        no_deletes: &Arc<[DeleteTask]>,
        output: &mut Output,
    ) -> Result<()> {
        let spec_id = manifest.partition_spec_id;
        let selected = self.selection.select(&manifest, &columns);
        let rows = self.filter.matching_rows(spec_id, &columns, &selected)?;
        output.metrics.skipped_data_files += (selected.count() - rows.len()) as u64;
        if rows.is_empty() {
            return Ok(());
        }
        let entries = Arc::new(ManifestEntries::new(manifest, columns));
        let columns = &entries.columns;
        // Files of one partition mostly lie together, and there are mostly few partitions.
        let mut scopes: HashMap<u32, (PartitionFilter, PartitionDeletes<'_>)> = HashMap::new();
        output.tasks.reserve(rows.len());
        for row in rows {
            let index = row as usize;
            check_data_file(&entries, index)?;
            let target = DeleteTarget::of_row(&entries, index)?;
            let partition_index = columns.partition_index.get(index).copied().unwrap_or(u32::MAX);
            let (filter, scope) = match scopes.entry(partition_index) {
                Entry::Occupied(found) => found.into_mut(),
                Entry::Vacant(free) => {
                    let filter = self.filter.in_partition(spec_id, target.partition)?;
                    free.insert((filter, deletes.partition(spec_id, target.partition)))
                }
            };
            let found = match deletes.is_empty() {
                true => Arc::clone(no_deletes),
                false => {
                    let mut found = deletes.deletes_in(*scope, target)?;
                    found.retain(|delete| self.deletes_of.may_touch(delete));
                    if found.is_empty() {
                        Arc::clone(no_deletes)
                    } else {
                        found.into()
                    }
                }
            };
            output.push(FileScanTask {
                sequence_number: target.sequence_number,
                residual: Arc::clone(filter.residual()),
                row_match: filter.row_match(columns, index),
                entries: Arc::clone(&entries),
                deletes: found,
                row,
            });
        }
        Ok(())
    }
}

fn live_files(manifest: &ManifestFile) -> i64 {
    let counts = [manifest.added_files_count, manifest.existing_files_count];
    counts.into_iter().flatten().map(i64::from).sum()
}

fn check_location(entries: &ManifestEntries, row: usize) -> Result<()> {
    let path = entries.columns.path(row);
    let corrupt = |e: Error| {
        e.with_kind(ErrorKind::Corrupt)
            .with_context("manifest", entries.manifest.manifest_path.as_str())
    };
    if path.is_empty() {
        return Err(corrupt(Error::corrupt("manifest entry names no file")));
    }
    // Nearly all paths pass this cheap test.
    if path.contains("/.") || path.contains("./") || path == ".." {
        refuse_climbing(path).map_err(corrupt)?;
    }
    Ok(())
}

fn check_data_file(entries: &ManifestEntries, row: usize) -> Result<()> {
    check_location(entries, row)?;
    let columns = &entries.columns;
    let message = if columns.content(row) != DataContent::Data {
        "data manifest lists a delete file"
    } else if columns.file_format(row) == FileFormat::Puffin {
        "puffin cannot be the format of a data file"
    } else {
        return Ok(());
    };
    Err(Error::corrupt(message)
        .with_context("file", columns.path(row))
        .with_context("manifest", entries.manifest.manifest_path.as_str()))
}

/// Tasks and what they were counted as.
#[derive(Debug, Default)]
struct Output {
    tasks: Vec<FileScanTask>,
    metrics: ScanMetrics,
}

impl Output {
    fn push(&mut self, task: FileScanTask) {
        let metrics = &mut self.metrics;
        metrics.result_data_files += 1;
        let size = u64::try_from(task.file_size_in_bytes()).unwrap_or(0);
        metrics.total_file_size_in_bytes = metrics.total_file_size_in_bytes.saturating_add(size);
        if !task.deletes.is_empty() {
            metrics.result_delete_files += task.deletes.len() as u64;
            let size = metrics.total_delete_file_size_in_bytes;
            metrics.total_delete_file_size_in_bytes = size.saturating_add(task.delete_size_in_bytes());
        }
        self.tasks.push(task);
    }
}

/// Loaded manifests on their way through blocking threads, in order.
struct Batches<'a> {
    planner: &'a Arc<Planner>,
    deletes: Arc<DeleteFileIndex>,
    no_deletes: Arc<[DeleteTask]>,
    waiting: Vec<Loaded>,
    waiting_rows: usize,
    running: FuturesOrdered<JoinHandle<Result<Output>>>,
    done: Output,
}

impl<'a> Batches<'a> {
    fn new(planner: &'a Arc<Planner>, deletes: Arc<DeleteFileIndex>) -> Self {
        Batches {
            planner,
            deletes,
            no_deletes: Arc::from([]),
            waiting: Vec::new(),
            waiting_rows: 0,
            running: FuturesOrdered::new(),
            done: Output::default(),
        }
    }

    async fn push(&mut self, loaded: Loaded) -> Result<()> {
        self.waiting_rows += loaded.1.len;
        self.waiting.push(loaded);
        if self.waiting_rows >= BATCH_ROWS {
            self.start().await?;
        }
        Ok(())
    }

    /// Hands what waits to a thread.
    async fn start(&mut self) -> Result<()> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        if self.running.len() >= self.planner.concurrency {
            self.collect_one().await?;
        }
        let batch = std::mem::take(&mut self.waiting);
        self.waiting_rows = 0;
        let planner = Arc::clone(self.planner);
        let (deletes, no_deletes) = (Arc::clone(&self.deletes), Arc::clone(&self.no_deletes));
        self.running.push_back(spawn_blocking(move || {
            let mut output = Output::default();
            for loaded in batch {
                planner.tasks_of(loaded, &deletes, &no_deletes, &mut output)?;
            }
            Ok(output)
        }));
        Ok(())
    }

    async fn collect_one(&mut self) -> Result<bool> {
        let Some(output) = self.running.next().await else {
            return Ok(false);
        };
        let output = joined(output)??;
        self.done.metrics += output.metrics;
        if self.done.tasks.is_empty() {
            self.done.tasks = output.tasks;
        } else {
            self.done.tasks.extend(output.tasks);
        }
        Ok(true)
    }

    async fn finish(mut self) -> Result<(Vec<FileScanTask>, ScanMetrics)> {
        self.start().await?;
        while self.collect_one().await? {}
        Ok((self.done.tasks, self.done.metrics))
    }
}

fn joined<T>(result: std::result::Result<T, tokio::task::JoinError>) -> Result<T> {
    result.map_err(|e| Error::new(ErrorKind::Io, "a planning thread did not finish").with_source(e))
}
