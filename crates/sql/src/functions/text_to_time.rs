//! Dates and timestamps from text, as leniently as Spark's CAST reads them (Java: `SparkDateTimeUtils`): parts may have
//! one digit, trailing parts may be missing, and a zone may follow the time.

use std::sync::Arc;

use chrono::{Datelike, NaiveDate, NaiveDateTime, NaiveTime, Offset, TimeZone, Utc};
use datafusion::arrow::array::timezone::Tz;
use datafusion::arrow::array::{ArrayRef, AsArray, Date32Array, TimestampMicrosecondArray};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, TimeUnit};
use datafusion::common::exec_datafusion_err;
use datafusion::error::Result;

use super::unary::Kernel;

/// Days from 0001-01-01, the first day of the common era, to 1970-01-01.
const EPOCH_DAYS_CE: i32 = 719_163;

/// Hours before a gap in local time that are surely not in it.
const BEFORE_GAP_HOURS: i64 = 24;

/// What text is read as.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) enum TextToTime {
    /// A date.
    Date,
    /// An instant; text without a zone is in this one.
    Timestamp(Arc<str>),
    /// A timestamp without a zone; one in the text is passed over.
    TimestampNtz,
}

impl Kernel for TextToTime {
    fn name(&self) -> &str {
        match self {
            TextToTime::Date => "text_to_date",
            TextToTime::Timestamp(_) => "text_to_timestamp",
            TextToTime::TimestampNtz => "text_to_timestamp_ntz",
        }
    }

    fn return_type(&self, _argument: &DataType) -> Result<DataType> {
        Ok(match self {
            TextToTime::Date => DataType::Date32,
            TextToTime::Timestamp(zone) => DataType::Timestamp(TimeUnit::Microsecond, Some(Arc::clone(zone))),
            TextToTime::TimestampNtz => DataType::Timestamp(TimeUnit::Microsecond, None),
        })
    }

    fn evaluate(&self, array: &ArrayRef) -> Result<ArrayRef> {
        let texts = cast(array, &DataType::Utf8)?;
        let texts = texts.as_string::<i32>().iter();
        Ok(match self {
            TextToTime::Date => Arc::new(texts.map(|t| parse_date(t?)).collect::<Date32Array>()),
            TextToTime::TimestampNtz => Arc::new(
                texts
                    .map(|t| parse_timestamp_ntz(t?))
                    .collect::<TimestampMicrosecondArray>(),
            ),
            TextToTime::Timestamp(zone) => {
                let tz = parse_zone(zone).ok_or_else(|| exec_datafusion_err!("'{zone}' is no time zone"))?;
                let micros: TimestampMicrosecondArray = texts.map(|t| parse_timestamp(t?, tz)).collect();
                Arc::new(micros.with_timezone(Arc::clone(zone)))
            }
        })
    }
}

/// The day of a text, since 1970.
pub(crate) fn parse_date(text: &str) -> Option<i32> {
    let text = text.trim_matches(|c: char| c <= ' ');
    let (date, rest) = date_parts(text)?;
    let ends = match date.given {
        Given::Day => rest.is_empty() || rest.starts_with([' ', 'T']),
        Given::Month | Given::Year => rest.is_empty(),
    };
    ends.then(|| date.date().map(days)).flatten()
}

fn days(date: NaiveDate) -> i32 {
    date.num_days_from_ce() - EPOCH_DAYS_CE
}

/// The microseconds since 1970 of a text, read in this zone when it names none.
pub(crate) fn parse_timestamp(text: &str, zone: Tz) -> Option<i64> {
    let (local, own_zone) = parse_parts(text, Some(zone))?;
    let zone = match own_zone {
        None => zone,
        Some(name) => parse_zone(name)?,
    };
    instant(local, zone)
}

/// The microseconds since 1970 of a text, whatever zone it names.
pub(crate) fn parse_timestamp_ntz(text: &str) -> Option<i64> {
    let (local, own_zone) = parse_parts(text, None)?;
    if let Some(name) = own_zone {
        parse_zone(name)?;
    }
    Some(local.and_utc().timestamp_micros())
}

/// The instant at which clocks of a zone show a time: the earlier one when they do so twice, and when they never do,
/// the one that they would show had they not been put forward.
pub(crate) fn instant(local: NaiveDateTime, zone: Tz) -> Option<i64> {
    if let Some(found) = zone.from_local_datetime(&local).earliest() {
        return Some(found.timestamp_micros());
    }
    let before = local.checked_sub_signed(chrono::TimeDelta::hours(BEFORE_GAP_HOURS))?;
    let offset = zone.offset_from_local_datetime(&before).earliest()?.fix();
    let utc = local.checked_sub_offset(offset)?;
    Some(utc.and_utc().timestamp_micros())
}

