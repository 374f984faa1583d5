//! Arithmetic of decimals with Spark's digits and scale (Java: `DecimalPrecision`, `Decimal`): results are rounded half
//! up to the scale, and NULL when they have more digits than their type, or when the divisor is zero.
//!
//! DataFusion's own operators do where results always fit; this does the rest.

use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, AsArray, Decimal128Array};
use datafusion::arrow::datatypes::{DataType, Decimal128Type, i256};
use datafusion::common::{exec_err, plan_err};
use datafusion::error::Result;
use datafusion::logical_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};

/// Most digits of a decimal.
const MAX_DIGITS: u8 = 38;

/// Digits after the point that are kept when there are too many before it.
const MIN_KEPT_SCALE: i16 = 6;

/// An operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum DecimalOp {
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`
    Divide,
}

/// Digits and scale.
pub(crate) type Precision = (u8, i8);

impl DecimalOp {
    /// The digits that the result needs, before they are cut to what a decimal can have.
    pub(crate) fn exact_precision(self, (p1, s1): Precision, (p2, s2): Precision) -> (i16, i16) {
        let (p1, s1, p2, s2) = (i16::from(p1), i16::from(s1), i16::from(p2), i16::from(s2));
        match self {
            DecimalOp::Add | DecimalOp::Subtract => {
                let scale = s1.max(s2);
                ((p1 - s1).max(p2 - s2) + scale + 1, scale)
            }
            DecimalOp::Multiply => (p1 + p2 + 1, s1 + s2),
            DecimalOp::Divide => {
                let scale = (s1 + p2 + 1).max(MIN_KEPT_SCALE);
                (p1 - s1 + s2 + scale, scale)
            }
        }
    }

    /// The result's type (Java: `DecimalType.adjustPrecisionScale`).
    pub(crate) fn precision(self, left: Precision, right: Precision) -> Precision {
        let (digits, scale) = self.exact_precision(left, right);
        let max = i16::from(MAX_DIGITS);
        let (digits, scale) = if digits <= max {
            (digits, scale)
        } else {
            let whole = digits - scale;
            (max, (max - whole).max(scale.min(MIN_KEPT_SCALE)))
        };
        (
            u8::try_from(digits).unwrap_or(MAX_DIGITS),
            i8::try_from(scale).unwrap_or_default(),
        )
    }
}

/// `left op right`
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct DecimalArithmetic {
    op: DecimalOp,
    signature: Signature,
}

impl DecimalArithmetic {
    pub(crate) fn new(op: DecimalOp) -> Self {
        DecimalArithmetic {
            op,
            signature: Signature::any(2, Volatility::Immutable),
        }
    }

    fn types(types: &[DataType]) -> Result<(Precision, Precision)> {
        match types {
            [DataType::Decimal128(p1, s1), DataType::Decimal128(p2, s2)] => Ok(((*p1, *s1), (*p2, *s2))),
            other => plan_err!("decimal arithmetic takes two decimals, not {other:?}"),
        }
    }
}

impl ScalarUDFImpl for DecimalArithmetic {
    fn name(&self) -> &str {
        match self.op {
            DecimalOp::Add => "decimal_add",
            DecimalOp::Subtract => "decimal_subtract",
            DecimalOp::Multiply => "decimal_multiply",
            DecimalOp::Divide => "decimal_divide",
        }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        let (left, right) = Self::types(types)?;
        let (digits, scale) = self.op.precision(left, right);
        Ok(DataType::Decimal128(digits, scale))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let types: Vec<DataType> = args.args.iter().map(ColumnarValue::data_type).collect();
        let (left, right) = Self::types(&types)?;
        let is_constant = args.args.iter().all(|a| matches!(a, ColumnarValue::Scalar(_)));
        let rows = if is_constant { 1 } else { args.number_rows };
        let [l, r] = args.args.as_slice() else {
            return exec_err!("decimal arithmetic takes two decimals");
        };
        let arrays = [l.to_array(rows)?, r.to_array(rows)?];
        let calculation = Calculation {
            op: self.op,
            left_scale: left.1,
            right_scale: right.1,
            result: self.op.precision(left, right),
        };
        let result: ArrayRef = Arc::new(calculation.columns(&arrays[0], &arrays[1])?);
        if is_constant {
            let scalar = datafusion::common::ScalarValue::try_from_array(&result, 0)?;
            return Ok(ColumnarValue::Scalar(scalar));
        }
        Ok(ColumnarValue::Array(result))
    }
}

struct Calculation {
    op: DecimalOp,
    left_scale: i8,
    right_scale: i8,
    result: Precision,
}

impl Calculation {
    fn columns(&self, left: &ArrayRef, right: &ArrayRef) -> Result<Decimal128Array> {
        let (left, right) = (
            left.as_primitive::<Decimal128Type>(),
            right.as_primitive::<Decimal128Type>(),
        );
        let narrow = Narrow::new(self);
        let rows = (0..left.len()).map(|i| {
            if left.is_null(i) || right.is_null(i) {
                return None;
            }
            let (left, right) = (left.value(i), right.value(i));
            // Most values need no more than 128 bits on the way.
            match narrow.as_ref().and_then(|n| n.value(left, right)) {
                Some(value) => value,
                None => self.value(left, right),
            }
        });
        let out: Decimal128Array = rows.collect();
        Ok(out.with_precision_and_scale(self.result.0, self.result.1)?)
    }

    /// The result's digits; `None` when there are too many.
    fn value(&self, left: i128, right: i128) -> Option<i128> {
        let (l, r) = (i256::from_i128(left), i256::from_i128(right));
        let exact = match self.op {
            DecimalOp::Add | DecimalOp::Subtract => {
                let scale = self.left_scale.max(self.right_scale);
                let l = l.checked_mul(power_of_ten(scale - self.left_scale)?)?;
                let r = r.checked_mul(power_of_ten(scale - self.right_scale)?)?;
                let sum = match self.op {
                    DecimalOp::Add => l.checked_add(r)?,
                    _ => l.checked_sub(r)?,
                };
                rounded(sum, scale - self.result.1)?
            }
            DecimalOp::Multiply => rounded(l.checked_mul(r)?, self.left_scale + self.right_scale - self.result.1)?,
            DecimalOp::Divide => quotient(l, r, self.result.1 + self.right_scale - self.left_scale)?,
        };
        let limit = power_of_ten(i8::try_from(self.result.0).ok()?)?;
        let fits = exact < limit && exact > limit.wrapping_neg();
        fits.then(|| exact.to_i128()).flatten()
    }
}

/// A calculation in 128 bits, its constants known.
struct Narrow {
    op: DecimalOp,
    /// What either side is multiplied by.
    factors: (i128, i128),
    /// What the exact result is divided by.
    divisor: i128,
    /// The least number with too many digits.
    limit: i128,
}

impl Narrow {
    /// `None` where the constants don't fit, and for divisions by them.
    fn new(calculation: &Calculation) -> Option<Narrow> {
        let power = |digits: i8| 10_i128.checked_pow(u32::try_from(digits).ok()?);
        let (left, right, result) = (calculation.left_scale, calculation.right_scale, calculation.result.1);
        let (factors, cut) = match calculation.op {
            DecimalOp::Add | DecimalOp::Subtract => {
                let scale = left.max(right);
                ((power(scale - left)?, power(scale - right)?), scale - result)
            }
            DecimalOp::Multiply => ((1, 1), left + right - result),
            DecimalOp::Divide => ((power(result + right - left)?, 1), 0),
        };
        Some(Narrow {
            op: calculation.op,
            factors,
            divisor: power(cut)?,
            limit: power(i8::try_from(calculation.result.0).ok()?)?,
        })
    }

    /// The result, or that it is NULL; `None` when 128 bits are too few to tell.
    fn value(&self, left: i128, right: i128) -> Option<Option<i128>> {
        let (left, right) = (left.checked_mul(self.factors.0)?, right.checked_mul(self.factors.1)?);
        let result = match self.op {
            DecimalOp::Add => Narrow::cut(left.checked_add(right)?, self.divisor)?,
            DecimalOp::Subtract => Narrow::cut(left.checked_sub(right)?, self.divisor)?,
            DecimalOp::Multiply => Narrow::cut(left.checked_mul(right)?, self.divisor)?,
            DecimalOp::Divide if right == 0 => return Some(None),
            DecimalOp::Divide => Narrow::cut(left, right)?,
        };
        Some((-self.limit < result && result < self.limit).then_some(result))
    }

    /// The quotient, rounded half away from zero.
    fn cut(value: i128, divisor: i128) -> Option<i128> {
        if divisor == 1 {
            return Some(value);
        }
        let (quotient, rest) = (value.checked_div(divisor)?, value.checked_rem(divisor)?);
        let (rest, half) = (rest.unsigned_abs(), divisor.unsigned_abs());
        if rest < half - rest {
            return Some(quotient);
        }
        quotient.checked_add(if (value < 0) == (divisor < 0) { 1 } else { -1 })
    }
}

fn power_of_ten(exponent: i8) -> Option<i256> {
    i256::from_i128(10).checked_pow(u32::try_from(exponent).ok()?)
}

/// The value without its last digits, rounded half up; with more digits when `digits` is negative.
fn rounded(value: i256, digits: i8) -> Option<i256> {
    if digits <= 0 {
        return value.checked_mul(power_of_ten(-digits)?);
    }
    divided(value, power_of_ten(digits)?)
}

/// `left / right`, rounded half away from zero.
fn divided(left: i256, right: i256) -> Option<i256> {
    let quotient = left.checked_div(right)?;
    let remainder = left.checked_rem(right)?;
    let twice = remainder.checked_abs()?.checked_mul(i256::from_i128(2))?;
    if twice < right.checked_abs()? {
        return Some(quotient);
    }
    let is_negative = (left < i256::ZERO) != (right < i256::ZERO);
    let away = i256::from_i128(if is_negative { -1 } else { 1 });
    quotient.checked_add(away)
}

/// `left * 10^digits / right`, rounded half away from zero; `None` for a zero divisor.
fn quotient(left: i256, right: i256, digits: i8) -> Option<i256> {
    if right == i256::ZERO {
        return None;
    }
    if digits < 0 {
        return divided(left, right.checked_mul(power_of_ten(-digits)?)?);
    }
    if let Some(shifted) = power_of_ten(digits).and_then(|p| left.checked_mul(p)) {
        return divided(shifted, right);
    }
    // Digit by digit: the shifted number would not fit.
    let ten = i256::from_i128(10);
    let mut whole = left.checked_div(right)?;
    let mut rest = left.checked_rem(right)?;
    for _ in 1..digits {
        rest = rest.checked_mul(ten)?;
        whole = whole.checked_mul(ten)?.checked_add(rest.checked_div(right)?)?;
        rest = rest.checked_rem(right)?;
    }
    whole
        .checked_mul(ten)?
        .checked_add(divided(rest.checked_mul(ten)?, right)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(op: DecimalOp, left: (i128, Precision), right: (i128, Precision)) -> Option<i128> {
        let calculation = Calculation {
            op,
            left_scale: left.1.1,
            right_scale: right.1.1,
            result: op.precision(left.1, right.1),
        };
        let value = calculation.value(left.0, right.0);
        if let Some(narrow) = Narrow::new(&calculation).and_then(|n| n.value(left.0, right.0)) {
            assert_eq!(narrow, value, "{left:?} {op:?} {right:?}");
        }
        value
    }

    // Both ways agree on numbers of every size; the halves are among them.
    #[test]
    fn few_bits_give_what_many_give() {
        let sizes = [(1, 0), (5, 2), (12, 2), (18, 6), (38, 0), (38, 10), (38, 37)];
        let numbers = (1..37).flat_map(|n| [1, 5, 49, 50, 51, 95].map(|k| 10_i128.pow(n) / 10 * k));
        let numbers: Vec<i128> = numbers.flat_map(|n| [n, -n, n + 1]).collect();
        for left in sizes {
            for right in sizes {
                let fits = |n: &&i128, size: Precision| n.unsigned_abs() < 10_u128.pow(u32::from(size.0));
                for a in numbers.iter().filter(|n| fits(n, left)).step_by(7) {
                    for b in numbers.iter().filter(|n| fits(n, right)).step_by(11) {
                        for op in [
                            DecimalOp::Add,
                            DecimalOp::Subtract,
                            DecimalOp::Multiply,
                            DecimalOp::Divide,
                        ] {
                            value(op, (*a, left), (*b, right));
                        }
                    }
                }
            }
        }
    }

    // Results of Spark 3.5.
    #[test]
    fn digits_and_scale_are_sparks() {
        assert_eq!(DecimalOp::Divide.precision((10, 2), (10, 2)), (23, 13));
        assert_eq!(DecimalOp::Divide.precision((38, 18), (38, 18)), (38, 6));
        assert_eq!(DecimalOp::Divide.precision((2, 1), (1, 0)), (7, 6));
        assert_eq!(DecimalOp::Multiply.precision((38, 10), (38, 10)), (38, 6));
        assert_eq!(DecimalOp::Multiply.precision((15, 2), (16, 2)), (32, 4));
        assert_eq!(DecimalOp::Add.precision((38, 0), (1, 0)), (38, 0));
    }

    #[test]
    fn results_are_rounded_half_up() {
        let whole = |v| (v, (10, 2));
        assert_eq!(
            value(DecimalOp::Divide, whole(1000), whole(300)),
            Some(33_333_333_333_333)
        );
        assert_eq!(
            value(DecimalOp::Divide, whole(-200), whole(300)),
            Some(-6_666_666_666_667)
        );
        assert_eq!(value(DecimalOp::Divide, whole(1), whole(0)), None);
        let long = |v| (v, (38, 10));
        assert_eq!(
            value(DecimalOp::Multiply, long(10_000_000_000), long(11_000_000_000)),
            Some(1_100_000)
        );
    }

    #[test]
    fn too_many_digits_are_null_and_wide_divisions_exact() {
        let nines = 10_i128.pow(38) - 1;
        assert_eq!(value(DecimalOp::Add, (nines, (38, 0)), (1, (1, 0))), None);
        assert_eq!(
            value(DecimalOp::Subtract, (nines, (38, 0)), (1, (1, 0))),
            Some(nines - 1)
        );
        // The dividend with 43 more digits does not fit 256 bits.
        let tiny = (nines, (38, 37));
        assert_eq!(value(DecimalOp::Divide, (5, (38, 0)), tiny), Some(500_000));
    }
}
