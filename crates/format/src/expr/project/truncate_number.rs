//! Through `truncate` of numbers.
//!
//! Integers just above the minimum of their type truncate below it, and writers wrap around: that one bucket holds the
//! smallest values under a large partition value. Ranges must not lose or claim it.

use super::{Kind, Target, step};
use crate::expr::bound::BoundPredicate;
use crate::expr::predicate::{CompareOp, SetOp};
use crate::spec::types::PrimitiveType;
use crate::spec::value::Value;

pub(super) fn project(target: &Target<'_>, width: u32, leaf: &BoundPredicate, kind: Kind) -> Option<BoundPredicate> {
    let wrapped = wrapped(target.source, width);
    let range = Range { target, wrapped };
    match (leaf, kind) {
        (BoundPredicate::Compare(op, _, literal), Kind::Inclusive) => range.inclusive(*op, literal),
        (BoundPredicate::Compare(op, _, literal), Kind::Strict) => range.strict(*op, literal),
        (BoundPredicate::Set(SetOp::In, _, literals), Kind::Inclusive) => {
            target.set(SetOp::In, target.apply_all(literals)?)
        }
        (BoundPredicate::Set(SetOp::NotIn, _, literals), Kind::Strict) => {
            target.set(SetOp::NotIn, target.apply_all(literals)?)
        }
        _ => None,
    }
}

/// The partition value of the bucket that wraps around, if the width leaves one.
fn wrapped(source: &PrimitiveType, width: u32) -> Option<Value> {
    let width = i64::from(width);
    match source {
        PrimitiveType::Int => {
            let rest = i64::from(i32::MIN).checked_rem_euclid(width)?;
            // The remainder of a 31-bit width fits 32 bits.
            (rest != 0).then(|| Value::Int(i32::MIN.wrapping_sub(rest as i32)))
        }
        PrimitiveType::Long => {
            let rest = i64::MIN.checked_rem_euclid(width)?;
            (rest != 0).then(|| Value::Long(i64::MIN.wrapping_sub(rest)))
        }
        _ => None,
    }
}

/// Ranges of values as ranges of their buckets.
struct Range<'a> {
    target: &'a Target<'a>,
    wrapped: Option<Value>,
}

impl Range<'_> {
    fn inclusive(&self, op: CompareOp, literal: &Value) -> Option<BoundPredicate> {
        use CompareOp as C;
        match op {
            C::Lt => match step(literal, -1) {
                Some(closed) => self.may_be_at_most(&closed),
                None => Some(BoundPredicate::AlwaysFalse),
            },
            C::LtEq => self.may_be_at_most(literal),
            C::Gt => match step(literal, 1) {
                Some(closed) => self.may_be_at_least(&closed),
                None => Some(BoundPredicate::AlwaysFalse),
            },
            C::GtEq => self.may_be_at_least(literal),
            C::Eq => self.target.compare(C::Eq, self.target.apply(literal)?),
            C::NotEq | C::StartsWith | C::NotStartsWith => None,
        }
    }

    fn strict(&self, op: CompareOp, literal: &Value) -> Option<BoundPredicate> {
        use CompareOp as C;
        match op {
            C::Lt => self.is_below(literal),
            C::LtEq => match step(literal, 1) {
                Some(open) => self.is_below(&open),
                None => self.target.not_null(),
            },
            C::Gt => self.is_above(literal),
            C::GtEq => match step(literal, -1) {
                Some(open) => self.is_above(&open),
                None => self.target.not_null(),
            },
            C::NotEq => self.target.compare(C::NotEq, self.target.apply(literal)?),
            C::Eq | C::StartsWith | C::NotStartsWith => None,
        }
    }

    /// Whether the literal lies in the bucket that wraps. Its partition value may also be an ordinary bucket near the
    /// maximum, hence the sign.
    fn wraps(&self, literal: &Value, bucket: &Value) -> bool {
        let negative = match literal {
            Value::Int(v) => *v < 0,
            Value::Long(v) => *v < 0,
            _ => false,
        };
        negative && self.wrapped.as_ref() == Some(bucket)
    }

    /// Buckets that may hold a value `<= literal`.
    fn may_be_at_most(&self, literal: &Value) -> Option<BoundPredicate> {
        let bucket = self.target.apply(literal)?;
        let wrapped = self.wrapped.clone().and_then(|w| self.target.compare(CompareOp::Eq, w));
        if self.wraps(literal, &bucket) {
            return wrapped;
        }
        let below = self.target.compare(CompareOp::LtEq, bucket)?;
        Some(BoundPredicate::or(std::iter::once(below).chain(wrapped)))
    }

    /// Buckets that may hold a value `>= literal`.
    fn may_be_at_least(&self, literal: &Value) -> Option<BoundPredicate> {
        let bucket = self.target.apply(literal)?;
        if self.wraps(literal, &bucket) {
            return self.target.not_null();
        }
        self.target.compare(CompareOp::GtEq, bucket)
    }

    /// Buckets that hold only values `< literal`.
    fn is_below(&self, literal: &Value) -> Option<BoundPredicate> {
        let bucket = self.target.apply(literal)?;
        if self.wraps(literal, &bucket) {
            return None;
        }
        self.target.compare(CompareOp::Lt, bucket)
    }

    /// Buckets that hold only values `> literal`.
    fn is_above(&self, literal: &Value) -> Option<BoundPredicate> {
        let bucket = self.target.apply(literal)?;
        let not_wrapped = self
            .wrapped
            .clone()
            .and_then(|w| self.target.compare(CompareOp::NotEq, w));
        if self.wraps(literal, &bucket) {
            return not_wrapped;
        }
        let above = self.target.compare(CompareOp::Gt, bucket)?;
        Some(BoundPredicate::and(std::iter::once(above).chain(not_wrapped)))
    }
}
