use datafusion::arrow::array::{Array, Int64Array, RecordBatch, StringArray};
use datafusion::arrow::util::pretty::pretty_format_batches;
use datafusion::dataframe::DataFrameWriteOptions;
use std::path::Path;
use std::sync::Arc;
use tarn_format::metrics::{CollectingReporter, MetricsReport};

use super::*;

#[path = "../examples/dataframe.rs"]
#[allow(dead_code)]
mod dataframe;
#[path = "../examples/quickstart.rs"]
#[allow(dead_code)]
mod quickstart;
#[path = "../examples/writer.rs"]
#[allow(dead_code)]
mod writer;

async fn session(directory: &Path) -> Session {
    Session::builder().home(directory.join("lake")).build().await.unwrap()
}

/// The rows of a query, columns joined by spaces.
async fn rows(session: &Session, sql: &str) -> String {
    let batches = session.sql(sql).await.unwrap().collect().await.unwrap();
    table(&batches)
}

fn table(batches: &[RecordBatch]) -> String {
    let text = pretty_format_batches(batches).unwrap().to_string();
    let rows = text.lines().filter(|l| l.starts_with('|')).skip(1);
    let cells = rows.map(|row| {
        row.trim_matches('|')
            .split('|')
            .map(str::trim)
            .collect::<Vec<_>>()
            .join(" ")
    });
    cells.collect::<Vec<_>>().join("\n")
}

#[tokio::test]
async fn the_first_statements_work_and_nothing_is_on_disk_before() -> Result<()> {
    let directory = tempfile::tempdir().unwrap();
    let home = directory.path().join("lake");
    let session = session(directory.path()).await;
    assert_eq!(rows(&session, "SHOW TABLES").await, "");
    session.sql("USE default").await?;
    assert!(session.sql("CREATE TABLE t AS SELECT nosuch").await.is_err());
    assert!(!home.exists());
    let elsewhere = session.sql("CREATE TABLE other.t (id bigint)").await.unwrap_err();
    assert_eq!(
        elsewhere.kind(),
        ErrorKind::NotFound,
        "only the session's own namespace is made: {elsewhere}"
    );
    session
        .sql("CREATE TABLE t (id bigint, name string) PARTITIONED BY (bucket(4, id))")
        .await?;
    session.sql("INSERT INTO t VALUES (1, 'one'), (2, 'two')").await?;
    assert_eq!(rows(&session, "SELECT * FROM t WHERE id > 1").await, "2 two");

    // A later session finds what this one left.
    let later = Session::builder().home(&home).build().await?;
    assert_eq!(rows(&later, "SELECT count(*) FROM lake.default.t").await, "2");
    assert_eq!(rows(&later, "SHOW NAMESPACES").await, "default");
    Ok(())
}

#[tokio::test]
async fn the_examples_run() {
    let directory = tempfile::tempdir().unwrap();
    let shown = quickstart::run(&directory.path().join("quickstart")).await.unwrap();
    let (now, before) = shown.split_once("before").unwrap();
    assert!(now.contains("| Oslo   | 2     | 48.50  |"), "{shown}");
    assert!(before.contains("| Oslo   | 1     | 17.50  |"), "{shown}");
    let shown = dataframe::run(&directory.path().join("dataframe")).await.unwrap();
    assert!(
        shown.contains("| Norway | 30.0  |") && !shown.contains("Sweden"),
        "{shown}"
    );
    let shown = writer::run(&directory.path().join("writer")).await.unwrap();
    let lines: Vec<Vec<&str>> = shown.lines().map(|l| l.split_whitespace().collect()).collect();
    let row = |id: &str| lines.iter().find(|l| l.get(1) == Some(&id)).map(|l| l.join(" "));
    let expected = [
        ("1", Some("| 1 | no | paid | |")),
        ("2", Some("| 2 | no | lost | |")),
        ("3", None),
        ("4", None),
        ("5", Some("| 5 | dk | corrected | |")),
        ("6", Some("| 6 | se | again | |")),
        ("7", Some("| 7 | fi | new | |")),
        ("8", Some("| 8 | fi | new | gift |")),
    ];
    for (id, expected) in expected {
        assert_eq!(row(id).as_deref(), expected, "{shown}");
    }
    assert!(shown.starts_with("3 rows merged"), "{shown}");
}

