//! Partition transforms (spec, "Partition Transforms"): their names, result types and scalar application.

use std::fmt;
use std::str::FromStr;

use crate::error::Error;

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
    /// only a known name with an unusable argument (`bucket[0]`) is an error.
    fn from_str(s: &str) -> Result<Self, Error> {
        let lower = s.to_ascii_lowercase();
        let argument = |prefix: &str| {
            let inner = lower.strip_prefix(prefix)?.strip_prefix('[')?.strip_suffix(']')?;
            Some(inner.trim().parse::<u32>())
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
