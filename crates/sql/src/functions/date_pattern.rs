//! Times by a pattern of letters, as Java's `DateTimeFormatter` and Spark's functions take it: `yyyy-MM-dd HH:mm:ss`.

use chrono::{Datelike, NaiveDate, NaiveDateTime, NaiveTime, Timelike};
use datafusion::common::plan_err;
use datafusion::error::Result;

/// A part of a pattern: a letter and how often it is repeated, or text that stands for itself.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Text(String),
    Field(Field, usize),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Field {
    Year,
    Month,
    Day,
    DayOfYear,
    Weekday,
    Hour,
    HourOfHalf,
    Minute,
    Second,
    Fraction,
    Half,
    Quarter,
}

/// A pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DatePattern(Vec<Part>);

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

impl DatePattern {
    /// Reads a pattern.
    ///
    /// # Errors
    /// For letters that are none of a pattern, and an open quote.
    pub(crate) fn parse(pattern: &str) -> Result<Self> {
        let mut parts = Vec::new();
        let mut rest = pattern;
        while let Some(first) = rest.chars().next() {
            if first == '\'' {
                let (text, after) = quoted(rest, pattern)?;
                push_text(&mut parts, &text);
                rest = after;
                continue;
            }
            let length = rest.len() - rest.trim_start_matches(first).len();
            let (run, after) = rest.split_at(length);
            rest = after;
            if !first.is_ascii_alphabetic() {
                push_text(&mut parts, run);
                continue;
            }
            let field = match first {
                'y' | 'u' => Field::Year,
                'M' | 'L' => Field::Month,
                'd' => Field::Day,
                'D' => Field::DayOfYear,
                'E' => Field::Weekday,
                'H' => Field::Hour,
                'h' => Field::HourOfHalf,
                'm' => Field::Minute,
                's' => Field::Second,
                'S' => Field::Fraction,
                'a' => Field::Half,
                'q' | 'Q' => Field::Quarter,
                other => return plan_err!("the letter '{other}' in the pattern '{pattern}' is not supported"),
            };
            parts.push(Part::Field(field, length));
        }
        Ok(DatePattern(parts))
    }

    /// A time in this pattern.
    pub(crate) fn format(&self, time: NaiveDateTime) -> String {
        let mut out = String::new();
        for part in &self.0 {
            match part {
                Part::Text(text) => out.push_str(text),
                Part::Field(field, width) => out.push_str(&field.format(*width, time)),
            }
        }
        out
    }

    /// The time that a text in this pattern says; `None` when the text does not follow it to its end.
    pub(crate) fn parse_time(&self, text: &str) -> Option<NaiveDateTime> {
        let mut found = Found::default();
        let mut rest = text;
        for (i, part) in self.0.iter().enumerate() {
            match part {
                Part::Text(expected) => rest = rest.strip_prefix(expected.as_str())?,
                Part::Field(field, width) => {
                    // Digits of neighbouring fields are told apart by their number.
                    let is_tight = matches!(self.0.get(i + 1), Some(Part::Field(next, _)) if next.is_number());
                    rest = found.read(*field, *width, is_tight, rest)?;
                }
            }
        }
        rest.is_empty().then(|| found.time()).flatten()
    }
}

fn push_text(parts: &mut Vec<Part>, text: &str) {
    match parts.last_mut() {
        Some(Part::Text(last)) => last.push_str(text),
        _ => parts.push(Part::Text(text.to_string())),
    }
}

/// A quoted text at the beginning, in which two quotes are one, and what follows it.
fn quoted<'p>(rest: &'p str, pattern: &str) -> Result<(String, &'p str)> {
    if let Some(after) = rest.strip_prefix("''") {
        return Ok(("'".to_string(), after));
    }
    let mut text = String::new();
    let mut inside = &rest[1..];
    loop {
        let Some(end) = inside.find('\'') else {
            return plan_err!("a quote is open in the pattern '{pattern}'");
        };
        text.push_str(&inside[..end]);
        inside = &inside[end + 1..];
        match inside.strip_prefix('\'') {
            Some(after) => {
                text.push('\'');
                inside = after;
            }
            None => return Ok((text, inside)),
        }
    }
}

impl Field {
    fn is_number(self) -> bool {
        !matches!(self, Field::Half | Field::Weekday)
    }

    fn format(self, width: usize, time: NaiveDateTime) -> String {
        let padded = |number: u32| format!("{number:0>width$}");
        match self {
            Field::Year if width == 2 => format!("{:02}", time.year().rem_euclid(100)),
            Field::Year => format!("{:0>width$}", time.year()),
            Field::Month => match (width, MONTHS.get(time.month0() as usize)) {
                (3, Some(name)) => name[..3].to_string(),
                (4, Some(name)) => (*name).to_string(),
                _ => padded(time.month()),
            },
            Field::Day => padded(time.day()),
            Field::DayOfYear => padded(time.ordinal()),
            Field::Weekday if width >= 4 => time.format("%A").to_string(),
            Field::Weekday => time.format("%a").to_string(),
            Field::Hour => padded(time.hour()),
            Field::HourOfHalf => padded(time.hour12().1),
            Field::Minute => padded(time.minute()),
            Field::Second => padded(time.second()),
            Field::Fraction => {
                let nanos = format!("{:09}", time.nanosecond());
                format!("{nanos:0<width$}")[..width].to_string()
            }
            Field::Half => if time.hour() < 12 { "AM" } else { "PM" }.to_string(),
            Field::Quarter => padded(time.month0() / 3 + 1),
        }
    }
}

