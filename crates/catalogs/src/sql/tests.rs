use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sqlx::sqlite::{SqliteConnectOptions, SqlitePoolOptions};
use sqlx::{Row, SqlitePool};
use tarn_format::ErrorKind;
use tarn_format::catalog::{Catalog, Namespace, Purge};
use tarn_format::spec::snapshot::Properties;
use tempfile::TempDir;

use crate::load::load_catalog;
use crate::testkit::fixture::{ident, make_table, namespace, properties, set_property, table, view};

/// The statements by which Iceberg's `JdbcCatalog` makes its tables (V0).
const JAVA_TABLES: &str = "CREATE TABLE iceberg_tables(catalog_name VARCHAR(255) NOT NULL,\
    table_namespace VARCHAR(255) NOT NULL,table_name VARCHAR(255) NOT NULL,metadata_location VARCHAR(1000),\
    previous_metadata_location VARCHAR(1000),PRIMARY KEY (catalog_name, table_namespace, table_name))";
const JAVA_NAMESPACES: &str = "CREATE TABLE iceberg_namespace_properties(catalog_name VARCHAR(255) NOT NULL,\
    namespace VARCHAR(255) NOT NULL,property_key VARCHAR(255),property_value VARCHAR(1000),\
    PRIMARY KEY (catalog_name, namespace, property_key))";

struct Site {
    directory: TempDir,
}

impl Site {
    fn new() -> Self {
        Site {
            directory: TempDir::new().unwrap(),
        }
    }

    fn database(&self) -> PathBuf {
        self.directory.path().join("nested/cat.db")
    }

    async fn open(&self, more: &[(&str, &str)]) -> Arc<dyn Catalog> {
        let uri = format!("jdbc:sqlite:{}", self.database().display());
        let warehouse = self.directory.path().join("wh").display().to_string();
        let mut all: BTreeMap<String, String> =
            properties(&[("type", "jdbc"), ("uri", &uri), ("warehouse", &warehouse)]);
        all.extend(properties(more));
        load_catalog("lake", &all).await.unwrap()
    }

    /// The database behind the catalog's back.
    async fn raw(&self) -> SqlitePool {
        std::fs::create_dir_all(self.database().parent().unwrap()).unwrap();
        let options = SqliteConnectOptions::new()
            .filename(self.database())
            .create_if_missing(true);
        SqlitePoolOptions::new()
            .max_connections(1)
            .connect_with(options)
            .await
            .unwrap()
    }

    async fn java_v0(&self) -> SqlitePool {
        let raw = self.raw().await;
        for statement in [JAVA_TABLES, JAVA_NAMESPACES] {
            sqlx::query(statement).execute(&raw).await.unwrap();
        }
        raw
    }
}

async fn columns(raw: &SqlitePool, table: &'static str) -> Vec<(String, String, i64, i64)> {
    let rows = sqlx::query("SELECT name, type, \"notnull\", pk FROM pragma_table_info(?)").bind(table);
    let rows = rows.fetch_all(raw).await.unwrap();
    rows.iter().map(|r| (r.get(0), r.get(1), r.get(2), r.get(3))).collect()
}

#[tokio::test]
async fn nothing_is_made_before_the_first_write() {
    let site = Site::new();
    let catalog = site.open(&[]).await;
    assert_eq!(catalog.list_namespaces(&Namespace::default()).await.unwrap(), vec![]);
    assert!(!catalog.table_exists(&ident("db.t")).await.unwrap());
    assert_eq!(
        catalog.load_table(&ident("db.t")).await.unwrap_err().kind(),
        ErrorKind::NotFound
    );
    assert_eq!(
        catalog
            .drop_table(&ident("db.t"), Purge::Keep)
            .await
            .unwrap_err()
            .kind(),
        ErrorKind::NotFound
    );
    assert!(!Path::new(&site.database()).parent().unwrap().exists());
}

