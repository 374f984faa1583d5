//! Branches and tags.

use tarn_format::ErrorKind;
use tarn_format::spec::snapshot::RefKind;

use super::{all, refused, run, table};
use crate::session::tests::session;

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
