use tarn_format::catalog::{Namespace, Table, TableIdent};
use tarn_format::spec::snapshot::RefKind;
use tarn_format::spec::value::Value;
use tarn_format::transform::Transform;
use tarn_format::{ErrorKind, Result};

use crate::planner::tests::render;
use crate::session::Session;
use crate::session::tests::session;

async fn run(session: &Session, sql: &str) -> Result<Vec<String>> {
    let batches = session.sql(sql).await?.collect().await?;
    Ok(batches.iter().flat_map(render::rows).collect())
}

async fn all(session: &Session, statements: &[&str]) {
    for sql in statements {
        if let Err(e) = run(session, sql).await {
            panic!("{sql}: {e}");
        }
    }
}

async fn refused(session: &Session, cases: &[(&str, ErrorKind, &str)]) {
    for (sql, kind, part) in cases {
        let error = run(session, sql).await.expect_err(sql);
        assert_eq!(error.kind(), *kind, "{sql}: {error}");
        assert!(error.to_string().contains(part), "{sql}: {error}");
    }
}

async fn table(session: &Session, namespace: &str, name: &str) -> Table {
    let lake = session.catalogs().get("lake").unwrap();
    let ident = TableIdent::new(Namespace::new([namespace]), name);
    lake.catalog.load_table(&ident).await.unwrap()
}

#[tokio::test]
async fn columns_change_at_every_depth() {
    let session = session().await;
    all(
        &session,
        &[
            "CREATE TABLE t (id int NOT NULL, p struct<x: int, y: float>, a array<struct<k: int>>, m map<string, int>)",
            "INSERT INTO t VALUES (1, named_struct('x', 10, 'y', CAST(1.5 AS float)), array(named_struct('k', 5)), map('a', 7))",
            "ALTER TABLE t ADD COLUMNS (note string COMMENT 'text' AFTER id, first_one date FIRST)",
            "ALTER TABLE t ADD COLUMN P.z int FIRST, a.element.l string",
            "ALTER TABLE t ALTER COLUMN p.y TYPE double COMMENT 'east'",
            "ALTER TABLE t ALTER COLUMN m.value TYPE bigint",
            "ALTER TABLE t CHANGE COLUMN id id bigint",
            "ALTER TABLE t ALTER COLUMN id DROP NOT NULL",
            "ALTER TABLE t RENAME COLUMN p.x TO `east-ish`",
            "ALTER TABLE t DROP COLUMNS (first_one)",
            "ALTER TABLE t DROP COLUMN IF EXISTS nosuch, note",
        ],
    )
    .await;
    assert_eq!(
        run(&session, "DESCRIBE t").await.unwrap(),
        [
            "id bigint NULL",
            "p struct<z:int,east-ish:int,y:double> NULL",
            "a array<struct<k:int,l:string>> NULL",
            "m map<string,bigint> NULL",
        ]
    );
    assert_eq!(
        run(&session, "SELECT * FROM t").await.unwrap(),
        ["1 {z: NULL, east-ish: 10, y: 1.5} [{k: 5, l: NULL}] {a: 7}"]
    );
}

