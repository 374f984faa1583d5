//! Calendar arithmetic of the time transforms: proleptic Gregorian, UTC, floor for times before 1970.
//!
//! It covers every 32-bit day and every 64-bit microsecond, which is more than chrono's calendar does.

use crate::spec::types::PrimitiveType;
use crate::spec::value::Value;

pub(super) const SECONDS_PER_DAY: i64 = 86_400;

pub(super) fn is_date_or_timestamp(ty: &PrimitiveType) -> bool {
    *ty == PrimitiveType::Date || units_per_second(ty).is_some()
}

/// Ticks per second of a timestamp type; `None` for other types.
pub(super) fn units_per_second(ty: &PrimitiveType) -> Option<i64> {
    use PrimitiveType as T;
    match ty {
        T::Timestamp | T::Timestamptz => Some(1_000_000),
        T::TimestampNs | T::TimestamptzNs => Some(1_000_000_000),
        _ => None,
    }
}

/// Days since 1970-01-01 of a date or timestamp.
pub(super) fn days(value: &Value, ty: &PrimitiveType) -> Option<i64> {
    match (ty, value) {
        (PrimitiveType::Date, Value::Int(days)) => Some(i64::from(*days)),
        (_, Value::Long(ticks)) => Some(ticks.div_euclid(units_per_second(ty)? * SECONDS_PER_DAY)),
        _ => None,
    }
}

/// A date of the proleptic Gregorian calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Civil {
    /// Astronomical year: 0 is 1 BC.
    pub(super) year: i64,
    /// 1 to 12.
    pub(super) month: i64,
    /// 1 to 31.
    pub(super) day: i64,
}

/// The date of a day number. Counts in 400-year eras of 146,097 days that begin on a 1 March, so that leap days end years.
pub(super) fn civil(days_since_epoch: i64) -> Civil {
    const DAYS_PER_ERA: i64 = 146_097;
    const EPOCH_FROM_ERA_0: i64 = 719_468;
    let day = days_since_epoch.saturating_add(EPOCH_FROM_ERA_0);
    let era = day.div_euclid(DAYS_PER_ERA);
    let day_of_era = day.rem_euclid(DAYS_PER_ERA);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let month = if month_from_march < 10 {
        month_from_march + 3
    } else {
        month_from_march - 9
    };
    Civil {
        year: year_of_era + era * 400 + i64::from(month <= 2),
        month,
        day: day_of_year - (153 * month_from_march + 2) / 5 + 1,
    }
}

/// To the nearest 32-bit number. Only hours of timestamps beyond the year ±240,000 are cut off.
pub(super) fn saturate(v: i64) -> Value {
    Value::Int(i32::try_from(v).unwrap_or(if v < 0 { i32::MIN } else { i32::MAX }))
}
