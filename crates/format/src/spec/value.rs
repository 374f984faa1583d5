//! Single values in their physical form.
//!
//! A [`Value`] does not know its logical type: `Int` holds ints and dates, `Long` holds longs, times and
//! timestamps. The type always travels beside it. Serialisation is in [`super::value_binary`] (bounds,
//! spec Appendix D "Binary single-value serialization") and [`super::value_json`] (defaults, partition
//! values in JSON, "JSON single-value serialization"); ordering is in [`super::value_order`].

use std::sync::Arc;

use super::types::FieldId;

/// A non-null value in its physical form.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// boolean
    Boolean(bool),
    /// int, date (days)
    Int(i32),
    /// long, time (µs), timestamps (µs or ns, by type)
    Long(i64),
    /// float
    Float(f32),
    /// double
    Double(f64),
    /// decimal: the unscaled value; the scale is in the type
    Decimal(i128),
    /// string
    String(Arc<str>),
    /// uuid, big-endian
    Uuid([u8; 16]),
    /// fixed, binary, and WKB of geometry and geography
    Binary(Arc<[u8]>),
    /// struct: field ids with their values; a missing id and `None` are null
    Struct(Vec<(FieldId, Option<Value>)>),
    /// list
    List(Vec<Option<Value>>),
    /// map, in order of appearance
    Map(Vec<(Value, Option<Value>)>),
}

impl Value {
    /// A string value.
    pub fn string(s: impl AsRef<str>) -> Self {
        Value::String(Arc::from(s.as_ref()))
    }

    /// A binary value.
    pub fn binary(b: impl AsRef<[u8]>) -> Self {
        Value::Binary(Arc::from(b.as_ref()))
    }
}
