//! Queries over tables of a session, as users write them. Expected values are Spark's.

use super::Session;
use super::tests::session;
use crate::planner::tests::render;

async fn rows(session: &Session, sql: &str) -> Vec<String> {
    let output = session.sql(sql).await.unwrap_or_else(|e| panic!("{sql}: {e}"));
    let batches = output.collect().await.unwrap_or_else(|e| panic!("{sql}: {e}"));
    batches.iter().flat_map(render::rows).collect()
}

async fn run(session: &Session, statements: &[&str]) {
    for sql in statements {
        rows(session, sql).await;
    }
}

#[tokio::test]
async fn row_groups_are_not_skipped_by_statistics_without_nan() {
    let session = session().await;
    run(
        &session,
        &[
            "CREATE TABLE t (id int, d double, f float)",
            "INSERT INTO t VALUES (1, 1.5, 1.5), (2, CAST('NaN' AS double), CAST('NaN' AS float))",
            "INSERT INTO t VALUES (3, 2.5, 2.5)",
        ],
    )
    .await;
    // NaN is greater than every number, and equal to itself.
    for (condition, expected) in [
        ("d > 2", &["2", "3"][..]),
        ("f > 2", &["2", "3"]),
        ("d < 2", &["1"]),
        ("d = CAST('NaN' AS double)", &["2"]),
        ("d <> 1.5", &["2", "3"]),
        ("NOT (d <= 2)", &["2", "3"]),
    ] {
        let found = rows(&session, &format!("SELECT id FROM t WHERE {condition} ORDER BY id")).await;
        assert_eq!(found, expected, "{condition}");
    }
}

#[tokio::test]
async fn several_bounds_at_once_see_files_of_only_nulls() {
    let session = session().await;
    run(
        &session,
        &[
            "CREATE TABLE t (p int, n bigint, d double) PARTITIONED BY (p)",
            "INSERT INTO t VALUES (1, 5, 1.5), (1, -5, CAST('NaN' AS double)), (2, NULL, NULL), (3, 900, -0.5)",
        ],
    )
    .await;
    for _ in 0..5 {
        assert_eq!(
            rows(&session, "SELECT min(n), max(n), min(d) FROM t").await,
            ["-5 900 -0.5"]
        );
    }
}