#[tokio::test]
async fn tables_have_the_columns_of_java() {
    let (ours, java) = (Site::new(), Site::new());
    ours.open(&[])
        .await
        .create_namespace(&namespace(&["db"]), Properties::new())
        .await
        .unwrap();
    let (ours, java) = (ours.raw().await, java.java_v0().await);
    sqlx::query("ALTER TABLE iceberg_tables ADD COLUMN iceberg_type VARCHAR(5)")
        .execute(&java)
        .await
        .unwrap();
    for table in ["iceberg_tables", "iceberg_namespace_properties"] {
        assert_eq!(columns(&ours, table).await, columns(&java, table).await);
    }
    let row: (String, String, String, String) = sqlx::query_as("SELECT * FROM iceberg_namespace_properties")
        .fetch_one(&ours)
        .await
        .unwrap();
    assert_eq!(row, ("lake".into(), "db".into(), "exists".into(), "true".into()));
}

#[tokio::test]
async fn rows_are_those_of_java() {
    let site = Site::new();
    let catalog = site.open(&[]).await;
    let first = make_table(&*catalog, &ident("a.b.t"), &[]).await.unwrap();
    let second = catalog
        .commit_table(set_property(&ident("a.b.t"), "x", "y"))
        .await
        .unwrap();
    let view = catalog
        .create_view(&ident("a.b.v"), view("select 1").unwrap())
        .await
        .unwrap();
    type Stored = (String, String, String, Option<String>, Option<String>, Option<String>);
    let rows: Vec<Stored> = sqlx::query_as("SELECT * FROM iceberg_tables ORDER BY table_name")
        .fetch_all(&site.raw().await)
        .await
        .unwrap();
    let row = |name: &str, location, previous, kind: &str| {
        (
            "lake".to_owned(),
            "a.b".to_owned(),
            name.to_owned(),
            location,
            previous,
            Some(kind.to_owned()),
        )
    };
    let expected = vec![
        row("t", second.metadata_location.clone(), first.metadata_location, "TABLE"),
        row("v", Some(view.metadata_location), None, "VIEW"),
    ];
    assert_eq!(rows, expected);
    assert!(second.metadata_location.unwrap().contains("/a/b/t/metadata/00001-"));
}

#[tokio::test]
async fn a_v0_database_is_migrated_when_its_first_view_is_made() {
    let site = Site::new();
    let raw = site.java_v0().await;
    let catalog = site.open(&[]).await;
    make_table(&*catalog, &ident("db.t"), &[]).await.unwrap();
    catalog
        .commit_table(set_property(&ident("db.t"), "x", "y"))
        .await
        .unwrap();
    assert_eq!(catalog.list_views(&namespace(&["db"])).await.unwrap(), vec![]);
    assert_eq!(
        catalog.load_view(&ident("db.v")).await.unwrap_err().kind(),
        ErrorKind::NotFound
    );
    assert_eq!(
        catalog.drop_view(&ident("db.v")).await.unwrap_err().kind(),
        ErrorKind::NotFound
    );
    assert_eq!(columns(&raw, "iceberg_tables").await.len(), 5);

    catalog
        .create_view(&ident("db.v"), view("select 1").unwrap())
        .await
        .unwrap();
    assert_eq!(columns(&raw, "iceberg_tables").await.len(), 6);
    assert_eq!(
        catalog.list_tables(&namespace(&["db"])).await.unwrap(),
        vec![ident("db.t")]
    );
    catalog
        .commit_table(set_property(&ident("db.t"), "x", "z"))
        .await
        .unwrap();
    catalog.rename_table(&ident("db.t"), &ident("db.u")).await.unwrap();
    catalog.drop_table(&ident("db.u"), Purge::Keep).await.unwrap();
}

#[tokio::test]
async fn another_process_may_migrate_under_an_open_catalog() {
    let site = Site::new();
    let raw = site.java_v0().await;
    let (first, second) = (site.open(&[]).await, site.open(&[]).await);
    make_table(&*first, &ident("db.t"), &[]).await.unwrap();
    second
        .create_view(&ident("db.v"), view("select 1").unwrap())
        .await
        .unwrap();
    assert_eq!(columns(&raw, "iceberg_tables").await.len(), 6);
    assert_eq!(
        first.list_views(&namespace(&["db"])).await.unwrap(),
        vec![ident("db.v")]
    );
    assert_eq!(
        first.list_tables(&namespace(&["db"])).await.unwrap(),
        vec![ident("db.t")]
    );
    first
        .commit_table(set_property(&ident("db.t"), "x", "y"))
        .await
        .unwrap();
}

