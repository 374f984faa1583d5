//! MERGE, UPDATE and DELETE of scattered rows of a table of 6 million, copied on write and merged on read: wall time, CPU
//! time and peak memory of each statement.
//!
//! usage: row_changes LINEITEM_PARQUET LAKE_DIR [STATEMENT…]
//!
//! The table is TPC-H's `lineitem` at scale factor 1, unpartitioned; it is written to `LAKE_DIR`, which must not hold one
//! yet, once for each mode. Statements are `merge_10k` (9,000 rows updated in two columns, 1,000 inserted), `update_1pct`
//! (one column), `delete_1pct`, and `update_all` (one column of every row); in tables of their own `ctas_6m`, `append_1m`,
//! and `q6_before` and `q6_after`, TPC-H's query 6 before and after one of each of the first three. `TARN_BENCH_RUNS` is how
//! often each runs, on other rows each time, 5 by default; `TARN_BENCH_PARTITIONS` the parallelism, by default the number of
//! cores. With `TARN_BENCH_EXPLAIN` statements are explained before they run.

use std::path::Path;

use tarn::Session;
use tarn::datafusion::arrow::util::pretty::pretty_format_batches;
use tarn::format::catalog::Namespace;
use tarn_benches::timing::{Runs, Stopwatch};

type Failure = Box<dyn std::error::Error>;

const MODES: [&str; 2] = ["copy-on-write", "merge-on-read"];

const STATEMENTS: [&str; 4] = ["merge_10k", "update_1pct", "delete_1pct", "update_all"];

/// What every statement's rows add up to, in both modes alike.
const CHECK: &str = "SELECT count(*), sum(l_quantity), sum(l_extendedprice), sum(l_tax) FROM";

fn number(variable: &str, default: usize) -> Result<usize, Failure> {
    Ok(std::env::var(variable).map_or(Ok(default), |v| v.parse())?)
}

/// The text of a statement's round.
fn statement(name: &str, table: &str, round: usize) -> String {
    match name {
        "merge_10k" => format!(
            "MERGE INTO {table} t USING source_{round} s \
             ON t.l_orderkey = s.l_orderkey AND t.l_linenumber = s.l_linenumber \
             WHEN MATCHED THEN UPDATE SET l_quantity = s.l_quantity, l_comment = s.l_comment \
             WHEN NOT MATCHED THEN INSERT *"
        ),
        "update_1pct" => format!(
            "UPDATE {table} SET l_tax = 0.5 WHERE l_orderkey % 100 = {}",
            11 + round * 10
        ),
        "delete_1pct" => format!("DELETE FROM {table} WHERE l_orderkey % 100 = {}", 7 + round * 10),
        _ => format!("UPDATE {table} SET l_tax = l_tax + 0.0{}", round + 1),
    }
}

/// Rows that a MERGE takes: 9,000 of the table, changed, and 1,000 that it does not have.
async fn make_source(session: &Session, raw: &str, round: usize) -> Result<(), Failure> {
    let shifted = (round + 1) * 10_000_000;
    let columns = |key: &str, quantity: &str, comment: &str| {
        format!(
            "{key} AS l_orderkey, l_partkey, l_suppkey, l_linenumber, {quantity} AS l_quantity, l_extendedprice, l_discount, \
             l_tax, l_returnflag, l_linestatus, l_shipdate, l_commitdate, l_receiptdate, l_shipinstruct, l_shipmode, \
             {comment} AS l_comment"
        )
    };
    let hash = "((l_orderkey * 8 + l_linenumber) * 2654435761) % 6001215";
    let changed = columns(
        "l_orderkey",
        "CAST(l_quantity + 1 AS DECIMAL(15, 2))",
        &format!("'merged {round}'"),
    );
    let new = columns(
        &format!("l_orderkey + {shifted}"),
        "l_quantity",
        &format!("'new {round}'"),
    );
    let (start, middle, end) = (round * 10_000, round * 10_000 + 9_000, round * 10_000 + 10_000);
    let rows = format!(
        "SELECT {changed} FROM parquet.`{raw}` WHERE {hash} >= {start} AND {hash} < {middle} \
         UNION ALL SELECT {new} FROM parquet.`{raw}` WHERE {hash} >= {middle} AND {hash} < {end}"
    );
    session.sql(&format!("CREATE TABLE source_{round} AS {rows}")).await?;
    Ok(())
}

/// The most memory that the process has held since [`forget_peak`], in MiB.
fn peak_mib() -> Result<u64, Failure> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib: u64 = line
        .and_then(|l| l.trim().split(' ').next()?.parse().ok())
        .ok_or("no peak memory")?;
    Ok(kib >> 10)
}

fn forget_peak() -> Result<(), Failure> {
    Ok(std::fs::write("/proc/self/clear_refs", "5")?)
}

/// Runs one statement's rounds.
async fn measure(session: &Session, name: &str, mode: &str, runs: usize) -> Result<(), Failure> {
    let table = table_of(mode);
    let mut measured = Measured::default();
    for round in 0..runs {
        let text = statement(name, &table, round);
        if round == 0 && std::env::var_os("TARN_BENCH_EXPLAIN").is_some() {
            let plan = session.sql(&format!("EXPLAIN {text}")).await?.collect().await?;
            println!("{}", pretty_format_batches(&plan)?);
        }
        measured.run(session, &text).await?;
    }
    measured.print(name, mode)
}

