//! Bounds of a column as values of its type.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, BinaryArray, BooleanArray, FixedSizeBinaryArray, PrimitiveArray, StringArray, new_null_array,
};
use arrow::datatypes::{
    ArrowPrimitiveType, DataType, Date32Type, Decimal128Type, Float32Type, Float64Type, Int32Type, Int64Type,
    Time64MicrosecondType, TimestampMicrosecondType, TimestampNanosecondType,
};
use datafusion::error::Result;
use tarn_format::manifest::column_data::OptionalBytes;
use tarn_format::spec::types::PrimitiveType;
use tarn_format::spec::value::Value;
use tarn_format::spec::value_binary::from_bytes;

use crate::arrow::schema::UTC;

/// The type in which bounds of a column are shown: the column's, but binary for fixed-length bytes, because their bounds
/// may be truncated.
pub(super) fn shown_type(column: &PrimitiveType) -> PrimitiveType {
    match column {
        PrimitiveType::Fixed(_) => PrimitiveType::Binary,
        other => other.clone(),
    }
}

/// The bounds of these entries for a column of type `p`, as an array of type `data_type`, which is that of a nested
/// field. Bytes that are no value of the type become null: the raw bounds still show them.
pub(super) fn bounds_array(
    bounds: &OptionalBytes,
    rows: &[u32],
    p: &PrimitiveType,
    data_type: &DataType,
) -> Result<ArrayRef> {
    use PrimitiveType as P;
    let bytes = rows.iter().map(|row| bounds.get(*row as usize));
    let values = bytes.clone().map(|bytes| from_bytes(bytes?, p).ok());
    let int = |v| match v {
        Value::Int(v) => Some(v),
        _ => None,
    };
    let long = |v| match v {
        Value::Long(v) => Some(v),
        _ => None,
    };
    Ok(match p {
        P::Boolean => {
            let flags = values.map(|v| match v {
                Some(Value::Boolean(v)) => Some(v),
                _ => None,
            });
            Arc::new(flags.collect::<BooleanArray>())
        }
        P::Int => numbers::<Int32Type>(values, int),
        P::Date => numbers::<Date32Type>(values, int),
        P::Long => numbers::<Int64Type>(values, long),
        P::Time => numbers::<Time64MicrosecondType>(values, long),
        P::Timestamp => numbers::<TimestampMicrosecondType>(values, long),
        P::TimestampNs => numbers::<TimestampNanosecondType>(values, long),
        P::Timestamptz => {
            let times: PrimitiveArray<TimestampMicrosecondType> = values.map(|v| v.and_then(long)).collect();
            Arc::new(times.with_timezone(UTC))
        }
        P::TimestamptzNs => {
            let times: PrimitiveArray<TimestampNanosecondType> = values.map(|v| v.and_then(long)).collect();
            Arc::new(times.with_timezone(UTC))
        }
        P::Float => numbers::<Float32Type>(values, |v| match v {
            Value::Float(v) => Some(v),
            _ => None,
        }),
        P::Double => numbers::<Float64Type>(values, |v| match v {
            Value::Double(v) => Some(v),
            _ => None,
        }),
        P::Decimal { precision, scale } => {
            let unscaled: PrimitiveArray<Decimal128Type> = values
                .map(|v| match v {
                    Some(Value::Decimal(v)) => Some(v),
                    _ => None,
                })
                .collect();
            Arc::new(unscaled.with_precision_and_scale(*precision, *scale as i8)?)
        }
        P::String => Arc::new(StringArray::from_iter(
            bytes.map(|bytes| std::str::from_utf8(bytes?).ok()),
        )),
        P::Uuid => {
            let uuids = bytes.map(|bytes| bytes.filter(|b| b.len() == 16));
            Arc::new(FixedSizeBinaryArray::try_from_sparse_iter_with_size(uuids, 16)?)
        }
        P::Fixed(_) | P::Binary | P::Geometry { .. } | P::Geography { .. } => Arc::new(BinaryArray::from_iter(bytes)),
        P::Unknown => new_null_array(data_type, rows.len()),
    })
}

fn numbers<T: ArrowPrimitiveType>(
    values: impl Iterator<Item = Option<Value>>,
    number: impl Fn(Value) -> Option<T::Native>,
) -> ArrayRef {
    let numbers: PrimitiveArray<T> = values.map(|v| v.and_then(&number)).collect();
    Arc::new(numbers)
}
