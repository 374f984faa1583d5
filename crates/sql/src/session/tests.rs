use std::collections::BTreeMap;
use std::sync::Arc;

use datafusion::arrow::array::AsArray;
use datafusion::execution::runtime_env::RuntimeEnv;
use datafusion::prelude::SessionConfig;
use tarn_catalogs::{Catalogs, load_catalog};
use tarn_format::catalog::Namespace;
use tarn_format::metrics::NoReporter;
use tarn_format::{ErrorKind, Result};

use super::{Current, Session, SessionOptions};
use crate::config::Settings;
use crate::planner::tests::render;

pub(crate) async fn session() -> Session {
    let session = Session::new(SessionOptions {
        factory: Arc::new(Catalogs),
        settings: Settings::default(),
        runtime: Arc::new(RuntimeEnv::default()),
        engine: SessionConfig::new(),
        current: Current {
            catalog: "lake".to_string(),
            namespace: Namespace::new(["db"]),
        },
        reporter: Arc::new(NoReporter),
    });
    let properties = [("type", "memory")];
    let properties: BTreeMap<String, String> = properties.map(|(k, v)| (k.into(), v.into())).into();
    session
        .catalogs()
        .add("lake", load_catalog("lake", &properties).await.unwrap());
    session.sql("CREATE NAMESPACE db").await.unwrap();
    session
}

/// Rows of a statement, in the form of the golden scenarios.
pub(crate) async fn run(session: &Session, sql: &str) -> Result<Vec<String>> {
    let batches = session.sql(sql).await?.collect().await?;
    Ok(batches.iter().flat_map(render::rows).collect())
}

/// The same of a statement that succeeds.
pub(crate) async fn must(session: &Session, sql: &str) -> Vec<String> {
    match run(session, sql).await {
        Ok(rows) => rows,
        Err(e) => panic!("{sql}: {e}"),
    }
}

/// Rows of text, columns joined by `|`.
async fn rows(session: &Session, sql: &str) -> Result<Vec<String>> {
    let batches = session.sql(sql).await?.collect().await?;
    let mut rows = Vec::new();
    for batch in &batches {
        for i in 0..batch.num_rows() {
            let cells = batch.columns().iter().map(|c| {
                let text = c.as_string::<i32>();
                if text.is_valid(i) { text.value(i) } else { "NULL" }.to_string()
            });
            rows.push(cells.collect::<Vec<_>>().join("|"));
        }
    }
    Ok(rows)
}

use datafusion::arrow::array::Array;

#[tokio::test]
async fn tables_are_made_described_and_dropped() {
    let session = session().await;
    let create =
        "CREATE TABLE t (id bigint NOT NULL COMMENT 'key', ts timestamp, s struct<a: int, b: array<decimal(5,1)>>)
                  PARTITIONED BY (bucket(4, id), day(ts)) TBLPROPERTIES ('a'='1')";
    session.sql(create).await.unwrap();
    assert_eq!(session.sql(create).await.unwrap_err().kind(), ErrorKind::AlreadyExists);
    session
        .sql(&create.replace("TABLE t", "TABLE IF NOT EXISTS t"))
        .await
        .unwrap();
    let described = rows(&session, "DESCRIBE t").await.unwrap();
    let expected = [
        "id|bigint|key",
        "ts|timestamp|NULL",
        "s|struct<a:int,b:array<decimal(5,1)>>|NULL",
        "||",
        "# Partitioning||",
        "Part 0|bucket(4, id)|",
        "Part 1|days(ts)|",
    ];
    assert_eq!(described, expected);
    assert_eq!(rows(&session, "SHOW TABLES").await.unwrap(), ["db|t|false"]);
    assert_eq!(rows(&session, "SHOW TABLES LIKE 'x*|T'").await.unwrap(), ["db|t|false"]);
    assert_eq!(rows(&session, "SHOW TBLPROPERTIES t ('a')").await.unwrap(), ["a|1"]);
    let shown = rows(&session, "SHOW CREATE TABLE lake.db.t").await.unwrap().join("");
    assert!(shown.contains("PARTITIONED BY (bucket(4, id), days(ts))"), "{shown}");
    session.sql("DROP TABLE t").await.unwrap();
    assert!(rows(&session, "SHOW TABLES").await.unwrap().is_empty());
    assert_eq!(
        session.sql("DROP TABLE t").await.unwrap_err().kind(),
        ErrorKind::NotFound
    );
    session.sql("DROP TABLE IF EXISTS t").await.unwrap();
}