#[tokio::test]
async fn column_changes_that_would_lie_are_refused() {
    let session = session().await;
    all(
        &session,
        &[
            "CREATE TABLE t (id bigint, s struct<a: int>, l array<int>, m map<struct<k: int>, int>) TBLPROPERTIES ('format-version'='2')",
        ],
    )
    .await;
    use ErrorKind::InvalidInput as Invalid;
    refused(
        &session,
        &[
            ("ALTER TABLE t ADD COLUMN ID int", Invalid, "exists already"),
            ("ALTER TABLE t RENAME COLUMN id TO S", Invalid, "'s' exists already"),
            ("ALTER TABLE t RENAME COLUMN idd TO x", Invalid, "did you mean id?"),
            ("ALTER TABLE t DROP COLUMN s.b", Invalid, "did you mean s.a?"),
            ("ALTER TABLE t ALTER COLUMN id TYPE int", Invalid, "from long to int"),
            (
                "ALTER TABLE t ALTER COLUMN s TYPE struct<a: bigint>",
                Invalid,
                "ADD COLUMN and DROP COLUMN",
            ),
            (
                "ALTER TABLE t ALTER COLUMN l TYPE array<bigint>",
                Invalid,
                "column.element",
            ),
            (
                "ALTER TABLE t ALTER COLUMN id SET NOT NULL",
                Invalid,
                "cannot make optional column",
            ),
            (
                "ALTER TABLE t ADD COLUMN must int NOT NULL",
                Invalid,
                "without a default",
            ),
            (
                "ALTER TABLE t ADD COLUMN d int DEFAULT 1",
                Invalid,
                "needs format version 3",
            ),
            ("ALTER TABLE t ADD COLUMN x int AFTER nosuch", Invalid, "nosuch"),
            ("ALTER TABLE t ALTER COLUMN s.a AFTER id", Invalid, "s.id"),
            ("ALTER TABLE t CHANGE COLUMN id key bigint", Invalid, "RENAME COLUMN"),
            ("ALTER TABLE nosuch ADD COLUMN x int", ErrorKind::NotFound, "not found"),
            (
                "ALTER TABLE t.branch_main ADD COLUMN x int",
                Invalid,
                "does not name a table itself",
            ),
        ],
    )
    .await;
    assert!(run(&session, "ALTER TABLE t DROP COLUMN m.key.k").await.is_err());
    assert_eq!(table(&session, "db", "t").await.metadata.schemas.len(), 1);
}

#[tokio::test]
async fn a_dropped_name_comes_back_as_another_column() {
    let session = session().await;
    all(
        &session,
        &[
            "CREATE TABLE t (id int, v int)",
            "INSERT INTO t VALUES (1, 10)",
            "ALTER TABLE t DROP COLUMN v",
            "ALTER TABLE t ADD COLUMN v int",
        ],
    )
    .await;
    assert_eq!(run(&session, "SELECT * FROM t").await.unwrap(), ["1 NULL"]);
    all(&session, &["ALTER TABLE t REPLACE COLUMNS (id int, w string)"]).await;
    assert_eq!(run(&session, "SELECT * FROM t").await.unwrap(), ["NULL NULL"]);
}

#[tokio::test]
async fn defaults_fill_older_rows_and_later_inserts() {
    let session = session().await;
    all(
        &session,
        &[
            "CREATE TABLE t (id int) TBLPROPERTIES ('format-version'='3')",
            "INSERT INTO t VALUES (1)",
            "ALTER TABLE t ADD COLUMN n int NOT NULL DEFAULT 5",
            "ALTER TABLE t ALTER COLUMN n SET DEFAULT 6",
            "INSERT INTO t (id) VALUES (2)",
            "INSERT INTO t VALUES (3, DEFAULT)",
        ],
    )
    .await;
    assert_eq!(
        run(&session, "SELECT * FROM t ORDER BY id").await.unwrap(),
        ["1 5", "2 6", "3 6"]
    );
    all(&session, &["ALTER TABLE t ALTER COLUMN n DROP DEFAULT"]).await;
    refused(
        &session,
        &[
            (
                "INSERT INTO t (id) VALUES (4)",
                ErrorKind::InvalidInput,
                "'n' is required",
            ),
            (
                "INSERT INTO t VALUES (4, DEFAULT)",
                ErrorKind::InvalidInput,
                "NOT NULL and has no default",
            ),
            (
                "ALTER TABLE t ALTER COLUMN n SET DEFAULT 'x'",
                ErrorKind::InvalidInput,
                "cannot be stored",
            ),
        ],
    )
    .await;
    let metadata = table(&session, "db", "t").await.metadata;
    let n = &metadata.current_schema().fields()[1];
    assert_eq!((&n.initial_default, &n.write_default), (&Some(Value::Int(5)), &None));
}

