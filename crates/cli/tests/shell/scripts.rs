//! -c, -f and standard input.

use super::running::Place;

#[test]
fn a_newcomers_first_statements_work_and_nothing_is_on_disk_before() {
    let place = Place::new();
    assert_eq!(place.stdout(&["-c", "SELECT 1 AS one"]), " one\n─────\n   1\n1 row\n");
    assert_eq!(
        place.stdout(&["-c", "SHOW TABLES", "--format", "csv"]),
        "namespace,tableName,isTemporary\n"
    );
    assert!(
        std::fs::read_dir(place.path()).unwrap().next().is_none(),
        "something was written"
    );

    place.stdout(&["-c", "CREATE TABLE t (id int, name string)"]);
    let inserted = place.stdout(&["-c", "INSERT INTO t VALUES (1, 'one'), (2, NULL)"]);
    assert!(inserted.starts_with("INSERT 2 rows in 1 file ("), "{inserted}");
    assert!(inserted.contains(", snapshot "), "{inserted}");
    let csv = place.stdout(&["--format", "csv", "-c", "SELECT * FROM lake.default.t ORDER BY id"]);
    assert_eq!(csv, "id,name\n1,one\n2,\n");
    assert!(place.path().join("tarn-lake").is_dir());
}

#[test]
fn sources_run_in_the_order_given() {
    let place = Place::new();
    place.write("two.sql", "SELECT 2;\n-- a comment; no statement\nSELECT ';3'");
    let csv = place.stdout(&[
        "--format",
        "csv",
        "-c",
        "SELECT 1 a",
        "-f",
        "two.sql",
        "-c",
        "SELECT 4 b; SELECT 5 c",
    ]);
    let values: Vec<&str> = csv.lines().skip(1).step_by(2).collect();
    assert_eq!(values, ["1", "2", ";3", "4", "5"]);
    let ran = place.run_with_input(
        &["--format", "csv"],
        "SELECT 'in;put' AS x;\n\\format json\nSELECT 2 AS y",
    );
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "x\nin;put\n{\"y\":2}\n"));
    let ran = place.run_with_input(&["-f", "-", "--format", "csv"], "SELECT 1 AS x");
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "x\n1\n"));
}

#[test]
fn failures_name_file_and_line_and_end_the_run() {
    let place = Place::new();
    place.write(
        "query.sql",
        "SELECT 1;\n\nSELECT *\nFROM nowhere;\nSELECT 'not reached'",
    );
    let ran = place.run(&["-f", "query.sql", "--format", "csv"]);
    assert_eq!(ran.code, 1);
    assert!(!ran.stdout.contains("not reached"));
    assert_eq!(
        ran.stderr,
        "query.sql:3: table or view lake.default.nowhere not found\n"
    );

    place.write("syntax.sql", "SELECT 1;\nSELECT\n  FROM FROM x;");
    let ran = place.run(&["-f", "syntax.sql"]);
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.starts_with("syntax.sql:3: syntax error"), "{ran:?}");
    assert_eq!(ran.stderr.lines().count(), 1, "{ran:?}");

    place.write("open.sql", "SELECT 1;\n\nSELECT 'open");
    let ran = place.run(&["-f", "open.sql"]);
    assert!(
        ran.stderr.starts_with("open.sql:3: syntax error: Unterminated string"),
        "{ran:?}"
    );

    let ran = place.run_with_input(&[], "SELECT 1;\nSELECT 2;\nSELEC 3;\nSELECT 4;");
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.starts_with("stdin:3: "), "{ran:?}");
    let ran = place.run(&["-f", "missing.sql"]);
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.starts_with("missing.sql cannot be read: "), "{ran:?}");
}

#[test]
fn keep_going_runs_the_rest_and_still_fails() {
    let place = Place::new();
    let ran = place.run(&[
        "--keep-going",
        "--format",
        "csv",
        "-c",
        "SELECT nothing; SELECT 2 AS x",
        "-c",
        "SELECT 3 AS x",
    ]);
    assert_eq!(ran.code, 1);
    assert_eq!(ran.stdout, "x\n2\nx\n3\n");
    assert!(ran.stderr.starts_with("-c:1: "), "{ran:?}");
}

#[test]
fn wrong_usage_is_told_from_wrong_sql() {
    let place = Place::new();
    for arguments in [
        &["--nonsense"][..],
        &["--format", "xml"],
        &["--max-rows", "0"],
        &["--set", "novalue"],
        &["--set", "spark.sql.session.timeZone=Nowhere/None"],
        &["inspect"],
    ] {
        let ran = place.run(arguments);
        assert_eq!(ran.code, 2, "{arguments:?}: {ran:?}");
        assert!(!ran.stderr.is_empty());
    }
    assert_eq!(place.run(&["-c", "SELECT"]).code, 1);
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let place = Place::new();
    let mut child = place
        .tarn()
        .args(["--format", "csv", "-c", "SELECT * FROM generate_series(1, 3000000)"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut head = [0u8; 64];
    std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut head).unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
}

#[test]
fn settings_and_options_reach_the_session() {
    let place = Place::new();
    let zone = ["--set", "spark.sql.session.timeZone=Europe/Oslo", "--format", "json"];
    let statement = ["-c", "SELECT TIMESTAMP '2024-01-02 03:04:05' AS t"];
    let json = place.stdout(&[&zone[..], &statement[..]].concat());
    assert_eq!(json, "{\"t\":\"2024-01-02T03:04:05+01:00\"}\n");
    let shown = place.stdout(&["-c", "SET spark.sql.catalog.x.token = hunter2", "-c", "SET"]);
    assert!(shown.contains("redacted") && !shown.contains("hunter2"), "{shown}");
    place.stdout(&["--home", "elsewhere", "-c", "CREATE TABLE t (id int)"]);
    assert!(place.path().join("elsewhere/catalog.db").is_file());
}
