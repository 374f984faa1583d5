//! Expected projections are those of Java's Test*Projection classes, except where noted.

use super::*;
use crate::expr::{CaseSensitivity, Literal, Predicate};
use crate::spec::types::{NestedField, StructType};

fn schema(ty: PrimitiveType) -> Schema {
    Schema::new(0, StructType::new(vec![NestedField::optional(1, "v", ty)]), vec![]).unwrap()
}

fn spec(transforms: &[&str]) -> PartitionSpec {
    let field = |(i, transform): (usize, &&str)| PartitionField {
        source_ids: vec![1],
        field_id: 1000 + i as i32,
        name: format!("p{i}"),
        transform: transform.parse().unwrap(),
        extra: Default::default(),
    };
    PartitionSpec {
        spec_id: 0,
        fields: transforms.iter().enumerate().map(field).collect(),
        extra: Default::default(),
    }
}

fn projected(kind: Kind, transforms: &[&str], ty: &PrimitiveType, predicate: Predicate) -> BoundPredicate {
    let schema = schema(ty.clone());
    let bound = predicate.bind(&schema, CaseSensitivity::Sensitive).unwrap();
    match kind {
        Kind::Inclusive => inclusive(&bound, &spec(transforms), &schema),
        Kind::Strict => strict(&bound, &spec(transforms), &schema),
    }
}

/// The projection with its literals as partition paths show them.
fn shown(kind: Kind, transform: &str, ty: &PrimitiveType, predicate: Predicate) -> String {
    let parsed: Transform = transform.parse().unwrap();
    let human = |v: &Value, term: &BoundTerm| parsed.to_human_string(Some(v), &term.result_type);
    match projected(kind, &[transform], ty, predicate) {
        BoundPredicate::Compare(op, term, v) => format!("{op} {}", human(&v, &term)),
        BoundPredicate::Set(op, term, vs) => {
            let vs: Vec<String> = vs.iter().map(|v| human(v, &term)).collect();
            format!("{op} {}", vs.join(" "))
        }
        other => other.to_string(),
    }
}

type Make = fn(&str, Literal) -> Predicate;

const OPS: [Make; 6] = [
    |c, l| Predicate::lt(c, l),
    |c, l| Predicate::lt_eq(c, l),
    |c, l| Predicate::gt(c, l),
    |c, l| Predicate::gt_eq(c, l),
    |c, l| Predicate::eq(c, l),
    |c, l| Predicate::not_eq(c, l),
];

/// The projections of `<`, `<=`, `>`, `>=`, `=` and `!=`.
fn table(kind: Kind, transform: &str, ty: &PrimitiveType, literal: impl Into<Literal>) -> Vec<String> {
    let literal = literal.into();
    OPS.iter()
        .map(|op| shown(kind, transform, ty, op("v", literal.clone())))
        .collect()
}

#[test]
fn months() {
    use Kind::{Inclusive, Strict};
    let ty = PrimitiveType::Timestamp;
    let inclusive = |at: &str| table(Inclusive, "month", &ty, at);
    let strict = |at: &str| table(Strict, "month", &ty, at);
    let all = |ops: [&str; 6]| ops.map(str::to_string).to_vec();
    assert_eq!(
        strict("2017-12-01T00:00:00"),
        all([
            "< 2017-12",
            "< 2017-12",
            "> 2017-12",
            "> 2017-11",
            "false",
            "!= 2017-12"
        ])
    );
    assert_eq!(
        strict("2017-12-31T23:59:59.999999"),
        all([
            "< 2017-12",
            "< 2018-01",
            "> 2017-12",
            "> 2017-12",
            "false",
            "!= 2017-12"
        ])
    );
    assert_eq!(
        inclusive("2017-12-01T00:00:00"),
        all([
            "<= 2017-11",
            "<= 2017-12",
            ">= 2017-12",
            ">= 2017-12",
            "= 2017-12",
            "true"
        ])
    );
    // Before 1970 old writers' partitions may be one too large.
    assert_eq!(
        strict("1969-01-01T00:00:00"),
        all([
            "< 1969-01",
            "< 1969-01",
            "> 1969-02",
            "> 1969-01",
            "false",
            "NOT IN 1969-01 1969-02"
        ])
    );
    assert_eq!(
        strict("1969-12-31T23:59:59.999999"),
        all([
            "< 1969-12",
            "< 1970-01",
            "> 1970-01",
            "> 1970-01",
            "false",
            "NOT IN 1969-12 1970-01"
        ])
    );
    assert_eq!(
        inclusive("1969-01-01T00:00:00"),
        all([
            "<= 1969-01",
            "<= 1969-02",
            ">= 1969-01",
            ">= 1969-01",
            "IN 1969-01 1969-02",
            "true"
        ])
    );
    let set = ["1969-03-01T00:00:00", "1969-01-01T00:00:00"];
    let not_in = Predicate::not_in("v", set);
    assert_eq!(
        shown(Strict, "month", &ty, not_in),
        "NOT IN 1969-01 1969-02 1969-03 1969-04"
    );
    assert_eq!(shown(Strict, "month", &ty, Predicate::is_in("v", set)), "false");
    assert_eq!(shown(Inclusive, "month", &ty, Predicate::not_in("v", set)), "true");
}

