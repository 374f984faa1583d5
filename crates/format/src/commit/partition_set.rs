//! A set of partitions over all specs of a table, and whether a manifest may hold one of them.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};
use std::mem::discriminant;

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
    if let (Value::Uuid(value), Value::Uuid(lower), Value::Uuid(upper)) = (value, &lower, &upper) {
        return uuids_may_hold(value, lower, upper);
    }
    // Only values of one type can be compared; those of an unknown transform may be of any.
    if discriminant(value) != discriminant(&lower) {
        return true;
    }
    value_order::compare(value, &lower, primitive) != Ordering::Less
        && value_order::compare(value, &upper, primitive) != Ordering::Greater
}

/// Uuids order by unsigned bytes, but Java orders them as two signed longs. In that order the first halves are still
/// right within one sign; bounds of both signs are the wrong way round and prove nothing.
fn uuids_may_hold(value: &[u8; 16], lower: &[u8; 16], upper: &[u8; 16]) -> bool {
    let half = |uuid: &[u8; 16]| u128::from_be_bytes(*uuid) >> 64;
    let (lower, upper) = (half(lower), half(upper));
    lower > upper || (lower..=upper).contains(&half(value))
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

    #[test]
    fn uuid_summaries_are_believed_in_either_order() {
        use crate::manifest::manifest_file::ManifestContent;
        use crate::spec::types::NestedField;
        let uuid = |high: u64, low: u64| (u128::from(high) << 64 | u128::from(low)).to_be_bytes();
        let partition_type = StructType::new(vec![NestedField::optional(1000, "u", PrimitiveType::Uuid)]);
        let may_hold = |lower: [u8; 16], upper: [u8; 16], value| {
            let summary = FieldSummary {
                contains_null: false,
                contains_nan: None,
                lower_bound: Some(lower.to_vec()),
                upper_bound: Some(upper.to_vec()),
            };
            let manifest = ManifestFile {
                manifest_path: "m".into(),
                manifest_length: 1,
                partition_spec_id: 0,
                content: ManifestContent::Data,
                sequence_number: 1,
                min_sequence_number: 1,
                added_snapshot_id: Some(1),
                added_files_count: Some(1),
                existing_files_count: Some(0),
                deleted_files_count: Some(0),
                added_rows_count: Some(1),
                existing_rows_count: Some(0),
                deleted_rows_count: Some(0),
                partitions: vec![summary],
                key_metadata: None,
                first_row_id: None,
            };
            let set = PartitionSet::new([(0, &tuple(&[Some(Value::Uuid(value))]))]);
            set.may_be_in(&manifest, &partition_type)
        };
        let negative = uuid(0x9000_0000_0000_0000, 0);
        let positive = uuid(0x7000_0000_0000_0000, 0);
        for value in [negative, positive, uuid(0, 0), uuid(u64::MAX, 0)] {
            assert!(may_hold(negative, positive, value), "signed order: {value:x?}");
        }
        assert!(!may_hold(uuid(1, 0), uuid(2, 0), uuid(3, 0)));
        assert!(!may_hold(uuid(1, 0), uuid(2, 0), uuid(0, 0)));
        // The second halves may be the wrong way round.
        assert!(may_hold(uuid(1, u64::MAX), uuid(1, 1), uuid(1, 0)));
    }
}
