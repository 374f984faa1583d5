//! `bucket[N]`: a hash modulo N (spec, "Bucket Transform Details" and Appendix B).

use crate::spec::types::PrimitiveType;
use crate::spec::value::Value;
use crate::spec::value_binary::decimal_bytes;

pub(super) fn accepts(source: &PrimitiveType) -> bool {
    use PrimitiveType as T;
    match source {
        T::Int | T::Long | T::Decimal { .. } | T::Date | T::Time => true,
        T::Timestamp | T::Timestamptz | T::TimestampNs | T::TimestamptzNs => true,
        T::String | T::Uuid | T::Fixed(_) | T::Binary => true,
        T::Boolean | T::Float | T::Double | T::Unknown | T::Geometry { .. } | T::Geography { .. } => false,
    }
}

pub(super) fn apply(buckets: u32, value: &Value, source: &PrimitiveType) -> Option<Value> {
    // The sign bit is discarded, so the remainder is never negative; `FromStr` refuses 0 buckets, other makers may not.
    let hash = hash(value, source)? & i32::MAX;
    let bucket = (hash as u32).checked_rem(buckets)?;
    i32::try_from(bucket).ok().map(Value::Int)
}

/// The 32-bit hash of a value (spec, Appendix B), before the modulo; `None` for a type without one.
///
/// Nanosecond timestamps are hashed as microseconds, so that they fall into the buckets of microsecond ones.
pub fn hash(value: &Value, source: &PrimitiveType) -> Option<i32> {
    let nanos = matches!(source, PrimitiveType::TimestampNs | PrimitiveType::TimestamptzNs);
    Some(match value {
        Value::Int(v) => murmur3(&i64::from(*v).to_le_bytes()),
        Value::Long(v) if nanos => murmur3(&v.div_euclid(1000).to_le_bytes()),
        Value::Long(v) => murmur3(&v.to_le_bytes()),
        Value::Decimal(v) => murmur3(&decimal_bytes(*v)),
        Value::String(s) => murmur3(s.as_bytes()),
        Value::Uuid(b) => murmur3(b),
        Value::Binary(b) => murmur3(b),
        _ => return None,
    })
}

/// The hash of a text's or binary's bytes, as [`hash`] gives it, for callers that hold no [`Value`].
pub fn hash_bytes(bytes: &[u8]) -> i32 {
    murmur3(bytes)
}

/// MurmurHash3, x86 32-bit variant, seed 0.
fn murmur3(data: &[u8]) -> i32 {
    let mix = |k: u32| k.wrapping_mul(0xcc9e_2d51).rotate_left(15).wrapping_mul(0x1b87_3593);
    let (words, tail) = data.as_chunks::<4>();
    let mut h = 0u32;
    for word in words {
        h ^= mix(u32::from_le_bytes(*word));
        h = h.rotate_left(13).wrapping_mul(5).wrapping_add(0xe654_6b64);
    }
    if !tail.is_empty() {
        let k = tail.iter().rev().fold(0u32, |k, b| (k << 8) | u32::from(*b));
        h ^= mix(k);
    }
    h ^= data.len() as u32;
    h ^= h >> 16;
    h = h.wrapping_mul(0x85eb_ca6b);
    h ^= h >> 13;
    h = h.wrapping_mul(0xc2b2_ae35);
    h ^= h >> 16;
    h as i32
}