#[tokio::test]
async fn the_text_of_show_create_table_makes_the_same_table() {
    let session = session().await;
    session
        .sql("CREATE TABLE a (id int NOT NULL DEFAULT 7, `odd name` string COMMENT 'it''s', d decimal(5,2) DEFAULT 1.5, s string DEFAULT 'it\\'s')
              PARTITIONED BY (truncate(3, `odd name`)) TBLPROPERTIES ('format-version'='3')")
        .await
        .unwrap();
    make_again(&session).await;
    session.sql("INSERT INTO b (`odd name`) VALUES ('x')").await.unwrap();
    let inserted = "SELECT concat_ws('|', id, d, s) FROM b";
    let batches = session.sql(inserted).await.unwrap().collect().await.unwrap();
    assert_eq!(crate::planner::tests::render::rows(&batches[0]), ["7|1.50|it's"]);
}

/// Makes the table `b` from what SHOW CREATE TABLE says of `a`; gives the text.
async fn make_again(session: &Session) -> String {
    let text = rows(session, "SHOW CREATE TABLE a").await.unwrap().join("");
    let script = text.replace("lake.db.a", "lake.db.b").replace("/db/a'", "/db/b'");
    for statement in script.split(";\n") {
        session.sql(statement).await.unwrap();
    }
    for facts in ["DESCRIBE", "SHOW TBLPROPERTIES"] {
        assert_eq!(
            rows(session, &format!("{facts} a")).await.unwrap(),
            rows(session, &format!("{facts} b")).await.unwrap()
        );
    }
    text
}

#[tokio::test]
async fn show_create_table_keeps_names_at_depth_orders_and_identifiers() {
    let session = session().await;
    session
        .sql(
            "CREATE TABLE a (`select` bigint NOT NULL, p struct<`in.ner`: int, Big: string COMMENT 'b'>,
              l array<struct<X: int>>, m map<string, struct<`order`: int>>)
              PARTITIONED BY (p.`in.ner`) TBLPROPERTIES ('write.distribution-mode'='none')",
        )
        .await
        .unwrap();
    session
        .sql("ALTER TABLE a WRITE LOCALLY ORDERED BY p.`in.ner` DESC, bucket(4, `select`)")
        .await
        .unwrap();
    session
        .sql("ALTER TABLE a SET IDENTIFIER FIELDS `select`")
        .await
        .unwrap();
    let text = make_again(&session).await;
    assert!(
        text.contains("p STRUCT<`in.ner`: INT, Big: STRING COMMENT 'b'>"),
        "{text}"
    );
    assert!(text.contains("PARTITIONED BY (p.`in.ner`)"), "{text}");
}

#[tokio::test]
async fn use_looks_where_it_is_told() {
    let session = session().await;
    let properties = BTreeMap::from([("type".to_string(), "memory".to_string())]);
    let other = load_catalog("other", &properties).await.unwrap();
    session.catalogs().add("other", other);
    session.sql("CREATE NAMESPACE lake.other").await.unwrap();
    for (statement, current) in [
        ("USE NAMESPACE other", "lake|other"),
        ("USE other", "other|"),
        ("USE CATALOG lake", "lake|"),
        ("USE lake.db", "lake|db"),
        ("SET CATALOG other", "other|"),
    ] {
        session.sql(statement).await.unwrap();
        let shown = rows(&session, "SHOW CURRENT NAMESPACE").await.unwrap();
        assert_eq!(shown, [current], "{statement}");
    }
    let told = |e: tarn_format::Error| (e.kind(), e.to_string());
    let (kind, message) = told(session.sql("USE CATALOG db").await.unwrap_err());
    assert_eq!(kind, ErrorKind::NotFound, "{message}");
    let (kind, message) = told(session.sql("USE NAMESPACE lake").await.unwrap_err());
    assert_eq!(kind, ErrorKind::NotFound, "{message}");
    let (_, message) = told(session.sql("USE CATALOG othr").await.unwrap_err());
    assert!(message.contains("did you mean other?"), "{message}");
}

