//! Planning a selective filter over 2,000 files: in a session that knows nothing yet, and again.

use std::collections::BTreeMap;
use std::path::Path;

use tarn_benches::timing::{Runs, Stopwatch};

use crate::{Bench, Failure, duckdb, lake, queries};

/// Prints Tarn's times, cold and warm, and DuckDB's.
pub async fn measure(bench: &Bench, directory: &Path) -> Result<(), Failure> {
    let (_, sql) = queries::ALL
        .iter()
        .find(|(n, _)| *n == queries::MANY_LOOKUP)
        .ok_or("no such query")?;
    let explain = format!("explain {sql}");
    let (mut cold, mut warm) = (Runs::default(), Runs::default());
    for round in 0..=bench.runs {
        let session = lake::session(directory, bench.partitions).await?;
        let watch = Stopwatch::start();
        session.sql(&explain).await?.collect().await?;
        cold.push(round, watch.stop());
        for _ in 0..3 {
            let watch = Stopwatch::start();
            session.sql(&explain).await?.collect().await?;
            warm.push(round, watch.stop());
        }
    }
    let ((cold_wall, cold_cpu), (warm_wall, warm_cpu)) = (cold.median_ms(), warm.median_ms());
    println!(
        "planning 2,000 files: cold {cold_wall:.1} ms (cpu {cold_cpu:.1}), warm {warm_wall:.2} ms (cpu {warm_cpu:.2})"
    );
    let session = lake::session(directory, bench.partitions).await?;
    if let Some(costs) = duckdb::run(bench, &session, BTreeMap::from([("explain", explain)])).await? {
        let [wall, cpu, ..] = costs.get("explain").ok_or("the query is missing")?;
        println!(
            "  DuckDB {wall:.1} ms (cpu {cpu:.1}): {:.1} times cold (cpu {:.1}), {:.1} times warm (cpu {:.1})",
            wall / cold_wall,
            cpu / cold_cpu,
            wall / warm_wall,
            cpu / warm_cpu
        );
    }
    Ok(())
}
