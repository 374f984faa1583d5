//! Column metrics and partition summaries as writers leave them: cut, incomplete, from before a promotion, or lying.

use std::cmp::Ordering;

use rand::Rng;
use rand::rngs::StdRng;

use super::values::pick;
use super::world::{ColumnInfo, Row};
use crate::expr::evaluator::value_at;
use crate::manifest::data_file::{DataFile, PartitionTuple};
use crate::manifest::manifest_file::{FieldSummary, ManifestContent, ManifestFile};
use crate::spec::partition::PartitionSpec;
use crate::spec::schema::Schema;
use crate::spec::types::PrimitiveType;
use crate::spec::value::Value;
use crate::spec::{value_binary, value_order};
use crate::transform::Transform;

/// Adds the metrics of one column to its file.
pub(super) fn add(rng: &mut StdRng, column: &ColumnInfo, rows: &[Row], file: &mut DataFile) {
    let mode = rng.random_range(0..6);
    if mode == 0 {
        return;
    }
    let values: Vec<&Value> = rows.iter().filter_map(|r| value_at(r, &column.path)).collect();
    let count = |rng: &mut StdRng, n: usize| match rng.random_range(0..20) {
        0 => None,
        1 => Some(-1),
        _ => Some(n as i64),
    };
    let id = column.id;
    // Writers of ORC files and DuckDB do not count the rows whose holder is null.
    let holder = match column.path.split_last() {
        Some((_, holder)) if !holder.is_empty() && rng.random() => Some(holder),
        _ => None,
    };
    let counted = rows
        .iter()
        .filter(|r| holder.is_none_or(|h| value_at(r, h).is_some()))
        .count();
    file.value_counts.extend(count(rng, counted).map(|n| (id, n)));
    file.null_value_counts
        .extend(count(rng, counted - values.len()).map(|n| (id, n)));
    let nans = values.iter().filter(|v| is_nan(v)).count();
    if matches!(column.ty, PrimitiveType::Float | PrimitiveType::Double) {
        file.nan_value_counts.extend(count(rng, nans).map(|n| (id, n)));
    }
    let geo = matches!(
        column.ty,
        PrimitiveType::Geometry { .. } | PrimitiveType::Geography { .. }
    );
    if mode == 1 || geo {
        if geo {
            // Bounds of geometries are points, which say nothing of the order of WKB.
            file.lower_bounds.insert(id, vec![0xff; 16]);
            file.upper_bounds.insert(id, vec![0; 16]);
        }
        return;
    }
    let Some((min, max)) = min_max(rng, &values, &column.ty) else {
        return;
    };
    let width = if mode == 2 { usize::MAX } else { pick(rng, &[1, 2, 16]) };
    let lower = cut_down(&min, width);
    let upper = cut_up(&max, width);
    if rng.random_bool(0.9) {
        file.lower_bounds.insert(id, encode(rng, &lower, &column.ty));
    }
    if let Some(upper) = upper.filter(|_| rng.random_bool(0.9)) {
        file.upper_bounds.insert(id, encode(rng, &upper, &column.ty));
    }
    if rng.random_bool(0.03) {
        file.lower_bounds.insert(id, corrupt(&column.ty));
    }
}

/// Bytes that no value of the type has. Text and bytes of any length are values; empty is below all of them.
fn corrupt(ty: &PrimitiveType) -> Vec<u8> {
    match ty {
        PrimitiveType::String | PrimitiveType::Binary | PrimitiveType::Fixed(_) => Vec::new(),
        PrimitiveType::Decimal { .. } => vec![1; 17],
        _ => vec![1, 2, 3],
    }
}

fn is_nan(value: &Value) -> bool {
    match value {
        Value::Float(v) => v.is_nan(),
        Value::Double(v) => v.is_nan(),
        _ => false,
    }
}

fn min_max(rng: &mut StdRng, values: &[&Value], ty: &PrimitiveType) -> Option<(Value, Value)> {
    let signed = *ty == PrimitiveType::Uuid && rng.random_bool(0.3);
    let order = |a: &Value, b: &Value| {
        if signed {
            signed_order(a, b)
        } else {
            value_order::compare(a, b, ty)
        }
    };
    let real = || values.iter().filter(|v| !is_nan(v)).copied();
    let min = real().min_by(|a, b| order(a, b))?.clone();
    let max = real().max_by(|a, b| order(a, b))?.clone();
    Some((any_zero(rng, min), any_zero(rng, max)))
}

