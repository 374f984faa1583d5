//! Values as text in the way of Java's `toString`, which partition paths of every writer follow.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::day;
use crate::spec::iso_time::{Precision, format_timestamp};
use crate::spec::types::PrimitiveType;
use crate::spec::value::Value;

/// A value of `ty`. A value that is not of the type is shown in its physical form.
pub(super) fn value(value: &Value, ty: &PrimitiveType) -> String {
    use PrimitiveType as T;
    match (ty, value) {
        (T::Date, Value::Int(days)) => day::human(*days),
        (T::Time, Value::Long(micros)) => time(*micros),
        (T::Timestamp, Value::Long(ticks)) => format_timestamp(*ticks, Precision::Micros),
        (T::Timestamptz, Value::Long(ticks)) => format_timestamp(*ticks, Precision::Micros) + "+00:00",
        (T::TimestampNs, Value::Long(ticks)) => format_timestamp(*ticks, Precision::Nanos),
        (T::TimestamptzNs, Value::Long(ticks)) => format_timestamp(*ticks, Precision::Nanos) + "+00:00",
        (T::Decimal { scale, .. }, Value::Decimal(v)) => decimal(*v, *scale),
        _ => physical(value),
    }
}

fn physical(value: &Value) -> String {
    match value {
        Value::Boolean(v) => v.to_string(),
        Value::Int(v) => v.to_string(),
        Value::Long(v) => v.to_string(),
        Value::Float(v) => float(format!("{:e}", v.abs()), v.is_sign_negative(), f64::from(*v)),
        Value::Double(v) => float(format!("{:e}", v.abs()), v.is_sign_negative(), *v),
        Value::Decimal(v) => v.to_string(),
        Value::String(v) => v.to_string(),
        Value::Uuid(v) => uuid::Uuid::from_bytes(*v).hyphenated().to_string(),
        Value::Binary(v) => STANDARD.encode(v),
        Value::Struct(_) | Value::List(_) | Value::Map(_) => format!("{value:?}"),
    }
}

/// `HH:mm`, with seconds and a fraction of 3 or 6 digits where they are not zero (Java `LocalTime.toString`).
fn time(micros: i64) -> String {
    let micros = micros.rem_euclid(86_400_000_000);
    let (seconds, fraction) = (micros / 1_000_000, micros % 1_000_000);
    let mut text = format!("{:02}:{:02}", seconds / 3600, seconds / 60 % 60);
    if seconds % 60 != 0 || fraction != 0 {
        text += &format!(":{:02}", seconds % 60);
    }
    match fraction {
        0 => {}
        f if f % 1000 == 0 => text += &format!(".{:03}", f / 1000),
        f => text += &format!(".{f:06}"),
    }
    text
}

/// Plain, or scientific where the first digit is further than six places behind the point (Java `BigDecimal.toString`).
fn decimal(unscaled: i128, scale: u8) -> String {
    let sign = if unscaled < 0 { "-" } else { "" };
    let digits = unscaled.unsigned_abs().to_string();
    let scale = usize::from(scale);
    if scale == 0 {
        return format!("{sign}{digits}");
    }
    let adjusted = digits.len() as i64 - 1 - scale as i64;
    if adjusted >= -6 {
        let padded = format!("{digits:0>width$}", width = scale + 1);
        let (whole, fraction) = padded.split_at(padded.len() - scale);
        return format!("{sign}{whole}.{fraction}");
    }
    let (first, rest) = digits.split_at(1);
    let point = if rest.is_empty() { "" } else { "." };
    format!("{sign}{first}{point}{rest}E{adjusted}")
}

/// Java's `Double.toString`: plain between 10^-3 and 10^7, otherwise `d.dddE±n`; at least one digit behind the point.
///
/// `shortest` is Rust's `{:e}` of the absolute value.
fn float(shortest: String, negative: bool, value: f64) -> String {
    if value.is_nan() {
        return "NaN".to_string();
    }
    let sign = if negative { "-" } else { "" };
    if value.is_infinite() {
        return format!("{sign}Infinity");
    }
    let (mantissa, exponent) = shortest.split_once('e').unwrap_or((&shortest, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let digits: String = mantissa.chars().filter(|c| *c != '.').collect();
    if value == 0.0 || (-3..7).contains(&exponent) {
        let text = match usize::try_from(exponent) {
            Ok(e) => {
                let padded = format!("{digits:0<width$}", width = e + 2);
                format!("{}.{}", &padded[..=e], &padded[e + 1..])
            }
            Err(_) => format!("0.{}{digits}", "0".repeat(exponent.unsigned_abs() as usize - 1)),
        };
        return format!("{sign}{text}");
    }
    let (first, rest) = digits.split_at(1);
    let rest = if rest.is_empty() { "0" } else { rest };
    format!("{sign}{first}.{rest}E{exponent}")
}
