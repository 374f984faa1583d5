//! Single Iceberg values as Arrow scalars, and back.

use std::sync::Arc;

use arrow::array::{ArrayRef, new_null_array};
use arrow::datatypes::DataType;
use datafusion::common::ScalarValue;
use datafusion::common::scalar::ScalarStructBuilder;
use tarn_format::spec::types::{PrimitiveType, StructType, Type};
use tarn_format::spec::value::Value;
use tarn_format::{Error, Result};

use super::schema::{UTC, struct_to_arrow, type_to_arrow};

/// The Arrow scalar of a value of a column of this type; `None` is a typed null.
///
/// # Errors
/// `Corrupt` when the value is not of the type.
pub fn to_scalar(value: Option<&Value>, field_type: &Type) -> Result<ScalarValue> {
    let Some(value) = value else {
        return null_scalar(&type_to_arrow(field_type));
    };
    match (field_type, value) {
        (Type::Primitive(p), value) => primitive_scalar(value, p),
        (Type::Struct(s), Value::Struct(values)) => {
            let tuple: Vec<Option<Value>> = s
                .fields
                .iter()
                .map(|f| values.iter().find(|(id, _)| *id == f.id).and_then(|(_, v)| v.clone()))
                .collect();
            struct_scalar(&tuple, s)
        }
        (other, _) => Err(Error::unsupported(format!("a constant of type {other} cannot be read"))),
    }
}

/// The Arrow scalar of a tuple, such as a partition.
///
/// # Errors
/// As [`to_scalar`].
pub fn struct_scalar(tuple: &[Option<Value>], fields: &StructType) -> Result<ScalarValue> {
    let DataType::Struct(arrow_fields) = struct_to_arrow(fields) else {
        return Err(Error::corrupt("a struct has no struct type"));
    };
    if arrow_fields.is_empty() {
        return null_scalar(&DataType::Struct(arrow_fields));
    }
    let mut builder = ScalarStructBuilder::new();
    for (i, (nested, arrow)) in fields.fields.iter().zip(arrow_fields.iter()).enumerate() {
        let value = tuple.get(i).and_then(Option::as_ref);
        let scalar = to_scalar(value, &nested.field_type)?;
        let scalar = scalar.cast_to(arrow.data_type()).map_err(engine_error)?;
        builder = builder.with_scalar(Arc::clone(arrow), scalar);
    }
    builder.build().map_err(engine_error)
}

fn null_scalar(data_type: &DataType) -> Result<ScalarValue> {
    ScalarValue::try_from(data_type).map_err(engine_error)
}

fn engine_error(e: datafusion::error::DataFusionError) -> Error {
    Error::corrupt("a value does not fit its type").with_source(e)
}

fn primitive_scalar(value: &Value, p: &PrimitiveType) -> Result<ScalarValue> {
    use PrimitiveType as P;
    let utc = || Some(Arc::from(UTC));
    Ok(match (p, value) {
        (P::Boolean, Value::Boolean(v)) => ScalarValue::Boolean(Some(*v)),
        (P::Int, Value::Int(v)) => ScalarValue::Int32(Some(*v)),
        (P::Date, Value::Int(v)) => ScalarValue::Date32(Some(*v)),
        (P::Long, Value::Long(v)) => ScalarValue::Int64(Some(*v)),
        (P::Time, Value::Long(v)) => ScalarValue::Time64Microsecond(Some(*v)),
        (P::Timestamp, Value::Long(v)) => ScalarValue::TimestampMicrosecond(Some(*v), None),
        (P::Timestamptz, Value::Long(v)) => ScalarValue::TimestampMicrosecond(Some(*v), utc()),
        (P::TimestampNs, Value::Long(v)) => ScalarValue::TimestampNanosecond(Some(*v), None),
        (P::TimestamptzNs, Value::Long(v)) => ScalarValue::TimestampNanosecond(Some(*v), utc()),
        (P::Float, Value::Float(v)) => ScalarValue::Float32(Some(*v)),
        (P::Double, Value::Double(v)) => ScalarValue::Float64(Some(*v)),
        (P::Decimal { precision, scale }, Value::Decimal(v)) => {
            ScalarValue::Decimal128(Some(*v), *precision, *scale as i8)
        }
        (P::String, Value::String(v)) => ScalarValue::Utf8View(Some(v.to_string())),
        (P::Uuid, Value::Uuid(v)) => ScalarValue::FixedSizeBinary(16, Some(v.to_vec())),
        (P::Fixed(len), Value::Binary(v)) => {
            ScalarValue::FixedSizeBinary(i32::try_from(*len).unwrap_or(i32::MAX), Some(v.to_vec()))
        }
        (P::Binary | P::Geometry { .. } | P::Geography { .. }, Value::Binary(v)) => {
            ScalarValue::BinaryView(Some(v.to_vec()))
        }
        (p, _) => return Err(Error::corrupt(format!("a value is not of its type {p}"))),
    })
}

/// The Iceberg value of an Arrow scalar of this type; `None` for null, and for scalars of other types, which then
/// cannot be used for pruning.
pub fn from_scalar(scalar: &ScalarValue, p: &PrimitiveType) -> Option<Value> {
    use PrimitiveType as P;
    let scalar = scalar.cast_to(&type_to_arrow(&Type::Primitive(p.clone()))).ok()?;
    Some(match (p, scalar) {
        (P::Boolean, ScalarValue::Boolean(Some(v))) => Value::Boolean(v),
        (P::Int, ScalarValue::Int32(Some(v))) => Value::Int(v),
        (P::Date, ScalarValue::Date32(Some(v))) => Value::Int(v),
        (P::Long, ScalarValue::Int64(Some(v))) => Value::Long(v),
        (P::Time, ScalarValue::Time64Microsecond(Some(v))) => Value::Long(v),
        (P::Timestamp | P::Timestamptz, ScalarValue::TimestampMicrosecond(Some(v), _)) => Value::Long(v),
        (P::TimestampNs | P::TimestamptzNs, ScalarValue::TimestampNanosecond(Some(v), _)) => Value::Long(v),
        (P::Float, ScalarValue::Float32(Some(v))) => Value::Float(v),
        (P::Double, ScalarValue::Float64(Some(v))) => Value::Double(v),
        (P::Decimal { .. }, ScalarValue::Decimal128(Some(v), _, _)) => Value::Decimal(v),
        (P::String, ScalarValue::Utf8View(Some(v))) => Value::string(v),
        (P::Uuid, ScalarValue::FixedSizeBinary(16, Some(v))) => Value::Uuid(v.try_into().ok()?),
        (P::Fixed(_), ScalarValue::FixedSizeBinary(_, Some(v))) => Value::binary(v),
        (P::Binary, ScalarValue::BinaryView(Some(v))) => Value::binary(v),
        _ => return None,
    })
}

/// A column of one value repeated.
///
/// # Errors
/// As [`to_scalar`].
pub fn repeat(value: Option<&Value>, field_type: &Type, data_type: &DataType, rows: usize) -> Result<ArrayRef> {
    if value.is_none() {
        return Ok(new_null_array(data_type, rows));
    }
    let scalar = to_scalar(value, field_type)?.cast_to(data_type).map_err(engine_error)?;
    scalar.to_array_of_size(rows).map_err(engine_error)
}
