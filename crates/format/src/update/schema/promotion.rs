//! Type promotion (spec, "Schema Evolution").

use crate::spec::table_metadata::FormatVersion;
use crate::spec::types::{PrimitiveType, Type};
use crate::spec::value::Value;

const DAY_MICROS: i64 = 86_400_000_000;

/// Whether values of `from` may be read as `to` in a table of this version. A type may always stay what it is.
pub fn is_promotion_allowed(from: &Type, to: &Type, version: FormatVersion) -> bool {
    if from == to {
        return true;
    }
    let v3 = version >= FormatVersion::V3;
    let Type::Primitive(from) = from else {
        return false;
    };
    match (from, to) {
        (PrimitiveType::Unknown, _) => v3,
        (PrimitiveType::Int, Type::Primitive(PrimitiveType::Long)) => true,
        (PrimitiveType::Float, Type::Primitive(PrimitiveType::Double)) => true,
        (PrimitiveType::Date, Type::Primitive(PrimitiveType::Timestamp | PrimitiveType::TimestampNs)) => v3,
        (
            PrimitiveType::Decimal { precision, scale },
            Type::Primitive(PrimitiveType::Decimal {
                precision: wider,
                scale: same,
            }),
        ) => scale == same && precision <= wider,
        _ => false,
    }
}

/// A value of `from` as one of `to`; `None` when it does not fit (a date beyond the range of nanoseconds).
pub(super) fn promote_value(value: &Value, from: &Type, to: &Type) -> Option<Value> {
    let (Type::Primitive(from), Type::Primitive(to)) = (from, to) else {
        return (from == to).then(|| value.clone());
    };
    match (from, to, value) {
        (PrimitiveType::Int, PrimitiveType::Long, Value::Int(n)) => Some(Value::Long(i64::from(*n))),
        (PrimitiveType::Float, PrimitiveType::Double, Value::Float(x)) => Some(Value::Double(f64::from(*x))),
        (PrimitiveType::Date, PrimitiveType::Timestamp, Value::Int(days)) => {
            i64::from(*days).checked_mul(DAY_MICROS).map(Value::Long)
        }
        (PrimitiveType::Date, PrimitiveType::TimestampNs, Value::Int(days)) => {
            i64::from(*days).checked_mul(DAY_MICROS * 1000).map(Value::Long)
        }
        _ => Some(value.clone()),
    }
}