#[tokio::test]
async fn queries_and_functions_are_described() {
    let session = session().await;
    // Spark 3.5: DESCRIBE QUERY.
    assert_eq!(
        rows(
            &session,
            "DESCRIBE QUERY SELECT 1 AS a, 1.50 AS b, array('x') AS c, TIMESTAMP '2024-01-01' AS d"
        )
        .await
        .unwrap(),
        [
            "a|int|NULL",
            "b|decimal(3,2)|NULL",
            "c|array<string>|NULL",
            "d|timestamp|NULL"
        ]
    );
    assert_eq!(
        rows(&session, "SHOW FUNCTIONS LIKE 'max*'").await.unwrap(),
        ["max", "max_by"]
    );
    assert_eq!(
        rows(&session, "SHOW FUNCTIONS IN lake.system LIKE '*years|*bucket'")
            .await
            .unwrap(),
        ["system.bucket", "system.years"]
    );
}

#[tokio::test]
async fn an_insert_takes_write_options() {
    let session = session().await;
    session.sql("CREATE TABLE t (id int)").await.unwrap();
    let insert = "INSERT INTO t /*+ OPTIONS('snapshot-property.team'='blue', 'compression-codec'='gzip') */ VALUES (1)";
    session.sql(insert).await.unwrap();
    let team = "SELECT summary['team'] FROM t.snapshots";
    let batches = session.sql(team).await.unwrap().collect().await.unwrap();
    assert_eq!(crate::planner::tests::render::rows(&batches[0]), ["blue"]);
    let refused = session
        .sql(&insert.replace("codec", "codek"))
        .await
        .unwrap_err()
        .to_string();
    assert!(refused.contains("did you mean compression-codec?"), "{refused}");
}

#[tokio::test]
async fn near_names_are_suggested() {
    let session = session().await;
    session.sql("CREATE TABLE orders (id int)").await.unwrap();
    let message = session.sql("DESCRIBE oders").await.unwrap_err().to_string();
    assert!(message.contains("did you mean orders?"), "{message}");
    let message = session.sql("USE lake.dbb").await.unwrap_err().to_string();
    assert!(message.contains("did you mean db?"), "{message}");
    let message = session.sql("DESCRIBE orders idd").await.unwrap_err().to_string();
    assert!(message.contains("did you mean id?"), "{message}");
}

#[tokio::test]
async fn what_follows_a_table_needs_no_namespace() {
    let session = session().await;
    session.sql("CREATE TABLE t (id int)").await.unwrap();
    session.sql("INSERT INTO t VALUES (1)").await.unwrap();
    let described = rows(&session, "DESCRIBE t.refs").await.unwrap();
    assert_eq!(described, rows(&session, "DESCRIBE db.t.refs").await.unwrap());
    let on_branch = session.sql("SELECT * FROM t.branch_main").await.unwrap();
    assert_eq!(
        on_branch
            .collect()
            .await
            .unwrap()
            .iter()
            .map(|b| b.num_rows())
            .sum::<usize>(),
        1
    );
    // A namespace of that name comes first, and other names mean what they say.
    session.sql("CREATE NAMESPACE t").await.unwrap();
    session.sql("CREATE TABLE t.refs (x int)").await.unwrap();
    assert_eq!(rows(&session, "DESCRIBE t.refs").await.unwrap(), ["x|int|NULL"]);
    let message = session.sql("SELECT * FROM t.other").await.unwrap_err().to_string();
    assert!(message.contains("lake.t.other not found"), "{message}");
}

#[tokio::test]
async fn impossible_tables_are_refused() {
    let session = session().await;
    for (sql, part) in [
        (
            "CREATE TABLE x (id int) PARTITIONED BY (nosuch)",
            "'nosuch' is not a column",
        ),
        ("CREATE TABLE x (id int, ID string)", "defined twice"),
        (
            "CREATE TABLE x (id int) PARTITIONED BY (bucket(8, id), bucket(4, id))",
            "occurs twice",
        ),
        (
            "CREATE TABLE x (m map<string,int>) PARTITIONED BY (m)",
            "cannot partition",
        ),
        ("CREATE TABLE x (d date) PARTITIONED BY (hour(d))", "hour"),
        ("CREATE TABLE x (id int) USING csv", "parquet, avro or orc"),
        (
            "CREATE TABLE x (id int) USING iceberg USING parquet",
            "USING is given twice",
        ),
        (
            "CREATE TABLE x (id int) PARTITIONED BY (id) PARTITIONED BY (bucket(2, id))",
            "PARTITIONED BY is given twice",
        ),
    ] {
        let message = session.sql(sql).await.unwrap_err().to_string();
        assert!(message.contains(part), "{sql}: {message}");
    }
    assert!(rows(&session, "SHOW TABLES").await.unwrap().is_empty());
}

