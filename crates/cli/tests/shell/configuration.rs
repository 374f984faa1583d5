//! Options, `tarn.toml`, and what they mean for a session.

use super::running::Place;

const CONFIG: &str = "\
default-catalog = 'prod'
default-namespace = 'sales'

[catalog.prod]
type = 'hadoop'
warehouse = 'wh'

[catalog.other]
type = 'memory'
token = '${TARN_TEST_TOKEN:-hunter2}'

[settings]
spark.sql.session.timeZone = 'Europe/Oslo'

[shell]
format = 'csv'
";

#[test]
fn the_file_in_the_directory_applies_and_options_come_first() {
    let place = Place::new();
    place.write("tarn.toml", CONFIG);
    // What a statement did is no part of results that programs read.
    let made = place.run(&["-c", "CREATE TABLE t (id int)"]);
    let expected = (0, "", "created table prod.sales.t\n");
    assert_eq!((made.code, made.stdout.as_str(), made.stderr.as_str()), expected);
    let shown = place.stdout(&["-c", "SHOW CURRENT NAMESPACE", "-c", "SHOW CATALOGS"]);
    assert_eq!(shown, "catalog,namespace\nprod,sales\ncatalog\nother\nprod\n");
    assert!(place.path().join("wh/sales/t/metadata").is_dir());
    assert!(!place.path().join("tarn-lake").exists());
    let zone = place.stdout(&["-c", "SET spark.sql.session.timeZone"]);
    assert_eq!(zone, "key,value\nspark.sql.session.timeZone,Europe/Oslo\n");
    let zone = place.stdout(&[
        "--set",
        "spark.sql.session.timeZone=UTC",
        "-c",
        "SET spark.sql.session.timeZone",
    ]);
    assert!(zone.ends_with(",UTC\n"));
    let settings = place.stdout(&["-c", "SET"]);
    assert!(
        settings.contains("token") && !settings.contains("hunter2"),
        "{settings}"
    );
    let begun = place.stdout(&["--use", "other.a.b", "--format", "json", "-c", "SHOW CURRENT NAMESPACE"]);
    assert_eq!(begun, "{\"catalog\":\"other\",\"namespace\":\"a.b\"}\n");
}

#[test]
fn the_file_is_searched_for_in_order() {
    let place = Place::new();
    std::fs::create_dir_all(place.path().join(".config/tarn")).unwrap();
    place.write(".config/tarn/tarn.toml", "default-namespace = 'home'");
    let named = place.write("named.toml", "default-namespace = 'named'");
    let variable = place.write("variable.toml", "default-namespace = 'variable'");
    let arguments = ["--format", "csv", "-c", "SHOW CURRENT NAMESPACE"];
    assert!(place.stdout(&arguments).ends_with("lake,home\n"));
    place.write("tarn.toml", "default-namespace = 'here'");
    assert!(place.stdout(&arguments).ends_with("lake,here\n"));
    let output = place
        .tarn()
        .args(arguments)
        .env("TARN_CONFIG", &variable)
        .output()
        .unwrap();
    assert!(String::from_utf8(output.stdout).unwrap().ends_with("lake,variable\n"));
    let mut command = place.tarn();
    command
        .args(arguments)
        .arg("--config")
        .arg(&named)
        .env("TARN_CONFIG", &variable);
    assert!(
        String::from_utf8(command.output().unwrap().stdout)
            .unwrap()
            .ends_with("lake,named\n")
    );
}

#[test]
fn mistakes_in_the_file_are_told_with_their_line() {
    let place = Place::new();
    for (text, part) in [
        (
            "\nparalelism = 3",
            "line 2: 'paralelism' is not known here; did you mean parallelism? (file: ",
        ),
        ("[shell]\nformt = 'csv'", "did you mean format?"),
        ("[settings]\nspark.sql.caseSensitive = 'maybe'", "must be true or false"),
        ("spill-directory = 'nowhere'", "is no directory"),
    ] {
        let file = place.write("wrong.toml", text);
        let ran = place.run(&["--config", file.to_str().unwrap(), "-c", "SELECT 1"]);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{ran:?}");
        assert!(ran.stderr.contains(part) && ran.stderr.lines().count() == 1, "{ran:?}");
    }
    let ran = place.run(&["--config", "missing.toml", "-c", "SELECT 1"]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("does not exist (file: missing.toml)"), "{ran:?}");
}

