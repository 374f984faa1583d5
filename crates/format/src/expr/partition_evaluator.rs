//! A predicate over partition fields, evaluated on one partition tuple.
//!
//! The tuple gives one value per field, so most answers are definite. Where engines disagree about a value (null under
//! a negative operator, NaN, zeros of either sign), or where the tuple does not hold what the spec says, the answer is
//! [`Verdict::Some`].

use std::cmp::Ordering;

use super::bound::BoundPredicate;
use super::predicate::{CompareOp, SetOp, UnaryOp};
use crate::manifest::data_file::PartitionTuple;
use crate::spec::partition::PartitionSpec;
use crate::spec::types::{FieldId, PrimitiveType};
use crate::spec::value::Value;
use crate::spec::value_order;

/// How much of a set of rows matches. Conjunction takes the least, disjunction the greatest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// No row, for sure.
    None,
    /// Perhaps some.
    Some,
    /// All rows, for sure.
    All,
}

/// Evaluates one predicate on the tuples of one partition spec.
#[derive(Debug, Clone)]
pub struct PartitionEvaluator {
    projected: BoundPredicate,
    field_ids: Vec<FieldId>,
}

impl PartitionEvaluator {
    /// Prepares a predicate over the partition fields of `spec`, as [`super::project`] gives it.
    pub fn new(projected: BoundPredicate, spec: &PartitionSpec) -> Self {
        PartitionEvaluator {
            projected,
            field_ids: spec.fields.iter().map(|f| f.field_id).collect(),
        }
    }

    /// Whether rows of the partition may match: for an inclusive projection.
    pub fn may_match(&self, partition: &PartitionTuple) -> bool {
        self.evaluate(partition) != Verdict::None
    }

    /// Whether all rows of the partition match: for a strict projection.
    pub fn all_match(&self, partition: &PartitionTuple) -> bool {
        self.evaluate(partition) == Verdict::All
    }

    /// The verdict on the partition.
    pub fn evaluate(&self, partition: &PartitionTuple) -> Verdict {
        verdict(&self.projected, &self.field_ids, partition)
    }
}

pub(super) fn verdict(predicate: &BoundPredicate, field_ids: &[FieldId], partition: &PartitionTuple) -> Verdict {
    let of = |child: &BoundPredicate| verdict(child, field_ids, partition);
    match predicate {
        BoundPredicate::AlwaysTrue => Verdict::All,
        BoundPredicate::AlwaysFalse => Verdict::None,
        BoundPredicate::And(children) => children.iter().map(of).min().unwrap_or(Verdict::All),
        BoundPredicate::Or(children) => children.iter().map(of).max().unwrap_or(Verdict::None),
        leaf => {
            let Some(term) = leaf.term() else { return Verdict::Some };
            let position = field_ids.iter().position(|id| *id == term.field_id);
            match position.and_then(|p| partition.0.get(p)) {
                Some(value) => on_value(leaf, value.as_ref(), &term.result_type),
                None => Verdict::Some,
            }
        }
    }
}

fn on_value(leaf: &BoundPredicate, value: Option<&Value>, ty: &PrimitiveType) -> Verdict {
    let is = |holds: bool| if holds { Verdict::All } else { Verdict::None };
    match (leaf, value) {
        (BoundPredicate::Unary(UnaryOp::IsNull, _), value) => is(value.is_none()),
        (BoundPredicate::Unary(UnaryOp::NotNull, _), value) => is(value.is_some()),
        (BoundPredicate::Unary(UnaryOp::IsNan, _), value) => is(value.is_some_and(is_nan)),
        (BoundPredicate::Unary(UnaryOp::NotNan, _), Some(value)) => is(!is_nan(value)),
        (BoundPredicate::Compare(op, _, literal), Some(value)) => compare(*op, value, literal, ty),
        (BoundPredicate::Set(op, _, literals), Some(value)) => {
            let equal = literals.iter().map(|l| compare(CompareOp::Eq, value, l, ty)).max();
            let found = equal.unwrap_or(Verdict::None);
            match op {
                SetOp::In => found,
                SetOp::NotIn => negate(found),
            }
        }
        (leaf, None) if is_negative(leaf) => Verdict::Some,
        _ => Verdict::None,
    }
}

/// Operators that null does not match in SQL, but does in Java.
fn is_negative(leaf: &BoundPredicate) -> bool {
    matches!(
        leaf,
        BoundPredicate::Unary(UnaryOp::NotNan, _)
            | BoundPredicate::Compare(CompareOp::NotEq | CompareOp::NotStartsWith, ..)
            | BoundPredicate::Set(SetOp::NotIn, ..)
    )
}

fn negate(verdict: Verdict) -> Verdict {
    match verdict {
        Verdict::None => Verdict::All,
        Verdict::Some => Verdict::Some,
        Verdict::All => Verdict::None,
    }
}

fn compare(op: CompareOp, value: &Value, literal: &Value, ty: &PrimitiveType) -> Verdict {
    if matches!(op, CompareOp::StartsWith | CompareOp::NotStartsWith) {
        let (Value::String(text), Value::String(prefix)) = (value, literal) else {
            return Verdict::Some;
        };
        let begins = text.starts_with(prefix.as_ref());
        return match begins == (op == CompareOp::StartsWith) {
            true => Verdict::All,
            false => Verdict::None,
        };
    }
    let Some(order) = certain_order(value, literal, ty) else {
        return Verdict::Some;
    };
    let holds = match op {
        CompareOp::Lt => order == Ordering::Less,
        CompareOp::LtEq => order != Ordering::Greater,
        CompareOp::Gt => order == Ordering::Greater,
        CompareOp::GtEq => order != Ordering::Less,
        CompareOp::Eq | CompareOp::StartsWith => order == Ordering::Equal,
        CompareOp::NotEq | CompareOp::NotStartsWith => order != Ordering::Equal,
    };
    if holds { Verdict::All } else { Verdict::None }
}

/// The order of two values; `None` where engines disagree or the value is not of the type.
fn certain_order(value: &Value, literal: &Value, ty: &PrimitiveType) -> Option<Ordering> {
    if let (Some(a), Some(b)) = (as_double(value), as_double(literal)) {
        // Zeros of either sign may share a partition.
        return a.partial_cmp(&b).filter(|_| !(a == 0.0 && b == 0.0));
    }
    let same_kind = match (value, literal) {
        // A date stands in the tuple of a file written before the column became a timestamp.
        (Value::Int(_), Value::Long(_)) => *ty == PrimitiveType::Long,
        (a, b) => std::mem::discriminant(a) == std::mem::discriminant(b),
    };
    same_kind.then(|| value_order::compare(value, literal, ty))
}

fn as_double(value: &Value) -> Option<f64> {
    match value {
        Value::Float(v) => Some(f64::from(*v)),
        Value::Double(v) => Some(*v),
        _ => None,
    }
}

fn is_nan(value: &Value) -> bool {
    as_double(value).is_some_and(f64::is_nan)
}
