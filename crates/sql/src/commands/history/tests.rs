//! The readable forms against the metadata tables they are made of.

use crate::planner::tests::render;
use crate::session::Session;
use crate::session::tests::session;

async fn rows(session: &Session, sql: &str) -> Vec<String> {
    let batches = session.sql(sql).await.unwrap().collect().await.unwrap();
    batches.iter().flat_map(render::rows).collect()
}

/// Two appends, a tag on the first, a rollback to it, and a delete of all rows.
async fn with_history() -> Session {
    let session = session().await;
    rows(&session, "CREATE TABLE t (id int)").await;
    rows(&session, "INSERT INTO t VALUES (1), (2)").await;
    rows(&session, "ALTER TABLE t CREATE TAG first").await;
    rows(&session, "INSERT INTO t VALUES (3)").await;
    rows(
        &session,
        "CALL system.set_current_snapshot(table => 'db.t', ref => 'first')",
    )
    .await;
    rows(&session, "DELETE FROM t").await;
    session
}

#[tokio::test]
async fn snapshots_are_shown_with_their_refs_and_counts() {
    let session = with_history().await;
    let shown = rows(&session, "SHOW SNAPSHOTS t").await;
    let snapshots = "SELECT committed_at, snapshot_id, parent_id, operation FROM t.snapshots";
    let facts = ["first 2 NULL 2", "NULL 1 NULL 3", "main NULL 2 0"];
    let expected = rows(&session, snapshots).await.into_iter().zip(facts);
    let expected: Vec<String> = expected.map(|(row, facts)| format!("{row} {facts}")).collect();
    assert_eq!(shown, expected);
}

#[tokio::test]
async fn history_is_told_newest_first() {
    let session = with_history().await;
    let shown = rows(&session, "DESCRIBE HISTORY t").await;
    let history = "SELECT made_current_at, snapshot_id, parent_id, is_current_ancestor FROM t.history";
    let facts = [
        "delete NULL 2 0",
        "append 2 NULL 2",
        "append 1 NULL 3",
        "append 2 NULL 2",
    ];
    let expected = rows(&session, history).await.into_iter().rev().zip(facts);
    let expected: Vec<String> = expected.map(|(row, facts)| format!("{row} {facts}")).collect();
    assert_eq!(shown, expected);
    assert!(shown[2].contains(" false "), "{shown:?}");
}
