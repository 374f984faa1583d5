//! Timestamps as text, as Spark's CAST writes them: in the timestamp's zone, without trailing zeros.

use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, AsArray, StringViewBuilder};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, TimeUnit, TimestampMicrosecondType};
use datafusion::common::cast::as_string_view_array;
use datafusion::common::exec_err;
use datafusion::error::Result;
use datafusion::logical_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};

/// A timestamp as text.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct TimestampText {
    signature: Signature,
}

impl TimestampText {
    pub(crate) fn new() -> Self {
        TimestampText {
            signature: Signature::any(1, Volatility::Immutable),
        }
    }
}

impl ScalarUDFImpl for TimestampText {
    fn name(&self) -> &str {
        "timestamp_text"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _arguments: &[DataType]) -> Result<DataType> {
        Ok(DataType::Utf8View)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let Some(value) = args.args.first() else {
            return exec_err!("timestamp_text takes a timestamp");
        };
        if !matches!(value.data_type(), DataType::Timestamp(..)) {
            return exec_err!("timestamp_text takes a timestamp, not {}", value.data_type());
        }
        let is_scalar = matches!(value, ColumnarValue::Scalar(_));
        let array = value.to_array(args.number_rows)?;
        let out = timestamps_as_text(&array)?;
        if is_scalar && out.len() == 1 {
            let text = as_string_view_array(&out)?;
            let value = (!text.is_null(0)).then(|| text.value(0).to_string());
            return Ok(ColumnarValue::Scalar(datafusion::common::ScalarValue::Utf8View(value)));
        }
        Ok(ColumnarValue::Array(out))
    }
}

/// Timestamps as text.
///
/// # Errors
/// For arrays of other types.
pub(crate) fn timestamps_as_text(array: &ArrayRef) -> Result<ArrayRef> {
    // The local time is a timestamp without a zone.
    let local = cast(array, &DataType::Timestamp(TimeUnit::Microsecond, None))?;
    let micros = local.as_primitive::<TimestampMicrosecondType>();
    let mut out = StringViewBuilder::with_capacity(micros.len());
    for i in 0..micros.len() {
        let time = if micros.is_null(i) {
            None
        } else {
            micros.value_as_datetime(i)
        };
        match time {
            None => out.append_null(),
            Some(time) => {
                let text = time.format("%Y-%m-%d %H:%M:%S%.6f").to_string();
                let text = text.trim_end_matches('0').trim_end_matches('.');
                out.append_value(text);
            }
        }
    }
    Ok(Arc::new(out.finish()))
}
