//! Processes change one table at once with random statements, each tried until it lands. Under serializable isolation the
//! table is then what the committed statements make of it one after the other, in the order of their snapshots. Under
//! snapshot isolation the same holds of statements that look at single rows: no change is lost, none comes twice.
//!
//! The writers are this program again, told by the environment what to do.

mod statements;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

use libtest_mimic::{Failed, Trial};
use tarn::{ErrorKind, Output, Result, Session};

use self::statements::{Mix, Row, Statement};
use crate::shared_lake::{self, block_on};

const WRITERS: u64 = 4;
const STATEMENTS: u64 = 8;
/// Attempts after which a statement counts as starved.
const ATTEMPTS: u32 = 300;
/// Set in writers: kind of catalog, its directory, the isolation level, and the writer's number, separated by line breaks.
const TASK: &str = "TARN_HISTORY_WRITER";

#[derive(Debug, Clone, Copy)]
struct Case {
    catalog: &'static str,
    version: &'static str,
    mode: &'static str,
    isolation: &'static str,
}

const CASES: [Case; 6] = [
    Case {
        catalog: "sqlite",
        version: "2",
        mode: "copy-on-write",
        isolation: "serializable",
    },
    Case {
        catalog: "sqlite",
        version: "3",
        mode: "merge-on-read",
        isolation: "serializable",
    },
    Case {
        catalog: "sqlite",
        version: "2",
        mode: "merge-on-read",
        isolation: "snapshot",
    },
    Case {
        catalog: "hadoop",
        version: "2",
        mode: "merge-on-read",
        isolation: "serializable",
    },
    Case {
        catalog: "hadoop",
        version: "3",
        mode: "merge-on-read",
        isolation: "snapshot",
    },
    Case {
        catalog: "hadoop",
        version: "3",
        mode: "copy-on-write",
        isolation: "snapshot",
    },
];

/// One trial per combination of catalog, version, mode and isolation that is tried.
pub fn trials() -> Vec<Trial> {
    let trial = |case: Case| {
        let Case {
            catalog,
            version,
            mode,
            isolation,
        } = case;
        Trial::test(
            format!("histories/{catalog}/v{version}/{mode}/{isolation}"),
            move || run(case),
        )
    };
    CASES.into_iter().map(trial).collect()
}

/// What this process is to do as a writer; `None` when it is none.
pub fn writer() -> Option<ExitCode> {
    let task = std::env::var(TASK).ok()?;
    let mut parts = task.split('\n');
    let (catalog, place, isolation) = (parts.next()?, parts.next()?, parts.next()?);
    let number = parts.next()?.parse().ok()?;
    Some(
        match block_on(write(catalog, Path::new(place), Mix::of(isolation), number)) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("writer {number}: {error}");
                ExitCode::FAILURE
            }
        },
    )
}

fn run(case: Case) -> std::result::Result<(), Failed> {
    let directory = tempfile::tempdir()?;
    let place = directory.path().canonicalize()?;
    let text = |error: tarn::Error| Failed::from(error.to_string());
    block_on(make_table(case, &place)).map_err(text)?;
    let mut writers = Vec::new();
    for number in 0..WRITERS {
        let task = format!("{}\n{}\n{}\n{number}", case.catalog, place.display(), case.isolation);
        let writer = Command::new(std::env::current_exe()?)
            .env(TASK, task)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        writers.push(writer);
    }
    let mut committed = Vec::new();
    for (number, writer) in (0..).zip(writers) {
        let output = writer.wait_with_output()?;
        if !output.status.success() {
            return Err(Failed::from(String::from_utf8_lossy(&output.stderr).into_owned()));
        }
        for line in String::from_utf8_lossy(&output.stdout).lines() {
            let (step, snapshot) = line.split_once(' ').ok_or("a writer's line has two numbers")?;
            let statement = Statement::random(Mix::of(case.isolation), number, step.parse()?);
            committed.push((snapshot.parse::<i64>()?, statement));
        }
    }
    block_on(check(case, &place, committed)).map_err(text)?
}

