//! A catalog in memory that loses races, loses answers and fails on demand.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use uuid::Uuid;

use crate::catalog::{
    Catalog, Namespace, Purge, Table, TableCommit, TableCreation, TableIdent, View, ViewCommit, ViewCreation,
};
use crate::commit::{CommitOptions, Transaction};
use crate::error::{Error, ErrorKind, Result};
use crate::io::FileIo;
use crate::spec::snapshot::Properties;
use crate::spec::table_metadata::{TableMetadata, TableMetadataRef};
use crate::update::{MetadataBuilder, TableRequirement, TableUpdate, creation_updates};

/// What the next commit does instead of just happening.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Nothing special.
    Pass,
    /// Refused as if another writer had won.
    Conflict,
    /// Happens, but is refused as if another writer had won.
    ConflictApplied,
    /// Happens, but is refused as if another writer had won, and the catalog cannot be reached any more.
    ConflictAppliedAndBlind,
    /// Happens, and another writer builds on it and expires it, but it is refused as if that one had won.
    ConflictAppliedAndExpired,
    /// Happens, but is refused as if it had been there.
    ExistsApplied,
    /// Happens, but the answer is lost.
    UnknownApplied,
    /// Happens, but ends in a plain failure.
    IoApplied,
    /// Does not happen, and the answer is lost.
    UnknownLost,
    /// Fails for good before it happens.
    Io,
    /// Does not happen, the answer is lost, and the catalog cannot be reached any more.
    UnknownAndBlind,
    /// Does not happen, the answer is lost, and another writer commits an empty snapshot.
    UnknownOvertaken,
}

#[derive(Debug, Default)]
struct State {
    tables: BTreeMap<TableIdent, (TableMetadataRef, String)>,
    faults: VecDeque<Fault>,
    rivals: VecDeque<Transaction>,
    blind: bool,
    commits: u32,
}

/// Keeps tables in memory and their metadata files in `io`.
#[derive(Debug)]
pub(crate) struct TestCatalog {
    io: FileIo,
    state: Mutex<State>,
}

impl TestCatalog {
    pub(crate) fn new(io: FileIo) -> Self {
        TestCatalog {
            io,
            state: Mutex::default(),
        }
    }

    /// Lets the next commits fail like this.
    pub(crate) fn inject(&self, faults: impl IntoIterator<Item = Fault>) {
        self.state.lock().unwrap().faults.extend(faults);
    }

    /// Lets another writer commit this just before the next commit that no earlier rival met.
    pub(crate) fn rival(&self, transaction: Transaction) {
        self.state.lock().unwrap().rivals.push_back(transaction);
    }

    /// Lets the next rival commit, if there is one.
    async fn let_rival_commit(&self) -> Result<()> {
        let (rival, later, faults) = {
            let mut state = self.state.lock().unwrap();
            let Some(rival) = state.rivals.pop_front() else {
                return Ok(());
            };
            (
                rival,
                std::mem::take(&mut state.rivals),
                std::mem::take(&mut state.faults),
            )
        };
        rival.commit(self, &CommitOptions::default()).await?;
        let mut state = self.state.lock().unwrap();
        state.rivals = later;
        state.faults = faults;
        Ok(())
    }

    /// Forgets faults that no commit met.
    pub(crate) fn clear_faults(&self) {
        self.state.lock().unwrap().faults.clear();
    }

    /// Makes the catalog reachable again.
    pub(crate) fn see_again(&self) {
        self.state.lock().unwrap().blind = false;
    }

    /// Makes the table what no writer of today would: for states that old writers left.
    pub(crate) fn meddle(&self, ident: &TableIdent, change: impl FnOnce(&mut TableMetadata)) {
        let mut state = self.state.lock().unwrap();
        let (metadata, _) = state.tables.get_mut(ident).unwrap();
        change(Arc::make_mut(metadata));
    }

