//! Appending 1,000,000 rows of `lineitem`, by turns with DataFusion writing the same rows to Parquet with the same codec
//! and level, both from memory and with a session's parallelism.

use std::path::Path;
use std::sync::Arc;

use tarn::datafusion::config::TableParquetOptions;
use tarn::datafusion::dataframe::DataFrameWriteOptions;
use tarn::datafusion::datasource::MemTable;
use tarn::datafusion::prelude::{ParquetReadOptions, SessionConfig, SessionContext};
use tarn_benches::timing::{Runs, Stopwatch};

use crate::{Bench, Failure, lake};

const ROWS: usize = 1_000_000;

/// Prints both times and their ratio.
pub async fn measure(bench: &Bench, raw: &Path) -> Result<(), Failure> {
    let scratch = tempfile::tempdir()?;
    let context = SessionContext::new_with_config(SessionConfig::new().with_target_partitions(bench.partitions));
    let path = raw.join("lineitem.parquet");
    let frame = context
        .read_parquet(path.to_string_lossy().into_owned(), ParquetReadOptions::default())
        .await?;
    let frame = frame.limit(0, Some(ROWS))?;
    let columns = lake::columns(frame.schema().as_arrow())?;
    let batches = frame.collect().await?;
    let schema = batches.first().ok_or("lineitem is empty")?.schema();
    let mut parts = vec![Vec::new(); bench.partitions];
    let per_part = batches.len().div_ceil(bench.partitions);
    for (i, batch) in batches.into_iter().enumerate() {
        parts[i / per_part].push(batch);
    }
    context.register_table("rows", Arc::new(MemTable::try_new(schema, parts)?))?;

    let session = lake::session(&scratch.path().join("lake"), bench.partitions).await?;
    session.sql(&format!("CREATE NAMESPACE {}", lake::NAMESPACE)).await?;
    let (mut ours, mut theirs) = (Runs::default(), Runs::default());
    for round in 0..=bench.runs {
        for turn in 0..2 {
            if turn == round % 2 {
                session.sql("DROP TABLE IF EXISTS appended PURGE").await?;
                session.sql(&format!("CREATE TABLE appended ({columns})")).await?;
                let plan = context.table("rows").await?.create_physical_plan().await?;
                let watch = Stopwatch::start();
                lake::write(&session, &context, "appended", plan).await?;
                ours.push(round, watch.stop());
            } else {
                let target = scratch.path().join(format!("plain-{round}"));
                let mut options = TableParquetOptions::default();
                options.global.compression = Some("zstd(3)".to_string());
                let frame = context.table("rows").await?;
                let watch = Stopwatch::start();
                frame
                    .write_parquet(
                        &format!("{}/", target.display()),
                        DataFrameWriteOptions::new(),
                        Some(options),
                    )
                    .await?;
                theirs.push(round, watch.stop());
                std::fs::remove_dir_all(&target)?;
            }
        }
    }
    let ((wall, cpu), (raw_wall, raw_cpu)) = (ours.median_ms(), theirs.median_ms());
    println!(
        "append of 1,000,000 rows: {wall:.0} ms (cpu {cpu:.0}), plain Parquet {raw_wall:.0} ms (cpu {raw_cpu:.0}): {:.2} (cpu {:.2})",
        wall / raw_wall,
        cpu / raw_cpu
    );
    Ok(())
}
