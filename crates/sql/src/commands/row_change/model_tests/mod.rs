//! Random statements on random tables against a naive model: the rows are the model's, whatever the version and mode.

use std::fmt::Write;
use std::sync::Arc;

use datafusion::arrow::array::{Array, AsArray};
use tarn_format::{ErrorKind, Result};

use self::random::Random;
use self::statements::{Row, Statement};
use crate::output::Output;
use crate::session::Session;
use crate::session::tests::session;

mod random;
mod statements;

/// What a table is like, as properties.
const WAYS: [&str; 5] = [
    "'format-version'='1'",
    "'format-version'='2'",
    "'format-version'='2', 'write.delete.mode'='merge-on-read', 'write.update.mode'='merge-on-read', 'write.merge.mode'='merge-on-read', \
     'write.delete.granularity'='partition'",
    "'format-version'='3'",
    "'format-version'='3', 'write.delete.mode'='merge-on-read', 'write.update.mode'='merge-on-read', 'write.merge.mode'='merge-on-read'",
];

const LAYOUTS: [&str; 4] = [
    "",
    "PARTITIONED BY (bucket(2, id))",
    "PARTITIONED BY (a)",
    "PARTITIONED BY (truncate(1, b))",
];

const STATEMENTS: usize = 7;

/// Rows of a table, sorted.
async fn rows(session: &Session, table: &str) -> Vec<String> {
    let query = format!("SELECT id, a, b FROM {table}");
    let text = format!(
        "SELECT concat(id, '|', coalesce(CAST(a AS string), 'NULL'), '|', coalesce(b, 'NULL')) AS row FROM ({query})"
    );
    let batches = session.sql(&text).await.unwrap().collect().await.unwrap();
    let mut rows = Vec::new();
    for batch in &batches {
        let column = datafusion::arrow::compute::cast(batch.column(0), &datafusion::arrow::datatypes::DataType::Utf8);
        let column = Arc::clone(&column.unwrap());
        let texts = column.as_string::<i32>();
        rows.extend((0..texts.len()).map(|i| texts.value(i).to_string()));
    }
    rows.sort();
    rows
}

fn shown(rows: &[Row]) -> Vec<String> {
    let mut shown: Vec<String> = rows.iter().map(Row::shown).collect();
    shown.sort();
    shown
}

/// One sequence of statements on a table of every way.
async fn run(seed: u64) {
    let mut random = Random::new(seed);
    let layout = LAYOUTS[random.below(LAYOUTS.len())];
    let session = session().await;
    for (i, way) in WAYS.iter().enumerate() {
        let create = format!("CREATE TABLE t{i} (id int, a int, b string) {layout} TBLPROPERTIES ({way})");
        session.sql(&create).await.unwrap();
    }
    let mut model: Vec<Row> = Vec::new();
    let mut told = format!("seed {seed} {layout}");
    for _ in 0..STATEMENTS {
        let statement = Statement::random(&mut random, &model);
        writeln!(told, "\n{}", statement.sql("t")).unwrap();
        let expected = statement.apply(&model);
        for (i, way) in WAYS.iter().enumerate() {
            let table = format!("t{i}");
            let outcome: Result<Output> = session.sql(&statement.sql(&table)).await;
            match (&expected, outcome) {
                (Some(rows_after), Ok(_)) => {
                    assert_eq!(rows(&session, &table).await, shown(rows_after), "{told} {way}");
                }
                (None, Err(e)) => assert_eq!(e.kind(), ErrorKind::InvalidInput, "{told} {way}: {e}"),
                (Some(_), Err(e)) => panic!("{told} {way}: {e}"),
                (None, Ok(_)) => panic!("{told} {way}: a row was matched twice"),
            }
        }
        model = expected.unwrap_or(model);
    }
}

#[tokio::test]
async fn statements_do_what_a_model_does() {
    for seed in 0..3 {
        run(seed).await;
    }
}

#[tokio::test]
async fn other_statements_do_what_a_model_does() {
    for seed in 100..103 {
        run(seed).await;
    }
}
