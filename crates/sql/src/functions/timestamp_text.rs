//! Timestamps as clocks show them: as text, as Spark's CAST writes it, and as timestamps without a zone.

use std::sync::Arc;

use chrono::{DateTime, NaiveDateTime, TimeZone};
use datafusion::arrow::array::timezone::Tz;
use datafusion::arrow::array::{ArrayRef, AsArray, StringViewArray, TimestampMicrosecondArray};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, TimeUnit, TimestampMicrosecondType};
use datafusion::common::exec_err;
use datafusion::error::Result;

use super::unary::Kernel;

/// A timestamp as text.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct TimestampText;

impl Kernel for TimestampText {
    fn name(&self) -> &str {
        "timestamp_text"
    }

    fn return_type(&self, _argument: &DataType) -> Result<DataType> {
        Ok(DataType::Utf8View)
    }

    fn evaluate(&self, array: &ArrayRef) -> Result<ArrayRef> {
        timestamps_as_text(array)
    }
}

/// Timestamps as text, in their own zone.
///
/// # Errors
/// For arrays of other types.
pub(crate) fn timestamps_as_text(array: &ArrayRef) -> Result<ArrayRef> {
    let DataType::Timestamp(_, zone) = array.data_type() else {
        return exec_err!("timestamp_text takes a timestamp, not {}", array.data_type());
    };
    let zone: Option<Tz> = zone.as_ref().map(|z| z.parse()).transpose()?;
    let micros = cast(array, &DataType::Timestamp(TimeUnit::Microsecond, None))?;
    let micros = micros.as_primitive::<TimestampMicrosecondType>();
    let texts = micros.iter().map(|v| {
        let utc = DateTime::from_timestamp_micros(v?)?.naive_utc();
        Some(text(local(utc, zone)))
    });
    Ok(Arc::new(texts.collect::<StringViewArray>()))
}

/// A timestamp of the time that clocks show.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct LocalTime;

impl Kernel for LocalTime {
    fn name(&self) -> &str {
        "local_time"
    }

    fn return_type(&self, _argument: &DataType) -> Result<DataType> {
        Ok(DataType::Timestamp(TimeUnit::Microsecond, None))
    }

    fn evaluate(&self, array: &ArrayRef) -> Result<ArrayRef> {
        let DataType::Timestamp(_, zone) = array.data_type() else {
            return exec_err!("local_time takes a timestamp, not {}", array.data_type());
        };
        let zone: Option<Tz> = zone.as_ref().map(|z| z.parse()).transpose()?;
        let micros = cast(array, &DataType::Timestamp(TimeUnit::Microsecond, None))?;
        let micros = micros.as_primitive::<TimestampMicrosecondType>();
        let times: TimestampMicrosecondArray = micros.unary_opt(|v| {
            let utc = DateTime::from_timestamp_micros(v)?.naive_utc();
            Some(local(utc, zone).and_utc().timestamp_micros())
        });
        Ok(Arc::new(times))
    }
}

/// The time that clocks of a zone show.
pub(crate) fn local(utc: NaiveDateTime, zone: Option<Tz>) -> NaiveDateTime {
    match zone {
        Some(zone) => zone.from_utc_datetime(&utc).naive_local(),
        None => utc,
    }
}

fn text(time: NaiveDateTime) -> String {
    let text = time.format("%Y-%m-%d %H:%M:%S%.6f").to_string();
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}
