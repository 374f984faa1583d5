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

fn parquet(path: &std::path::Path, batch: &arrow::record_batch::RecordBatch) {
    use datafusion::parquet::arrow::ArrowWriter;
    let file = std::fs::File::create(path).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), None).unwrap();
    writer.write(batch).unwrap();
    writer.close().unwrap();
}

#[tokio::test]
async fn parquet_files_are_tables() {
    use arrow::array::{Float64Array, Int32Array, StringArray, TimestampNanosecondArray, UInt64Array};
    use arrow::record_batch::RecordBatch;
    let session = session().await;
    let directory = tempfile::tempdir().unwrap();
    let batch = |ids: Vec<i32>, doubles: Vec<f64>| {
        let n = ids.len();
        RecordBatch::try_from_iter([
            (
                "Id",
                std::sync::Arc::new(Int32Array::from(ids)) as arrow::array::ArrayRef,
            ),
            ("d", std::sync::Arc::new(Float64Array::from(doubles))),
            ("big", std::sync::Arc::new(UInt64Array::from(vec![u64::MAX; n]))),
            (
                "at",
                std::sync::Arc::new(TimestampNanosecondArray::from(vec![1_706_702_400_123_456_789; n])),
            ),
            ("s", std::sync::Arc::new(StringArray::from(vec!["x"; n]))),
        ])
        .unwrap()
    };
    parquet(
        &directory.path().join("a.parquet"),
        &batch(vec![1, 2], vec![1.5, f64::NAN]),
    );
    parquet(&directory.path().join("b.parquet"), &batch(vec![3], vec![-1.0]));
    std::fs::write(directory.path().join("_SUCCESS"), "").unwrap();
    let here = directory.path().display().to_string();
    let one = format!("'{here}/a.parquet'");
    assert_eq!(
        rows(&session, &format!("SELECT id, big, at, S FROM {one} WHERE ID = 1")).await,
        ["1 18446744073709551615 2024-01-31 12:00:00.123456 x"]
    );
    assert_eq!(
        rows(&session, &format!("SELECT a.id FROM {one} WHERE a.D > 2")).await,
        ["2"]
    );
    assert_eq!(rows(&session, &format!("SELECT max(d) FROM {one}")).await, ["NaN"]);
    for from in [
        format!("'{here}'"),
        format!("'{here}/*.parquet'"),
        format!("parquet.`{here}/`"),
        format!("read_parquet('{here}')"),
    ] {
        let sql = format!("SELECT count(*), sum(id) FROM {from}");
        assert_eq!(rows(&session, &sql).await, ["3 6"], "{from}");
    }
    // A file that comes later is seen by later statements.
    parquet(&directory.path().join("c.parquet"), &batch(vec![10], vec![0.0]));
    assert_eq!(rows(&session, &format!("SELECT sum(id) FROM '{here}'")).await, ["16"]);
    run(
        &session,
        &[
            "CREATE TABLE copied (id int, d double, big decimal(20,0), at timestamp_ntz, s string)",
            &format!("INSERT INTO copied SELECT * FROM '{here}'"),
            &format!("INSERT INTO copied SELECT * FROM {one}"),
        ],
    )
    .await;
    assert_eq!(rows(&session, "SELECT count(*) FROM copied").await, ["6"]);
    std::fs::write(directory.path().join("bad.parquet"), "no parquet").unwrap();
    for (from, part) in [
        (
            format!("'{here}/bad.parquet'"),
            "bad.parquet' cannot be read as parquet",
        ),
        (format!("'{here}/aa.parquet'"), "did you mean a.parquet?"),
        (format!("'{here}/*.csv'"), "no file matches"),
        (format!("'{here}/a.parquet' VERSION AS OF 1"), "has no versions"),
        (format!("read_parquet('{here}', header => true)"), "has no options"),
        (
            "'s3://bucket/x.parquet'".to_string(),
            "store that this session does not know",
        ),
    ] {
        let message = session
            .sql(&format!("SELECT * FROM {from}"))
            .await
            .unwrap_err()
            .to_string();
        assert!(message.contains(part), "{from}: {message}");
    }
}

