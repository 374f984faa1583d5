//! A filter as a report shows it: Iceberg's expression JSON with descriptions in place of values
//! (Java: `ExpressionParser`, `ExpressionUtil.sanitize`).

use serde_json::{Value as Json, json};

use crate::expr::sanitize::Sanitizer;
use crate::expr::{CompareOp, Predicate, SetOp, Term, UnaryOp};

/// The sanitised JSON of a filter.
pub fn sanitized_filter(filter: &Predicate, sanitizer: &Sanitizer) -> Json {
    match filter {
        Predicate::AlwaysTrue => json!(true),
        Predicate::AlwaysFalse => json!(false),
        Predicate::Not(child) => json!({"type": "not", "child": sanitized_filter(child, sanitizer)}),
        Predicate::And(children) => joined("and", true, children, sanitizer),
        Predicate::Or(children) => joined("or", false, children, sanitizer),
        Predicate::Unary(op, on) => json!({"type": unary(*op), "term": term(on)}),
        Predicate::Compare(op, on, literal) => {
            json!({"type": compare(*op), "term": term(on), "value": sanitizer.literal(literal)})
        }
        Predicate::Set(op, on, literals) => {
            let values: Vec<String> = literals.iter().map(|l| sanitizer.literal(l)).collect();
            json!({"type": set(*op), "term": term(on), "values": values})
        }
    }
}

/// Iceberg's AND and OR have two sides: more are joined from the left.
fn joined(name: &str, empty: bool, children: &[Predicate], sanitizer: &Sanitizer) -> Json {
    let mut sides = children.iter().map(|child| sanitized_filter(child, sanitizer));
    match sides.next() {
        None => json!(empty),
        Some(first) => sides.fold(first, |left, right| json!({"type": name, "left": left, "right": right})),
    }
}

fn term(term: &Term) -> Json {
    match term {
        Term::Column(name) => json!(name),
        Term::Transform(transform, name) => {
            json!({"type": "transform", "transform": transform.to_string(), "term": name})
        }
    }
}

fn unary(op: UnaryOp) -> &'static str {
    match op {
        UnaryOp::IsNull => "is-null",
        UnaryOp::NotNull => "not-null",
        UnaryOp::IsNan => "is-nan",
        UnaryOp::NotNan => "not-nan",
    }
}

fn compare(op: CompareOp) -> &'static str {
    match op {
        CompareOp::Lt => "lt",
        CompareOp::LtEq => "lt-eq",
        CompareOp::Gt => "gt",
        CompareOp::GtEq => "gt-eq",
        CompareOp::Eq => "eq",
        CompareOp::NotEq => "not-eq",
        CompareOp::StartsWith => "starts-with",
        CompareOp::NotStartsWith => "not-starts-with",
    }
}

fn set(op: SetOp) -> &'static str {
    match op {
        SetOp::In => "in",
        SetOp::NotIn => "not-in",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transform::Transform;

    fn json_of(filter: &Predicate) -> Json {
        sanitized_filter(filter, &Sanitizer::at(0))
    }

    #[test]
    fn values_are_described_and_names_kept() {
        let filter = Predicate::gt_eq("a", 123)
            .and(Predicate::is_in("b", [1i64, 22]))
            .and(!Predicate::is_null("c"));
        let expected = json!({
            "type": "and",
            "left": {
                "type": "and",
                "left": {"type": "gt-eq", "term": "a", "value": "(3-digit-int)"},
                "right": {"type": "in", "term": "b", "values": ["(1-digit-int)", "(2-digit-int)"]},
            },
            "right": {"type": "not", "child": {"type": "is-null", "term": "c"}},
        });
        assert_eq!(json_of(&filter), expected);
    }

    #[test]
    fn transforms_and_constants() {
        let day = Term::Transform(Transform::Day, "ts".into());
        let expected = json!({"type": "not-nan", "term": {"type": "transform", "transform": "day", "term": "ts"}});
        assert_eq!(json_of(&Predicate::not_nan(day)), expected);
        assert_eq!(json_of(&Predicate::AlwaysTrue), json!(true));
        assert_eq!(json_of(&Predicate::And(vec![])), json!(true));
        assert_eq!(json_of(&Predicate::Or(vec![])), json!(false));
        let one = Predicate::Or(vec![Predicate::not_starts_with("s", "x")]);
        assert_eq!(json_of(&one)["type"], json!("not-starts-with"));
    }
}
