//! Expressions and small queries whose results Spark gave: values and types.

use arrow::array::{Array, ArrayRef, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes::{DataType, TimeUnit};

use super::Session;
use super::tests::session;
use crate::planner::tests::render;

/// Queries that differ, with the reason.
const KNOWN: &[(&str, &str)] = &[];

/// Spark's name of a type.
fn type_name(data_type: &DataType) -> String {
    match data_type {
        DataType::Null => "void".to_string(),
        DataType::Boolean => "boolean".to_string(),
        DataType::Int8 => "tinyint".to_string(),
        DataType::Int16 => "smallint".to_string(),
        DataType::Int32 => "int".to_string(),
        DataType::Int64 => "bigint".to_string(),
        DataType::Float32 => "float".to_string(),
        DataType::Float64 => "double".to_string(),
        DataType::Decimal128(p, s) => format!("decimal({p},{s})"),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => "string".to_string(),
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => "binary".to_string(),
        DataType::Date32 => "date".to_string(),
        DataType::Timestamp(TimeUnit::Microsecond, Some(_)) => "timestamp".to_string(),
        DataType::Timestamp(TimeUnit::Microsecond, None) => "timestamp_ntz".to_string(),
        DataType::List(element) => format!("array<{}>", type_name(element.data_type())),
        DataType::Struct(fields) => {
            let fields = fields
                .iter()
                .map(|f| format!("{}:{}", f.name(), type_name(f.data_type())));
            format!("struct<{}>", fields.collect::<Vec<_>>().join(","))
        }
        DataType::Map(entries, _) => match entries.data_type() {
            DataType::Struct(kv) => format!("map<{},{}>", type_name(kv[0].data_type()), type_name(kv[1].data_type())),
            other => other.to_string(),
        },
        other => other.to_string(),
    }
}

/// Instants in UTC, whatever the session's zone.
fn in_utc(batch: &RecordBatch) -> RecordBatch {
    let column = |c: &ArrayRef| match c.data_type() {
        DataType::Timestamp(unit, Some(_)) => cast(c, &DataType::Timestamp(*unit, Some("UTC".into()))).unwrap(),
        _ => c.clone(),
    };
    let names = batch
        .schema()
        .fields()
        .iter()
        .map(|f| f.name().clone())
        .collect::<Vec<_>>();
    let columns = names.into_iter().zip(batch.columns().iter().map(column));
    RecordBatch::try_from_iter_with_nullable(columns.map(|(n, c)| (n, c, true))).unwrap()
}

async fn answer(session: &Session, sql: &str) -> tarn_format::Result<(String, Vec<String>)> {
    let output = session.sql(sql).await?;
    let schema = output.schema();
    let types: Vec<String> = schema.fields().iter().map(|f| type_name(f.data_type())).collect();
    let batches = output.collect().await?;
    let mut rows: Vec<String> = batches.iter().flat_map(|b| render::rows(&in_utc(b))).collect();
    for row in &mut rows {
        *row = row.split_whitespace().collect::<Vec<_>>().join(" ");
    }
    Ok((types.join(", "), rows))
}

#[tokio::test(flavor = "multi_thread")]
async fn expressions_give_what_spark_gives() {
    let session = session().await;
    let mut failures = Vec::new();
    let mut passed = 0;
    for line in include_str!("spark_expressions.tsv")
        .lines()
        .filter(|l| !l.starts_with('#'))
    {
        if line.starts_with("SET ") {
            session.sql(line).await.unwrap();
            continue;
        }
        let mut parts = line.split('\t');
        let (sql, types) = (parts.next().unwrap(), parts.next().unwrap());
        let mut expected: Vec<String> = parts.map(|row| row.trim_start_matches("(empty)").to_string()).collect();
        let known = KNOWN.iter().any(|(q, _)| *q == sql);
        let problem = match answer(&session, sql).await {
            Err(e) => Some(e.to_string()),
            Ok((got_types, mut rows)) => {
                for row in &mut rows {
                    *row = row.trim_start_matches("(empty)").to_string();
                }
                if !sql.contains("ORDER BY") {
                    rows.sort();
                    expected.sort();
                }
                let same = rows == expected && got_types == types;
                (!same).then(|| format!("expected {expected:?} of {types}, got {rows:?} of {got_types}"))
            }
        };
        match problem {
            None if known => failures.push(format!("{sql}\n      passes: take it off the list")),
            None => passed += 1,
            Some(_) if known => {}
            Some(problem) => failures.push(format!("{sql}\n      {problem}")),
        }
    }
    println!("{passed} as in Spark, {} known to differ", KNOWN.len());
    assert!(
        failures.is_empty(),
        "{} differ:\n{}",
        failures.len(),
        failures.join("\n")
    );
}
