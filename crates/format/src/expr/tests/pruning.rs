//! What must be skipped and what must be claimed: the cases of Java's InclusiveMetricsEvaluator, StrictMetricsEvaluator,
//! ManifestEvaluator and ResidualEvaluator tests, and where SQL or the spec asks for something else, those.

use std::sync::Arc;

use crate::expr::bound::BoundPredicate;
use crate::expr::inclusive_metrics::InclusiveMetricsEvaluator;
use crate::expr::manifest_evaluator::ManifestEvaluator;
use crate::expr::residual::Residual;
use crate::expr::strict_metrics::StrictMetricsEvaluator;
use crate::expr::{CaseSensitivity, Literal, Predicate, Term};
use crate::manifest::data_file::{DataContent, DataFile, FileFormat, PartitionTuple};
use crate::manifest::manifest_file::FieldSummary;
use crate::spec::partition::{PartitionField, PartitionSpec};
use crate::spec::schema::Schema;
use crate::spec::types::{FieldId, NestedField, PrimitiveType as T, StructType};
use crate::spec::value::Value;
use crate::spec::value_binary::to_bytes;
use crate::transform::Transform;

fn schema() -> Schema {
    let inner = StructType::new(vec![NestedField::required(11, "x", T::Int)]);
    let surely = StructType::new(vec![NestedField::optional(13, "y", T::Int)]);
    let fields = vec![
        NestedField::required(1, "id", T::Int),
        NestedField::optional(2, "no_stats", T::Int),
        NestedField::optional(3, "all_nulls", T::String),
        NestedField::optional(4, "some_nulls", T::String),
        NestedField::optional(5, "no_nulls", T::String),
        NestedField::optional(6, "d", T::Double),
        NestedField::optional(7, "u", T::Uuid),
        NestedField::optional(8, "big", T::Long),
        NestedField::optional(9, "ts", T::Timestamp),
        NestedField::optional(10, "s", inner),
        NestedField::required(12, "r", surely),
    ];
    Schema::new(0, StructType::new(fields), vec![]).unwrap()
}

fn bind(predicate: Predicate) -> BoundPredicate {
    predicate.bind(&schema(), CaseSensitivity::Sensitive).unwrap()
}

fn bounds(file: &mut DataFile, id: FieldId, ty: &T, lower: Value, upper: Value) {
    file.lower_bounds.insert(id, to_bytes(&lower, ty).unwrap());
    file.upper_bounds.insert(id, to_bytes(&upper, ty).unwrap());
}

/// 50 rows: `id` 30 to 79.
fn file() -> DataFile {
    let mut file = DataFile::new(DataContent::Data, "f.parquet", FileFormat::Parquet);
    file.record_count = 50;
    for (id, nulls) in [
        (1, 0),
        (3, 50),
        (4, 10),
        (5, 0),
        (6, 0),
        (7, 0),
        (8, 0),
        (9, 0),
        (11, 0),
        (13, 0),
    ] {
        file.value_counts.insert(id, 50);
        file.null_value_counts.insert(id, nulls);
    }
    file.nan_value_counts.insert(6, 0);
    bounds(&mut file, 1, &T::Int, Value::Int(30), Value::Int(79));
    bounds(&mut file, 4, &T::String, Value::string("bb"), Value::string("dd"));
    bounds(&mut file, 5, &T::String, Value::string("aa"), Value::string("aaz"));
    bounds(&mut file, 6, &T::Double, Value::Double(-0.0), Value::Double(7.5));
    bounds(&mut file, 7, &T::Uuid, uuid(0x10), uuid(0x90));
    bounds(&mut file, 8, &T::Int, Value::Int(30), Value::Int(79));
    let day = 86_400_000_000;
    bounds(&mut file, 9, &T::Timestamp, Value::Long(day), Value::Long(2 * day - 1));
    bounds(&mut file, 11, &T::Int, Value::Int(1), Value::Int(1));
    bounds(&mut file, 13, &T::Int, Value::Int(1), Value::Int(1));
    file
}

fn uuid(first: u8) -> Value {
    let mut bytes = [0; 16];
    bytes[0] = first;
    Value::Uuid(bytes)
}

fn uuid_literal(first: u8) -> Literal {
    Literal::from_value(&uuid(first), &T::Uuid).unwrap()
}

fn may(predicate: Predicate) -> bool {
    InclusiveMetricsEvaluator::new(&bind(predicate)).may_match(&file())
}