#[tokio::test]
async fn a_file_configures_a_session_and_calls_come_first() -> Result<()> {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("tarn.toml");
    let text = "default-catalog = 'disk'\ndefault-namespace = 'one'\n[catalog.disk]\ntype = 'hadoop'\nwarehouse = 'wh'\n[settings]\n\
                spark.sql.session.timeZone = 'Europe/Oslo'\nspark.wap.branch = 'b'";
    std::fs::write(&file, text).unwrap();
    let builder = Session::builder()
        .config_file(&file)
        .setting("spark.wap.branch", "mine");
    let session = builder
        .namespace(format::catalog::Namespace::new(["two"]))
        .build()
        .await?;
    session.sql("CREATE TABLE t (id int)").await?;
    assert!(directory.path().join("wh/two/t").is_dir());
    assert_eq!(session.settings().time_zone(), "Europe/Oslo");
    assert_eq!(session.settings().get("spark.wap.branch"), Some("mine"));
    let missing = Session::builder().config_file("/nowhere/tarn.toml").build().await;
    assert_eq!(missing.unwrap_err().kind(), ErrorKind::NotFound);
    Ok(())
}

async fn filled(directory: &Path) -> Session {
    let session = session(directory).await;
    session.sql("CREATE TABLE t (id bigint, name string)").await.unwrap();
    session.sql("INSERT INTO t VALUES (1, 'one')").await.unwrap();
    session.sql("CREATE NAMESPACE a").await.unwrap();
    session.sql("CREATE NAMESPACE a.b").await.unwrap();
    session.sql("CREATE TABLE a.b.nested (x int)").await.unwrap();
    session.sql("INSERT INTO a.b.nested VALUES (7)").await.unwrap();
    session
}

#[tokio::test]
async fn datafusions_own_sql_reads_and_appends() {
    let directory = tempfile::tempdir().unwrap();
    let session = filled(directory.path()).await;
    let context = session.context();
    let read = |sql: &'static str| async move { context.sql(sql).await?.collect().await };
    assert_eq!(
        table(&read("SELECT name FROM lake.default.t WHERE id = 1").await.unwrap()),
        "one"
    );
    assert_eq!(table(&read("SELECT x FROM lake.\"a.b\".nested").await.unwrap()), "7");
    read("INSERT INTO lake.default.t VALUES (2, 'two')").await.unwrap();
    // What DataFusion registers stays beside the session's tables.
    let batch = RecordBatch::try_from_iter([
        ("id", Arc::new(Int64Array::from(vec![3])) as Arc<dyn Array>),
        ("name", Arc::new(StringArray::from(vec!["three"])) as _),
    ]);
    context.register_batch("mine", batch.unwrap()).unwrap();
    read("INSERT INTO lake.default.t SELECT * FROM mine").await.unwrap();
    let counted = "SELECT count(*) AS n, max(name) AS m FROM lake.default.t";
    assert_eq!(table(&read(counted).await.unwrap()), "3 two");
    assert_eq!(rows(&session, "SELECT count(*) FROM t").await, "3");

    // EXPLAIN of a write writes nothing.
    read("EXPLAIN INSERT INTO lake.default.t VALUES (4, 'four')")
        .await
        .unwrap();
    let frame = context.table("lake.default.t").await.unwrap();
    assert_eq!(frame.clone().count().await.unwrap(), 3);
    // One statement, one state of the table: appending a table to itself doubles it.
    frame
        .write_table("lake.default.t", DataFrameWriteOptions::new())
        .await
        .unwrap();
    assert_eq!(rows(&session, "SELECT count(*) FROM t").await, "6");
}

