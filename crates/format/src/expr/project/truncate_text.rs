//! Through `truncate` of text and bytes. A value shorter than the width is its own partition value.

use super::{Kind, Target};
use crate::expr::bound::BoundPredicate;
use crate::expr::predicate::{CompareOp, SetOp};
use crate::spec::value::Value;

pub(super) fn project(target: &Target<'_>, width: u32, leaf: &BoundPredicate, kind: Kind) -> Option<BoundPredicate> {
    match (leaf, kind) {
        (BoundPredicate::Compare(op, _, literal), Kind::Inclusive) => inclusive(target, width, *op, literal),
        (BoundPredicate::Compare(op, _, literal), Kind::Strict) => strict(target, width, *op, literal),
        (BoundPredicate::Set(SetOp::In, _, literals), Kind::Inclusive) => {
            target.set(SetOp::In, target.apply_all(literals)?)
        }
        (BoundPredicate::Set(SetOp::In, _, literals), Kind::Strict) => {
            let short = literals
                .iter()
                .filter(|l| length(l) < width as usize)
                .cloned()
                .collect();
            target.set(SetOp::In, short)
        }
        (BoundPredicate::Set(SetOp::NotIn, _, literals), Kind::Strict) => {
            target.set(SetOp::NotIn, target.apply_all(literals)?)
        }
        _ => None,
    }
}

fn inclusive(target: &Target<'_>, width: u32, op: CompareOp, literal: &Value) -> Option<BoundPredicate> {
    use CompareOp as C;
    let cut = target.apply(literal)?;
    let (length, width) = (length(literal), width as usize);
    match op {
        C::Lt | C::LtEq => target.compare(C::LtEq, cut),
        C::Gt | C::GtEq => target.compare(C::GtEq, cut),
        C::Eq => target.compare(C::Eq, cut),
        C::NotEq if length < width => target.compare(C::NotEq, cut),
        C::NotEq => None,
        C::StartsWith if length < width => target.compare(C::StartsWith, cut),
        C::StartsWith => target.compare(C::Eq, cut),
        C::NotStartsWith if length < width => target.compare(C::NotStartsWith, cut),
        C::NotStartsWith if length == width => target.compare(C::NotEq, cut),
        C::NotStartsWith => None,
    }
}

fn strict(target: &Target<'_>, width: u32, op: CompareOp, literal: &Value) -> Option<BoundPredicate> {
    use CompareOp as C;
    let cut = target.apply(literal)?;
    let (length, width) = (length(literal), width as usize);
    match op {
        C::Lt | C::LtEq => target.compare(C::Lt, cut),
        C::Gt | C::GtEq => target.compare(C::Gt, cut),
        C::Eq if length < width => target.compare(C::Eq, cut),
        C::Eq => None,
        C::NotEq => target.compare(C::NotEq, cut),
        C::StartsWith if length < width => target.compare(C::StartsWith, cut),
        C::StartsWith if length == width => target.compare(C::Eq, cut),
        C::StartsWith => None,
        C::NotStartsWith if length < width => target.compare(C::NotStartsWith, cut),
        C::NotStartsWith => target.compare(C::NotEq, cut),
    }
}

/// In the unit of the width: code points of text, bytes.
fn length(literal: &Value) -> usize {
    match literal {
        Value::String(s) => s.chars().count(),
        Value::Binary(b) => b.len(),
        _ => usize::MAX,
    }
}
