//! Statements on a table's metadata, on a table of one data file and on one of 200,000 (of metadata only), by turns.
//!
//! usage: metadata_statements DIR
//!
//! `DIR` keeps the tables for the next run. `TARN_BENCH_RUNS` is the number of warm runs, 7 by default.

use std::path::Path;
use std::sync::Arc;

use tarn::Session;
use tarn::format::catalog::{Catalog, Namespace, TableIdent};
use tarn::format::commit::append::fast_append;
use tarn::format::commit::{CommitOptions, commit};
use tarn::format::manifest::data_file::{DataContent, DataFile, FileFormat};
use tarn_benches::timing::{Runs, Stopwatch, geometric_mean};

type Failure = Box<dyn std::error::Error>;

const NAMESPACE: &str = "statements";

/// Tables and their data files.
const TABLES: [(&str, u64); 2] = [("small", 1), ("large", 200_000)];

/// `{t}` is the table, `{n}` the number of the run.
const STATEMENTS: [&str; 11] = [
    "SHOW SNAPSHOTS {t}",
    "DESCRIBE HISTORY {t}",
    "DESCRIBE EXTENDED {t}",
    "SHOW CREATE TABLE {t}",
    "SHOW TBLPROPERTIES {t}",
    "SELECT * FROM {t}.snapshots",
    "SELECT * FROM {t}.refs",
    "ALTER TABLE {t} SET TBLPROPERTIES ('run' = '{n}')",
    "ALTER TABLE {t} ALTER COLUMN name COMMENT 'as of run {n}'",
    "ALTER TABLE {t} CREATE OR REPLACE BRANCH audit",
    "CALL system.ancestors_of('{t}')",
];

async fn make(session: &Session, catalog: &Arc<dyn Catalog>) -> Result<(), Failure> {
    session
        .sql(&format!("CREATE NAMESPACE IF NOT EXISTS {NAMESPACE}"))
        .await?;
    for (name, files) in TABLES {
        let ident = TableIdent::new(Namespace::new([NAMESPACE]), name);
        if catalog.table_exists(&ident).await? {
            continue;
        }
        session
            .sql(&format!("CREATE TABLE {name} (id BIGINT, name STRING)"))
            .await?;
        let table = catalog.load_table(&ident).await?;
        let file = |n| {
            let path = format!("{}/data/{n:06}.parquet", table.metadata.location);
            let mut file = DataFile::new(DataContent::Data, path, FileFormat::Parquet);
            file.record_count = 1000;
            file.file_size_in_bytes = 100_000;
            Arc::new(file)
        };
        let change = fast_append((0..files).map(file));
        commit(catalog.as_ref(), &table, change, &CommitOptions::default()).await?;
    }
    Ok(())
}

async fn run(session: &Session, statement: &str) -> Result<(), Failure> {
    session.sql(statement).await?.collect().await?;
    Ok(())
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let Some(directory) = std::env::args().nth(1) else {
        return Err("usage: metadata_statements DIR".into());
    };
    let runs: usize = std::env::var("TARN_BENCH_RUNS").map_or(Ok(7), |v| v.parse())?;
    let builder = Session::builder().home(Path::new(&directory));
    let session = builder.namespace(Namespace::new([NAMESPACE])).build().await?;
    let catalog = session.catalog("lake").await?.ok_or("no catalog 'lake'")?.catalog;
    make(&session, &catalog).await?;
    println!("small wall   cpu ms  large wall   cpu ms   wall ratio  cpu ratio  statement");
    let (mut walls, mut cpus) = (Vec::new(), Vec::new());
    for statement in STATEMENTS {
        let mut sides = [Runs::default(), Runs::default()];
        for round in 0..=runs {
            for turn in 0..2 {
                let side = (round + turn) % 2;
                let statement = statement
                    .replace("{t}", TABLES[side].0)
                    .replace("{n}", &round.to_string());
                let watch = Stopwatch::start();
                run(&session, &statement).await?;
                sides[side].push(round, watch.stop());
            }
        }
        let [(small, small_cpu), (large, large_cpu)] = sides.map(|side| side.median_ms());
        let (by_wall, by_cpu) = (large / small, large_cpu / small_cpu);
        walls.push(by_wall);
        cpus.push(by_cpu);
        println!("{small:10.2} {small_cpu:8.2} {large:11.2} {large_cpu:8.2} {by_wall:12.2} {by_cpu:10.2}  {statement}");
    }
    println!(
        "geometric mean of {}: wall {:.3}, cpu {:.3}",
        walls.len(),
        geometric_mean(&walls),
        geometric_mean(&cpus)
    );
    Ok(())
}
