//! Calls of the functions that casts are made of. Casts of literals are done at once.

use std::sync::Arc;

use datafusion::arrow::array::ArrayRef;
use datafusion::arrow::datatypes::{DataType, Field, Schema};
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::common::{DFSchema, ScalarValue};
use datafusion::error::Result;
use datafusion::logical_expr::execution_props::ExecutionProps;
use datafusion::logical_expr::physical_planning_context::PhysicalPlanningContext;
use datafusion::logical_expr::{ColumnarValue, Expr, col};
use datafusion::physical_expr::create_physical_expr;

use super::nested_cast::NestedCast;
use super::nested_text::NestedText;
use super::numbers::{FloatText, FloatToWhole, TextToDouble, TextToWhole};
use super::text_to_time::TextToTime;
use super::timestamp_text::{LocalTime, TimestampText};
use super::unary::{Kernel, call};
use crate::planner::casts::{OnBadInput, cast};

/// The call, or its value where that is known.
fn folded<K: Kernel>(kernel: K, argument: Expr) -> Expr {
    if let Expr::Literal(value, metadata) = &argument
        && let Ok(array) = value.to_array()
        && let Ok(result) = kernel.evaluate(&array)
        && let Ok(value) = ScalarValue::try_from_array(&result, 0)
    {
        return Expr::Literal(value, metadata.clone());
    }
    call(kernel, argument)
}

/// A timestamp as Spark writes it: `2024-01-31 12:00:00.5`.
pub(crate) fn timestamp_text(timestamp: Expr) -> Expr {
    call(TimestampText, timestamp)
}

/// The time that clocks show at an instant.
pub(crate) fn local_time(instant: Expr) -> Expr {
    folded(LocalTime, instant)
}

/// A float or double as Java writes it.
pub(crate) fn float_text(number: Expr) -> Expr {
    folded(FloatText, number)
}

/// A float or double cut to a whole number.
pub(crate) fn float_to_whole(number: Expr, target: &DataType) -> Expr {
    folded(FloatToWhole(target.clone()), number)
}

/// Text as a whole number.
pub(crate) fn text_to_whole(text: Expr, target: &DataType) -> Expr {
    folded(TextToWhole(target.clone()), text)
}

/// Text as a double.
pub(crate) fn text_to_double(text: Expr) -> Expr {
    folded(TextToDouble, text)
}

/// Text as a date.
pub(crate) fn text_to_date(text: Expr) -> Expr {
    folded(TextToTime::Date, text)
}

/// Text as a timestamp, in a zone where one is given.
pub(crate) fn text_to_timestamp(text: Expr, zone: Option<&Arc<str>>) -> Expr {
    match zone {
        Some(zone) => folded(TextToTime::Timestamp(Arc::clone(zone)), text),
        None => folded(TextToTime::TimestampNtz, text),
    }
}

/// A nested value as text.
pub(crate) fn nested_text(value: Expr) -> Expr {
    call(NestedText, value)
}

/// A nested value as another nested type.
pub(crate) fn nested_cast(value: Expr, target: &DataType) -> Expr {
    call(NestedCast(target.clone()), value)
}

/// An array as another type, as CAST converts its values.
///
/// # Errors
/// When there is no such cast.
pub(crate) fn cast_array(array: &ArrayRef, target: &DataType) -> Result<ArrayRef> {
    let schema = Arc::new(Schema::new(vec![Field::new("value", array.data_type().clone(), true)]));
    let df_schema = DFSchema::try_from(Arc::clone(&schema))?;
    let expr = cast(col("value"), target, OnBadInput::Spark, &df_schema)?;
    let expr = create_physical_expr(
        &expr,
        &df_schema,
        &ExecutionProps::new(),
        &PhysicalPlanningContext::default(),
    )?;
    let batch = RecordBatch::try_new(schema, vec![Arc::clone(array)])?;
    match expr.evaluate(&batch)? {
        ColumnarValue::Array(array) => Ok(array),
        scalar @ ColumnarValue::Scalar(_) => scalar.into_array(array.len()),
    }
}
