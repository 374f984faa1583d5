//! `hour`: hours since 1970-01-01 00:00.

use super::calendar::{saturate, units_per_second};
use super::day;
use crate::spec::types::PrimitiveType;
use crate::spec::value::Value;

pub(super) fn accepts(source: &PrimitiveType) -> bool {
    units_per_second(source).is_some()
}

pub(super) fn apply(value: &Value, source: &PrimitiveType) -> Option<Value> {
    match value {
        Value::Long(ticks) => Some(saturate(ticks.div_euclid(units_per_second(source)? * 3600))),
        _ => None,
    }
}

pub(super) fn human(hours: i32) -> String {
    format!("{}-{:02}", day::human(hours.div_euclid(24)), hours.rem_euclid(24))
}
