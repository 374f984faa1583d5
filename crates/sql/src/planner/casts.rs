//! CAST as Spark does it without ANSI mode: text that is no value of the type gives NULL, and whole numbers that are too
//! large wrap around.

use datafusion::arrow::datatypes::{DataType, TimeUnit};
use datafusion::common::{DFSchema, ScalarValue};
use datafusion::error::Result;
use datafusion::functions::string::expr_fn::btrim;
use datafusion::logical_expr::{BinaryExpr, Cast, Expr, ExprSchemable, Operator, TryCast, lit};

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
    if let Some(expr) = numbers_and_times(&expr, &source, target) {
        return Ok(expr);
    }
    if is_text(&source) {
        return Ok(from_text(expr, target));
    }
    if is_text(target) && matches!(source, DataType::Timestamp(..)) {
        return Ok(crate::functions::timestamp_text(expr));
    }
    if on_bad_input == OnBadInput::Spark
        && let Some(bits) = narrowing(&source, target)
    {
        return Ok(wrap_around(expr, bits, target));
    }
    if widens(&source, target) {
        return Ok(Expr::Cast(Cast::new(Box::new(expr), target.clone())));
    }
    Ok(Expr::TryCast(TryCast::new(Box::new(expr), target.clone())))
}

fn is_text(t: &DataType) -> bool {
    matches!(t, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
}

fn from_text(expr: Expr, target: &DataType) -> Expr {
    let keeps_space = is_text(target) || matches!(target, DataType::Binary | DataType::BinaryView | DataType::Null);
    if keeps_space {
        return Expr::Cast(Cast::new(Box::new(expr), target.clone()));
    }
    let trimmed = match expr {
        Expr::Literal(ScalarValue::Utf8(Some(text)), metadata) => {
            Expr::Literal(ScalarValue::Utf8(Some(text.trim().to_string())), metadata)
        }
        expr => btrim(vec![expr]),
    };
    if target.is_integer() {
        // '1.5' is 1, as Spark cuts the fraction off.
        let whole = Expr::TryCast(TryCast::new(Box::new(trimmed.clone()), target.clone()));
        if let Expr::Literal(ScalarValue::Utf8(Some(text)), _) = &trimmed
            && let Some((head, fraction)) = text.split_once('.')
            && fraction.bytes().all(|b| b.is_ascii_digit())
        {
            return Expr::TryCast(TryCast::new(Box::new(lit(head)), target.clone()));
        }
        return whole;
    }
    Expr::TryCast(TryCast::new(Box::new(trimmed), target.clone()))
}

/// Seconds since epoch on one side, a timestamp on the other.
fn numbers_and_times(expr: &Expr, source: &DataType, target: &DataType) -> Option<Expr> {
    let micros = DataType::Timestamp(TimeUnit::Microsecond, None);
    match (source, target) {
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
            Some(as_type(micros_number, target))
        }
        _ => None,
    }
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
        _ => source.is_null(),
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
