//! Partition transforms (spec, "Partition Transforms"): their names, result types and scalar application.
//!
//! Each transform has a file of its own. Projection of predicates through them is in `expr::project`.

mod bucket;
mod calendar;
mod day;
mod hour;
mod human;
mod identity;
mod month;
mod truncate;
mod void;
mod year;

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, Result};
use crate::spec::types::PrimitiveType;
use crate::spec::value::Value;

pub use bucket::hash as bucket_hash;
pub use bucket::hash_bytes as bucket_hash_bytes;

/// A transform of a column into a partition or sort value.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Transform {
    /// The value itself.
    Identity,
    /// Hash modulo the number of buckets.
    Bucket(u32),
    /// Truncated to a width: digits for numbers, code points for text, bytes for binary.
    Truncate(u32),
    /// Years since 1970.
    Year,
    /// Months since 1970-01.
    Month,
    /// Days since 1970-01-01.
    Day,
    /// Hours since 1970-01-01 00.
    Hour,
    /// Always null.
    Void,
    /// A transform we don't know: kept, never written with, never pruned by.
    Unknown(String),
}

impl Transform {
    /// Whether the transform takes a column of this type.
    ///
    /// An unknown transform may take any: its table must stay readable.
    pub fn can_transform(&self, source: &PrimitiveType) -> bool {
        match self {
            Transform::Identity => identity::accepts(source),
            Transform::Bucket(_) => bucket::accepts(source),
            Transform::Truncate(_) => truncate::accepts(source),
            Transform::Year | Transform::Month | Transform::Day => calendar::is_date_or_timestamp(source),
            Transform::Hour => hour::accepts(source),
            Transform::Void | Transform::Unknown(_) => true,
        }
    }

    /// The type of the transformed values.
    ///
    /// An unknown transform gives string, as Java does: nothing better is known.
    ///
    /// # Errors
    /// `InvalidInput` when the transform does not take the type.
    pub fn result_type(&self, source: &PrimitiveType) -> Result<PrimitiveType> {
        if !self.can_transform(source) {
            return Err(self.refuses(source));
        }
        Ok(match self {
            Transform::Identity | Transform::Truncate(_) | Transform::Void => source.clone(),
            Transform::Bucket(_) | Transform::Year | Transform::Month | Transform::Hour => PrimitiveType::Int,
            Transform::Day => PrimitiveType::Date,
            Transform::Unknown(_) => PrimitiveType::String,
        })
    }

    /// Transforms a value of type `source`; null gives null.
    ///
    /// # Errors
    /// `InvalidInput` when the transform does not take the type or the value is not of the type;
    /// `Unsupported` for an unknown transform.
    pub fn apply(&self, value: Option<&Value>, source: &PrimitiveType) -> Result<Option<Value>> {
        if let Transform::Unknown(name) = self {
            return Err(Error::unsupported(format!(
                "cannot compute the unknown transform '{name}'"
            )));
        }
        if !self.can_transform(source) {
            return Err(self.refuses(source));
        }
        let Some(value) = value else { return Ok(None) };
        let result = match self {
            Transform::Identity => identity::apply(value),
            Transform::Bucket(buckets) => bucket::apply(*buckets, value, source),
            Transform::Truncate(width) => truncate::apply(*width, value, source),
            Transform::Year => year::apply(value, source),
            Transform::Month => month::apply(value, source),
            Transform::Day => day::apply(value, source),
            Transform::Hour => hour::apply(value, source),
            Transform::Void | Transform::Unknown(_) => return Ok(void::apply()),
        };
        match result {
            Some(value) => Ok(Some(value)),
            None => Err(Error::invalid(format!(
                "cannot apply {self}: the value is not of type {source}"
            ))),
        }
    }

    fn refuses(&self, source: &PrimitiveType) -> Error {
        Error::invalid(format!("transform {self} does not take values of type {source}"))
    }

    /// Whether smaller source values never give larger results.
    pub fn preserves_order(&self) -> bool {
        match self {
            Transform::Identity | Transform::Truncate(_) => true,
            Transform::Year | Transform::Month | Transform::Day | Transform::Hour => true,
            Transform::Bucket(_) | Transform::Void | Transform::Unknown(_) => false,
        }
    }