#[tokio::test]
async fn the_schema_version_decides_what_is_made_and_migrated() {
    let site = Site::new();
    let catalog = site.open(&[("jdbc.schema-version", "V0")]).await;
    make_table(&*catalog, &ident("db.t"), &[]).await.unwrap();
    let refused = catalog
        .create_view(&ident("db.v"), view("select 1").unwrap())
        .await
        .unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Unsupported);
    let raw = site.raw().await;
    assert_eq!(columns(&raw, "iceberg_tables").await.len(), 5);
    let migrating = site.open(&[("jdbc.schema-version", "v1")]).await;
    migrating
        .commit_table(set_property(&ident("db.t"), "x", "y"))
        .await
        .unwrap();
    assert_eq!(columns(&raw, "iceberg_tables").await.len(), 6);
}

#[tokio::test]
async fn tables_are_not_made_where_that_is_forbidden() {
    let site = Site::new();
    let catalog = site.open(&[("jdbc.init-catalog-tables", "false")]).await;
    let refused = catalog
        .create_namespace(&namespace(&["db"]), Properties::new())
        .await
        .unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::NotFound);
    assert_eq!(columns(&site.raw().await, "iceberg_tables").await.len(), 0);
}

#[tokio::test]
async fn a_null_type_is_a_table_and_an_unknown_one_hides_nothing_else() {
    let site = Site::new();
    let catalog = site.open(&[]).await;
    for name in ["db.t", "db.odd"] {
        make_table(&*catalog, &ident(name), &[]).await.unwrap();
    }
    let raw = site.raw().await;
    sqlx::query("UPDATE iceberg_tables SET iceberg_type = NULL WHERE table_name = 't'")
        .execute(&raw)
        .await
        .unwrap();
    sqlx::query("UPDATE iceberg_tables SET iceberg_type = 'INDEX' WHERE table_name = 'odd'")
        .execute(&raw)
        .await
        .unwrap();
    assert_eq!(
        catalog.list_tables(&namespace(&["db"])).await.unwrap(),
        vec![ident("db.t")]
    );
    catalog
        .commit_table(set_property(&ident("db.t"), "x", "y"))
        .await
        .unwrap();
    assert_eq!(
        catalog.load_table(&ident("db.odd")).await.unwrap_err().kind(),
        ErrorKind::Corrupt
    );
    assert_eq!(
        catalog
            .create_table(&ident("db.t"), table(&[]).unwrap())
            .await
            .unwrap_err()
            .kind(),
        ErrorKind::AlreadyExists
    );
}

#[tokio::test]
async fn catalogs_of_other_names_in_the_same_file_are_apart() {
    let site = Site::new();
    let ours = site.open(&[]).await;
    let other = site.open(&[("jdbc.catalog-name", "other")]).await;
    make_table(&*ours, &ident("db.t"), &[]).await.unwrap();
    assert!(!other.table_exists(&ident("db.t")).await.unwrap());
    assert_eq!(other.list_namespaces(&Namespace::default()).await.unwrap(), vec![]);
    make_table(&*other, &ident("db.u"), &[]).await.unwrap();
    assert_eq!(
        ours.list_tables(&namespace(&["db"])).await.unwrap(),
        vec![ident("db.t")]
    );
    let names: Vec<(String,)> = sqlx::query_as("SELECT DISTINCT catalog_name FROM iceberg_tables ORDER BY 1")
        .fetch_all(&site.raw().await)
        .await
        .unwrap();
    assert_eq!(names, vec![("lake".to_owned(),), ("other".to_owned(),)]);
}

#[tokio::test]
async fn the_journal_mode_is_left_alone() {
    for mode in ["delete", "wal"] {
        let site = Site::new();
        let raw = site.java_v0().await;
        let set = if mode == "wal" {
            "PRAGMA journal_mode = wal"
        } else {
            "PRAGMA journal_mode = delete"
        };
        sqlx::query(set).execute(&raw).await.unwrap();
        make_table(&*site.open(&[]).await, &ident("db.t"), &[]).await.unwrap();
        let (now,): (String,) = sqlx::query_as("PRAGMA journal_mode").fetch_one(&raw).await.unwrap();
        assert_eq!(now, mode);
    }
}

