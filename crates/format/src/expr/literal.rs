//! Literals of predicates and their conversion to the type of a column (Java `Literals`).
//!
//! Where Java rounds or refuses, a literal here keeps its exact meaning: conversion either finds the value in the
//! column's type or the two neighbours between which it lies.

use std::sync::Arc;

use chrono::DateTime;

use crate::error::{Error, Result};
use crate::spec::iso_time::{self, Precision};
use crate::spec::types::PrimitiveType;
use crate::spec::value::Value;

const MICROS_PER_DAY: i128 = 86_400_000_000;

/// A literal. Dates count days, times and timestamps microseconds or nanoseconds, from 1970 or midnight.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs)]
pub enum Literal {
    Boolean(bool),
    Int(i32),
    Long(i64),
    Float(f32),
    Double(f64),
    Decimal { unscaled: i128, scale: u8 },
    String(Arc<str>),
    Bytes(Arc<[u8]>),
    Uuid([u8; 16]),
    Date(i32),
    Time(i64),
    Timestamp(i64),
    Timestamptz(i64),
    TimestampNs(i64),
    TimestamptzNs(i64),
}

/// A literal in the type of a column.
#[derive(Debug, Clone, PartialEq)]
pub enum Converted {
    /// The same value.
    Exact(Value),
    /// The type does not hold it.
    Between {
        /// The largest value of the type below it; `None` when there is none.
        below: Option<Value>,
        /// The smallest value of the type above it; `None` when there is none.
        above: Option<Value>,
    },
}

macro_rules! literal_from {
    ($($from:ty => |$v:ident| $make:expr;)*) => {$(
        impl From<$from> for Literal {
            fn from($v: $from) -> Self {
                $make
            }
        }
    )*};
}

literal_from! {
    bool => |v| Literal::Boolean(v);
    i32 => |v| Literal::Int(v);
    i64 => |v| Literal::Long(v);
    f32 => |v| Literal::Float(v);
    f64 => |v| Literal::Double(v);
    &str => |v| Literal::String(Arc::from(v));
    String => |v| Literal::String(Arc::from(v));
    &[u8] => |v| Literal::Bytes(Arc::from(v));
    Vec<u8> => |v| Literal::Bytes(Arc::from(v));
}

/// Where a literal lies on the grid of an exact type: at or just above `floor`, or beyond 128 bits.
enum Position {
    On(i128),
    Above(i128),
    BeyondMax,
    BelowMin,
}

impl Literal {
    /// The literal of a value of `ty`; `None` when the value is not of the type or the type is not comparable.
    pub fn from_value(value: &Value, ty: &PrimitiveType) -> Option<Literal> {
        use PrimitiveType as T;
        Some(match (ty, value) {
            (T::Boolean, Value::Boolean(v)) => Literal::Boolean(*v),
            (T::Int, Value::Int(v)) => Literal::Int(*v),
            (T::Date, Value::Int(v)) => Literal::Date(*v),
            (T::Long, Value::Long(v)) => Literal::Long(*v),
            (T::Time, Value::Long(v)) => Literal::Time(*v),
            (T::Timestamp, Value::Long(v)) => Literal::Timestamp(*v),
            (T::Timestamptz, Value::Long(v)) => Literal::Timestamptz(*v),
            (T::TimestampNs, Value::Long(v)) => Literal::TimestampNs(*v),
            (T::TimestamptzNs, Value::Long(v)) => Literal::TimestamptzNs(*v),
            (T::Float, Value::Float(v)) => Literal::Float(*v),
            (T::Double, Value::Double(v)) => Literal::Double(*v),
            (T::Decimal { scale, .. }, Value::Decimal(v)) => Literal::Decimal {
                unscaled: *v,
                scale: *scale,
            },
            (T::String, Value::String(v)) => Literal::String(Arc::clone(v)),
            (T::Uuid, Value::Uuid(v)) => Literal::Uuid(*v),
            (T::Fixed(_) | T::Binary, Value::Binary(v)) => Literal::Bytes(Arc::clone(v)),
            _ => return None,
        })
    }

