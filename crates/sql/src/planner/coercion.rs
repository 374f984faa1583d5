//! The type that values of several types have in common, by Spark's rules without ANSI mode (Java:
//! `TypeCoercion.findWiderTypeForTwo`).

use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, Field, FieldRef, TimeUnit};

/// Most digits of a decimal.
const MAX_DIGITS: u8 = 38;

/// The type of all of these; `None` when they have none in common.
pub(crate) fn common_type<'t>(types: impl IntoIterator<Item = &'t DataType>) -> Option<DataType> {
    let mut types = types.into_iter();
    let first = signed(types.next()?);
    types.try_fold(first, |a, b| wider(&a, &signed(b)))
}

/// The type of both.
pub(crate) fn wider(a: &DataType, b: &DataType) -> Option<DataType> {
    use DataType as D;
    if a == b {
        return Some(a.clone());
    }
    Some(match (a, b) {
        (D::Null, other) | (other, D::Null) => other.clone(),
        (a, b) if is_text(a) && is_text(b) => D::Utf8View,
        (text, other) | (other, text) if is_text(text) => {
            let promoted = other.is_numeric() || matches!(other, D::Date32 | D::Timestamp(..));
            return promoted.then_some(D::Utf8View);
        }
        (a, b) if is_binary(a) && is_binary(b) => D::BinaryView,
        (a, b) if a.is_numeric() && b.is_numeric() => return wider_number(a, b),
        (D::Date32, D::Timestamp(_, zone)) | (D::Timestamp(_, zone), D::Date32) => {
            D::Timestamp(TimeUnit::Microsecond, zone.clone())
        }
        (D::Timestamp(_, x), D::Timestamp(_, y)) => {
            D::Timestamp(TimeUnit::Microsecond, x.clone().or_else(|| y.clone()))
        }
        (D::List(x), D::List(y)) => D::List(wider_field(x, y)?),
        (D::Map(x, sorted), D::Map(y, _)) => D::Map(wider_field(x, y)?, *sorted),
        (D::Struct(x), D::Struct(y)) if x.len() == y.len() => {
            let fields: Option<Vec<FieldRef>> = x.iter().zip(y).map(|(x, y)| wider_field(x, y)).collect();
            D::Struct(fields?.into())
        }
        _ => return None,
    })
}

fn wider_field(a: &FieldRef, b: &FieldRef) -> Option<FieldRef> {
    let data_type = nested(wider(a.data_type(), b.data_type())?);
    Some(Arc::new(Field::new(
        a.name(),
        data_type,
        a.is_nullable() || b.is_nullable(),
    )))
}

/// Inside nested types there are no views.
fn nested(data_type: DataType) -> DataType {
    match data_type {
        DataType::Utf8View => DataType::Utf8,
        DataType::BinaryView => DataType::Binary,
        other => other,
    }
}

/// Spark has no unsigned numbers.
fn signed(data_type: &DataType) -> DataType {
    match data_type {
        DataType::UInt8 => DataType::Int16,
        DataType::UInt16 => DataType::Int32,
        DataType::UInt32 | DataType::UInt64 => DataType::Int64,
        other => other.clone(),
    }
}

fn wider_number(a: &DataType, b: &DataType) -> Option<DataType> {
    if let (Some(x), Some(y)) = (as_decimal(a), as_decimal(b))
        && (is_decimal(a) || is_decimal(b))
    {
        return Some(wider_decimal(x, y));
    }
    if is_decimal(a) || is_decimal(b) {
        // Beside a float or a double.
        return Some(DataType::Float64);
    }
    let order = [
        DataType::Int8,
        DataType::Int16,
        DataType::Int32,
        DataType::Int64,
        DataType::Float32,
        DataType::Float64,
    ];
    let place = |t: &DataType| order.iter().position(|o| o == t);
    order.get(place(a)?.max(place(b)?)).cloned()
}

/// Whether a type is a decimal.
pub(crate) fn is_decimal(t: &DataType) -> bool {
    matches!(t, DataType::Decimal128(..))
}

/// Digits and scale of a decimal, or of the decimal that holds every value of an integer type.
pub(crate) fn as_decimal(t: &DataType) -> Option<(u8, i8)> {
    Some(match t {
        DataType::Decimal128(p, s) => (*p, *s),
        DataType::Int8 => (3, 0),
        DataType::Int16 => (5, 0),
        DataType::Int32 => (10, 0),
        DataType::Int64 => (20, 0),
        _ => return None,
    })
}

fn wider_decimal((p1, s1): (u8, i8), (p2, s2): (u8, i8)) -> DataType {
    let scale = s1.max(s2);
    let whole = (i16::from(p1) - i16::from(s1)).max(i16::from(p2) - i16::from(s2));
    let digits = (whole + i16::from(scale)).clamp(1, i16::from(MAX_DIGITS));
    DataType::Decimal128(u8::try_from(digits).unwrap_or(MAX_DIGITS), scale)
}

/// Whether a type is text.
pub(crate) fn is_text(t: &DataType) -> bool {
    matches!(t, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
}

/// Whether a type is bytes.
pub(crate) fn is_binary(t: &DataType) -> bool {
    matches!(t, DataType::Binary | DataType::LargeBinary | DataType::BinaryView)
}

/// Whether values of a type hold others.
pub(crate) fn is_nested(t: &DataType) -> bool {
    matches!(
        t,
        DataType::List(_)
            | DataType::LargeList(_)
            | DataType::FixedSizeList(..)
            | DataType::Map(..)
            | DataType::Struct(_)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    // Spark 3.5: TypeCoercion and DecimalPrecision.
    #[test]
    fn types_widen_as_in_spark() {
        use DataType as D;
        let timestamp = |zone: Option<&str>| D::Timestamp(TimeUnit::Microsecond, zone.map(Into::into));
        for (a, b, both) in [
            (D::Int8, D::Int64, Some(D::Int64)),
            (D::Int64, D::Float32, Some(D::Float32)),
            (D::Int32, D::Decimal128(2, 1), Some(D::Decimal128(11, 1))),
            (D::Int64, D::Decimal128(2, 1), Some(D::Decimal128(21, 1))),
            (D::Decimal128(2, 1), D::Decimal128(20, 10), Some(D::Decimal128(20, 10))),
            (D::Decimal128(38, 0), D::Decimal128(10, 5), Some(D::Decimal128(38, 5))),
            (D::Float32, D::Decimal128(2, 1), Some(D::Float64)),
            (D::Utf8, D::Int32, Some(D::Utf8View)),
            (D::Utf8, D::Boolean, None),
            (D::Date32, timestamp(None), Some(timestamp(None))),
            (timestamp(None), timestamp(Some("UTC")), Some(timestamp(Some("UTC")))),
            (D::Boolean, D::Int32, None),
            (D::Null, D::Date32, Some(D::Date32)),
        ] {
            assert_eq!(wider(&a, &b), both, "{a} {b}");
            assert_eq!(wider(&b, &a), both, "{b} {a}");
        }
    }
}
