//! `identity`: the value itself.

use crate::spec::types::PrimitiveType;
use crate::spec::value::Value;

pub(super) fn accepts(source: &PrimitiveType) -> bool {
    !matches!(source, PrimitiveType::Geometry { .. } | PrimitiveType::Geography { .. })
}

pub(super) fn apply(value: &Value) -> Option<Value> {
    Some(value.clone())
}
