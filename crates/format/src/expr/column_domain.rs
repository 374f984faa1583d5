//! The domains in which column values are compared: integers, reals, decimals, uuids, bytes.
//!
//! A domain knows how its bounds lie in bytes, and how far they are to be believed.

use std::cmp::Ordering;

use crate::spec::types::PrimitiveType;
use crate::spec::value::Value;
use crate::spec::value_binary;
use crate::transform::Transform;

/// A domain of comparable values, owned as literals, borrowed from bytes as bounds.
pub(super) trait Domain: Sized {
    /// A decoded bound.
    type Bound<'a>: Copy + Ord;
    /// How bounds decode.
    type Form;
    /// Decodes a bound; `None` when the bytes make no sense or the order is unsure.
    fn decode<'a>(form: &Self::Form, bytes: &'a [u8]) -> Option<Self::Bound<'a>>;
    /// The literal for comparison.
    fn literal(&self) -> Self::Bound<'_>;
    /// Whether a bound that equals the literal proves nothing, such as a zero: engines disagree on -0 = +0.
    fn is_ambiguous(&self) -> bool {
        false
    }
    /// Whether a bound begins with this literal.
    fn is_prefix_of(&self, _bound: Self::Bound<'_>) -> bool {
        false
    }
    /// Whether a bound is exact when the lower equals the upper one. Text and bytes may have been cut.
    const EXACT: bool = true;
    /// Whether bounds are only to be believed when there are two and the lower is not above the upper one.
    const DISTRUSTED: bool = false;
}

/// A floating-point number that is not NaN.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Real(f64);

impl Eq for Real {}

impl PartialOrd for Real {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Real {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.partial_cmp(&other.0).unwrap_or(Ordering::Equal)
    }
}

/// How integers lie in bytes.
#[derive(Debug, Clone)]
pub(super) enum LongForm {
    Boolean,
    /// 8 bytes, or 4 bytes of the type it was promoted from, in units of the given size.
    Long {
        int_unit: Option<i64>,
    },
    Int,
    /// Any of these under an order-preserving transform.
    Transformed(Transform, PrimitiveType),
}

/// How byte strings lie in bytes.
#[derive(Debug, Clone)]
pub(super) enum BytesForm {
    Text,
    Binary,
    TruncatedText(u32),
    TruncatedBinary(u32),
}

impl Domain for i64 {
    type Bound<'a> = i64;
    type Form = LongForm;

    #[inline]
    fn decode(form: &LongForm, bytes: &[u8]) -> Option<i64> {
        match form {
            LongForm::Long { int_unit } => match bytes.try_into() {
                Ok(b) => Some(i64::from_le_bytes(b)),
                Err(_) => i64::from(int(bytes)?).checked_mul((*int_unit)?),
            },
            LongForm::Int => int(bytes).map(i64::from),
            LongForm::Boolean => match bytes {
                [b] => Some(i64::from(*b != 0)),
                _ => None,
            },
            LongForm::Transformed(transform, source) => long_of(&transformed(transform, source, bytes)?),
        }
    }

    fn literal(&self) -> i64 {
        *self
    }
}

fn int(bytes: &[u8]) -> Option<i32> {
    bytes.try_into().ok().map(i32::from_le_bytes)
}

/// The transformed bound.
fn transformed(transform: &Transform, source: &PrimitiveType, bytes: &[u8]) -> Option<Value> {
    let value = value_binary::from_bytes(bytes, source).ok()?;
    transform.apply(Some(&value), source).ok()?
}

impl Domain for Real {
    type Bound<'a> = Real;
    type Form = ();

    #[inline]
    fn decode((): &(), bytes: &[u8]) -> Option<Real> {
        let value = match bytes.try_into() {
            Ok(b) => f64::from_le_bytes(b),
            Err(_) => f64::from(f32::from_le_bytes(bytes.try_into().ok()?)),
        };
        (!value.is_nan()).then_some(Real(value))
    }

    fn literal(&self) -> Real {
        *self
    }

    fn is_ambiguous(&self) -> bool {
        self.0 == 0.0
    }
}

impl Domain for i128 {
    type Bound<'a> = i128;
    /// A transform, if the term has one.
    type Form = Option<(Transform, PrimitiveType)>;

    #[inline]
    fn decode(form: &Self::Form, bytes: &[u8]) -> Option<i128> {
        match form {
            None => value_binary::decimal_from_bytes(bytes),
            Some((transform, source)) => match transformed(transform, source, bytes)? {
                Value::Decimal(v) => Some(v),
                _ => None,
            },
        }
    }

    fn literal(&self) -> i128 {
        *self
    }
}

impl Domain for Vec<u8> {
    type Bound<'a> = &'a [u8];
    type Form = BytesForm;

    #[inline]
    fn decode<'a>(form: &BytesForm, bytes: &'a [u8]) -> Option<&'a [u8]> {
        match form {
            BytesForm::Text | BytesForm::Binary => Some(bytes),
            BytesForm::TruncatedBinary(width) => Some(bytes.get(..*width as usize).unwrap_or(bytes)),
            BytesForm::TruncatedText(width) => {
                let text = std::str::from_utf8(bytes).ok()?;
                let end = text
                    .char_indices()
                    .nth(*width as usize)
                    .map_or(text.len(), |(at, _)| at);
                text.get(..end).map(str::as_bytes)
            }
        }
    }

    fn literal(&self) -> &[u8] {
        self
    }

    fn is_prefix_of(&self, bound: &[u8]) -> bool {
        bound.starts_with(self)
    }

    const EXACT: bool = false;
}

/// The first half of a uuid.
///
/// Uuids order by unsigned bytes, but old Java versions ordered them as two signed longs, and their partition summaries
/// remain. In that order the first halves are still right within one sign; bounds of both signs are the wrong way round
/// and not believed. Random uuids hardly ever share a first half, so little is lost.
#[derive(Debug, Clone, Copy)]
pub(super) struct UuidHalf(u64);

impl Domain for UuidHalf {
    type Bound<'a> = u64;
    type Form = ();

    #[inline]
    fn decode((): &(), bytes: &[u8]) -> Option<u64> {
        let whole: [u8; 16] = bytes.try_into().ok()?;
        Some((u128::from_be_bytes(whole) >> 64) as u64)
    }

    fn literal(&self) -> u64 {
        self.0
    }

    fn is_ambiguous(&self) -> bool {
        true
    }

    const EXACT: bool = false;
    const DISTRUSTED: bool = true;
}

pub(super) fn long_of(value: &Value) -> Option<i64> {
    match value {
        Value::Boolean(v) => Some(i64::from(*v)),
        Value::Int(v) => Some(i64::from(*v)),
        Value::Long(v) => Some(*v),
        _ => None,
    }
}

pub(super) fn real_of(value: &Value) -> Option<Real> {
    let value = match value {
        Value::Float(v) => f64::from(*v),
        Value::Double(v) => *v,
        _ => return None,
    };
    (!value.is_nan()).then_some(Real(value))
}

pub(super) fn uuid_half_of(value: &Value) -> Option<UuidHalf> {
    match value {
        Value::Uuid(b) => UuidHalf::decode(&(), b).map(UuidHalf),
        _ => None,
    }
}

pub(super) fn bytes_of(value: &Value) -> Option<Vec<u8>> {
    match value {
        Value::String(s) => Some(s.as_bytes().to_vec()),
        Value::Binary(b) => Some(b.to_vec()),
        _ => None,
    }
}
