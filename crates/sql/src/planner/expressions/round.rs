//! `round(x, digits)`: half away from zero; decimals get the scale that is asked for.

use datafusion::arrow::datatypes::DataType;
use datafusion::common::{DFSchema, ScalarValue};
use datafusion::error::Result;
use datafusion::functions::math::expr_fn;
use datafusion::logical_expr::{Expr, ExprSchemable};

use crate::planner::casts::{self, OnBadInput};

/// Most digits of a decimal.
const MAX_DIGITS: i64 = 38;

/// Rounds a number.
pub(super) fn round(value: Expr, digits: Expr, schema: &DFSchema) -> Result<Expr> {
    let value_type = value.get_type(schema)?;
    let rounded = |value: Expr, digits: Expr| expr_fn::round(vec![value, digits]);
    let DataType::Decimal128(precision, scale) = value_type else {
        let result = rounded(value, digits);
        // Whole numbers stay what they are.
        if value_type.is_signed_integer() {
            return casts::cast(result, &value_type, OnBadInput::Spark, schema);
        }
        return Ok(result);
    };
    let Some(wanted) = constant(&digits) else {
        return Ok(rounded(value, digits));
    };
    let (precision, scale) = (i64::from(precision), i64::from(scale));
    // Spark: RoundBase.dataType
    let whole = precision - scale + 1;
    let kept = wanted.clamp(0, scale);
    let digits_before = if wanted < 0 { whole.max(-wanted + 1) } else { whole };
    let result = (digits_before + kept).min(MAX_DIGITS);
    let target = DataType::Decimal128(
        u8::try_from(result).unwrap_or(38),
        i8::try_from(kept).unwrap_or_default(),
    );
    let value = if wanted < 0 { rounded(value, digits) } else { value };
    casts::cast(value, &target, OnBadInput::Spark, schema)
}

fn constant(digits: &Expr) -> Option<i64> {
    let value = match digits {
        Expr::Literal(value, _) => value.clone(),
        Expr::Negative(inner) => match inner.as_ref() {
            Expr::Literal(value, _) => value.arithmetic_negate().ok()?,
            _ => return None,
        },
        _ => return None,
    };
    match value.cast_to(&DataType::Int64) {
        Ok(ScalarValue::Int64(v)) => v,
        _ => None,
    }
}
