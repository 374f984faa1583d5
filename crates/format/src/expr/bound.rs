//! Predicates bound to the fields of a schema or of a partition tuple.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::sync::Arc;

use super::predicate::{CompareOp, SetOp, UnaryOp};
use crate::spec::types::{FieldId, PrimitiveType, Type};
use crate::spec::value::Value;
use crate::spec::value_order;
use crate::transform::Transform;

/// A field, or a transform of it.
#[derive(Debug, Clone, PartialEq)]
pub struct BoundTerm {
    /// The field: a column, or in a projected predicate a partition field.
    pub field_id: FieldId,
    /// Its full name.
    pub name: Arc<str>,
    /// Ids of the structs that hold it, outermost first, and its own id.
    pub path: Arc<[FieldId]>,
    /// The field's type.
    pub source_type: Type,
    /// The transform; `None` is the field itself.
    pub transform: Option<Transform>,
    /// The type of the term's values; `unknown` when the field is nested or variant, which is only compared with null.
    pub result_type: PrimitiveType,
    /// Whether the term may be null: the field or a struct that holds it is optional.
    pub nullable: bool,
    /// Whether a struct that holds the field is optional: counts of nulls may then not count all of them.
    pub optional_holder: bool,
}

/// A shared term.
pub type BoundTermRef = Arc<BoundTerm>;

/// A predicate over fields. It has no NOT: binding pushes it to the leaves.
///
/// Literals have the physical form of the term's result type. Sets are sorted, without duplicates, and hold at
/// least two literals. Conjunctions and disjunctions hold at least two children and no constants.
#[derive(Debug, Clone, PartialEq)]
pub enum BoundPredicate {
    /// Matches every row.
    AlwaysTrue,
    /// Matches no row.
    AlwaysFalse,
    /// All of these.
    And(Vec<BoundPredicate>),
    /// Any of these.
    Or(Vec<BoundPredicate>),
    /// An operator without operand.
    Unary(UnaryOp, BoundTermRef),
    /// A comparison with a literal.
    Compare(CompareOp, BoundTermRef, Value),
    /// Membership in a set of literals.
    Set(SetOp, BoundTermRef, Arc<[Value]>),
}

impl BoundPredicate {
    /// All of `children`, with constants folded and nested conjunctions flattened.
    pub fn and(children: impl IntoIterator<Item = BoundPredicate>) -> Self {
        let mut all = Vec::new();
        for child in children {
            match child {
                BoundPredicate::AlwaysTrue => {}
                BoundPredicate::AlwaysFalse => return BoundPredicate::AlwaysFalse,
                BoundPredicate::And(more) => all.extend(more),
                other => all.push(other),
            }
        }
        match all.len() {
            0 => BoundPredicate::AlwaysTrue,
            1 => all.remove(0),
            _ => BoundPredicate::And(all),
        }
    }

    /// Any of `children`, with constants folded and nested disjunctions flattened.
    pub fn or(children: impl IntoIterator<Item = BoundPredicate>) -> Self {
        let mut any = Vec::new();
        for child in children {
            match child {
                BoundPredicate::AlwaysFalse => {}
                BoundPredicate::AlwaysTrue => return BoundPredicate::AlwaysTrue,
                BoundPredicate::Or(more) => any.extend(more),
                other => any.push(other),
            }
        }
        match any.len() {
            0 => BoundPredicate::AlwaysFalse,
            1 => any.remove(0),
            _ => BoundPredicate::Or(any),
        }
    }

    /// An operator without operand, folded where the term can't be null.
    pub fn unary(op: UnaryOp, term: BoundTermRef) -> Self {
        match op {
            UnaryOp::IsNull if !term.nullable => BoundPredicate::AlwaysFalse,
            UnaryOp::NotNull if !term.nullable => BoundPredicate::AlwaysTrue,
            _ => BoundPredicate::Unary(op, term),
        }
    }

    /// Membership in `literals`: sorted, without duplicates; one literal is an (in)equality, none a constant.
    pub fn set(op: SetOp, term: BoundTermRef, mut literals: Vec<Value>) -> Self {
        let order = |a: &Value, b: &Value| value_order::compare(a, b, &term.result_type);
        literals.sort_by(order);
        literals.dedup_by(|a, b| order(a, b) == Ordering::Equal);
        match (op, literals.len()) {
            (SetOp::In, 0) => BoundPredicate::AlwaysFalse,
            // `n NOT IN ()` is true even for null.
            (SetOp::NotIn, 0) => BoundPredicate::AlwaysTrue,
            (SetOp::In, 1) => BoundPredicate::Compare(CompareOp::Eq, term, literals.remove(0)),
            (SetOp::NotIn, 1) => BoundPredicate::Compare(CompareOp::NotEq, term, literals.remove(0)),
            _ => BoundPredicate::Set(op, term, literals.into()),
        }
    }

    /// The term of a leaf.
    pub fn term(&self) -> Option<&BoundTermRef> {
        match self {
            BoundPredicate::Unary(_, term) | BoundPredicate::Compare(_, term, _) | BoundPredicate::Set(_, term, _) => {
                Some(term)
            }
            _ => None,
        }
    }

    /// The fields it is about, ascending: those whose metrics an evaluation needs.
    pub fn field_ids(&self) -> Vec<FieldId> {
        let mut ids = BTreeSet::new();
        let mut pending = vec![self];
        while let Some(predicate) = pending.pop() {
            match predicate {
                BoundPredicate::And(children) | BoundPredicate::Or(children) => pending.extend(children),
                leaf => ids.extend(leaf.term().map(|t| t.field_id)),
            }
        }
        ids.into_iter().collect()
    }
}