#[tokio::test]
async fn namespaces_of_other_writers_are_seen() {
    let site = Site::new();
    let raw = site.java_v0().await;
    // PyIceberg leaves out the mark of existence; Java makes tables in namespaces that nobody made.
    sqlx::query("INSERT INTO iceberg_namespace_properties VALUES ('lake', 'py', 'owner', 'me'), ('lake', 'a.b', 'exists', 'true')")
        .execute(&raw).await.unwrap();
    sqlx::query("INSERT INTO iceberg_tables VALUES ('lake', 'implied.deep', 't', '/nowhere.json', NULL)")
        .execute(&raw)
        .await
        .unwrap();
    let catalog = site.open(&[]).await;
    let top = catalog.list_namespaces(&Namespace::default()).await.unwrap();
    assert_eq!(
        top,
        vec![namespace(&["a"]), namespace(&["implied"]), namespace(&["py"])]
    );
    assert!(
        catalog
            .namespace_exists(&namespace(&["implied", "deep"]))
            .await
            .unwrap()
    );
    assert_eq!(
        catalog
            .drop_namespace(&namespace(&["implied"]))
            .await
            .unwrap_err()
            .kind(),
        ErrorKind::NotEmpty
    );
    catalog
        .update_namespace(&namespace(&["py"]), &["owner".to_owned()], Properties::new())
        .await
        .unwrap();
    assert!(catalog.namespace_exists(&namespace(&["py"])).await.unwrap());
    let lost = catalog.load_table(&ident("implied.deep.t")).await.unwrap_err();
    assert_eq!(lost.kind(), ErrorKind::Corrupt);
    assert!(lost.to_string().contains("/nowhere.json"), "{lost}");
}

#[tokio::test]
async fn ambiguous_and_reserved_names_are_refused() {
    let site = Site::new();
    let catalog = site.open(&[]).await;
    let dotted = catalog
        .create_namespace(&namespace(&["a.b"]), Properties::new())
        .await
        .unwrap_err();
    assert_eq!(dotted.kind(), ErrorKind::InvalidInput);
    let reserved = catalog
        .create_namespace(&namespace(&["a"]), properties(&[("exists", "no")]))
        .await
        .unwrap_err();
    assert_eq!(reserved.kind(), ErrorKind::InvalidInput);
}

#[tokio::test]
async fn without_strict_mode_namespaces_need_not_exist() {
    let site = Site::new();
    let catalog = site.open(&[("jdbc.strict-mode", "false")]).await;
    catalog
        .create_table(&ident("implied.t"), table(&[]).unwrap())
        .await
        .unwrap();
    assert!(catalog.namespace_exists(&namespace(&["implied"])).await.unwrap());
}

#[tokio::test]
async fn a_database_that_stays_locked_is_told_after_the_timeout() {
    let site = Site::new();
    let catalog = site.open(&[("jdbc.busy_timeout", "50")]).await;
    let before = make_table(&*catalog, &ident("db.t"), &[]).await.unwrap();
    let raw = site.raw().await;
    let lock = raw.begin_with("BEGIN IMMEDIATE").await.unwrap();
    let error = catalog
        .commit_table(set_property(&ident("db.t"), "x", "y"))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io);
    assert!(
        error.to_string().contains("another process keeps the database locked"),
        "{error}"
    );
    lock.rollback().await.unwrap();
    assert_eq!(
        catalog.load_table(&ident("db.t")).await.unwrap().metadata,
        before.metadata
    );
    catalog
        .commit_table(set_property(&ident("db.t"), "x", "y"))
        .await
        .unwrap();
}

#[tokio::test]
async fn a_file_that_is_no_database_is_told() {
    let site = Site::new();
    std::fs::create_dir_all(site.database().parent().unwrap()).unwrap();
    std::fs::write(site.database(), vec![b'x'; 8192]).unwrap();
    let catalog = site.open(&[]).await;
    let read = catalog.load_table(&ident("db.t")).await.unwrap_err();
    let write = catalog
        .create_namespace(&namespace(&["db"]), Properties::new())
        .await
        .unwrap_err();
    assert_eq!(
        (read.kind(), write.kind()),
        (ErrorKind::Corrupt, ErrorKind::Corrupt),
        "{read:?} {write:?}"
    );
}
