//! Iceberg tables in DataFusion's own API: DataFrames that read tables, join them with other sources, and append.
//!
//! `cargo run --example dataframe`

use std::sync::Arc;

use tarn::Session;
use tarn::datafusion::arrow::array::{Float64Array, Int64Array, RecordBatch, StringArray};
use tarn::datafusion::arrow::util::pretty::pretty_format_batches;
use tarn::datafusion::dataframe::DataFrameWriteOptions;
use tarn::datafusion::functions_aggregate::expr_fn::sum;
use tarn::datafusion::prelude::{JoinType, col, lit};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let directory = std::env::temp_dir().join(format!("tarn-dataframe-{}", std::process::id()));
    println!("{}", run(&directory).await?);
    Ok(std::fs::remove_dir_all(directory)?)
}

/// Everything, on tables below `directory`.
pub async fn run(directory: &std::path::Path) -> Result<String, Box<dyn std::error::Error>> {
    let session = Session::builder().home(directory).parallelism(2).build().await?;
    session
        .sql("CREATE TABLE sales (id bigint, country string, amount double) PARTITIONED BY (country)")
        .await?;

    // Rows of a program become rows of the table, in one commit.
    let context = session.context();
    let rows = RecordBatch::try_from_iter([
        ("id", Arc::new(Int64Array::from(vec![1, 2, 3])) as _),
        ("country", Arc::new(StringArray::from(vec!["no", "no", "se"])) as _),
        ("amount", Arc::new(Float64Array::from(vec![10.0, 20.0, 5.0])) as _),
    ])?;
    let appended = context.read_batch(rows)?;
    appended
        .write_table("lake.default.sales", DataFrameWriteOptions::new())
        .await?;

    // Filters prune partitions and files, as in SQL.
    let names = RecordBatch::try_from_iter([
        ("code", Arc::new(StringArray::from(vec!["no", "se"])) as _),
        ("name", Arc::new(StringArray::from(vec!["Norway", "Sweden"])) as _),
    ])?;
    let sales = context.table("lake.default.sales").await?;
    let totals = sales
        .filter(col("amount").gt(lit(5.0)))?
        .join(
            context.read_batch(names)?,
            JoinType::Inner,
            &["country"],
            &["code"],
            None,
        )?
        .aggregate(vec![col("name")], vec![sum(col("amount")).alias("total")])?
        .collect()
        .await?;
    Ok(pretty_format_batches(&totals)?.to_string())
}
