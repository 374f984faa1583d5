//! Expressions and small queries whose results Spark gave: values and types.

use arrow::array::{Array, ArrayRef, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes::DataType;

use super::Session;
use super::tests::session;
use crate::functions::type_name;
use crate::planner::tests::render;

/// Queries that differ, with the reason. One that passes must go.
const KNOWN: &[(&str, &str)] = &[
    (
        "SELECT TIMESTAMP '2024-03-09 02:30:00' + INTERVAL 1 DAY",
        "Arrow refuses times that the zone's clocks skip",
    ),
    ("SELECT hash('a')", MISSING),
    ("SELECT bround(2.5)", MISSING),
    ("SELECT bround(3.5)", MISSING),
    (
        "SELECT extract(SECOND FROM TIMESTAMP '2024-01-01 00:00:01.5')",
        "DataFusion's parts of times are whole",
    ),
    ("SELECT months_between(DATE '2024-03-31', DATE '2024-02-29')", MISSING),
    ("SELECT sequence(1, 3)", MISSING),
    (
        "SELECT arrays_zip(array(1), array('a'))",
        "DataFusion counts the fields from 1",
    ),
    ("SELECT aggregate(array(1,2), 0, (a, x) -> a + x)", MISSING),
    (
        "SELECT explode(map('a',1))",
        "DataFusion unnests arrays and structs only",
    ),
    ("SELECT posexplode(array('a','b'))", MISSING),
    ("SELECT inline(array(named_struct('a',1,'b','x')))", MISSING),
    ("SELECT stack(2, 1, 2, 3, 4)", MISSING),
    (
        "SELECT c, x FROM VALUES (array(1,2)) AS t(c) LATERAL VIEW explode(c) e AS x",
        LATERAL,
    ),
    (
        "SELECT c, x FROM VALUES (CAST(NULL AS ARRAY<INT>)) AS t(c) LATERAL VIEW OUTER explode(c) e AS x",
        LATERAL,
    ),
    (
        "SELECT k, v FROM VALUES (map('a',1)) AS t(c) LATERAL VIEW explode(c) e AS k, v",
        LATERAL,
    ),
    (
        "SELECT t.a, s.b FROM VALUES (1), (2) AS t(a), LATERAL (SELECT t.a * 10 AS b) s",
        "DataFusion has no plan for outer columns in a select list",
    ),
    (
        "SELECT * FROM VALUES (1,'x',10), (1,'y',20), (2,'x',30) AS t(a,b,c) PIVOT (sum(c) FOR b IN ('x','y')) ORDER BY a",
        PIVOT,
    ),
    (
        "SELECT * FROM (SELECT 1 AS id, 10 AS x, 20 AS y) UNPIVOT (v FOR k IN (x, y))",
        PIVOT,
    ),
    (
        "SELECT a, b, count(*), grouping(a), grouping_id() FROM VALUES (1,2) AS t(a,b) GROUP BY GROUPING SETS ((a), (b), ()) ORDER BY 1, 2",
        MISSING,
    ),
    (
        "SELECT stddev(a), stddev_pop(a), variance(a), var_pop(a), corr(a, b), covar_pop(a, b), covar_samp(a, b), skewness(a), kurtosis(a) FROM VALUES (1, 2), (2, 4), (4, 5) AS t(a, b)",
        MISSING,
    ),
    (
        "SELECT percentile(a, 0.5), median(a), percentile_approx(a, 0.5), approx_count_distinct(a), mode(a) FROM VALUES (1), (2), (2) AS t(a)",
        MISSING,
    ),
    (
        "SELECT * FROM (VALUES (1), (1), (2) AS t(a)) EXCEPT ALL SELECT 1",
        NAMED_VALUES,
    ),
    (
        "SELECT * FROM (VALUES (1), (1), (2) AS t(a)) MINUS SELECT 2",
        NAMED_VALUES,
    ),
    ("SELECT monotonically_increasing_id() >= 0", MISSING),
    ("SELECT get_json_object('{\"a\":{\"b\":1}}', '$.a.b')", MISSING),
    ("SELECT to_json(named_struct('a', 1))", MISSING),
    ("SELECT from_json('{\"a\":1}', 'a INT')", MISSING),
    (
        "SELECT 'it''s'",
        "a doubled quote is a quote, as in the SQL standard; Spark 3.5 joins two texts",
    ),
    ("SELECT r'a\\nb'", "raw strings are not read yet"),
    ("SELECT try_add(2147483647, 1)", MISSING),
];

const MISSING: &str = "DataFusion has no such function";
const LATERAL: &str = "LATERAL VIEW is not planned yet";
const PIVOT: &str = "PIVOT and UNPIVOT are not planned yet";
const NAMED_VALUES: &str = "VALUES in parentheses take no name within them yet";

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
        // Empty texts show as nothing there, and lines as `\n`.
        *row = row.replace("(empty)", "").replace('\n', "\\n");
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
