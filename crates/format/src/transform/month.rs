//! `month`: months since January 1970.

use super::calendar::{days, saturate};
use crate::spec::iso_time::civil_from_days;
use crate::spec::types::PrimitiveType;
use crate::spec::value::Value;

pub(super) fn apply(value: &Value, source: &PrimitiveType) -> Option<Value> {
    let (year, month, _) = civil_from_days(days(value, source)?);
    Some(saturate((year - 1970) * 12 + i64::from(month) - 1))
}

pub(super) fn human(months: i32) -> String {
    let months = i64::from(months);
    format!("{:04}-{:02}", 1970 + months.div_euclid(12), 1 + months.rem_euclid(12))
}
