//! Processes that change a table's columns, partitioning and properties race with processes that insert and delete rows, by
//! SQL: no change is lost, no row is, and none comes twice.
//!
//! The processes are this program again, told by the environment what to do.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use libtest_mimic::{Failed, Trial};
use tarn::{Error, ErrorKind, Result, Session};

use crate::shared_lake::{self, block_on};
use crate::slt::render;

/// Statements of each process.
const ROUNDS: usize = 10;

/// Set in the processes: kind of catalog, its directory, and the process's part, separated by line breaks.
const TASK: &str = "TARN_SCHEMA_RACE";

/// What the processes do.
const PARTS: [&str; 6] = ["insert-1", "insert-2", "delete", "columns", "partition", "properties"];

/// One trial per catalog that several processes can share.
pub fn trials() -> Vec<Trial> {
    let trial = |kind: &'static str| Trial::test(format!("concurrency/schema-{kind}"), move || race(kind));
    vec![trial("sqlite"), trial("hadoop")]
}

/// What this process is to do in a race; `None` when it is in none.
pub fn racer() -> Option<ExitCode> {
    let task = std::env::var(TASK).ok()?;
    let mut parts = task.split('\n');
    let (kind, place, part) = (parts.next()?, parts.next()?, parts.next()?);
    let outcome = block_on(async {
        let session = shared_lake::session(kind, Path::new(place)).await?;
        for sql in statements(part) {
            until_done(&session, &sql).await?;
        }
        Ok(())
    });
    Some(match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{part}: {error}");
            ExitCode::FAILURE
        }
    })
}

/// The statements of one process.
fn statements(part: &str) -> Vec<String> {
    let each = |statement: &dyn Fn(usize) -> Vec<String>| (0..ROUNDS).flat_map(statement).collect();
    match part {
        "delete" => each(&|i| {
            let id = 9_000 + i;
            vec![
                format!(
                    "INSERT INTO t (id, note) VALUES ({id}, 'gone'), ({}, 'stays')",
                    id + 500
                ),
                format!("DELETE FROM t WHERE id = {id}"),
            ]
        }),
        "columns" => each(&|i| {
            vec![
                format!("ALTER TABLE t ADD COLUMN c{i} int FIRST"),
                match i % 3 {
                    0 => format!("ALTER TABLE t RENAME COLUMN c{i} TO d{i}"),
                    1 => format!("ALTER TABLE t ALTER COLUMN c{i} TYPE bigint"),
                    _ => format!("ALTER TABLE t DROP COLUMN c{i}"),
                },
            ]
        }),
        "partition" => each(&|i| {
            let add = format!("ALTER TABLE t ADD PARTITION FIELD bucket({}, id) AS p{i}", i + 2);
            match i % 2 {
                0 => vec![add],
                _ => vec![add, format!("ALTER TABLE t DROP PARTITION FIELD p{i}")],
            }
        }),
        "properties" => each(&|i| vec![format!("ALTER TABLE t SET TBLPROPERTIES ('k{i}'='{i}')")]),
        writer => {
            let first = if writer == "insert-1" { 1_000 } else { 2_000 };
            each(&|i| vec![format!("INSERT INTO t (id, note) VALUES ({}, '{writer}')", first + i)])
        }
    }
}

/// Runs a statement until no other process was faster.
async fn until_done(session: &Session, sql: &str) -> Result<()> {
    let mut lost = 0;
    loop {
        let ran = async { session.sql(sql).await?.collect().await }.await;
        match ran {
            Ok(_) => return Ok(()),
            Err(e) if e.kind() == ErrorKind::Conflict && lost < 1_000 => lost += 1,
            Err(e) => return Err(e.with_context("statement", sql.to_string())),
        }
    }
}

fn race(kind: &'static str) -> std::result::Result<(), Failed> {
    let directory = tempfile::tempdir()?;
    let place = directory.path().canonicalize()?;
    let text = |error: Error| Failed::from(error.to_string());
    let made = block_on(async {
        let session = shared_lake::session(kind, &place).await?;
        session.sql("CREATE NAMESPACE db").await?;
        session.sql("CREATE TABLE t (id bigint, note string)").await
    });
    made.map_err(text)?;

    let mut processes = Vec::new();
    for part in PARTS {
        let task = format!("{kind}\n{}\n{part}", place.display());
        let mut process = Command::new(std::env::current_exe()?);
        process.env(TASK, task).stderr(Stdio::piped());
        processes.push(process.spawn()?);
    }
    for process in processes {
        let output = process.wait_with_output()?;
        if !output.status.success() {
            return Err(Failed::from(String::from_utf8_lossy(&output.stderr).into_owned()));
        }
    }
    let session = block_on(shared_lake::session(kind, &place)).map_err(text)?;
    check(&session)
}

/// The table against what the processes did.
fn check(session: &Session) -> std::result::Result<(), Failed> {
    let ask = |sql: &str| -> std::result::Result<Vec<String>, Failed> {
        let batches = block_on(async { session.sql(sql).await?.collect().await });
        let rows = render::rows(&batches.map_err(|e| Failed::from(e.to_string()))?)?;
        Ok(rows.into_iter().map(|row| row.join(" ")).collect())
    };
    let rounds = 0..ROUNDS;
    let ids = rounds.clone().flat_map(|i| [1_000 + i, 2_000 + i, 9_500 + i]);
    let mut ids: Vec<String> = ids.map(|id| id.to_string()).collect();
    ids.sort();
    let mut found = ask("SELECT id FROM t")?;
    found.sort();
    equal("rows", &found, &ids)?;

    let columns = rounds.clone().filter_map(|i| match i % 3 {
        0 => Some(format!("d{i} int NULL")),
        1 => Some(format!("c{i} bigint NULL")),
        _ => None,
    });
    let others = ["id bigint NULL", "note string NULL"].map(str::to_string);
    let columns: BTreeSet<String> = columns.chain(others).collect();
    let described = ask("DESCRIBE t")?;
    let described = described.into_iter().filter(|row| row.ends_with(" NULL"));
    equal("columns", &described.collect::<BTreeSet<_>>(), &columns)?;

    let properties = ask("SHOW TBLPROPERTIES t")?;
    let properties = properties.into_iter().filter(|row| row.starts_with('k'));
    let wanted: BTreeSet<String> = rounds.clone().map(|i| format!("k{i} {i}")).collect();
    equal("properties", &properties.collect::<BTreeSet<_>>(), &wanted)?;

    let partitioning = ask("DESCRIBE t")?;
    let partitioning = partitioning.into_iter().filter_map(|row| {
        let term = row.strip_prefix("Part ")?.split_once(' ')?.1;
        Some(term.trim_end_matches("(empty)").trim().to_string())
    });
    let wanted: BTreeSet<String> = rounds.step_by(2).map(|i| format!("bucket({}, id)", i + 2)).collect();
    equal("partition fields", &partitioning.collect::<BTreeSet<_>>(), &wanted)?;

    let snapshots = ask("SELECT count(*) FROM t.snapshots")?;
    equal("snapshots", &snapshots, &vec![(4 * ROUNDS).to_string()])
}

fn equal<T: PartialEq + std::fmt::Debug>(what: &str, found: &T, wanted: &T) -> std::result::Result<(), Failed> {
    if found == wanted {
        return Ok(());
    }
    Err(Failed::from(format!("{what}: found {found:?}, not {wanted:?}")))
}
