use std::sync::Arc;
use std::time::Duration;

use tarn_format::ErrorKind;
use tarn_format::catalog::{Catalog, Purge, Table, TableCommit, TableIdent};
use tarn_format::io::FileIo;
use tarn_format::io::location::join;
use tarn_format::spec::metadata_file::WriteMode;
use tarn_format::spec::snapshot::Properties;
use tarn_format::spec::table_metadata::TableMetadata;
use tarn_format::update::{MetadataBuilder, TableUpdate};

use super::HadoopCatalog;
use super::commit::{Base, NewVersion};
use super::sweep::Grace;
use crate::metadata_ops::file::MetadataFile;
use crate::metadata_ops::settings::CatalogSettings;
use crate::testkit::fixture::{append_snapshot, ident, make_table, namespace, properties, set_property, table};

const PLACE: &str = "s3://b/wh/db/t";

/// Keeps one version before the current one.
pub(super) const FORGETFUL: [(&str, &str); 2] = [
    ("write.metadata.delete-after-commit.enabled", "true"),
    ("write.metadata.previous-versions-max", "1"),
];

/// Versions that the log drops are deleted at once.
pub(super) const NO_GRACE: Grace = Grace {
    versions: 0,
    age: Duration::ZERO,
};

fn catalog() -> HadoopCatalog {
    catalog_at("s3://b/wh", FileIo::memory())
}

/// A catalog that deletes old versions at once.
pub(super) fn catalog_at(warehouse: &str, io: FileIo) -> HadoopCatalog {
    let settings = CatalogSettings {
        warehouse: Some(warehouse.to_owned()),
        ..CatalogSettings::default()
    };
    HadoopCatalog {
        grace: NO_GRACE,
        ..HadoopCatalog::new("test", io, settings).unwrap()
    }
}

fn version(number: u64) -> String {
    format!("{PLACE}/metadata/v{number}.metadata.json")
}

/// A table `db.t` with this many versions, and each of them as it was loaded.
pub(super) async fn with_versions(catalog: &HadoopCatalog, settings: &[(&str, &str)], versions: usize) -> Vec<Table> {
    let mut tables = vec![make_table(catalog, &ident("db.t"), settings).await.unwrap()];
    while tables.len() < versions {
        let commit = set_property(&ident("db.t"), "version", &tables.len().to_string());
        tables.push(catalog.commit_table(commit).await.unwrap());
    }
    tables
}

pub(super) fn after(base: &Table, commit: &TableCommit) -> TableMetadata {
    let mut builder = MetadataBuilder::from_metadata(base.metadata.clone(), base.metadata_location.as_deref());
    builder.apply_all(&commit.updates).unwrap();
    builder.build(base.metadata.last_updated_ms + 1).unwrap()
}

fn late_commit(name: &TableIdent) -> TableCommit {
    set_property(name, "late", "yes")
}

async fn files(catalog: &HadoopCatalog) -> Vec<String> {
    let found = catalog.io.list(&join(PLACE, "metadata")).await.unwrap();
    found
        .into_iter()
        .map(|f| f.location.rsplit('/').next().unwrap().to_owned())
        .collect()
}

#[tokio::test]
async fn versions_count_up_and_the_hint_follows() {
    let catalog = catalog();
    let tables = with_versions(&catalog, &[], 3).await;
    assert_eq!(tables[2].metadata_location, Some(version(3)));
    let expected = [
        "v1.metadata.json",
        "v2.metadata.json",
        "v3.metadata.json",
        "version-hint.text",
    ];
    assert_eq!(files(&catalog).await, expected);
    let hint = catalog
        .io
        .read(&join(PLACE, "metadata/version-hint.text"))
        .await
        .unwrap();
    assert_eq!(&hint[..], b"3");
}

#[tokio::test]
async fn metadata_is_never_compressed() {
    let catalog = catalog();
    let codec = [("write.metadata.compression-codec", "gzip")];
    let tables = with_versions(&catalog, &codec, 2).await;
    assert_eq!(tables[1].metadata_location, Some(version(2)));
    assert!(catalog.io.read(&version(2)).await.unwrap().starts_with(b"{"));
}