#[tokio::test]
async fn what_datafusion_would_get_wrong_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let session = filled(directory.path()).await;
    let before = rows(&session, "SELECT * FROM t").await;
    let context = session.context();
    let databricks = "SET datafusion.sql_parser.dialect = 'databricks'";
    context.sql(databricks).await.unwrap().collect().await.unwrap();
    for (sql, part) in [
        (
            "SELECT * FROM lake.default.t VERSION AS OF 1",
            "cannot read VERSION AS OF 1: run the statement with Session::sql",
        ),
        (
            "SELECT * FROM lake.default.t TIMESTAMP AS OF '2020-01-01'",
            "cannot read TIMESTAMP AS OF",
        ),
        ("DELETE FROM lake.default.t", "DELETE not supported"),
        (
            "DELETE FROM lake.default.t WHERE id IN (SELECT 1)",
            "DELETE not supported",
        ),
        ("UPDATE lake.default.t SET id = 2", "UPDATE not supported"),
        (
            "INSERT OVERWRITE lake.default.t VALUES (9, 'nine')",
            "Insert Overwrite is not supported",
        ),
        ("DROP TABLE lake.default.t", "doesn't exist"),
        (
            "CREATE TABLE lake.default.u AS SELECT 1 AS x",
            "does not support registering tables",
        ),
        ("TRUNCATE TABLE lake.default.t", "TRUNCATE not supported"),
        ("SELECT * FROM lake.default.nothing", "'lake.default.nothing' not found"),
    ] {
        let ran = match context.sql(sql).await {
            Ok(frame) => frame.collect().await,
            Err(e) => Err(e),
        };
        let message = ran.map(drop).expect_err(sql).to_string();
        assert!(message.contains(part), "{sql}: {message}");
    }
    assert_eq!(rows(&session, "SELECT * FROM t").await, before);
}

#[tokio::test]
async fn data_frames_are_read_and_appended_with_options() -> Result<()> {
    let directory = tempfile::tempdir().unwrap();
    let session = session(directory.path()).await;
    session
        .sql("CREATE TABLE t (id bigint NOT NULL, name string, n int) TBLPROPERTIES ('write.wap.enabled' = 'false')")
        .await?;
    session.sql("INSERT INTO t VALUES (1, 'one', 10)").await?;
    let frame = |id: i64, name: &str| -> Result<datafusion::dataframe::DataFrame> {
        let columns = [
            ("Name", Arc::new(StringArray::from(vec![name])) as _),
            ("id", Arc::new(Int64Array::from(vec![id])) as _),
        ];
        let batch = RecordBatch::try_from_iter(columns).map_err(|e| Error::invalid("batch").with_source(e))?;
        Ok(session.context().read_batch(batch).unwrap())
    };
    let report = session
        .write(frame(2, "two")?)
        .option("snapshot-property.who", "me")
        .append("lake.default.`t`")
        .await?;
    assert_eq!((report.rows, report.files), (1, 1));
    let all = "SELECT id, name, coalesce(n, -1) FROM t ORDER BY id";
    assert_eq!(rows(&session, all).await, "1 one 10\n2 two -1");
    let summary = "SELECT summary['who'] FROM t.snapshots ORDER BY committed_at DESC LIMIT 1";
    assert_eq!(rows(&session, summary).await, "me");

    let first = rows(
        &session,
        "SELECT snapshot_id FROM t.snapshots ORDER BY committed_at LIMIT 1",
    )
    .await;
    let before = session.read().option("snapshot-id", &first).table("t").await?;
    assert_eq!(table(&before.collect().await.unwrap()), "1 one 10");
    let added = session
        .read()
        .option("start-snapshot-id", &first)
        .table("default.t")
        .await?;
    assert_eq!(table(&added.collect().await.unwrap()).trim_end(), "2 two");
    assert_eq!(session.read().table("t.snapshots").await?.count().await.unwrap(), 2);
    let path = directory.path().join("lake/default/t");
    assert_eq!(
        session
            .read()
            .load(path.to_str().unwrap())
            .await?
            .count()
            .await
            .unwrap(),
        2
    );

    let refused = [
        session.read().option("snapshot-id", 7).table("t").await.unwrap_err(),
        session.read().table("nosuch").await.unwrap_err(),
        session.read().table("t; DROP TABLE t").await.unwrap_err(),
        session.write(frame(3, "x")?).append("nosuch").await.unwrap_err(),
        session
            .write(frame(3, "x")?.select_columns(&["Name"]).unwrap())
            .append("t")
            .await
            .unwrap_err(),
        session
            .write(frame(3, "x")?)
            .option("target-file-size-bytes", "big")
            .append("t")
            .await
            .unwrap_err(),
    ];
    for (error, part) in refused
        .iter()
        .zip(["7", "nosuch", "not the name", "nosuch", "'id'", "'big'"])
    {
        assert!(error.to_string().contains(part), "{error}");
    }
    assert_eq!(rows(&session, "SELECT count(*) FROM t").await, "2");
    Ok(())
}

