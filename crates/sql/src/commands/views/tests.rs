//! Views over whole sessions. What is written follows the view specification; the rest the golden folder `views`.

use tarn_format::ErrorKind;
use tarn_format::catalog::{Namespace, TableIdent, View, ViewCommit};
use tarn_format::spec::view_metadata::ViewRepresentation;
use tarn_format::update::{LAST_ADDED, ViewUpdate};

use crate::planner::tests::render;
use crate::session::Session;
use crate::session::tests::{must, run, session};

async fn view(session: &Session, name: &str) -> View {
    let lake = session.catalogs().get("lake").unwrap();
    let ident = TableIdent::new(Namespace::new(["db"]), name);
    lake.catalog.load_view(&ident).await.unwrap()
}

async fn with_table() -> Session {
    let session = session().await;
    must(&session, "CREATE TABLE t (id int, name string)").await;
    must(&session, "INSERT INTO t VALUES (1, 'a'), (2, 'b')").await;
    session
}

#[tokio::test]
async fn metadata_tells_query_columns_and_place() {
    let session = with_table().await;
    let create = "CREATE VIEW v (key COMMENT 'k', n) COMMENT 'c' TBLPROPERTIES ('p'='1') AS\n  SELECT id, 'it''s' /* x */ FROM t -- end";
    must(&session, create).await;
    let view = view(&session, "v").await;
    let version = view.metadata.current_version();
    let [ViewRepresentation::Sql { sql, dialect, .. }] = version.representations.as_slice() else {
        panic!("{version:?}");
    };
    assert_eq!(
        (sql.as_str(), dialect.as_str()),
        ("SELECT id, 'it''s' /* x */ FROM t", "spark")
    );
    assert_eq!(
        (&version.default_catalog, &version.default_namespace),
        (&None, &vec!["db".to_string()])
    );
    let schema = view.metadata.schema_by_id(version.schema_id).unwrap();
    let columns: Vec<_> = schema
        .fields()
        .iter()
        .map(|f| (f.name.as_str(), f.doc.as_deref()))
        .collect();
    assert_eq!(columns, [("key", Some("k")), ("n", None)]);
    assert_eq!(view.metadata.properties["p"], "1");
    assert_eq!(view.metadata.properties["comment"], "c");
    let shown = must(&session, "SHOW CREATE TABLE v").await;
    must(&session, "DROP VIEW v").await;
    must(&session, &shown[0]).await;
    assert_eq!(
        must(&session, "SELECT * FROM v ORDER BY key").await,
        ["1 it's", "2 it's"]
    );
}

#[tokio::test]
async fn columns_stay_bound_when_the_table_evolves() {
    let session = with_table().await;
    must(&session, "CREATE VIEW v AS SELECT * FROM t").await;
    must(
        &session,
        "CREATE VIEW w (x, y) AS SELECT id, name FROM t VERSION AS OF 'main'",
    )
    .await;
    must(&session, "ALTER TABLE t ADD COLUMN first int FIRST").await;
    must(&session, "ALTER TABLE t ALTER COLUMN id TYPE bigint").await;
    must(&session, "INSERT INTO t VALUES (9, 5000000000, 'c')").await;
    assert_eq!(must(&session, "SELECT * FROM v WHERE id > 2").await, ["5000000000 c"]);
    assert_eq!(must(&session, "SELECT max(x) FROM w").await, ["5000000000"]);
    must(&session, "ALTER TABLE t RENAME COLUMN name TO label").await;
    assert!(run(&session, "SELECT * FROM w").await.is_err());
}

#[tokio::test]
async fn versions_are_kept_and_other_dialects_are_told() {
    let session = with_table().await;
    must(&session, "CREATE VIEW v AS SELECT id FROM t").await;
    must(&session, "CREATE OR REPLACE VIEW v AS SELECT name FROM t").await;
    let now = view(&session, "v").await;
    assert_eq!((now.metadata.versions.len(), now.metadata.current_version_id), (2, 2));
    let mut version = now.metadata.current_version().as_ref().clone();
    version.representations = vec![ViewRepresentation::Sql {
        sql: "SELECT TOP 1".to_string(),
        dialect: "trino".to_string(),
        extra: Default::default(),
    }];
    let commit = ViewCommit {
        ident: now.ident.clone(),
        requirements: vec![],
        updates: vec![
            ViewUpdate::SetProperties([("replace.drop-dialect.allowed".to_string(), "true".to_string())].into()),
            ViewUpdate::AddVersion(version),
            ViewUpdate::SetCurrentVersion(LAST_ADDED),
        ],
    };
    session
        .catalogs()
        .get("lake")
        .unwrap()
        .catalog
        .commit_view(commit)
        .await
        .unwrap();
    let error = run(&session, "SELECT * FROM v").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.to_string().contains("trino"), "{error}");
}

#[tokio::test]
async fn temporary_views_are_the_sessions_and_are_not_stored_by_others() {
    let session = with_table().await;
    must(&session, "CREATE TEMPORARY VIEW tmp AS SELECT id AS k FROM t").await;
    must(
        &session,
        "CREATE OR REPLACE TEMP VIEW over_it AS SELECT max(k) AS m FROM tmp",
    )
    .await;
    assert_eq!(must(&session, "SELECT m FROM over_it").await, ["2"]);
    assert_eq!(
        must(&session, "SHOW VIEWS").await,
        ["(empty) over_it true", "(empty) tmp true"]
    );
    let stored = run(&session, "CREATE VIEW v AS SELECT k FROM TMP").await.unwrap_err();
    assert!(stored.to_string().contains("temporary view"), "{stored}");
    must(
        &session,
        "CREATE VIEW v AS WITH tmp AS (SELECT id FROM t) SELECT id FROM tmp",
    )
    .await;
    assert_eq!(must(&session, "SELECT count(*) FROM v").await, ["2"]);
    must(&session, "DROP VIEW tmp").await;
    assert!(run(&session, "SELECT * FROM over_it").await.is_err());
}

