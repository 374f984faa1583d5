//! The leaves of a predicate, ready to be asked: which domain compares their values.

use super::bound::{BoundPredicate, BoundTerm};
use super::column_domain::{BytesForm, Domain, LongForm, Real, UuidHalf, bytes_of, long_of, real_of, uuid_half_of};
use super::column_test::{Column, FieldStats, Question, ValueOp, ValueTest};
use super::predicate::UnaryOp;
use crate::spec::types::{PrimitiveType, Type};
use crate::spec::value::Value;
use crate::transform::Transform;

/// A leaf, ready to be evaluated.
#[derive(Debug, Clone)]
pub(super) struct Leaf {
    pub(super) column: Column,
    pub(super) kind: LeafKind,
}

#[derive(Debug, Clone)]
pub(super) enum LeafKind {
    Unary(UnaryOp),
    Long(ValueTest<i64>),
    Real(ValueTest<Real>),
    Decimal(ValueTest<i128>),
    Bytes(ValueTest<Vec<u8>>),
    Uuid(ValueTest<UuidHalf>),
    /// Nothing can be said.
    Opaque,
}

impl Leaf {
    /// Prepares a leaf; `None` when `predicate` is not one.
    pub(super) fn new(predicate: &BoundPredicate) -> Option<Leaf> {
        let term = predicate.term()?;
        let column = Column {
            field_id: term.field_id,
            never_null: !term.nullable,
            optional_holder: term.optional_holder,
            floating: matches!(term.result_type, PrimitiveType::Float | PrimitiveType::Double),
        };
        let kind = match predicate {
            BoundPredicate::Unary(op, _) => unary_kind(*op, term),
            BoundPredicate::Compare(op, _, literal) => {
                value_kind(ValueOp::Compare(*op), term, std::slice::from_ref(literal))
            }
            BoundPredicate::Set(op, _, literals) => value_kind(ValueOp::Set(*op), term, literals),
            _ => None,
        };
        Some(Leaf {
            column,
            kind: kind.unwrap_or(LeafKind::Opaque),
        })
    }

    /// The answer for one set of statistics.
    pub(super) fn ask<Q: Question, S: FieldStats>(&self, stats: &S) -> bool {
        match &self.kind {
            LeafKind::Unary(op) => Q::ask_unary(*op, &self.column, stats),
            LeafKind::Long(test) => Q::ask(test, &self.column, stats),
            LeafKind::Real(test) => Q::ask(test, &self.column, stats),
            LeafKind::Decimal(test) => Q::ask(test, &self.column, stats),
            LeafKind::Bytes(test) => Q::ask(test, &self.column, stats),
            LeafKind::Uuid(test) => Q::ask(test, &self.column, stats),
            LeafKind::Opaque => Q::UNKNOWN,
        }
    }
}

/// Transforms of this crate give null exactly for null, so null counts hold for their terms too.
fn unary_kind(op: UnaryOp, term: &BoundTerm) -> Option<LeafKind> {
    match term.transform {
        Some(Transform::Void | Transform::Unknown(_)) => None,
        _ => Some(LeafKind::Unary(op)),
    }
}

/// `None` where bounds say nothing: types without order, transforms that do not keep it, NaN literals.
fn value_kind(op: ValueOp, term: &BoundTerm, literals: &[Value]) -> Option<LeafKind> {
    use PrimitiveType as T;
    const DAY_MICROS: i64 = 86_400_000_000;
    let Type::Primitive(source) = &term.source_type else {
        return None;
    };
    let transform = match (&term.transform, source) {
        // The smallest integers wrap around to a large result, so the bounds of the column bound nothing.
        (Some(Transform::Truncate(_)), T::Int | T::Long) => return None,
        (Some(transform), _) if !transform.preserves_order() => return None,
        (other, _) => other.clone(),
    };
    let long = |form: LongForm| {
        let form = match transform.clone() {
            Some(transform) => LongForm::Transformed(transform, source.clone()),
            None => form,
        };
        Some(LeafKind::Long(value_test(op, literals, form, long_of)?))
    };
    let bytes = |form| Some(LeafKind::Bytes(value_test(op, literals, form, bytes_of)?));
    match source {
        T::Boolean => long(LongForm::Boolean),
        T::Int | T::Date => long(LongForm::Int),
        T::Long => long(LongForm::Long { int_unit: Some(1) }),
        T::Timestamp => long(LongForm::Long {
            int_unit: Some(DAY_MICROS),
        }),
        T::TimestampNs => long(LongForm::Long {
            int_unit: Some(DAY_MICROS * 1000),
        }),
        T::Time | T::Timestamptz | T::TimestamptzNs => long(LongForm::Long { int_unit: None }),
        T::Float | T::Double => Some(LeafKind::Real(value_test(op, literals, (), real_of)?)),
        T::Decimal { .. } => {
            let form = transform.map(|t| (t, source.clone()));
            let decimal = |v: &Value| match v {
                Value::Decimal(v) => Some(*v),
                _ => None,
            };
            Some(LeafKind::Decimal(value_test(op, literals, form, decimal)?))
        }
        T::String => bytes(match transform {
            Some(Transform::Truncate(width)) => BytesForm::TruncatedText(width),
            _ => BytesForm::Text,
        }),
        T::Binary | T::Fixed(_) => bytes(match transform {
            Some(Transform::Truncate(width)) => BytesForm::TruncatedBinary(width),
            _ => BytesForm::Binary,
        }),
        T::Uuid => Some(LeafKind::Uuid(value_test(op, literals, (), uuid_half_of)?)),
        T::Unknown | T::Geometry { .. } | T::Geography { .. } => None,
    }
}

fn value_test<V: Domain>(
    op: ValueOp,
    literals: &[Value],
    form: V::Form,
    take: impl Fn(&Value) -> Option<V>,
) -> Option<ValueTest<V>> {
    let literals = literals.iter().map(take).collect::<Option<Vec<V>>>()?;
    Some(ValueTest { op, literals, form })
}
