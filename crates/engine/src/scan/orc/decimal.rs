//! Decimals: numbers of any length, each with its own scale.

use std::cmp::Ordering;
use std::sync::Arc;

use arrow::array::{ArrayRef, Decimal128Array};
use arrow::buffer::{NullBuffer, ScalarBuffer};
use arrow::datatypes::DataType;
use tarn_format::{Error, Result};

use super::column::{bad_values, mismatch, null_count, spread};
use super::integers::IntegerRuns;
use super::stream::Stream;

/// Bytes that 127 bits take at most, seven bits each.
const MOST_BYTES: u32 = 19;

/// Decimals of a column.
pub(super) struct Decimals {
    pub(super) values: Stream,
    pub(super) scales: IntegerRuns,
}

impl Decimals {
    pub(super) fn read(&mut self, data_type: &DataType, rows: usize, nulls: Option<&NullBuffer>) -> Result<ArrayRef> {
        let DataType::Decimal128(precision, scale) = data_type else {
            return Err(mismatch());
        };
        let count = rows - null_count(nulls);
        let mut scales = Vec::new();
        self.scales.read(count, &mut scales)?;
        let mut values = Vec::with_capacity(count);
        for own in scales {
            let stored = self.values.wide_varint(MOST_BYTES)?;
            let value = (stored >> 1) as i128 ^ -((stored & 1) as i128);
            let rescaled = rescaled(value, own, i64::from(*scale))
                .ok_or_else(|| Error::corrupt(format!("the ORC file holds a decimal that does not fit {data_type}")))?;
            values.push(rescaled);
        }
        let values = ScalarBuffer::from(spread(values.into_iter(), nulls, rows));
        let array = Decimal128Array::try_new(values, nulls.cloned()).map_err(bad_values)?;
        let array = array.with_precision_and_scale(*precision, *scale).map_err(bad_values)?;
        array.validate_decimal_precision(*precision).map_err(bad_values)?;
        Ok(Arc::new(array))
    }
}

/// The value at another scale; what is cut off rounds away from zero from a half on (Java: `HiveDecimal`). `None` when it
/// does not fit.
fn rescaled(value: i128, from: i64, to: i64) -> Option<i128> {
    let power = |by: i64| 10_i128.checked_pow(u32::try_from(by).ok()?);
    match from.cmp(&to) {
        Ordering::Equal => Some(value),
        Ordering::Less => value.checked_mul(power(to.checked_sub(from)?)?),
        Ordering::Greater => {
            let unit = power(from.checked_sub(to)?)?;
            let rest = value % unit;
            let is_half = rest.unsigned_abs() >= unit.unsigned_abs().div_ceil(2);
            Some(value / unit + if is_half { value.signum() } else { 0 })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::rescaled;

    #[test]
    fn values_come_to_the_scale_of_their_type() {
        assert_eq!(rescaled(15, 1, 3), Some(1500));
        assert_eq!(rescaled(-15, 1, 1), Some(-15));
        assert_eq!(rescaled(1249, 3, 1), Some(12));
        assert_eq!(rescaled(1250, 3, 1), Some(13));
        assert_eq!(rescaled(-1250, 3, 1), Some(-13));
        assert_eq!(rescaled(1, 0, 39), None);
        assert_eq!(rescaled(i128::MAX, 0, 1), None);
        assert_eq!(rescaled(1, i64::MIN, 2), None);
    }
}
