//! The commit loop: load, apply, commit, and on a lost race again; find out lost answers; clean up.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Instant;

use chrono::Utc;

use super::attempt::Attempt;
use super::cleanup::delete_unreachable;
use super::options::CommitOptions;
use super::outcome::CommitOutcome;
use super::producer::Producer;
use super::retry::RetryPolicy;
use super::settings::CommitSettings;
use super::status_check::{self, CommitStatus, Sought, SoughtTable};
use super::transaction::{Origin, Step, Transaction, UpdateFn};
use crate::catalog::{Catalog, Table, TableCommit, TableIdent};
use crate::error::{Error, ErrorKind, Result};
use crate::io::FileIo;
use crate::metrics::{CommitMetrics, CommitMetricsResult, CommitReport, MetricsReport};
use crate::spec::snapshot::{Properties, Snapshot, SnapshotManifests};
use crate::spec::table_metadata::TableMetadata;
use crate::update::requirements::{requirements_for_create, requirements_for_replace, requirements_for_update};
use crate::update::{MetadataBuilder, TableUpdate, creation_updates};

/// A step with what its attempts share.
enum Work {
    Change(Box<Producer>),
    Update(UpdateFn),
}

/// A running transaction.
struct Run<'a> {
    catalog: &'a dyn Catalog,
    options: &'a CommitOptions,
    origin: Origin,
    work: Vec<Work>,
    /// Access to the table's files.
    io: FileIo,
    /// How the table, when last seen, wanted unknown outcomes looked into.
    status_check: RetryPolicy,
    /// What attempts that were told they lost would have committed.
    lost: Vec<Prepared>,
}

/// What one attempt commits.
struct Prepared {
    commit: TableCommit,
    snapshot_ids: Vec<i64>,
    reachable: HashSet<String>,
}

/// How an attempt failed.
enum Failure {
    /// Another writer was first: the next attempt may succeed.
    Lost(Error),
    /// The commit did not happen and is not tried again.
    Sure(Error),
    /// Nobody knows.
    Unknown(Error),
}

/// Commits a transaction.
pub(crate) async fn run(
    transaction: Transaction,
    catalog: &dyn Catalog,
    options: &CommitOptions,
) -> Result<CommitOutcome> {
    let work = transaction.steps.into_iter().map(|step| match step {
        Step::Change(mut change) => {
            for (key, value) in &options.environment {
                change.summary.entry(key.clone()).or_insert_with(|| value.clone());
            }
            Work::Change(Box::new(Producer::new(*change)))
        }
        Step::Update(update) => Work::Update(update),
    });
    let mut run = Run {
        catalog,
        options,
        work: work.collect(),
        origin: transaction.origin,
        io: catalog.file_io().clone(),
        status_check: CommitSettings::from_properties(&Properties::new()).status_check,
        lost: Vec::new(),
    };
    let ident = run.ident().clone();
    run.repeat()
        .await
        .map_err(|error| error.with_context("table", ident.to_string()))
}