    /// Whether rows ordered by this transform are also ordered by `other` of the same column, which is of type `source`.
    pub fn satisfies_order_of(&self, other: &Transform, source: &PrimitiveType) -> bool {
        match (self, other) {
            (Transform::Identity, _) => other.preserves_order(),
            (Transform::Truncate(width), Transform::Truncate(other)) => match source {
                // A shorter prefix is a prefix of the longer one.
                PrimitiveType::String | PrimitiveType::Binary => other <= width,
                // 12 and 16 are both 10 to the width 10, but 10 and 15 to the width 5.
                _ => other == width,
            },
            _ => match (self.granularity(), other.granularity()) {
                (Some(own), Some(other)) => own <= other,
                _ => self == other,
            },
        }
    }

    /// Time transforms from the finest to the coarsest.
    fn granularity(&self) -> Option<u8> {
        match self {
            Transform::Hour => Some(0),
            Transform::Day => Some(1),
            Transform::Month => Some(2),
            Transform::Year => Some(3),
            _ => None,
        }
    }

    /// A name by which two partition fields of one column are redundant: every time transform is `time`.
    pub fn dedup_name(&self) -> String {
        match self.granularity() {
            Some(_) => "time".to_string(),
            None => self.to_string(),
        }
    }

    /// A transformed value as partition paths show it, unescaped (Java `Transform.toHumanString`).
    ///
    /// `result` is the type of the value, as [`Transform::result_type`] gives it.
    pub fn to_human_string(&self, value: Option<&Value>, result: &PrimitiveType) -> String {
        let Some(value) = value else { return "null".to_string() };
        match (self, value) {
            (Transform::Void, _) => "null".to_string(),
            (Transform::Year, Value::Int(v)) => year::human(*v),
            (Transform::Month, Value::Int(v)) => month::human(*v),
            (Transform::Day, Value::Int(v)) => day::human(*v),
            (Transform::Hour, Value::Int(v)) => hour::human(*v),
            _ => human::value(value, result),
        }
    }
}

impl fmt::Display for Transform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Transform::Identity => f.write_str("identity"),
            Transform::Bucket(n) => write!(f, "bucket[{n}]"),
            Transform::Truncate(w) => write!(f, "truncate[{w}]"),
            Transform::Year => f.write_str("year"),
            Transform::Month => f.write_str("month"),
            Transform::Day => f.write_str("day"),
            Transform::Hour => f.write_str("hour"),
            Transform::Void => f.write_str("void"),
            Transform::Unknown(name) => f.write_str(name),
        }
    }
}

impl FromStr for Transform {
    type Err = Error;

    /// Parses the JSON name. Names that are not known become [`Transform::Unknown`];
    /// only a known name with a number out of range (`bucket[0]`) is an error.
    fn from_str(s: &str) -> Result<Self> {
        let lower = s.to_ascii_lowercase();
        let argument = |prefix: &str| {
            let inner = lower.strip_prefix(prefix)?.strip_prefix('[')?.strip_suffix(']')?;
            let is_number = !inner.is_empty() && inner.bytes().all(|b| b.is_ascii_digit());
            is_number.then(|| inner.parse::<u32>())
        };
        for (prefix, make) in [
            ("bucket", Transform::Bucket as fn(u32) -> Transform),
            ("truncate", Transform::Truncate as fn(u32) -> Transform),
        ] {
            if let Some(parsed) = argument(prefix) {
                return match parsed {
                    Ok(n) if n > 0 && n <= i32::MAX as u32 => Ok(make(n)),
                    _ => Err(Error::corrupt(format!("transform '{s}' has an argument out of range"))),
                };
            }
        }
        Ok(match lower.as_str() {
            "identity" => Transform::Identity,
            "year" => Transform::Year,
            "month" => Transform::Month,
            "day" => Transform::Day,
            "hour" => Transform::Hour,
            "void" => Transform::Void,
            _ => Transform::Unknown(s.to_string()),
        })
    }
}

#[cfg(test)]
mod tests;
