//! The source types of the time transforms, in UTC, with floor for times before 1970.

use crate::spec::types::PrimitiveType;
use crate::spec::value::Value;

pub(super) const SECONDS_PER_DAY: i64 = 86_400;

pub(super) fn is_date_or_timestamp(ty: &PrimitiveType) -> bool {
    *ty == PrimitiveType::Date || units_per_second(ty).is_some()
}

/// Ticks per second of a timestamp type; `None` for other types.
pub(super) fn units_per_second(ty: &PrimitiveType) -> Option<i64> {
    use PrimitiveType as T;
    match ty {
        T::Timestamp | T::Timestamptz => Some(1_000_000),
        T::TimestampNs | T::TimestamptzNs => Some(1_000_000_000),
        _ => None,
    }
}

/// Days since 1970-01-01 of a date or timestamp.
pub(super) fn days(value: &Value, ty: &PrimitiveType) -> Option<i64> {
    match (ty, value) {
        (PrimitiveType::Date, Value::Int(days)) => Some(i64::from(*days)),
        (_, Value::Long(ticks)) => Some(ticks.div_euclid(units_per_second(ty)? * SECONDS_PER_DAY)),
        _ => None,
    }
}

/// To the nearest 32-bit number. Only hours of timestamps beyond the year ±240,000 are cut off.
pub(super) fn saturate(v: i64) -> Value {
    Value::Int(i32::try_from(v).unwrap_or(if v < 0 { i32::MIN } else { i32::MAX }))
}
