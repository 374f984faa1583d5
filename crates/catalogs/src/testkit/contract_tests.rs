//! The contract over every backend of this crate.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use async_trait::async_trait;
use tarn_format::Result;
use tarn_format::catalog::Catalog;
use tarn_format::io::{Durability, FileIo};
use tempfile::TempDir;

use super::{Backend, Skip, run_contract};
use crate::load::load_catalog_with_io;

/// Catalogs below a temporary directory, made from properties.
#[derive(Debug)]
struct Loaded {
    name: &'static str,
    properties: fn(PathBuf) -> Vec<(&'static str, String)>,
    skips: fn() -> Vec<Skip>,
    io: fn() -> FileIo,
    directory: TempDir,
    made: AtomicU32,
}

impl Loaded {
    fn new(
        name: &'static str,
        properties: fn(PathBuf) -> Vec<(&'static str, String)>,
        skips: fn() -> Vec<Skip>,
    ) -> Self {
        Loaded {
            name,
            properties,
            skips,
            io: unsynced_files,
            directory: TempDir::new().unwrap(),
            made: AtomicU32::new(0),
        }
    }
}

#[async_trait]
impl Backend for Loaded {
    fn name(&self) -> &str {
        self.name
    }

    async fn fresh(&self) -> Result<Arc<dyn Catalog>> {
        let number = self.made.fetch_add(1, Ordering::Relaxed);
        let pairs = (self.properties)(self.directory.path().join(format!("catalog-{number}")));
        let properties: BTreeMap<String, String> = pairs.into_iter().map(|(k, v)| (k.to_owned(), v)).collect();
        load_catalog_with_io("test", &properties, (self.io)())
    }

    fn skips(&self) -> Vec<Skip> {
        (self.skips)()
    }
}

/// Local files that need not survive a power failure: the contract is not about that, and syncing takes its time.
fn unsynced_files() -> FileIo {
    FileIo::builder().with_durability(Durability::OsCache).build()
}

fn no_skips() -> Vec<Skip> {
    Vec::new()
}

fn skip(cases: &[&'static str], reason: &'static str) -> Vec<Skip> {
    cases.iter().map(|case| Skip { case, reason }).collect()
}

const VIEWS: [&str; 7] = [
    "a_created_view_is_loaded_as_created",
    "views_and_tables_share_names",
    "views_are_listed_apart_from_tables",
    "missing_views_are_not_found",
    "a_view_is_changed_by_a_commit",
    "a_view_is_renamed",
    "a_view_is_dropped",
];

fn hadoop_skips() -> Vec<Skip> {
    let renames = [
        "a_table_is_renamed_with_its_history",
        "renames_to_taken_or_missing_places_are_refused",
    ];
    let places = [
        "a_table_goes_where_it_is_told",
        "a_dropped_table_is_registered_again",
        "registering_needs_a_free_name_and_a_metadata_file",
    ];
    [
        skip(&VIEWS, "a directory has no views"),
        skip(&renames, "a directory is its table's name"),
        skip(&places, "a directory table lies in its directory"),
        skip(
            &["old_metadata_files_are_deleted_when_asked"],
            "old versions of a directory table stay for a while",
        ),
        skip(
            &["namespace_properties_are_set_and_removed"],
            "a directory has no properties",
        ),
    ]
    .concat()
}

async fn assert_contract(backend: Loaded) {
    let report = run_contract(&backend).await;
    println!("{}: {} cases passed", backend.name(), report.passed.len());
    for skip in &report.skipped {
        println!("{}: {} skipped: {}", backend.name(), skip.case, skip.reason);
    }
    assert!(report.failed.is_empty(), "{}: {:#?}", backend.name(), report.failed);
    assert!(report.passed.len() > 20);
}

#[tokio::test]
async fn memory_keeps_the_contract() {
    let backend = Loaded::new("memory", |_| vec![("type", "memory".into())], no_skips);
    assert_contract(Loaded {
        io: FileIo::memory,
        ..backend
    })
    .await;
}

#[tokio::test]
async fn memory_with_local_files_keeps_the_contract() {
    let properties = |at: PathBuf| vec![("type", "memory".into()), ("warehouse", at.display().to_string())];
    assert_contract(Loaded::new("memory, local files", properties, no_skips)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn hadoop_keeps_the_contract() {
    let properties = |at: PathBuf| vec![("type", "hadoop".into()), ("warehouse", at.display().to_string())];
    assert_contract(Loaded::new("hadoop", properties, hadoop_skips)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn hadoop_on_an_object_store_keeps_the_contract() {
    let properties = |at: PathBuf| {
        vec![
            ("type", "hadoop".into()),
            ("warehouse", format!("s3://wh{}", at.display())),
        ]
    };
    let backend = Loaded {
        io: FileIo::memory,
        ..Loaded::new("hadoop, objects", properties, hadoop_skips)
    };
    assert_contract(backend).await;
}

fn sqlite(at: PathBuf) -> Vec<(&'static str, String)> {
    let uri = format!("sqlite://{}/cat.db", at.display());
    vec![
        ("type", "sqlite".into()),
        ("uri", uri),
        ("warehouse", at.join("wh").display().to_string()),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn sqlite_keeps_the_contract() {
    assert_contract(Loaded::new("sqlite", sqlite, no_skips)).await;
}

#[tokio::test]
async fn sqlite_in_memory_keeps_the_contract() {
    let properties = |at: PathBuf| {
        let mut pairs = sqlite(at);
        pairs[1].1 = "sqlite::memory:".into();
        pairs
    };
    assert_contract(Loaded::new("sqlite in memory", properties, no_skips)).await;
}
