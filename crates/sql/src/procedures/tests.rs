//! Procedures over whole sessions. What they do follows Java's procedures, the golden folder `call` and the reference.

use tarn_format::ErrorKind;

use crate::session::Session;
use crate::session::tests::{must, run, session};

async fn snapshot_ids(session: &Session) -> Vec<i64> {
    let rows = must(session, "SELECT snapshot_id FROM db.t.snapshots ORDER BY committed_at").await;
    rows.iter().map(|r| r.parse().unwrap()).collect()
}

/// `db.t` with three appends.
async fn three_appends() -> (Session, Vec<i64>) {
    let session = session().await;
    must(&session, "CREATE TABLE t (id int)").await;
    for id in 1..=3 {
        must(&session, &format!("INSERT INTO t VALUES ({id})")).await;
        // Commits of one millisecond have no order by time.
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    let ids = snapshot_ids(&session).await;
    (session, ids)
}

#[tokio::test]
async fn a_table_goes_back_and_forth() {
    let (session, s) = three_appends().await;
    let moved = |from: i64, to: i64| vec![format!("{from} {to}")];
    assert_eq!(
        must(&session, &format!("CALL system.rollback_to_snapshot('t', {})", s[1])).await,
        moved(s[2], s[1])
    );
    assert_eq!(must(&session, "SELECT count(*) FROM t").await, ["2"]);
    let no_ancestor = run(&session, &format!("CALL system.rollback_to_snapshot('t', {})", s[2])).await;
    assert_eq!(no_ancestor.unwrap_err().kind(), ErrorKind::Validation);
    assert_eq!(
        must(
            &session,
            &format!(
                "CALL lake.System.SET_current_snapshot(Snapshot_Id => {}, `table` => 'lake.db.`t`')",
                s[2]
            )
        )
        .await,
        moved(s[1], s[2])
    );
    must(
        &session,
        &format!("ALTER TABLE t CREATE TAG first AS OF VERSION {}", s[0]),
    )
    .await;
    assert_eq!(
        must(
            &session,
            "CALL system.set_current_snapshot(table => 't', ref => 'first')"
        )
        .await,
        moved(s[2], s[0])
    );
    must(&session, &format!("CALL system.set_current_snapshot('t', {})", s[2])).await;
    let at = must(
        &session,
        &format!("SELECT committed_at FROM db.t.snapshots WHERE snapshot_id = {}", s[2]),
    )
    .await;
    assert_eq!(
        must(
            &session,
            &format!("CALL system.rollback_to_timestamp('t', TIMESTAMP '{}')", at[0])
        )
        .await,
        moved(s[2], s[1])
    );
    let ancestors = must(&session, "CALL system.ancestors_of('t')").await;
    let ids: Vec<&str> = ancestors.iter().filter_map(|row| row.split(' ').next()).collect();
    assert_eq!(ids, [s[1].to_string(), s[0].to_string()]);
    must(&session, "CREATE TABLE e (id int)").await;
    assert!(must(&session, "CALL system.ancestors_of('e')").await.is_empty());
}

#[tokio::test]
async fn staged_changes_are_published_once() {
    let session = session().await;
    must(
        &session,
        "CREATE TABLE t (id int) TBLPROPERTIES ('write.wap.enabled'='true')",
    )
    .await;
    must(&session, "INSERT INTO t VALUES (1)").await;
    must(&session, "SET spark.wap.id = night").await;
    must(&session, "INSERT INTO t VALUES (2)").await;
    must(&session, "RESET spark.wap.id").await;
    must(&session, "INSERT INTO t VALUES (3)").await;
    must(&session, "CALL system.publish_changes('t', 'night')").await;
    assert_eq!(must(&session, "SELECT id FROM t ORDER BY id").await, ["1", "2", "3"]);
    for (sql, part) in [
        ("CALL system.publish_changes('t', 'night')", "second time"),
        ("CALL system.publish_changes('t', 'day')", "no staged snapshot"),
    ] {
        let error = run(&session, sql).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Validation);
        assert!(error.to_string().contains(part), "{error}");
    }
}

#[tokio::test]
async fn branches_are_moved_forward_or_made() {
    let (session, s) = three_appends().await;
    must(
        &session,
        &format!("ALTER TABLE t CREATE BRANCH old AS OF VERSION {}", s[0]),
    )
    .await;
    assert_eq!(
        must(&session, "CALL system.fast_forward('t', 'old', 'main')").await,
        [format!("old {} {}", s[0], s[2])]
    );
    assert_eq!(
        must(&session, "CALL system.fast_forward('t', 'fresh', 'main')").await,
        [format!("fresh NULL {}", s[2])]
    );
    must(&session, "INSERT INTO t.branch_old VALUES (9)").await;
    let behind = run(&session, "CALL system.fast_forward('t', 'old', 'main')").await;
    assert!(behind.unwrap_err().to_string().contains("not an ancestor"));
}