/// The table against what the statements make of it in the order of its history.
async fn check(case: Case, place: &Path, committed: Vec<(i64, Statement)>) -> Result<std::result::Result<(), Failed>> {
    let session = shared_lake::session(case.catalog, place).await?;
    let history = numbers(&session, "SELECT snapshot_id FROM t.history ORDER BY made_current_at").await?;
    let mut by_snapshot: BTreeMap<i64, Statement> = committed.into_iter().collect();
    let landed = by_snapshot.len();
    let mut rows = statements::first_rows();
    let mut told = Vec::new();
    for [snapshot] in history
        .iter()
        .filter_map(|row| <[i64; 1]>::try_from(row.as_slice()).ok())
    {
        let Some(statement) = by_snapshot.remove(&snapshot) else {
            continue;
        };
        rows = statement.apply(rows);
        told.push(statement.sql());
    }
    if !by_snapshot.is_empty() {
        return Ok(Err(format!("snapshots are not in the history: {by_snapshot:?}").into()));
    }
    rows.sort_unstable();
    let found = numbers(&session, "SELECT id, grp, n FROM t ORDER BY id, grp, n").await?;
    let found: Vec<Row> = found
        .iter()
        .filter_map(|row| <[i64; 3]>::try_from(row.as_slice()).ok())
        .collect();
    if found != rows {
        let message = format!(
            "after {landed} statements\n{}\nexpected {rows:?}\nfound    {found:?}",
            told.join("\n")
        );
        return Ok(Err(message.into()));
    }
    Ok(Ok(()))
}

async fn write(catalog: &str, place: &Path, mix: Mix, writer: u64) -> Result<()> {
    let session = shared_lake::session(catalog, place).await?;
    for step in 0..STATEMENTS {
        let sql = Statement::random(mix, writer, step).sql();
        let mut attempts = 0;
        let output = loop {
            match session.sql(&sql).await {
                Ok(output) => break output,
                Err(e) if matches!(e.kind(), ErrorKind::Conflict | ErrorKind::Validation) && attempts < ATTEMPTS => {
                    attempts += 1;
                }
                Err(e) => return Err(e.with_context("statement", sql)),
            }
            tokio::time::sleep(Duration::from_millis(3 * (writer + 1))).await;
        };
        if let Output::Written(report) = output
            && let Some(snapshot) = report.snapshot_id
        {
            println!("{step} {snapshot}");
        }
    }
    Ok(())
}

async fn make_table(case: Case, place: &Path) -> Result<()> {
    let session = shared_lake::session(case.catalog, place).await?;
    let Case {
        version,
        mode,
        isolation,
        ..
    } = case;
    session.sql("CREATE NAMESPACE db").await?;
    let of_all = ["delete", "update", "merge"];
    let of_all =
        of_all.map(|word| format!("'write.{word}.mode'='{mode}', 'write.{word}.isolation-level'='{isolation}'"));
    // Short waits: the point is to collide, not to wait.
    let create = format!(
        "CREATE TABLE t (id bigint, grp bigint, n bigint) TBLPROPERTIES ('format-version'='{version}', {}, \
         'commit.retry.num-retries'='20', 'commit.retry.min-wait-ms'='2', 'commit.retry.max-wait-ms'='50')",
        of_all.join(", ")
    );
    session.sql(&create).await?;
    let rows = statements::first_rows();
    for part in rows.chunks(rows.len().div_ceil(3)) {
        let values: Vec<String> = part.iter().map(|[id, grp, n]| format!("({id}, {grp}, {n})")).collect();
        session
            .sql(&format!("INSERT INTO t VALUES {}", values.join(", ")))
            .await?;
    }
    Ok(())
}

/// Rows of whole numbers.
async fn numbers(session: &Session, sql: &str) -> Result<Vec<Vec<i64>>> {
    use tarn::datafusion::arrow::array::AsArray;
    use tarn::datafusion::arrow::datatypes::Int64Type;
    let mut rows = Vec::new();
    for batch in session.sql(sql).await?.collect().await? {
        for i in 0..batch.num_rows() {
            let values = batch.columns().iter().filter_map(|c| c.as_primitive_opt::<Int64Type>());
            rows.push(values.map(|column| column.value(i)).collect());
        }
    }
    Ok(rows)
}
