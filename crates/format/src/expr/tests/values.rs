//! Random values: a few per column, so that literals meet them, and among them the ends of every type.

use std::sync::Arc;

use rand::Rng;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;

use crate::spec::types::PrimitiveType;
use crate::spec::value::Value;

const DAY_MICROS: i64 = 86_400_000_000;

pub(super) fn any_type(rng: &mut StdRng) -> PrimitiveType {
    use PrimitiveType as T;
    let precision = rng.random_range(1..=38u8);
    let types = [
        T::Boolean,
        T::Int,
        T::Long,
        T::Float,
        T::Double,
        T::Decimal {
            precision,
            scale: rng.random_range(0..=precision.min(10)),
        },
        T::Date,
        T::Time,
        T::Timestamp,
        T::Timestamptz,
        T::TimestampNs,
        T::TimestamptzNs,
        T::String,
        T::Uuid,
        T::Fixed(5),
        T::Binary,
        T::Unknown,
        T::Geometry { crs: None },
        T::Geography {
            crs: None,
            algorithm: None,
        },
    ];
    pick(rng, &types)
}

pub(super) fn pick<T: Clone>(rng: &mut StdRng, from: &[T]) -> T {
    from.choose(rng).cloned().unwrap()
}

/// A value of the type; `None` for `unknown`.
pub(super) fn any_value(rng: &mut StdRng, ty: &PrimitiveType) -> Option<Value> {
    use PrimitiveType as T;
    Some(match ty {
        T::Boolean => Value::Boolean(rng.random()),
        T::Int => Value::Int(any_int(rng)),
        T::Date => Value::Int(if rng.random_bool(0.5) {
            any_int(rng)
        } else {
            rng.random_range(-900..900)
        }),
        T::Long => Value::Long(if rng.random_bool(0.5) {
            any_long(rng)
        } else {
            i64::from(any_int(rng))
        }),
        T::Time => Value::Long(pick(rng, &[0, 1, 3_600_000_000, DAY_MICROS - 1])),
        T::Timestamp | T::Timestamptz => Value::Long(any_ticks(rng, DAY_MICROS)),
        T::TimestampNs | T::TimestamptzNs => Value::Long(any_ticks(rng, DAY_MICROS * 1000)),
        T::Float => Value::Float(any_float(rng) as f32),
        T::Double => Value::Double(any_float(rng)),
        T::Decimal { precision, .. } => Value::Decimal(any_decimal(rng, *precision)),
        T::String => Value::String(any_text(rng)),
        T::Uuid => Value::Uuid(any_uuid(rng)),
        T::Fixed(len) => Value::Binary((0..*len).map(|_| any_byte(rng)).collect()),
        T::Binary | T::Geometry { .. } | T::Geography { .. } => {
            let len = pick(rng, &[0, 1, 2, 3, 16, 17, 20]);
            Value::Binary((0..len).map(|_| any_byte(rng)).collect())
        }
        T::Unknown => return None,
    })
}

fn any_int(rng: &mut StdRng) -> i32 {
    let ends = [i32::MIN, i32::MIN + 1, i32::MIN + 8, i32::MAX - 1, i32::MAX];
    let near = rng.random_range(-25..25);
    match rng.random_range(0..4) {
        0 => pick(rng, &ends),
        1 => rng.random(),
        _ => near,
    }
}

fn any_long(rng: &mut StdRng) -> i64 {
    let ends = [i64::MIN, i64::MIN + 1, i64::MIN + 8, i64::MAX - 1, i64::MAX];
    if rng.random_bool(0.5) {
        pick(rng, &ends)
    } else {
        rng.random()
    }
}

fn any_ticks(rng: &mut StdRng, day: i64) -> i64 {
    let hour = day / 24;
    let near = rng.random_range(-60..60) * hour + pick(rng, &[0, 0, 1, -1, hour / 2, 999]);
    let far = rng.random_range(-900..900) * day;
    match rng.random_range(0..5) {
        0 => any_long(rng),
        1 => far,
        _ => near,
    }
}

fn any_float(rng: &mut StdRng) -> f64 {
    let special = [
        f64::NAN,
        -f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        0.0,
        -0.0,
        f64::MIN_POSITIVE,
        f64::MAX,
        f64::MIN,
    ];
    match rng.random_range(0..3) {
        0 => pick(rng, &special),
        1 => f64::from(rng.random_range(-4..4)) / 2.0,
        _ => rng.random_range(-10.0..10.0),
    }
}

fn any_decimal(rng: &mut StdRng, precision: u8) -> i128 {
    let max = 10i128.pow(u32::from(precision)) - 1;
    match rng.random_range(0..4) {
        0 => pick(rng, &[max, -max, 0]),
        1 => rng.random_range(-max..=max),
        _ => rng.random_range(-25..25).clamp(-max, max),
    }
}

pub(super) fn any_text(rng: &mut StdRng) -> Arc<str> {
    let long = pick(rng, &["a", "\u{10FFFF}", "é"]).repeat(20);
    // Two letters make texts that share prefixes.
    let letters = if rng.random() { 2 } else { 6 };
    let alphabet = &['a', 'b', 'é', '😀', '\u{d7ff}', '\u{10ffff}'][..letters];
    let len = pick(rng, &[0, 1, 2, 2, 3, 3, 4, 16, 17, 19]);
    let text: String = (0..len).map(|_| pick(rng, alphabet)).collect();
    match rng.random_range(0..6) {
        0 => Arc::from(format!("{long}{text}")),
        1 => Arc::from(long),
        _ => Arc::from(text),
    }
}

fn any_byte(rng: &mut StdRng) -> u8 {
    pick(rng, &[0, 1, 0x7f, 0x80, 0xff, 0xff])
}

/// Few distinct halves of either sign, so that signed and unsigned order differ in each half.
fn any_uuid(rng: &mut StdRng) -> [u8; 16] {
    let mut bytes = [0; 16];
    for at in [0, 8] {
        bytes[at] = any_byte(rng);
        bytes[at + 7] = any_byte(rng);
    }
    bytes
}
