//! `truncate[W]`: a number down to a multiple of W, text to W code points, bytes to W bytes.

use std::sync::Arc;

use crate::spec::types::PrimitiveType;
use crate::spec::value::Value;

pub(super) fn accepts(source: &PrimitiveType) -> bool {
    use PrimitiveType as T;
    matches!(source, T::Int | T::Long | T::Decimal { .. } | T::String | T::Binary)
}

/// Numbers less than W above the type's minimum have no multiple of W below them in the type. The result wraps
/// around there, as in every Java writer, because equal partition values must stay equal across writers; the
/// projections know of it (`expr::project`).
pub(super) fn apply(width: u32, value: &Value, source: &PrimitiveType) -> Option<Value> {
    if width == 0 {
        return None;
    }
    Some(match (source, value) {
        (PrimitiveType::Int, Value::Int(v)) => Value::Int(int(*v, width)),
        (PrimitiveType::Long, Value::Long(v)) => Value::Long(v.wrapping_sub(v.rem_euclid(i64::from(width)))),
        (PrimitiveType::Decimal { .. }, Value::Decimal(v)) => {
            Value::Decimal(v.wrapping_sub(v.rem_euclid(i128::from(width))))
        }
        (PrimitiveType::String, Value::String(s)) => Value::String(text(s, width)),
        (PrimitiveType::Binary, Value::Binary(b)) => Value::Binary(match b.get(..width as usize) {
            Some(prefix) => Arc::from(prefix),
            None => Arc::clone(b),
        }),
        _ => return None,
    })
}

fn int(v: i32, width: u32) -> i32 {
    // The remainder is below `width`, which may exceed i32 in theory only; the cast wraps as the subtraction does.
    let remainder = i64::from(v).rem_euclid(i64::from(width));
    v.wrapping_sub(remainder as i32)
}

fn text(s: &Arc<str>, code_points: u32) -> Arc<str> {
    match s.char_indices().nth(code_points as usize) {
        Some((end, _)) => Arc::from(&s[..end]),
        None => Arc::clone(s),
    }
}
