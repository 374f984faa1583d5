//! `month`: months since January 1970.

use super::calendar::{civil, days, saturate};
use crate::spec::types::PrimitiveType;
use crate::spec::value::Value;

pub(super) fn apply(value: &Value, source: &PrimitiveType) -> Option<Value> {
    let date = civil(days(value, source)?);
    Some(saturate((date.year - 1970) * 12 + date.month - 1))
}

pub(super) fn human(months: i32) -> String {
    let months = i64::from(months);
    format!("{:04}-{:02}", 1970 + months.div_euclid(12), 1 + months.rem_euclid(12))
}