#[tokio::test]
async fn text_files_are_tables() {
    let session = session().await;
    let directory = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = directory.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    write("people.csv", "ID;Name;born\n1;\"a;b\";2001-02-03\n2;;1999-12-31\n");
    write("plain.csv", "1,2\n3,4\n");
    write("lines.jsonl", "{\"a\": 1, \"b\": {\"c\": \"x\"}}\n{\"a\": 2}\n");
    write("array.json", "[{\"a\": 1.5}, {\"a\": null}]");
    write("parts/day=2024-01-31/n=1/f.csv", "v\n1\n");
    write("parts/day=2024-02-01/n=2/f.csv", "v\n5\n");
    write("wide.csv", "a,b\n1,2\n3,4,5\n");
    let here = directory.path().display().to_string();
    for (sql, expected) in [
        (
            "SELECT id, name, year(born) FROM '$/people.csv' ORDER BY id",
            &["1 a;b 2001", "2 NULL 1999"][..],
        ),
        ("SELECT column_1 + column_2 FROM '$/plain.csv'", &["3", "7"]),
        ("SELECT a, b.c FROM '$/lines.jsonl'", &["1 x", "2 NULL"]),
        ("SELECT A FROM json.`$/array.json`", &["1.5", "NULL"]),
        ("SELECT day, n, v FROM '$/parts' WHERE n > 1", &["2024-02-01 2 5"]),
        (
            "SELECT * FROM read_csv('$/people.csv', header => false, delimiter => ';') WHERE column_1 = 'ID'",
            &["ID Name born"],
        ),
        ("SELECT sum(v) FROM '$/parts/*/*/f.csv'", &["6"]),
    ] {
        let sql = sql.replace('$', &here);
        assert_eq!(rows(&session, &sql).await, expected, "{sql}");
    }
    for (sql, part) in [
        (
            "SELECT * FROM read_csv('$/plain.csv', headr => true)",
            "did you mean header?",
        ),
        (
            "SELECT * FROM read_csv('$/plain.csv', header => 5)",
            "must be true or false",
        ),
        ("SELECT nam FROM '$/people.csv'", "did you mean Name"),
        ("SELECT * FROM '$'", "several formats"),
        ("SELECT * FROM ''", "is empty"),
    ] {
        let sql = sql.replace('$', &here);
        let message = session.sql(&sql).await.unwrap_err().to_string();
        assert!(message.contains(part), "{sql}: {message}");
    }
    let sql = format!("SELECT * FROM '{here}/wide.csv'");
    let output = session.sql(&sql).await;
    let failed = match output {
        Err(e) => e,
        Ok(output) => output.collect().await.unwrap_err(),
    };
    assert!(failed.to_string().contains("wide.csv"), "{failed}");
}