#[test]
fn days() {
    let all = |ops: [&str; 6]| ops.map(str::to_string).to_vec();
    let epoch = "1970-01-01T00:00:00";
    assert_eq!(
        table(Kind::Strict, "day", &PrimitiveType::Timestamp, epoch),
        all([
            "< 1970-01-01",
            "< 1970-01-01",
            "> 1970-01-02",
            "> 1970-01-01",
            "false",
            "!= 1970-01-01"
        ])
    );
    assert_eq!(
        table(Kind::Inclusive, "day", &PrimitiveType::Timestamp, epoch),
        all([
            "<= 1970-01-01",
            "<= 1970-01-01",
            ">= 1970-01-01",
            ">= 1970-01-01",
            "= 1970-01-01",
            "true"
        ])
    );
    // Days of dates were never wrong.
    assert_eq!(
        table(Kind::Inclusive, "day", &PrimitiveType::Date, "1969-01-01"),
        all([
            "<= 1968-12-31",
            "<= 1969-01-01",
            ">= 1969-01-02",
            ">= 1969-01-01",
            "= 1969-01-01",
            "true"
        ])
    );
}

#[test]
fn truncated_decimals() {
    let ty = PrimitiveType::Decimal { precision: 9, scale: 2 };
    let all = |ops: [&str; 6]| ops.map(str::to_string).to_vec();
    assert_eq!(
        table(Kind::Strict, "truncate[10]", &ty, "100.00"),
        all(["< 100.00", "< 100.00", "> 100.00", "> 99.90", "false", "!= 100.00"])
    );
    assert_eq!(
        table(Kind::Strict, "truncate[10]", &ty, "99.99"),
        all(["< 99.90", "< 100.00", "> 99.90", "> 99.90", "false", "!= 99.90"])
    );
    assert_eq!(
        table(Kind::Inclusive, "truncate[10]", &ty, "99.99"),
        all(["<= 99.90", "<= 99.90", ">= 100.00", ">= 99.90", "= 99.90", "true"])
    );
}

/// As Java, apart from the one bucket that wraps around below the minimum: `truncate[10]` puts -2147483648 into 2147483646.
#[test]
fn truncated_integers() {
    let ty = PrimitiveType::Int;
    let inclusive = |p| projected(Kind::Inclusive, &["truncate[10]"], &ty, p).to_string();
    let strict = |p| projected(Kind::Strict, &["truncate[10]"], &ty, p).to_string();
    assert_eq!(inclusive(Predicate::lt("v", 100)), "(p0 <= 90 OR p0 = 2147483646)");
    assert_eq!(inclusive(Predicate::gt("v", 99)), "p0 >= 100");
    assert_eq!(inclusive(Predicate::eq("v", 99)), "p0 = 90");
    assert_eq!(strict(Predicate::lt_eq("v", 99)), "p0 < 100");
    assert_eq!(strict(Predicate::gt_eq("v", 100)), "(p0 > 90 AND p0 != 2147483646)");
    assert_eq!(inclusive(Predicate::lt_eq("v", i32::MIN)), "p0 = 2147483646");
    assert_eq!(inclusive(Predicate::lt("v", i32::MIN)), "false");
    assert_eq!(inclusive(Predicate::gt("v", i32::MAX)), "false");
    assert_eq!(strict(Predicate::lt_eq("v", i32::MAX)), "p0 IS NOT NULL");
    assert_eq!(strict(Predicate::gt_eq("v", i32::MIN)), "p0 IS NOT NULL");
    // A width that divides the range leaves no such bucket.
    let even = projected(Kind::Inclusive, &["truncate[16]"], &ty, Predicate::lt("v", 100));
    assert_eq!(even.to_string(), "p0 <= 96");
}

