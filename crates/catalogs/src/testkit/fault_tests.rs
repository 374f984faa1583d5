//! What failures and kills at every single I/O leave behind: the table as it was or as it was to be, and orphans.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use tarn_format::catalog::{Catalog, Namespace, Purge, Table, TableIdent};
use tarn_format::io::FileIo;
use tarn_format::io::fault::{Effect, Fault, FaultStore, Operation};
use tarn_format::spec::snapshot::Properties;
use tarn_format::{Error, ErrorKind, Result};
use tempfile::TempDir;

use super::fixture::{append_snapshot, ident, make_table, properties, set_property, table};
use crate::load::load_catalog_with_io;
use crate::memory::MemoryPointers;
use crate::metadata_ops::settings::CatalogSettings;
use crate::metastore::MetastoreCatalog;
use crate::pointers::{EntryKind, Pointer, PointerStore, Swap};

/// No waits between looks at the outcome.
const IMPATIENT: [(&str, &str); 3] = [
    ("commit.status-check.num-retries", "2"),
    ("commit.status-check.min-wait-ms", "0"),
    ("commit.status-check.max-wait-ms", "0"),
];

/// What is done to the table while the store fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Deed {
    Create,
    SetProperty,
    Append,
    Drop(Purge),
}

const DEEDS: [Deed; 5] = [
    Deed::Create,
    Deed::SetProperty,
    Deed::Append,
    Deed::Drop(Purge::Keep),
    Deed::Drop(Purge::Delete),
];

impl Deed {
    async fn run(self, catalog: &dyn Catalog, name: &TableIdent) -> Result<()> {
        match self {
            Deed::Create => catalog.create_table(name, table(&IMPATIENT)?).await.map(drop),
            Deed::SetProperty => catalog.commit_table(set_property(name, "deed", "done")).await.map(drop),
            Deed::Append => {
                let base = catalog.load_table(name).await?;
                catalog
                    .commit_table(append_snapshot(name, &base.metadata, 77))
                    .await
                    .map(drop)
            }
            Deed::Drop(purge) => catalog.drop_table(name, purge).await,
        }
    }

    /// Whether the table shows that the deed was done; panics when it is neither as before nor as after.
    fn was_done(self, before: Option<&Table>, now: Option<&Table>) -> bool {
        match (self, before, now) {
            (Deed::Create, None, now) => now.is_some(),
            (Deed::Drop(_), Some(_), None) => true,
            (_, Some(before), Some(now)) if now.metadata == before.metadata => {
                assert_eq!(now.metadata_location, before.metadata_location);
                false
            }
            (Deed::SetProperty, Some(before), Some(now)) => {
                assert_eq!(now.metadata.properties.get("deed").map(String::as_str), Some("done"));
                assert_eq!(now.metadata.metadata_log.len(), before.metadata.metadata_log.len() + 1);
                true
            }
            (Deed::Append, Some(before), Some(now)) => {
                assert_eq!(now.metadata.current_snapshot_id, Some(77));
                assert_eq!(now.metadata.snapshots.len(), before.metadata.snapshots.len() + 1);
                true
            }
            (deed, before, now) => panic!("{deed:?} led from {before:?} to {now:?}"),
        }
    }
}

/// A catalog whose files are in a store that fails.
struct Site {
    store: FaultStore,
    properties: BTreeMap<String, String>,
    _directory: Option<TempDir>,
}

impl Site {
    fn hadoop_on(store: FaultStore, warehouse: &str, directory: Option<TempDir>) -> Self {
        let properties = properties(&[("type", "hadoop"), ("warehouse", warehouse)]);
        Site {
            store,
            properties,
            _directory: directory,
        }
    }

    fn hadoop_objects() -> Self {
        Self::hadoop_on(FaultStore::memory(), "s3://bucket/wh", None)
    }

    fn hadoop_local() -> Self {
        let directory = TempDir::new().unwrap();
        let warehouse = directory.path().to_str().unwrap().to_owned();
        Self::hadoop_on(FaultStore::local(), &warehouse, Some(directory))
    }

    fn sqlite() -> Self {
        let directory = TempDir::new().unwrap();
        let uri = format!("sqlite://{}/cat.db", directory.path().display());
        let properties = properties(&[("type", "sqlite"), ("uri", &uri), ("warehouse", "s3://bucket/wh")]);
        Site {
            store: FaultStore::memory(),
            properties,
            _directory: Some(directory),
        }
    }

    /// Opens the catalog anew, as a process that starts.
    fn open(&self) -> Arc<dyn Catalog> {
        load_catalog_with_io("faulty", &self.properties, self.store.file_io()).unwrap()
    }
}

async fn current(catalog: &dyn Catalog, name: &TableIdent) -> Option<Table> {
    match catalog.load_table(name).await {
        Ok(table) => Some(table),
        Err(e) if e.kind() == ErrorKind::NotFound => None,
        Err(e) => panic!("the table is neither old nor new: {e:?}"),
    }
}

