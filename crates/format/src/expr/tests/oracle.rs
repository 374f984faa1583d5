//! An independent reading of unbound predicates, row by row, in three-valued logic.

use std::cmp::Ordering;

use super::world::{Row, World};
use crate::expr::evaluator::value_at;
use crate::expr::{CompareOp, Literal, Predicate, SetOp, Term, UnaryOp};
use crate::spec::types::PrimitiveType;
use crate::spec::value::Value;

/// How floating-point numbers compare.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Floats {
    /// As DataFusion: NaN above all, -0 below 0.
    Total,
    /// NaN is unequal to everything, zeros are equal.
    Ieee,
}

/// What a comparison with null is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Nulls {
    /// SQL.
    Unknown,
    /// Java: true for the negative operators, false for the others. Only for predicates without NOT.
    MatchNegative,
}

pub(super) struct Oracle<'a> {
    pub(super) world: &'a World,
    pub(super) floats: Floats,
    pub(super) nulls: Nulls,
}

impl Oracle<'_> {
    pub(super) fn matches(&self, predicate: &Predicate, row: &Row) -> bool {
        self.eval(predicate, row) == Some(true)
    }

    fn eval(&self, predicate: &Predicate, row: &Row) -> Option<bool> {
        match predicate {
            Predicate::AlwaysTrue => Some(true),
            Predicate::AlwaysFalse => Some(false),
            Predicate::Not(child) => self.eval(child, row).map(|b| !b),
            Predicate::And(children) => {
                let results: Vec<_> = children.iter().map(|c| self.eval(c, row)).collect();
                match results.contains(&Some(false)) {
                    true => Some(false),
                    false => (!results.contains(&None)).then_some(true),
                }
            }
            Predicate::Or(children) => {
                let results: Vec<_> = children.iter().map(|c| self.eval(c, row)).collect();
                match results.contains(&Some(true)) {
                    true => Some(true),
                    false => (!results.contains(&None)).then_some(false),
                }
            }
            Predicate::Unary(op, term) => {
                let value = self.value(term, row);
                let nan = value.as_ref().and_then(|(v, _)| real(v)).is_some_and(f64::is_nan);
                Some(match op {
                    UnaryOp::IsNull => value.is_none(),
                    UnaryOp::NotNull => value.is_some(),
                    UnaryOp::IsNan => nan,
                    UnaryOp::NotNan => !nan,
                })
            }
            Predicate::Compare(op, term, literal) => match self.value(term, row) {
                Some((value, ty)) => Some(self.compare(*op, &value, &ty, literal)),
                None => self.on_null(matches!(op, CompareOp::NotEq | CompareOp::NotStartsWith)),
            },
            // Nothing is in an empty set, not even null.
            Predicate::Set(op, _, literals) if literals.is_empty() => Some(*op == SetOp::NotIn),
            Predicate::Set(op, term, literals) => match self.value(term, row) {
                Some((value, ty)) => {
                    let found = literals.iter().any(|l| self.compare(CompareOp::Eq, &value, &ty, l));
                    Some(found == (*op == SetOp::In))
                }
                None => self.on_null(*op == SetOp::NotIn),
            },
        }
    }

    fn on_null(&self, negative: bool) -> Option<bool> {
        match self.nulls {
            Nulls::Unknown => None,
            Nulls::MatchNegative => Some(negative),
        }
    }

    /// The term's value and its type.
    fn value(&self, term: &Term, row: &Row) -> Option<(Value, PrimitiveType)> {
        let Some(column) = self.world.columns.iter().find(|c| c.name == term.column()) else {
            // The struct that holds the nested columns; only tested for null.
            let holder = row.iter().find(|(_, v)| matches!(v, Some(Value::Struct(_))))?;
            return Some((holder.1.clone()?, PrimitiveType::Unknown));
        };
        let value = value_at(row, &column.path);
        match term {
            Term::Column(_) => Some((value?.clone(), column.ty.clone())),
            Term::Transform(transform, _) => {
                let result = transform.apply(value, &column.ty).unwrap()?;
                Some((result, transform.result_type(&column.ty).unwrap()))
            }
        }
    }

    fn compare(&self, op: CompareOp, value: &Value, ty: &PrimitiveType, literal: &Literal) -> bool {
        if let (Value::String(text), Literal::String(prefix)) = (value, literal) {
            match op {
                CompareOp::StartsWith => return text.starts_with(prefix.as_ref()),
                CompareOp::NotStartsWith => return !text.starts_with(prefix.as_ref()),
                _ => {}
            }
        }
        let order = self.order(value, ty, literal);
        match op {
            CompareOp::Lt => order == Some(Ordering::Less),
            CompareOp::LtEq => matches!(order, Some(Ordering::Less | Ordering::Equal)),
            CompareOp::Gt => order == Some(Ordering::Greater),
            CompareOp::GtEq => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
            CompareOp::Eq => order == Some(Ordering::Equal),
            CompareOp::NotEq => order != Some(Ordering::Equal),
            CompareOp::StartsWith | CompareOp::NotStartsWith => panic!("{value:?} has no prefix"),
        }
    }

    /// `None` only for NaN by IEEE 754.
    fn order(&self, value: &Value, ty: &PrimitiveType, literal: &Literal) -> Option<Ordering> {
        match (value, literal) {
            (Value::Boolean(a), Literal::Boolean(b)) => Some(a.cmp(b)),
            (Value::Int(a), Literal::Int(b) | Literal::Date(b)) => Some(a.cmp(b)),
            (Value::Int(a), Literal::Long(b)) => Some(i64::from(*a).cmp(b)),
            (Value::Int(a), Literal::Double(b)) => f64::from(*a).partial_cmp(b),
            (Value::Long(a), Literal::Long(b) | Literal::Time(b)) => Some(a.cmp(b)),
            (Value::Long(a), Literal::Timestamp(b) | Literal::Timestamptz(b)) => Some(a.cmp(b)),
            (Value::Long(a), Literal::TimestampNs(b) | Literal::TimestamptzNs(b)) => Some(a.cmp(b)),
            (Value::Float(a), Literal::Float(b)) => self.reals(f64::from(*a), f64::from(*b)),
            (Value::Double(a), Literal::Double(b)) => self.reals(*a, *b),
            (Value::Decimal(a), Literal::Decimal { unscaled, scale }) => {
                Some(decimals((*a, scale_of(ty)), (*unscaled, *scale)))
            }
            (Value::Int(a), Literal::Decimal { unscaled, scale }) => {
                Some(decimals((i128::from(*a), 0), (*unscaled, *scale)))
            }
            (Value::String(a), Literal::String(b)) => Some(a.chars().cmp(b.chars())),
            (Value::Uuid(a), Literal::Uuid(b)) => Some(u128::from_be_bytes(*a).cmp(&u128::from_be_bytes(*b))),
            (Value::Binary(a), Literal::Bytes(b)) => Some(a.iter().cmp(b.iter())),
            _ => panic!("{value:?} beside {literal:?}"),
        }
    }

    fn reals(&self, a: f64, b: f64) -> Option<Ordering> {
        match self.floats {
            Floats::Total => Some(a.total_cmp(&b)),
            Floats::Ieee => a.partial_cmp(&b),
        }
    }
}

fn scale_of(ty: &PrimitiveType) -> u8 {
    match ty {
        PrimitiveType::Decimal { scale, .. } => *scale,
        _ => 0,
    }
}

/// Compares by whole parts, then by fractions of 18 digits.
fn decimals((a, a_scale): (i128, u8), (b, b_scale): (i128, u8)) -> Ordering {
    let parts = |unscaled: i128, scale: u8| {
        let one = 10i128.pow(u32::from(scale));
        let fraction = unscaled.rem_euclid(one) * 10i128.pow(18 - u32::from(scale));
        (unscaled.div_euclid(one), fraction)
    };
    parts(a, a_scale).cmp(&parts(b, b_scale))
}

fn real(value: &Value) -> Option<f64> {
    match value {
        Value::Float(v) => Some(f64::from(*v)),
        Value::Double(v) => Some(*v),
        _ => None,
    }
}