#[tokio::test]
async fn a_metadata_file_becomes_a_table() {
    let (session, s) = three_appends().await;
    let files = must(
        &session,
        "SELECT file FROM db.t.metadata_log_entries ORDER BY timestamp",
    )
    .await;
    assert_eq!(
        must(
            &session,
            &format!("CALL system.register_table('early', '{}')", files[2])
        )
        .await,
        [format!("{} 2 2", s[1])]
    );
    assert_eq!(
        must(
            &session,
            &format!("CALL system.register_table('db.nothing', '{}')", files[0])
        )
        .await,
        ["NULL NULL NULL"]
    );
    assert_eq!(must(&session, "SELECT id FROM early ORDER BY id").await, ["1", "2"]);
    let taken = run(
        &session,
        &format!("CALL system.register_table('early', '{}')", files[2]),
    )
    .await;
    assert_eq!(taken.unwrap_err().kind(), ErrorKind::AlreadyExists);
}

#[tokio::test]
async fn calls_are_checked() {
    let (session, s) = three_appends().await;
    use ErrorKind::{InvalidInput as Invalid, NotFound, Unsupported};
    let cases: &[(&str, ErrorKind, &str)] = &[
        ("CALL system.defragment('t')", NotFound, "SHOW PROCEDURES"),
        (
            "CALL system.rollback_to_snapshott('t', 1)",
            NotFound,
            "did you mean rollback_to_snapshot?",
        ),
        ("CALL system.expire_snapshots('t')", Unsupported, "not supported yet"),
        ("CALL lake.custom.ancestors_of('t')", NotFound, "namespace system"),
        ("CALL nowhere.system.ancestors_of('t')", NotFound, "no such catalog"),
        ("CALL ancestors_of('t')", NotFound, "system.name"),
        ("CALL system.ancestors_of", Invalid, "in parentheses"),
        ("CALL system.ancestors_of()", Invalid, "missing arguments: table"),
        ("CALL system.ancestors_of(tabel => 't')", Invalid, "did you mean table?"),
        (
            "CALL system.ancestors_of(table => 't', TABLE => 't')",
            Invalid,
            "given twice",
        ),
        ("CALL system.ancestors_of(table => 't', 1)", Invalid, "cannot be mixed"),
        ("CALL system.ancestors_of('t', 1, 2)", Invalid, "too many arguments"),
        (
            "CALL system.ancestors_of('t', 1.5)",
            Invalid,
            "bigint, not decimal(2,1)",
        ),
        ("CALL system.ancestors_of('t', 'x')", Invalid, "bigint, not string"),
        (
            "CALL system.ancestors_of('t', id)",
            Invalid,
            "snapshot_id is no constant",
        ),
        ("CALL system.ancestors_of((SELECT 't'))", Invalid, "no constant"),
        ("CALL system.ancestors_of('  ')", Invalid, "is empty"),
        ("CALL system.ancestors_of(5)", Invalid, "is not the name"),
        ("CALL system.ancestors_of('absent')", NotFound, "not found"),
        (
            "CALL system.rollback_to_timestamp('t', '2001-01-01')",
            Invalid,
            "timestamp, not string",
        ),
        (
            "CALL system.rollback_to_timestamp('t', DATE '2001-01-01')",
            Invalid,
            "older than 978307200000",
        ),
        (
            "CALL system.set_current_snapshot('t')",
            Invalid,
            "either snapshot_id or ref",
        ),
    ];
    for (sql, kind, part) in cases {
        let error = run(&session, sql).await.expect_err(sql);
        assert_eq!(error.kind(), *kind, "{sql}: {error}");
        assert!(error.to_string().contains(part), "{sql}: {error}");
    }
    assert_eq!(snapshot_ids(&session).await, s);
}

#[tokio::test]
async fn tables_are_looked_for_in_the_procedures_catalog() {
    let session = session().await;
    must(&session, "CREATE CATALOG other WITH (type = 'memory')").await;
    must(&session, "CREATE NAMESPACE other.ns").await;
    must(&session, "CREATE TABLE other.ns.u (id int)").await;
    must(&session, "INSERT INTO other.ns.u VALUES (1)").await;
    assert_eq!(must(&session, "CALL other.system.ancestors_of('ns.u')").await.len(), 1);
    let error = run(&session, "CALL system.ancestors_of('other.ns.u')")
        .await
        .unwrap_err();
    assert!(error.to_string().contains("CALL other.system"), "{error}");
}

#[tokio::test]
async fn procedures_are_listed_and_described() {
    let session = session().await;
    let listed = must(&session, "SHOW PROCEDURES IN lake LIKE 'rollback*'").await;
    assert_eq!(listed.len(), 2);
    assert!(
        listed[0].starts_with("lake system rollback_to_snapshot Makes an ancestor"),
        "{}",
        listed[0]
    );
    let described = must(&session, "DESCRIBE PROCEDURE system.fast_forward").await;
    let beginnings: Vec<String> = described
        .iter()
        .map(|r| r.split(' ').take(3).collect::<Vec<_>>().join(" "))
        .collect();
    assert_eq!(
        beginnings,
        [
            "procedure fast_forward (empty)",
            "argument table string",
            "argument branch string",
            "argument to string",
            "output branch_updated string",
            "output previous_ref bigint",
            "output updated_ref bigint",
        ]
    );
    assert!(run(&session, "SHOW PROCEDURES IN db").await.is_err());
}
