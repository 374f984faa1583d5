//! `date_format(time, pattern)`, and text read by a pattern.

use std::sync::Arc;

use chrono::{DateTime, NaiveDateTime};
use datafusion::arrow::array::timezone::Tz;
use datafusion::arrow::array::{AsArray, StringViewArray, TimestampMicrosecondArray};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, TimeUnit, TimestampMicrosecondType};
use datafusion::common::{ScalarValue, exec_err, plan_err};
use datafusion::error::Result;
use datafusion::logical_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};

use super::date_pattern::DatePattern;
use super::timestamp_text::local;

/// Which way a pattern is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum PatternUse {
    /// From a timestamp to text: `date_format(timestamp, pattern)`.
    Format,
    /// From text to a timestamp without a zone.
    Parse,
}

/// A function of a value and a constant pattern.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct PatternFunction {
    direction: PatternUse,
    signature: Signature,
}

impl PatternFunction {
    pub(crate) fn new(direction: PatternUse) -> Self {
        PatternFunction {
            direction,
            signature: Signature::any(2, Volatility::Immutable),
        }
    }
}

impl ScalarUDFImpl for PatternFunction {
    fn name(&self) -> &str {
        match self.direction {
            PatternUse::Format => "time_by_pattern",
            PatternUse::Parse => "time_of_pattern",
        }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        match (self.direction, types.first()) {
            (PatternUse::Format, Some(DataType::Timestamp(..))) => Ok(DataType::Utf8View),
            (PatternUse::Format, other) => plan_err!("a pattern formats timestamps, not {other:?}"),
            (PatternUse::Parse, _) => Ok(DataType::Timestamp(TimeUnit::Microsecond, None)),
        }
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let [value, ColumnarValue::Scalar(pattern)] = args.args.as_slice() else {
            return exec_err!("the pattern of a time must be a constant");
        };
        let Some(pattern) = pattern.try_as_str().flatten() else {
            return ColumnarValue::Scalar(ScalarValue::try_from(args.return_field.data_type())?)
                .cast_to(args.return_field.data_type(), None);
        };
        let pattern = DatePattern::parse(pattern)?;
        let is_constant = matches!(value, ColumnarValue::Scalar(_));
        let array = value.to_array(if is_constant { 1 } else { args.number_rows })?;
        let result: datafusion::arrow::array::ArrayRef = match self.direction {
            PatternUse::Format => {
                let zone: Option<Tz> = match array.data_type() {
                    DataType::Timestamp(_, Some(zone)) => Some(zone.parse()?),
                    _ => None,
                };
                let micros = cast(&array, &DataType::Timestamp(TimeUnit::Microsecond, None))?;
                let times = micros.as_primitive::<TimestampMicrosecondType>().iter();
                let texts = times.map(|v| {
                    let utc: NaiveDateTime = DateTime::from_timestamp_micros(v?)?.naive_utc();
                    Some(pattern.format(local(utc, zone)))
                });
                Arc::new(texts.collect::<StringViewArray>())
            }
            PatternUse::Parse => {
                let texts = cast(&array, &DataType::Utf8)?;
                let times = texts.as_string::<i32>().iter();
                let times = times.map(|t| Some(pattern.parse_time(t?)?.and_utc().timestamp_micros()));
                Arc::new(times.collect::<TimestampMicrosecondArray>())
            }
        };
        if is_constant {
            return Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&result, 0)?));
        }
        Ok(ColumnarValue::Array(result))
    }
}