/// Old Java compared uuids as two signed longs.
fn signed_order(a: &Value, b: &Value) -> Ordering {
    match (a, b) {
        (Value::Uuid(a), Value::Uuid(b)) => {
            let halves = |u: &[u8; 16]| {
                let whole = u128::from_be_bytes(*u);
                ((whole >> 64) as i64, whole as i64)
            };
            halves(a).cmp(&halves(b))
        }
        _ => Ordering::Equal,
    }
}

/// Writers keep, lose or set the sign of zero.
fn any_zero(rng: &mut StdRng, value: Value) -> Value {
    let sign = if rng.random() { 1.0 } else { -1.0 };
    match value {
        Value::Double(0.0) => Value::Double(0.0 * sign),
        Value::Float(0.0) => Value::Float(0.0 * sign as f32),
        other => other,
    }
}

fn cut_down(value: &Value, width: usize) -> Value {
    match value {
        Value::String(s) => Value::string(s.chars().take(width).collect::<String>()),
        Value::Binary(b) => Value::binary(&b[..b.len().min(width)]),
        other => other.clone(),
    }
}

/// Cut and raised; `None` when nothing of that length is larger.
fn cut_up(value: &Value, width: usize) -> Option<Value> {
    match value {
        Value::String(s) if s.chars().count() > width => {
            let mut kept: Vec<char> = s.chars().take(width).collect();
            while let Some(last) = kept.pop() {
                let next = (last as u32 + 1..=0x10ffff).find_map(char::from_u32);
                if let Some(next) = next {
                    kept.push(next);
                    return Some(Value::string(kept.into_iter().collect::<String>()));
                }
            }
            None
        }
        Value::Binary(b) if b.len() > width => {
            let mut kept = b[..width].to_vec();
            while let Some(last) = kept.pop() {
                if last < u8::MAX {
                    kept.push(last + 1);
                    return Some(Value::binary(kept));
                }
            }
            None
        }
        other => Some(other.clone()),
    }
}

/// As the column's type, or sometimes as the narrower type it was promoted from.
fn encode(rng: &mut StdRng, value: &Value, ty: &PrimitiveType) -> Vec<u8> {
    if rng.random_bool(0.5) {
        match (ty, value) {
            (PrimitiveType::Long, Value::Long(v)) => {
                if let Ok(int) = i32::try_from(*v) {
                    return int.to_le_bytes().to_vec();
                }
            }
            (PrimitiveType::Double, Value::Double(v)) if f64::from(*v as f32) == *v => {
                return (*v as f32).to_le_bytes().to_vec();
            }
            (PrimitiveType::Timestamp, Value::Long(v)) if v % 86_400_000_000 == 0 => {
                return ((v / 86_400_000_000) as i32).to_le_bytes().to_vec();
            }
            _ => {}
        }
    }
    value_binary::to_bytes(value, ty).unwrap()
}

/// A manifest of files with these partitions.
pub(super) fn manifest(
    rng: &mut StdRng,
    spec: &PartitionSpec,
    schema: &Schema,
    tuples: &[&PartitionTuple],
) -> ManifestFile {
    let old_writer = rng.random_bool(0.2);
    let summaries = spec.fields.iter().enumerate().map(|(i, field)| {
        let source = field.source_id().and_then(|id| schema.type_by_id(id));
        let source = source
            .and_then(|t| t.as_primitive())
            .cloned()
            .unwrap_or(PrimitiveType::Unknown);
        let ty = field.transform.result_type(&source).unwrap();
        let values: Vec<&Value> = tuples.iter().filter_map(|t| t.0[i].as_ref()).collect();
        let mut summary = FieldSummary {
            contains_null: values.len() < tuples.len(),
            contains_nan: (!old_writer).then(|| values.iter().any(|v| is_nan(v))),
            ..FieldSummary::default()
        };
        let bounds = min_max(rng, &values, &ty).filter(|_| !matches!(field.transform, Transform::Void));
        if let Some((min, max)) = bounds {
            summary.lower_bound = value_binary::to_bytes(&min, &ty).ok();
            summary.upper_bound = value_binary::to_bytes(&max, &ty).ok();
        }
        summary
    });
    ManifestFile {
        manifest_path: String::new(),
        manifest_length: 0,
        partition_spec_id: spec.spec_id,
        content: ManifestContent::Data,
        sequence_number: 1,
        min_sequence_number: 1,
        added_snapshot_id: Some(1),
        added_files_count: Some(tuples.len() as i32),
        existing_files_count: Some(0),
        deleted_files_count: Some(0),
        added_rows_count: None,
        existing_rows_count: None,
        deleted_rows_count: None,
        partitions: summaries.collect(),
        key_metadata: None,
        first_row_id: None,
    }
}