    /// Commits that reached the catalog.
    pub(crate) fn commits(&self) -> u32 {
        self.state.lock().unwrap().commits
    }

    fn table(&self, ident: &TableIdent, metadata: TableMetadataRef, location: Option<String>) -> Table {
        Table {
            ident: ident.clone(),
            metadata,
            metadata_location: location,
            io: self.io.clone(),
        }
    }

    fn now() -> i64 {
        chrono::Utc::now().timestamp_millis()
    }

    fn current(&self, ident: &TableIdent) -> Option<(TableMetadataRef, String)> {
        self.state.lock().unwrap().tables.get(ident).cloned()
    }

    async fn swap(&self, commit: TableCommit) -> Result<Table> {
        let before = self.current(&commit.ident);
        for requirement in &commit.requirements {
            requirement.check(before.as_ref().map(|(m, _)| m.as_ref()))?;
        }
        let mut builder = match &before {
            Some((metadata, location)) => MetadataBuilder::from_metadata(Arc::clone(metadata), Some(location)),
            None => MetadataBuilder::empty(),
        };
        builder.apply_all(&commit.updates)?;
        let metadata = Arc::new(builder.build(Self::now())?);
        let location = format!("{}/metadata/{}.metadata.json", metadata.location, Uuid::new_v4());
        self.io.create(&location, metadata.to_json()?.into()).await?;
        let mut state = self.state.lock().unwrap();
        if state.tables.get(&commit.ident) != before.as_ref() {
            return Err(Error::conflict("another writer was first"));
        }
        state
            .tables
            .insert(commit.ident.clone(), (Arc::clone(&metadata), location.clone()));
        drop(state);
        Ok(self.table(&commit.ident, metadata, Some(location)))
    }
}

#[async_trait]
impl Catalog for TestCatalog {
    fn name(&self) -> &str {
        "test"
    }

    fn file_io(&self) -> &FileIo {
        &self.io
    }

    async fn create_table(&self, ident: &TableIdent, creation: TableCreation) -> Result<Table> {
        let staged = self.stage_table(ident, creation).await?;
        let commit = TableCommit {
            ident: ident.clone(),
            requirements: vec![TableRequirement::NotExist],
            updates: creation_updates(&staged.metadata),
        };
        self.swap(commit).await
    }

    async fn stage_table(&self, ident: &TableIdent, creation: TableCreation) -> Result<Table> {
        let location = creation.location.clone();
        let location = location.unwrap_or_else(|| format!("memory://wh/{}", ident.name));
        let builder = MetadataBuilder::new_table(&creation, &location, Uuid::new_v4())?;
        Ok(self.table(ident, Arc::new(builder.build(Self::now())?), None))
    }

    async fn load_table(&self, ident: &TableIdent) -> Result<Table> {
        let state = self.state.lock().unwrap();
        if state.blind {
            return Err(Error::new(ErrorKind::Io, "the catalog cannot be reached"));
        }
        let (metadata, location) = state
            .tables
            .get(ident)
            .cloned()
            .ok_or_else(|| Error::not_found("no such table"))?;
        drop(state);
        Ok(self.table(ident, metadata, Some(location)))
    }

