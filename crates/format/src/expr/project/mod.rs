//! Projects predicates over columns to predicates over the partition fields of a spec (Java `Projections`).
//!
//! - The [`inclusive`] projection holds for every partition that has a matching row: use it to skip.
//! - The [`strict`] projection holds only for partitions whose rows all match: use it to take files whole.
//!
//! Transforms that are unknown, void, of several columns, or of a type they do not take say nothing.

mod bucket;
mod identity;
mod time;
mod truncate_number;
mod truncate_text;

use std::sync::Arc;

use super::bound::{BoundPredicate, BoundTerm, BoundTermRef};
use super::predicate::{CompareOp, SetOp, UnaryOp};
use crate::spec::partition::{PartitionField, PartitionSpec};
use crate::spec::schema::Schema;
use crate::spec::types::{PrimitiveType, Type};
use crate::spec::value::Value;
use crate::transform::Transform;

/// What every partition with a matching row satisfies. `schema` is the one that `predicate` is bound to.
pub fn inclusive(predicate: &BoundPredicate, spec: &PartitionSpec, schema: &Schema) -> BoundPredicate {
    let of = |child: &BoundPredicate| inclusive(child, spec, schema);
    match predicate {
        BoundPredicate::AlwaysTrue | BoundPredicate::AlwaysFalse => predicate.clone(),
        BoundPredicate::And(children) => BoundPredicate::and(children.iter().map(of)),
        BoundPredicate::Or(children) => BoundPredicate::or(children.iter().map(of)),
        // Every field of the source says something true, so all of it is.
        leaf => BoundPredicate::and(fields_of(leaf, spec, schema).filter_map(|f| project(leaf, f, Kind::Inclusive))),
    }
}

/// What only partitions whose rows all match satisfy. `schema` is the one that `predicate` is bound to.
pub fn strict(predicate: &BoundPredicate, spec: &PartitionSpec, schema: &Schema) -> BoundPredicate {
    let of = |child: &BoundPredicate| strict(child, spec, schema);
    match predicate {
        BoundPredicate::AlwaysTrue | BoundPredicate::AlwaysFalse => predicate.clone(),
        BoundPredicate::And(children) => BoundPredicate::and(children.iter().map(of)),
        BoundPredicate::Or(children) => BoundPredicate::or(children.iter().map(of)),
        // Any field of the source may prove it.
        leaf => BoundPredicate::or(fields_of(leaf, spec, schema).filter_map(|f| project(leaf, f, Kind::Strict))),
    }
}

/// The partition fields of the column of `leaf`.
pub(super) fn fields_of<'a>(
    leaf: &BoundPredicate,
    spec: &'a PartitionSpec,
    schema: &Schema,
) -> impl Iterator<Item = &'a PartitionField> + use<'a> {
    let column = leaf
        .term()
        .map(|t| t.field_id)
        .filter(|id| schema.field_by_id(*id).is_some());
    spec.fields
        .iter()
        .filter(move |f| column.is_some() && f.source_id() == column)
}

/// Which projection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Inclusive,
    Strict,
}

/// The projection of one leaf through one field of its column; `None` when the field says nothing.
pub(super) fn project(leaf: &BoundPredicate, field: &PartitionField, kind: Kind) -> Option<BoundPredicate> {
    let term = leaf.term()?;
    let Type::Primitive(source) = &term.source_type else {
        return None;
    };
    if matches!(field.transform, Transform::Void | Transform::Unknown(_)) {
        return None;
    }
    let target = Target {
        term: partition_term(field, source)?,
        transform: &field.transform,
        source,
    };
    match &term.transform {
        Some(transform) if *transform == field.transform => {
            let renamed = target.with_term(leaf)?;
            Some(time::fix(renamed, &target, kind))
        }
        Some(_) => None,
        None => target.project(leaf, kind),
    }
}

/// A partition field as the term of projected predicates.
fn partition_term(field: &PartitionField, source: &PrimitiveType) -> Option<BoundTermRef> {
    let result_type = field.transform.result_type(source).ok()?;
    Some(Arc::new(BoundTerm {
        field_id: field.field_id,
        name: Arc::from(field.name.as_str()),
        path: Arc::from([field.field_id]),
        source_type: Type::Primitive(result_type.clone()),
        transform: None,
        result_type,
        nullable: true,
        optional_holder: false,
    }))
}

/// The partition field that a leaf is projected to.
struct Target<'a> {
    term: BoundTermRef,
    transform: &'a Transform,
    /// The type of the column.
    source: &'a PrimitiveType,
}

impl Target<'_> {
    fn project(&self, leaf: &BoundPredicate, kind: Kind) -> Option<BoundPredicate> {
        match leaf {
            // A transformed value is null exactly when its source is.
            BoundPredicate::Unary(UnaryOp::IsNull | UnaryOp::NotNull, _) => return self.with_term(leaf),
            BoundPredicate::Unary(..) if *self.transform != Transform::Identity => return None,
            _ => {}
        }
        match self.transform {
            Transform::Identity => identity::project(self, leaf),
            Transform::Bucket(_) => bucket::project(self, leaf, kind),
            Transform::Truncate(width) => match self.source {
                PrimitiveType::String | PrimitiveType::Binary => truncate_text::project(self, *width, leaf, kind),
                _ => truncate_number::project(self, *width, leaf, kind),
            },
            Transform::Year | Transform::Month | Transform::Day | Transform::Hour => time::project(self, leaf, kind),
            Transform::Void | Transform::Unknown(_) => None,
        }
    }

    /// The leaf about the partition field instead of its own term.
    fn with_term(&self, leaf: &BoundPredicate) -> Option<BoundPredicate> {
        let term = || Arc::clone(&self.term);
        match leaf {
            BoundPredicate::Unary(op, _) => Some(BoundPredicate::Unary(*op, term())),
            BoundPredicate::Compare(op, _, literal) => Some(BoundPredicate::Compare(*op, term(), literal.clone())),
            BoundPredicate::Set(op, _, literals) => Some(BoundPredicate::Set(*op, term(), Arc::clone(literals))),
            _ => None,
        }
    }

    fn compare(&self, op: CompareOp, literal: Value) -> Option<BoundPredicate> {
        Some(BoundPredicate::Compare(op, Arc::clone(&self.term), literal))
    }

    fn set(&self, op: SetOp, literals: Vec<Value>) -> Option<BoundPredicate> {
        Some(BoundPredicate::set(op, Arc::clone(&self.term), literals))
    }

    fn not_null(&self) -> Option<BoundPredicate> {
        Some(BoundPredicate::Unary(UnaryOp::NotNull, Arc::clone(&self.term)))
    }

    /// The transformed literal.
    fn apply(&self, literal: &Value) -> Option<Value> {
        self.transform.apply(Some(literal), self.source).ok().flatten()
    }

    /// The transformed literals.
    fn apply_all(&self, literals: &[Value]) -> Option<Vec<Value>> {
        literals.iter().map(|l| self.apply(l)).collect()
    }
}

/// The literal one step of its type up or down; `None` past the end of the type or for a type without steps.
fn step(literal: &Value, by: i8) -> Option<Value> {
    match literal {
        Value::Int(v) => v.checked_add(i32::from(by)).map(Value::Int),
        Value::Long(v) => v.checked_add(i64::from(by)).map(Value::Long),
        Value::Decimal(v) => v.checked_add(i128::from(by)).map(Value::Decimal),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
