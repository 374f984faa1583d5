//! `avg` as Spark has it: of decimals it is a decimal, rounded half up.
//!
//! DataFusion's average sums decimals but cuts the quotient off; the function of `datafusion-spark` makes doubles of them.
//! So DataFusion's is asked for one digit more, and that digit is rounded away.

use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray};
use arrow::compute::cast;
use arrow::datatypes::{DECIMAL128_MAX_PRECISION, DECIMAL128_MAX_SCALE, DataType, Field, FieldRef};
use datafusion::common::ScalarValue;
use datafusion::error::Result;
use datafusion::functions_aggregate::average::avg_udaf;
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, EmitTo, GroupsAccumulator, ReversedUDAF, Signature, Volatility,
};

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

/// The result with one digit more behind the point, as far as there is room.
fn unrounded(result: &FieldRef) -> FieldRef {
    let data_type = match result.data_type() {
        DataType::Decimal128(precision, scale) => DataType::Decimal128(
            DECIMAL128_MAX_PRECISION.min(precision.saturating_add(1)),
            DECIMAL128_MAX_SCALE.min(scale.saturating_add(1)),
        ),
        other => other.clone(),
    };
    Arc::new(Field::clone(result).with_data_type(data_type))
}

fn is_decimal(result: &FieldRef) -> bool {
    matches!(result.data_type(), DataType::Decimal128(..))
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
        let result = Arc::clone(&arguments.return_field);
        let inner = self.inner.accumulator(AccumulatorArgs {
            return_field: unrounded(&result),
            ..arguments
        })?;
        Ok(match is_decimal(&result) {
            true => Box::new(Rounded { inner, result }),
            false => inner,
        })
    }

    fn state_fields(&self, arguments: StateFieldsArgs) -> Result<Vec<FieldRef>> {
        self.inner.state_fields(arguments)
    }

    fn groups_accumulator_supported(&self, arguments: AccumulatorArgs) -> bool {
        self.inner.groups_accumulator_supported(arguments)
    }

    fn create_groups_accumulator(&self, arguments: AccumulatorArgs) -> Result<Box<dyn GroupsAccumulator>> {
        let result = Arc::clone(&arguments.return_field);
        let inner = self.inner.create_groups_accumulator(AccumulatorArgs {
            return_field: unrounded(&result),
            ..arguments
        })?;
        Ok(match is_decimal(&result) {
            true => Box::new(RoundedGroups { inner, result }),
            false => inner,
        })
    }

    fn reverse_expr(&self) -> ReversedUDAF {
        ReversedUDAF::Identical
    }
}

/// An average whose result is rounded: a cast of decimals rounds half away from zero.
#[derive(Debug)]
struct Rounded {
    inner: Box<dyn Accumulator>,
    result: FieldRef,
}

impl Accumulator for Rounded {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.inner.update_batch(values)
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        self.inner.evaluate()?.cast_to(self.result.data_type())
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
struct RoundedGroups {
    inner: Box<dyn GroupsAccumulator>,
    result: FieldRef,
}

impl GroupsAccumulator for RoundedGroups {
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
        Ok(cast(&self.inner.evaluate(emit_to)?, self.result.data_type())?)
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