#[tokio::test]
async fn tables_are_read_by_path_at_any_state() {
    let session = session().await;
    let home = tempfile::tempdir().unwrap();
    let location = home.path().join("t").display().to_string();
    let properties = std::collections::BTreeMap::from([
        ("type".to_string(), "hadoop".to_string()),
        ("warehouse".to_string(), home.path().display().to_string()),
    ]);
    session.catalogs().create("files", &properties).await.unwrap();
    run(
        &session,
        &[
            "CREATE NAMESPACE files.ns",
            "CREATE TABLE files.ns.t (id int)",
            "INSERT INTO files.ns.t VALUES (1)",
            "INSERT INTO files.ns.t VALUES (2)",
            "INSERT INTO files.ns.t VALUES (3)",
        ],
    )
    .await;
    drop(location);
    let table = home.path().join("ns/t");
    let copied = home.path().join("elsewhere");
    copy(&table, &copied);
    std::fs::rename(&table, home.path().join("ns/gone")).unwrap();
    let metadata = tarn_format::spec::table_metadata::TableMetadata::read(
        &tarn_format::io::FileIo::local(),
        &copied.join("metadata/v4.metadata.json").display().to_string(),
    )
    .await
    .unwrap();
    let ids: Vec<i64> = metadata.snapshots.iter().map(|s| s.snapshot_id).collect();
    let here = copied.display().to_string();
    for (from, expected) in [
        (format!("iceberg_scan('{here}')"), "3 6"),
        (format!("iceberg_scan('{here}/metadata/v4.metadata.json')"), "3 6"),
        (format!("iceberg_scan('{here}/metadata/v3.metadata.json')"), "2 3"),
        (format!("'{here}'"), "3 6"),
        (format!("iceberg.`{here}`"), "3 6"),
        (format!("'{here}' VERSION AS OF {}", ids[0]), "1 1"),
        (format!("iceberg_scan('{here}', snapshot_id => {})", ids[1]), "2 3"),
        (format!("iceberg_scan('{here}', 'branch' => 'main')"), "3 6"),
        (
            format!("iceberg_scan('{here}', start_snapshot_id => {})", ids[0]),
            "2 5",
        ),
        (
            format!(
                "iceberg_scan('{here}', 'start-snapshot-id' => {}, 'end-snapshot-id' => {})",
                ids[0], ids[1]
            ),
            "1 2",
        ),
        (
            format!(
                "iceberg_scan('{here}', 'location-prefix' => '{}={here}')",
                table.display()
            ),
            "3 6",
        ),
    ] {
        let sql = format!("SELECT count(*), sum(id) FROM {from}");
        assert_eq!(rows(&session, &sql).await, [expected], "{sql}");
    }
    for (from, part) in [
        (format!("iceberg_scan('{here}/nothing')"), "nothing"),
        (
            format!("iceberg_scan('{here}', snapshot_idd => 1)"),
            "did you mean snapshot-id?",
        ),
        (format!("iceberg_scan('{here}', 'location-prefix' => 'x')"), "'old=new'"),
        (format!("iceberg_scan('{here}', snapshot_id => 1)"), "snapshot"),
        (format!("iceberg_scan('{here}', tag => 'main')"), "has no tag 'main'"),
        ("iceberg_scan()".to_string(), "takes a path"),
    ] {
        let message = session
            .sql(&format!("SELECT * FROM {from}"))
            .await
            .unwrap_err()
            .to_string();
        assert!(message.contains(part), "{from}: {message}");
    }
}

