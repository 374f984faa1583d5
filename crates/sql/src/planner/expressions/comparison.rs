//! Comparisons and lists: what values of different types are compared as.

use datafusion::arrow::datatypes::DataType;
use datafusion::common::{DFSchema, ScalarValue, plan_err};
use datafusion::error::Result;
use datafusion::logical_expr::{Expr, ExprSchemable, lit};

use super::Typed;
use super::arithmetic::double_of;
use crate::planner::coercion::{is_decimal, is_nested, is_text, wider};
use crate::planner::variants::holds_variants;

/// Text compared with another type is cast to it: `y = 2024`, `day = DATE '2024-01-01'`.
pub(super) fn comparable(typed: Typed, schema: &DFSchema) -> Result<Typed> {
    let other = |t: &DataType| match t {
        t if is_decimal(t) => Some(DataType::Float64),
        t if t.is_numeric() || *t == DataType::Boolean => Some(t.clone()),
        DataType::Date32 | DataType::Timestamp(..) => Some(t.clone()),
        _ => None,
    };
    let (left, right) = (typed.left_type.clone(), typed.right_type.clone());
    if holds_variants(&left) || holds_variants(&right) {
        return plan_err!(
            "variants cannot be compared: take a part of '{}', as variant_get(v, '$.name', 'string') does",
            if holds_variants(&left) {
                &typed.left
            } else {
                &typed.right
            }
        );
    }
    if is_text(&left)
        && let Some(target) = other(&right)
    {
        return typed.cast_both(&target, &target, schema);
    }
    if is_text(&right)
        && let Some(target) = other(&left)
    {
        return typed.cast_both(&target, &target, schema);
    }
    if let Some(double) = double_of(&left, &right) {
        return typed.cast_both(&double, &double, schema);
    }
    // `flag = 1`
    if left == DataType::Boolean && right.is_numeric() {
        return typed.cast_both(&right, &right, schema);
    }
    if right == DataType::Boolean && left.is_numeric() {
        return typed.cast_both(&left, &left, schema);
    }
    let zoned = |t: &DataType| matches!(t, DataType::Timestamp(_, Some(_)));
    let plain = |t: &DataType| matches!(t, DataType::Timestamp(_, None) | DataType::Date32);
    if zoned(&left) && plain(&right) {
        return typed.cast_both(&left, &left, schema);
    }
    if plain(&left) && zoned(&right) {
        return typed.cast_both(&right, &right, schema);
    }
    if is_nested(&left)
        && is_nested(&right)
        && left != right
        && let Some(both) = wider(&left, &right)
    {
        return typed.cast_both(&both, &both, schema);
    }
    Ok(typed)
}

/// `x IN (a, b)`, each compared as `x = a` would be.
pub(super) fn in_list(value: Expr, list: Expr, schema: &DFSchema) -> Result<Expr> {
    let Expr::ScalarFunction(list) = list else {
        return plan_err!("'{list}' is no list");
    };
    let mut value = value;
    let mut items = Vec::with_capacity(list.args.len());
    for item in list.args {
        let typed = Typed {
            left_type: value.get_type(schema)?,
            left: value,
            right_type: item.get_type(schema)?,
            right: item,
        };
        let typed = comparable(typed, schema)?;
        value = typed.left;
        items.push(typed.right);
    }
    if value.get_type(schema)?.is_floating() && items.iter().any(is_zero) {
        // Lists are looked up by bits, in which the two zeros differ.
        items.extend([lit(0.0_f64), lit(-0.0_f64)]);
    }
    Ok(value.in_list(items, false))
}

/// Whether a constant is zero of any sign.
fn is_zero(item: &Expr) -> bool {
    let constant = match item {
        Expr::Cast(cast) => cast.expr.as_ref(),
        Expr::TryCast(cast) => cast.expr.as_ref(),
        other => other,
    };
    let Expr::Literal(value, _) = constant else {
        return false;
    };
    matches!(value.cast_to(&DataType::Float64), Ok(ScalarValue::Float64(Some(v))) if v == 0.0)
}
