//! A set of partitions over all specs of a table, and whether a manifest may hold one of them.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};

use crate::deletes::PartitionKey;
use crate::manifest::data_file::PartitionTuple;
use crate::manifest::manifest_file::{FieldSummary, ManifestFile};
use crate::spec::types::{PrimitiveType, StructType, Type};
use crate::spec::value::Value;
use crate::spec::{value_binary, value_order};

/// Partitions by spec id.
#[derive(Debug, Clone, Default)]
pub(crate) struct PartitionSet {
    keys: HashSet<PartitionKey>,
    tuples: HashMap<i32, Vec<PartitionTuple>>,
}

impl PartitionSet {
    /// The set of these.
    pub(crate) fn new<'a>(partitions: impl IntoIterator<Item = (i32, &'a PartitionTuple)>) -> Self {
        let mut set = PartitionSet::default();
        for (spec_id, tuple) in partitions {
            if set.keys.insert(PartitionKey::new(spec_id, tuple)) {
                set.tuples.entry(spec_id).or_default().push(tuple.clone());
            }
        }
        set
    }

    /// Whether it has no partition.
    pub(crate) fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Whether it has this partition.
    pub(crate) fn contains(&self, spec_id: i32, tuple: &PartitionTuple) -> bool {
        !self.keys.is_empty() && self.keys.contains(&PartitionKey::new(spec_id, tuple))
    }

    /// Whether the manifest may hold a file of one of the partitions, by its summaries.
    pub(crate) fn may_be_in(&self, manifest: &ManifestFile, partition_type: &StructType) -> bool {
        let Some(tuples) = self.tuples.get(&manifest.partition_spec_id) else {
            return false;
        };
        tuples.iter().any(|tuple| may_hold(manifest, partition_type, tuple))
    }
}

fn may_hold(manifest: &ManifestFile, partition_type: &StructType, tuple: &PartitionTuple) -> bool {
    // Summaries that are missing or don't fit the spec prove nothing.
    if manifest.partitions.len() != tuple.0.len() || partition_type.fields.len() != tuple.0.len() {
        return true;
    }
    let fields = partition_type.fields.iter().zip(&manifest.partitions);
    fields
        .zip(&tuple.0)
        .all(|((field, summary), value)| match &field.field_type {
            Type::Primitive(primitive) => summary_may_hold(summary, primitive, value.as_ref()),
            _ => true,
        })
}

fn summary_may_hold(summary: &FieldSummary, primitive: &PrimitiveType, value: Option<&Value>) -> bool {
    let Some(value) = value else {
        return summary.contains_null;
    };
    let is_nan = match value {
        Value::Float(x) => x.is_nan(),
        Value::Double(x) => x.is_nan(),
        _ => false,
    };
    if is_nan {
        return summary.contains_nan != Some(false);
    }
    let (Some(lower), Some(upper)) = (&summary.lower_bound, &summary.upper_bound) else {
        // All values are null or NaN, or the writer did not say: too little to be sure of.
        return true;
    };
    let bound = |bytes: &[u8]| value_binary::from_bytes(bytes, primitive).ok();
    let (Some(lower), Some(upper)) = (bound(lower), bound(upper)) else {
        return true;
    };
    value_order::compare(value, &lower, primitive) != Ordering::Less
        && value_order::compare(value, &upper, primitive) != Ordering::Greater
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tuple(values: &[Option<Value>]) -> PartitionTuple {
        PartitionTuple(values.to_vec())
    }

    #[test]
    fn equality_is_by_value() {
        let set = PartitionSet::new([
            (0, &tuple(&[Some(Value::Int(7)), None])),
            (1, &tuple(&[Some(Value::Double(f64::NAN))])),
            (1, &tuple(&[Some(Value::string("a"))])),
        ]);
        assert!(set.contains(0, &tuple(&[Some(Value::Long(7)), None])));
        assert!(!set.contains(0, &tuple(&[Some(Value::Long(7)), Some(Value::Int(0))])));
        assert!(!set.contains(1, &tuple(&[Some(Value::Int(7)), None])));
        assert!(set.contains(1, &tuple(&[Some(Value::Float(f32::NAN))])));
        assert!(!set.contains(1, &tuple(&[Some(Value::string("ab"))])));
        assert!(!set.contains(2, &tuple(&[])));
    }
}
