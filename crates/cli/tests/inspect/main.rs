//! `tarn inspect` as it is run: what it prints, how it exits, what it says of broken input.

// Helpers of tests may unwrap as the tests do.
#![allow(clippy::unwrap_used)]

mod table;

use std::path::Path;
use std::process::{Command, Output};

use table::write_table;

fn inspect(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tarn"))
        .arg("inspect")
        .args(arguments)
        .output()
        .unwrap()
}

fn stdout_of(arguments: &[&str]) -> String {
    let output = inspect(arguments);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!((output.status.code(), stderr.as_str()), (Some(0), ""), "{arguments:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// The one line on stderr of a run that fails.
fn refusal(arguments: &[&str]) -> String {
    let output = inspect(arguments);
    assert_eq!(output.status.code(), Some(1), "{arguments:?}");
    assert!(output.stdout.is_empty(), "nothing half-shown");
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
    stderr
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[tokio::test]
async fn a_table_is_described_from_where_it_was_copied_to() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path().canonicalize().unwrap();
    write_table(&directory).await;
    let shown = stdout_of(&[text(&directory)]).replace(text(&directory), "DIR");
    let expected = "\
Table
  metadata file           DIR/metadata/v2.metadata.json
  location                s3://lake/db/events
  read from               DIR
  format version          2
  uuid                    9c12d441-03fe-4693-9a96-a0705ddf69c1
  last updated            2024-01-02 03:04:05.678 UTC
  current schema          0
  default spec            0
  default sort order      0
  current snapshot        7
  snapshots               1
  last sequence number    1
  last column id          3
  earlier metadata files  0

";
    assert!(shown.starts_with(expected), "{shown}");
    let words = |text: &str| {
        text.lines()
            .map(|l| l.split_whitespace().collect::<Vec<_>>().join(" "))
            .collect::<Vec<_>>()
    };
    let lines = words(&shown);
    for line in [
        "1 id long identifier - the key",
        "2 day date optional - -",
        "0 1000 day identity day",
        "main branch 7 - - -",
        "metadata/m0.avro data 0 7 1 2 0 0 30 1.0 KiB",
        "data files 2 30 3.0 KiB",
        "owner tarn",
    ] {
        assert!(lines.iter().any(|l| l == line), "no line '{line}' in\n{shown}");
    }
    assert!(
        !shown.contains("data/b.parquet"),
        "files are listed only when asked for"
    );
}

#[tokio::test]
async fn files_and_snapshots_are_listed_when_asked_for() {
    let directory = tempfile::tempdir().unwrap();
    write_table(directory.path()).await;
    let shown = stdout_of(&[text(directory.path()), "--files", "--snapshots"]);
    let row = shown.lines().find(|line| line.contains("data/b.parquet")).unwrap();
    let words: Vec<&str> = row.split_whitespace().collect();
    let expected = [
        "data",
        "files",
        "data/b.parquet",
        "PARQUET",
        "20",
        "2.0",
        "KiB",
        "day=2024-01-02",
        "0",
        "1",
        "-",
    ];
    assert_eq!(words, expected);
    assert!(shown.contains("\nSnapshots\n"), "{shown}");
}

#[tokio::test]
async fn json_gives_numbers_and_whole_locations() {
    let directory = tempfile::tempdir().unwrap();
    write_table(directory.path()).await;
    let shown = stdout_of(&[text(directory.path()), "--json", "--files"]);
    let json: serde_json::Value = serde_json::from_str(&shown).unwrap();
    assert_eq!(json["table"]["format_version"], 2);
    assert_eq!(json["current_snapshot"]["snapshot"], 7);
    assert_eq!(json["live_files"][0]["records"], 30);
    assert_eq!(json["files"][1]["path"], "s3://lake/db/events/data/b.parquet");
    assert_eq!(json["properties"]["owner"], "tarn");
}

#[tokio::test]
async fn a_manifest_list_and_a_manifest_are_described_by_themselves() {
    let directory = tempfile::tempdir().unwrap();
    write_table(directory.path()).await;
    let list = stdout_of(&[text(&directory.path().join("metadata/snap-7.avro"))]);
    assert!(list.starts_with("Manifest list\n"), "{list}");
    assert!(list.contains("s3://lake/db/events/metadata/m0.avro"), "{list}");
    let manifest = stdout_of(&[text(&directory.path().join("metadata/m0.avro")), "--files"]);
    assert!(manifest.starts_with("Manifest\n"), "{manifest}");
    assert!(manifest.contains("entries  2\n"), "{manifest}");
    assert!(manifest.contains("s3://lake/db/events/data/a.parquet"), "{manifest}");
}

#[tokio::test]
async fn broken_input_is_refused_in_one_line_that_names_the_file() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    write_table(path).await;
    let metadata = std::fs::read(path.join("metadata/v2.metadata.json")).unwrap();
    let manifest = std::fs::read(path.join("metadata/m0.avro")).unwrap();
    for (name, bytes, says) in [
        (
            "truncated.metadata.json",
            &metadata[..metadata.len() / 2],
            "not valid JSON",
        ),
        ("truncated.avro", &manifest[..manifest.len() - 20], "truncated.avro"),
        ("empty.metadata.json", &b""[..], "the file is empty"),
        ("text.txt", b"hello", "not a file of an Iceberg table"),
        ("data.parquet", b"PAR1....", "a data file"),
        ("puffin.bin", b"PFA1", "puffin.bin"),
        ("v9.json", br#"{"format-version": 9}"#, "9"),
    ] {
        let file = path.join(name);
        std::fs::write(&file, bytes).unwrap();
        let line = refusal(&[text(&file)]);
        assert!(line.contains(says) && line.contains(name), "{name}: {line}");
    }
    assert!(refusal(&[text(&path.join("nothing"))]).contains("no such file or directory"));
    let empty = tempfile::tempdir().unwrap();
    assert!(refusal(&[text(empty.path())]).contains("no metadata file"));
}

#[tokio::test]
async fn a_table_whose_manifest_is_gone_names_it() {
    let directory = tempfile::tempdir().unwrap();
    write_table(directory.path()).await;
    std::fs::remove_file(directory.path().join("metadata/m0.avro")).unwrap();
    let line = refusal(&[text(directory.path())]);
    assert!(line.contains("s3://lake/db/events/metadata/m0.avro"), "{line}");
}

#[tokio::test]
async fn a_location_prefix_is_obeyed() {
    let (metadata, files) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    write_table(files.path()).await;
    let file = metadata.path().join("copy.metadata.json");
    std::fs::copy(files.path().join("metadata/v2.metadata.json"), &file).unwrap();
    assert!(refusal(&[text(&file)]).contains("s3://lake/db/events/metadata/snap-7.avro"));
    let prefix = format!("s3://lake/db/events={}", text(files.path()));
    let shown = stdout_of(&[text(&file), "--location-prefix", &prefix]);
    assert!(shown.contains("Live files"), "{shown}");
}

#[test]
fn wrong_usage_exits_with_2() {
    assert_eq!(inspect(&[]).status.code(), Some(2));
    assert_eq!(inspect(&[".", "--location-prefix", "nonsense"]).status.code(), Some(2));
    let help = stdout_of(&["--help"]);
    assert!(help.contains("Examples:") && help.contains("Exit codes"), "{help}");
}

#[test]
fn the_demo_makes_a_table_and_shows_it() {
    let shown = stdout_of(&["--demo"]);
    let lines: Vec<String> = shown
        .lines()
        .map(|l| l.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect();
    for line in [
        "2 at timestamptz required - -",
        "4 country string optional - added later",
        "data files 3 3200 125.0 KiB",
    ] {
        assert!(lines.iter().any(|l| l == line), "no line '{line}' in\n{shown}");
    }
    assert!(lines.iter().any(|l| l.starts_with("first-day tag ")), "{shown}");
    assert_eq!(inspect(&["--demo", "."]).status.code(), Some(2));
}
