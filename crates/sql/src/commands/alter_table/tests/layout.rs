//! Partition fields, write order, identifier fields.

use tarn_format::ErrorKind;
use tarn_format::transform::Transform;

use super::{all, refused, run, table};
use crate::session::tests::session;

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
