use tarn_format::catalog::Catalog;
use tarn_format::io::fault::{Effect, Fault, FaultStore, Operation};
use tempfile::TempDir;

use super::*;
use crate::hadoop::tests::{catalog_at, with_versions};
use crate::testkit::fixture::{ident, namespace};

async fn locations(io: &FileIo, place: &str) -> Vec<String> {
    let found = io.list(place).await.unwrap();
    found.into_iter().map(|f| f.location).collect()
}

#[tokio::test]
async fn a_local_table_vanishes_whole_whenever_its_drop_is_killed() {
    let name = ident("db.t");
    for effect in [Effect::None, Effect::Done] {
        for index in 0.. {
            let directory = TempDir::new().unwrap();
            let warehouse = directory.path().to_str().unwrap();
            let place = format!("{warehouse}/db/t");
            let store = FaultStore::local();
            let catalog = catalog_at(warehouse, store.file_io());
            with_versions(&catalog, &[], 3).await;
            catalog
                .io
                .write(&join(&place, "data/f.parquet"), "rows".into())
                .await
                .unwrap();
            let before = locations(&catalog.io, &place).await;
            store.set(Fault::killed_at(index).effect(effect));
            let dropped = catalog.drop_table(&name, Purge::Delete).await;
            let killed = store.was_hit();
            store.heal();
            let left = locations(&catalog.io, &place).await;
            assert!(
                left == before || !catalog.io.dir_exists(&place).await.unwrap(),
                "{left:?}"
            );
            let tables = catalog.list_tables(&name.namespace).await.unwrap();
            assert_eq!(tables.is_empty(), left.is_empty());
            assert_eq!(catalog.list_namespaces(&name.namespace).await.unwrap(), []);
            if left.is_empty() {
                catalog.drop_namespace(&name.namespace).await.unwrap();
            }
            if !killed {
                dropped.unwrap();
                assert!(left.is_empty() && index > 3, "{index}");
                break;
            }
        }
    }
}

#[tokio::test]
async fn nothing_that_a_new_table_may_own_is_deleted_once_the_name_is_free() {
    let store = FaultStore::memory();
    let catalog = catalog_at("s3://b/wh", store.file_io());
    let place = "s3://b/wh/db/t";
    with_versions(&catalog, &[], 3).await;
    catalog
        .io
        .write(&join(place, "data/f.parquet"), "rows".into())
        .await
        .unwrap();
    store.clear_records();
    catalog.drop_table(&ident("db.t"), Purge::Delete).await.unwrap();
    let records = store.records();
    let deleted: Vec<&str> = records
        .iter()
        .filter(|r| r.operation == Operation::Delete)
        .map(|r| r.path.as_str())
        .collect();
    let freed = deleted.iter().position(|p| p.ends_with("v3.metadata.json")).unwrap();
    let after: Vec<&&str> = deleted[freed + 1..].iter().collect();
    assert!(after.iter().any(|p| p.ends_with("data/f.parquet")), "{after:?}");
    let comes_again = |p: &str| p.ends_with(".metadata.json") || p.ends_with("version-hint.text");
    assert!(!after.iter().any(|p| comes_again(p)), "{after:?}");
    assert_eq!(locations(&catalog.io, place).await, Vec::<String>::new());
}

#[tokio::test]
async fn a_table_that_took_the_place_meanwhile_is_not_swept_away() {
    let catalog = catalog_at("s3://b/wh", FileIo::memory());
    let (name, place) = (ident("db.t"), "s3://b/wh/db/t");
    let old = with_versions(&catalog, &[], 2).await;
    catalog.drop_table(&name, Purge::Keep).await.unwrap();
    let new = with_versions(&catalog, &[], 1).await;
    delete_versions(&catalog.io, place, Some(&old[1].metadata))
        .await
        .unwrap();
    assert_eq!(catalog.load_table(&name).await.unwrap().metadata, new[0].metadata);
}

#[tokio::test]
async fn remains_of_dropped_tables_are_no_names() {
    let catalog = catalog_at("s3://b/wh", FileIo::memory());
    let versions = with_versions(&catalog, &[], 1).await;
    let tombstone = tombstone_of("s3://b/wh/db/t");
    let remains = join(&metadata_dir(&tombstone), "v1.metadata.json");
    catalog.io.write(&remains, "{}".into()).await.unwrap();
    let hidden = tarn_format::catalog::TableIdent::new(namespace(&["db"]), file_name(&tombstone));
    assert_eq!(
        catalog.list_tables(&namespace(&["db"])).await.unwrap(),
        [versions[0].ident.clone()]
    );
    assert_eq!(catalog.list_namespaces(&namespace(&["db"])).await.unwrap(), []);
    assert!(!catalog.table_exists(&hidden).await.unwrap());
    let filled = catalog.drop_namespace(&namespace(&["db"])).await.unwrap_err();
    assert_eq!(filled.kind(), ErrorKind::NotEmpty);
    catalog.drop_table(&ident("db.t"), Purge::Delete).await.unwrap();
}
