//! `day`: days since 1970-01-01, as a date.

use super::calendar::{Civil, civil, days, saturate};
use crate::spec::types::PrimitiveType;
use crate::spec::value::Value;

pub(super) fn apply(value: &Value, source: &PrimitiveType) -> Option<Value> {
    Some(saturate(days(value, source)?))
}

pub(super) fn human(days: i32) -> String {
    let Civil { year, month, day } = civil(i64::from(days));
    format!("{year:04}-{month:02}-{day:02}")
}
