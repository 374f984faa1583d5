//! Equality of partition tuples (spec, "Scan Planning", notes 3 and 4).

use std::sync::Arc;

use crate::manifest::data_file::PartitionTuple;
use crate::spec::value::Value;

/// A spec id and partition tuple that can be compared and hashed.
///
/// Floating point values are equal when their bits are, all NaNs counting as one; so `-0.0` is not `0.0`. An int
/// equals the long and a float the double of the same value, because a source column may have been promoted between
/// two manifests of one spec.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PartitionKey {
    spec_id: i32,
    values: Box<[Option<KeyValue>]>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum KeyValue {
    Boolean(bool),
    Long(i64),
    DoubleBits(u64),
    Decimal(i128),
    String(Arc<str>),
    Uuid([u8; 16]),
    Binary(Arc<[u8]>),
    /// Never a partition value; kept apart by its text.
    Nested(String),
}

impl PartitionKey {
    /// The key of a tuple written with this spec.
    pub fn new(spec_id: i32, tuple: &PartitionTuple) -> Self {
        PartitionKey {
            spec_id,
            values: tuple.0.iter().map(|v| v.as_ref().map(KeyValue::new)).collect(),
        }
    }

    /// The spec.
    pub fn spec_id(&self) -> i32 {
        self.spec_id
    }
}

impl KeyValue {
    fn new(value: &Value) -> Self {
        match value {
            Value::Boolean(b) => KeyValue::Boolean(*b),
            Value::Int(i) => KeyValue::Long(i64::from(*i)),
            Value::Long(l) => KeyValue::Long(*l),
            Value::Float(f) => Self::double(f64::from(*f)),
            Value::Double(d) => Self::double(*d),
            Value::Decimal(d) => KeyValue::Decimal(*d),
            Value::String(s) => KeyValue::String(Arc::clone(s)),
            Value::Uuid(u) => KeyValue::Uuid(*u),
            Value::Binary(b) => KeyValue::Binary(Arc::clone(b)),
            Value::Struct(_) | Value::List(_) | Value::Map(_) => KeyValue::Nested(format!("{value:?}")),
        }
    }

    fn double(value: f64) -> Self {
        let canonical = if value.is_nan() { f64::NAN } else { value };
        KeyValue::DoubleBits(canonical.to_bits())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(spec_id: i32, value: Option<Value>) -> PartitionKey {
        PartitionKey::new(spec_id, &PartitionTuple(vec![value]))
    }

    #[test]
    fn floats_are_equal_by_bits_and_all_nans_are_one() {
        let nan = |bits| key(0, Some(Value::Double(f64::from_bits(bits))));
        assert_eq!(nan(0x7ff8_0000_0000_0000), nan(0xfff8_0000_0000_0001));
        assert_eq!(
            key(0, Some(Value::Float(f32::from_bits(0x7fc0_0001)))),
            key(0, Some(Value::Float(f32::NAN)))
        );
        assert_ne!(key(0, Some(Value::Double(0.0))), key(0, Some(Value::Double(-0.0))));
        assert_ne!(key(0, Some(Value::Float(0.0))), key(0, Some(Value::Float(-0.0))));
        assert_eq!(key(0, Some(Value::Double(1.5))), key(0, Some(Value::Double(1.5))));
    }

    #[test]
    fn specs_nulls_and_lengths_tell_tuples_apart() {
        assert_ne!(key(0, Some(Value::Int(1))), key(1, Some(Value::Int(1))));
        assert_ne!(key(0, None), key(0, Some(Value::Int(0))));
        assert_eq!(key(0, None), key(0, None));
        assert_ne!(key(0, None), PartitionKey::new(0, &PartitionTuple(vec![])));
    }

    #[test]
    fn promoted_values_stay_equal() {
        assert_eq!(key(0, Some(Value::Int(7))), key(0, Some(Value::Long(7))));
        assert_eq!(
            key(0, Some(Value::Float(0.1))),
            key(0, Some(Value::Double(f64::from(0.1f32))))
        );
    }
}
