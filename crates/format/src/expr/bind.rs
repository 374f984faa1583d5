//! Binds predicates to a schema: resolves names, converts literals to the column's type, folds constants.
//!
//! A literal stands for exactly the number or time it says. One that the column's type cannot hold is not rounded:
//! `i > 2.5` on an int column becomes `i >= 3`, `i < 10000000000` becomes `i IS NOT NULL` (not "always true" as in
//! Java, because a null does not match).

use std::sync::Arc;

use super::bound::{BoundPredicate, BoundTerm, BoundTermRef};
use super::literal::{Converted, Literal};
use super::predicate::{CompareOp, Predicate, SetOp, Term, UnaryOp};
use crate::error::{Error, Result};
pub use crate::spec::schema::CaseSensitivity;
use crate::spec::schema::Schema;
use crate::spec::types::{FieldId, PrimitiveType, Type};
use crate::transform::Transform;

/// Deeper nesting than any query has; it keeps the recursion within the stack.
const MAX_DEPTH: usize = 256;

/// The spec's limit on the digits of a decimal.
const MAX_DECIMAL_DIGITS: u8 = 38;

impl Predicate {
    /// Binds to the columns of `schema`. NOT is pushed to the leaves and constants are folded.
    ///
    /// # Errors
    /// `InvalidInput` when a column is missing, ambiguous or inside a list or map; when an operator does not apply
    /// to its type; when a literal cannot be compared with it; when the predicate is nested too deep.
    pub fn bind(&self, schema: &Schema, case: CaseSensitivity) -> Result<BoundPredicate> {
        Binder { schema, case }.bind(self, Sense::Plain, 0)
    }
}

/// Whether an odd number of NOTs stands above.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sense {
    Plain,
    Negated,
}

struct Binder<'a> {
    schema: &'a Schema,
    case: CaseSensitivity,
}

impl Binder<'_> {
    fn bind(&self, predicate: &Predicate, sense: Sense, depth: usize) -> Result<BoundPredicate> {
        if depth > MAX_DEPTH {
            return Err(Error::invalid(format!(
                "the predicate is nested deeper than {MAX_DEPTH} levels"
            )));
        }
        let bind_all = |children: &[Predicate]| {
            let bound = children.iter().map(|c| self.bind(c, sense, depth + 1));
            bound.collect::<Result<Vec<_>>>()
        };
        let negated = sense == Sense::Negated;
        match predicate {
            Predicate::AlwaysTrue | Predicate::AlwaysFalse => {
                let holds = (*predicate == Predicate::AlwaysTrue) != negated;
                Ok(if holds {
                    BoundPredicate::AlwaysTrue
                } else {
                    BoundPredicate::AlwaysFalse
                })
            }
            Predicate::Not(child) => {
                let sense = if negated { Sense::Plain } else { Sense::Negated };
                self.bind(child, sense, depth + 1)
            }
            Predicate::And(children) if !negated => Ok(BoundPredicate::and(bind_all(children)?)),
            Predicate::Or(children) if negated => Ok(BoundPredicate::and(bind_all(children)?)),
            Predicate::And(children) | Predicate::Or(children) => Ok(BoundPredicate::or(bind_all(children)?)),
            Predicate::Unary(op, term) => {
                let op = if negated { op.negate() } else { *op };
                bind_unary(op, self.term(term)?)
            }
            Predicate::Compare(op, term, literal) => {
                let op = if negated { op.negate() } else { *op };
                bind_compare(op, self.term(term)?, literal)
            }
            Predicate::Set(op, term, literals) => {
                let op = if negated { op.negate() } else { *op };
                bind_set(op, self.term(term)?, literals)
            }
        }
    }

    fn term(&self, term: &Term) -> Result<BoundTermRef> {
        let name = term.column();
        let field = match self.case {
            CaseSensitivity::Sensitive => self.schema.field_by_name(name),
            CaseSensitivity::Insensitive => self.schema.field_by_name_ignore_case(name)?,
        };
        let field = field.ok_or_else(|| Error::invalid(format!("there is no column '{name}'")))?;
        let transform = match term {
            Term::Transform(transform, _) if *transform != Transform::Identity => Some(transform.clone()),
            _ => None,
        };
        bind_term(self.schema, field.id, transform).map(Arc::new)
    }
}

/// The term of a column by its id.
///
/// # Errors
/// `InvalidInput` when the column is missing, lies in a list or map, or the transform does not take its type;
/// `Unsupported` for an unknown transform.
pub fn bind_term(schema: &Schema, field_id: FieldId, transform: Option<Transform>) -> Result<BoundTerm> {
    let missing = || Error::invalid(format!("there is no column with id {field_id}"));
    let field = schema.field_by_id(field_id).ok_or_else(missing)?;
    let name = schema.full_name(field_id).unwrap_or(&field.name);
    let mut path = vec![field_id];
    let mut optional_holder = false;
    let mut parent = schema.parent_id(field_id);
    while let Some(holder) = parent.and_then(|id| schema.field_by_id(id)) {
        if holder.field_type.as_struct().is_none() {
            return Err(Error::invalid(format!(
                "column '{name}' lies inside a list or map and cannot be filtered by"
            )));
        }
        optional_holder |= !holder.required;
        path.push(holder.id);
        parent = schema.parent_id(holder.id);
    }
    path.reverse();
    let result_type = match (&transform, field.field_type.as_primitive()) {
        (Some(Transform::Unknown(name)), _) => {
            return Err(Error::unsupported(format!(
                "cannot filter by the unknown transform '{name}'"
            )));
        }
        (Some(transform), Some(source)) => transform.result_type(source)?,
        (Some(transform), None) => {
            let message = format!(
                "transform {transform} does not take values of type {}",
                field.field_type
            );
            return Err(Error::invalid(message));
        }
        (None, Some(source)) => source.clone(),
        (None, None) => PrimitiveType::Unknown,
    };
    // Values of type unknown and results of void are null even where the column is required.
    let always_null = is_always_null(&field.field_type, transform.as_ref());
    Ok(BoundTerm {
        field_id,
        name: Arc::from(name),
        path: path.into(),
        source_type: field.field_type.clone(),
        nullable: !field.required || optional_holder || always_null,
        optional_holder,
        transform,
        result_type,
    })
}