#[tokio::test]
async fn partition_fields_are_added_replaced_and_dropped() {
    let session = session().await;
    all(
        &session,
        &[
            "CREATE TABLE t (id int, ts timestamp, c string)",
            "INSERT INTO t VALUES (1, TIMESTAMP '2024-01-31 10:00:00', 'x')",
            "ALTER TABLE t ADD PARTITION FIELD bucket(4, id) AS shard",
            "ALTER TABLE t ADD PARTITION FIELD day(ts)",
            "ALTER TABLE t REPLACE PARTITION FIELD ts_day WITH hours(ts)",
            "ALTER TABLE t ADD PARTITION FIELD truncate(2, c)",
            "ALTER TABLE t DROP PARTITION FIELD shard",
            "ALTER TABLE t DROP PARTITION FIELD truncate(2, c)",
            "INSERT INTO t VALUES (2, TIMESTAMP '2024-01-31 11:00:00', 'y')",
        ],
    )
    .await;
    let metadata = table(&session, "db", "t").await.metadata;
    let fields: Vec<_> = metadata
        .default_spec()
        .fields
        .iter()
        .map(|f| (f.name.as_str(), &f.transform))
        .collect();
    assert_eq!(fields, [("ts_hour", &Transform::Hour)]);
    assert_eq!(
        run(&session, "SELECT id FROM t WHERE ts < TIMESTAMP '2024-01-31 10:30:00'")
            .await
            .unwrap(),
        ["1"]
    );
    use ErrorKind::InvalidInput as Invalid;
    refused(
        &session,
        &[
            (
                "ALTER TABLE t DROP PARTITION FIELD nosuch",
                Invalid,
                "'nosuch' does not exist",
            ),
            ("ALTER TABLE t DROP PARTITION FIELD c", Invalid, "not partitioned by"),
            (
                "ALTER TABLE t ADD PARTITION FIELD day(c)",
                Invalid,
                "cannot partition by day",
            ),
            ("ALTER TABLE t ADD PARTITION FIELD hours(ts)", Invalid, "already"),
        ],
    )
    .await;
}

#[tokio::test]
async fn the_write_order_is_recorded_and_kept_by_writers() {
    let session = session().await;
    all(
        &session,
        &[
            "CREATE TABLE t (id int, c string)",
            "ALTER TABLE t WRITE ORDERED BY truncate(1, c) DESC, id",
            "INSERT INTO t VALUES (2, 'ab'), (1, 'aa'), (3, 'b')",
        ],
    )
    .await;
    assert_eq!(
        run(&session, "SHOW TBLPROPERTIES t ('sort-order')").await.unwrap(),
        ["sort-order truncate(1, c) DESC NULLS LAST, id ASC NULLS FIRST"]
    );
    assert_eq!(
        run(&session, "SHOW TBLPROPERTIES t ('write.distribution-mode')")
            .await
            .unwrap(),
        ["write.distribution-mode range"]
    );
    assert_eq!(
        run(&session, "SELECT id FROM t ORDER BY _pos").await.unwrap(),
        ["3", "1", "2"]
    );
    all(
        &session,
        &["ALTER TABLE t WRITE DISTRIBUTED BY PARTITION LOCALLY ORDERED BY id NULLS LAST"],
    )
    .await;
    assert_eq!(
        run(&session, "SHOW TBLPROPERTIES t")
            .await
            .unwrap()
            .iter()
            .filter(|l| l.contains("order") || l.contains("mode"))
            .count(),
        2
    );
    all(&session, &["ALTER TABLE t WRITE UNORDERED"]).await;
    assert!(
        table(&session, "db", "t")
            .await
            .metadata
            .default_sort_order()
            .is_unsorted()
    );
    refused(
        &session,
        &[
            ("ALTER TABLE t WRITE", ErrorKind::InvalidInput, "ORDERED BY"),
            (
                "ALTER TABLE t WRITE ORDERED BY id UNORDERED",
                ErrorKind::InvalidInput,
                "twice",
            ),
        ],
    )
    .await;
}

#[tokio::test]
async fn identifier_fields_are_set_and_dropped() {
    let session = session().await;
    all(
        &session,
        &[
            "CREATE TABLE t (id int NOT NULL, s struct<k: int NOT NULL> NOT NULL, o int)",
            "ALTER TABLE t SET IDENTIFIER FIELDS ID, s.k",
            "ALTER TABLE t DROP IDENTIFIER FIELDS id",
        ],
    )
    .await;
    assert_eq!(
        run(&session, "SHOW TBLPROPERTIES t ('identifier-fields')")
            .await
            .unwrap(),
        ["identifier-fields [s.k]"]
    );
    refused(
        &session,
        &[
            (
                "ALTER TABLE t DROP IDENTIFIER FIELDS id",
                ErrorKind::InvalidInput,
                "no identifier field",
            ),
            (
                "ALTER TABLE t DROP IDENTIFIER FIELDS nosuch",
                ErrorKind::InvalidInput,
                "does not exist",
            ),
        ],
    )
    .await;
    assert!(run(&session, "ALTER TABLE t SET IDENTIFIER FIELDS o").await.is_err());
}