/// A table as its writer made it.
async fn written(session: &Session) {
    let rows = session
        .sql("SELECT 1 AS id, 'a' AS s UNION ALL SELECT 2, 'b'")
        .await
        .unwrap();
    let rows = session.context().read_batches(rows.collect().await.unwrap()).unwrap();
    let writer = session.write(rows).partitioned_by(["s"]);
    writer.table_property("k", "v").create("t").await.unwrap();
}

#[tokio::test]
async fn writers_make_and_replace_tables() {
    let directory = tempfile::tempdir().unwrap();
    let session = session(directory.path()).await;
    written(&session).await;
    assert_eq!(
        rows(&session, "SELECT partition.s, record_count FROM t.files ORDER BY 1").await,
        "a 1\nb 1"
    );
    assert_eq!(rows(&session, "SHOW TBLPROPERTIES t ('k')").await, "k v");
    let frame = async |sql: &str| {
        let rows = session.sql(sql).await.unwrap();
        session.context().read_batches(rows.collect().await.unwrap()).unwrap()
    };
    let taken = session
        .write(frame("SELECT 3 AS id").await)
        .create("t")
        .await
        .unwrap_err();
    assert_eq!(taken.kind(), ErrorKind::AlreadyExists);
    let missing = session.write(frame("SELECT 3 AS id").await).replace("nosuch").await;
    assert_eq!(missing.unwrap_err().kind(), ErrorKind::NotFound);
    session.write(frame("SELECT 3 AS x").await).replace("t").await.unwrap();
    assert_eq!(rows(&session, "SELECT x FROM t").await, "3");
    session
        .write(frame("SELECT 4 AS y").await)
        .create_or_replace("t")
        .await
        .unwrap();
    session
        .write(frame("SELECT 5 AS y").await)
        .create_or_replace("u")
        .await
        .unwrap();
    assert_eq!(
        rows(&session, "SELECT y FROM t UNION ALL SELECT y FROM u ORDER BY y").await,
        "4\n5"
    );
    assert_eq!(
        rows(&session, "SELECT count(*) FROM t.snapshots").await,
        "3",
        "history is kept"
    );
}

#[tokio::test]
async fn overwrites_say_what_they_put_up_with() {
    let directory = tempfile::tempdir().unwrap();
    let session = session(directory.path()).await;
    written(&session).await;
    let before = rows(&session, "SELECT snapshot_id FROM t.snapshots").await;
    session.sql("INSERT INTO t VALUES (3, 'a')").await.unwrap();
    let frame = async || {
        let rows = session.sql("SELECT 9 AS id, 'a' AS s").await.unwrap();
        session.context().read_batches(rows.collect().await.unwrap()).unwrap()
    };
    use datafusion::prelude::{col, lit};
    let filter = || col("s").eq(lit("a"));
    for level in ["serializable", "snapshot"] {
        let writer = || async { session.write(frame().await).option("isolation-level", level) };
        let writer = async || writer().await.option("validate-from-snapshot-id", &before);
        let outcomes = [
            writer().await.overwrite("t", filter()).await,
            writer().await.overwrite_partitions("t").await,
        ];
        for outcome in outcomes {
            match level {
                "serializable" => assert_eq!(outcome.unwrap_err().kind(), ErrorKind::Validation),
                // The row that came in meanwhile is overwritten; the second overwrite meets the first one's removal.
                _ => drop(outcome),
            }
        }
    }
    assert_eq!(rows(&session, "SELECT * FROM t ORDER BY id").await, "2 b\n9 a");
    let unknown = session.write(frame().await).option("isolation-level", "none");
    assert_eq!(
        unknown.overwrite("t", filter()).await.unwrap_err().kind(),
        ErrorKind::InvalidInput
    );
    let adds = session
        .write(frame().await)
        .option("isolation-level", "snapshot")
        .append("t")
        .await;
    assert_eq!(adds.unwrap_err().kind(), ErrorKind::InvalidInput);
}

