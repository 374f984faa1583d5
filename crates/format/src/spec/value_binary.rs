//! Binary single-value serialisation (spec, Appendix D), used by column bounds and partition summaries.
//!
//! Reading accepts what schema evolution leaves behind: the bytes of a narrower type that the column had
//! when the file was written. Lengths are checked before anything is copied.

use std::sync::Arc;

use super::types::PrimitiveType;
use super::value::Value;
use crate::error::{Error, Result};

const MICROS_PER_DAY: i64 = 86_400_000_000;
const NANOS_PER_DAY: i64 = 86_400_000_000_000;

/// Serialises a value of `ty`.
///
/// # Errors
/// `InvalidInput` when the value is not of the type; `Unsupported` for `unknown`, which has no values.
pub fn to_bytes(value: &Value, ty: &PrimitiveType) -> Result<Vec<u8>> {
    use PrimitiveType as T;
    Ok(match (ty, value) {
        (T::Boolean, Value::Boolean(b)) => vec![u8::from(*b)],
        (T::Int | T::Date, Value::Int(v)) => v.to_le_bytes().to_vec(),
        (T::Long | T::Time | T::Timestamp | T::Timestamptz | T::TimestampNs | T::TimestamptzNs, Value::Long(v)) => {
            v.to_le_bytes().to_vec()
        }
        (T::Float, Value::Float(v)) => v.to_le_bytes().to_vec(),
        (T::Double, Value::Double(v)) => v.to_le_bytes().to_vec(),
        (T::Decimal { .. }, Value::Decimal(v)) => decimal_bytes(*v),
        (T::String, Value::String(s)) => s.as_bytes().to_vec(),
        (T::Uuid, Value::Uuid(b)) => b.to_vec(),
        (T::Fixed(len), Value::Binary(b)) if b.len() <= *len as usize => b.to_vec(),
        (T::Binary | T::Geometry { .. } | T::Geography { .. }, Value::Binary(b)) => b.to_vec(),
        (T::Unknown, _) => return Err(Error::unsupported("a value of type unknown cannot be serialised")),
        _ => return Err(Error::invalid(format!("the value is not of type {ty}"))),
    })
}

/// Reads a value of `ty`.
///
/// The bytes may be those of a type that may be promoted to `ty`: an int where a long is expected, a float
/// for a double, a date for a timestamp. Fixed values may be shorter than the type, because bounds are
/// truncated.
///
/// # Errors
/// `Corrupt` when the length or the text does not fit the type.
pub fn from_bytes(bytes: &[u8], ty: &PrimitiveType) -> Result<Value> {
    use PrimitiveType as T;
    let value = match ty {
        T::Boolean => match bytes {
            [b] => Some(Value::Boolean(*b != 0)),
            _ => None,
        },
        T::Int | T::Date => int(bytes).map(Value::Int),
        T::Long => long(bytes).or_else(|| int(bytes).map(i64::from)).map(Value::Long),
        T::Time | T::Timestamptz | T::TimestamptzNs => long(bytes).map(Value::Long),
        T::Timestamp => long(bytes).or_else(|| days(bytes, MICROS_PER_DAY)).map(Value::Long),
        T::TimestampNs => long(bytes).or_else(|| days(bytes, NANOS_PER_DAY)).map(Value::Long),
        T::Float => float(bytes).map(Value::Float),
        T::Double => match bytes.try_into() {
            Ok(b) => Some(Value::Double(f64::from_le_bytes(b))),
            Err(_) => float(bytes).map(|f| Value::Double(f64::from(f))),
        },
        T::Decimal { .. } => decimal_from_bytes(bytes).map(Value::Decimal),
        T::String => std::str::from_utf8(bytes).ok().map(|s| Value::String(Arc::from(s))),
        T::Uuid => bytes.try_into().ok().map(Value::Uuid),
        T::Fixed(len) if bytes.len() > *len as usize => None,
        T::Fixed(_) | T::Binary | T::Geometry { .. } | T::Geography { .. } => Some(Value::Binary(Arc::from(bytes))),
        T::Unknown => None,
    };
    value.ok_or_else(|| Error::corrupt(format!("{} bytes are not a value of type {ty}", bytes.len())))
}

fn int(bytes: &[u8]) -> Option<i32> {
    bytes.try_into().ok().map(i32::from_le_bytes)
}

fn long(bytes: &[u8]) -> Option<i64> {
    bytes.try_into().ok().map(i64::from_le_bytes)
}

fn float(bytes: &[u8]) -> Option<f32> {
    bytes.try_into().ok().map(f32::from_le_bytes)
}

fn days(bytes: &[u8], units_per_day: i64) -> Option<i64> {
    i64::from(int(bytes)?).checked_mul(units_per_day)
}

/// The unscaled value of a decimal as two's complement, big-endian, in the fewest bytes (at least one).
pub fn decimal_bytes(unscaled: i128) -> Vec<u8> {
    let bytes = unscaled.to_be_bytes();
    let fill = if unscaled < 0 { 0xff } else { 0x00 };
    let mut start = 0;
    // A leading byte is redundant when it only repeats the sign bit of the next one.
    while start < 15 && bytes[start] == fill && (bytes[start + 1] ^ fill) & 0x80 == 0 {
        start += 1;
    }
    bytes[start..].to_vec()
}