impl Run<'_> {
    fn ident(&self) -> &TableIdent {
        match &self.origin {
            Origin::Existing(ident, _) => ident,
            Origin::Create(table) | Origin::Replace { table, .. } => &table.ident,
        }
    }

    async fn repeat(&mut self) -> Result<CommitOutcome> {
        let begun = Instant::now();
        let mut attempts = 0;
        loop {
            attempts += 1;
            let (table, settings) = match Box::pin(self.load()).await {
                Ok(loaded) => loaded,
                Err(error) => return self.give_up(error, attempts - 1, begun).await,
            };
            if let Some(prepared) = self.found_in(&table) {
                return Ok(self.succeed(table, prepared, attempts - 1, begun).await);
            }
            let policy = self.options.retry.unwrap_or(settings.retry);
            match Box::pin(self.attempt(&table)).await {
                Ok((table, prepared)) => return Ok(self.succeed(table, prepared, attempts, begun).await),
                Err(Failure::Lost(error)) if self.may_repeat() && policy.allows_another(attempts, begun.elapsed()) => {
                    let wait = policy.wait(attempts);
                    tracing::info!(table = %self.ident(), %error, attempts, ?wait, "commit lost a race, trying again");
                    tokio::time::sleep(wait).await;
                }
                Err(Failure::Lost(error) | Failure::Sure(error)) => {
                    return self.give_up(error, attempts, begun).await;
                }
                Err(Failure::Unknown(error)) => return Err(error),
            }
        }
    }

    /// Ends the commit with `error` and without a trace, unless an attempt that was told it lost is in the table.
    async fn give_up(&mut self, error: Error, attempts: u32, begun: Instant) -> Result<CommitOutcome> {
        let Some(last) = self.lost.last() else {
            delete_unreachable(&self.io, self.written(), &HashSet::new()).await;
            return Err(error);
        };
        match self.status_of(self.sought(last, None)).await {
            CommitStatus::Committed(table) => match self.found_in(&table).or_else(|| self.lost.pop()) {
                Some(prepared) => Ok(self.succeed(*table, prepared, attempts, begun).await),
                None => Err(error),
            },
            // Without snapshots nothing was written, and nothing tells more than the refusal.
            CommitStatus::Unknown if last.snapshot_ids.is_empty() && self.may_repeat() => Err(error),
            CommitStatus::Unknown => Err(Error::new(
                ErrorKind::CommitStateUnknown,
                "the commit was refused, but whether it happened all the same cannot be found out: look at the table \
                 before trying again",
            )
            .with_source(error)),
            CommitStatus::Failed | CommitStatus::Missing => {
                delete_unreachable(&self.io, self.written(), &HashSet::new()).await;
                Err(error)
            }
        }
    }

    /// The earlier attempt that committed after all: a request that is sent twice on the way loses to itself.
    fn found_in(&mut self, table: &Table) -> Option<Prepared> {
        let snapshots = &table.metadata.snapshots;
        let found = self.lost.iter().position(|prepared| {
            let mut added = added_snapshots(&prepared.commit);
            // Attempts share ids; their lists differ.
            added.any(|ours| is_in(&table.metadata, ours))
        });
        // Others may have built on it and expired it since.
        let built_on = || {
            self.lost.iter().rposition(|prepared| {
                let is_ours = |parent: i64| prepared.snapshot_ids.contains(&parent);
                snapshots.iter().any(|s| s.parent_snapshot_id.is_some_and(is_ours))
            })
        };
        let position = found.or_else(built_on)?;
        Some(self.lost.swap_remove(position))
    }

    async fn status_of(&self, sought: Sought<'_>) -> CommitStatus {
        status_check::check(self.catalog, self.ident(), &self.status_check, sought).await
    }

    /// What tells that an attempt committed.
    fn sought<'a>(&'a self, prepared: &'a Prepared, base: Option<&'a Table>) -> Sought<'a> {
        Sought {
            updates: &prepared.commit.updates,
            snapshot_ids: &prepared.snapshot_ids,
            table: match &self.origin {
                Origin::Create(table) => SoughtTable::Created(table.metadata.table_uuid),
                Origin::Replace { table, .. } => SoughtTable::Existing(table.metadata.table_uuid),
                Origin::Existing(_, uuid) => SoughtTable::Existing(*uuid),
            },
            base_location: base.and_then(|base| base.metadata_location.as_deref()),
        }
    }

    async fn succeed(&self, table: Table, prepared: Prepared, attempts: u32, begun: Instant) -> CommitOutcome {
        self.clean_after_success(&table, &prepared).await;
        let outcome = CommitOutcome {
            table,
            snapshot_ids: prepared.snapshot_ids,
            attempts,
            duration: begun.elapsed(),
        };
        self.report(&outcome);
        outcome
    }

    /// A table that is created has no newer state to try again on.
    fn may_repeat(&self) -> bool {
        !matches!(self.origin, Origin::Create(_))
    }

    async fn load(&mut self) -> Result<(Table, CommitSettings)> {
        let table = match &self.origin {
            Origin::Create(table) => table.as_ref().clone(),
            Origin::Existing(..) | Origin::Replace { .. } => self.catalog.load_table(self.ident()).await?,
        };
        let uuid = table.metadata.table_uuid;
        match &mut self.origin {
            // From the first attempt on, it is this table.
            Origin::Existing(_, expected @ None) => *expected = uuid,
            Origin::Existing(_, Some(expected)) if uuid != Some(*expected) => return Err(another_table()),
            Origin::Replace { table, .. } if uuid != table.metadata.table_uuid => return Err(another_table()),
            _ => {}
        }
        let settings = CommitSettings::from_properties(&table.metadata.properties);
        (self.io, self.status_check) = (table.io.clone(), settings.status_check);
        Ok((table, settings))
    }

    fn written(&self) -> Vec<String> {
        let producers = self.work.iter().filter_map(|work| match work {
            Work::Change(producer) => Some(producer.written()),
            Work::Update(_) => None,
        });
        producers.flatten().collect()
    }

    async fn attempt(&mut self, table: &Table) -> Result<(Table, Prepared), Failure> {
        let prepared = Box::pin(self.prepare(table)).await.map_err(Failure::Sure)?;
        if prepared.commit.updates.is_empty() {
            return Ok((table.clone(), prepared));
        }
        let error = match self.catalog.commit_table(prepared.commit.clone()).await {
            Ok(table) => return Ok((table, prepared)),
            Err(error) => error,
        };
        match error.kind() {
            ErrorKind::Conflict => {
                self.lost.push(prepared);
                Err(Failure::Lost(error))
            }
            // That it exists may be our own doing.
            ErrorKind::AlreadyExists if !self.may_repeat() => {
                self.lost.push(prepared);
                Err(Failure::Sure(error))
            }
            ErrorKind::CommitStateUnknown | ErrorKind::Io => self.look_into(error, prepared, table).await,
            _ => Err(Failure::Sure(error)),
        }
    }

    /// Finds out what became of a commit that answered with `error`.
    async fn look_into(&self, error: Error, prepared: Prepared, base: &Table) -> Result<(Table, Prepared), Failure> {
        let sought = self.sought(&prepared, Some(base));
        let status = self.status_of(sought).await;
        match status {
            CommitStatus::Committed(table) => Ok((*table, prepared)),
            CommitStatus::Failed => Err(Failure::Lost(error.with_kind(ErrorKind::Conflict))),
            // A catalog answers with a plain I/O error only when it had not begun to swap the metadata.
            CommitStatus::Missing if error.kind() == ErrorKind::Io => Err(Failure::Sure(error)),
            CommitStatus::Missing | CommitStatus::Unknown => {
                Err(Failure::Unknown(error.with_kind(ErrorKind::CommitStateUnknown)))
            }
        }
    }

    /// Applies all steps to the table.
    async fn prepare(&mut self, table: &Table) -> Result<Prepared> {
        let mut stage = Stage {
            io: &table.io,
            options: self.options,
            current: Arc::clone(&table.metadata),
            pending: Vec::new(),
            updates: Vec::new(),
            snapshot_ids: Vec::new(),
            reachable: HashSet::new(),
        };
        match &self.origin {
            Origin::Existing(..) if table.metadata.table_uuid.is_none() => {
                stage.push(vec![TableUpdate::AssignUuid(uuid::Uuid::new_v4())]);
            }
            Origin::Existing(..) => {}
            Origin::Create(staged) => stage.updates.extend(creation_updates(&staged.metadata)),
            Origin::Replace { table: before, updates } => {
                for requirement in requirements_for_replace(&before.metadata, updates) {
                    requirement.check(Some(&table.metadata))?;
                }
                stage.push(updates.clone());
            }
        }
        for work in &mut self.work {
            stage.advance()?;
            Box::pin(stage.apply(work)).await?;
        }
        stage.pending.clear();
        let requirements = match &self.origin {
            Origin::Existing(..) => requirements_for_update(&table.metadata, &stage.updates),
            Origin::Create(_) => requirements_for_create(),
            Origin::Replace { table, .. } => requirements_for_replace(&table.metadata, &stage.updates),
        };
        Ok(Prepared {
            commit: TableCommit {
                ident: self.ident().clone(),
                requirements,
                updates: stage.updates,
            },
            snapshot_ids: stage.snapshot_ids,
            reachable: stage.reachable,
        })
    }

    /// Deletes what earlier attempts wrote and the committed snapshots don't use.
    async fn clean_after_success(&self, table: &Table, prepared: &Prepared) {
        // Other writers may have removed the snapshot again, but another list under its id means trouble.
        if added_snapshots(&prepared.commit).all(|ours| is_in(&table.metadata, ours)) {
            delete_unreachable(&table.io, self.written(), &prepared.reachable).await;
        }
    }

    fn report(&self, outcome: &CommitOutcome) {
        if !self.options.reporter.is_listening() {
            return;
        }
        let metrics = CommitMetrics {
            total_duration_ns: u64::try_from(outcome.duration.as_nanos()).unwrap_or(u64::MAX),
            attempts: u64::from(outcome.attempts),
        };
        let metadata = &outcome.table.metadata;
        for snapshot in outcome
            .snapshot_ids
            .iter()
            .filter_map(|id| metadata.snapshot_by_id(*id))
        {
            self.options.reporter.report(&MetricsReport::Commit(CommitReport {
                table_name: format!("{}.{}", self.catalog.name(), outcome.table.ident),
                snapshot_id: snapshot.snapshot_id,
                sequence_number: snapshot.sequence_number,
                operation: snapshot.operation.map(|o| o.to_string()).unwrap_or_default(),
                metrics: CommitMetricsResult::from_summary(&metrics, &snapshot.summary),
                metadata: self.options.environment.clone(),
            }));
        }
    }
}

