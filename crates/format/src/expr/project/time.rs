//! Through `year`, `month`, `day` and `hour`.
//!
//! Writers up to Iceberg 0.10 gave times before 1970 a partition value that was one too large. Projections allow for
//! both values, as Java's `ProjectionUtil.fixInclusiveTimeProjection` and `fixStrictTimeProjection` do.

use super::{Kind, Target, step};
use crate::expr::bound::BoundPredicate;
use crate::expr::predicate::{CompareOp, SetOp};
use crate::spec::types::PrimitiveType;
use crate::spec::value::Value;
use crate::transform::Transform;

pub(super) fn project(target: &Target<'_>, leaf: &BoundPredicate, kind: Kind) -> Option<BoundPredicate> {
    let exact = match (leaf, kind) {
        (BoundPredicate::Compare(op, _, literal), Kind::Inclusive) => inclusive(target, *op, literal),
        (BoundPredicate::Compare(op, _, literal), Kind::Strict) => strict(target, *op, literal),
        (BoundPredicate::Set(SetOp::In, _, literals), Kind::Inclusive) => {
            target.set(SetOp::In, target.apply_all(literals)?)
        }
        (BoundPredicate::Set(SetOp::NotIn, _, literals), Kind::Strict) => {
            target.set(SetOp::NotIn, target.apply_all(literals)?)
        }
        _ => None,
    };
    exact.map(|p| fix(p, target, kind))
}

fn inclusive(target: &Target<'_>, op: CompareOp, literal: &Value) -> Option<BoundPredicate> {
    use CompareOp as C;
    match op {
        C::Lt => match step(literal, -1) {
            Some(closed) => target.compare(C::LtEq, target.apply(&closed)?),
            None => Some(BoundPredicate::AlwaysFalse),
        },
        C::LtEq => target.compare(C::LtEq, target.apply(literal)?),
        C::Gt => match step(literal, 1) {
            Some(closed) => target.compare(C::GtEq, target.apply(&closed)?),
            None => Some(BoundPredicate::AlwaysFalse),
        },
        C::GtEq => target.compare(C::GtEq, target.apply(literal)?),
        C::Eq => target.compare(C::Eq, target.apply(literal)?),
        C::NotEq | C::StartsWith | C::NotStartsWith => None,
    }
}

fn strict(target: &Target<'_>, op: CompareOp, literal: &Value) -> Option<BoundPredicate> {
    use CompareOp as C;
    match op {
        C::Lt => target.compare(C::Lt, target.apply(literal)?),
        C::LtEq => match step(literal, 1) {
            Some(open) => target.compare(C::Lt, target.apply(&open)?),
            None => target.not_null(),
        },
        C::Gt => target.compare(C::Gt, target.apply(literal)?),
        C::GtEq => match step(literal, -1) {
            Some(open) => target.compare(C::Gt, target.apply(&open)?),
            None => target.not_null(),
        },
        C::NotEq => target.compare(C::NotEq, target.apply(literal)?),
        C::Eq | C::StartsWith | C::NotStartsWith => None,
    }
}

/// Widens an inclusive or tightens a strict predicate over a time field for values that old writers got wrong.
///
/// Days of dates were always right, and so are values above 0. Other predicates pass unchanged.
pub(super) fn fix(predicate: BoundPredicate, target: &Target<'_>, kind: Kind) -> BoundPredicate {
    let affected = match target.transform {
        Transform::Day => *target.source != PrimitiveType::Date,
        Transform::Year | Transform::Month | Transform::Hour => true,
        _ => false,
    };
    match kind {
        _ if !affected => predicate,
        Kind::Inclusive => fix_inclusive(predicate),
        Kind::Strict => fix_strict(predicate),
    }
}

fn fix_inclusive(predicate: BoundPredicate) -> BoundPredicate {
    use CompareOp as C;
    match predicate {
        // The value before 0 may stand under 0, so "below 0" must widen too.
        BoundPredicate::Compare(op @ (C::Lt | C::LtEq), term, Value::Int(v)) if v < i32::from(op == C::Lt) => {
            BoundPredicate::Compare(op, term, Value::Int(v.saturating_add(1)))
        }
        BoundPredicate::Compare(C::Eq, term, value) => BoundPredicate::set(SetOp::In, term, with_wrong(&[value])),
        BoundPredicate::Set(SetOp::In, term, values) => BoundPredicate::set(SetOp::In, term, with_wrong(&values)),
        // Only predicates on the transformed column itself come here: rows under a wrong value may match.
        BoundPredicate::Compare(C::NotEq, term, value) => {
            BoundPredicate::set(SetOp::NotIn, term, surely_right(&[value]))
        }
        BoundPredicate::Set(SetOp::NotIn, term, values) => {
            BoundPredicate::set(SetOp::NotIn, term, surely_right(&values))
        }
        other => other,
    }
}

fn fix_strict(predicate: BoundPredicate) -> BoundPredicate {
    use CompareOp as C;
    match predicate {
        BoundPredicate::Compare(op @ (C::Gt | C::GtEq), term, Value::Int(v)) if v <= 0 => {
            BoundPredicate::Compare(op, term, Value::Int(v.saturating_add(1)))
        }
        BoundPredicate::Compare(C::NotEq, term, value) => BoundPredicate::set(SetOp::NotIn, term, with_wrong(&[value])),
        BoundPredicate::Set(SetOp::NotIn, term, values) => BoundPredicate::set(SetOp::NotIn, term, with_wrong(&values)),
        // Only predicates on the transformed column itself come here.
        BoundPredicate::Compare(C::Eq, term, value) => BoundPredicate::set(SetOp::In, term, surely_right(&[value])),
        BoundPredicate::Set(SetOp::In, term, values) => BoundPredicate::set(SetOp::In, term, surely_right(&values)),
        other => other,
    }
}

/// The values and what old writers made of the negative ones.
fn with_wrong(values: &[Value]) -> Vec<Value> {
    let mut all = values.to_vec();
    for value in values {
        if let Value::Int(v) = value {
            all.extend((*v < 0).then(|| Value::Int(v.saturating_add(1))));
        }
    }
    all
}

/// The values that stand for no other.
fn surely_right(values: &[Value]) -> Vec<Value> {
    let positive = values.iter().filter(|v| matches!(v, Value::Int(v) if *v > 0));
    positive.cloned().collect()
}
