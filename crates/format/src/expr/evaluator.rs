//! A predicate evaluated on one row: the reference that everything else must agree with.
//!
//! SQL's three-valued logic, with [`crate::spec::value_order`] as the order of values. A bound predicate has no NOT,
//! so unknown can be treated as false at every node.

use std::cmp::Ordering;

use super::bound::{BoundPredicate, BoundTerm};
use super::predicate::{CompareOp, SetOp, UnaryOp};
use crate::error::Result;
use crate::spec::types::{FieldId, PrimitiveType, Type};
use crate::spec::value::Value;
use crate::spec::value_order;

/// Whether the row matches. `column` gives the value of a term's column, `None` for null.
///
/// # Errors
/// `InvalidInput` when a value is not of its column's type.
pub fn evaluate(predicate: &BoundPredicate, column: &impl Fn(&BoundTerm) -> Option<Value>) -> Result<bool> {
    match predicate {
        BoundPredicate::AlwaysTrue => Ok(true),
        BoundPredicate::AlwaysFalse => Ok(false),
        BoundPredicate::And(children) => {
            for child in children {
                if !evaluate(child, column)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        BoundPredicate::Or(children) => {
            for child in children {
                if evaluate(child, column)? {
                    return Ok(true);
                }
            }
            Ok(false)
        }
        BoundPredicate::Unary(op, term) => {
            let value = term_value(term, column)?;
            let nan = matches!(&value, Some(Value::Float(v)) if v.is_nan())
                || matches!(&value, Some(Value::Double(v)) if v.is_nan());
            Ok(match op {
                UnaryOp::IsNull => value.is_none(),
                UnaryOp::NotNull => value.is_some(),
                UnaryOp::IsNan => nan,
                UnaryOp::NotNan => !nan,
            })
        }
        BoundPredicate::Compare(op, term, literal) => Ok(match term_value(term, column)? {
            Some(value) => compare(*op, &value, literal, &term.result_type),
            None => false,
        }),
        BoundPredicate::Set(op, term, literals) => Ok(match term_value(term, column)? {
            Some(value) => {
                let order = |l: &Value| value_order::compare(l, &value, &term.result_type);
                literals.binary_search_by(order).is_ok() == (*op == SetOp::In)
            }
            None => false,
        }),
    }
}

fn term_value(term: &BoundTerm, column: &impl Fn(&BoundTerm) -> Option<Value>) -> Result<Option<Value>> {
    let value = column(term);
    match (&term.transform, &term.source_type) {
        (Some(transform), Type::Primitive(source)) => transform.apply(value.as_ref(), source),
        _ => Ok(value),
    }
}

fn compare(op: CompareOp, value: &Value, literal: &Value, ty: &PrimitiveType) -> bool {
    let order = || value_order::compare(value, literal, ty);
    match op {
        CompareOp::Lt => order() == Ordering::Less,
        CompareOp::LtEq => order() != Ordering::Greater,
        CompareOp::Gt => order() == Ordering::Greater,
        CompareOp::GtEq => order() != Ordering::Less,
        CompareOp::Eq => order() == Ordering::Equal,
        CompareOp::NotEq => order() != Ordering::Equal,
        CompareOp::StartsWith => begins(value, literal),
        CompareOp::NotStartsWith => !begins(value, literal),
    }
}

fn begins(value: &Value, prefix: &Value) -> bool {
    matches!((value, prefix), (Value::String(v), Value::String(p)) if v.starts_with(p.as_ref()))
}

/// The value at `path` (field ids from the outermost struct inwards) of a row given as a struct.
///
/// A null struct has null fields.
pub fn value_at<'a>(row: &'a [(FieldId, Option<Value>)], path: &[FieldId]) -> Option<&'a Value> {
    let (first, rest) = path.split_first()?;
    let value = row.iter().find(|(id, _)| id == first)?.1.as_ref()?;
    match (rest.is_empty(), value) {
        (true, value) => Some(value),
        (false, Value::Struct(fields)) => value_at(fields, rest),
        (false, _) => None,
    }
}