    /// The literal in the type `ty`.
    ///
    /// # Errors
    /// `InvalidInput` when the two cannot be compared, or text does not parse as the type.
    pub fn convert(&self, ty: &PrimitiveType) -> Result<Converted> {
        use PrimitiveType as T;
        let refuse = || Error::invalid(format!("cannot compare a value of type {ty} with {self}"));
        match ty {
            T::Boolean => match self {
                Literal::Boolean(v) => Ok(Converted::Exact(Value::Boolean(*v))),
                _ => Err(refuse()),
            },
            T::Int => self.on_grid(0).map(|p| p.int()).ok_or_else(refuse),
            T::Long => self.on_grid(0).map(|p| p.long()).ok_or_else(refuse),
            T::Decimal { precision, scale } => {
                let position = match self.parsed_decimal() {
                    Some(parsed) => parsed.on_grid(*scale),
                    None => self.on_grid(*scale),
                };
                position.map(|p| p.decimal(*precision)).ok_or_else(refuse)
            }
            T::Float => self.to_double().map(to_float).ok_or_else(refuse),
            T::Double => self.to_double().ok_or_else(refuse),
            T::Date => self.days().map(|p| p.int()).ok_or_else(refuse),
            T::Time => self.time().map(|p| p.long()).ok_or_else(refuse),
            T::Timestamp | T::Timestamptz => self.ticks(ty, 1_000_000).map(|p| p.long()).ok_or_else(refuse),
            T::TimestampNs | T::TimestamptzNs => self.ticks(ty, 1_000_000_000).map(|p| p.long()).ok_or_else(refuse),
            T::String => match self {
                Literal::String(v) => Ok(Converted::Exact(Value::String(Arc::clone(v)))),
                _ => Err(refuse()),
            },
            T::Uuid => self.uuid().map(|u| Converted::Exact(Value::Uuid(u))).ok_or_else(refuse),
            T::Fixed(_) | T::Binary => match self {
                Literal::Bytes(v) => Ok(Converted::Exact(Value::Binary(Arc::clone(v)))),
                Literal::Uuid(v) => Ok(Converted::Exact(Value::binary(v))),
                _ => Err(refuse()),
            },
            T::Unknown | T::Geometry { .. } | T::Geography { .. } => Err(refuse()),
        }
    }

    /// The number on a grid of steps of 10^-`scale`; `None` when it is not a number.
    fn on_grid(&self, scale: u8) -> Option<Position> {
        match self {
            Literal::Int(v) => Some(rescale(i128::from(*v), 0, scale)),
            Literal::Long(v) => Some(rescale(i128::from(*v), 0, scale)),
            Literal::Decimal { unscaled, scale: own } => Some(rescale(*unscaled, *own, scale)),
            Literal::Float(v) => float_on_grid(f64::from(*v), &format!("{v:e}"), scale),
            Literal::Double(v) => float_on_grid(*v, &format!("{v:e}"), scale),
            _ => None,
        }
    }

    /// Text as a decimal (Java `StringLiteral`).
    fn parsed_decimal(&self) -> Option<Literal> {
        let Literal::String(text) = self else { return None };
        let (unscaled, exponent) = parse_scientific(text.trim())?;
        let scale = u8::try_from(exponent.checked_neg()?).ok()?;
        Some(Literal::Decimal { unscaled, scale })
    }

    fn to_double(&self) -> Option<Converted> {
        let exact = |v| Some(Converted::Exact(Value::Double(v)));
        match self {
            Literal::Int(v) => exact(f64::from(*v)),
            Literal::Float(v) => exact(f64::from(*v)),
            Literal::Double(v) => exact(*v),
            // The nearest double is what SQL's promotion of a decimal compares with.
            Literal::Decimal { unscaled, scale } => exact(format!("{unscaled}e-{scale}").parse().ok()?),
            Literal::Long(v) => {
                let near = *v as f64;
                Some(match (near as i128).cmp(&i128::from(*v)) {
                    std::cmp::Ordering::Equal => Converted::Exact(Value::Double(near)),
                    std::cmp::Ordering::Less => between_doubles(near, near.next_up()),
                    std::cmp::Ordering::Greater => between_doubles(near.next_down(), near),
                })
            }
            _ => None,
        }
    }