/// A zone by its name or offset: `Z`, `UTC`, `+2`, `+02:00`, `UTC+2`, `Europe/Oslo`.
pub(crate) fn parse_zone(name: &str) -> Option<Tz> {
    let name = name.trim();
    if name == "Z" || name == "z" {
        return "UTC".parse().ok();
    }
    let offset = ["UTC", "GMT", "UT"]
        .iter()
        .find_map(|p| name.strip_prefix(p))
        .unwrap_or(name);
    if offset.is_empty() {
        return "UTC".parse().ok();
    }
    let Some(sign) = offset.chars().next().filter(|c| matches!(c, '+' | '-')) else {
        return name.parse().ok();
    };
    let digits = &offset[1..];
    let (hours, minutes) = match digits.split_once(':') {
        Some((h, m)) => (h, m),
        None if digits.len() > 2 && digits.is_ascii() => digits.split_at(digits.len() - 2),
        None => (digits, "00"),
    };
    let number = |t: &str, digits: std::ops::RangeInclusive<usize>| {
        let valid = digits.contains(&t.len()) && t.bytes().all(|b| b.is_ascii_digit());
        valid.then(|| t.parse::<u32>().ok()).flatten()
    };
    let (hours, minutes) = (number(hours, 1..=2)?, number(minutes, 1..=2)?);
    (hours <= 18 && minutes < 60)
        .then(|| format!("{sign}{hours:02}:{minutes:02}").parse().ok())
        .flatten()
}

/// The local time and the zone of a text. A time without a date is one of today's.
fn parse_parts(text: &str, today_in: Option<Tz>) -> Option<(NaiveDateTime, Option<&str>)> {
    let text = text.trim_matches(|c: char| c <= ' ');
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let time_only = text.strip_prefix('T').or_else(|| {
        let is_time = digits > 0 && text.as_bytes().get(digits) == Some(&b':');
        is_time.then_some(text)
    });
    if let Some(time) = time_only {
        let today = Utc::now().with_timezone(&today_in?).date_naive();
        let (time, zone) = time_and_zone(time)?;
        return Some((today.and_time(time), zone));
    }
    let (date, rest) = date_parts(text)?;
    let day = date.date()?;
    if rest.is_empty() {
        return Some((day.and_time(NaiveTime::MIN), None));
    }
    if date.given != Given::Day {
        return None;
    }
    let time = rest.strip_prefix([' ', 'T'])?;
    let (time, zone) = time_and_zone(time)?;
    Some((day.and_time(time), zone))
}

/// How much of a date is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Given {
    Year,
    Month,
    Day,
}

struct DateParts {
    year: i32,
    month: u32,
    day: u32,
    given: Given,
}

impl DateParts {
    fn date(&self) -> Option<NaiveDate> {
        NaiveDate::from_ymd_opt(self.year, self.month, self.day)
    }
}

/// `[+-]yyyy[-[m]m[-[d]d]]`, and what follows it.
fn date_parts(text: &str) -> Option<(DateParts, &str)> {
    let (sign, unsigned) = match text.as_bytes().first()? {
        b'-' => (-1, &text[1..]),
        b'+' => (1, &text[1..]),
        _ => (1, text),
    };
    let (year, rest) = number(unsigned, 4..=7)?;
    let mut parts = DateParts {
        year: sign * i32::try_from(year).ok()?,
        month: 1,
        day: 1,
        given: Given::Year,
    };
    let Some(after) = rest.strip_prefix('-') else {
        return Some((parts, rest));
    };
    let (month, rest) = number(after, 1..=2)?;
    parts.month = month;
    parts.given = Given::Month;
    let Some(after) = rest.strip_prefix('-') else {
        return Some((parts, rest));
    };
    let (day, rest) = number(after, 1..=2)?;
    parts.day = day;
    parts.given = Given::Day;
    Some((parts, rest))
}