#[tokio::test]
async fn compressed_versions_of_other_writers_are_gone_on_from() {
    for name in ["v2.gz.metadata.json", "v2.metadata.json.gz"] {
        let catalog = catalog();
        let tables = with_versions(&catalog, &[], 1).await;
        let location = join(PLACE, &format!("metadata/{name}"));
        let second = after(&tables[0], &late_commit(&ident("db.t")));
        second.write(&catalog.io, &location, WriteMode::Create).await.unwrap();
        let loaded = catalog.load_table(&ident("db.t")).await.unwrap();
        assert_eq!(loaded.metadata_location.as_deref(), Some(location.as_str()));
        let third = catalog
            .commit_table(set_property(&ident("db.t"), "a", "b"))
            .await
            .unwrap();
        assert_eq!(third.metadata_location, Some(version(3)));
        assert_eq!(third.metadata.properties.get("late").map(String::as_str), Some("yes"));
    }
}

#[tokio::test]
async fn a_late_writer_cannot_make_a_deleted_version_again() {
    let (catalog, name) = (catalog(), ident("db.t"));
    let tables = with_versions(&catalog, &FORGETFUL, 7).await;
    assert!(!catalog.io.exists(&version(4)).await.unwrap());
    let metadata = after(&tables[2], &late_commit(&name));
    let late = NewVersion {
        io: &catalog.io,
        ident: &name,
        table_location: PLACE,
        base: Some(Base {
            number: 3,
            metadata: &tables[2].metadata,
        }),
        metadata: &metadata,
        grace: catalog.grace,
    };
    assert_eq!(late.commit().await.unwrap_err().kind(), ErrorKind::Conflict);
    // Had it come later still, after its look at the base, it would have been found out as well.
    metadata.create_file(&catalog.io, &version(4)).await.unwrap();
    assert_eq!(format!("{:?}", late.fate(&version(4)).await.unwrap()), "Lost");
    catalog.io.delete(&version(4)).await.unwrap();
    assert_eq!(
        files(&catalog).await,
        ["v6.metadata.json", "v7.metadata.json", "version-hint.text"]
    );
    assert_eq!(catalog.load_table(&name).await.unwrap().metadata, tables[6].metadata);
}

#[tokio::test]
async fn a_late_creation_cannot_begin_a_table_again() {
    let (catalog, name) = (catalog(), ident("db.t"));
    let tables = with_versions(&catalog, &FORGETFUL, 4).await;
    let mut other = TableMetadata::clone(&tables[0].metadata);
    other.last_updated_ms += 1;
    let late = NewVersion {
        io: &catalog.io,
        ident: &name,
        table_location: PLACE,
        base: None,
        metadata: &other,
        grace: catalog.grace,
    };
    assert_eq!(late.commit().await.unwrap_err().kind(), ErrorKind::AlreadyExists);
    assert_eq!(catalog.load_table(&name).await.unwrap().metadata, tables[3].metadata);
    assert!(!catalog.io.exists(&version(1)).await.unwrap());
}

/// Lets a writer create its version, runs `meanwhile`, and then lets it look around.
async fn interrupted<F: AsyncFnOnce(&HadoopCatalog)>(
    settings: &[(&str, &str)],
    meanwhile: F,
) -> (HadoopCatalog, String) {
    let (catalog, name) = (catalog(), ident("db.t"));
    let tables = with_versions(&catalog, settings, 2).await;
    let metadata = after(&tables[1], &append_snapshot(&name, &tables[1].metadata, 5));
    let writer = NewVersion {
        io: &catalog.io,
        ident: &name,
        table_location: PLACE,
        base: Some(Base {
            number: 2,
            metadata: &tables[1].metadata,
        }),
        metadata: &metadata,
        grace: catalog.grace,
    };
    metadata.create_file(&catalog.io, &version(3)).await.unwrap();
    meanwhile(&catalog).await;
    let fate = format!("{:?}", writer.fate(&version(3)).await.unwrap());
    (catalog, fate)
}

