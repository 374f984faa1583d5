//! Random predicates over a table.

use rand::Rng;
use rand::rngs::StdRng;

use super::values::{any_value, pick};
use super::world::{ColumnInfo, World, any_transform};
use crate::expr::{CompareOp, Literal, Predicate, SetOp, Term, UnaryOp};
use crate::spec::types::PrimitiveType;
use crate::spec::value::Value;
use crate::transform::Transform;

pub(super) struct Generated {
    pub(super) predicate: Predicate,
    /// Whether Java's reading of nulls applies: no leaf folds in a way that only SQL's reading allows.
    pub(super) java_nulls: bool,
}

pub(super) fn generate(rng: &mut StdRng, world: &World, depth: u32) -> Generated {
    let mut java_nulls = true;
    let predicate = node(rng, world, depth, &mut java_nulls);
    Generated { predicate, java_nulls }
}

fn node(rng: &mut StdRng, world: &World, depth: u32, java_nulls: &mut bool) -> Predicate {
    if depth == 0 {
        return leaf(rng, world, java_nulls);
    }
    let mut child = |rng: &mut StdRng| node(rng, world, depth - 1, java_nulls);
    match rng.random_range(0..10) {
        0..=2 => {
            let (a, b) = (child(rng), child(rng));
            a.and(b)
        }
        3..=5 => {
            let (a, b) = (child(rng), child(rng));
            a.or(b)
        }
        6 | 7 => Predicate::Not(Box::new(child(rng))),
        8 => pick(rng, &[Predicate::AlwaysTrue, Predicate::AlwaysFalse]),
        _ => leaf(rng, world, java_nulls),
    }
}

fn leaf(rng: &mut StdRng, world: &World, java_nulls: &mut bool) -> Predicate {
    let column = pick(rng, &world.columns);
    if rng.random_bool(0.05) {
        return Predicate::Unary(pick(rng, &[UnaryOp::IsNull, UnaryOp::NotNull]), Term::from("s"));
    }
    let transform = if rng.random_bool(0.25) {
        any_transform(rng, &column.ty)
    } else {
        Transform::Identity
    };
    let result = result_type(&transform, &column.ty);
    let term = match &transform {
        Transform::Identity => Term::from(column.name.as_str()),
        transform => Term::Transform(transform.clone(), column.name.clone()),
    };
    let never = matches!(result, PrimitiveType::Unknown) || transform == Transform::Void;
    *java_nulls &= !never;
    let geo = matches!(result, PrimitiveType::Geometry { .. } | PrimitiveType::Geography { .. });
    let float = matches!(result, PrimitiveType::Float | PrimitiveType::Double);
    match rng.random_range(0..10) {
        _ if geo || never => Predicate::Unary(pick(rng, &[UnaryOp::IsNull, UnaryOp::NotNull]), term),
        0 if float => Predicate::Unary(pick(rng, &[UnaryOp::IsNan, UnaryOp::NotNan]), term),
        0 | 1 => Predicate::Unary(pick(rng, &[UnaryOp::IsNull, UnaryOp::NotNull]), term),
        2 | 3 => {
            let count = rng.random_range(0..4);
            let literals = (0..count)
                .map(|_| literal(rng, &column, &transform, java_nulls))
                .collect();
            *java_nulls &= count > 0;
            Predicate::Set(pick(rng, &[SetOp::In, SetOp::NotIn]), term, literals)
        }
        4 | 5 if result == PrimitiveType::String => {
            let op = pick(rng, &[CompareOp::StartsWith, CompareOp::NotStartsWith]);
            let text = match literal(rng, &column, &transform, java_nulls) {
                Literal::String(text) => text,
                other => panic!("{other} is not text"),
            };
            let len = rng.random_range(0..=text.chars().count());
            Predicate::Compare(op, term, text.chars().take(len).collect::<String>().into())
        }
        _ => {
            let ops = [
                CompareOp::Lt,
                CompareOp::LtEq,
                CompareOp::Gt,
                CompareOp::GtEq,
                CompareOp::Eq,
                CompareOp::NotEq,
            ];
            Predicate::Compare(pick(rng, &ops), term, literal(rng, &column, &transform, java_nulls))
        }
    }
}

/// Mostly a value that rows have, sometimes another, sometimes a number of another type.
fn literal(rng: &mut StdRng, column: &ColumnInfo, transform: &Transform, java_nulls: &mut bool) -> Literal {
    let value = match column.pool.is_empty() || rng.random_bool(0.3) {
        true => any_value(rng, &column.ty).unwrap(),
        false => pick(rng, &column.pool),
    };
    let result = result_type(transform, &column.ty);
    let value = transform.apply(Some(&value), &column.ty).unwrap().unwrap();
    if rng.random_bool(0.1)
        && let Some(other) = of_another_type(rng, &value, &result)
    {
        // One that the type cannot hold folds to "is not null".
        *java_nulls = false;
        return other;
    }
    Literal::from_value(&value, &result).unwrap()
}

fn of_another_type(rng: &mut StdRng, value: &Value, ty: &PrimitiveType) -> Option<Literal> {
    let off = pick(rng, &[0.0, 0.5, -0.25]);
    match (ty, value) {
        (PrimitiveType::Int, Value::Int(v)) => Some(match rng.random_range(0..3) {
            0 => Literal::Double(f64::from(*v) + off),
            1 => Literal::Long(i64::from(*v) + pick(rng, &[0, 1 << 33, -(1 << 33)])),
            _ => Literal::Decimal {
                unscaled: i128::from(*v) * 100 + pick(rng, &[0, 1, -1]),
                scale: 2,
            },
        }),
        (PrimitiveType::Decimal { scale, .. }, Value::Decimal(v)) => Some(Literal::Decimal {
            unscaled: v.checked_mul(10)? + pick(rng, &[0, 1, -1]),
            scale: scale + 1,
        }),
        _ => None,
    }
}

fn result_type(transform: &Transform, ty: &PrimitiveType) -> PrimitiveType {
    match transform {
        // A plain column may be of any type, also of those that identity does not take.
        Transform::Identity => ty.clone(),
        transform => transform.result_type(ty).unwrap(),
    }
}