fn all(predicate: Predicate) -> bool {
    StrictMetricsEvaluator::new(&bind(predicate)).all_match(&file())
}

#[test]
fn inclusive_ranges() {
    for (predicate, expected) in [
        (Predicate::lt("id", 30), false),
        (Predicate::lt("id", 31), true),
        (Predicate::lt_eq("id", 29), false),
        (Predicate::lt_eq("id", 30), true),
        (Predicate::gt("id", 79), false),
        (Predicate::gt("id", 78), true),
        (Predicate::gt_eq("id", 80), false),
        (Predicate::gt_eq("id", 79), true),
        (Predicate::eq("id", 29), false),
        (Predicate::eq("id", 30), true),
        (Predicate::eq("id", 80), false),
        (Predicate::not_eq("id", 5), true),
        (!Predicate::eq("id", 5), true),
        (Predicate::is_in("id", [5, 6]), false),
        (Predicate::is_in("id", [5, 30]), true),
        (Predicate::is_in("id", [29, 80]), false),
        (Predicate::not_in("id", [30, 79]), true),
        (Predicate::eq("s.x", 2), false),
        // Rows without `s` need not be counted: they may be kept, and must not be claimed.
        (Predicate::not_eq("s.x", 1), true),
        (Predicate::eq("no_stats", 5), true),
        // The column was an int when the file was written.
        (Predicate::gt("big", 79i64), false),
        (Predicate::gt("big", 78i64), true),
        (Predicate::lt("id", 25).or(Predicate::gt("id", 80)), false),
        (Predicate::gt("id", 40).and(Predicate::lt("id", 20)), false),
        (Predicate::gt("u", uuid_literal(0x90)), true),
        (Predicate::gt("u", uuid_literal(0x91)), false),
        (Predicate::lt("u", uuid_literal(0x0f)), false),
    ] {
        assert_eq!(may(predicate.clone()), expected, "{predicate}");
    }
}

#[test]
fn inclusive_nulls_and_text() {
    for (predicate, expected) in [
        (Predicate::not_null("all_nulls"), false),
        (Predicate::is_null("all_nulls"), true),
        (Predicate::eq("all_nulls", "a"), false),
        (Predicate::lt("all_nulls", "a"), false),
        (Predicate::starts_with("all_nulls", "a"), false),
        (Predicate::is_in("all_nulls", ["a", "b"]), false),
        // Java lets these match null; nothing is lost by keeping the file.
        (Predicate::not_eq("all_nulls", "a"), true),
        (Predicate::not_starts_with("all_nulls", "a"), true),
        (Predicate::is_null("no_nulls"), false),
        (Predicate::not_null("some_nulls"), true),
        (Predicate::is_null("s.x"), true),
        (Predicate::starts_with("some_nulls", "b"), true),
        (Predicate::starts_with("some_nulls", "bbb"), true),
        (Predicate::starts_with("some_nulls", "a"), false),
        (Predicate::starts_with("some_nulls", "ba"), false),
        (Predicate::starts_with("some_nulls", "de"), false),
        (Predicate::starts_with("some_nulls", "dd"), true),
        (Predicate::not_starts_with("no_nulls", "aa"), false),
        (Predicate::not_starts_with("no_nulls", "aaz"), true),
        (Predicate::not_starts_with("some_nulls", "b"), true),
    ] {
        assert_eq!(may(predicate.clone()), expected, "{predicate}");
    }
}

#[test]
fn inclusive_floats() {
    for (predicate, expected) in [
        (Predicate::is_nan("d"), false),
        (Predicate::not_nan("d"), true),
        (Predicate::lt("d", 0.0), true),
        (Predicate::lt("d", -0.0), true),
        (Predicate::lt("d", -1.0), false),
        (Predicate::eq("d", 0.0), true),
        (Predicate::gt("d", 7.5), false),
        (Predicate::gt("d", f64::NAN), true),
    ] {
        assert_eq!(may(predicate.clone()), expected, "{predicate}");
    }
    let ask = |file: &DataFile, p| InclusiveMetricsEvaluator::new(&bind(p)).may_match(file);
    let mut with_nan = file();
    with_nan.nan_value_counts.insert(6, 1);
    // A NaN is above every number in DataFusion's order.
    assert!(ask(&with_nan, Predicate::gt("d", 100.0)));
    assert!(!ask(&with_nan, Predicate::eq("d", 100.0)));
    with_nan.nan_value_counts.insert(6, 50);
    assert!(!ask(&with_nan, Predicate::not_nan("d")));
}

