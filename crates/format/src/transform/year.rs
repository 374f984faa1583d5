//! `year`: years since 1970.

use super::calendar::{civil, days, saturate};
use crate::spec::types::PrimitiveType;
use crate::spec::value::Value;

pub(super) fn apply(value: &Value, source: &PrimitiveType) -> Option<Value> {
    Some(saturate(civil(days(value, source)?).year - 1970))
}

pub(super) fn human(years: i32) -> String {
    format!("{:04}", i64::from(years) + 1970)
}
