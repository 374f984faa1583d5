//! Summaries of partition values over a manifest (spec, "Manifest Lists", `field_summary`).

use std::cmp::Ordering;

use super::data_file::PartitionTuple;
use super::manifest_file::FieldSummary;
use crate::error::Result;
use crate::spec::types::{PrimitiveType, StructType, Type};
use crate::spec::value::Value;
use crate::spec::{value_binary, value_order};

/// Collects the summaries of one manifest's partition fields.
#[derive(Debug)]
pub(super) struct PartitionSummary {
    fields: Vec<FieldStats>,
    last: Option<PartitionTuple>,
}

#[derive(Debug)]
struct FieldStats {
    primitive: PrimitiveType,
    contains_null: bool,
    contains_nan: bool,
    bounds: Option<(Value, Value)>,
}

impl PartitionSummary {
    pub(super) fn new(partition_type: &StructType) -> Self {
        let primitive = |t: &Type| t.as_primitive().cloned().unwrap_or(PrimitiveType::Unknown);
        let fields = partition_type.fields.iter().map(|f| FieldStats {
            primitive: primitive(&f.field_type),
            contains_null: false,
            contains_nan: false,
            bounds: None,
        });
        PartitionSummary {
            fields: fields.collect(),
            last: None,
        }
    }

    pub(super) fn add(&mut self, tuple: &PartitionTuple) {
        // Neighbours are mostly of one partition.
        if self.fields.is_empty() || self.last.as_ref() == Some(tuple) {
            return;
        }
        for (i, field) in self.fields.iter_mut().enumerate() {
            field.add(tuple.0.get(i).and_then(Option::as_ref));
        }
        self.last = Some(tuple.clone());
    }

    pub(super) fn finish(self) -> Result<Vec<FieldSummary>> {
        self.fields.into_iter().map(FieldStats::finish).collect()
    }
}

impl FieldStats {
    fn add(&mut self, value: Option<&Value>) {
        match value {
            None => self.contains_null = true,
            Some(Value::Float(v)) if v.is_nan() => self.contains_nan = true,
            Some(Value::Double(v)) if v.is_nan() => self.contains_nan = true,
            Some(value) => match &mut self.bounds {
                None => self.bounds = Some((value.clone(), value.clone())),
                Some((lower, upper)) => {
                    if value_order::compare(value, lower, &self.primitive) == Ordering::Less {
                        *lower = value.clone();
                    }
                    if value_order::compare(value, upper, &self.primitive) == Ordering::Greater {
                        *upper = value.clone();
                    }
                }
            },
        }
    }

    fn finish(self) -> Result<FieldSummary> {
        let (lower_bound, upper_bound) = match &self.bounds {
            Some((lower, upper)) if self.primitive != PrimitiveType::Unknown => (
                Some(value_binary::to_bytes(lower, &self.primitive)?),
                Some(value_binary::to_bytes(upper, &self.primitive)?),
            ),
            _ => (None, None),
        };
        Ok(FieldSummary {
            contains_null: self.contains_null,
            contains_nan: Some(self.contains_nan),
            lower_bound,
            upper_bound,
        })
    }
}
