//! `avg` as Spark has it: of decimals it is a decimal, rounded half up, and NULL where the sum or the average has too many
//! digits (Java: `Average`, `DecimalDivideWithOverflowCheck`).
//!
//! DataFusion's average sums decimals but cuts the quotient off, and fails where it does not fit; the function of
//! `datafusion-spark` makes doubles of them. So DataFusion sums and counts, and the quotient is taken here.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, Decimal128Array};
use arrow::datatypes::{DataType, Decimal128Type, Decimal256Type, FieldRef, UInt64Type, i256};
use datafusion::common::{ScalarValue, exec_err};
use datafusion::error::Result;
use datafusion::functions_aggregate::average::avg_udaf;
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, EmitTo, GroupsAccumulator, ReversedUDAF, Signature, Volatility,
};

/// Most digits of a sum.
const MAX_DIGITS: u8 = 38;

/// The function.
pub(crate) fn average() -> Arc<AggregateUDF> {
    Arc::new(AggregateUDF::from(Average {
        signature: Signature::user_defined(Volatility::Immutable),
        inner: avg_udaf(),
    }))
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Average {
    signature: Signature,
    /// DataFusion's.
    inner: Arc<AggregateUDF>,
}

/// What the quotient of decimals is: digits and scale, and the scale of the sum.
#[derive(Debug, Clone, Copy)]
struct Quotient {
    digits: u8,
    scale: i8,
    sum_scale: i8,
}

impl Quotient {
    /// `None` for averages of other types, which are DataFusion's.
    fn of(arguments: &AccumulatorArgs<'_>) -> Option<Quotient> {
        let argument = arguments.expr_fields.first()?;
        match (arguments.return_field.data_type(), argument.data_type()) {
            (DataType::Decimal128(digits, scale), DataType::Decimal128(_, sum_scale)) => Some(Quotient {
                digits: *digits,
                scale: *scale,
                sum_scale: *sum_scale,
            }),
            _ => None,
        }
    }

    /// The averages of what DataFusion's accumulator holds: counts, then sums.
    fn averages(self, state: &[ArrayRef]) -> Result<ArrayRef> {
        let [counts, sums] = state else {
            return exec_err!("the state of avg has {} columns instead of 2", state.len());
        };
        let counts = counts.as_primitive::<UInt64Type>();
        let average = |at: usize, sum: i256| {
            let count = if counts.is_null(at) { 0 } else { counts.value(at) };
            self.average(sum, count)
        };
        let averages: Decimal128Array = match sums.data_type() {
            DataType::Decimal128(..) => {
                let sums = sums.as_primitive::<Decimal128Type>().iter().enumerate();
                sums.map(|(at, sum)| average(at, i256::from_i128(sum?))).collect()
            }
            DataType::Decimal256(..) => {
                let sums = sums.as_primitive::<Decimal256Type>().iter().enumerate();
                sums.map(|(at, sum)| average(at, sum?)).collect()
            }
            other => return exec_err!("avg of decimals sums {other}"),
        };
        Ok(Arc::new(averages.with_precision_and_scale(self.digits, self.scale)?))
    }

    /// The average of distinct values, which are a list in the state.
    fn average_of_list(self, state: &[ScalarValue]) -> Result<ArrayRef> {
        let [ScalarValue::List(list)] = state else {
            return exec_err!("the state of avg(DISTINCT) is no list");
        };
        let values = list.value(0);
        let values = values.as_primitive::<Decimal128Type>();
        let sum = values
            .iter()
            .flatten()
            .fold(i256::ZERO, |sum, v| sum.wrapping_add(i256::from_i128(v)));
        let count = (values.len() - values.null_count()) as u64;
        let average = Decimal128Array::from_iter([self.average(sum, count)]);
        Ok(Arc::new(average.with_precision_and_scale(self.digits, self.scale)?))
    }

    /// `None` without values, and where there is no room for the digits.
    fn average(self, sum: i256, count: u64) -> Option<i128> {
        if count == 0 || !fits(sum, MAX_DIGITS) {
            return None;
        }
        let shift = u32::try_from(i16::from(self.scale) - i16::from(self.sum_scale)).ok()?;
        let ten_to_shift = i256::from_i128(10).checked_pow(shift)?;
        let count = i256::from_i128(i128::from(count));
        let shifted = sum.checked_mul(ten_to_shift)?;
        let (whole, rest) = (shifted.checked_div(count)?, shifted.checked_rem(count)?);
        let is_half = rest.wrapping_abs().wrapping_mul(i256::from_i128(2)) >= count;
        let away = match (is_half, sum < i256::ZERO) {
            (false, _) => i256::ZERO,
            (true, false) => i256::ONE,
            (true, true) => i256::MINUS_ONE,
        };
        let rounded = whole.checked_add(away)?;
        fits(rounded, self.digits).then(|| rounded.to_i128()).flatten()
    }
}

fn fits(number: i256, digits: u8) -> bool {
    let limit = i256::from_i128(10).checked_pow(u32::from(digits));
    limit.is_none_or(|limit| number.wrapping_abs() < limit)
}

impl AggregateUDFImpl for Average {
    fn name(&self) -> &'static str {
        "avg"
    }

    fn aliases(&self) -> &[String] {
        self.inner.aliases()
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, arguments: &[DataType]) -> Result<Vec<DataType>> {
        let [argument] = arguments else {
            return datafusion::common::plan_err!("avg takes one argument, not {}", arguments.len());
        };
        Ok(vec![match argument {
            DataType::Decimal128(..) => argument.clone(),
            other if other.is_numeric() || *other == DataType::Null => DataType::Float64,
            other => return datafusion::common::plan_err!("avg takes numbers, not {other}"),
        }])
    }

    fn return_type(&self, arguments: &[DataType]) -> Result<DataType> {
        self.inner.return_type(arguments)
    }

    fn accumulator(&self, arguments: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        let quotient = Quotient::of(&arguments);
        let is_distinct = arguments.is_distinct;
        let inner = self.inner.accumulator(arguments)?;
        Ok(match quotient {
            Some(quotient) => Box::new(Decimals {
                inner,
                quotient,
                is_distinct,
            }),
            None => inner,
        })
    }

    fn state_fields(&self, arguments: StateFieldsArgs) -> Result<Vec<FieldRef>> {
        self.inner.state_fields(arguments)
    }

    fn groups_accumulator_supported(&self, arguments: AccumulatorArgs) -> bool {
        self.inner.groups_accumulator_supported(arguments)
    }

    fn create_groups_accumulator(&self, arguments: AccumulatorArgs) -> Result<Box<dyn GroupsAccumulator>> {
        let quotient = Quotient::of(&arguments);
        let inner = self.inner.create_groups_accumulator(arguments)?;
        Ok(match quotient {
            Some(quotient) => Box::new(DecimalGroups { inner, quotient }),
            None => inner,
        })
    }

    fn reverse_expr(&self) -> ReversedUDAF {
        ReversedUDAF::Identical
    }
}

