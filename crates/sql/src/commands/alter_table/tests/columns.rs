//! Columns at every depth, their defaults, and what is refused.

use tarn_format::ErrorKind;
use tarn_format::spec::value::Value;

use super::{all, refused, run, table};
use crate::session::tests::session;

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