fn copy(from: &std::path::Path, to: &std::path::Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(|e| e.unwrap()) {
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

#[tokio::test]
async fn hints_give_read_options() {
    let session = session().await;
    run(
        &session,
        &[
            "CREATE TABLE t (id int)",
            "INSERT INTO t VALUES (1)",
            "INSERT INTO t VALUES (2)",
        ],
    )
    .await;
    let located = session
        .locate_table(&crate::ast::Name(vec!["t".to_string()]))
        .await
        .unwrap();
    let found = crate::names::find_table(&located, &Default::default()).await.unwrap();
    let first = found.table.metadata.snapshots[0].snapshot_id;
    for (sql, expected) in [
        ("SELECT id FROM t /*+ OPTIONS('snapshot-id'='$') */", &["1"][..]),
        ("SELECT x.id FROM t /*+ OPTIONS('snapshot-id' = $) */ AS x", &["1"]),
        (
            "SELECT x.id FROM t AS x /*+ options ( 'snapshot-id' = '$' ) */ WHERE x.id < 5",
            &["1"],
        ),
        ("SELECT id FROM t /*+ OPTIONS('start-snapshot-id'='$') */", &["2"]),
        (
            "SELECT a.id FROM t a JOIN t /*+ OPTIONS('snapshot-id'='$') */ b ON a.id = b.id",
            &["1"],
        ),
        ("SELECT /*+ BROADCAST(t) */ count(*) FROM t", &["2"]),
        ("SELECT id FROM t /* OPTIONS */ WHERE id = 2", &["2"]),
        (
            "SELECT count(*) FROM (SELECT * FROM t /*+ OPTIONS('branch'='main') */)",
            &["2"],
        ),
        ("SELECT id FROM t WITH (`snapshot-id` = $)", &["1"]),
    ] {
        let sql = sql.replace('$', &first.to_string());
        assert_eq!(rows(&session, &sql).await, expected, "{sql}");
    }
    for (sql, part) in [
        ("SELECT * FROM t /*+ OPTIONS(oops */", "is not OPTIONS("),
        ("SELECT /*+ OPTIONS('branch'='main') */ * FROM t", "does not follow"),
        (
            "SELECT * FROM t VERSION AS OF $ /*+ OPTIONS('branch'='main') */",
            "leave one out",
        ),
        (
            "SELECT * FROM db.t.branch_main /*+ OPTIONS('snapshot-id'='$') */",
            "leave one out",
        ),
        ("DROP TABLE t /*+ OPTIONS('branch'='main') */", "does not follow"),
        ("SELECT * FROM t /*+ OPTIONS('snapshot-id'='x') */", "whole number"),
    ] {
        let sql = sql.replace('$', &first.to_string());
        let message = session.sql(&sql).await.unwrap_err().to_string();
        assert!(message.contains(part), "{sql}: {message}");
    }
}

#[tokio::test]
async fn tables_without_rows_are_read_like_others() {
    let session = session().await;
    run(
        &session,
        &[
            "CREATE TABLE t (p int, v string) PARTITIONED BY (p)",
            "INSERT INTO t SELECT 1, 'x' WHERE false",
        ],
    )
    .await;
    assert!(rows(&session, "SELECT * FROM t ORDER BY v").await.is_empty());
    assert_eq!(rows(&session, "SELECT count(*), max(p) FROM t").await, ["0 NULL"]);
    run(&session, &["INSERT INTO t VALUES (1, 'a')"]).await;
    assert!(
        rows(&session, "SELECT * FROM t WHERE p = 2 ORDER BY v")
            .await
            .is_empty()
    );
    assert_eq!(rows(&session, "SELECT count(*) FROM t WHERE p = 2").await, ["0"]);
}

// Spark 3.5, Average: decimal(p, s) gives decimal(min(38, p + 4), min(38, s + 4)), rounded half up.
// Spark 3.5 without ANSI mode.
#[tokio::test]
async fn an_average_without_room_is_null() {
    let session = session().await;
    let nines = "9".repeat(38);
    run(
        &session,
        &[
            "CREATE TABLE t (k int, d decimal(38,0))",
            &format!("INSERT INTO t VALUES (1, {nines}), (1, {nines}), (2, 3), (2, 4), (3, -{nines})"),
        ],
    )
    .await;
    let averages = "SELECT k, avg(d) FROM t GROUP BY k ORDER BY k";
    assert_eq!(rows(&session, averages).await, ["1 NULL", "2 3.5000", "3 NULL"]);
    let all = "SELECT avg(d), avg(DISTINCT d) FROM t WHERE k = 1";
    assert_eq!(rows(&session, all).await, ["NULL NULL"]);
}

#[tokio::test]
async fn the_average_of_decimals_is_a_decimal() {
    let session = session().await;
    run(
        &session,
        &[
            "CREATE TABLE t (k int, d decimal(3,2), w decimal(30,2), i int)",
            "INSERT INTO t VALUES (1, 0.50, 0.50, 1), (1, 0.50, 0.50, 2), (1, 1.00, 1.00, 2)",
            "INSERT INTO t VALUES (2, -0.50, -0.50, 1), (2, -0.50, -0.50, 2), (2, -1.00, -1.00, 2), (3, NULL, NULL, NULL)",
        ],
    )
    .await;
    let by_group = rows(
        &session,
        "SELECT k, avg(d), avg(w), avg(DISTINCT d) FROM t GROUP BY k ORDER BY k",
    )
    .await;
    let expected = [
        "1 0.666667 0.666667 0.750000",
        "2 -0.666667 -0.666667 -0.750000",
        "3 NULL NULL NULL",
    ];
    assert_eq!(by_group, expected);
    let all = rows(&session, "SELECT avg(d), avg(w) FROM t WHERE k = 1").await;
    assert_eq!(all, ["0.666667 0.666667"]);
    let windows =
        "SELECT avg(d) OVER (ORDER BY i, d ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) FROM t WHERE k = 1 ORDER BY 1";
    assert_eq!(rows(&session, windows).await, ["0.500000", "0.500000", "0.666667"]);
    assert_eq!(
        rows(&session, "SELECT avg(i), mean(i) FROM t WHERE k = 1").await,
        ["1.6666666666666667 1.6666666666666667"]
    );
    let types = session
        .sql("SELECT avg(d), avg(w), avg(i) FROM t")
        .await
        .unwrap()
        .collect()
        .await
        .unwrap();
    let types: Vec<String> = types[0]
        .schema()
        .fields()
        .iter()
        .map(|f| f.data_type().to_string())
        .collect();
    assert_eq!(types, ["Decimal128(7, 6)", "Decimal128(34, 6)", "Float64"]);
}