/// An average of decimals.
#[derive(Debug)]
struct Decimals {
    inner: Box<dyn Accumulator>,
    quotient: Quotient,
    is_distinct: bool,
}

impl Accumulator for Decimals {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.inner.update_batch(values)
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let state = self.inner.state()?;
        let average = if self.is_distinct {
            self.quotient.average_of_list(&state)?
        } else {
            let columns: Result<Vec<ArrayRef>> = state.iter().map(|s| s.to_array()).collect();
            self.quotient.averages(&columns?)?
        };
        ScalarValue::try_from_array(&average, 0)
    }

    fn size(&self) -> usize {
        size_of::<Self>() + self.inner.size()
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        self.inner.state()
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        self.inner.merge_batch(states)
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.inner.retract_batch(values)
    }

    fn supports_retract_batch(&self) -> bool {
        self.inner.supports_retract_batch()
    }
}

/// The same for many groups.
struct DecimalGroups {
    inner: Box<dyn GroupsAccumulator>,
    quotient: Quotient,
}

impl GroupsAccumulator for DecimalGroups {
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        groups: &[usize],
        filter: Option<&BooleanArray>,
        group_count: usize,
    ) -> Result<()> {
        self.inner.update_batch(values, groups, filter, group_count)
    }

    fn evaluate(&mut self, emit_to: EmitTo) -> Result<ArrayRef> {
        self.quotient.averages(&self.inner.state(emit_to)?)
    }

    fn state(&mut self, emit_to: EmitTo) -> Result<Vec<ArrayRef>> {
        self.inner.state(emit_to)
    }

    fn merge_batch(&mut self, values: &[ArrayRef], groups: &[usize], group_count: usize) -> Result<()> {
        self.inner.merge_batch(values, groups, group_count)
    }

    fn convert_to_state(&self, values: &[ArrayRef], filter: Option<&BooleanArray>) -> Result<Vec<ArrayRef>> {
        self.inner.convert_to_state(values, filter)
    }

    fn size(&self) -> usize {
        size_of::<Self>() + self.inner.size()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Spark 3.5: avg of decimal(38,0), decimal(10,2).
    #[test]
    fn averages_are_rounded_half_up_or_null() {
        let average = |digits, scale, sum_scale, sum: i128, count| {
            let quotient = Quotient {
                digits,
                scale,
                sum_scale,
            };
            quotient.average(i256::from_i128(sum), count)
        };
        assert_eq!(average(14, 6, 2, 100, 3), Some(333_333));
        assert_eq!(average(14, 6, 2, 200, 3), Some(666_667));
        assert_eq!(average(14, 6, 2, -200, 3), Some(-666_667));
        assert_eq!(average(3, 0, 0, 5, 2), Some(3), "half is away from zero");
        assert_eq!(average(3, 0, 0, -5, 2), Some(-3), "half is away from zero");
        assert_eq!(average(14, 6, 2, 0, 0), None, "no values");
        let most = 10_i128.pow(38) - 1;
        assert_eq!(average(38, 4, 0, most, 1), None, "34 digits before the point");
        assert_eq!(
            average(38, 4, 0, 10_i128.pow(34) - 1, 1),
            Some((10_i128.pow(34) - 1) * 10_000)
        );
        assert_eq!(average(38, 0, 0, most + 1, 10), None, "the sum has 39 digits");
    }
}