fn another_table() -> Error {
    Error::validation("the table was dropped meanwhile and another has its name")
}

fn added_snapshots(commit: &TableCommit) -> impl Iterator<Item = &Snapshot> {
    commit.updates.iter().filter_map(|update| match update {
        TableUpdate::AddSnapshot(snapshot) => Some(snapshot),
        _ => None,
    })
}

/// Whether the table has this snapshot with this list.
fn is_in(metadata: &TableMetadata, ours: &Snapshot) -> bool {
    let theirs = metadata.snapshot_by_id(ours.snapshot_id);
    theirs.is_some_and(|theirs| list_of(theirs) == list_of(ours))
}

fn list_of(snapshot: &Snapshot) -> Option<&str> {
    match &snapshot.manifests {
        SnapshotManifests::List(location) => Some(location),
        SnapshotManifests::Embedded(_) => None,
    }
}

/// The state inside an attempt, between steps.
struct Stage<'a> {
    io: &'a FileIo,
    options: &'a CommitOptions,
    /// The table with all updates but the pending ones.
    current: Arc<TableMetadata>,
    /// Updates not in `current` yet.
    pending: Vec<TableUpdate>,
    /// All updates.
    updates: Vec<TableUpdate>,
    snapshot_ids: Vec<i64>,
    reachable: HashSet<String>,
}

impl Stage<'_> {
    fn push(&mut self, updates: Vec<TableUpdate>) {
        self.pending.extend(updates.iter().cloned());
        self.updates.extend(updates);
    }

    /// Takes the pending updates into `current`.
    fn advance(&mut self) -> Result<()> {
        if self.pending.is_empty() {
            return Ok(());
        }
        let mut builder = MetadataBuilder::from_metadata(Arc::clone(&self.current), None);
        builder.apply_all(&self.pending)?;
        self.pending.clear();
        self.current = Arc::new(builder.build(Utc::now().timestamp_millis())?);
        Ok(())
    }

    async fn apply(&mut self, work: &mut Work) -> Result<()> {
        match work {
            Work::Update(update) => {
                let updates = update(&self.current)?;
                self.push(updates);
            }
            Work::Change(producer) => {
                let current = Arc::clone(&self.current);
                let attempt = Attempt::new(self.io, &self.options.cache, &current)?;
                let produced = Box::pin(producer.apply(&attempt, Utc::now().timestamp_millis())).await?;
                self.snapshot_ids.push(produced.snapshot_id);
                self.reachable.extend(produced.reachable);
                self.push(produced.updates);
            }
        }
        Ok(())
    }
}
