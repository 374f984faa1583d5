//! Transforms over Arrow arrays: the format's scalar functions mapped over rows, one source of truth.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, BinaryViewBuilder, Decimal128Array, Int32Array, PrimitiveArray, StringViewBuilder,
    new_null_array,
};
use arrow::compute::cast;
use arrow::datatypes::{
    ArrowPrimitiveType, DataType, Date32Type, Decimal128Type, Int32Type, Int64Type, Time64MicrosecondType, TimeUnit,
    TimestampMicrosecondType, TimestampNanosecondType,
};
use tarn_format::spec::types::{PrimitiveType, Type};
use tarn_format::spec::value::Value;
use tarn_format::transform::{Transform, bucket_hash_bytes};
use tarn_format::{Error, Result};

use crate::arrow::schema::type_to_arrow;

/// The transformed values of an array of type `source`, in the Arrow type of the transform's result.
///
/// # Errors
/// `InvalidInput` when the transform does not take the type; `Unsupported` for an unknown transform.
pub fn transform_array(transform: &Transform, array: &ArrayRef, source: &PrimitiveType) -> Result<ArrayRef> {
    // Also refuses what the transform does not take, for arrays without rows too.
    transform.apply(None, source)?;
    let result = transform.result_type(source)?;
    let result_type = type_to_arrow(&Type::Primitive(result));
    let array = in_type(array, &type_to_arrow(&Type::Primitive(source.clone())))?;
    match transform {
        Transform::Identity => Ok(array),
        Transform::Void => Ok(new_null_array(&result_type, array.len())),
        Transform::Bucket(buckets) if is_text_or_bytes(array.data_type()) => Ok(bucket_bytes(&array, *buckets)),
        Transform::Truncate(width) if is_text_or_bytes(array.data_type()) => Ok(truncate_bytes(&array, *width)),
        _ => map_values(transform, &array, source, &result_type),
    }
}

fn in_type(array: &ArrayRef, data_type: &DataType) -> Result<ArrayRef> {
    if array.data_type() == data_type {
        return Ok(Arc::clone(array));
    }
    cast(array, data_type).map_err(|e| Error::invalid("partition source has another type").with_source(e))
}

fn is_text_or_bytes(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Utf8View | DataType::BinaryView)
}

fn bytes_of(array: &ArrayRef) -> Box<dyn Iterator<Item = Option<&[u8]>> + '_> {
    match array.data_type() {
        DataType::Utf8View => Box::new(array.as_string_view().iter().map(|s| s.map(str::as_bytes))),
        _ => Box::new(array.as_binary_view().iter()),
    }
}

fn bucket_bytes(array: &ArrayRef, buckets: u32) -> ArrayRef {
    let bucket = |bytes: &[u8]| {
        let hash = (bucket_hash_bytes(bytes) & i32::MAX) as u32;
        hash.checked_rem(buckets).and_then(|b| i32::try_from(b).ok())
    };
    let values: Int32Array = bytes_of(array).map(|bytes| bytes.and_then(bucket)).collect();
    Arc::new(values)
}

fn truncate_bytes(array: &ArrayRef, width: u32) -> ArrayRef {
    let width = width as usize;
    if *array.data_type() == DataType::Utf8View {
        let mut builder = StringViewBuilder::with_capacity(array.len());
        for text in array.as_string_view() {
            builder.append_option(text.map(|t| super::bounds::text_lower(t, width)));
        }
        return Arc::new(builder.finish());
    }
    let mut builder = BinaryViewBuilder::with_capacity(array.len());
    for bytes in array.as_binary_view() {
        builder.append_option(bytes.map(|b| super::bounds::bytes_lower(b, width)));
    }
    Arc::new(builder.finish())
}

fn map_values(
    transform: &Transform,
    array: &ArrayRef,
    source: &PrimitiveType,
    result_type: &DataType,
) -> Result<ArrayRef> {
    let mapped = values(array)?.map(|value| transform.apply(value.as_ref(), source));
    match result_type {
        DataType::Int32 => collect::<Int32Type>(mapped, int),
        DataType::Date32 => collect::<Date32Type>(mapped, int),
        DataType::Int64 => collect::<Int64Type>(mapped, |v| match v {
            Value::Long(v) => Some(v),
            _ => None,
        }),
        DataType::Decimal128(precision, scale) => {
            let decimals = mapped.map(|v| {
                Ok(v?.and_then(|v| match v {
                    Value::Decimal(v) => Some(v),
                    _ => None,
                }))
            });
            let decimals: Result<Decimal128Array> = decimals.collect();
            // A wrapped minimum may have more digits than the type: it stays what the scalar function says.
            let typed =
                PrimitiveArray::<Decimal128Type>::with_data_type(decimals?, DataType::Decimal128(*precision, *scale));
            Ok(Arc::new(typed))
        }
        other => Err(Error::unsupported(format!(
            "a transform gives {other}, which has no array"
        ))),
    }
}

fn int(value: Value) -> Option<i32> {
    match value {
        Value::Int(v) => Some(v),
        _ => None,
    }
}

fn collect<T: ArrowPrimitiveType>(
    mapped: impl Iterator<Item = Result<Option<Value>>>,
    native: impl Fn(Value) -> Option<T::Native>,
) -> Result<ArrayRef> {
    let values: Result<Vec<Option<T::Native>>> = mapped.map(|v| Ok(v?.and_then(&native))).collect();
    Ok(Arc::new(PrimitiveArray::<T>::from_iter(values?)))
}

/// The values of a primitive array that is not text or bytes.
fn values(array: &ArrayRef) -> Result<Box<dyn Iterator<Item = Option<Value>> + '_>> {
    Ok(match array.data_type() {
        DataType::Int32 => Box::new(array.as_primitive::<Int32Type>().iter().map(|v| v.map(Value::Int))),
        DataType::Date32 => Box::new(array.as_primitive::<Date32Type>().iter().map(|v| v.map(Value::Int))),
        DataType::Int64 => longs::<Int64Type>(array),
        DataType::Time64(TimeUnit::Microsecond) => longs::<Time64MicrosecondType>(array),
        DataType::Timestamp(TimeUnit::Microsecond, _) => longs::<TimestampMicrosecondType>(array),
        DataType::Timestamp(TimeUnit::Nanosecond, _) => longs::<TimestampNanosecondType>(array),
        DataType::Decimal128(_, _) => Box::new(
            array
                .as_primitive::<Decimal128Type>()
                .iter()
                .map(|v| v.map(Value::Decimal)),
        ),
        DataType::FixedSizeBinary(_) => Box::new(array.as_fixed_size_binary().iter().map(|v| v.map(Value::binary))),
        other => return Err(Error::unsupported(format!("values of {other} cannot be transformed"))),
    })
}

fn longs<T: ArrowPrimitiveType<Native = i64>>(array: &ArrayRef) -> Box<dyn Iterator<Item = Option<Value>> + '_> {
    Box::new(array.as_primitive::<T>().iter().map(|v| v.map(Value::Long)))
}
