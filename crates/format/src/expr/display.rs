//! Predicates as text: in full for plans and errors, sanitised for reports.
//!
//! The words are those of Java's `ExpressionUtil.toSanitizedString`, which reports show.

use std::fmt::{self, Display};

use super::bound::{BoundPredicate, BoundTerm};
use super::literal::Literal;
use super::predicate::{CompareOp, Predicate, SetOp, UnaryOp};
use super::sanitize::Sanitizer;
use crate::spec::types::PrimitiveType;
use crate::spec::value::Value;
use crate::transform::Transform;

/// Sets of this many literals are abbreviated in sanitised text.
const LONG_SET: usize = 10;

impl Display for CompareOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            CompareOp::Lt => "<",
            CompareOp::LtEq => "<=",
            CompareOp::Gt => ">",
            CompareOp::GtEq => ">=",
            CompareOp::Eq => "=",
            CompareOp::NotEq => "!=",
            CompareOp::StartsWith => "STARTS WITH",
            CompareOp::NotStartsWith => "NOT STARTS WITH",
        })
    }
}

impl Display for SetOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SetOp::In => "IN",
            SetOp::NotIn => "NOT IN",
        })
    }
}

impl Display for Literal {
    /// As in SQL, text in single quotes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let human = |value: Value, ty: PrimitiveType| Transform::Identity.to_human_string(Some(&value), &ty);
        let text = match self {
            Literal::Boolean(v) => return write!(f, "{v}"),
            Literal::Int(v) => return write!(f, "{v}"),
            Literal::Long(v) => return write!(f, "{v}"),
            Literal::Float(v) => human(Value::Float(*v), PrimitiveType::Float),
            Literal::Double(v) => human(Value::Double(*v), PrimitiveType::Double),
            Literal::Decimal { unscaled, scale } => {
                let (precision, scale) = (38, *scale);
                human(Value::Decimal(*unscaled), PrimitiveType::Decimal { precision, scale })
            }
            Literal::String(v) => return write!(f, "'{}'", v.replace('\'', "''")),
            Literal::Bytes(v) => {
                f.write_str("X'")?;
                v.iter().try_for_each(|b| write!(f, "{b:02X}"))?;
                return f.write_str("'");
            }
            Literal::Uuid(v) => human(Value::Uuid(*v), PrimitiveType::Uuid),
            Literal::Date(v) => human(Value::Int(*v), PrimitiveType::Date),
            Literal::Time(v) => human(Value::Long(*v), PrimitiveType::Time),
            Literal::Timestamp(v) => human(Value::Long(*v), PrimitiveType::Timestamp),
            Literal::Timestamptz(v) => human(Value::Long(*v), PrimitiveType::Timestamptz),
            Literal::TimestampNs(v) => human(Value::Long(*v), PrimitiveType::TimestampNs),
            Literal::TimestamptzNs(v) => human(Value::Long(*v), PrimitiveType::TimestamptzNs),
        };
        f.write_str(&text)
    }
}

impl Display for BoundTerm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.transform {
            None => f.write_str(&self.name),
            Some(transform) => write!(f, "{transform}({})", self.name),
        }
    }
}

/// How literals are written.
enum Style {
    Full,
    Sanitized(Sanitizer),
}

impl Style {
    fn literal(&self, literal: &Literal) -> String {
        match self {
            Style::Full => literal.to_string(),
            Style::Sanitized(sanitizer) => sanitizer.literal(literal),
        }
    }

    fn bound(&self, value: &Value, term: &BoundTerm) -> String {
        match Literal::from_value(value, &term.result_type) {
            Some(literal) => self.literal(&literal),
            None => "?".to_string(),
        }
    }

    fn set(&self, values: Vec<String>) -> String {
        let total = values.len();
        if matches!(self, Style::Full) || total < LONG_SET {
            return values.join(", ");
        }
        let mut distinct: Vec<String> = Vec::new();
        for value in values {
            if distinct.len() < LONG_SET && !distinct.contains(&value) {
                distinct.push(value);
            }
        }
        let hidden = total - distinct.len();
        if hidden > 0 {
            distinct.push(format!("... ({hidden} values hidden, {total} in total)"));
        }
        distinct.join(", ")
    }

    fn predicate(&self, predicate: &Predicate) -> String {
        match predicate {
            Predicate::AlwaysTrue => "true".to_string(),
            Predicate::AlwaysFalse => "false".to_string(),
            Predicate::And(children) => joined(children.iter().map(|c| self.predicate(c)), " AND ", "true"),
            Predicate::Or(children) => joined(children.iter().map(|c| self.predicate(c)), " OR ", "false"),
            Predicate::Not(child) => format!("NOT ({})", self.predicate(child)),
            Predicate::Unary(op, term) => unary(*op, term),
            Predicate::Compare(op, term, literal) => format!("{term} {op} {}", self.literal(literal)),
            Predicate::Set(op, term, literals) => {
                let values = literals.iter().map(|l| self.literal(l)).collect();
                format!("{term} {op} ({})", self.set(values))
            }
        }
    }

