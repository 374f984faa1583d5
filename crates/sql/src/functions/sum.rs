//! `sum` as Spark has it: a sum of decimals that needs more than 38 digits is NULL (Java: `Sum`, not in ANSI mode).
//!
//! DataFusion's sum wraps around there. It stays for everything else, and for decimals of at most 28 digits, of which
//! ten billion can be added before that happens.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, Decimal128Array};
use arrow::datatypes::{DataType, Decimal128Type, FieldRef, i256};
use datafusion::common::{ScalarValue, exec_err};
use datafusion::error::Result;
use datafusion::functions_aggregate::sum::sum_udaf;
use datafusion::logical_expr::expr::AggregateFunction;
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, EmitTo, Expr, GroupsAccumulator, Operator, ReversedUDAF, Signature,
    StatisticsArgs,
};
use datafusion_functions_aggregate_common::aggregate::groups_accumulator::prim_op::PrimitiveGroupsAccumulator;

/// Most digits of arguments whose sum DataFusion takes.
const SAFE_DIGITS: u8 = 28;

/// The least number of more digits than a sum has.
const TOO_MANY_DIGITS: i128 = 10_i128.pow(38);

/// In partial sums: there were more digits than fit. No sum has this value, and once there it stays.
const OVERFLOWED: i128 = i128::MAX;

/// The function.
pub(crate) fn sum() -> Arc<AggregateUDF> {
    Arc::new(AggregateUDF::from(Sum { inner: sum_udaf() }))
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Sum {
    /// DataFusion's.
    inner: Arc<AggregateUDF>,
}

/// The scale of sums that can have too many digits; `None` for those that are DataFusion's.
fn checked_scale(arguments: &AccumulatorArgs<'_>) -> Option<i8> {
    match arguments.expr_fields.first()?.data_type() {
        DataType::Decimal128(digits, scale) if *digits > SAFE_DIGITS => Some(*scale),
        _ => None,
    }
}

fn array(sums: Decimal128Array, scale: i8) -> Result<ArrayRef> {
    Ok(Arc::new(sums.with_precision_and_scale(38, scale)?))
}

impl AggregateUDFImpl for Sum {
    fn name(&self) -> &'static str {
        "sum"
    }

    fn aliases(&self) -> &[String] {
        self.inner.aliases()
    }

    fn signature(&self) -> &Signature {
        self.inner.signature()
    }

    fn return_type(&self, arguments: &[DataType]) -> Result<DataType> {
        self.inner.return_type(arguments)
    }

    fn accumulator(&self, arguments: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        match (checked_scale(&arguments), arguments.is_distinct) {
            (None, _) => self.inner.accumulator(arguments),
            (Some(scale), true) => Ok(Box::new(DistinctSum {
                inner: self.inner.accumulator(arguments)?,
                scale,
            })),
            (Some(scale), false) => Ok(Box::new(ExactSum::new(scale))),
        }
    }

    fn create_sliding_accumulator(&self, arguments: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        match checked_scale(&arguments) {
            Some(scale) if !arguments.is_distinct => Ok(Box::new(ExactSum::new(scale))),
            _ => self.inner.create_sliding_accumulator(arguments),
        }
    }

    fn state_fields(&self, arguments: StateFieldsArgs) -> Result<Vec<FieldRef>> {
        self.inner.state_fields(arguments)
    }

    fn groups_accumulator_supported(&self, arguments: AccumulatorArgs) -> bool {
        self.inner.groups_accumulator_supported(arguments)
    }

    fn create_groups_accumulator(&self, arguments: AccumulatorArgs) -> Result<Box<dyn GroupsAccumulator>> {
        let Some(scale) = checked_scale(&arguments) else {
            return self.inner.create_groups_accumulator(arguments);
        };
        let sums = PrimitiveGroupsAccumulator::<Decimal128Type, _>::new(arguments.return_field.data_type(), add);
        Ok(Box::new(GroupSums { sums, scale }))
    }

    fn reverse_expr(&self) -> ReversedUDAF {
        ReversedUDAF::Identical
    }

    fn simplify_expr_op_literal(
        &self,
        function: &AggregateFunction,
        argument: &Expr,
        op: Operator,
        literal: &Expr,
        argument_is_left: bool,
    ) -> Result<Option<Expr>> {
        let inner = self.inner.inner();
        inner.simplify_expr_op_literal(function, argument, op, literal, argument_is_left)
    }

    fn value_from_stats(&self, arguments: &StatisticsArgs) -> Option<ScalarValue> {
        self.inner.value_from_stats(arguments)
    }
}

/// Adds a value or a partial sum.
fn add(sum: &mut i128, value: i128) {
    *sum = match sum.checked_add(value) {
        Some(added) if *sum != OVERFLOWED && value != OVERFLOWED && added.unsigned_abs() < TOO_MANY_DIGITS as u128 => {
            added
        }
        _ => OVERFLOWED,
    };
}

/// Sums of many groups.
struct GroupSums<S> {
    sums: S,
    scale: i8,
}

