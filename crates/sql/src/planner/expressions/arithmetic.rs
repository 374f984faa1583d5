//! `+`, `-`, `*`, `/`, `%` and `div`: which types they work on, and the types of their results.

use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, TimeUnit};
use datafusion::common::{DFSchema, ScalarValue};
use datafusion::error::Result;
use datafusion::functions::core::expr_fn::nullif;
use datafusion::logical_expr::planner::{PlannerResult, RawBinaryExpr};
use datafusion::logical_expr::{BinaryExpr, Cast, Expr, Operator, lit};
use sqlparser::ast::BinaryOperator;

use super::Typed;
use crate::functions::{DecimalOp, decimal_arithmetic};
use crate::planner::coercion::{as_decimal, is_decimal, is_text};

/// Most digits of a decimal.
const MAX_DIGITS: i16 = 38;

/// A planned operation.
pub(super) fn planned(left: Expr, op: Operator, right: Expr) -> PlannerResult<RawBinaryExpr> {
    PlannerResult::Planned(Expr::BinaryExpr(BinaryExpr::new(Box::new(left), op, Box::new(right))))
}

/// `x div y`: whole numbers; by zero NULL.
pub(super) fn whole_division(typed: Typed, schema: &DFSchema) -> Result<PlannerResult<RawBinaryExpr>> {
    let both = typed.cast_both(&DataType::Int64, &DataType::Int64, schema)?;
    let right = non_zero(both.right, &DataType::Int64)?;
    Ok(planned(both.left, Operator::Divide, right))
}

/// `x % y`; by zero NULL.
pub(super) fn modulo(typed: Typed, schema: &DFSchema) -> Result<PlannerResult<RawBinaryExpr>> {
    let typed = numbers(typed, schema)?;
    if !typed.right_type.is_numeric() {
        return Ok(typed.original(BinaryOperator::Modulo));
    }
    let typed = match exact_pair(&typed) {
        Some((left, right)) => typed.cast_both(&left, &right, schema)?,
        None => typed,
    };
    let right = non_zero(typed.right, &typed.right_type)?;
    Ok(planned(typed.left, Operator::Modulo, right))
}

/// `x + y`, `x - y`, `x * y` of numbers.
pub(super) fn sum_or_product(
    op: BinaryOperator,
    typed: Typed,
    schema: &DFSchema,
) -> Result<PlannerResult<RawBinaryExpr>> {
    let typed = numbers(typed, schema)?;
    let decimal_op = match op {
        BinaryOperator::Plus => DecimalOp::Add,
        BinaryOperator::Minus => DecimalOp::Subtract,
        BinaryOperator::Multiply => DecimalOp::Multiply,
        op => return Ok(typed.original(op)),
    };
    let Some((left, right)) = exact_pair(&typed) else {
        return Ok(typed.original(op));
    };
    let typed = typed.cast_both(&left, &right, schema)?;
    let fits = match (as_decimal(&left), as_decimal(&right)) {
        (Some(l), Some(r)) => decimal_op.exact_precision(l, r).0 <= MAX_DIGITS,
        _ => true,
    };
    if fits {
        // DataFusion's operators give the same type, and every result fits it.
        return Ok(typed.original(op));
    }
    let result = decimal_arithmetic(decimal_op, typed.left, typed.right);
    Ok(PlannerResult::Planned(result))
}

/// `date ± days` and `text ± interval`; everything else is a sum of numbers.
pub(super) fn plus_or_minus(
    op: BinaryOperator,
    typed: Typed,
    time_zone: &Arc<str>,
    schema: &DFSchema,
) -> Result<PlannerResult<RawBinaryExpr>> {
    let operator = match op {
        BinaryOperator::Plus => Operator::Plus,
        _ => Operator::Minus,
    };
    let date = DataType::Date32;
    if typed.left_type == date && typed.right_type.is_integer() {
        return Ok(PlannerResult::Planned(day_shifted(typed.left, operator, typed.right)));
    }
    if typed.right_type == date && typed.left_type.is_integer() && op == BinaryOperator::Plus {
        return Ok(PlannerResult::Planned(day_shifted(typed.right, operator, typed.left)));
    }
    let is_interval = |t: &DataType| matches!(t, DataType::Interval(_));
    if is_text(&typed.left_type) && is_interval(&typed.right_type) {
        let zone = DataType::Timestamp(TimeUnit::Microsecond, Some(Arc::clone(time_zone)));
        let right = typed.right_type.clone();
        return Ok(typed.cast_both(&zone, &right, schema)?.original(op));
    }
    if typed.left_type == date && has_time(&typed.right) {
        let zone = DataType::Timestamp(TimeUnit::Microsecond, Some(Arc::clone(time_zone)));
        let right = typed.right_type.clone();
        return Ok(typed.cast_both(&zone, &right, schema)?.original(op));
    }
    sum_or_product(op, typed, schema)
}

/// Whether an interval is written with hours or less.
fn has_time(interval: &Expr) -> bool {
    match interval {
        Expr::Literal(ScalarValue::IntervalMonthDayNano(Some(v)), _) => v.nanoseconds != 0,
        Expr::Literal(ScalarValue::IntervalDayTime(Some(v)), _) => v.milliseconds != 0,
        _ => false,
    }
}

