use tarn_format::ErrorKind;
use tarn_format::catalog::{Namespace, Table, TableIdent};
use tarn_format::spec::value::Value;

use crate::planner::tests::render;
use crate::session::Session;
use crate::session::tests::session;

async fn run(session: &Session, sql: &str) -> Vec<String> {
    let batches = session.sql(sql).await.unwrap().collect().await.unwrap();
    batches.iter().flat_map(render::rows).collect()
}

async fn refused(session: &Session, sql: &str) -> (ErrorKind, String) {
    let error = session.sql(sql).await.unwrap_err();
    (error.kind(), error.to_string())
}

fn ident(name: &str) -> TableIdent {
    TableIdent::new(Namespace::new(["db"]), name)
}

async fn table(session: &Session, name: &str) -> Table {
    let lake = session.catalogs().get("lake").unwrap();
    lake.catalog.load_table(&ident(name)).await.unwrap()
}

async fn files(session: &Session) -> usize {
    let lake = session.catalogs().get("lake").unwrap();
    let io = lake.catalog.file_io();
    let staged = tarn_format::catalog::TableCreation {
        schema: tarn_format::spec::schema::Schema::new(0, Default::default(), vec![]).unwrap(),
        partition_spec: None,
        sort_order: None,
        location: None,
        properties: Default::default(),
        format_version: tarn_format::spec::table_metadata::FormatVersion::V2,
    };
    let place = lake.catalog.stage_table(&ident("x"), staged).await.unwrap();
    let warehouse = place.metadata.location.trim_end_matches("/db/x").to_string();
    io.list(&warehouse).await.unwrap().len()
}

async fn with_source() -> Session {
    let session = session().await;
    for sql in [
        "CREATE TABLE src (id bigint NOT NULL COMMENT 'key', s struct<a: int NOT NULL>, d date)",
        "INSERT INTO src VALUES (1, named_struct('a', 10), DATE '2024-01-31'), (2, NULL, NULL)",
    ] {
        session.sql(sql).await.unwrap();
    }
    session
}

#[tokio::test]
async fn a_table_is_made_from_a_query_in_one_commit() {
    let session = with_source().await;
    let done = session
        .sql("CREATE TABLE t PARTITIONED BY (month(d), bucket(2, id)) COMMENT 'copied' AS SELECT * FROM src")
        .await
        .unwrap();
    assert!(
        matches!(&done, crate::Output::Written(report) if report.rows == 2 && report.statement == "CREATE TABLE"),
        "{done:?}"
    );
    assert_eq!(
        run(&session, "SELECT * FROM t ORDER BY id").await,
        ["1 {a: 10} 2024-01-31", "2 NULL NULL"]
    );
    let metadata = table(&session, "t").await.metadata;
    assert_eq!(metadata.snapshots.len(), 1);
    let columns: Vec<_> = metadata.current_schema().fields().iter().collect();
    assert!(columns.iter().all(|c| !c.required));
    assert!(!columns[1].field_type.children()[0].required);
    assert_eq!(columns[0].doc.as_deref(), Some("key"));
    // As Java's PartitionSpec builder names them.
    let names: Vec<_> = metadata.default_spec().fields.iter().map(|f| f.name.as_str()).collect();
    assert_eq!(names, ["d_month", "id_bucket"]);
    assert_eq!(metadata.properties["comment"], "copied");
}

#[tokio::test]
async fn a_failed_ctas_leaves_neither_table_nor_files() {
    let session = with_source().await;
    let before = files(&session).await;
    // The second row fails, after the first was written or not.
    let sql = "CREATE TABLE t AS SELECT (SELECT id FROM src) AS many";
    assert!(session.sql(sql).await.is_err());
    let too_large = "CREATE TABLE t AS SELECT arrow_cast('18446744073709551615', 'UInt64') AS n";
    assert!(session.sql(too_large).await.is_err());
    assert_eq!(run(&session, "SHOW TABLES").await, ["db src false"]);
    assert_eq!(files(&session).await, before);
}

#[tokio::test]
async fn types_without_an_iceberg_type_of_their_own_are_widened() {
    let session = session().await;
    session
        .sql("CREATE TABLE t AS SELECT arrow_cast(7, 'UInt64') AS u, arrow_cast(1, 'Int8') AS small, 1.5 AS d")
        .await
        .unwrap();
    assert_eq!(
        run(&session, "DESCRIBE t").await,
        ["u bigint NULL", "small int NULL", "d decimal(2,1) NULL"]
    );
    assert_eq!(run(&session, "SELECT * FROM t").await, ["7 1 1.5"]);
}

#[tokio::test]
async fn if_not_exists_neither_runs_the_query_nor_changes_the_table() {
    let session = with_source().await;
    let sql = "CREATE TABLE IF NOT EXISTS src AS SELECT 1 AS other";
    session.sql(sql).await.unwrap();
    assert_eq!(run(&session, "SELECT count(*) FROM src").await, ["2"]);
    let (kind, _) = refused(&session, "CREATE TABLE src AS SELECT 1 AS other").await;
    assert_eq!(kind, ErrorKind::AlreadyExists);
}