impl<S: GroupsAccumulator> GroupsAccumulator for GroupSums<S> {
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        groups: &[usize],
        filter: Option<&BooleanArray>,
        group_count: usize,
    ) -> Result<()> {
        self.sums.update_batch(values, groups, filter, group_count)
    }

    fn evaluate(&mut self, emit_to: EmitTo) -> Result<ArrayRef> {
        let sums = self.sums.evaluate(emit_to)?;
        let sums = sums.as_primitive::<Decimal128Type>();
        let valid = sums.iter().map(|sum| sum.filter(|sum| *sum != OVERFLOWED));
        array(valid.collect(), self.scale)
    }

    fn state(&mut self, emit_to: EmitTo) -> Result<Vec<ArrayRef>> {
        self.sums.state(emit_to)
    }

    fn merge_batch(&mut self, values: &[ArrayRef], groups: &[usize], group_count: usize) -> Result<()> {
        self.sums.merge_batch(values, groups, group_count)
    }

    fn convert_to_state(&self, values: &[ArrayRef], filter: Option<&BooleanArray>) -> Result<Vec<ArrayRef>> {
        self.sums.convert_to_state(values, filter)
    }

    fn size(&self) -> usize {
        size_of::<Self>() + self.sums.size()
    }
}

/// One sum, of all rows or of a window's.
#[derive(Debug)]
struct ExactSum {
    sum: i256,
    /// Values in it.
    count: u64,
    /// Whether a partial sum had too many digits.
    overflowed: bool,
    scale: i8,
}

impl ExactSum {
    fn new(scale: i8) -> Self {
        ExactSum {
            sum: i256::ZERO,
            count: 0,
            overflowed: false,
            scale,
        }
    }

    /// The sum; `None` where it has too many digits.
    fn fitting(&self) -> Option<i128> {
        let sum = self.sum.to_i128().filter(|_| !self.overflowed)?;
        (sum.unsigned_abs() < TOO_MANY_DIGITS as u128).then_some(sum)
    }

    fn scalar(&self, sum: Option<i128>) -> ScalarValue {
        ScalarValue::Decimal128(sum, 38, self.scale)
    }
}

/// Values and how many they are; NULLs don't count.
fn total(values: &[ArrayRef]) -> Result<(i256, u64)> {
    let [values] = values else {
        return exec_err!("sum takes one argument, not {}", values.len());
    };
    let values = values.as_primitive::<Decimal128Type>();
    let sum = values
        .iter()
        .flatten()
        .fold(i256::ZERO, |sum, v| sum.wrapping_add(i256::from_i128(v)));
    Ok((sum, (values.len() - values.null_count()) as u64))
}

impl Accumulator for ExactSum {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let (sum, count) = total(values)?;
        self.sum = self.sum.wrapping_add(sum);
        self.count += count;
        Ok(())
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        Ok(self.scalar(self.fitting().filter(|_| self.count > 0)))
    }

    fn size(&self) -> usize {
        size_of::<Self>()
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let sum = (self.count > 0).then(|| self.fitting().unwrap_or(OVERFLOWED));
        Ok(vec![self.scalar(sum)])
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let [sums] = states else {
            return exec_err!("the state of sum has {} columns instead of 1", states.len());
        };
        for sum in sums.as_primitive::<Decimal128Type>().iter().flatten() {
            self.overflowed |= sum == OVERFLOWED;
            self.sum = self.sum.wrapping_add(i256::from_i128(sum));
            self.count += 1;
        }
        Ok(())
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let (sum, count) = total(values)?;
        self.sum = self.sum.wrapping_sub(sum);
        self.count -= count;
        Ok(())
    }

    fn supports_retract_batch(&self) -> bool {
        true
    }
}

/// The sum of distinct values, which are a list in the state.
#[derive(Debug)]
struct DistinctSum {
    inner: Box<dyn Accumulator>,
    scale: i8,
}

impl Accumulator for DistinctSum {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.inner.update_batch(values)
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let mut sum = ExactSum::new(self.scale);
        for state in self.inner.state()? {
            let ScalarValue::List(list) = state else {
                return exec_err!("the state of sum(DISTINCT) is no list");
            };
            sum.update_batch(&[list.value(0)])?;
        }
        sum.evaluate()
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
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOST: i128 = TOO_MANY_DIGITS - 1;

    fn decimals(values: &[Option<i128>]) -> ArrayRef {
        array(values.iter().copied().collect(), 0).unwrap()
    }

    #[test]
    fn a_sum_with_39_digits_stays_overflowed() {
        let mut sum = MOST;
        add(&mut sum, 1);
        assert_eq!(sum, OVERFLOWED);
        add(&mut sum, -5);
        assert_eq!(sum, OVERFLOWED);
        let mut sum = -MOST;
        add(&mut sum, -MOST);
        assert_eq!(sum, OVERFLOWED);
        let mut sum = 7;
        add(&mut sum, OVERFLOWED);
        assert_eq!(sum, OVERFLOWED);
    }

    #[test]
    fn windows_leave_the_digits_behind() {
        let mut sum = ExactSum::new(0);
        assert_eq!(sum.evaluate().unwrap(), ScalarValue::Decimal128(None, 38, 0));
        sum.update_batch(&[decimals(&[Some(MOST), None, Some(3)])]).unwrap();
        assert_eq!(sum.evaluate().unwrap(), ScalarValue::Decimal128(None, 38, 0));
        sum.retract_batch(&[decimals(&[Some(MOST)])]).unwrap();
        assert_eq!(sum.evaluate().unwrap(), ScalarValue::Decimal128(Some(3), 38, 0));
    }

    #[test]
    fn partial_sums_carry_the_overflow() {
        let mut partial = ExactSum::new(0);
        partial.update_batch(&[decimals(&[Some(MOST), Some(MOST)])]).unwrap();
        let state = partial.state().unwrap()[0].to_array().unwrap();
        let mut sum = ExactSum::new(0);
        sum.merge_batch(&[state]).unwrap();
        sum.merge_batch(&[decimals(&[Some(-MOST), None])]).unwrap();
        assert_eq!(sum.evaluate().unwrap(), ScalarValue::Decimal128(None, 38, 0));
    }
}
