//! The scan of one snapshot (Java: `DataTableScan`, `SnapshotScan`, `ManifestGroup`).

use std::collections::BTreeMap;
use std::sync::Arc;
use std::thread::available_parallelism;
use std::time::Instant;

use super::entry_selection::EntrySelection;
use super::filter::{RowMatch, ScanFilter};
use super::planner::Planner;
use super::snapshots::SnapshotSelector;
use super::task::FileScanTask;
use crate::deletes::DeleteKind;
use crate::deletes::index_cache::DeleteIndexCache;
use crate::error::{Error, Result, ResultExt};
use crate::expr::sanitize::Sanitizer;
use crate::expr::{CaseSensitivity, Predicate};
use crate::io::FileIo;
use crate::manifest::cache::ManifestCache;
use crate::manifest::columns::MetricsProjection;
use crate::manifest::manifest_file::{ManifestContent, ManifestFile};
use crate::metrics::{ScanMetrics, ScanMetricsResult, ScanReport, sanitized_filter};
use crate::spec::schema::SchemaRef;
use crate::spec::snapshot::Snapshot;
use crate::spec::table_metadata::TableMetadataRef;
use crate::spec::types::FieldId;

/// Fewest manifests that are fetched at a time, whatever the number of cores: fetching waits more than it computes.
const MIN_CONCURRENCY: usize = 8;

/// Which statistics tasks keep. More cost memory in the cache and time to decode.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Statistics {
    /// Only those that the filter and equality deletes need.
    #[default]
    AsNeeded,
    /// Those of these columns too.
    Of(Vec<FieldId>),
    /// All, and the offsets at which files may be split.
    All,
}

/// What every scan of a table needs to know. A builder: all but table, files and cache have defaults.
#[derive(Debug, Clone)]
pub struct ScanSetup {
    metadata: TableMetadataRef,
    io: FileIo,
    cache: ManifestCache,
    delete_indexes: DeleteIndexCache,
    filter: Predicate,
    case_sensitivity: CaseSensitivity,
    statistics: Statistics,
    pub(super) concurrency: usize,
}

impl ScanSetup {
    /// A scan of all rows.
    pub fn new(metadata: TableMetadataRef, io: FileIo, cache: ManifestCache) -> Self {
        ScanSetup {
            metadata,
            io,
            cache,
            delete_indexes: DeleteIndexCache::default(),
            filter: Predicate::AlwaysTrue,
            case_sensitivity: CaseSensitivity::Sensitive,
            statistics: Statistics::default(),
            concurrency: available_parallelism().map_or(1, usize::from).max(MIN_CONCURRENCY),
        }
    }

    /// Shares large delete indexes with other scans. By default only clones of this setup share them.
    #[must_use]
    pub fn delete_indexes(mut self, cache: DeleteIndexCache) -> Self {
        self.delete_indexes = cache;
        self
    }

    /// Only files that may hold rows of this filter.
    #[must_use]
    pub fn filter(mut self, filter: Predicate) -> Self {
        self.filter = filter;
        self
    }

    /// How names in the filter are compared. Sensitive by default.
    #[must_use]
    pub fn case_sensitivity(mut self, case_sensitivity: CaseSensitivity) -> Self {
        self.case_sensitivity = case_sensitivity;
        self
    }

    /// Which statistics tasks keep.
    #[must_use]
    pub fn statistics(mut self, statistics: Statistics) -> Self {
        self.statistics = statistics;
        self
    }

    /// How many manifests are read at a time; at least 1.
    #[must_use]
    pub fn concurrency(mut self, concurrency: usize) -> Self {
        self.concurrency = concurrency.max(1);
        self
    }

    /// The table.
    pub fn metadata(&self) -> &TableMetadataRef {
        &self.metadata
    }

    pub(super) fn planner(&self, schema: &SchemaRef, selection: EntrySelection) -> Result<Arc<Planner>> {
        let filter = ScanFilter::new(&self.filter, &self.metadata, schema, self.case_sensitivity)?;
        let filter = Arc::new(filter);
        // Where files are named, the filter only says where they may be: all of their deletes are wanted.
        let deletes_of = match &selection {
            EntrySelection::At(locations) if !locations.is_empty() => {
                let all = ScanFilter::new(&Predicate::AlwaysTrue, &self.metadata, schema, self.case_sensitivity)?;
                Arc::new(all)
            }
            _ => Arc::clone(&filter),
        };
        Ok(Arc::new(Planner {
            metadata: Arc::clone(&self.metadata),
            io: self.io.clone(),
            cache: self.cache.clone(),
            delete_indexes: self.delete_indexes.clone(),
            filter,
            deletes_of,
            statistics: match &self.statistics {
                Statistics::AsNeeded => MetricsProjection::None,
                Statistics::Of(ids) => MetricsProjection::fields(ids.iter().copied()),
                Statistics::All => MetricsProjection::All,
            },
            selection,
            concurrency: self.concurrency,
        }))
    }

    /// The manifests of a snapshot, in the order of their list.
    pub(super) async fn manifests(&self, snapshot: &Snapshot) -> Result<Arc<Vec<ManifestFile>>> {
        self.cache.manifests(&self.io, &self.metadata, snapshot).await
    }
}

/// A scan of one snapshot.
#[derive(Debug, Clone)]
pub struct TableScan {
    setup: ScanSetup,
    selector: SnapshotSelector,
    selection: EntrySelection,
}

impl TableScan {
    /// A scan of the current snapshot.
    pub fn new(setup: ScanSetup) -> Self {
        TableScan {
            setup,
            selector: SnapshotSelector::Current,
            selection: EntrySelection::Live,
        }
    }