    fn days(&self) -> Option<Position> {
        match self {
            Literal::Date(v) | Literal::Int(v) => Some(Position::On(i128::from(*v))),
            Literal::Long(v) => Some(Position::On(i128::from(*v))),
            Literal::Timestamp(v) | Literal::Timestamptz(v) => Some(divide(i128::from(*v), MICROS_PER_DAY)),
            Literal::TimestampNs(v) | Literal::TimestamptzNs(v) => Some(divide(i128::from(*v), MICROS_PER_DAY * 1000)),
            Literal::String(text) => iso_time::parse_date(text).ok().map(|d| Position::On(i128::from(d))),
            _ => None,
        }
    }

    fn time(&self) -> Option<Position> {
        match self {
            Literal::Int(v) => Some(Position::On(i128::from(*v))),
            Literal::Long(v) | Literal::Time(v) => Some(Position::On(i128::from(*v))),
            Literal::String(text) => {
                let nanos = iso_time::parse_time(text, Precision::Nanos).ok()?;
                Some(divide(i128::from(nanos), 1000))
            }
            _ => None,
        }
    }

    /// A timestamp in ticks of `1 / per_second` seconds. Plain numbers count ticks of the column, as in Java.
    fn ticks(&self, ty: &PrimitiveType, per_second: i128) -> Option<Position> {
        let nanos_per_tick = 1_000_000_000 / per_second;
        match self {
            Literal::Int(v) => Some(Position::On(i128::from(*v))),
            Literal::Long(v) => Some(Position::On(i128::from(*v))),
            Literal::Date(v) => Some(Position::On(i128::from(*v) * 86_400 * per_second)),
            Literal::Timestamp(v) | Literal::Timestamptz(v) => Some(divide(i128::from(*v) * 1000, nanos_per_tick)),
            Literal::TimestampNs(v) | Literal::TimestamptzNs(v) => Some(divide(i128::from(*v), nanos_per_tick)),
            Literal::String(text) => {
                let zoned = matches!(ty, PrimitiveType::Timestamptz | PrimitiveType::TimestamptzNs);
                let nanos = if zoned {
                    parse_instant(text)?
                } else {
                    parse_local(text)?
                };
                Some(divide(nanos, nanos_per_tick))
            }
            _ => None,
        }
    }

    fn uuid(&self) -> Option<[u8; 16]> {
        match self {
            Literal::Uuid(v) => Some(*v),
            Literal::Bytes(v) => v.as_ref().try_into().ok(),
            Literal::String(text) => uuid::Uuid::parse_str(text).ok().map(uuid::Uuid::into_bytes),
            _ => None,
        }
    }
}

/// Nanoseconds since 1970 of a timestamp without offset; beyond the range of 64-bit nanoseconds, to the microsecond.
fn parse_local(text: &str) -> Option<i128> {
    if let Ok(nanos) = iso_time::parse_timestamp(text, Precision::Nanos) {
        return Some(i128::from(nanos));
    }
    let micros = iso_time::parse_timestamp(text, Precision::Micros).ok()?;
    Some(i128::from(micros) * 1000)
}

/// Nanoseconds since 1970 of a timestamp with any offset.
fn parse_instant(text: &str) -> Option<i128> {
    if let Some(local) = text.strip_suffix("+00:00").or_else(|| text.strip_suffix('Z')) {
        return parse_local(local);
    }
    let instant = DateTime::parse_from_rfc3339(text).ok()?;
    let nanos = i128::from(instant.timestamp_subsec_nanos());
    Some(i128::from(instant.timestamp()) * 1_000_000_000 + nanos)
}

fn divide(value: i128, by: i128) -> Position {
    let floor = value.div_euclid(by);
    match value.rem_euclid(by) {
        0 => Position::On(floor),
        _ => Position::Above(floor),
    }
}

fn rescale(unscaled: i128, from: u8, to: u8) -> Position {
    let power = |n: u8| 10i128.checked_pow(u32::from(n));
    let beyond = if unscaled < 0 {
        Position::BelowMin
    } else {
        Position::BeyondMax
    };
    if unscaled == 0 {
        return Position::On(0);
    }
    if to >= from {
        return match power(to - from).and_then(|p| unscaled.checked_mul(p)) {
            Some(v) => Position::On(v),
            None => beyond,
        };
    }
    match power(from - to) {
        Some(p) => divide(unscaled, p),
        // The divisor exceeds every 128-bit number.
        None => Position::Above(if unscaled < 0 { -1 } else { 0 }),
    }
}

