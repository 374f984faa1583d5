//! Timestamps: seconds from the start of 2015, and nanoseconds (ORC specification, "Timestamp Columns").

use std::sync::Arc;

use arrow::array::timezone::Tz;
use arrow::array::{ArrayRef, TimestampMicrosecondArray, TimestampNanosecondArray};
use arrow::buffer::{NullBuffer, ScalarBuffer};
use arrow::datatypes::{DataType, TimeUnit};
use chrono::{DateTime, Offset, TimeZone};
use tarn_format::{Error, Result};

use super::column::{bad_values, mismatch, null_count, spread};
use super::integers::IntegerRuns;

/// Seconds from 1970 to 2015.
const EPOCH: i64 = 1_420_070_400;

const NANOS_PER_SECOND: i128 = 1_000_000_000;

/// Timestamps of a column.
pub(super) struct Timestamps {
    seconds: IntegerRuns,
    nanos: IntegerRuns,
    /// The clock of the writer, where it shows another time than UTC.
    zone: Option<Tz>,
    /// The start of 2015 by that clock.
    base: i64,
}

impl Timestamps {
    /// `zone` is the writer's for timestamps without a zone: what its clock showed is what they say.
    ///
    /// # Errors
    /// `Unsupported` when the zone is not known.
    pub(super) fn new(seconds: IntegerRuns, nanos: IntegerRuns, zone: Option<&str>) -> Result<Self> {
        let zone = zone.and_then(known_zone).transpose()?;
        let base = match &zone {
            Some(zone) => {
                let midnight = DateTime::from_timestamp(EPOCH, 0).map(|utc| utc.naive_utc());
                let start = midnight.and_then(|midnight| zone.from_local_datetime(&midnight).earliest());
                start.ok_or_else(mismatch)?.timestamp()
            }
            None => EPOCH,
        };
        Ok(Timestamps {
            seconds,
            nanos,
            zone,
            base,
        })
    }

    pub(super) fn read(&mut self, data_type: &DataType, rows: usize, nulls: Option<&NullBuffer>) -> Result<ArrayRef> {
        let DataType::Timestamp(unit, zone) = data_type else {
            return Err(mismatch());
        };
        let count = rows - null_count(nulls);
        let (mut seconds, mut nanos) = (Vec::new(), Vec::new());
        self.seconds.read(count, &mut seconds)?;
        self.nanos.read(count, &mut nanos)?;
        let stored = seconds.iter().zip(&nanos);
        let values: Result<Vec<i64>> = stored.map(|(s, n)| self.value(*s, *n, *unit)).collect();
        let values = ScalarBuffer::from(spread(values?.into_iter(), nulls, rows));
        let (zone, nulls) = (zone.clone(), nulls.cloned());
        Ok(match unit {
            TimeUnit::Nanosecond => {
                let array = TimestampNanosecondArray::try_new(values, nulls).map_err(bad_values)?;
                Arc::new(array.with_timezone_opt(zone))
            }
            _ => {
                let array = TimestampMicrosecondArray::try_new(values, nulls).map_err(bad_values)?;
                Arc::new(array.with_timezone_opt(zone))
            }
        })
    }

    fn value(&self, seconds: i64, nanos: i64, unit: TimeUnit) -> Result<i64> {
        let value = self.nanos(seconds, nanos).and_then(|nanos| match unit {
            TimeUnit::Nanosecond => i64::try_from(nanos).ok(),
            _ => i64::try_from(nanos.div_euclid(1000)).ok(),
        });
        value.ok_or_else(|| Error::corrupt("the ORC file holds a timestamp that is out of range"))
    }

    /// Nanoseconds from 1970.
    fn nanos(&self, seconds: i64, stored_nanos: i64) -> Option<i128> {
        let nanos = nanos(stored_nanos)?;
        let mut seconds = seconds.checked_add(self.base)?;
        // Writers count from the second after, down from 1970, unless there are no milliseconds (ORC-763).
        if seconds < 0 && nanos > 999_999 {
            seconds = seconds.checked_sub(1)?;
        }
        if let Some(zone) = &self.zone {
            let utc = DateTime::from_timestamp(seconds, 0)?.naive_utc();
            let ahead = zone.offset_from_utc_datetime(&utc).fix().local_minus_utc();
            seconds = seconds.checked_add(i64::from(ahead))?;
        }
        Some(i128::from(seconds) * NANOS_PER_SECOND + i128::from(nanos))
    }
}

