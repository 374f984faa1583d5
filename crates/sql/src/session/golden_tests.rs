//! The golden scenarios, run through a session on a catalog in memory. The folder is what `TARN_GOLDEN` names; without it
//! there is nothing to compare with.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use tarn_format::ErrorKind;

use super::tests::session;
use crate::planner::tests::render;

/// Records passed at least, by folder: a change may raise these, never lower them.
const AT_LEAST: &[(&str, usize)] = &[
    ("ddl", 450),
    ("functions", 66),
    ("insert", 404),
    ("metadata", 120),
    ("select", 630),
    ("timetravel", 58),
];

#[derive(Debug, Default)]
struct Counts {
    passed: usize,
    failed: usize,
}

struct Record {
    conditions: Vec<(bool, String)>,
    directive: Vec<String>,
    sql: String,
    expected: Vec<String>,
}

fn records(text: &str) -> Vec<Record> {
    let record = |block: &str| {
        // Comments stand before a record; in its results `#` is text.
        let mut lines = block.lines().skip_while(|l| l.starts_with('#')).peekable();
        let mut conditions = Vec::new();
        while let Some(line) = lines.next_if(|l| l.starts_with("onlyif ") || l.starts_with("skipif ")) {
            let (word, label) = line.split_once(' ')?;
            conditions.push((word == "onlyif", label.trim().to_string()));
            while lines.next_if(|l| l.starts_with('#')).is_some() {}
        }
        let directive = lines.next()?.split(' ').map(str::to_string).collect();
        let rest: Vec<&str> = lines.collect();
        let separator = rest.iter().position(|l| *l == "----").unwrap_or(rest.len());
        Some(Record {
            conditions,
            directive,
            sql: rest[..separator].join("\n"),
            expected: rest.iter().skip(separator + 1).map(|l| l.to_string()).collect(),
        })
    };
    text.split("\n\n").filter_map(|b| record(b.trim())).collect()
}

/// All combinations of the file's matrix.
fn combinations(text: &str) -> Vec<BTreeMap<String, String>> {
    let mut all = vec![BTreeMap::new()];
    let Some(line) = text.lines().find_map(|l| l.strip_prefix("# matrix:")) else {
        return all;
    };
    for axis in line.split(';') {
        let Some((key, values)) = axis.trim().split_once('=') else {
            continue;
        };
        let with = |base: &BTreeMap<String, String>, value: &str| {
            let mut next = base.clone();
            next.insert(key.trim().to_string(), value.trim().to_string());
            next
        };
        all = all
            .iter()
            .flat_map(|base| values.split(',').map(|v| with(base, v)).collect::<Vec<_>>())
            .collect();
    }
    all
}

fn substitute(sql: &str, names: &BTreeMap<String, String>) -> String {
    let mut keys: Vec<&String> = names.keys().collect();
    keys.sort_by_key(|k| std::cmp::Reverse(k.len()));
    keys.into_iter().fold(sql.to_string(), |sql, key| {
        sql.replace(&format!("${{{key}}}"), &names[key])
            .replace(&format!("${key}"), &names[key])
    })
}

async fn rows(session: &super::Session, sql: &str) -> tarn_format::Result<Vec<String>> {
    let batches = session.sql(sql).await?.collect().await?;
    Ok(batches.iter().flat_map(render::rows).collect())
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
        Ok(())
    } else {
        Err(format!("expected {expected:?}, got {rows:?}"))
    }
}

async fn run(text: &str, combination: &BTreeMap<String, String>, counts: &mut Counts, log: &mut Vec<String>) {
    let session = session().await;
    let labels: Vec<String> = combination.iter().map(|(k, v)| format!("{k}={v}")).collect();
    let mut names = combination.clone();
    names.insert("tmp".to_string(), std::env::temp_dir().display().to_string());
    for record in records(text) {
        if record
            .conditions
            .iter()
            .any(|(only, label)| labels.contains(label) != *only)
        {
            continue;
        }
        let sql = substitute(&record.sql, &names);
        let words: Vec<&str> = record.directive.iter().map(String::as_str).collect();
        let outcome = match words.as_slice() {
            ["statement", "ok"] => rows(&session, &sql).await.map(drop).map_err(|e| e.to_string()),
            ["statement", "error"] => match rows(&session, &sql).await {
                Ok(_) => Err("should fail".to_string()),
                // What is not implemented, or not even known as grammar, refuses nothing.
                Err(e) if e.kind() == ErrorKind::Unsupported || e.message().starts_with("syntax error") => {
                    Err(e.to_string())
                }
                Err(_) => Ok(()),
            },
            ["let", targets @ ..] => match rows(&session, &sql).await {
                Ok(found) if found.len() == 1 => {
                    let targets = targets.join(" ");
                    let targets: Vec<&str> = targets.split(',').map(str::trim).filter(|t| !t.is_empty()).collect();
                    let mut rest = found[0].as_str();
                    for (i, target) in targets.iter().enumerate() {
                        let (value, after) = if i + 1 == targets.len() {
                            (rest, "")
                        } else {
                            rest.split_once(' ').unwrap_or((rest, ""))
                        };
                        names.insert(target.to_string(), value.to_string());
                        rest = after;
                    }
                    continue;
                }
                Ok(found) => Err(format!("one row is needed, got {found:?}")),
                Err(e) => Err(e.to_string()),
            },
            ["query", ..] => match rows(&session, &sql).await {
                Ok(found) => compare(found, &record.expected, words.contains(&"rowsort")),
                Err(e) => Err(e.to_string()),
            },
            _ => continue,
        };
        match outcome {
            Ok(()) => counts.passed += 1,
            Err(e) => {
                counts.failed += 1;
                log.push(format!("{labels:?} {}\n      {e}", sql.replace('\n', " ")));
            }
        }
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    files.sort();
    files
}

#[tokio::test(flavor = "multi_thread")]
async fn golden_scenarios() {
    let Some(root) = std::env::var_os("TARN_GOLDEN") else {
        return;
    };
    let mut short = Vec::new();
    let mut total = Counts::default();
    for folder in files(Path::new(&root)).into_iter().filter(|f| f.is_dir()) {
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        let mut counts = Counts::default();
        for file in files(&folder) {
            let text = std::fs::read_to_string(&file).unwrap();
            let mut log = Vec::new();
            for combination in combinations(&text) {
                run(&text, &combination, &mut counts, &mut log).await;
            }
            if std::env::var_os("TARN_GOLDEN_FAILURES").is_some() && !log.is_empty() {
                println!("{}:\n    {}", file.display(), log.join("\n    "));
            }
        }
        println!("golden {name}: {} passed, {} failed", counts.passed, counts.failed);
        total.passed += counts.passed;
        total.failed += counts.failed;
        if AT_LEAST.iter().any(|(n, least)| *n == name && counts.passed < *least) {
            short.push(name);
        }
    }
    println!("golden in total: {} passed, {} failed", total.passed, total.failed);
    assert!(short.is_empty(), "fewer records pass than before in {short:?}");
}