/// Prepares a table of a few versions (none when it is to be created), does the deed with the fault, and checks what
/// is left. Returns whether the fault was met: if not, the deed has fewer operations.
async fn try_deed(site: &Site, deed: Deed, fault: Fault) -> bool {
    let name = ident("db.t");
    let catalog = site.open();
    catalog
        .create_namespace(&name.namespace, Properties::new())
        .await
        .unwrap();
    if deed != Deed::Create {
        make_table(&*catalog, &name, &IMPATIENT).await.unwrap();
        catalog.commit_table(set_property(&name, "i", "1")).await.unwrap();
        catalog.commit_table(set_property(&name, "i", "2")).await.unwrap();
    }
    let before = current(&*catalog, &name).await;
    site.store.clear_records();
    site.store.set(fault.clone());
    let outcome = deed.run(&*catalog, &name).await;
    let hit = site.store.was_hit();
    site.store.heal();

    let catalog = site.open();
    let now = current(&*catalog, &name).await;
    let done = deed.was_done(before.as_ref(), now.as_ref());
    match outcome {
        Ok(()) => assert!(done, "{deed:?} was reported done, but is not: {fault:?}"),
        Err(e) if e.kind() == ErrorKind::CommitStateUnknown => {}
        // A drop that failed may have removed the table's name already: whoever tries again finds it gone.
        Err(_) if matches!(deed, Deed::Drop(_)) => {}
        Err(e) => assert!(!done, "{deed:?} was reported failed ({e:?}), but was done: {fault:?}"),
    }
    assert_goes_on(&*catalog, &name, now.is_some()).await;
    hit
}

/// The table can be worked with as if nothing had happened.
async fn assert_goes_on(catalog: &dyn Catalog, name: &TableIdent, exists: bool) {
    if !exists {
        catalog.create_table(name, table(&[]).unwrap()).await.unwrap();
    }
    let after = catalog.commit_table(set_property(name, "after", "all")).await.unwrap();
    assert_eq!(catalog.load_table(name).await.unwrap().metadata, after.metadata);
    assert_eq!(catalog.list_tables(&name.namespace).await.unwrap(), vec![name.clone()]);
    catalog.drop_table(name, Purge::Delete).await.unwrap();
    assert_eq!(catalog.list_tables(&name.namespace).await.unwrap(), vec![]);
}

async fn try_every_operation(site: fn() -> Site) {
    let mut tried = 0;
    for deed in DEEDS {
        for effect in [Effect::None, Effect::Done] {
            for fault in [Fault::nth, Fault::killed_at] {
                let mut index = 0;
                while try_deed(&site(), deed, fault(index).effect(effect)).await {
                    index += 1;
                    tried += 1;
                }
                let names_only = deed == Deed::Drop(Purge::Keep);
                assert!(index > 0 || names_only, "{deed:?} does no I/O");
            }
        }
    }
    println!("{tried} faults tried");
}

#[tokio::test]
async fn hadoop_on_an_object_store_survives_every_fault() {
    try_every_operation(Site::hadoop_objects).await;
}

#[tokio::test]
async fn hadoop_on_local_files_survives_every_fault() {
    try_every_operation(Site::hadoop_local).await;
}

#[tokio::test]
async fn sqlite_survives_every_fault_of_its_file_store() {
    try_every_operation(Site::sqlite).await;
}

#[tokio::test]
async fn a_torn_version_hint_misleads_nobody() {
    let site = Site::hadoop_objects();
    let (catalog, name) = (site.open(), ident("db.t"));
    make_table(&*catalog, &name, &[]).await.unwrap();
    for i in 1..12 {
        catalog
            .commit_table(set_property(&name, "i", &i.to_string()))
            .await
            .unwrap();
    }
    // "13" is torn to "1".
    site.store
        .set(Fault::nth(0).only(&[Operation::Write]).effect(Effect::Torn));
    let table = catalog.commit_table(set_property(&name, "i", "12")).await.unwrap();
    assert!(site.store.was_hit());
    site.store.heal();
    assert_eq!(site.open().load_table(&name).await.unwrap().metadata, table.metadata);
}

#[tokio::test]
async fn a_store_that_loses_the_answer_of_a_create_does_not_double_an_append() {
    let site = Site::hadoop_objects();
    let (catalog, name) = (site.open(), ident("db.t"));
    let base = make_table(&*catalog, &name, &IMPATIENT).await.unwrap();
    site.store
        .set(Fault::nth(0).only(&[Operation::Create]).effect(Effect::Done));
    let table = catalog
        .commit_table(append_snapshot(&name, &base.metadata, 5))
        .await
        .unwrap();
    site.store.heal();
    assert_eq!(table.metadata.snapshots.len(), 1);
    assert_eq!(site.open().load_table(&name).await.unwrap().metadata, table.metadata);
}

