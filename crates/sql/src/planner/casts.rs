//! CAST as Spark does it without ANSI mode: text that is no value of the type gives NULL, numbers that are too large
//! wrap around or stop at the largest, and nested values are cast part by part.

use datafusion::arrow::datatypes::{DataType, TimeUnit};
use datafusion::common::{DFSchema, ScalarValue, plan_err};
use datafusion::error::Result;
use datafusion::functions::string::expr_fn::btrim;
use datafusion::logical_expr::{BinaryExpr, Cast, Expr, ExprSchemable, Operator, TryCast, lit};

use tarn_engine::arrow::variant::is_variant_type;

use super::coercion::{is_binary, is_decimal, is_nested, is_text};
use crate::functions::{self, OnMisfit};

/// What a value that does not fit becomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OnBadInput {
    /// What Spark's CAST makes of it.
    Spark,
    /// NULL: try_cast.
    Null,
}

/// Microseconds of a second.
const MICROS: i64 = 1_000_000;

/// The expression as this type.
pub(crate) fn cast(expr: Expr, target: &DataType, on_bad_input: OnBadInput, schema: &DFSchema) -> Result<Expr> {
    let source = expr.get_type(schema)?;
    if source == *target {
        return Ok(expr);
    }
    if source.is_null() {
        return Ok(as_type(expr, target));
    }
    if is_variant_type(target) {
        return Ok(functions::cast_to_variant(expr));
    }
    if is_variant_type(&source) {
        let on_misfit = match on_bad_input {
            OnBadInput::Spark => OnMisfit::Fail,
            OnBadInput::Null => OnMisfit::Null,
        };
        return Ok(functions::cast_from_variant(expr, target, on_misfit));
    }
    if is_nested(&source) {
        return from_nested(expr, &source, target);
    }
    if is_text(&source) {
        return Ok(from_text(expr, target));
    }
    if is_text(target) {
        return Ok(to_text(expr, &source, target));
    }
    if let Some(expr) = numbers_and_times(&expr, &source, target) {
        return Ok(expr);
    }
    if *target == DataType::Boolean && source.is_numeric() {
        let zero = Expr::Literal(ScalarValue::new_zero(&source)?, None);
        return Ok(op(expr, Operator::NotEq, zero));
    }
    if source == DataType::Boolean && is_decimal(target) {
        return Ok(as_type(as_type(expr, &DataType::Int32), target));
    }
    if on_bad_input == OnBadInput::Spark && target.is_signed_integer() {
        if source.is_floating() {
            return Ok(functions::float_to_whole(expr, target));
        }
        if is_decimal(&source) {
            let whole = Expr::TryCast(TryCast::new(Box::new(expr), DataType::Int64));
            return Ok(match bits(target) {
                Some(bits) if bits < 64 => wrap_around(whole, bits, target),
                _ => whole,
            });
        }
        if let Some(bits) = narrowing(&source, target) {
            return Ok(wrap_around(expr, bits, target));
        }
    }
    if widens(&source, target) {
        return Ok(as_type(expr, target));
    }
    Ok(Expr::TryCast(TryCast::new(Box::new(expr), target.clone())))
}

fn from_nested(expr: Expr, source: &DataType, target: &DataType) -> Result<Expr> {
    if is_text(target) {
        return Ok(functions::nested_text(expr));
    }
    if !functions::has_same_shape(source, target) {
        return plan_err!(
            "'{expr}' of type {} cannot be cast to {}",
            functions::type_name(source),
            functions::type_name(target)
        );
    }
    Ok(functions::nested_cast(expr, target))
}

fn to_text(expr: Expr, source: &DataType, target: &DataType) -> Expr {
    match source {
        DataType::Timestamp(..) => functions::timestamp_text(expr),
        DataType::Float32 | DataType::Float64 => functions::float_text(expr),
        source if is_binary(source) => Expr::TryCast(TryCast::new(Box::new(expr), target.clone())),
        _ => as_type(expr, target),
    }
}

fn from_text(expr: Expr, target: &DataType) -> Expr {
    let keeps_space = is_text(target) || is_binary(target) || target.is_null();
    if keeps_space {
        return as_type(expr, target);
    }
    match target {
        DataType::Date32 => return functions::text_to_date(expr),
        DataType::Timestamp(TimeUnit::Microsecond, zone) => return functions::text_to_timestamp(expr, zone.as_ref()),
        DataType::Float64 => return functions::text_to_double(expr),
        DataType::Float32 => return as_type(functions::text_to_double(expr), target),
        target if target.is_signed_integer() => return functions::text_to_whole(expr, target),
        _ => {}
    }
    let trimmed = match expr {
        Expr::Literal(ScalarValue::Utf8(Some(text)), metadata) => {
            Expr::Literal(ScalarValue::Utf8(Some(text.trim().to_string())), metadata)
        }
        expr => btrim(vec![expr]),
    };
    Expr::TryCast(TryCast::new(Box::new(trimmed), target.clone()))
}