    fn bound_predicate(&self, predicate: &BoundPredicate) -> String {
        match predicate {
            BoundPredicate::AlwaysTrue => "true".to_string(),
            BoundPredicate::AlwaysFalse => "false".to_string(),
            BoundPredicate::And(children) => joined(children.iter().map(|c| self.bound_predicate(c)), " AND ", "true"),
            BoundPredicate::Or(children) => joined(children.iter().map(|c| self.bound_predicate(c)), " OR ", "false"),
            BoundPredicate::Unary(op, term) => unary(*op, term),
            BoundPredicate::Compare(op, term, value) => format!("{term} {op} {}", self.bound(value, term)),
            BoundPredicate::Set(op, term, values) => {
                let values = values.iter().map(|v| self.bound(v, term)).collect();
                format!("{term} {op} ({})", self.set(values))
            }
        }
    }
}

fn unary(op: UnaryOp, term: impl Display) -> String {
    match op {
        UnaryOp::IsNull => format!("{term} IS NULL"),
        UnaryOp::NotNull => format!("{term} IS NOT NULL"),
        UnaryOp::IsNan => format!("is_nan({term})"),
        UnaryOp::NotNan => format!("not_nan({term})"),
    }
}

fn joined(children: impl Iterator<Item = String>, by: &str, empty: &str) -> String {
    let children: Vec<String> = children.collect();
    match children.as_slice() {
        [] => empty.to_string(),
        [one] => one.clone(),
        _ => format!("({})", children.join(by)),
    }
}

impl Display for Predicate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&Style::Full.predicate(self))
    }
}

impl Display for BoundPredicate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&Style::Full.bound_predicate(self))
    }
}

impl Predicate {
    /// The predicate with its literals replaced by descriptions, see [`super::sanitize`].
    pub fn to_sanitized_string(&self) -> String {
        Style::Sanitized(Sanitizer::now()).predicate(self)
    }
}

impl BoundPredicate {
    /// The predicate with its literals replaced by descriptions, see [`super::sanitize`].
    pub fn to_sanitized_string(&self) -> String {
        Style::Sanitized(Sanitizer::now()).bound_predicate(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn predicates_read_like_sql() {
        let day = super::super::Term::Transform(Transform::Day, "ts".to_string());
        let predicate = Predicate::lt("a", 5)
            .and(Predicate::starts_with("s", "it's").or(Predicate::is_null("b.c")))
            .and(!Predicate::is_in("d", [1.5, -0.0]))
            .and(Predicate::eq(day, Literal::Date(17_486)))
            .and(Predicate::gt("x", vec![0xab, 1]));
        assert_eq!(
            predicate.to_string(),
            "(a < 5 AND (s STARTS WITH 'it''s' OR b.c IS NULL) AND NOT (d IN (1.5, -0.0)) AND day(ts) = 2017-11-16 \
             AND x > X'AB01')"
        );
    }

    /// Java's TestExpressionUtil.
    #[test]
    fn sanitized_predicates_hide_values() {
        let sanitized = |p: Predicate| p.to_sanitized_string();
        assert_eq!(sanitized(Predicate::gt("test", 34)), "test > (2-digit-int)");
        assert_eq!(
            sanitized(Predicate::is_in("test", [34, 345])),
            "test IN ((2-digit-int), (3-digit-int))"
        );
        assert_eq!(
            sanitized(Predicate::starts_with("test", "aaa")),
            "test STARTS WITH (hash-34d05fb7)"
        );
        let many = Predicate::is_in("test", (0..15).map(|i| format!("string_{i}")));
        assert_eq!(
            sanitized(many),
            "test IN ((hash-14128790), (hash-1056a62b), (hash-22fd6340), (hash-3f9d20e4), (hash-136200f0), \
             (hash-25fc9033), (hash-681d31e2), (hash-6c1796d4), (hash-382d143e), (hash-272f4e5b), \
             ... (5 values hidden, 15 in total))"
        );
        let same = Predicate::is_in("test", [90, 91, 92, 93, 94, 100, 101, 102, 103, 104]);
        assert_eq!(
            sanitized(same),
            "test IN ((2-digit-int), (3-digit-int), ... (8 values hidden, 10 in total))"
        );
    }
}