/// Nanoseconds of a second: the last three bits tell how many zeros were left out, one fewer than it is.
fn nanos(stored: i64) -> Option<i64> {
    let zeros = match stored & 7 {
        0 => 0,
        fewer => fewer as u32 + 1,
    };
    let nanos = (stored as u64 >> 3).checked_mul(10_u64.pow(zeros))?;
    i64::try_from(nanos)
        .ok()
        .filter(|nanos| i128::from(*nanos) < NANOS_PER_SECOND)
}

/// A zone of Java's names; `None` for UTC.
fn known_zone(name: &str) -> Option<Result<Tz>> {
    if ["", "UTC", "GMT", "Z", "Etc/UTC", "Etc/GMT", "UCT"].contains(&name) {
        return None;
    }
    let offset = name.strip_prefix("GMT").or_else(|| name.strip_prefix("UTC"));
    let name = offset.filter(|offset| offset.starts_with(['+', '-'])).unwrap_or(name);
    let zone = name.parse::<Tz>();
    Some(zone.map_err(|e| {
        Error::unsupported(format!(
            "the ORC file was written in time zone '{name}', which is not known"
        ))
        .with_source(e)
    }))
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::super::integers::{Sign, Version};
    use super::super::stream::{Compression, Stream};
    use super::*;

    fn timestamps(zone: &str) -> Timestamps {
        let compression = Compression {
            codec: None,
            chunk_bytes: 0,
        };
        let runs = || IntegerRuns::new(Stream::new(Some(Bytes::new()), compression), Version::Two, Sign::Signed);
        Timestamps::new(runs(), runs(), Some(zone)).unwrap()
    }

    /// The specification's examples: 1000 nanoseconds are stored as 0x0a, 100000 as 0x0c.
    #[test]
    fn zeros_of_nanoseconds_are_left_out() {
        assert_eq!(nanos(0x0a), Some(1000));
        assert_eq!(nanos(0x0c), Some(100_000));
        assert_eq!(nanos(7 << 3), Some(7));
        assert_eq!(nanos(0), Some(0));
        assert_eq!(nanos(-1), None);
        assert_eq!(nanos(1_000_000_000 << 3), None);
    }

    /// `TimestampTreeWriter` stores 1969-12-31 23:59:58.5 as the second after it and its milliseconds.
    #[test]
    fn before_1970_seconds_are_those_after() {
        let utc = timestamps("UTC");
        let half = (5 << 3) | 7;
        assert_eq!(nanos(half), Some(500_000_000));
        assert_eq!(utc.value(-1 - EPOCH, half, TimeUnit::Microsecond).unwrap(), -1_500_000);
        assert_eq!(utc.value(-1 - EPOCH, 0, TimeUnit::Microsecond).unwrap(), -1_000_000);
        // 999 nanoseconds are no reason for it, and microseconds are rounded down.
        assert_eq!(
            utc.value(-1 - EPOCH, 999 << 3, TimeUnit::Microsecond).unwrap(),
            -1_000_000
        );
        assert_eq!(
            utc.value(-1 - EPOCH, 999 << 3, TimeUnit::Nanosecond).unwrap(),
            -999_999_001
        );
        assert!(utc.value(i64::MIN, 0, TimeUnit::Microsecond).is_err());
        assert!(utc.value(9_000_000_000, 0, TimeUnit::Microsecond).is_ok());
        assert!(utc.value(9_000_000_000, 0, TimeUnit::Nanosecond).is_err());
    }

    /// What the writer's clock showed: in winter, in summer, and at an offset.
    #[test]
    fn clocks_of_the_writer() {
        let los_angeles = timestamps("America/Los_Angeles");
        // The start of 2015 there, and the first of July 2015 at midnight: 181 days later, less the hour of summer time.
        assert_eq!(
            los_angeles.value(0, 0, TimeUnit::Microsecond).unwrap(),
            EPOCH * 1_000_000
        );
        let july = 181 * 86_400;
        let shown = los_angeles.value(july - 3600, 0, TimeUnit::Microsecond).unwrap();
        assert_eq!(shown, (EPOCH + july) * 1_000_000);
        let offset = timestamps("GMT+05:30");
        assert_eq!(
            offset.value(60, 0, TimeUnit::Microsecond).unwrap(),
            (EPOCH + 60) * 1_000_000
        );
        assert!(known_zone("Nowhere/At_All").unwrap().is_err());
    }
}
