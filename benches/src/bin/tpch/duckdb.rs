//! DuckDB's iceberg extension on the same tables, in a process of its own.

use std::collections::BTreeMap;
use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::json;
use tarn::Session;

use crate::lake::{self, DERIVED, TABLES};
use crate::{Bench, Failure, queries};

const SCRIPT: &str = include_str!("duckdb.py");

/// Wall and CPU milliseconds, medians of the warm runs, then those of the first run.
pub type Costs = [f64; 4];

/// Runs queries there; `None` without `TARN_PYTHON`.
pub async fn run(
    bench: &Bench,
    session: &Session,
    queries: BTreeMap<&str, String>,
) -> Result<Option<BTreeMap<String, Costs>>, Failure> {
    let Some(python) = std::env::var_os("TARN_PYTHON") else {
        return Ok(None);
    };
    let mut tables = BTreeMap::new();
    for table in TABLES.iter().chain(DERIVED) {
        let location = lake::load(session, table).await?.metadata_location;
        tables.insert(*table, location.ok_or("a table without metadata file")?);
    }
    let mut child = Command::new(python)
        .args(["-c", SCRIPT, &bench.runs.to_string(), &bench.partitions.to_string()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let work = json!({"tables": tables, "queries": queries}).to_string();
    child
        .stdin
        .take()
        .ok_or("no standard input")?
        .write_all(work.as_bytes())?;
    let output = child.wait_with_output()?;
    if !output.status.success() {
        return Err("DuckDB failed, see above".into());
    }
    Ok(Some(serde_json::from_slice(&output.stdout)?))
}

/// Prints DuckDB's figures beside Tarn's: name, wall, CPU.
pub async fn compare(bench: &Bench, session: &Session, tarn: &[(&str, f64, f64)]) -> Result<(), Failure> {
    let wanted = queries::ALL.iter().filter(|(n, _)| bench.wants(n));
    let wanted = wanted.map(|(n, sql)| (*n, sql.to_string())).collect();
    let Some(costs) = run(bench, session, wanted).await? else {
        return Ok(());
    };
    println!("query            DuckDB wall   cpu ms   tarn/DuckDB wall   cpu");
    for (name, wall, cpu) in tarn {
        let [their_wall, their_cpu, ..] = costs.get(*name).ok_or("a query is missing")?;
        println!(
            "{name:16} {their_wall:11.1} {their_cpu:8.1} {:18.2} {:5.2}",
            wall / their_wall,
            cpu / their_cpu
        );
    }
    Ok(())
}