#[tokio::test]
async fn a_full_disk_is_a_plain_failure() {
    for site in [Site::hadoop_local(), Site::sqlite()] {
        let (catalog, name) = (site.open(), ident("db.t"));
        let before = make_table(&*catalog, &name, &IMPATIENT).await.unwrap();
        let full = Fault::killed_at(0).only(&[Operation::Create, Operation::Write]);
        site.store.set(full.cause(tarn_format::io::fault::Cause::NoSpace));
        let outcome = catalog.commit_table(set_property(&name, "a", "b")).await;
        site.store.heal();
        let error = outcome.unwrap_err();
        assert!(
            matches!(error.kind(), ErrorKind::Io | ErrorKind::CommitStateUnknown),
            "{error:?}"
        );
        assert!(error.to_string().contains("db.t"), "{error}");
        assert_eq!(catalog.load_table(&name).await.unwrap().metadata, before.metadata);
    }
}

/// What the failing pointer store does to a swap or insert.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answer {
    /// It moves the pointer and loses the answer.
    LostAfter,
    /// It loses the question.
    LostBefore,
}

/// Pointers whose store answers moves with "unknown".
#[derive(Debug)]
struct Mumbling {
    inner: MemoryPointers,
    answer: Answer,
}

fn mumble() -> Swap {
    Swap::Unknown(Error::new(ErrorKind::Io, "the connection broke"))
}

#[async_trait]
impl PointerStore for Mumbling {
    async fn child_namespaces(&self, parent: &Namespace) -> Result<Vec<Namespace>> {
        self.inner.child_namespaces(parent).await
    }
    async fn namespace_properties(&self, namespace: &Namespace) -> Result<Option<Properties>> {
        self.inner.namespace_properties(namespace).await
    }
    async fn insert_namespace(&self, namespace: &Namespace, properties: Properties) -> Result<()> {
        self.inner.insert_namespace(namespace, properties).await
    }
    async fn change_namespace(&self, namespace: &Namespace, removals: &[String], updates: Properties) -> Result<()> {
        self.inner.change_namespace(namespace, removals, updates).await
    }
    async fn remove_namespace(&self, namespace: &Namespace) -> Result<()> {
        self.inner.remove_namespace(namespace).await
    }
    async fn names(&self, namespace: &Namespace, kind: EntryKind) -> Result<Vec<String>> {
        self.inner.names(namespace, kind).await
    }
    async fn get(&self, ident: &TableIdent) -> Result<Option<Pointer>> {
        self.inner.get(ident).await
    }
    async fn insert(&self, ident: &TableIdent, pointer: &Pointer) -> Result<Swap> {
        if self.answer == Answer::LostAfter {
            self.inner.insert(ident, pointer).await?;
        }
        Ok(mumble())
    }
    async fn swap(&self, ident: &TableIdent, from: &Pointer, to: &str) -> Result<Swap> {
        if self.answer == Answer::LostAfter {
            self.inner.swap(ident, from, to).await?;
        }
        Ok(mumble())
    }
    async fn remove(&self, ident: &TableIdent, kind: EntryKind) -> Result<Option<String>> {
        self.inner.remove(ident, kind).await
    }
    async fn rename(&self, kind: EntryKind, from: &TableIdent, to: &TableIdent) -> Result<()> {
        self.inner.rename(kind, from, to).await
    }
}

fn mumbling(answer: Answer) -> (MetastoreCatalog, FileIo) {
    let io = FileIo::memory();
    let settings = CatalogSettings {
        warehouse: Some("s3://b/wh".to_owned()),
        ..CatalogSettings::default()
    };
    let pointers = Arc::new(Mumbling {
        inner: MemoryPointers::default(),
        answer,
    });
    (
        MetastoreCatalog::with_pointers("mumbling", io.clone(), settings, pointers),
        io,
    )
}

#[tokio::test]
async fn a_lost_answer_is_looked_up() {
    let (catalog, _) = mumbling(Answer::LostAfter);
    let name = ident("db.t");
    make_table(&catalog, &name, &IMPATIENT).await.unwrap();
    let table = catalog.commit_table(set_property(&name, "a", "b")).await.unwrap();
    assert_eq!(catalog.load_table(&name).await.unwrap().metadata, table.metadata);
}

#[tokio::test]
async fn an_outcome_that_stays_unknown_is_told_and_deletes_nothing() {
    let (catalog, io) = mumbling(Answer::LostBefore);
    let name = ident("db.t");
    let error = make_table(&catalog, &name, &IMPATIENT).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::CommitStateUnknown);
    assert!(error.to_string().contains("db.t"), "{error}");
    assert_eq!(io.list("s3://b/wh").await.unwrap().len(), 1);
}
