//! ISO 8601 text of dates, times and timestamps, over the whole range that Iceberg's integers reach.
//!
//! Written as Java's `DateTimeUtil` does: seconds always, fractions without trailing zeros, years beyond 9999 with a sign.

use crate::error::{Error, Result};

const DAY_SECONDS: i64 = 86_400;

/// How fine the integer of a time or timestamp is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Precision {
    /// 10⁻⁶ seconds.
    Micros,
    /// 10⁻⁹ seconds.
    Nanos,
}

impl Precision {
    fn per_second(self) -> i64 {
        match self {
            Precision::Micros => 1_000_000,
            Precision::Nanos => 1_000_000_000,
        }
    }

    fn digits(self) -> usize {
        match self {
            Precision::Micros => 6,
            Precision::Nanos => 9,
        }
    }
}

/// Year, month and day of a day since 1970-01-01 in the proleptic Gregorian calendar.
pub(crate) fn civil_from_days(days: i64) -> (i64, u32, u32) {
    // Years that start in March put the leap day last; eras of 400 years repeat (146097 days).
    let shifted = days.saturating_add(719_468);
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = (day_of_year - (153 * month_from_march + 2) / 5 + 1) as u32;
    let month = if month_from_march < 10 {
        month_from_march + 3
    } else {
        month_from_march - 9
    } as u32;
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

/// The day since 1970-01-01 of a date in the proleptic Gregorian calendar. The year must be within ±10⁹.
pub(crate) fn days_from_civil(year: i64, month: u32, day: u32) -> i64 {
    let shifted_year = if month <= 2 { year - 1 } else { year };
    let era = shifted_year.div_euclid(400);
    let year_of_era = shifted_year.rem_euclid(400);
    let month_from_march = i64::from((month + 9) % 12);
    let day_of_year = (153 * month_from_march + 2) / 5 + i64::from(day) - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

fn days_in_month(year: i64, month: u32) -> u32 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// `2017-11-16` of a day.
pub(crate) fn format_date(days: i64) -> String {
    let (year, month, day) = civil_from_days(days);
    let year = match year {
        0..=9999 => format!("{year:04}"),
        y if y > 9999 => format!("+{y}"),
        y => format!("-{:04}", -y),
    };
    format!("{year}-{month:02}-{day:02}")
}

/// `22:31:08.123` of units since midnight.
pub(crate) fn format_time(units: i64, precision: Precision) -> String {
    let per_second = precision.per_second();
    let seconds = units.div_euclid(per_second);
    let fraction = units.rem_euclid(per_second);
    let mut text = format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    if fraction != 0 {
        let digits = format!(".{fraction:0width$}", width = precision.digits());
        text.push_str(digits.trim_end_matches('0'));
    }
    text
}

/// `2017-11-16T22:31:08.123` of units since 1970.
pub(crate) fn format_timestamp(units: i64, precision: Precision) -> String {
    let per_day = DAY_SECONDS * precision.per_second();
    let date = format_date(units.div_euclid(per_day));
    format!("{date}T{}", format_time(units.rem_euclid(per_day), precision))
}

/// Days of `2017-11-16`; years may have a sign and more digits.
pub(crate) fn parse_date(text: &str) -> Result<i32> {
    date(text).ok_or_else(|| Error::corrupt(format!("'{}' is not an ISO date", clip(text))))
}

/// Units since midnight of `22:31:08.123456`; seconds and fraction may be absent.
pub(crate) fn parse_time(text: &str, precision: Precision) -> Result<i64> {
    time(text, precision).ok_or_else(|| Error::corrupt(format!("'{}' is not an ISO time", clip(text))))
}

/// Units since 1970 of `2017-11-16T22:31:08.123456`, without offset.
pub(crate) fn parse_timestamp(text: &str, precision: Precision) -> Result<i64> {
    timestamp(text, precision).ok_or_else(|| Error::corrupt(format!("'{}' is not an ISO timestamp", clip(text))))
}

/// Units since 1970 of `2017-11-16T22:31:08.123456+00:00`; no other offset is allowed.
pub(crate) fn parse_timestamptz(text: &str, precision: Precision) -> Result<i64> {
    let local = ["+00:00", "Z", "z"].iter().find_map(|offset| text.strip_suffix(offset));
    local
        .and_then(|local| timestamp(local, precision))
        .ok_or_else(|| Error::corrupt(format!("'{}' is not an ISO timestamp with offset +00:00", clip(text))))
}

fn number(text: &str, digits: std::ops::RangeInclusive<usize>) -> Option<i64> {
    if !digits.contains(&text.len()) || !text.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    text.parse().ok()
}

fn date(text: &str) -> Option<i32> {
    let (sign, unsigned, year_digits) = match text.as_bytes().first()? {
        b'-' => (-1, text.get(1..)?, 4..=9),
        b'+' => (1, text.get(1..)?, 4..=9),
        _ => (1, text, 4..=4),
    };
    let mut parts = unsigned.splitn(3, '-');
    let year = sign * number(parts.next()?, year_digits)?;
    let month = u32::try_from(number(parts.next()?, 2..=2)?).ok()?;
    let day = u32::try_from(number(parts.next()?, 2..=2)?).ok()?;
    if !(1..=12).contains(&month) || day < 1 || day > days_in_month(year, month) {
        return None;
    }
    i32::try_from(days_from_civil(year, month, day)).ok()
}

fn time(text: &str, precision: Precision) -> Option<i64> {
    let (whole, fraction) = match text.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (text, None),
    };
    let mut parts = whole.splitn(3, ':');
    let hours = number(parts.next()?, 2..=2)?;
    let minutes = number(parts.next()?, 2..=2)?;
    let seconds = match parts.next() {
        Some(seconds) => number(seconds, 2..=2)?,
        None if fraction.is_some() => return None,
        None => 0,
    };
    if hours > 23 || minutes > 59 || seconds > 59 {
        return None;
    }
    let nanos = match fraction {
        None => 0,
        Some(digits) => number(digits, 1..=9)? * 10_i64.pow(9 - digits.len() as u32),
    };
    // As in Java, digits beyond the precision are cut off.
    let units = nanos / (1_000_000_000 / precision.per_second());
    Some((hours * 3600 + minutes * 60 + seconds) * precision.per_second() + units)
}

fn timestamp(text: &str, precision: Precision) -> Option<i64> {
    let (day, clock) = text.split_once(['T', 't'])?;
    let days = i128::from(date(day)?);
    let units = days * i128::from(DAY_SECONDS * precision.per_second()) + i128::from(time(clock, precision)?);
    i64::try_from(units).ok()
}

fn clip(text: &str) -> &str {
    match text.char_indices().nth(60) {
        Some((end, _)) => &text[..end],
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spec_examples() {
        assert_eq!(parse_date("2017-11-16").unwrap(), 17_486);
        assert_eq!(format_date(17_486), "2017-11-16");
        assert_eq!(
            parse_time("22:31:08.123456", Precision::Micros).unwrap(),
            81_068_123_456
        );
        assert_eq!(format_time(81_068_123_456, Precision::Micros), "22:31:08.123456");
        let micros = parse_timestamp("2017-11-16T22:31:08.123456", Precision::Micros).unwrap();
        assert_eq!(micros, 1_510_871_468_123_456);
        let nanos = parse_timestamptz("2017-11-16T22:31:08.123456789+00:00", Precision::Nanos).unwrap();
        assert_eq!(nanos, 1_510_871_468_123_456_789);
        assert_eq!(
            format_timestamp(nanos, Precision::Nanos),
            "2017-11-16T22:31:08.123456789"
        );
    }

    #[test]
    fn every_integer_has_a_text_and_comes_back() {
        for micros in [i64::MIN, -1, 0, 1, 1_000_000, i64::MAX] {
            let text = format_timestamp(micros, Precision::Micros);
            assert_eq!(parse_timestamp(&text, Precision::Micros).unwrap(), micros, "{text}");
        }
        for days in [i32::MIN, -719_529, -719_528, -1, 0, 11_016, 2_932_897, i32::MAX] {
            let text = format_date(i64::from(days));
            assert_eq!(parse_date(&text).unwrap(), days, "{text}");
        }
        assert_eq!(format_date(-719_528), "0000-01-01");
        assert_eq!(format_date(-719_529), "-0001-12-31");
        assert_eq!(format_date(2_932_897), "+10000-01-01");
        assert_eq!(format_timestamp(-1, Precision::Micros), "1969-12-31T23:59:59.999999");
        assert_eq!(format_timestamp(500_000, Precision::Micros), "1970-01-01T00:00:00.5");
    }

    #[test]
    fn what_is_not_iso_is_refused() {
        for text in [
            "2017-02-29",
            "2017-13-01",
            "2017-00-10",
            "17-01-01",
            "2017-1-1",
            "",
            "-",
            "2017-11-16T",
            "é017-11-16",
        ] {
            assert!(parse_date(text).is_err(), "{text}");
        }
        for text in [
            "24:00:00",
            "12",
            "12:60:00",
            "12:00:00.",
            "12:00.5",
            "12:00:00.1234567890",
            "12:00:0é",
        ] {
            assert!(parse_time(text, Precision::Micros).is_err(), "{text}");
        }
        assert!(parse_timestamp("2017-11-16T22:31:08+00:00", Precision::Micros).is_err());
        assert!(parse_timestamptz("2017-11-16T22:31:08", Precision::Micros).is_err());
        assert!(parse_timestamptz("2017-11-16T22:31:08+01:00", Precision::Micros).is_err());
        assert!(parse_timestamp("+999999999-01-01T00:00:00", Precision::Nanos).is_err());
    }
}
