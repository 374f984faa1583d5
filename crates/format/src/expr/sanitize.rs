//! Descriptions that stand for literals in reports and logs (Java `ExpressionUtil.sanitize`).
//!
//! Numbers become their digits, dates and timestamps their distance from now, everything else a hash.

use std::time::{SystemTime, UNIX_EPOCH};

use super::literal::Literal;
use crate::spec::iso_time::{self, Precision};
use crate::spec::types::PrimitiveType;
use crate::spec::value::Value;
use crate::transform::Transform;

const MICROS_PER_MINUTE: u64 = 60_000_000;
const MICROS_PER_HOUR: u64 = 60 * MICROS_PER_MINUTE;
const MICROS_PER_DAY: i64 = 86_400_000_000;

/// Describes literals relative to a moment.
#[derive(Debug, Clone, Copy)]
pub struct Sanitizer {
    now_micros: i64,
}

impl Sanitizer {
    /// Relative to the present.
    pub fn now() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self::at(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
    }

    /// Relative to a moment in microseconds since 1970.
    pub fn at(now_micros: i64) -> Self {
        Sanitizer { now_micros }
    }

    /// The description of a literal, in parentheses.
    pub fn literal(&self, literal: &Literal) -> String {
        match literal {
            Literal::Int(v) => number(f64::from(*v), "int"),
            Literal::Long(v) => number(*v as f64, "int"),
            Literal::Float(v) => number(f64::from(*v), "float"),
            Literal::Double(v) => number(*v, "float"),
            Literal::Date(days) => self.date(*days),
            Literal::Time(_) => "(time)".to_string(),
            Literal::Timestamp(micros) | Literal::Timestamptz(micros) => self.timestamp(*micros),
            Literal::TimestampNs(nanos) | Literal::TimestamptzNs(nanos) => self.timestamp(nanos.div_euclid(1000)),
            Literal::String(text) => self.text(text),
            Literal::Boolean(_) | Literal::Decimal { .. } | Literal::Bytes(_) | Literal::Uuid(_) => {
                hash(&literal.to_string())
            }
        }
    }

    fn text(&self, text: &str) -> String {
        let zoned = || iso_time::parse_timestamptz(text, Precision::Micros);
        if let Ok(days) = iso_time::parse_date(text) {
            self.date(days)
        } else if let Ok(micros) = iso_time::parse_timestamp(text, Precision::Micros).or_else(|_| zoned()) {
            self.timestamp(micros)
        } else if iso_time::parse_time(text, Precision::Nanos).is_ok() {
            "(time)".to_string()
        } else {
            hash(text)
        }
    }

    fn date(&self, days: i32) -> String {
        let today = self.now_micros.div_euclid(MICROS_PER_DAY);
        let days = i64::from(days);
        let side = side(today > days);
        match today.abs_diff(days) {
            0 => "(date-today)".to_string(),
            diff if diff < 90 => format!("(date-{diff}-days-{side})"),
            _ => "(date)".to_string(),
        }
    }

    fn timestamp(&self, micros: i64) -> String {
        let side = side(self.now_micros > micros);
        let diff = self.now_micros.abs_diff(micros);
        let hours = diff / MICROS_PER_HOUR;
        if diff < 5 * MICROS_PER_MINUTE {
            "(timestamp-about-now)".to_string()
        } else if hours <= 3 * 24 {
            format!("(timestamp-{hours}-hours-{side})")
        } else if hours < 90 * 24 {
            format!("(timestamp-{}-days-{side})", hours / 24)
        } else {
            "(timestamp)".to_string()
        }
    }
}

fn side(past: bool) -> &'static str {
    if past { "ago" } else { "from-now" }
}

fn number(value: f64, kind: &str) -> String {
    if !value.is_finite() {
        return format!("({kind})");
    }
    let digits = if value == 0.0 {
        1
    } else {
        value.abs().log10() as i32 + 1
    };
    format!("({digits}-digit-{kind})")
}

fn hash(text: &str) -> String {
    let all = Transform::Bucket(i32::MAX.unsigned_abs());
    match all.apply(Some(&Value::string(text)), &PrimitiveType::String) {
        Ok(Some(Value::Int(hash))) => format!("(hash-{hash:08x})"),
        _ => "(hash)".to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Java's TestExpressionUtil.
    #[test]
    fn literals_are_described() {
        let now = 1_700_000_000_000_000;
        let sanitizer = Sanitizer::at(now);
        let hour = 3_600_000_000;
        let today = (now / MICROS_PER_DAY) as i32;
        for (literal, expected) in [
            (Literal::Int(34), "(2-digit-int)"),
            (Literal::Int(0), "(1-digit-int)"),
            (Literal::Long(-1_234_567_890), "(10-digit-int)"),
            (Literal::Double(12.3), "(2-digit-float)"),
            (Literal::Double(f64::INFINITY), "(float)"),
            (Literal::Double(f64::NAN), "(float)"),
            (Literal::Long(i64::MIN), "(19-digit-int)"),
            (Literal::Date(today), "(date-today)"),
            (Literal::Date(today - 2), "(date-2-days-ago)"),
            (Literal::Date(today + 89), "(date-89-days-from-now)"),
            (Literal::Date(today - 90), "(date)"),
            (Literal::Date(i32::MIN), "(date)"),
            (Literal::Time(5), "(time)"),
            (Literal::Timestamp(now - 1), "(timestamp-about-now)"),
            (Literal::Timestamptz(now - hour), "(timestamp-1-hours-ago)"),
            (
                Literal::TimestampNs((now + 72 * hour) * 1000),
                "(timestamp-72-hours-from-now)",
            ),
            (Literal::Timestamp(now - 74 * hour), "(timestamp-3-days-ago)"),
            (Literal::Timestamp(i64::MIN), "(timestamp)"),
            ("2022-04-29".into(), "(date)"),
            ("23:49:51".into(), "(time)"),
            ("2022-04-29T23:49:51".into(), "(timestamp)"),
            ("2022-04-29T23:49:51Z".into(), "(timestamp)"),
            ("aaa".into(), "(hash-34d05fb7)"),
        ] {
            assert_eq!(sanitizer.literal(&literal), expected, "{literal:?}");
        }
    }
}
