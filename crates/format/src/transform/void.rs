//! `void`: always null. It stands where a v1 table's partition field was dropped.

use crate::spec::value::Value;

pub(super) fn apply() -> Option<Value> {
    None
}
