//! TPC-H at scale factor 1 in tables written by Tarn, each query by turns with DataFusion on the same Parquet files in
//! this process, and with DuckDB's iceberg extension right after where `TARN_PYTHON` names a Python that has it.
//!
//! usage: tpch RAW_DIR LAKE_DIR [QUERY…]
//!
//! `RAW_DIR` holds TPC-H's tables as `TABLE.parquet` (`tpchgen-cli parquet -s 1 --output-dir RAW_DIR`); tables that are not
//! in `LAKE_DIR` yet are written there first. `TARN_BENCH_RUNS` is the number of warm runs, 7 by default;
//! `TARN_BENCH_PARTITIONS` the parallelism, by default the number of cores. With `TARN_BENCH_EXPLAIN`, the plans of both
//! with what was measured of them are printed instead.

mod answers;
mod append;
mod duckdb;
mod lake;
mod planning;
mod queries;
mod raw;

use std::path::Path;

use tarn::Session;
use tarn::datafusion::arrow::util::pretty::pretty_format_batches;
use tarn::datafusion::prelude::SessionContext;
use tarn_benches::timing::{Runs, Stopwatch, geometric_mean};

pub type Failure = Box<dyn std::error::Error>;

/// What a measurement needs.
pub struct Bench {
    /// Warm runs.
    pub runs: usize,
    /// Parallelism of every engine.
    pub partitions: usize,
    /// Names given on the command line; none means all.
    pub only: Vec<String>,
}

impl Bench {
    fn wants(&self, name: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|n| n == name)
    }
}

fn number(variable: &str, default: usize) -> Result<usize, Failure> {
    Ok(std::env::var(variable).map_or(Ok(default), |v| v.parse())?)
}

/// One query by turns; the order changes every round. The number of rows at the end.
async fn pair(
    bench: &Bench,
    session: &Session,
    raw: &SessionContext,
    sql: &str,
) -> Result<(Runs, Runs, usize), Failure> {
    let (mut ours, mut theirs) = (Runs::default(), Runs::default());
    let (mut found, mut expected) = (Vec::new(), Vec::new());
    for round in 0..=bench.runs {
        for turn in 0..2 {
            let watch = Stopwatch::start();
            if turn == round % 2 {
                found = session.sql(sql).await?.collect().await?;
                ours.push(round, watch.stop());
            } else {
                expected = raw.sql(sql).await?.collect().await?;
                theirs.push(round, watch.stop());
            }
        }
    }
    Ok((ours, theirs, answers::compare(sql, &found, &expected)?))
}

/// Prints both plans of a query, with metrics.
async fn explain(session: &Session, raw: &SessionContext, sql: &str) -> Result<(), Failure> {
    let sql = format!("explain analyze {sql}");
    // What is cached after the first time tells more.
    for _ in 0..2 {
        session.sql(&sql).await?.collect().await?;
    }
    let ours = session.sql(&sql).await?.collect().await?;
    println!("{}", pretty_format_batches(&ours)?);
    raw.sql(&sql).await?.collect().await?;
    let theirs = raw.sql(&sql).await?.collect().await?;
    println!("{}", pretty_format_batches(&theirs)?);
    Ok(())
}

async fn read(bench: &Bench, session: &Session) -> Result<(), Failure> {
    let raw = raw::context(session, bench.partitions).await?;
    if std::env::var_os("TARN_BENCH_EXPLAIN").is_some() {
        for (name, sql) in queries::ALL.iter().filter(|(n, _)| bench.wants(n)) {
            println!("{name}");
            explain(session, &raw, sql).await?;
        }
        return Ok(());
    }
    println!("query             rows   tarn wall   cpu ms  (first)   raw wall   cpu ms   wall ratio  cpu ratio");
    let (mut walls, mut cpus) = (Vec::new(), Vec::new());
    let mut tarn = Vec::new();
    for (name, sql) in queries::ALL.iter().filter(|(n, _)| bench.wants(n)) {
        let (ours, theirs, found) = pair(bench, session, &raw, sql).await?;
        let ((wall, cpu), (raw_wall, raw_cpu)) = (ours.median_ms(), theirs.median_ms());
        let (by_wall, by_cpu) = (wall / raw_wall, cpu / raw_cpu);
        walls.push(by_wall);
        cpus.push(by_cpu);
        tarn.push((*name, wall, cpu));
        println!(
            "{name:16} {found:5} {wall:10.1} {cpu:9.1} {:9.1} {raw_wall:10.1} {raw_cpu:9.1} {by_wall:11.2} {by_cpu:10.2}",
            ours.first.wall.as_secs_f64() * 1e3
        );
    }
    println!(
        "geometric mean of {}: wall {:.3}, cpu {:.3}",
        walls.len(),
        geometric_mean(&walls),
        geometric_mean(&cpus)
    );
    duckdb::compare(bench, session, &tarn).await
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1);
    let (Some(raw), Some(directory)) = (arguments.next(), arguments.next()) else {
        return Err("usage: tpch RAW_DIR LAKE_DIR [QUERY…]".into());
    };
    let cores = std::thread::available_parallelism()?.get();
    let bench = Bench {
        runs: number("TARN_BENCH_RUNS", 7)?,
        partitions: number("TARN_BENCH_PARTITIONS", cores)?,
        only: arguments.collect(),
    };
    let directory = Path::new(&directory);
    let session = lake::session(directory, bench.partitions).await?;
    lake::make(&session, Path::new(&raw)).await?;
    read(&bench, &session).await?;
    if bench.wants("planning") {
        planning::measure(&bench, directory).await?;
    }
    if bench.wants("append") {
        append::measure(&bench, Path::new(&raw)).await?;
    }
    Ok(())
}