pub(super) async fn commit_times(catalog: &HadoopCatalog, times: u32) {
    for i in 0..times {
        catalog
            .commit_table(set_property(&ident("db.t"), "after", &i.to_string()))
            .await
            .unwrap();
    }
}

#[tokio::test]
async fn a_version_that_others_built_on_is_committed() {
    let (catalog, fate) = interrupted(&[], async |catalog| commit_times(catalog, 3).await).await;
    assert_eq!(fate, "Committed");
    let table = catalog.load_table(&ident("db.t")).await.unwrap();
    assert_eq!(table.metadata_location, Some(version(6)));
    assert_eq!(table.metadata.current_snapshot_id, Some(5));
}

#[tokio::test]
async fn the_next_version_tells_when_the_log_of_the_last_is_too_short() {
    let short = [("write.metadata.previous-versions-max", "1")];
    let (_, fate) = interrupted(&short, async |catalog| commit_times(catalog, 4).await).await;
    assert_eq!(fate, "Committed");
}

#[tokio::test]
async fn a_version_that_was_deleted_since_is_known_by_what_it_brought() {
    let (_, fate) = interrupted(&FORGETFUL, async |catalog| commit_times(catalog, 4).await).await;
    assert_eq!(fate, "Committed");
}

#[tokio::test]
async fn a_version_that_was_deleted_with_all_that_knew_it_stays_unknown() {
    let drop_snapshot = async |catalog: &HadoopCatalog| {
        let commit = TableCommit {
            ident: ident("db.t"),
            requirements: vec![],
            updates: vec![
                TableUpdate::RemoveSnapshotRef("main".to_owned()),
                TableUpdate::RemoveSnapshots(vec![5]),
            ],
        };
        catalog.commit_table(commit).await.unwrap();
        commit_times(catalog, 4).await;
    };
    let (_, fate) = interrupted(&FORGETFUL, drop_snapshot).await;
    assert_eq!(fate, "Unclear");
}

#[tokio::test]
async fn versions_are_deleted_in_ascending_order_without_gaps() {
    let catalog = catalog();
    // Versions 1 to 4 leave the log before deletion is switched on.
    with_versions(&catalog, &[("write.metadata.previous-versions-max", "2")], 6).await;
    assert!(catalog.io.exists(&version(1)).await.unwrap());
    let on = set_property(&ident("db.t"), "write.metadata.delete-after-commit.enabled", "true");
    catalog.commit_table(on).await.unwrap();
    let left = [
        "v5.metadata.json",
        "v6.metadata.json",
        "v7.metadata.json",
        "version-hint.text",
    ];
    assert_eq!(files(&catalog).await, left);
}

#[tokio::test]
async fn a_dropped_table_is_not_revived() {
    let drop = async |catalog: &HadoopCatalog| catalog.drop_table(&ident("db.t"), Purge::Delete).await.unwrap();
    let (_, fate) = interrupted(&[], drop).await;
    assert_eq!(fate, "Dropped");

    let (catalog, name) = (catalog(), ident("db.t"));
    let tables = with_versions(&catalog, &[], 2).await;
    catalog.drop_table(&name, Purge::Keep).await.unwrap();
    let metadata = after(&tables[1], &late_commit(&name));
    let late = NewVersion {
        io: &catalog.io,
        ident: &name,
        table_location: PLACE,
        base: Some(Base {
            number: 2,
            metadata: &tables[1].metadata,
        }),
        metadata: &metadata,
        grace: catalog.grace,
    };
    assert_eq!(late.commit().await.unwrap_err().kind(), ErrorKind::NotFound);
    assert!(!catalog.table_exists(&name).await.unwrap());
}

#[tokio::test]
async fn a_compressed_rival_of_the_same_version_wins() {
    let rival = async |catalog: &HadoopCatalog| {
        let base = TableMetadata::read(&catalog.io, &version(2)).await.unwrap();
        let location = join(PLACE, "metadata/v3.gz.metadata.json");
        base.write(&catalog.io, &location, WriteMode::Create).await.unwrap();
    };
    let (_, fate) = interrupted(&[], rival).await;
    assert_eq!(fate, "Lost");
}

