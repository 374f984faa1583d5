//! Real processes that commit to one table at once, and processes that are killed while they do.
//!
//! The children are this test binary again: they run [`child`] alone, told by the environment what to do.

use std::collections::{BTreeMap, HashSet};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use tarn_format::ErrorKind;
use tarn_format::catalog::Catalog;
use tempfile::TempDir;

use super::fixture::{ident, make_table, properties, table};
use super::race::{append_all, check_all_landed, snapshot_id};
use crate::load::load_catalog;

const WRITERS: u32 = 8;
const COMMITS: u32 = 50;

/// Set in children: what to do.
const TASK: &str = "TARN_CATALOGS_TEST_TASK";
/// Set in children: the catalog's directory.
const PLACE: &str = "TARN_CATALOGS_TEST_PLACE";
/// Set in children: their number.
const WRITER: &str = "TARN_CATALOGS_TEST_WRITER";

/// Keeps few metadata files, so that deletions race with commits as well.
fn settings(previous_versions: &'static str) -> [(&'static str, &'static str); 2] {
    [
        ("write.metadata.delete-after-commit.enabled", "true"),
        ("write.metadata.previous-versions-max", previous_versions),
    ]
}

fn catalog_properties(kind: &str, place: &Path) -> BTreeMap<String, String> {
    let warehouse = place.join("wh").display().to_string();
    match kind {
        "hadoop" => properties(&[("type", "hadoop"), ("warehouse", &warehouse)]),
        _ => {
            let uri = format!("sqlite://{}/cat.db", place.display());
            properties(&[("type", "sqlite"), ("uri", &uri), ("warehouse", &warehouse)])
        }
    }
}

async fn open(kind: &str, place: &Path) -> Arc<dyn Catalog> {
    load_catalog("shared", &catalog_properties(kind, place)).await.unwrap()
}

fn spawn(task: &str, kind: &str, place: &Path, writer: u32) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "testkit::process_tests::child",
            "--nocapture",
            "--test-threads=1",
        ])
        .env(TASK, format!("{task}/{kind}"))
        .env(PLACE, place)
        .env(WRITER, writer.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .unwrap()
}

/// What a child does. Without a task, as in an ordinary run of the tests, there is nothing to do.
#[tokio::test]
async fn child() {
    let Ok(task) = std::env::var(TASK) else {
        return;
    };
    let (task, kind) = task.split_once('/').unwrap();
    let place = std::env::var(PLACE).unwrap();
    let writer: u32 = std::env::var(WRITER).unwrap().parse().unwrap();
    let catalog = open(kind, Path::new(&place)).await;
    let name = ident("db.t");
    match task {
        "append" => append_all(&*catalog, &name, writer, COMMITS).await.unwrap(),
        "append-and-tell" => {
            for i in 0..COMMITS {
                super::race::append_one(&*catalog, &name, snapshot_id(writer, i), writer)
                    .await
                    .unwrap();
                // The terminating newline tells whole lines from torn ones.
                println!("landed {}", snapshot_id(writer, i));
                std::io::stdout().flush().unwrap();
            }
        }
        "create" => match catalog.create_table(&name, table(&[]).unwrap()).await {
            Ok(table) => println!("created {}", table.metadata.table_uuid.unwrap()),
            Err(e) => assert_eq!(e.kind(), ErrorKind::AlreadyExists, "{e:?}"),
        },
        other => panic!("no task {other}"),
    }
}

/// What a child printed after this word. The test harness may have put its own text before it on the line.
fn told(child: &mut Child, word: &str) -> Vec<String> {
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let told = lines
        .map_while(Result::ok)
        .filter_map(|l| l.split_once(word).map(|(_, rest)| rest.trim().to_owned()));
    told.collect()
}

/// Writers of a table that logs so many versions before the current one, and the metadata files that are left.
async fn no_commit_is_lost(kind: &str, previous_versions: &'static str, left: usize) {
    let place = TempDir::new().unwrap();
    let name = ident("db.t");
    let catalog = open(kind, place.path()).await;
    make_table(&*catalog, &name, &settings(previous_versions))
        .await
        .unwrap();
    let mut children: Vec<Child> = (0..WRITERS).map(|w| spawn("append", kind, place.path(), w)).collect();
    for child in &mut children {
        told(child, "unheard");
    }
    // All have ended before the first failure takes their directory away.
    let failed = children
        .iter_mut()
        .filter_map(|c| Some(c.wait().unwrap()).filter(|s| !s.success()))
        .count();
    assert_eq!(failed, 0, "processes that failed");
    let table = catalog.load_table(&name).await.unwrap();
    check_all_landed(&table, WRITERS, COMMITS).unwrap();
    let kept = table
        .io
        .list(&format!("{}/metadata", table.metadata.location))
        .await
        .unwrap();
    let kept = kept.iter().filter(|f| f.location.ends_with(".metadata.json")).count();
    assert_eq!(kept, left, "metadata files");
}