#[test]
fn metrics_that_lie_say_nothing() {
    let ask = |file: &DataFile, p| InclusiveMetricsEvaluator::new(&bind(p)).may_match(file);
    let mut lies = file();
    lies.null_value_counts.insert(3, -50);
    assert!(ask(&lies, Predicate::not_null("all_nulls")));
    lies.lower_bounds.insert(1, vec![1, 2]);
    lies.upper_bounds.insert(1, vec![]);
    assert!(ask(&lies, Predicate::eq("id", 5)));
    // Bounds that old Java versions wrote, comparing uuids as signed numbers.
    bounds(&mut lies, 7, &T::Uuid, uuid(0x90), uuid(0x10));
    assert!(ask(&lies, Predicate::eq("u", uuid_literal(0x50))));
    assert!(!StrictMetricsEvaluator::new(&bind(Predicate::not_eq("u", uuid_literal(0x50)))).all_match(&lies));
    let mut empty = file();
    empty.record_count = 0;
    assert!(!ask(&empty, Predicate::eq("id", 40)));
    empty.record_count = -1;
    assert!(ask(&empty, Predicate::eq("id", 40)));
}

#[test]
fn strict_ranges() {
    for (predicate, expected) in [
        (Predicate::lt("id", 80), true),
        (Predicate::lt("id", 79), false),
        (Predicate::lt_eq("id", 79), true),
        (Predicate::gt("id", 29), true),
        (Predicate::gt("id", 30), false),
        (Predicate::gt_eq("id", 30), true),
        (Predicate::eq("id", 30), false),
        (Predicate::eq("s.x", 1), false),
        (Predicate::not_null("s.x"), false),
        (Predicate::eq("r.y", 1), true),
        (Predicate::not_eq("id", 29), true),
        (Predicate::not_eq("id", 30), false),
        (Predicate::is_in("r.y", [1, 2]), true),
        (Predicate::not_in("id", [5, 80]), true),
        (Predicate::not_in("id", [5, 40]), false),
        (Predicate::starts_with("no_nulls", "aa"), true),
        (Predicate::starts_with("no_nulls", "aaz"), false),
        (Predicate::not_starts_with("no_nulls", "b"), true),
        (Predicate::not_null("no_nulls"), true),
        (Predicate::is_null("all_nulls"), true),
        (Predicate::not_nan("d"), true),
        (Predicate::gt_eq("d", -0.0), false),
        (Predicate::gt_eq("d", -1.0), true),
        (Predicate::lt("id", 80).and(Predicate::gt("id", 40)), false),
        (Predicate::lt("id", 80).or(Predicate::gt("id", 40)), true),
        (Predicate::eq("no_stats", 5), false),
    ] {
        assert_eq!(all(predicate.clone()), expected, "{predicate}");
    }
}

/// In SQL null does not match, so a file with nulls is never claimed; Java claims these.
#[test]
fn strict_evaluation_keeps_nulls_out() {
    for predicate in [
        Predicate::not_eq("some_nulls", "a"),
        Predicate::not_in("some_nulls", ["a", "e"]),
        Predicate::not_starts_with("some_nulls", "a"),
        Predicate::not_eq("all_nulls", "a"),
        Predicate::lt("some_nulls", "e"),
    ] {
        assert!(!all(predicate.clone()), "{predicate}");
    }
}

#[test]
fn transformed_columns_use_the_bounds_of_the_column() {
    let day = |v| Predicate::eq(Term::Transform(Transform::Day, "ts".to_string()), Literal::Date(v));
    assert!(may(day(1)) && !may(day(0)) && !may(day(2)));
    assert!(all(day(1)) && !all(day(2)));
    let bucket = Predicate::eq(Term::Transform(Transform::Bucket(4), "id".to_string()), 9);
    assert!(may(bucket));
    let text = |v: &str| Predicate::eq(Term::Transform(Transform::Truncate(1), "some_nulls".to_string()), v);
    assert!(may(text("c")) && !may(text("a")) && !may(text("e")));
}

fn identity_spec(ids: &[FieldId]) -> PartitionSpec {
    let field = |(i, id): (usize, &FieldId)| PartitionField {
        source_ids: vec![*id],
        field_id: 1000 + i as i32,
        name: format!("p{i}"),
        transform: Transform::Identity,
        extra: Default::default(),
    };
    PartitionSpec {
        spec_id: 0,
        fields: ids.iter().enumerate().map(field).collect(),
        extra: Default::default(),
    }
}

