//! The order of single values (spec, "Sorting").
//!
//! Floating-point numbers follow IEEE 754's total order: -NaN, -infinity, …, -0, +0, …, infinity, NaN.
//! Text orders by its UTF-8 bytes, uuid, fixed and binary by their unsigned bytes.

use std::cmp::Ordering;

use super::types::PrimitiveType;
use super::value::Value;

/// Compares two values of `ty`.
///
/// A value left by a narrower type (int beside long, float beside double) compares by its number. Values of
/// different kinds, which a well-formed file never holds, have a fixed but meaningless order.
pub fn compare(left: &Value, right: &Value, _ty: &PrimitiveType) -> Ordering {
    match (left, right) {
        (Value::Boolean(a), Value::Boolean(b)) => a.cmp(b),
        (Value::Int(a), Value::Int(b)) => a.cmp(b),
        (Value::Long(a), Value::Long(b)) => a.cmp(b),
        (Value::Int(a), Value::Long(b)) => i64::from(*a).cmp(b),
        (Value::Long(a), Value::Int(b)) => a.cmp(&i64::from(*b)),
        (Value::Float(a), Value::Float(b)) => a.total_cmp(b),
        (Value::Double(a), Value::Double(b)) => a.total_cmp(b),
        (Value::Float(a), Value::Double(b)) => f64::from(*a).total_cmp(b),
        (Value::Double(a), Value::Float(b)) => a.total_cmp(&f64::from(*b)),
        (Value::Decimal(a), Value::Decimal(b)) => a.cmp(b),
        (Value::String(a), Value::String(b)) => a.as_bytes().cmp(b.as_bytes()),
        (Value::Uuid(a), Value::Uuid(b)) => a.cmp(b),
        (Value::Binary(a), Value::Binary(b)) => a.cmp(b),
        _ => kind(left).cmp(&kind(right)),
    }
}

fn kind(value: &Value) -> u8 {
    match value {
        Value::Boolean(_) => 0,
        Value::Int(_) => 1,
        Value::Long(_) => 2,
        Value::Float(_) => 3,
        Value::Double(_) => 4,
        Value::Decimal(_) => 5,
        Value::String(_) => 6,
        Value::Uuid(_) => 7,
        Value::Binary(_) => 8,
        Value::Struct(_) => 9,
        Value::List(_) => 10,
        Value::Map(_) => 11,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_follow_the_total_order() {
        let ordered = [
            -f64::NAN,
            f64::NEG_INFINITY,
            -1.5,
            -0.0,
            0.0,
            f64::MIN_POSITIVE,
            f64::INFINITY,
            f64::NAN,
        ];
        for pair in ordered.windows(2) {
            let (a, b) = (Value::Double(pair[0]), Value::Double(pair[1]));
            assert_eq!(compare(&a, &b, &PrimitiveType::Double), Ordering::Less, "{pair:?}");
        }
    }

    #[test]
    fn bytes_are_unsigned() {
        let (low, high) = (Value::Uuid([0x7f; 16]), Value::Uuid([0x80; 16]));
        assert_eq!(compare(&low, &high, &PrimitiveType::Uuid), Ordering::Less);
        let (low, high) = (Value::binary([0x7f, 9]), Value::binary([0x80]));
        assert_eq!(compare(&low, &high, &PrimitiveType::Binary), Ordering::Less);
        let (low, high) = (Value::string("z"), Value::string("é"));
        assert_eq!(compare(&low, &high, &PrimitiveType::String), Ordering::Less);
    }

    #[test]
    fn promoted_values_compare_by_number() {
        assert_eq!(
            compare(&Value::Int(3), &Value::Long(2), &PrimitiveType::Long),
            Ordering::Greater
        );
        assert_eq!(
            compare(&Value::Float(0.5), &Value::Double(0.5), &PrimitiveType::Double),
            Ordering::Equal
        );
    }
}
