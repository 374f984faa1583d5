//! `lineitem` with 1 % of its rows deleted by deletion vectors, by position deletes, and with 10,000 keys deleted by an
//! equality delete file: query 6 and a scan of every column, by turns with the same table before it had deletes.
//!
//! usage: deletes RAW_DIR LAKE_DIR
//!
//! `RAW_DIR` holds `lineitem.parquet` (`tpchgen-cli parquet -s 1 --output-dir RAW_DIR`); `LAKE_DIR` keeps the tables for the
//! next run. `TARN_BENCH_RUNS` is the number of warm runs, 7 by default.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use futures::StreamExt;
use tarn::Session;
use tarn::datafusion::arrow::array::{Int64Array, RecordBatch};
use tarn::datafusion::arrow::compute::concat_batches;
use tarn::datafusion::arrow::datatypes::{DataType, Field, Schema};
use tarn::datafusion::parquet::arrow::{ArrowWriter, PARQUET_FIELD_ID_META_KEY};
use tarn::format::catalog::{Catalog, Namespace, TableIdent};
use tarn::format::commit::row_delta::RowDelta;
use tarn::format::commit::{CommitOptions, commit};
use tarn::format::manifest::data_file::{DataContent, DataFile, FileFormat};
use tarn::sql::Output;
use tarn_benches::timing::{Runs, Stopwatch};

type Failure = Box<dyn std::error::Error>;

const NAMESPACE: &str = "deletes";

/// A hundredth of the rows, scattered.
const HUNDREDTH: &str = "(l_orderkey + l_linenumber) % 100 = 3";

/// 10,000 keys among 1,500,000, scattered.
const KEYS: &str = "SELECT DISTINCT l_orderkey FROM plain WHERE l_orderkey % 150 = 1 ORDER BY l_orderkey LIMIT 10000";

const QUERIES: [(&str, &str); 2] = [
    ("q6", include_str!("tpch/sql/q6.sql")),
    ("full scan", "SELECT * FROM lineitem"),
];

/// Tables with deletes and the bars of their ratios.
const TABLES: [(&str, f64); 3] = [("vectors", 1.1), ("positions", 1.1), ("equality", 1.3)];

async fn done(session: &Session, statement: &str) -> Result<Vec<RecordBatch>, Failure> {
    Ok(session.sql(statement).await?.collect().await?)
}

/// Adds a file with the keys as equality deletes.
async fn delete_keys(session: &Session, catalog: &Arc<dyn Catalog>, ident: &TableIdent) -> Result<(), Failure> {
    let batches = done(session, KEYS).await?;
    let first = batches.first().ok_or("no keys")?;
    let keys = concat_batches(&first.schema(), &batches)?;
    let keys: Int64Array = keys
        .column(0)
        .as_any()
        .downcast_ref::<Int64Array>()
        .ok_or("keys are no longs")?
        .clone();
    let table = catalog.load_table(ident).await?;
    let id = table
        .metadata
        .current_schema()
        .field_by_name("l_orderkey")
        .ok_or("no l_orderkey")?
        .id;
    let field = Field::new("l_orderkey", DataType::Int64, false);
    let field = field.with_metadata([(PARQUET_FIELD_ID_META_KEY.to_string(), id.to_string())].into());
    let rows = keys.len() as u64;
    let batch = RecordBatch::try_new(Arc::new(Schema::new(vec![field])), vec![Arc::new(keys)])?;
    let location = format!("{}/data/keys.parquet", table.metadata.location);
    let path = location.strip_prefix("file://").unwrap_or(&location);
    let mut writer = ArrowWriter::try_new(File::create(path)?, batch.schema(), None)?;
    writer.write(&batch)?;
    writer.close()?;
    let mut file = DataFile::new(DataContent::EqualityDeletes, location.as_str(), FileFormat::Parquet);
    file.equality_ids = vec![id];
    file.record_count = rows.try_into()?;
    file.file_size_in_bytes = std::fs::metadata(path)?.len().try_into()?;
    let change = RowDelta::new().add_deletes(Arc::new(file)).build();
    commit(catalog.as_ref(), &table, change, &CommitOptions::default()).await?;
    Ok(())
}

async fn make(session: &Session, raw: &Path) -> Result<(), Failure> {
    done(session, &format!("CREATE NAMESPACE IF NOT EXISTS {NAMESPACE}")).await?;
    let catalog = session.catalog("lake").await?.ok_or("no catalog 'lake'")?.catalog;
    let source = format!("'{}'", raw.join("lineitem.parquet").display());
    for (name, version) in [("plain", 2), ("vectors", 3), ("positions", 2), ("equality", 2)] {
        let ident = TableIdent::new(Namespace::new([NAMESPACE]), name);
        if catalog.table_exists(&ident).await? {
            continue;
        }
        let properties = format!("'format-version' = '{version}', 'write.delete.mode' = 'merge-on-read'");
        done(
            session,
            &format!("CREATE TABLE {name} TBLPROPERTIES ({properties}) AS SELECT * FROM {source}"),
        )
        .await?;
        match name {
            "plain" => {}
            "equality" => delete_keys(session, &catalog, &ident).await?,
            _ => {
                done(session, &format!("DELETE FROM {name} WHERE {HUNDREDTH}")).await?;
            }
        }
    }
    Ok(())
}

/// Rows of a query's result, which is not kept.
async fn run(session: &Session, sql: &str) -> Result<usize, Failure> {
    let Output::Rows(mut rows) = session.sql(sql).await? else {
        return Err("no rows".into());
    };
    let mut count = 0;
    while let Some(batch) = rows.next().await {
        count += batch?.num_rows();
    }
    Ok(count)
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1);
    let (Some(raw), Some(directory)) = (arguments.next(), arguments.next()) else {
        return Err("usage: deletes RAW_DIR LAKE_DIR".into());
    };
    let runs: usize = std::env::var("TARN_BENCH_RUNS").map_or(Ok(7), |v| v.parse())?;
    let builder = Session::builder().home(Path::new(&directory));
    let session = builder.namespace(Namespace::new([NAMESPACE])).build().await?;
    make(&session, Path::new(&raw)).await?;
    println!("table      query      wall ms  cpu ms   (first)  plain wall  cpu ms  wall ratio  cpu ratio   bar");
    for (table, bar) in TABLES {
        for (query, sql) in QUERIES {
            let mut sides = [Runs::default(), Runs::default()];
            for round in 0..=runs {
                for turn in 0..2 {
                    let side = (round + turn) % 2;
                    let sql = sql.replace("lineitem", [table, "plain"][side]);
                    let watch = Stopwatch::start();
                    run(&session, &sql).await?;
                    sides[side].push(round, watch.stop());
                }
            }
            let first = sides[0].first.wall.as_secs_f64() * 1e3;
            let [(wall, cpu), (plain, plain_cpu)] = sides.map(|side| side.median_ms());
            println!(
                "{table:10} {query:9} {wall:8.1} {cpu:7.1} {first:9.1} {plain:11.1} {plain_cpu:7.1} {:11.2} {:10.2} {bar:5.2}",
                wall / plain,
                cpu / plain_cpu
            );
        }
    }
    Ok(())
}