/// Reads a big-endian two's complement number of any length, as long as it fits 128 bits; `None` otherwise.
pub fn decimal_from_bytes(bytes: &[u8]) -> Option<i128> {
    let negative = bytes.first()? & 0x80 != 0;
    let fill = if negative { 0xff } else { 0x00 };
    let (padding, rest) = bytes.split_at(bytes.len().saturating_sub(16));
    if padding.iter().any(|b| *b != fill) {
        return None;
    }
    let mut full = [fill; 16];
    full.get_mut(16 - rest.len()..)?.copy_from_slice(rest);
    let value = i128::from_be_bytes(full);
    // Padding says the sign; the kept bytes must agree.
    (padding.is_empty() || (value < 0) == negative).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round(value: Value, ty: PrimitiveType, bytes: &[u8]) {
        assert_eq!(to_bytes(&value, &ty).unwrap(), bytes, "{ty}");
        assert_eq!(from_bytes(bytes, &ty).unwrap(), value, "{ty}");
    }

    /// Expected bytes follow Java's TestConversions.
    #[test]
    fn java_conversions() {
        let decimal = |precision, scale| PrimitiveType::Decimal { precision, scale };
        round(Value::Boolean(false), PrimitiveType::Boolean, &[0]);
        round(Value::Boolean(true), PrimitiveType::Boolean, &[1]);
        round(Value::Int(84202), PrimitiveType::Int, &[234, 72, 1, 0]);
        round(Value::Long(200), PrimitiveType::Long, &[200, 0, 0, 0, 0, 0, 0, 0]);
        round(Value::Double(6.0), PrimitiveType::Double, &[0, 0, 0, 0, 0, 0, 24, 64]);
        round(Value::Float(-4.5), PrimitiveType::Float, &[0, 0, 144, 192]);
        round(Value::Int(1000), PrimitiveType::Date, &[232, 3, 0, 0]);
        round(Value::Long(10000), PrimitiveType::Time, &[16, 39, 0, 0, 0, 0, 0, 0]);
        round(
            Value::Long(400000),
            PrimitiveType::Timestamptz,
            &[128, 26, 6, 0, 0, 0, 0, 0],
        );
        round(Value::string("ABC"), PrimitiveType::String, b"ABC");
        round(Value::binary([1, 2]), PrimitiveType::Fixed(2), &[1, 2]);
        round(Value::binary([1, 2, 3]), PrimitiveType::Binary, &[1, 2, 3]);
        round(Value::Decimal(345), decimal(3, 2), &[1, 89]);
        round(Value::Decimal(123_456_789), decimal(10, 4), &[7, 91, 205, 21]);
        round(Value::Decimal(11), decimal(10, 3), &[11]);
        let uuid = [
            0xf7, 0x9c, 0x3e, 9, 0x67, 0x7c, 0x4b, 0xbd, 0xa4, 0x79, 0x3f, 0x34, 0x9c, 0xb7, 0x85, 0xe7,
        ];
        round(Value::Uuid(uuid), PrimitiveType::Uuid, &uuid);
    }

    /// Two's complement in the fewest bytes: the sign bit decides whether one more is needed.
    #[test]
    fn decimals_are_minimal() {
        let ty = PrimitiveType::Decimal {
            precision: 38,
            scale: 0,
        };
        for (value, bytes) in [
            (0i128, &[0u8][..]),
            (-1, &[0xff]),
            (127, &[0x7f]),
            (128, &[0, 0x80]),
            (-128, &[0x80]),
            (-129, &[0xff, 0x7f]),
            (-32768, &[0x80, 0]),
        ] {
            round(Value::Decimal(value), ty.clone(), bytes);
        }
        round(Value::Decimal(i128::MAX), ty.clone(), &i128::MAX.to_be_bytes());
        round(Value::Decimal(i128::MIN), ty.clone(), &i128::MIN.to_be_bytes());
        let padded = [[0xff; 4].as_slice(), &(-5i128).to_be_bytes()].concat();
        assert_eq!(from_bytes(&padded, &ty).unwrap(), Value::Decimal(-5));
        let too_big = [[0x01].as_slice(), &5i128.to_be_bytes()].concat();
        assert!(from_bytes(&too_big, &ty).is_err());
        let wrong_sign = [[0x00].as_slice(), &(-5i128).to_be_bytes()].concat();
        assert!(from_bytes(&wrong_sign, &ty).is_err());
    }

    #[test]
    fn promoted_types_read_the_old_bytes() {
        let five = 5i32.to_le_bytes();
        assert_eq!(from_bytes(&five, &PrimitiveType::Long).unwrap(), Value::Long(5));
        let half = 0.5f32.to_le_bytes();
        assert_eq!(from_bytes(&half, &PrimitiveType::Double).unwrap(), Value::Double(0.5));
        let day = from_bytes(&five, &PrimitiveType::Timestamp).unwrap();
        assert_eq!(day, Value::Long(5 * 24 * 3600 * 1_000_000));
        let far = i32::MAX.to_le_bytes();
        assert!(from_bytes(&far, &PrimitiveType::Timestamp).is_err());
        assert!(from_bytes(&five, &PrimitiveType::Timestamptz).is_err());
    }

    #[test]
    fn wrong_lengths_are_corrupt() {
        for ty in [
            PrimitiveType::Boolean,
            PrimitiveType::Int,
            PrimitiveType::Long,
            PrimitiveType::Float,
            PrimitiveType::Double,
            PrimitiveType::Uuid,
            PrimitiveType::Decimal { precision: 5, scale: 1 },
        ] {
            assert!(from_bytes(&[], &ty).is_err(), "{ty}");
            assert!(from_bytes(&[1; 17], &ty).is_err(), "{ty}");
        }
        assert!(from_bytes(&[0xff, 0xfe], &PrimitiveType::String).is_err());
        assert!(from_bytes(&[1, 2, 3], &PrimitiveType::Fixed(2)).is_err());
        assert!(from_bytes(&[1], &PrimitiveType::Unknown).is_err());
    }
}