fn is_always_null(ty: &Type, transform: Option<&Transform>) -> bool {
    *ty == Type::Primitive(PrimitiveType::Unknown) || transform == Some(&Transform::Void)
}

fn bind_unary(op: UnaryOp, term: BoundTermRef) -> Result<BoundPredicate> {
    let always_null = is_always_null(&term.source_type, term.transform.as_ref());
    match op {
        UnaryOp::IsNull if always_null => Ok(BoundPredicate::AlwaysTrue),
        UnaryOp::NotNull if always_null => Ok(BoundPredicate::AlwaysFalse),
        UnaryOp::IsNull | UnaryOp::NotNull => Ok(BoundPredicate::unary(op, term)),
        UnaryOp::IsNan | UnaryOp::NotNan => match term.result_type {
            PrimitiveType::Float | PrimitiveType::Double => Ok(BoundPredicate::unary(op, term)),
            _ => {
                let message = format!(
                    "'{}' is not a floating-point column: it cannot be tested for NaN",
                    term.name
                );
                Err(Error::invalid(message))
            }
        },
    }
}

fn bind_compare(op: CompareOp, term: BoundTermRef, literal: &Literal) -> Result<BoundPredicate> {
    if is_always_null(&term.source_type, term.transform.as_ref()) {
        return Ok(BoundPredicate::AlwaysFalse);
    }
    let prefix = matches!(op, CompareOp::StartsWith | CompareOp::NotStartsWith);
    if prefix && term.result_type != PrimitiveType::String {
        return Err(Error::invalid(format!(
            "'{}' is not a text column: it has no prefix",
            term.name
        )));
    }
    let not_null = |term| BoundPredicate::unary(UnaryOp::NotNull, term);
    Ok(match (convert(&term, literal)?, op) {
        (Converted::Exact(value), _) => BoundPredicate::Compare(op, term, value),
        (Converted::Between { above: None, .. }, CompareOp::Lt | CompareOp::LtEq) => not_null(term),
        (Converted::Between { below: None, .. }, CompareOp::Gt | CompareOp::GtEq) => not_null(term),
        (Converted::Between { below: Some(value), .. }, CompareOp::Lt | CompareOp::LtEq) => {
            BoundPredicate::Compare(CompareOp::LtEq, term, value)
        }
        (Converted::Between { above: Some(value), .. }, CompareOp::Gt | CompareOp::GtEq) => {
            BoundPredicate::Compare(CompareOp::GtEq, term, value)
        }
        (Converted::Between { .. }, CompareOp::NotEq | CompareOp::NotStartsWith) => not_null(term),
        (Converted::Between { .. }, _) => BoundPredicate::AlwaysFalse,
    })
}

fn bind_set(op: SetOp, term: BoundTermRef, literals: &[Literal]) -> Result<BoundPredicate> {
    if is_always_null(&term.source_type, term.transform.as_ref()) && !literals.is_empty() {
        return Ok(BoundPredicate::AlwaysFalse);
    }
    let mut values = Vec::with_capacity(literals.len());
    for literal in literals {
        if let Converted::Exact(value) = convert(&term, literal)? {
            values.push(value);
        }
    }
    if values.is_empty() && !literals.is_empty() && op == SetOp::NotIn {
        // No literal can be met, yet null still does not match.
        return Ok(BoundPredicate::unary(UnaryOp::NotNull, term));
    }
    Ok(BoundPredicate::set(op, term, values))
}

fn convert(term: &BoundTerm, literal: &Literal) -> Result<Converted> {
    let comparable = match (&term.transform, &term.source_type) {
        (None, Type::Primitive(PrimitiveType::Geometry { .. } | PrimitiveType::Geography { .. })) => false,
        (None, Type::Primitive(_)) | (Some(_), _) => true,
        (None, _) => false,
    };
    if !comparable {
        let message = format!(
            "column '{}' of type {} can only be tested for null",
            term.name, term.source_type
        );
        return Err(Error::invalid(message));
    }
    let ty = match (&term.transform, &term.result_type) {
        // Truncation rounds down, so a negative result may need a digit more than the column has.
        (Some(Transform::Truncate(_)), PrimitiveType::Decimal { scale, .. }) => &PrimitiveType::Decimal {
            precision: MAX_DECIMAL_DIGITS + 1,
            scale: *scale,
        },
        (_, ty) => ty,
    };
    literal
        .convert(ty)
        .map_err(|e| e.with_context("column", term.name.as_ref()))
}

#[cfg(test)]
mod tests;
