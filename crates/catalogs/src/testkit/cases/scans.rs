//! Scans of loaded tables: what one load made warm serves the next.

use std::sync::Arc;

use tarn_format::catalog::{Catalog, Table};
use tarn_format::commit::append::fast_append;
use tarn_format::commit::{CommitOptions, commit};
use tarn_format::manifest::cache::ManifestCache;
use tarn_format::manifest::data_file::{DataContent, DataFile, FileFormat};
use tarn_format::scan::{ScanPlan, ScanSetup, TableScan};
use tarn_format::spec::snapshot::SnapshotManifests;
use tarn_format::{ErrorKind, Result};

use super::case;
use crate::testkit::fixture::{ident, make_table};
use crate::testkit::{Case, CaseResult, ensure, equal, refused};

pub(super) const CASES: &[Case] = &[case!(a_second_load_plans_from_what_the_first_cached)];

const FILES: usize = 3;

async fn plan(table: &Table, cache: &ManifestCache) -> Result<ScanPlan> {
    let setup = ScanSetup::new(Arc::clone(&table.metadata), table.io.clone(), cache.clone());
    TableScan::new(setup).plan().await
}

async fn a_second_load_plans_from_what_the_first_cached(catalog: &dyn Catalog) -> CaseResult {
    let name = ident("db.t");
    let table = make_table(catalog, &name, &[]).await?;
    let files = (0..FILES).map(|i| {
        let path = format!("{}/data/{i}.parquet", table.metadata.location);
        let mut file = DataFile::new(DataContent::Data, path, FileFormat::Parquet);
        (file.record_count, file.file_size_in_bytes) = (1, 100);
        Arc::new(file)
    });
    commit(catalog, &table, fast_append(files), &CommitOptions::default()).await?;

    let cache = ManifestCache::default();
    let first = catalog.load_table(&name).await?;
    equal(plan(&first, &cache).await?.tasks.len(), FILES, "files")?;
    let snapshot = first.metadata.current_snapshot();
    let list = snapshot.and_then(|s| match &s.manifests {
        SnapshotManifests::List(location) => Some(location.clone()),
        SnapshotManifests::Embedded(_) => None,
    });
    ensure(list.is_some(), || "the snapshot has no manifest list".to_owned())?;
    // Without its manifest list a table can be planned only from the cache.
    first.io.delete(&list.unwrap_or_default()).await?;
    let manifests = first.io.list(&format!("{}/metadata", first.metadata.location)).await?;
    for file in manifests.iter().filter(|f| f.location.ends_with(".avro")) {
        first.io.delete(&file.location).await?;
    }
    let second = catalog.load_table(&name).await?;
    refused(
        plan(&second, &ManifestCache::default()).await.map(|_| ()),
        ErrorKind::NotFound,
        "planning without the cache",
    )?;
    equal(plan(&second, &cache).await?.tasks.len(), FILES, "files")
}
