//! Through `bucket`: equal values have equal buckets, and different buckets hold different values.

use super::{Kind, Target};
use crate::expr::bound::BoundPredicate;
use crate::expr::predicate::{CompareOp, SetOp};

pub(super) fn project(target: &Target<'_>, leaf: &BoundPredicate, kind: Kind) -> Option<BoundPredicate> {
    match (leaf, kind) {
        (BoundPredicate::Compare(CompareOp::Eq, _, literal), Kind::Inclusive) => {
            target.compare(CompareOp::Eq, target.apply(literal)?)
        }
        (BoundPredicate::Compare(CompareOp::NotEq, _, literal), Kind::Strict) => {
            target.compare(CompareOp::NotEq, target.apply(literal)?)
        }
        (BoundPredicate::Set(SetOp::In, _, literals), Kind::Inclusive) => {
            target.set(SetOp::In, target.apply_all(literals)?)
        }
        (BoundPredicate::Set(SetOp::NotIn, _, literals), Kind::Strict) => {
            target.set(SetOp::NotIn, target.apply_all(literals)?)
        }
        _ => None,
    }
}