#[tokio::test]
async fn columns_come_with_rows_on_request() {
    let directory = tempfile::tempdir().unwrap();
    let session = session(directory.path()).await;
    written(&session).await;
    let frame = async || {
        let rows = session
            .sql("SELECT CAST(3 AS bigint) AS id, 'c' AS s, 1.5 AS price")
            .await
            .unwrap();
        session.context().read_batches(rows.collect().await.unwrap()).unwrap()
    };
    let refused = session.write(frame().await).append("t").await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::InvalidInput, "{refused}");
    let refused = session
        .write(frame().await)
        .option("mergeSchema", true)
        .append("t")
        .await
        .unwrap_err();
    assert!(
        refused.to_string().contains("write.spark.accept-any-schema"),
        "{refused}"
    );
    session
        .sql("ALTER TABLE t SET TBLPROPERTIES ('write.spark.accept-any-schema'='true')")
        .await
        .unwrap();
    session
        .write(frame().await)
        .option("mergeSchema", true)
        .append("t")
        .await
        .unwrap();
    assert_eq!(
        rows(&session, "SELECT * FROM t ORDER BY id").await,
        "1 a \n2 b \n3 c 1.5"
    );
    assert_eq!(rows(&session, "SELECT max(id) + 3000000000 FROM t").await, "3000000003");
    let versions = "SELECT count(*) FROM t.metadata_log_entries";
    assert_eq!(rows(&session, versions).await, "3", "one commit adds columns and rows");
}

#[tokio::test]
async fn scans_and_commits_are_reported() {
    let reporter = Arc::new(CollectingReporter::default());
    let directory = tempfile::tempdir().unwrap();
    let builder = Session::builder().home(directory.path().join("lake"));
    let session = builder.metrics_reporter(reporter.clone()).build().await.unwrap();
    let create = "CREATE TABLE t (id bigint, s struct<a: int, b: string>, secret string) PARTITIONED BY (id)";
    session.sql(create).await.unwrap();
    let insert = "INSERT INTO t VALUES (1, named_struct('a', 1, 'b', 'x'), 'hush'), (2, NULL, 'hush')";
    session.sql(insert).await.unwrap();
    let reports = reporter.take();
    let [MetricsReport::Commit(commit)] = reports.as_slice() else {
        panic!("one commit")
    };
    assert_eq!(
        (commit.table_name.as_str(), commit.operation.as_str()),
        ("lake.default.t", "append")
    );
    assert_eq!(commit.metrics.added_data_files.unwrap().value, 2);
    assert_eq!(commit.metrics.attempts.unwrap().value, 1);

    rows(&session, "SELECT s FROM t WHERE id = 2 AND secret = 'hush'").await;
    let reports = reporter.take();
    let [MetricsReport::Scan(scan)] = reports.as_slice() else {
        panic!("one scan")
    };
    assert_eq!(scan.table_name, "lake.default.t");
    assert_eq!(scan.snapshot_id, commit.snapshot_id);
    assert!(scan.projected_field_names.contains(&"s.b".to_string()), "{scan:?}");
    assert!(!scan.filter.to_string().contains("hush"), "{}", scan.filter);
    assert_eq!(scan.metrics.result_data_files.unwrap().value, 1);
    assert_eq!(scan.metrics.skipped_data_files.unwrap().value, 1);

    session.sql("DELETE FROM t WHERE secret = 'none'").await.unwrap();
    let kinds = reporter.take();
    assert!(kinds.iter().all(|r| matches!(r, MetricsReport::Scan(_))), "{kinds:?}");
    let explained = rows(&session, "EXPLAIN ANALYZE SELECT * FROM t WHERE id = 2").await;
    for metric in [
        "result_data_files=1",
        "skipped_data_files=1",
        "total_planning_duration=",
    ] {
        assert!(explained.contains(metric), "{metric}: {explained}");
    }
}
