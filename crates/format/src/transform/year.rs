//! `year`: years since 1970.

use super::calendar::{days, saturate};
use crate::spec::iso_time::civil_from_days;
use crate::spec::types::PrimitiveType;
use crate::spec::value::Value;

pub(super) fn apply(value: &Value, source: &PrimitiveType) -> Option<Value> {
    let (year, _, _) = civil_from_days(days(value, source)?);
    Some(saturate(year - 1970))
}

pub(super) fn human(years: i32) -> String {
    format!("{:04}", i64::from(years) + 1970)
}