#[tokio::test]
async fn moving_a_table_or_its_metadata_is_refused() {
    let (catalog, name) = (catalog(), ident("db.t"));
    let before = with_versions(&catalog, &[], 1).await.remove(0);
    let elsewhere = TableCommit {
        ident: name.clone(),
        requirements: vec![],
        updates: vec![TableUpdate::SetLocation("s3://b/elsewhere".to_owned())],
    };
    assert_eq!(
        catalog.commit_table(elsewhere).await.unwrap_err().kind(),
        ErrorKind::Unsupported
    );
    let moved = catalog
        .commit_table(set_property(&name, "write.metadata.path", "s3://b/m"))
        .await;
    assert_eq!(moved.unwrap_err().kind(), ErrorKind::Unsupported);
    let created = catalog
        .create_table(&ident("db.u"), table(&[("write.metadata.path", "s3://b/m")]).unwrap())
        .await;
    assert_eq!(created.unwrap_err().kind(), ErrorKind::Unsupported);
    let mut placed = table(&[]).unwrap();
    placed.location = Some("s3://b/elsewhere".to_owned());
    assert_eq!(
        catalog.create_table(&ident("db.u"), placed).await.unwrap_err().kind(),
        ErrorKind::Unsupported
    );
    assert_eq!(catalog.load_table(&name).await.unwrap().metadata, before.metadata);
    assert_eq!(catalog.list_tables(&name.namespace).await.unwrap(), vec![name]);
}

#[tokio::test]
async fn renames_views_and_namespace_properties_are_refused() {
    let (catalog, name) = (catalog(), ident("db.t"));
    with_versions(&catalog, &[], 1).await;
    let kinds = [
        catalog.rename_table(&name, &ident("db.u")).await.unwrap_err().kind(),
        catalog
            .create_view(&ident("db.v"), crate::testkit::fixture::view("select 1").unwrap())
            .await
            .unwrap_err()
            .kind(),
        catalog
            .create_namespace(&namespace(&["x"]), properties(&[("a", "b")]))
            .await
            .unwrap_err()
            .kind(),
        catalog
            .update_namespace(&namespace(&["db"]), &[], properties(&[("a", "b")]))
            .await
            .unwrap_err()
            .kind(),
    ];
    assert_eq!(kinds, [ErrorKind::Unsupported; 4]);
    assert_eq!(catalog.list_views(&namespace(&["db"])).await.unwrap(), vec![]);
    assert_eq!(
        catalog.load_view(&ident("db.v")).await.unwrap_err().kind(),
        ErrorKind::NotFound
    );
}

#[tokio::test]
async fn a_table_of_another_catalog_is_read_and_can_be_registered() {
    let (catalog, name) = (catalog(), ident("db.t"));
    let made = with_versions(&catalog, &[], 1).await.remove(0);
    let foreign = join(
        PLACE,
        "metadata/00003-0c9f8a34-5b0e-4f5d-9d1c-000000000000.metadata.json",
    );
    made.metadata
        .write(&catalog.io, &foreign, WriteMode::Create)
        .await
        .unwrap();
    for gone in [version(1), join(PLACE, "metadata/version-hint.text")] {
        catalog.io.delete(&gone).await.unwrap();
    }
    let loaded = catalog.load_table(&name).await.unwrap();
    assert_eq!(loaded.metadata_location.as_deref(), Some(foreign.as_str()));
    assert_eq!(catalog.list_tables(&name.namespace).await.unwrap(), vec![name.clone()]);
    let refused = catalog.commit_table(set_property(&name, "a", "b")).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Unsupported);

    let registered = catalog.register_table(&name, &foreign).await.unwrap();
    assert_eq!(registered.metadata_location, Some(version(1)));
    assert_eq!(registered.metadata, made.metadata);
    catalog.commit_table(set_property(&name, "a", "b")).await.unwrap();
    assert_eq!(
        catalog.register_table(&name, &foreign).await.unwrap_err().kind(),
        ErrorKind::AlreadyExists
    );
    let elsewhere = catalog.register_table(&ident("db.u"), &foreign).await.unwrap_err();
    assert_eq!(elsewhere.kind(), ErrorKind::Unsupported);
}

