//! Properties and names.

use tarn_format::ErrorKind;

use super::{all, refused, run, table};
use crate::session::tests::session;

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
