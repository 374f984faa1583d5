//! `day`: days since 1970-01-01, as a date.

use super::calendar::{days, saturate};
use crate::spec::iso_time::civil_from_days;
use crate::spec::types::PrimitiveType;
use crate::spec::value::Value;

pub(super) fn apply(value: &Value, source: &PrimitiveType) -> Option<Value> {
    Some(saturate(days(value, source)?))
}

pub(super) fn human(days: i32) -> String {
    let (year, month, day) = civil_from_days(i64::from(days));
    format!("{year:04}-{month:02}-{day:02}")
}
