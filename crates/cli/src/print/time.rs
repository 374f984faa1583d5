//! Dates, times and timestamps as text.

use chrono::{DateTime, NaiveDate, NaiveDateTime, NaiveTime, SecondsFormat, TimeZone, Timelike};
use tarn::datafusion::arrow::array::timezone::Tz;
use tarn::datafusion::arrow::array::{Array, AsArray};
use tarn::datafusion::arrow::datatypes::{
    ArrowPrimitiveType, DataType, Date32Type, Date64Type, Time32MillisecondType, Time32SecondType,
    Time64MicrosecondType, Time64NanosecondType, TimeUnit, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType, TimestampSecondType,
};

use super::value::Notation;

const NANOS_PER_SECOND: i128 = 1_000_000_000;
const MILLIS_PER_DAY: i64 = 86_400_000;
const DAYS_TO_EPOCH: i32 = 719_163;

/// A moment as text; `None` for other types, and for moments that no calendar holds.
pub fn text(data_type: &DataType, array: &dyn Array, row: usize, zone: Tz, notation: Notation) -> Option<String> {
    match data_type {
        DataType::Date32 => date(native::<Date32Type>(array, row)),
        DataType::Date64 => date(i32::try_from(native::<Date64Type>(array, row).div_euclid(MILLIS_PER_DAY)).ok()?),
        DataType::Time32(_) | DataType::Time64(_) => time_of_day(nanos_of_day(data_type, array, row)?),
        DataType::Timestamp(unit, with_zone) => {
            let nanos = nanos_since_epoch(*unit, array, row);
            let seconds = i64::try_from(nanos.div_euclid(NANOS_PER_SECOND)).ok()?;
            let fraction = u32::try_from(nanos.rem_euclid(NANOS_PER_SECOND)).ok()?;
            let utc = DateTime::from_timestamp(seconds, fraction)?.naive_utc();
            Some(match with_zone {
                Some(_) => zoned(utc, zone, notation),
                None => local(utc, notation),
            })
        }
        _ => None,
    }
}

fn native<T: ArrowPrimitiveType>(array: &dyn Array, row: usize) -> T::Native {
    array.as_primitive::<T>().value(row)
}

fn nanos_since_epoch(unit: TimeUnit, array: &dyn Array, row: usize) -> i128 {
    match unit {
        TimeUnit::Second => i128::from(native::<TimestampSecondType>(array, row)) * NANOS_PER_SECOND,
        TimeUnit::Millisecond => i128::from(native::<TimestampMillisecondType>(array, row)) * 1_000_000,
        TimeUnit::Microsecond => i128::from(native::<TimestampMicrosecondType>(array, row)) * 1_000,
        TimeUnit::Nanosecond => i128::from(native::<TimestampNanosecondType>(array, row)),
    }
}

fn nanos_of_day(data_type: &DataType, array: &dyn Array, row: usize) -> Option<i64> {
    match data_type {
        DataType::Time32(TimeUnit::Second) => {
            i64::from(native::<Time32SecondType>(array, row)).checked_mul(1_000_000_000)
        }
        DataType::Time32(_) => i64::from(native::<Time32MillisecondType>(array, row)).checked_mul(1_000_000),
        DataType::Time64(TimeUnit::Microsecond) => native::<Time64MicrosecondType>(array, row).checked_mul(1_000),
        _ => Some(native::<Time64NanosecondType>(array, row)),
    }
}

fn date(days: i32) -> Option<String> {
    let date = NaiveDate::from_num_days_from_ce_opt(days.checked_add(DAYS_TO_EPOCH)?)?;
    Some(date.format("%Y-%m-%d").to_string())
}

fn time_of_day(nanos: i64) -> Option<String> {
    let seconds = u32::try_from(nanos.div_euclid(1_000_000_000)).ok()?;
    let fraction = u32::try_from(nanos.rem_euclid(1_000_000_000)).ok()?;
    let time = NaiveTime::from_num_seconds_from_midnight_opt(seconds, fraction)?;
    Some(format!("{}{}", time.format("%H:%M:%S"), digits(time.nanosecond())))
}

fn local(moment: NaiveDateTime, notation: Notation) -> String {
    let separator = if notation == Notation::Text { ' ' } else { 'T' };
    let (day, time) = (moment.format("%Y-%m-%d"), moment.format("%H:%M:%S"));
    format!("{day}{separator}{time}{}", digits(moment.nanosecond()))
}

fn zoned(utc: NaiveDateTime, zone: Tz, notation: Notation) -> String {
    let moment = zone.from_utc_datetime(&utc);
    match notation {
        Notation::Text => local(moment.naive_local(), notation),
        Notation::Json => {
            // Written by chrono for the offset only: the fraction is cut as in text.
            let whole = moment.with_nanosecond(0).unwrap_or(moment);
            let shown = whole.to_rfc3339_opts(SecondsFormat::Secs, true);
            let (time, offset) = shown.split_at(shown.len().min(19));
            format!("{time}{}{offset}", digits(utc.nanosecond()))
        }
    }
}

/// The fraction of a second without trailing zeros.
fn digits(nanos: u32) -> String {
    if nanos == 0 {
        return String::new();
    }
    format!(".{nanos:09}").trim_end_matches('0').to_string()
}