#[tokio::test]
async fn eight_processes_lose_no_commit_on_sqlite() {
    // The current one and 20 before it.
    no_commit_is_lost("sqlite", "20", 21).await;
}

#[tokio::test]
async fn eight_processes_lose_no_commit_on_hadoop() {
    // Young versions stay until 100 are younger, however short the log.
    no_commit_is_lost("hadoop", "1", 101).await;
}

async fn one_creation_wins(kind: &str) {
    for _ in 0..3 {
        let place = TempDir::new().unwrap();
        let catalog = open(kind, place.path()).await;
        catalog
            .create_namespace(&ident("db.t").namespace, properties(&[]))
            .await
            .unwrap();
        let mut children: Vec<Child> = (0..4).map(|w| spawn("create", kind, place.path(), w)).collect();
        let mut winners = Vec::new();
        for child in &mut children {
            winners.extend(told(child, "created "));
            assert!(child.wait().unwrap().success());
        }
        let table = catalog.load_table(&ident("db.t")).await.unwrap();
        assert_eq!(winners, vec![table.metadata.table_uuid.unwrap().to_string()]);
    }
}

#[tokio::test]
async fn of_processes_that_create_one_table_one_wins_on_sqlite() {
    one_creation_wins("sqlite").await;
}

#[tokio::test]
async fn of_processes_that_create_one_table_one_wins_on_hadoop() {
    one_creation_wins("hadoop").await;
}

/// Kills a child some time after it told of a few commits, and gives all those it told of.
fn kill_after(child: &mut Child, commits: usize, wait: Duration) -> Vec<i64> {
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut told: Vec<i64> = Vec::new();
    while let Some(Ok(line)) = lines.next() {
        told.extend(line.split_once("landed ").map(|(_, id)| id.parse::<i64>().unwrap()));
        if told.len() == commits {
            std::thread::sleep(wait);
            child.kill().unwrap();
        }
    }
    child.wait().unwrap();
    told
}

/// Kills processes while they commit. What they told as landed is there; of what they did not tell at most the commit
/// that was under way is.
async fn kills_lose_nothing(kind: &str) {
    let place = TempDir::new().unwrap();
    let name = ident("db.t");
    let catalog = open(kind, place.path()).await;
    make_table(&*catalog, &name, &settings("20")).await.unwrap();
    let mut landed: HashSet<i64> = HashSet::new();
    let mut killed = 0;
    for round in 0..6u32 {
        let spawn = |n| spawn("append-and-tell", kind, place.path(), n);
        for mut child in [spawn(round * 2), spawn(round * 2 + 1)] {
            landed.extend(kill_after(
                &mut child,
                3,
                Duration::from_millis(u64::from(round * 7 % 13)),
            ));
            killed += 1;
        }
    }
    let table = catalog.load_table(&name).await.unwrap();
    let head = table.metadata.current_snapshot_id.unwrap();
    let found: HashSet<i64> = table
        .metadata
        .ancestors_of(head)
        .iter()
        .map(|s| s.snapshot_id)
        .collect();
    assert_eq!(found.len(), table.metadata.snapshots.len());
    assert!(landed.is_subset(&found), "lost: {:?}", landed.difference(&found));
    assert!(landed.len() >= 36, "only {} commits before the kills", landed.len());
    assert!(
        found.len() - landed.len() <= killed,
        "{} of {killed}",
        found.len() - landed.len()
    );
    append_all(&*catalog, &name, 99, 3).await.unwrap();
}

#[tokio::test]
async fn killed_processes_lose_no_commit_on_sqlite() {
    kills_lose_nothing("sqlite").await;
}

#[tokio::test]
async fn killed_processes_lose_no_commit_on_hadoop() {
    kills_lose_nothing("hadoop").await;
}
