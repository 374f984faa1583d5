//! Tarn beside its peers (`benches/peers`): one session that lives long. Requests come as lines of JSON on standard input,
//! and each is answered by a line of JSON with its wall time, CPU time and rows, as the peers' own sessions answer.
//!
//! usage: peer_session LAKE_DIR PARTITIONS
//!
//! A request has one of the keys `open` (the name of a table whose metadata file is `metadata`), `run` (a statement) and
//! `plan` (a query that is only planned). The time of a statement ends when its last row is there; making text of the rows
//! comes after.

use std::io::{BufRead, Write};
use std::path::Path;

use serde_json::{Value, json};
use tarn::Session;
use tarn::datafusion::arrow::record_batch::RecordBatch;
use tarn::datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};
use tarn::format::catalog::Namespace;
use tarn_benches::timing::Stopwatch;

type Failure = Box<dyn std::error::Error>;

const NAMESPACE: &str = "peers";

/// The SQL that a request stands for.
fn statement(request: &Value) -> Result<String, Failure> {
    let text = |key: &str| request.get(key).and_then(Value::as_str);
    if let (Some(table), Some(metadata)) = (text("open"), text("metadata")) {
        return Ok(format!(
            "CALL system.register_table('{NAMESPACE}.{table}', '{metadata}')"
        ));
    }
    match (text("run"), text("plan")) {
        (Some(sql), _) => Ok(sql.to_string()),
        (_, Some(sql)) => Ok(format!("EXPLAIN {sql}")),
        _ => Err(format!("no request: {request}").into()),
    }
}

/// The rows as text; null stays null.
fn rows(batches: &[RecordBatch]) -> Result<Vec<Vec<Value>>, Failure> {
    let options = FormatOptions::default();
    let mut rows = Vec::new();
    for batch in batches {
        let columns = batch.columns().iter();
        let columns = columns
            .map(|c| Ok((c, ArrayFormatter::try_new(c.as_ref(), &options)?)))
            .collect::<Result<Vec<_>, Failure>>()?;
        for row in 0..batch.num_rows() {
            let cells = columns.iter().map(|(column, text)| match column.is_null(row) {
                true => Value::Null,
                false => Value::String(text.value(row).to_string()),
            });
            rows.push(cells.collect());
        }
    }
    Ok(rows)
}

async fn answer(session: &Session, line: &str) -> Result<Value, Failure> {
    let sql = statement(&serde_json::from_str(line)?)?;
    let watch = Stopwatch::start();
    let batches = session.sql(&sql).await?.collect().await?;
    let cost = watch.stop();
    Ok(json!({
        "wall_ms": cost.wall.as_secs_f64() * 1e3,
        "cpu_ms": cost.cpu.as_secs_f64() * 1e3,
        "rows": rows(&batches)?,
    }))
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1);
    let (Some(directory), Some(partitions)) = (arguments.next(), arguments.next()) else {
        return Err("usage: peer_session LAKE_DIR PARTITIONS".into());
    };
    let builder = Session::builder()
        .home(Path::new(&directory))
        .parallelism(partitions.parse()?);
    let session = builder.namespace(Namespace::new([NAMESPACE])).build().await?;
    session
        .sql(&format!("CREATE NAMESPACE IF NOT EXISTS {NAMESPACE}"))
        .await?;
    let mut output = std::io::stdout().lock();
    writeln!(output, "{}", json!({"version": env!("CARGO_PKG_VERSION")}))?;
    for line in std::io::stdin().lock().lines() {
        let reply = match answer(&session, &line?).await {
            Ok(reply) => reply,
            Err(error) => json!({"error": error.to_string()}),
        };
        writeln!(output, "{reply}")?;
    }
    Ok(())
}
