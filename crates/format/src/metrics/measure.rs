//! Counters and timers as reports carry them.

use serde::{Deserialize, Deserializer, Serialize};

/// What a counter counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// Not told.
    Undefined,
    /// Bytes.
    Bytes,
    /// Things.
    Count,
}

impl<'de> Deserialize<'de> for Unit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        match name.to_ascii_lowercase().as_str() {
            "undefined" => Ok(Unit::Undefined),
            "bytes" => Ok(Unit::Bytes),
            "count" => Ok(Unit::Count),
            _ => Err(serde::de::Error::custom(format!("invalid unit: {name}"))),
        }
    }
}

/// The value of a counter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct CounterResult {
    /// What was counted.
    pub unit: Unit,
    /// How much.
    pub value: i64,
}

impl CounterResult {
    /// A number of things. Values beyond `i64` are reported as its maximum.
    pub fn count(value: u64) -> Self {
        CounterResult {
            unit: Unit::Count,
            value: i64::try_from(value).unwrap_or(i64::MAX),
        }
    }

    /// A number of bytes. Values beyond `i64` are reported as its maximum.
    pub fn bytes(value: u64) -> Self {
        CounterResult {
            unit: Unit::Bytes,
            ..Self::count(value)
        }
    }
}

/// The unit of a timer's duration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum TimeUnit {
    Nanoseconds,
    Microseconds,
    Milliseconds,
    Seconds,
    Minutes,
    Hours,
    Days,
}

impl TimeUnit {
    const ALL: [(TimeUnit, &'static str, i64); 7] = [
        (TimeUnit::Nanoseconds, "nanoseconds", 1),
        (TimeUnit::Microseconds, "microseconds", 1_000),
        (TimeUnit::Milliseconds, "milliseconds", 1_000_000),
        (TimeUnit::Seconds, "seconds", 1_000_000_000),
        (TimeUnit::Minutes, "minutes", 60 * 1_000_000_000),
        (TimeUnit::Hours, "hours", 3_600 * 1_000_000_000),
        (TimeUnit::Days, "days", 86_400 * 1_000_000_000),
    ];

    /// How many nanoseconds one of it is.
    pub fn nanos(self) -> i64 {
        Self::ALL
            .iter()
            .find(|(unit, _, _)| *unit == self)
            .map_or(1, |(_, _, nanos)| *nanos)
    }
}

impl<'de> Deserialize<'de> for TimeUnit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        let found = Self::ALL.iter().find(|(_, n, _)| n.eq_ignore_ascii_case(&name));
        found
            .map(|(unit, _, _)| *unit)
            .ok_or_else(|| serde::de::Error::custom(format!("invalid time unit: {name}")))
    }
}

/// The value of a timer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct TimerResult {
    /// How often it ran.
    pub count: i64,
    /// The unit of the duration. Tarn always measures nanoseconds.
    pub time_unit: TimeUnit,
    /// All runs together, in that unit.
    pub total_duration: i64,
}

impl TimerResult {
    /// A timer that ran `count` times, `total_ns` nanoseconds in all.
    pub fn nanoseconds(count: u64, total_ns: u64) -> Self {
        TimerResult {
            count: i64::try_from(count).unwrap_or(i64::MAX),
            time_unit: TimeUnit::Nanoseconds,
            total_duration: i64::try_from(total_ns).unwrap_or(i64::MAX),
        }
    }

    /// The duration in nanoseconds, at most `i64::MAX`.
    pub fn total_ns(&self) -> i64 {
        self.total_duration.saturating_mul(self.time_unit.nanos())
    }
}