    /// Plans these data files, at locations as the manifests spell them, with all of their deletes. The setup's filter
    /// must hold of some row of each: it only spares looking for them where they cannot be.
    #[must_use]
    pub fn only_files(mut self, locations: impl IntoIterator<Item = Arc<str>>) -> Self {
        self.selection = EntrySelection::At(Arc::new(locations.into_iter().collect()));
        self
    }

    /// Reads this snapshot.
    #[must_use]
    pub fn snapshot(mut self, selector: SnapshotSelector) -> Self {
        self.selector = selector;
        self
    }

    /// Finds the files to read, with their deletes. Must run on a tokio runtime.
    ///
    /// Where one path is listed twice in a snapshot, which the spec forbids without asking readers to check, both
    /// entries become tasks.
    ///
    /// # Errors
    /// As [`SnapshotSelector::select`]; `InvalidInput` for a filter that does not fit the schema; `NotFound`, `Io` and
    /// `Corrupt` for missing and broken manifests, as for entries that break the spec.
    pub async fn plan(&self) -> Result<ScanPlan> {
        let started = Instant::now();
        let setup = &self.setup;
        let selected = self.selector.select(&setup.metadata)?;
        let planner = setup.planner(&selected.schema, self.selection.clone())?;
        let mut plan = ScanPlan {
            snapshot: selected.snapshot,
            schema: selected.schema,
            filter: Arc::clone(&planner.filter),
            tasks: Vec::new(),
            metrics: ScanMetrics::default(),
        };
        if let Some(snapshot) = plan.snapshot.clone() {
            let planned = self.plan_snapshot(&planner, &snapshot, &mut plan.metrics).await;
            plan.tasks = planned.context("snapshot", snapshot.snapshot_id.to_string())?;
        }
        plan.metrics.total_planning_duration_ns = started.elapsed().as_nanos() as u64;
        Ok(plan)
    }

    async fn plan_snapshot(
        &self,
        planner: &Arc<Planner>,
        snapshot: &Snapshot,
        metrics: &mut ScanMetrics,
    ) -> Result<Vec<FileScanTask>> {
        let manifests = self.setup.manifests(snapshot).await?;
        let of = |content| -> Vec<&ManifestFile> { manifests.iter().filter(|m| m.content == content).collect() };
        let deletes = planner.index_deletes(of(ManifestContent::Deletes), metrics).await?;
        planner.plan_files(of(ManifestContent::Data), deletes, metrics).await
    }
}

/// A planned scan.
#[derive(Debug)]
pub struct ScanPlan {
    /// The snapshot that is read; `None` for an empty table. Of an incremental scan the last one of the range.
    pub snapshot: Option<Arc<Snapshot>>,
    /// The schema to read it with, to which the filter is bound.
    pub schema: SchemaRef,
    /// The filter.
    pub filter: Arc<ScanFilter>,
    /// The files to read, in the order of their manifests.
    pub tasks: Vec<FileScanTask>,
    /// What planning did.
    pub metrics: ScanMetrics,
}

/// Which deletes a plan's files need.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlannedDeletes {
    /// None.
    None,
    /// Deletion vectors only, whose cardinality is known.
    DeletionVectors,
    /// Position or equality delete files among them.
    Files,
}

impl ScanPlan {
    /// Rows in all files, before deletes and whatever the filter leaves of them. Negative counts are taken as 0.
    pub fn record_count(&self) -> u64 {
        let counts = self.tasks.iter().map(|t| u64::try_from(t.record_count()).unwrap_or(0));
        counts.fold(0, u64::saturating_add)
    }

    /// Which deletes must be applied.
    pub fn deletes(&self) -> PlannedDeletes {
        let mut found = PlannedDeletes::None;
        for delete in self.tasks.iter().flat_map(|t| t.deletes().iter()) {
            match delete.kind() {
                DeleteKind::DeletionVector => found = PlannedDeletes::DeletionVectors,
                DeleteKind::Position | DeleteKind::Equality => return PlannedDeletes::Files,
            }
        }
        found
    }

    /// The exact number of rows that match the filter, when metadata alone can tell: every file matches in full, and
    /// no deletes but deletion vectors apply. `None` otherwise.
    pub fn exact_row_count(&self) -> Option<u64> {
        let mut total: u64 = 0;
        for task in &self.tasks {
            if task.row_match() != RowMatch::All {
                return None;
            }
            total = total.checked_add(task.live_record_count()?)?;
        }
        Some(total)
    }

    /// The report of this plan. `projected` are the ids of the columns that are read, at all depths.
    ///
    /// # Errors
    /// `InvalidInput` for a plan without snapshot: an empty table's scan is not reported.
    pub fn report(
        &self,
        table_name: &str,
        projected: &[FieldId],
        metadata: BTreeMap<String, String>,
    ) -> Result<ScanReport> {
        let Some(snapshot) = &self.snapshot else {
            return Err(Error::invalid("the scan of an empty table has no report"));
        };
        let names = projected
            .iter()
            .map(|id| self.schema.full_name(*id).unwrap_or_default());
        Ok(ScanReport {
            table_name: table_name.to_string(),
            snapshot_id: snapshot.snapshot_id,
            filter: sanitized_filter(self.filter.predicate(), &Sanitizer::now()),
            schema_id: self.schema.schema_id(),
            projected_field_ids: projected.to_vec(),
            projected_field_names: names.map(str::to_string).collect(),
            metrics: ScanMetricsResult::from(&self.metrics),
            metadata,
        })
    }
}

#[cfg(test)]
mod tests;