#[tokio::test]
async fn settings_are_checked_shown_and_hidden() {
    let session = session().await;
    assert_eq!(
        rows(&session, "SET spark.sql.caseSensitive").await.unwrap(),
        ["spark.sql.caseSensitive|false"]
    );
    assert!(session.sql("SET spark.sql.caseSensitive = maybe").await.is_err());
    assert!(
        session
            .sql("SET spark.sql.session.timeZone = Nowhere/None")
            .await
            .is_err()
    );
    for (setting, part) in [
        ("spark.sql.storeAssignmentPolicy = LEGACY", "can only be ANSI"),
        ("spark.sql.ansi.enabled = true", "can only be false"),
        ("spark.sql.iceberg.check-ordering = perhaps", "must be true or false"),
        ("spark.sql.defaultCatalog = other", "USE other"),
    ] {
        let message = session.sql(&format!("SET {setting}")).await.unwrap_err().to_string();
        assert!(message.contains(part), "{message}");
    }
    session.sql("SET spark.sql.storeAssignmentPolicy = ansi").await.unwrap();
    assert!(session.sql("SET TIME ZONE LOCAL").await.is_err());
    session.sql("SET my.key = a  'b c' /* no */ -1").await.unwrap();
    assert_eq!(
        rows(&session, "SET my.key").await.unwrap(),
        ["my.key|a  'b c' /* no */ -1"]
    );
    session.sql("SET spark.sql.catalog.x.token = abc").await.unwrap();
    let all = rows(&session, "SET").await.unwrap().join("\n");
    assert!(all.contains("spark.sql.catalog.x.token|*********(redacted)"), "{all}");
    assert!(!all.contains("abc"));
}

#[tokio::test]
async fn catalogs_come_from_settings_and_statements() {
    let session = session().await;
    session
        .sql("SET spark.sql.catalog.other = org.apache.iceberg.spark.SparkCatalog")
        .await
        .unwrap();
    session.sql("SET spark.sql.catalog.other.type = memory").await.unwrap();
    session.sql("CREATE NAMESPACE other.ns").await.unwrap();
    session.sql("USE other.ns").await.unwrap();
    session.sql("CREATE TABLE t (id int)").await.unwrap();
    assert_eq!(rows(&session, "SHOW TABLES").await.unwrap(), ["ns|t|false"]);
    session
        .sql("CREATE CATALOG third WITH ('type'='memory')")
        .await
        .unwrap();
    assert_eq!(
        rows(&session, "SHOW CATALOGS").await.unwrap(),
        ["lake", "other", "third"]
    );
    assert!(session.sql("DROP CATALOG other").await.is_err(), "in use");
    session.sql("DROP CATALOG third").await.unwrap();
    // A single part is a table, whatever catalogs there are.
    session.sql("CREATE TABLE lake (id int)").await.unwrap();
    assert_eq!(rows(&session, "DESCRIBE lake").await.unwrap(), ["id|int|NULL"]);
    session.sql("USE lake.db").await.unwrap();
    assert_eq!(rows(&session, "DESCRIBE OTHER.ns.t").await.unwrap(), ["id|int|NULL"]);
    assert!(
        session
            .sql("CREATE CATALOG Other WITH ('type'='memory')")
            .await
            .is_err()
    );
    session.sql("DROP CATALOG Other").await.unwrap();
    assert_eq!(rows(&session, "SHOW CATALOGS").await.unwrap(), ["lake"]);
    assert!(session.sql("DESCRIBE other.ns.t").await.is_err());
}

#[tokio::test]
async fn a_configured_catalog_is_opened_once() {
    let session = session().await;
    session.sql("SET spark.sql.catalog.Shared.type = memory").await.unwrap();
    let names = ["shared", "Shared", "SHARED", "shared"];
    let opened = futures::future::try_join_all(names.map(|name| session.catalog(name)))
        .await
        .unwrap();
    let opened: Vec<_> = opened.into_iter().map(|entry| entry.unwrap().catalog).collect();
    assert!(opened.iter().all(|catalog| Arc::ptr_eq(catalog, &opened[0])));
    assert_eq!(rows(&session, "SHOW CATALOGS").await.unwrap(), ["Shared", "lake"]);
}