#[test]
fn truncated_text() {
    let ty = PrimitiveType::String;
    let of = |kind, p| shown(kind, "truncate[5]", &ty, p);
    let all = |ops: [&str; 6]| ops.map(str::to_string).to_vec();
    assert_eq!(
        table(Kind::Strict, "truncate[5]", &ty, "abcdefg"),
        all(["< abcde", "< abcde", "> abcde", "> abcde", "false", "!= abcde"])
    );
    assert_eq!(
        table(Kind::Inclusive, "truncate[5]", &ty, "abcdefg"),
        all(["<= abcde", "<= abcde", ">= abcde", ">= abcde", "= abcde", "true"])
    );
    use Kind::{Inclusive, Strict};
    let starts = |p: &str| Predicate::starts_with("v", p);
    let not_starts = |p: &str| Predicate::not_starts_with("v", p);
    assert_eq!(of(Inclusive, starts("abc")), "STARTS WITH abc");
    assert_eq!(of(Inclusive, starts("ababa")), "= ababa");
    assert_eq!(of(Inclusive, starts("abcdefg")), "= abcde");
    assert_eq!(of(Strict, starts("abc")), "STARTS WITH abc");
    assert_eq!(of(Strict, starts("ababa")), "= ababa");
    assert_eq!(of(Strict, starts("abcdefg")), "false");
    assert_eq!(of(Inclusive, not_starts("abc")), "NOT STARTS WITH abc");
    assert_eq!(of(Inclusive, not_starts("ababa")), "!= ababa");
    assert_eq!(of(Inclusive, not_starts("abcdefg")), "true");
    assert_eq!(of(Strict, not_starts("abcdefg")), "!= abcde");
    // The width counts code points, so this prefix is shorter than it.
    assert_eq!(of(Inclusive, starts("😀😀😀😀")), "STARTS WITH 😀😀😀😀");
    // Short text is its own partition value; Java does not use this.
    assert_eq!(of(Strict, Predicate::eq("v", "abc")), "= abc");
    assert_eq!(of(Inclusive, Predicate::not_eq("v", "abc")), "!= abc");
    assert_eq!(of(Strict, Predicate::is_in("v", ["abc", "abcdefg", "x"])), "IN abc x");
}

#[test]
fn buckets() {
    let ty = PrimitiveType::Int;
    let bucket = |v: i32| match Transform::Bucket(10).apply(Some(&Value::Int(v)), &ty).unwrap() {
        Some(Value::Int(b)) => b,
        other => panic!("{other:?}"),
    };
    let (hundred, b) = (bucket(100), bucket(101));
    let equal = format!("= {hundred}");
    let unequal = format!("!= {hundred}");
    assert_eq!(
        table(Kind::Inclusive, "bucket[10]", &ty, 100),
        ["true", "true", "true", "true", &equal, "true"]
    );
    assert_eq!(
        table(Kind::Strict, "bucket[10]", &ty, 100),
        ["false", "false", "false", "false", "false", &unequal]
    );
    let (low, high) = (hundred.min(b), hundred.max(b));
    let set = shown(Kind::Inclusive, "bucket[10]", &ty, Predicate::is_in("v", [100, 101]));
    assert_eq!(set, format!("IN {low} {high}"));
    assert_eq!(
        shown(Kind::Inclusive, "bucket[10]", &ty, Predicate::is_null("v")),
        "p0 IS NULL"
    );
}

#[test]
fn several_fields_of_one_column() {
    let ty = PrimitiveType::Timestamp;
    let at = Predicate::gt("v", "2017-12-01T10:00:00");
    let fields = ["day", "bucket[4]", "hour", "void", "zorder"];
    let inclusive = projected(Kind::Inclusive, &fields, &ty, at.clone());
    assert_eq!(inclusive.to_string(), "(p0 >= 2017-12-01 AND p2 >= 420034)");
    let strict = projected(Kind::Strict, &fields, &ty, at);
    assert_eq!(strict.to_string(), "(p0 > 2017-12-01 OR p2 > 420034)");
    let nothing = Predicate::gt("v", "2017-12-01T10:00:00");
    assert_eq!(
        projected(Kind::Inclusive, &["zorder"], &ty, nothing.clone()),
        BoundPredicate::AlwaysTrue
    );
    assert_eq!(
        projected(Kind::Strict, &["void"], &ty, nothing),
        BoundPredicate::AlwaysFalse
    );
}

#[test]
fn a_transformed_column_projects_through_its_own_transform() {
    let ty = PrimitiveType::Timestamp;
    let term = |t| crate::expr::Term::Transform(t, "v".to_string());
    let day = Predicate::eq(term(Transform::Day), Literal::Date(17_486));
    assert_eq!(
        projected(Kind::Strict, &["day", "hour"], &ty, day.clone()).to_string(),
        "p0 = 2017-11-16"
    );
    assert_eq!(
        projected(Kind::Inclusive, &["hour"], &ty, day),
        BoundPredicate::AlwaysTrue
    );
    let old = Predicate::eq(term(Transform::Day), Literal::Date(-3));
    assert_eq!(
        projected(Kind::Inclusive, &["day"], &ty, old.clone()).to_string(),
        "p0 IN (1969-12-29, 1969-12-30)"
    );
    assert_eq!(projected(Kind::Strict, &["day"], &ty, old), BoundPredicate::AlwaysFalse);
}