#[tokio::test]
async fn views_that_would_read_themselves_are_refused() {
    let session = with_table().await;
    must(&session, "CREATE VIEW one AS SELECT id FROM t").await;
    must(&session, "CREATE VIEW two AS SELECT id FROM one").await;
    for sql in [
        "CREATE OR REPLACE VIEW one AS SELECT id FROM two",
        "CREATE OR REPLACE VIEW ONE AS SELECT id FROM one",
        "CREATE OR REPLACE VIEW one AS SELECT id FROM t WHERE id IN (SELECT id FROM db.two)",
    ] {
        let error = run(&session, sql).await.expect_err(sql);
        assert!(error.to_string().contains("would read itself"), "{error}");
    }
    assert_eq!(must(&session, "SELECT count(*) FROM two").await, ["2"]);
    let version = run(&session, "SELECT * FROM one VERSION AS OF 1").await.unwrap_err();
    assert!(version.to_string().contains("has no versions"), "{version}");
}

#[tokio::test]
async fn what_is_described_of_a_view_is_its_metadata() {
    let session = with_table().await;
    must(
        &session,
        "CREATE VIEW v (k, n) COMMENT 'c' TBLPROPERTIES ('p'='1') AS SELECT id, name FROM t",
    )
    .await;
    must(&session, "ALTER VIEW v AS SELECT name FROM t").await;
    let rows = must(&session, "DESCRIBE EXTENDED v").await;
    let location = view(&session, "v").await.metadata.location.clone();
    for expected in [
        "name string (empty)".to_string(),
        "Name lake.db.v (empty)".to_string(),
        "Type VIEW (empty)".to_string(),
        "Comment c (empty)".to_string(),
        "View Catalog and Namespace lake.db (empty)".to_string(),
        "View Query Output Columns [name] (empty)".to_string(),
        "View Dialects [spark] (empty)".to_string(),
        "View Version 2 (empty)".to_string(),
        "View Properties [p=1] (empty)".to_string(),
        format!("Location {location} (empty)"),
    ] {
        assert!(rows.contains(&expected), "{expected} is not in {rows:#?}");
    }
}

#[tokio::test]
async fn writers_of_one_view_lose_nothing() {
    let session = with_table().await;
    must(&session, "CREATE VIEW v AS SELECT id FROM t").await;
    let writers = (0..4).map(|n| {
        let session = session.clone();
        tokio::spawn(async move { run(&session, &format!("ALTER VIEW v SET TBLPROPERTIES ('k{n}'='{n}')")).await })
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await.unwrap().unwrap();
    }
    let properties = view(&session, "v").await.metadata.properties.clone();
    assert_eq!(properties.keys().filter(|k| k.starts_with('k')).count(), 4);
}

#[tokio::test]
async fn the_text_is_kept_as_it_was_written() {
    let session = with_table().await;
    must(&session, "ALTER TABLE t CREATE TAG first").await;
    must(&session, "INSERT INTO t VALUES (3, 'ü')").await;
    for (n, text) in [
        "SELECT count(*) AS n FROM t VERSION AS OF 'first'",
        "SELECT count(*) AS n FROM t\n  FOR VERSION AS OF 'first'",
        "SELECT id FROM t WHERE name = 'ü' AND id < 3.0D",
        "SELECT named_struct('a', id) AS s FROM t",
        "SELECT id FROM t WHERE id = CAST('1' AS int)",
        "SELECT id FROM t /*+ OPTIONS('split-size'='1') */",
    ]
    .into_iter()
    .enumerate()
    {
        must(
            &session,
            &format!("SELECT 'ü'; CREATE VIEW v{n} AS {text} -- what follows\n ; SELECT 1"),
        )
        .await;
        let found = view(&session, &format!("v{n}")).await;
        let [ViewRepresentation::Sql { sql, .. }] = found.metadata.current_version().representations.as_slice() else {
            panic!("{found:?}");
        };
        assert_eq!(sql, text);
    }
    assert_eq!(must(&session, "SELECT n FROM v0").await, ["2"]);
}

#[tokio::test]
async fn the_text_means_the_same_whatever_double_quotes_do() {
    let session = with_table().await;
    must(&session, "SET spark.sql.ansi.doubleQuotedIdentifiers = true").await;
    must(
        &session,
        "CREATE VIEW names AS SELECT \"id\" AS \"a b\" FROM t WHERE \"name\" = 'b'",
    )
    .await;
    must(&session, "RESET spark.sql.ansi.doubleQuotedIdentifiers").await;
    assert_eq!(must(&session, "SELECT `a b` FROM names").await, ["2"]);
    must(&session, "CREATE VIEW texts AS SELECT id FROM t WHERE name = \"a\"").await;
    must(&session, "SET spark.sql.ansi.doubleQuotedIdentifiers = true").await;
    assert_eq!(must(&session, "SELECT id FROM texts").await, ["1"]);
    assert_eq!(must(&session, "SELECT \"a b\" FROM names").await, ["2"]);
}

#[tokio::test]
async fn views_are_relations_of_the_bare_context() {
    let session = with_table().await;
    must(&session, "CREATE VIEW v (k) AS SELECT max(id) FROM t").await;
    let frame = session
        .context()
        .sql("SELECT k + 1 AS next FROM lake.db.v")
        .await
        .unwrap();
    let batches = frame.collect().await.unwrap();
    assert_eq!(batches.iter().flat_map(render::rows).collect::<Vec<_>>(), ["3"]);
}
