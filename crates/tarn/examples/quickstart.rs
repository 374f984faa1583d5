//! Creates a table, fills and queries it, and reads how it was before.
//!
//! `cargo run --example quickstart`

use tarn::datafusion::arrow::util::pretty::pretty_format_batches;
use tarn::{Output, Session};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let directory = std::env::temp_dir().join(format!("tarn-quickstart-{}", std::process::id()));
    println!("{}", run(&directory).await?);
    Ok(std::fs::remove_dir_all(directory)?)
}

/// Everything, on tables below `directory`.
pub async fn run(directory: &std::path::Path) -> Result<String, Box<dyn std::error::Error>> {
    let session = Session::builder().home(directory).build().await?;
    session
        .sql("CREATE TABLE trips (id bigint, city string, fare decimal(7,2)) PARTITIONED BY (city)")
        .await?;

    // A write happens when it is awaited, and says what it did.
    let first = session
        .sql("INSERT INTO trips VALUES (1, 'Oslo', 17.50), (2, 'Bergen', 9.90)")
        .await?;
    let Output::Written(report) = first else {
        return Err("an INSERT reports what it wrote".into());
    };
    let before = report.snapshot_id.ok_or("rows were written")?;
    session.sql("INSERT INTO trips VALUES (3, 'Oslo', 31.00)").await?;

    // Rows come as Arrow batches: all at once, or as a stream (Output::Rows).
    let sums = "SELECT city, count(*) AS trips, sum(fare) AS income FROM trips GROUP BY city ORDER BY city";
    let now = session.sql(sums).await?.collect().await?;

    let then = sums.replace("FROM trips", &format!("FROM trips VERSION AS OF {before}"));
    let then = session.sql(&then).await?.collect().await?;

    let shown = [pretty_format_batches(&now)?, pretty_format_batches(&then)?];
    Ok(format!("now\n{}\nbefore\n{}", shown[0], shown[1]))
}