/// What a text was found to say.
#[derive(Default)]
struct Found {
    year: Option<i32>,
    month: Option<u32>,
    day: Option<u32>,
    hour: u32,
    hour_of_half: Option<u32>,
    is_afternoon: bool,
    minute: u32,
    second: u32,
    nanos: u32,
}

impl Found {
    fn read<'t>(&mut self, field: Field, width: usize, is_tight: bool, text: &'t str) -> Option<&'t str> {
        match field {
            Field::Half => {
                let half = text.get(..2)?;
                self.is_afternoon = half.eq_ignore_ascii_case("PM");
                return (self.is_afternoon || half.eq_ignore_ascii_case("AM")).then(|| &text[2..]);
            }
            Field::Month if width >= 3 => {
                let matches = |name: &&str| {
                    let wanted = if width == 3 { &name[..3] } else { *name };
                    text.get(..wanted.len()).is_some_and(|t| t.eq_ignore_ascii_case(wanted))
                };
                let index = MONTHS.iter().position(matches)?;
                self.month = u32::try_from(index + 1).ok();
                let length = if width == 3 { 3 } else { MONTHS[index].len() };
                return text.get(length..);
            }
            Field::Weekday => return Some(text.trim_start_matches(|c: char| c.is_ascii_alphabetic())),
            _ => {}
        }
        let most = match (field, is_tight) {
            (_, true) => width,
            (Field::Year, _) => 6,
            (Field::Fraction, _) => 9,
            _ => width.max(2),
        };
        let digits = text.bytes().take(most).take_while(u8::is_ascii_digit).count();
        let (number, rest) = text.split_at(digits);
        let value: u32 = number.parse().ok()?;
        if digits < width && !matches!(field, Field::Fraction) {
            return None;
        }
        match field {
            Field::Year if width == 2 => self.year = i32::try_from(2000 + value).ok(),
            Field::Year => self.year = i32::try_from(value).ok(),
            Field::Month => self.month = Some(value),
            Field::Day => self.day = Some(value),
            Field::Hour => self.hour = value,
            Field::HourOfHalf => self.hour_of_half = Some(value),
            Field::Minute => self.minute = value,
            Field::Second => self.second = value,
            Field::Fraction => self.nanos = format!("{number:0<9}").parse().ok()?,
            Field::DayOfYear | Field::Quarter | Field::Half | Field::Weekday => return None,
        }
        Some(rest)
    }

    fn time(&self) -> Option<NaiveDateTime> {
        let date = NaiveDate::from_ymd_opt(
            self.year.unwrap_or(1970),
            self.month.unwrap_or(1),
            self.day.unwrap_or(1),
        )?;
        let hour = match self.hour_of_half {
            Some(hour @ 1..=12) => hour % 12 + if self.is_afternoon { 12 } else { 0 },
            Some(_) => return None,
            None => self.hour,
        };
        Some(date.and_time(NaiveTime::from_hms_nano_opt(
            hour,
            self.minute,
            self.second,
            self.nanos,
        )?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(text: &str) -> NaiveDateTime {
        NaiveDateTime::parse_from_str(text, "%Y-%m-%d %H:%M:%S%.f").unwrap()
    }

    // Results of Spark 3.5.
    #[test]
    fn times_are_formatted() {
        let at = time("2024-05-06 13:04:05.678");
        for (pattern, expected) in [
            ("yyyy/MM/dd", "2024/05/06"),
            ("dd.MM.yy HH:mm:ss.SSS a EEE", "06.05.24 13:04:05.678 PM Mon"),
            ("MMM d, yyyy", "May 6, 2024"),
            ("yyyy-MM-dd'T'HH:mm", "2024-05-06T13:04"),
            ("hh 'o''clock'", "01 o'clock"),
        ] {
            assert_eq!(DatePattern::parse(pattern).unwrap().format(at), expected, "{pattern}");
        }
        assert!(DatePattern::parse("bb").is_err());
        assert!(DatePattern::parse("'x").is_err());
    }

    #[test]
    fn times_are_read() {
        let read = |pattern: &str, text: &str| DatePattern::parse(pattern).unwrap().parse_time(text);
        assert_eq!(read("dd.MM.yyyy", "06.05.2024"), Some(time("2024-05-06 00:00:00")));
        assert_eq!(
            read("yyyy-MM-dd HH", "2024-05-06 01"),
            Some(time("2024-05-06 01:00:00"))
        );
        assert_eq!(read("yyyyMMdd", "20240506"), Some(time("2024-05-06 00:00:00")));
        assert_eq!(
            read("MMM d yyyy h a", "Jan 5 2024 3 PM"),
            Some(time("2024-01-05 15:00:00"))
        );
        assert_eq!(read("yyyy-MM-dd", "2024-05-06 01"), None, "more than the pattern");
        assert_eq!(read("yyyy-MM-dd", "2024-13-06"), None);
    }
}