/// Seconds since epoch on one side, a timestamp on the other; and times without a zone of those with one.
fn numbers_and_times(expr: &Expr, source: &DataType, target: &DataType) -> Option<Expr> {
    let micros = DataType::Timestamp(TimeUnit::Microsecond, None);
    match (source, target) {
        (DataType::Timestamp(_, Some(_)), DataType::Timestamp(_, None)) => {
            Some(as_type(functions::local_time(expr.clone()), target))
        }
        (DataType::Timestamp(..), target) if target.is_integer() => {
            let instant = as_type(expr.clone(), &with_zone_of(source, &micros));
            let micros = as_type(instant, &DataType::Int64);
            Some(as_type(floor_div(micros, MICROS), target))
        }
        (DataType::Timestamp(..), target) if target.is_floating() => {
            let instant = as_type(expr.clone(), &with_zone_of(source, &micros));
            let micros = as_type(as_type(instant, &DataType::Int64), &DataType::Float64);
            Some(as_type(op(micros, Operator::Divide, lit(MICROS as f64)), target))
        }
        (source, DataType::Timestamp(..)) if source.is_integer() => {
            let micros_number = op(as_type(expr.clone(), &DataType::Int64), Operator::Multiply, lit(MICROS));
            Some(as_instant(micros_number, target))
        }
        (source, DataType::Timestamp(..)) if source.is_floating() || is_decimal(source) => {
            let seconds = as_type(expr.clone(), &DataType::Float64);
            let micros_number = op(seconds, Operator::Multiply, lit(MICROS as f64));
            let whole = Expr::TryCast(TryCast::new(Box::new(micros_number), DataType::Int64));
            Some(as_instant(whole, target))
        }
        _ => None,
    }
}

/// Microseconds since epoch as a timestamp: an instant, whatever the zone.
fn as_instant(micros: Expr, target: &DataType) -> Expr {
    let DataType::Timestamp(_, Some(_)) = target else {
        return as_type(micros, target);
    };
    let utc = DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()));
    as_type(as_type(micros, &utc), target)
}

fn with_zone_of(source: &DataType, target: &DataType) -> DataType {
    match (source, target) {
        (DataType::Timestamp(_, zone), DataType::Timestamp(unit, _)) => DataType::Timestamp(*unit, zone.clone()),
        (_, target) => target.clone(),
    }
}

fn as_type(expr: Expr, target: &DataType) -> Expr {
    Expr::Cast(Cast::new(Box::new(expr), target.clone()))
}

fn op(left: Expr, operator: Operator, right: Expr) -> Expr {
    Expr::BinaryExpr(BinaryExpr::new(Box::new(left), operator, Box::new(right)))
}

/// `(x - ((x % n + n) % n)) / n`
fn floor_div(x: Expr, n: i64) -> Expr {
    let remainder = op(x.clone(), Operator::Modulo, lit(n));
    let positive = op(op(remainder, Operator::Plus, lit(n)), Operator::Modulo, lit(n));
    op(op(x, Operator::Minus, positive), Operator::Divide, lit(n))
}

fn bits(t: &DataType) -> Option<u32> {
    match t {
        DataType::Int8 => Some(8),
        DataType::Int16 => Some(16),
        DataType::Int32 => Some(32),
        DataType::Int64 => Some(64),
        _ => None,
    }
}

fn narrowing(source: &DataType, target: &DataType) -> Option<u32> {
    let (from, to) = (bits(source)?, bits(target)?);
    (to < from).then_some(to)
}

fn widens(source: &DataType, target: &DataType) -> bool {
    match (bits(source), bits(target)) {
        (Some(from), Some(to)) => from <= to,
        (Some(_), None) => target.is_floating(),
        _ => false,
    }
}

/// The low bits of a whole number, signed: `((x & mask) ^ sign) - sign`.
fn wrap_around(expr: Expr, bits: u32, target: &DataType) -> Expr {
    if let Expr::Literal(value, metadata) = &expr
        && let Ok(ScalarValue::Int64(Some(v))) = value.cast_to(&DataType::Int64)
    {
        let shift = 64 - bits;
        let wrapped = ScalarValue::Int64(Some((v << shift) >> shift)).cast_to(target);
        if let Ok(wrapped) = wrapped {
            return Expr::Literal(wrapped, metadata.clone());
        }
    }
    let mask = (1_i64 << bits) - 1;
    let sign = 1_i64 << (bits - 1);
    let low = op(as_type(expr, &DataType::Int64), Operator::BitwiseAnd, lit(mask));
    let signed = op(op(low, Operator::BitwiseXor, lit(sign)), Operator::Minus, lit(sign));
    as_type(signed, target)
}
