//! DataFrames that make tables, overwrite parts of them and are merged into them, as with Spark's `DataFrameWriterV2`.
//!
//! `cargo run --example writer`

use std::sync::Arc;

use tarn::Session;
use tarn::datafusion::arrow::array::{Int64Array, RecordBatch, StringArray};
use tarn::datafusion::arrow::util::pretty::pretty_format_batches;
use tarn::datafusion::dataframe::DataFrame;
use tarn::datafusion::prelude::{col, lit};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let directory = std::env::temp_dir().join(format!("tarn-writer-{}", std::process::id()));
    println!("{}", run(&directory).await?);
    Ok(std::fs::remove_dir_all(directory)?)
}

/// Everything, on tables below `directory`.
pub async fn run(directory: &std::path::Path) -> Result<String, Box<dyn std::error::Error>> {
    let session = Session::builder().home(directory).parallelism(2).build().await?;

    // The table comes into being with its rows.
    let first = rows(
        &session,
        &[(1, "no", "new"), (2, "no", "new"), (3, "se", "new"), (4, "dk", "new")],
    )?;
    let orders = session.write(first).partitioned_by(["country"]);
    orders
        .table_property("write.spark.accept-any-schema", true)
        .create("orders")
        .await?;

    // All rows of a country are replaced; then those of every country that has new ones.
    let corrected = rows(&session, &[(5, "dk", "corrected")])?;
    session
        .write(corrected)
        .overwrite("orders", col("country").eq(lit("dk")))
        .await?;
    let again = rows(&session, &[(6, "se", "again")])?;
    session.write(again).overwrite_partitions("orders").await?;

    // What is there is updated, what is not is inserted, and what the source has no more is marked.
    let changes = rows(&session, &[(1, "no", "paid"), (7, "fi", "new")])?;
    let merge = session.write(changes).merge_into("orders", "orders.id = source.id");
    let merge = merge.when_matched().update([("state", "source.state")]);
    let merge = merge.when_not_matched().insert_all();
    let merge = merge.when_not_matched_by_source_and("orders.country = 'no'");
    let merged = merge.update([("state", "'lost'")]).merge().await?;

    // A column that the table lacks comes into it on request.
    let with_note = rows(&session, &[(8, "fi", "new")])?.with_column("note", lit("gift"))?;
    session
        .write(with_note)
        .option("mergeSchema", true)
        .append("orders")
        .await?;

    let shown = session.sql("SELECT * FROM orders ORDER BY id").await?.collect().await?;
    Ok(format!(
        "{} rows merged\n{}",
        merged.rows,
        pretty_format_batches(&shown)?
    ))
}

fn rows(session: &Session, rows: &[(i64, &str, &str)]) -> Result<DataFrame, Box<dyn std::error::Error>> {
    let ids = Int64Array::from_iter_values(rows.iter().map(|r| r.0));
    let countries = StringArray::from_iter_values(rows.iter().map(|r| r.1));
    let states = StringArray::from_iter_values(rows.iter().map(|r| r.2));
    let batch = RecordBatch::try_from_iter([
        ("id", Arc::new(ids) as _),
        ("country", Arc::new(countries) as _),
        ("state", Arc::new(states) as _),
    ])?;
    Ok(session.context().read_batch(batch)?)
}