#[tokio::test]
async fn replacing_keeps_history_and_the_ids_of_columns_by_name() {
    let session = with_source().await;
    let before = table(&session, "src").await.metadata;
    session
        .sql("REPLACE TABLE src PARTITIONED BY (id) AS SELECT id * 10 AS id, 'x' AS extra FROM src")
        .await
        .unwrap();
    let after = table(&session, "src").await.metadata;
    assert_eq!(run(&session, "SELECT * FROM src ORDER BY id").await, ["10 x", "20 x"]);
    assert_eq!(after.table_uuid, before.table_uuid);
    assert_eq!(after.snapshots.len(), 2);
    assert_eq!(after.current_snapshot().unwrap().parent_snapshot_id, None);
    let ids: Vec<_> = after.current_schema().fields().iter().map(|f| f.id).collect();
    assert_eq!(ids, [1, before.last_column_id + 1]);
    let old = format!(
        "SELECT count(s) FROM src VERSION AS OF {}",
        before.snapshots[0].snapshot_id
    );
    assert_eq!(run(&session, &old).await, ["1"]);

    session
        .sql("CREATE OR REPLACE TABLE src (id int) TBLPROPERTIES ('k'='v')")
        .await
        .unwrap();
    let emptied = table(&session, "src").await.metadata;
    assert!(emptied.current_snapshot().is_none());
    assert_eq!(emptied.snapshots.len(), 2);
    assert_eq!(emptied.properties["k"], "v");
    assert!(
        emptied
            .default_spec()
            .fields
            .iter()
            .all(|f| f.transform == tarn_format::transform::Transform::Void)
            || emptied.default_spec().is_unpartitioned()
    );
}

#[tokio::test]
async fn what_cannot_be_replaced_is_told() {
    let session = with_source().await;
    let (kind, text) = refused(&session, "REPLACE TABLE nosuch (id int)").await;
    assert_eq!(kind, ErrorKind::NotFound);
    assert!(text.contains("CREATE OR REPLACE TABLE"), "{text}");
    let (kind, _) = refused(
        &session,
        "CREATE OR REPLACE TABLE src (id bigint) TBLPROPERTIES ('format-version'='1')",
    )
    .await;
    assert_eq!(kind, ErrorKind::Validation);
    assert_eq!(run(&session, "SELECT count(*) FROM src").await, ["2"]);
}

#[tokio::test]
async fn explain_plans_a_ctas_and_does_nothing() {
    let session = with_source().await;
    let plan = run(&session, "EXPLAIN CREATE TABLE t AS SELECT id FROM src").await;
    assert!(plan.join("\n").contains("IcebergAppendExec"), "{plan:?}");
    assert_eq!(run(&session, "SHOW TABLES").await, ["db src false"]);
}

#[tokio::test]
async fn defaults_are_values_of_their_columns() {
    let session = session().await;
    session
        .sql(
            "CREATE TABLE t (id int, n bigint DEFAULT 40 + 2, at timestamp DEFAULT '2024-01-31 10:00:00', s string DEFAULT 'x', d decimal(5,2) DEFAULT 1.5)
             TBLPROPERTIES ('format-version'='3')",
        )
        .await
        .unwrap_err();
    // A text is no timestamp under ANSI store assignment.
    session
        .sql(
            "CREATE TABLE t (id int, n bigint DEFAULT 40 + 2, at timestamp DEFAULT TIMESTAMP '2024-01-31 10:00:00', s string DEFAULT 'x', d decimal(5,2) DEFAULT 1.5)
             TBLPROPERTIES ('format-version'='3')",
        )
        .await
        .unwrap();
    let metadata = table(&session, "t").await.metadata;
    let n = &metadata.current_schema().fields()[1];
    assert_eq!(
        (&n.initial_default, &n.write_default),
        (&Some(Value::Long(42)), &Some(Value::Long(42)))
    );
    session.sql("INSERT INTO t (id) VALUES (1)").await.unwrap();
    session
        .sql("INSERT INTO t VALUES (2, DEFAULT, NULL, DEFAULT, 3)")
        .await
        .unwrap();
    assert_eq!(
        run(&session, "SELECT * FROM t ORDER BY id").await,
        ["1 42 2024-01-31 10:00:00 x 1.50", "2 42 NULL x 3.00"]
    );
    for (sql, part) in [
        ("CREATE TABLE v2 (id int DEFAULT 1)", "format version 3"),
        (
            "CREATE TABLE v3 (id int DEFAULT 'a') TBLPROPERTIES ('format-version'='3')",
            "cannot be stored",
        ),
        (
            "CREATE TABLE v3 (a int, b int DEFAULT a) TBLPROPERTIES ('format-version'='3')",
            "a",
        ),
        (
            "CREATE TABLE v3 (a array<int> DEFAULT array(1)) TBLPROPERTIES ('format-version'='3')",
            "no default but NULL",
        ),
        (
            "CREATE TABLE v3 (a int NOT NULL DEFAULT NULL) TBLPROPERTIES ('format-version'='3')",
            "cannot be NULL",
        ),
    ] {
        let (_, text) = refused(&session, sql).await;
        assert!(text.contains(part), "{sql}: {text}");
    }
}

#[tokio::test]
async fn explaining_what_exists_tells_that_nothing_is_created() {
    let session = with_source().await;
    let shown = run(&session, "EXPLAIN CREATE TABLE IF NOT EXISTS src AS SELECT 1 AS x").await;
    assert!(
        shown[0].ends_with("table lake.db.src exists already, nothing created"),
        "{shown:?}"
    );
}