/// A floating-point number by its shortest decimal form, as Java's `BigDecimal.valueOf` reads it.
fn float_on_grid(value: f64, shortest: &str, scale: u8) -> Option<Position> {
    if value.is_nan() {
        return None;
    }
    if value.is_infinite() || value.abs() > 1e38 {
        return Some(if value < 0.0 {
            Position::BelowMin
        } else {
            Position::BeyondMax
        });
    }
    if scale == 0 && value.fract() == 0.0 {
        return Some(Position::On(value as i128));
    }
    let (unscaled, exponent) = parse_scientific(shortest)?;
    Some(match u8::try_from(exponent.unsigned_abs()) {
        Ok(e) if exponent <= 0 => rescale(unscaled, e, scale),
        Ok(e) => match rescale(unscaled, 0, e) {
            Position::On(v) => rescale(v, 0, scale),
            beyond => beyond,
        },
        // Closer to zero than any grid's first step.
        Err(_) => Position::Above(if value < 0.0 { -1 } else { 0 }),
    })
}

/// A decimal number with optional exponent as (unscaled, exponent of ten); the exponent is at most 0 unless written.
fn parse_scientific(text: &str) -> Option<(i128, i32)> {
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let exponent: i32 = exponent.parse().ok()?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if !fraction.bytes().all(|b| b.is_ascii_digit()) || mantissa.len() > 60 {
        return None;
    }
    let unscaled: i128 = format!("{whole}{fraction}").parse().ok()?;
    let exponent = exponent.checked_sub(i32::try_from(fraction.len()).ok()?)?;
    if exponent > 0 {
        let scaled = 10i128
            .checked_pow(exponent.unsigned_abs())
            .and_then(|p| unscaled.checked_mul(p));
        return scaled.map(|v| (v, 0));
    }
    Some((unscaled, exponent))
}

fn between_doubles(below: f64, above: f64) -> Converted {
    Converted::Between {
        below: Some(Value::Double(below)),
        above: Some(Value::Double(above)),
    }
}

/// Narrows a double; its neighbours narrow with it.
fn to_float(converted: Converted) -> Converted {
    let between = |below: f32, above: f32| Converted::Between {
        below: Some(Value::Float(below)),
        above: Some(Value::Float(above)),
    };
    match converted {
        Converted::Exact(Value::Double(v)) => {
            let near = v as f32;
            let back = f64::from(near);
            if back == v || v.is_nan() {
                Converted::Exact(Value::Float(near))
            } else if back < v {
                between(near, near.next_up())
            } else {
                between(near.next_down(), near)
            }
        }
        Converted::Between {
            below: Some(Value::Double(below)),
            above: Some(Value::Double(above)),
        } => {
            let (low, high) = (below as f32, above as f32);
            let low = if f64::from(low) > below { low.next_down() } else { low };
            let high = if f64::from(high) < above { high.next_up() } else { high };
            between(low, high)
        }
        other => other,
    }
}

impl Position {
    fn int(self) -> Converted {
        let make = |v| Value::Int(i32::try_from(v).unwrap_or_default());
        self.within(i128::from(i32::MIN), i128::from(i32::MAX), make)
    }

    fn long(self) -> Converted {
        let make = |v| Value::Long(i64::try_from(v).unwrap_or_default());
        self.within(i128::from(i64::MIN), i128::from(i64::MAX), make)
    }

    fn decimal(self, precision: u8) -> Converted {
        let max = 10i128.checked_pow(u32::from(precision)).map_or(i128::MAX, |p| p - 1);
        self.within(-max, max, Value::Decimal)
    }

    /// `make` is only given numbers from `min` to `max`.
    fn within(self, min: i128, max: i128, make: impl Fn(i128) -> Value) -> Converted {
        let too_low = |min| Converted::Between {
            below: None,
            above: Some(make(min)),
        };
        let too_high = |max| Converted::Between {
            below: Some(make(max)),
            above: None,
        };
        match self {
            Position::BelowMin => too_low(min),
            Position::BeyondMax => too_high(max),
            Position::On(v) | Position::Above(v) if v < min => too_low(min),
            Position::On(v) if v > max => too_high(max),
            Position::Above(v) if v >= max => too_high(max),
            Position::On(v) => Converted::Exact(make(v)),
            Position::Above(v) => Converted::Between {
                below: Some(make(v)),
                above: Some(make(v + 1)),
            },
        }
    }
}

#[cfg(test)]
mod tests;