fn day_shifted(day: Expr, operator: Operator, count: Expr) -> Expr {
    let number = |e: Expr| Box::new(Expr::Cast(Cast::new(Box::new(e), DataType::Int32)));
    let sum = BinaryExpr::new(number(day), operator, number(count));
    Expr::Cast(Cast::new(Box::new(Expr::BinaryExpr(sum)), DataType::Date32))
}

/// `/` is a division of doubles or decimals; by zero it is NULL.
pub(super) fn divide(typed: Typed, schema: &DFSchema) -> Result<PlannerResult<RawBinaryExpr>> {
    let typed = numbers(typed, schema)?;
    let (left, right) = (&typed.left_type, &typed.right_type);
    let divisible = |t: &DataType| t.is_numeric() || t.is_null();
    if !divisible(left) || !divisible(right) {
        return Ok(typed.original(BinaryOperator::Divide));
    }
    if let Some((left, right)) = exact_pair(&typed) {
        let both = typed.cast_both(&left, &right, schema)?;
        let quotient = decimal_arithmetic(DecimalOp::Divide, both.left, both.right);
        return Ok(PlannerResult::Planned(quotient));
    }
    let both = typed.cast_both(&DataType::Float64, &DataType::Float64, schema)?;
    let right = non_zero(both.right, &DataType::Float64)?;
    Ok(planned(both.left, Operator::Divide, right))
}

/// The decimal types of two numbers of which one is a decimal and none a float. A whole number that is written out has
/// the digits it is written with.
fn exact_pair(typed: &Typed) -> Option<(DataType, DataType)> {
    if !is_decimal(&typed.left_type) && !is_decimal(&typed.right_type) {
        return None;
    }
    let decimal = |e: &Expr, t: &DataType| {
        let (digits, scale) = literal_digits(e).or_else(|| as_decimal(t))?;
        Some(DataType::Decimal128(digits, scale))
    };
    Some((
        decimal(&typed.left, &typed.left_type)?,
        decimal(&typed.right, &typed.right_type)?,
    ))
}

fn literal_digits(e: &Expr) -> Option<(u8, i8)> {
    let Expr::Literal(value, _) = e else { return None };
    if !value.data_type().is_integer() {
        return None;
    }
    match value.cast_to(&DataType::Int64) {
        Ok(ScalarValue::Int64(Some(v))) => {
            let digits = v.unsigned_abs().to_string().len();
            Some((u8::try_from(digits).ok()?, 0))
        }
        _ => None,
    }
}

/// A decimal beside a double or float is a double: DataFusion would make both decimal, which has no NaN.
pub(super) fn double_of(left: &DataType, right: &DataType) -> Option<DataType> {
    let mixed = (is_decimal(left) && right.is_floating()) || (left.is_floating() && is_decimal(right));
    mixed.then_some(DataType::Float64)
}

/// Text in arithmetic is a double.
fn numbers(typed: Typed, schema: &DFSchema) -> Result<Typed> {
    let number = |t: &DataType| if is_text(t) { DataType::Float64 } else { t.clone() };
    let (left, right) = (number(&typed.left_type), number(&typed.right_type));
    let typed = typed.cast_both(&left, &right, schema)?;
    match double_of(&typed.left_type, &typed.right_type) {
        Some(double) => typed.cast_both(&double, &double, schema),
        None => Ok(typed),
    }
}

/// `-x`; the least whole number is its own negative.
pub(super) fn negate(value: Expr, value_type: &DataType, schema: &DFSchema) -> Result<Expr> {
    if is_text(value_type) {
        let double = crate::planner::casts::cast(
            value,
            &DataType::Float64,
            crate::planner::casts::OnBadInput::Spark,
            schema,
        )?;
        return Ok(Expr::Negative(Box::new(double)));
    }
    if !value_type.is_signed_integer() {
        return Ok(Expr::Negative(Box::new(value)));
    }
    let zero = Expr::Literal(ScalarValue::new_zero(value_type)?, None);
    Ok(Expr::BinaryExpr(BinaryExpr::new(
        Box::new(zero),
        Operator::Minus,
        Box::new(value),
    )))
}

fn non_zero(divisor: Expr, data_type: &DataType) -> Result<Expr> {
    let zero = ScalarValue::new_zero(data_type)?;
    if let Expr::Literal(value, _) = &divisor
        && *value != zero
    {
        return Ok(divisor);
    }
    if let Expr::Cast(cast) = &divisor
        && let Expr::Literal(value, _) = cast.expr.as_ref()
        && value.cast_to(data_type).is_ok_and(|v| v != zero)
    {
        return Ok(divisor);
    }
    if data_type.is_floating() {
        // Both zeros are zero.
        let is_zero = divisor.clone().eq(lit(0.0_f64)).or(divisor.clone().eq(lit(-0.0_f64)));
        let null = Expr::Literal(ScalarValue::try_new_null(data_type)?, None);
        return datafusion::logical_expr::when(is_zero, null).otherwise(divisor);
    }
    Ok(nullif(divisor, Expr::Literal(zero, None)))
}