    async fn commit_table(&self, commit: TableCommit) -> Result<Table> {
        let fault = {
            let mut state = self.state.lock().unwrap();
            state.commits += 1;
            state.faults.pop_front().unwrap_or(Fault::Pass)
        };
        self.let_rival_commit().await?;
        let unknown = || Error::new(ErrorKind::CommitStateUnknown, "the answer was lost");
        match fault {
            Fault::Pass => self.swap(commit).await,
            Fault::Conflict => Err(Error::conflict("another writer was first")),
            Fault::ConflictApplied => {
                self.swap(commit).await?;
                Err(Error::conflict("another writer was first"))
            }
            Fault::ConflictAppliedAndBlind => {
                self.swap(commit).await?;
                self.state.lock().unwrap().blind = true;
                Err(Error::conflict("another writer was first"))
            }
            Fault::ConflictAppliedAndExpired => {
                let table = self.swap(commit).await?;
                let expired = table.metadata.current_snapshot_id.into_iter().collect();
                Transaction::on(table.ident.clone())
                    .change(crate::commit::append::fast_append([]))
                    .update(move |_| Ok(vec![TableUpdate::RemoveSnapshots(Vec::clone(&expired))]))
                    .commit(self, &CommitOptions::default())
                    .await?;
                Err(Error::conflict("another writer was first"))
            }
            Fault::ExistsApplied => {
                self.swap(commit).await?;
                Err(Error::new(ErrorKind::AlreadyExists, "the table exists"))
            }
            Fault::IoApplied => {
                self.swap(commit).await?;
                Err(Error::new(ErrorKind::Io, "disk full"))
            }
            Fault::UnknownApplied => {
                self.swap(commit).await?;
                Err(unknown())
            }
            Fault::UnknownLost => Err(unknown()),
            Fault::Io => Err(Error::new(ErrorKind::Io, "disk full")),
            Fault::UnknownAndBlind => {
                self.state.lock().unwrap().blind = true;
                Err(unknown())
            }
            Fault::UnknownOvertaken => {
                let other = crate::commit::append::fast_append([]);
                let transaction = Transaction::on(commit.ident).change(other);
                transaction.commit(self, &CommitOptions::default()).await?;
                Err(unknown())
            }
        }
    }

    async fn list_namespaces(&self, _: &Namespace) -> Result<Vec<Namespace>> {
        Ok(Vec::new())
    }
    async fn create_namespace(&self, _: &Namespace, _: Properties) -> Result<()> {
        Err(unsupported())
    }
    async fn load_namespace(&self, _: &Namespace) -> Result<Properties> {
        Err(unsupported())
    }
    async fn namespace_exists(&self, _: &Namespace) -> Result<bool> {
        Ok(true)
    }
    async fn update_namespace(&self, _: &Namespace, _: &[String], _: Properties) -> Result<()> {
        Err(unsupported())
    }
    async fn drop_namespace(&self, _: &Namespace) -> Result<()> {
        Err(unsupported())
    }
    async fn list_tables(&self, _: &Namespace) -> Result<Vec<TableIdent>> {
        Ok(self.state.lock().unwrap().tables.keys().cloned().collect())
    }
    async fn table_exists(&self, ident: &TableIdent) -> Result<bool> {
        Ok(self.current(ident).is_some())
    }
    async fn register_table(&self, _: &TableIdent, _: &str) -> Result<Table> {
        Err(unsupported())
    }
    async fn drop_table(&self, ident: &TableIdent, _: Purge) -> Result<()> {
        self.state.lock().unwrap().tables.remove(ident);
        Ok(())
    }
    async fn rename_table(&self, _: &TableIdent, _: &TableIdent) -> Result<()> {
        Err(unsupported())
    }
    async fn list_views(&self, _: &Namespace) -> Result<Vec<TableIdent>> {
        Ok(Vec::new())
    }
    async fn view_exists(&self, _: &TableIdent) -> Result<bool> {
        Ok(false)
    }
    async fn create_view(&self, _: &TableIdent, _: ViewCreation) -> Result<View> {
        Err(unsupported())
    }
    async fn load_view(&self, _: &TableIdent) -> Result<View> {
        Err(unsupported())
    }
    async fn drop_view(&self, _: &TableIdent) -> Result<()> {
        Err(unsupported())
    }
    async fn rename_view(&self, _: &TableIdent, _: &TableIdent) -> Result<()> {
        Err(unsupported())
    }
    async fn commit_view(&self, _: ViewCommit) -> Result<View> {
        Err(unsupported())
    }
}

fn unsupported() -> Error {
    Error::unsupported("not part of the test catalog")
}