#[tokio::test]
async fn properties_change_and_reserved_ones_point_to_their_statements() {
    let session = session().await;
    all(
        &session,
        &[
            "CREATE TABLE t (id int) TBLPROPERTIES ('a'='1', 'b'='2')",
            "INSERT INTO t VALUES (1)",
            "INSERT INTO t VALUES (2)",
            "ALTER TABLE t SET TBLPROPERTIES ('a'='3', 'format-version'='3')",
            "ALTER TABLE t UNSET TBLPROPERTIES ('b', 'never')",
            "COMMENT ON TABLE t IS 'what it is'",
        ],
    )
    .await;
    let metadata = table(&session, "db", "t").await.metadata;
    assert_eq!(
        (metadata.properties["a"].as_str(), metadata.properties.get("b")),
        ("3", None)
    );
    assert_eq!(metadata.properties["comment"], "what it is");
    let first = metadata.snapshots[0].snapshot_id;
    run(
        &session,
        &format!("ALTER TABLE t SET TBLPROPERTIES ('current-snapshot-id'='{first}')"),
    )
    .await
    .unwrap();
    assert_eq!(run(&session, "SELECT * FROM t").await.unwrap(), ["1"]);
    let told = session
        .sql("ALTER TABLE t SET TBLPROPERTIES ('write.fromat.default'='avro')")
        .await
        .unwrap();
    assert!(
        matches!(&told, crate::Output::Done(line) if line.contains("did you mean 'write.format.default'")),
        "{told:?}"
    );
    refused(
        &session,
        &[
            (
                "ALTER TABLE t SET TBLPROPERTIES ('format-version'='2')",
                ErrorKind::Validation,
                "downgraded",
            ),
            (
                "ALTER TABLE t SET TBLPROPERTIES ('sort-order'='id')",
                ErrorKind::InvalidInput,
                "WRITE ORDERED BY",
            ),
            (
                "ALTER TABLE t SET TBLPROPERTIES ('identifier-fields'='id')",
                ErrorKind::InvalidInput,
                "SET IDENTIFIER FIELDS",
            ),
            (
                "ALTER TABLE t SET TBLPROPERTIES ('uuid'='1')",
                ErrorKind::InvalidInput,
                "reserved",
            ),
        ],
    )
    .await;
}

#[tokio::test]
async fn a_table_is_renamed_within_its_catalog() {
    let session = session().await;
    all(
        &session,
        &[
            "CREATE NAMESPACE other",
            "CREATE TABLE t (id int)",
            "INSERT INTO t VALUES (1)",
            "ALTER TABLE t RENAME TO lake.other.moved",
            "ALTER TABLE other.moved RENAME TO again",
        ],
    )
    .await;
    assert_eq!(run(&session, "SELECT * FROM other.again").await.unwrap(), ["1"]);
    refused(
        &session,
        &[
            ("SELECT * FROM t", ErrorKind::NotFound, "not found"),
            (
                "ALTER TABLE other.again RENAME TO othr.x",
                ErrorKind::NotFound,
                "did you mean other?",
            ),
        ],
    )
    .await;
    all(&session, &["CREATE TABLE taken (id int)"]).await;
    refused(
        &session,
        &[(
            "ALTER TABLE other.again RENAME TO db.taken",
            ErrorKind::AlreadyExists,
            "",
        )],
    )
    .await;
}