/// The rounds of a statement.
#[derive(Default)]
struct Measured {
    costs: Runs,
    rounds: usize,
    peak_mib: u64,
}

impl Measured {
    async fn run(&mut self, session: &Session, text: &str) -> Result<(), Failure> {
        forget_peak()?;
        let watch = Stopwatch::start();
        session.sql(text).await?.collect().await?;
        // All rounds are alike: no first one is told apart.
        self.rounds += 1;
        self.costs.push(self.rounds, watch.stop());
        self.peak_mib = self.peak_mib.max(peak_mib()?);
        Ok(())
    }

    fn print(&self, name: &str, mode: &str) -> Result<(), Failure> {
        let (wall, cpu) = self.costs.median_ms();
        println!("{name:14} {mode:14} {wall:10.1} {cpu:10.1} {:10}", self.peak_mib);
        Ok(())
    }
}

/// CREATE TABLE AS SELECT of all rows, and INSERT of a million of them.
async fn measure_appends(
    session: &Session,
    raw: &str,
    runs: usize,
    wanted: impl Fn(&str) -> bool,
) -> Result<(), Failure> {
    if wanted("ctas_6m") {
        let mut measured = Measured::default();
        for _ in 0..runs {
            measured
                .run(session, &format!("CREATE TABLE ctas AS SELECT * FROM parquet.`{raw}`"))
                .await?;
            session.sql("DROP TABLE ctas PURGE").await?;
        }
        measured.print("ctas_6m", "")?;
    }
    if wanted("append_1m") {
        session
            .sql(&format!(
                "CREATE TABLE million AS SELECT * FROM parquet.`{raw}` LIMIT 1000000"
            ))
            .await?;
        session
            .sql("CREATE TABLE appended AS SELECT * FROM million WHERE FALSE")
            .await?;
        let mut measured = Measured::default();
        for _ in 0..runs {
            measured
                .run(session, "INSERT INTO appended SELECT * FROM million")
                .await?;
        }
        measured.print("append_1m", "")?;
    }
    Ok(())
}

/// TPC-H's query 6 before and after three changes of rows that are merged on read.
async fn measure_query(session: &Session, raw: &str, runs: usize) -> Result<(), Failure> {
    session.sql(&create("queried", "merge-on-read", raw)).await?;
    let query = "SELECT sum(l_extendedprice * l_discount) FROM queried WHERE l_shipdate >= DATE '1994-01-01' \
                 AND l_shipdate < DATE '1995-01-01' AND l_discount BETWEEN 0.05 AND 0.07 AND l_quantity < 24";
    // Once for the caches.
    session.sql(query).await?.collect().await?;
    for (name, changes) in [("q6_before", &STATEMENTS[..0]), ("q6_after", &STATEMENTS[..3])] {
        for change in changes {
            session.sql(&statement(change, "queried", 0)).await?;
        }
        let mut measured = Measured::default();
        for _ in 0..4 * runs {
            measured.run(session, query).await?;
        }
        measured.print(name, "merge-on-read")?;
    }
    Ok(())
}

/// The statement that makes a table whose rows are changed in this mode.
fn create(table: &str, mode: &str, raw: &str) -> String {
    let properties = ["delete", "update", "merge"].map(|word| format!("'write.{word}.mode'='{mode}'"));
    format!(
        "CREATE TABLE {table} TBLPROPERTIES ({}) AS SELECT * FROM parquet.`{raw}`",
        properties.join(", ")
    )
}

fn table_of(mode: &str) -> String {
    mode.replace('-', "_")
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1);
    let (Some(raw), Some(directory)) = (arguments.next(), arguments.next()) else {
        return Err("usage: row_changes LINEITEM_PARQUET LAKE_DIR [STATEMENT…]".into());
    };
    let only: Vec<String> = arguments.collect();
    let runs = number("TARN_BENCH_RUNS", 5)?;
    let partitions = number("TARN_BENCH_PARTITIONS", std::thread::available_parallelism()?.get())?;
    let builder = Session::builder().home(Path::new(&directory)).parallelism(partitions);
    let session = builder.namespace(Namespace::new(["changes"])).build().await?;
    session.sql("CREATE NAMESPACE IF NOT EXISTS changes").await?;
    let wanted = |name: &str| only.is_empty() || only.iter().any(|o| o == name);
    for round in 0..runs {
        make_source(&session, &raw, round).await?;
    }
    println!("statement      mode              wall ms     cpu ms   peak MiB");
    measure_appends(&session, &raw, runs, wanted).await?;
    if wanted("q6_before") || wanted("q6_after") {
        measure_query(&session, &raw, runs).await?;
    }
    let statements: Vec<&str> = STATEMENTS.into_iter().filter(|name| wanted(name)).collect();
    if !statements.is_empty() {
        for mode in MODES {
            session.sql(&create(&table_of(mode), mode, &raw)).await?;
        }
    }
    for name in statements {
        let mut found = Vec::new();
        for mode in MODES {
            measure(&session, name, mode, runs).await?;
            let check = session
                .sql(&format!("{CHECK} {}", table_of(mode)))
                .await?
                .collect()
                .await?;
            found.push(pretty_format_batches(&check)?.to_string());
        }
        if found[0] != found[1] {
            return Err(format!("after {name}, {} and {}", found[0], found[1]).into());
        }
    }
    Ok(())
}
