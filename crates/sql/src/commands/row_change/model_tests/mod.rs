//! Random statements on random tables against a naive model: the rows are the model's, whatever the version, the mode, the
//! format and the partitioning, which changes now and then, on `main` and on a branch.
//!
//! `TARN_MODEL_SEEDS=0..500` runs other seeds.

use std::fmt::Write;
use std::sync::Arc;

use datafusion::arrow::array::{Array, AsArray};
use tarn_format::ErrorKind;

use self::random::Random;
use self::rows::{COLUMNS, Row, SHOWN};
use self::statements::{Query, Statement};
use crate::session::Session;
use crate::session::tests::session;

mod assignments;
mod expressions;
mod merges;
mod random;
mod rows;
mod statements;

const MERGE_ON_READ: &str =
    "'write.delete.mode'='merge-on-read', 'write.update.mode'='merge-on-read', 'write.merge.mode'='merge-on-read'";

/// What a table is like, as properties.
const WAYS: [&str; 6] = [
    "'format-version'='1'",
    "'format-version'='2'",
    "'format-version'='2', 'write.delete.granularity'='partition', $MOR",
    "'format-version'='2', 'write.format.default'='avro', $MOR",
    "'format-version'='3'",
    "'format-version'='3', $MOR",
];

const LAYOUTS: [&str; 9] = [
    "",
    "PARTITIONED BY (bucket(2, id))",
    "PARTITIONED BY (a)",
    "PARTITIONED BY (truncate(1, b))",
    "PARTITIONED BY (days(ts))",
    "PARTITIONED BY (s.x)",
    "PARTITIONED BY (b, bucket(3, a))",
    "PARTITIONED BY (truncate(5, id), hours(ts))",
    "PARTITIONED BY (months(ts), s.y)",
];

/// Terms by which partitioning changes.
const TERMS: [&str; 5] = ["bucket(4, id)", "a", "truncate(2, b)", "days(ts)", "s.x"];

const STATEMENTS: usize = 8;

/// Tables of every way, with one history.
struct Tables {
    session: Session,
    told: String,
}

impl Tables {
    async fn new(seed: u64, layout: &str) -> Self {
        let session = session().await;
        let lookup = format!("INSERT INTO o VALUES {}", rows::lookup_sql());
        session.sql("CREATE TABLE o (k int, v int)").await.unwrap();
        session.sql(&lookup).await.unwrap();
        for (i, way) in WAYS.iter().enumerate() {
            let way = way.replace("$MOR", MERGE_ON_READ);
            let create = format!("CREATE TABLE t{i} ({COLUMNS}) {layout} TBLPROPERTIES ({way})");
            session.sql(&create).await.unwrap();
        }
        Tables {
            session,
            told: format!("seed {seed} {layout}"),
        }
    }

    /// Runs a statement on every table: all take it or all refuse it, as expected.
    async fn run(&mut self, sql: impl Fn(&str) -> String, branch: &str, expected: Option<&[Row]>) {
        writeln!(self.told, "\n{};", sql(&format!("t{branch}"))).unwrap();
        for (i, way) in WAYS.iter().enumerate() {
            let (told, table) = (&self.told, format!("t{i}{branch}"));
            let outcome = self.session.sql(&sql(&table)).await;
            match (expected, outcome) {
                (Some(rows_after), Ok(_)) => self.check(&format!("SELECT * FROM {table}"), rows_after, way).await,
                (None, Err(e)) => assert_eq!(e.kind(), ErrorKind::InvalidInput, "{told} {way}: {e}"),
                (Some(_), Err(e)) => panic!("{told} {way}: {e}"),
                (None, Ok(_)) => panic!("{told} {way}: a row was matched twice"),
            }
        }
    }

    /// The rows of a query are these.
    async fn check(&self, query: &str, expected: &[Row], way: &str) {
        let mut expected: Vec<String> = expected.iter().map(Row::shown).collect();
        expected.sort();
        let told = &self.told;
        let text = format!("SELECT {SHOWN} AS row FROM ({query})");
        let batches = match self.session.sql(&text).await {
            Ok(rows) => rows.collect().await,
            Err(e) => panic!("{told} {way}: {query}: {e}"),
        };
        let batches = batches.unwrap_or_else(|e| panic!("{told} {way}: {query}: {e}"));
        let mut found = Vec::new();
        for batch in &batches {
            let column =
                datafusion::arrow::compute::cast(batch.column(0), &datafusion::arrow::datatypes::DataType::Utf8);
            let column = Arc::clone(&column.unwrap());
            let texts = column.as_string::<i32>();
            found.extend((0..texts.len()).map(|i| texts.value(i).to_string()));
        }
        found.sort();
        assert_eq!(found, expected, "{told} {way}: {query}");
    }

    /// Partitioning gains or loses a field.
    async fn repartition(&mut self, change: &str) {
        writeln!(self.told, "\nALTER TABLE t {change};").unwrap();
        for i in 0..WAYS.len() {
            let altered = self.session.sql(&format!("ALTER TABLE t{i} {change}")).await;
            assert!(altered.is_ok(), "{} {:?}", self.told, altered.err());
        }
    }
}

/// One sequence of statements on a table of every way.
async fn run(seed: u64) {
    let mut random = Random::new(seed);
    let mut tables = Tables::new(seed, random.pick(&LAYOUTS)).await;
    let mut main: Vec<Row> = Vec::new();
    let mut branch: Option<Vec<Row>> = None;
    let mut added: Option<&str> = None;
    for _ in 0..STATEMENTS {
        if branch.is_none() && !main.is_empty() && random.one_in(6) {
            for i in 0..WAYS.len() {
                let create = format!("ALTER TABLE t{i} CREATE BRANCH w");
                tables.session.sql(&create).await.unwrap();
            }
            branch = Some(main.clone());
        }
        if random.one_in(8) {
            match added.take() {
                Some(term) => tables.repartition(&format!("DROP PARTITION FIELD {term}")).await,
                None if !random.one_in(3) => {
                    let term = random.pick(&TERMS);
                    tables
                        .repartition(&format!("ADD PARTITION FIELD {term} AS later"))
                        .await;
                    added = Some(term);
                }
                None => {}
            }
        }
        let (rows, suffix) = match &mut branch {
            Some(rows) if random.one_in(3) => (rows, ".branch_w"),
            _ => (&mut main, ""),
        };
        let statement = Statement::random(&mut random, rows);
        let expected = statement.apply(rows);
        tables
            .run(|table| statement.sql(table), suffix, expected.as_deref())
            .await;
        *rows = expected.unwrap_or(std::mem::take(rows));
        let query = Query::random(&mut random);
        for (i, way) in WAYS.iter().enumerate() {
            tables
                .check(&query.sql(&format!("t{i}{suffix}")), &query.of(rows), way)
                .await;
        }
    }
    // What one branch does is nothing to the other.
    for (i, way) in WAYS.iter().enumerate() {
        tables.check(&format!("SELECT * FROM t{i}"), &main, way).await;
    }
}

async fn run_all(default: std::ops::Range<u64>) {
    let chosen = std::env::var("TARN_MODEL_SEEDS").ok();
    let chosen = chosen.and_then(|text| {
        let (first, end) = text.split_once("..")?;
        Some(first.parse().ok()?..end.parse().ok()?)
    });
    for seed in chosen.unwrap_or(default) {
        Box::pin(run(seed)).await;
    }
}

#[tokio::test]
async fn statements_do_what_a_model_does() {
    run_all(0..2).await;
}

#[tokio::test]
async fn other_statements_do_what_a_model_does() {
    run_all(101..103).await;
}