#[tokio::test]
async fn branches_and_tags_with_every_option() {
    let session = session().await;
    all(
        &session,
        &[
            "CREATE TABLE t (id int)",
            "INSERT INTO t VALUES (1)",
            "INSERT INTO t VALUES (2)",
        ],
    )
    .await;
    let first = table(&session, "db", "t").await.metadata.snapshots[0].snapshot_id;
    all(
        &session,
        &[
            &format!("ALTER TABLE t CREATE BRANCH `audit-1` AS OF VERSION {first} RETAIN 7 DAYS WITH SNAPSHOT RETENTION 3 SNAPSHOTS 2 HOURS"),
            "ALTER TABLE t CREATE BRANCH IF NOT EXISTS `audit-1`",
            "ALTER TABLE t REPLACE BRANCH `audit-1` RETAIN 90 MINUTES",
            "ALTER TABLE t CREATE OR REPLACE TAG eoy RETAIN 365 DAYS",
            &format!("ALTER TABLE t CREATE OR REPLACE TAG eoy AS OF VERSION {first}"),
            "ALTER TABLE t DROP TAG IF EXISTS nosuch",
        ],
    )
    .await;
    let metadata = table(&session, "db", "t").await.metadata;
    let audit = &metadata.refs["audit-1"];
    assert_eq!(
        (audit.kind, Some(audit.snapshot_id)),
        (RefKind::Branch, metadata.current_snapshot_id)
    );
    let kept = &audit.retention;
    assert_eq!(
        (
            kept.max_ref_age_ms,
            kept.min_snapshots_to_keep,
            kept.max_snapshot_age_ms
        ),
        (Some(90 * 60_000), Some(3), Some(2 * 3_600_000))
    );
    let eoy = &metadata.refs["eoy"];
    assert_eq!(
        (eoy.snapshot_id, eoy.retention.max_ref_age_ms),
        (first, Some(365 * 86_400_000))
    );
    use ErrorKind::InvalidInput as Invalid;
    refused(
        &session,
        &[
            (
                "ALTER TABLE t CREATE TAG eoy",
                ErrorKind::AlreadyExists,
                "'eoy' exists already",
            ),
            ("ALTER TABLE t REPLACE TAG `audit-1`", Invalid, "is a branch, not a tag"),
            ("ALTER TABLE t DROP BRANCH eoy", Invalid, "is a tag, not a branch"),
            (
                "ALTER TABLE t DROP BRANCH nosuch",
                ErrorKind::NotFound,
                "does not exist",
            ),
            ("ALTER TABLE t DROP BRANCH main", Invalid, "cannot be removed"),
            (
                "ALTER TABLE t CREATE BRANCH b AS OF VERSION 5",
                ErrorKind::NotFound,
                "snapshot 5",
            ),
            ("ALTER TABLE t CREATE BRANCH 123", Invalid, "quote it"),
            (
                "ALTER TABLE t CREATE BRANCH b RETAIN 5 WEEKS",
                Invalid,
                "DAYS, HOURS or MINUTES",
            ),
            ("ALTER TABLE t CREATE BRANCH b RETAIN", Invalid, "takes a time"),
            (
                "ALTER TABLE t CREATE TAG x WITH SNAPSHOT RETENTION 2 SNAPSHOTS",
                Invalid,
                "a tag has no",
            ),
            (
                "ALTER TABLE t CREATE BRANCH b RETAIN 9223372036854775807 DAYS",
                Invalid,
                "too long",
            ),
        ],
    )
    .await;
}

#[tokio::test]
async fn a_branch_of_an_empty_table_begins_with_an_empty_snapshot() {
    let session = session().await;
    all(
        &session,
        &["CREATE TABLE t (id int)", "ALTER TABLE t CREATE BRANCH b RETAIN 1 DAYS"],
    )
    .await;
    let metadata = table(&session, "db", "t").await.metadata;
    assert_eq!((metadata.snapshots.len(), metadata.current_snapshot_id), (1, None));
    assert_eq!(metadata.refs["b"].retention.max_ref_age_ms, Some(86_400_000));
    refused(
        &session,
        &[
            (
                "ALTER TABLE t CREATE BRANCH b",
                ErrorKind::AlreadyExists,
                "exists already",
            ),
            ("ALTER TABLE t REPLACE BRANCH c", ErrorKind::InvalidInput, "no snapshot"),
            ("ALTER TABLE t CREATE TAG x", ErrorKind::InvalidInput, "no snapshot"),
        ],
    )
    .await;
    all(
        &session,
        &[
            "ALTER TABLE t CREATE BRANCH IF NOT EXISTS b",
            "INSERT INTO t.branch_b VALUES (1)",
        ],
    )
    .await;
    assert_eq!(run(&session, "SELECT count(*) FROM t").await.unwrap(), ["0"]);
    assert_eq!(run(&session, "SELECT * FROM t VERSION AS OF 'b'").await.unwrap(), ["1"]);
}