#[tokio::test]
async fn tables_and_namespaces_do_not_lie_in_each_other() {
    let (catalog, name) = (catalog(), ident("db.t"));
    with_versions(&catalog, &[], 1).await;
    let inside = catalog
        .create_namespace(&namespace(&["db", "t", "x"]), Properties::new())
        .await
        .unwrap_err();
    assert_eq!(inside.kind(), ErrorKind::AlreadyExists);
    let in_table = catalog
        .create_table(&ident("db.t.u"), table(&[]).unwrap())
        .await
        .unwrap_err();
    assert_eq!(in_table.kind(), ErrorKind::NotFound);
    catalog
        .create_namespace(&namespace(&["db", "n", "deep"]), Properties::new())
        .await
        .unwrap();
    let over = catalog
        .create_table(&ident("db.n"), table(&[]).unwrap())
        .await
        .unwrap_err();
    assert_eq!(over.kind(), ErrorKind::AlreadyExists);
    assert_eq!(
        catalog.list_namespaces(&name.namespace).await.unwrap(),
        vec![namespace(&["db", "n"])]
    );
    for climbing in ["..", "a/b", "."] {
        let refused = catalog
            .create_namespace(&namespace(&[climbing]), Properties::new())
            .await
            .unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::InvalidInput, "{climbing}");
        assert!(!catalog.namespace_exists(&namespace(&[climbing])).await.unwrap());
    }
}

#[tokio::test]
async fn gc_disabled_keeps_all_but_metadata_files() {
    let (catalog, name) = (catalog(), ident("db.t"));
    with_versions(&catalog, &[("gc.enabled", "false")], 2).await;
    let data = join(PLACE, "data/f.parquet");
    catalog.io.write(&data, "rows".into()).await.unwrap();
    for purge in [Purge::Keep, Purge::Delete] {
        catalog.drop_table(&name, purge).await.unwrap();
        assert!(!catalog.table_exists(&name).await.unwrap());
        assert!(catalog.io.exists(&data).await.unwrap());
        assert_eq!(files(&catalog).await, Vec::<String>::new());
        catalog
            .create_table(&name, table(&[("gc.enabled", "false")]).unwrap())
            .await
            .unwrap();
    }
}

#[tokio::test]
async fn unreadable_metadata_can_still_be_dropped() {
    let (catalog, name) = (catalog(), ident("db.t"));
    with_versions(&catalog, &[], 2).await;
    catalog.io.write(&version(2), "{".into()).await.unwrap();
    assert_eq!(catalog.load_table(&name).await.unwrap_err().kind(), ErrorKind::Corrupt);
    catalog.drop_table(&name, Purge::Delete).await.unwrap();
    assert!(!catalog.table_exists(&name).await.unwrap());
}

#[tokio::test]
async fn many_writers_that_forget_fast_lose_nothing() {
    let directory = tempfile::TempDir::new().unwrap();
    let warehouse = directory.path().to_str().unwrap().to_owned();
    let settings = CatalogSettings {
        warehouse: Some(warehouse),
        ..CatalogSettings::default()
    };
    let catalog = Arc::new(HadoopCatalog::new("test", FileIo::local(), settings).unwrap());
    let name = ident("db.t");
    make_table(&*catalog, &name, &FORGETFUL).await.unwrap();
    let writers = (0..8).map(|w| {
        let (catalog, name) = (catalog.clone(), name.clone());
        tokio::spawn(async move { crate::testkit::race::append_all(&*catalog, &name, w, 10).await })
    });
    for writer in futures::future::join_all(writers).await {
        writer.unwrap().unwrap();
    }
    crate::testkit::race::check_all_landed(&catalog.load_table(&name).await.unwrap(), 8, 10).unwrap();
}