fn summary(contains_null: bool, contains_nan: Option<bool>, bounds: Option<(Value, Value)>, ty: &T) -> FieldSummary {
    FieldSummary {
        contains_null,
        contains_nan,
        lower_bound: bounds.as_ref().map(|b| to_bytes(&b.0, ty).unwrap()),
        upper_bound: bounds.as_ref().map(|b| to_bytes(&b.1, ty).unwrap()),
    }
}

#[test]
fn manifests() {
    let spec = identity_spec(&[1, 3, 4, 6]);
    let summaries = [
        summary(false, None, Some((Value::Int(30), Value::Int(79))), &T::Int),
        summary(true, None, None, &T::String),
        summary(
            true,
            Some(false),
            Some((Value::string("a"), Value::string("z"))),
            &T::String,
        ),
        summary(true, Some(true), None, &T::Double),
    ];
    let ask = |p: Predicate| ManifestEvaluator::for_rows(&bind(p), &spec, &schema()).may_match_summaries(&summaries);
    for (predicate, expected) in [
        (Predicate::lt("id", 30), false),
        (Predicate::lt("id", 31), true),
        (Predicate::is_in("id", [28, 29]), false),
        (Predicate::eq("all_nulls", "a"), false),
        (Predicate::not_null("all_nulls"), false),
        (Predicate::is_null("all_nulls"), true),
        (Predicate::starts_with("some_nulls", "{"), false),
        (Predicate::is_null("some_nulls"), true),
        (Predicate::is_nan("d"), true),
        (Predicate::not_null("d"), true),
        (Predicate::is_nan("d").and(Predicate::gt("id", 80)), false),
        (Predicate::eq("no_nulls", "not partitioned by"), true),
    ] {
        assert_eq!(ask(predicate.clone()), expected, "{predicate}");
    }
    // Summaries may be left out.
    let evaluator = ManifestEvaluator::for_rows(&bind(Predicate::lt("id", 30)), &spec, &schema());
    assert!(evaluator.may_match_summaries(&[]));
}

#[test]
fn residuals() {
    let mut spec = identity_spec(&[1]);
    spec.fields.push(PartitionField {
        source_ids: vec![9],
        field_id: 1001,
        name: "day".to_string(),
        transform: Transform::Day,
        extra: Default::default(),
    });
    let residual = |p: Predicate, id: Option<i32>, day: i32| {
        let partition = PartitionTuple(vec![id.map(Value::Int), Some(Value::Int(day))]);
        let residual = Residual::new(&bind(p), &spec, &schema());
        residual.for_partition(&partition).to_string()
    };
    let noon = Literal::Timestamp(86_400_000_000 + 43_200_000_000);
    let after = Predicate::gt_eq("ts", noon.clone());
    assert_eq!(residual(after.clone(), Some(1), 2), "true");
    assert_eq!(residual(after.clone(), Some(1), 0), "false");
    assert_eq!(residual(after.clone(), Some(1), 1), "ts >= 1970-01-02T12:00:00");
    assert_eq!(
        residual(Predicate::lt("id", 5).and(after.clone()), Some(1), 1),
        "ts >= 1970-01-02T12:00:00"
    );
    assert_eq!(residual(Predicate::lt("id", 1).or(after), Some(1), 2), "true");
    assert_eq!(residual(Predicate::not_eq("id", 5), Some(5), 0), "false");
    // Null never matches `<`; whether it matches `!=` is left to the engine.
    let optional = |p: Predicate| {
        let residual = Residual::new(&bind(p), &identity_spec(&[2]), &schema());
        residual.for_partition(&PartitionTuple(vec![None])).to_string()
    };
    assert_eq!(optional(Predicate::lt("no_stats", 5)), "false");
    assert_eq!(optional(Predicate::not_eq("no_stats", 5)), "no_stats != 5");
    assert_eq!(optional(Predicate::is_null("no_stats")), "true");
}

/// A manifest or file may hold partitions of other shapes than the spec says.
#[test]
fn odd_tuples_decide_nothing() {
    let residual = Residual::new(&bind(Predicate::eq("id", 5)), &identity_spec(&[1]), &schema());
    let odd = [
        vec![],
        vec![Some(Value::String(Arc::from("x")))],
        vec![Some(Value::Long(5))],
    ];
    for tuple in odd {
        assert_eq!(residual.for_partition(&PartitionTuple(tuple)).to_string(), "id = 5");
    }
}
