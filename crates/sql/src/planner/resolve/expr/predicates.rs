//! Conditions that are written in a way DataFusion's planner reads differently.

use sqlparser::ast::{BinaryOperator, Expr, Value, ValueWithSpan};
use tarn_format::{Error, Result};

use super::take;
use crate::planner::resolve::builders::{all, binary, text};
use crate::planner::resolve::subqueries::negated as negate_if;

/// `x BETWEEN a AND b` as two comparisons, which have Spark's coercion.
pub(in crate::planner::resolve) fn between(value: &mut Expr, negated: bool, low: Expr, high: Expr) -> Expr {
    let value = take(value);
    let above = binary(value.clone(), BinaryOperator::GtEq, low);
    let below = binary(value, BinaryOperator::LtEq, high);
    negate_if(negated, all([above, below]))
}

/// `(a, b) IN ((1, 2), (3, 4))` as comparisons.
pub(in crate::planner::resolve) fn tuple_in_list(value: &mut Expr, list: &mut [Expr]) -> Option<Expr> {
    let Expr::Tuple(columns) = value else { return None };
    let rows: Option<Vec<&Vec<Expr>>> = list
        .iter()
        .map(|row| match row {
            Expr::Tuple(values) if values.len() == columns.len() => Some(values),
            _ => None,
        })
        .collect();
    let any = rows?
        .into_iter()
        .map(|row| {
            let pairs = columns.iter().zip(row);
            all(pairs.map(|(c, v)| binary(c.clone(), BinaryOperator::Eq, v.clone())))
        })
        .map(|e| Expr::Nested(Box::new(e)))
        .reduce(|a, b| binary(a, BinaryOperator::Or, b))?;
    Some(Expr::Nested(Box::new(any)))
}

/// LIKE … ESCAPE '!' as a pattern in which the backslash escapes, as it does without ESCAPE.
pub(in crate::planner::resolve) fn with_backslash_escape(
    pattern: &mut Expr,
    escape: &mut Option<ValueWithSpan>,
) -> Result<()> {
    let Some(written) = escape.take() else {
        return Ok(());
    };
    let (Value::SingleQuotedString(character) | Value::DoubleQuotedString(character)) = &written.value else {
        return Err(Error::invalid(format!("ESCAPE {written} is no character")));
    };
    let mut characters = character.chars();
    let (Some(own), None) = (characters.next(), characters.next()) else {
        return Err(Error::invalid(format!("ESCAPE takes one character, not '{character}'")));
    };
    let Expr::Value(ValueWithSpan {
        value: Value::SingleQuotedString(written) | Value::DoubleQuotedString(written),
        ..
    }) = pattern
    else {
        return Err(Error::unsupported("LIKE with ESCAPE needs a constant pattern"));
    };
    let mut escaped = String::with_capacity(written.len());
    let mut characters = written.chars();
    while let Some(c) = characters.next() {
        if c == own {
            escaped.push('\\');
            escaped.extend(characters.next());
        } else if c == '\\' {
            escaped.push_str("\\\\");
        } else {
            escaped.push(c);
        }
    }
    *pattern = text(escaped);
    Ok(())
}