/// `[h]h[:[m]m[:[s]s[.fraction]]][zone]`
fn time_and_zone(text: &str) -> Option<(NaiveTime, Option<&str>)> {
    let (hour, mut rest) = number(text, 1..=2)?;
    let (mut minute, mut second, mut micros) = (0, 0, 0);
    if let Some(after) = rest.strip_prefix(':') {
        (minute, rest) = number(after, 1..=2)?;
        if let Some(after) = rest.strip_prefix(':') {
            (second, rest) = number(after, 1..=2)?;
            if let Some(after) = rest.strip_prefix('.') {
                let digits = after.bytes().take_while(u8::is_ascii_digit).count();
                let (fraction, after) = after.split_at(digits);
                micros = fraction_micros(fraction)?;
                rest = after;
            }
        }
    }
    let time = NaiveTime::from_hms_micro_opt(hour, minute, second, micros)?;
    let zone = rest.trim();
    Some((time, (!zone.is_empty()).then_some(zone)))
}

/// The first six digits of a fraction of a second; what is finer is cut off.
fn fraction_micros(digits: &str) -> Option<u32> {
    let kept = digits.get(..digits.len().min(6))?;
    format!("{kept:0<6}").parse().ok()
}

/// A number of so many digits, and what follows it.
fn number(text: &str, digits: std::ops::RangeInclusive<usize>) -> Option<(u32, &str)> {
    let count = text.bytes().take_while(u8::is_ascii_digit).count();
    if !digits.contains(&count) {
        return None;
    }
    let (number, rest) = text.split_at(count);
    Some((number.parse().ok()?, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn utc(text: &str) -> Option<String> {
        let micros = parse_timestamp(text, "UTC".parse().unwrap())?;
        let time = chrono::DateTime::from_timestamp_micros(micros)?;
        Some(time.format("%Y-%m-%d %H:%M:%S%.f").to_string())
    }

    // Results of Spark 3.5.
    #[test]
    fn dates_are_read_leniently() {
        let day = |text: &str| parse_date(text);
        assert_eq!(day("1970-01-02"), Some(1));
        assert_eq!(day("2024-1-5"), day("2024-01-05"));
        assert_eq!(day("2024"), day("2024-01-01"));
        assert_eq!(day("2024-03"), day("2024-03-01"));
        assert_eq!(day(" 2024-01-05 "), day("2024-01-05"));
        assert_eq!(day("2024-01-05T10:00:00"), day("2024-01-05"));
        assert_eq!(day("2024-01-05 abc"), day("2024-01-05"));
        for bad in [
            "2024-01-05abc",
            "20240105",
            "2024-02-30",
            "",
            "24-01-01",
            "2024 x",
            "2024-1-1-1",
            "ö",
        ] {
            assert_eq!(day(bad), None, "{bad}");
        }
    }

    #[test]
    fn timestamps_are_read_leniently() {
        for (text, expected) in [
            ("2024-1-5 1:2:3", "2024-01-05 01:02:03"),
            ("2024-01-05 10:00", "2024-01-05 10:00:00"),
            ("2024-01-05 10", "2024-01-05 10:00:00"),
            ("2024", "2024-01-01 00:00:00"),
            ("2024-01-05T10:00:00Z", "2024-01-05 10:00:00"),
            ("2024-01-05 10:00:00+02:00", "2024-01-05 08:00:00"),
            ("2024-01-05 10:00:00 Europe/Oslo", "2024-01-05 09:00:00"),
            ("2024-01-05 10:00:00.1234567", "2024-01-05 10:00:00.123456"),
            ("2024-01-05 10:00:00 UTC-3", "2024-01-05 13:00:00"),
        ] {
            assert_eq!(utc(text).as_deref(), Some(expected), "{text}");
        }
        for bad in [
            "2024-01-05 25:00:00",
            "2024-01 10:00",
            "2024-01-05 10:00:00 Nowhere",
            "x",
        ] {
            assert_eq!(utc(bad), None, "{bad}");
        }
        assert!(utc("10:00:00").is_some_and(|t| t.ends_with(" 10:00:00")));
        assert_eq!(
            parse_timestamp_ntz("2024-01-05 10:00:00+02:00"),
            parse_timestamp_ntz("2024-01-05 10")
        );
    }

    #[test]
    fn local_times_that_do_not_exist_are_moved_forward() {
        let new_york: Tz = "America/New_York".parse().unwrap();
        let at = |text| parse_timestamp(text, new_york);
        assert_eq!(at("2024-03-10 02:30:00"), at("2024-03-10 03:30:00"));
        assert_eq!(at("2024-11-03 01:30:00"), at("2024-11-03 01:30:00-04:00"));
    }
}