#[test]
fn catalogs_come_from_options() {
    let place = Place::new();
    let catalog = ["--catalog", "prod=hadoop:warehouse", "--use", "prod.db"];
    place.stdout(
        &[
            &catalog[..],
            &["-c", "CREATE TABLE t (id int)", "-c", "INSERT INTO t VALUES (1)"],
        ]
        .concat(),
    );
    assert!(place.path().join("warehouse/db/t").is_dir());
    let counted = ["--format", "csv", "-c", "SELECT count(*) AS n FROM prod.db.t"];
    assert_eq!(place.stdout(&[&catalog[..2], &counted[..]].concat()), "n\n1\n");
    // Another spelling of the same, and a kind that does not exist.
    let keys = [
        "--catalog",
        "p.type=hadoop",
        "--catalog",
        "p.warehouse=warehouse",
        "--use",
        "p.db",
    ];
    assert!(
        place
            .stdout(&[&keys[..], &["-c", "SHOW TABLES"]].concat())
            .contains(" t ")
    );
    let ran = place.run(&["--catalog", "x=nonsense:y", "-c", "SHOW TABLES IN x.y"]);
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("catalog type `nonsense` is not known"), "{ran:?}");
}

#[test]
fn what_exceeds_the_memory_limit_spills_or_says_so() {
    let place = Place::new();
    let sort = "EXPLAIN ANALYZE SELECT value AS v, repeat(CAST(value % 10 AS string), 500) AS s
                FROM generate_series(1, 600000) ORDER BY s, v DESC";
    let spilling = [
        "--memory-limit",
        "100MiB",
        "--parallelism",
        "1",
        "--spill-directory",
        ".",
    ];
    let spilled = place.stdout(&[&spilling[..], &["-c", sort]].concat());
    let counts = spilled.split("spill_count=").skip(1);
    let counts: Vec<&str> = counts.map(|rest| rest.split([',', ']']).next().unwrap_or("")).collect();
    assert!(counts.iter().any(|count| *count != "0"), "{counts:?}");

    let limits = [
        "--memory-limit",
        "8MiB",
        "--parallelism",
        "2",
        "--spill-directory",
        ".",
        "--format",
        "csv",
    ];
    let join = "SELECT count(*) FROM (SELECT value AS a, repeat('x', 500) AS s FROM generate_series(1, 100000)) l
                JOIN (SELECT value AS a, repeat('y', 500) AS s FROM generate_series(1, 100000)) r ON l.a = r.a AND l.s < r.s";
    let ran = place.run(&[&limits[..], &["-c", join]].concat());
    assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{ran:?}");
    assert!(ran.stderr.starts_with("-c:1: out of memory: "), "{ran:?}");
    assert!(
        ran.stderr
            .contains("of the limit of 8.0 MB are in use; raise --memory-limit"),
        "{ran:?}"
    );
    assert_eq!(ran.stderr.lines().count(), 1, "{ran:?}");
}

#[test]
fn metrics_are_logged_where_that_is_asked_for() {
    let place = Place::new();
    place.stdout(&["-c", "CREATE TABLE t AS SELECT 1 AS id"]);
    let query = ["-c", "SELECT * FROM t WHERE id < 5"];
    let quiet = place.run(&query);
    assert_eq!((quiet.code, quiet.stderr.as_str()), (0, ""));
    let with_variable = |level: &str| place.tarn().args(query).env("TARN_LOG", level).output().unwrap();
    let asked = place.run(&[&["--log", "info"], &query[..]].concat());
    assert_eq!((asked.code, &asked.stdout), (0, &quiet.stdout));
    for stderr in [asked.stderr, String::from_utf8(with_variable("info").stderr).unwrap()] {
        assert!(stderr.contains("\"report-type\":\"scan-report\""), "{stderr}");
    }
    let refused = with_variable("loud");
    assert_eq!(refused.status.code(), Some(1));
    assert_eq!(
        String::from_utf8(refused.stderr).unwrap(),
        "tarn: TARN_LOG is error, warn, info, debug or trace, not 'loud'\n"
    );
}
