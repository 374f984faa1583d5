//! Equality delete files of one scope (the table or a partition), and which of them can touch a data file.
//!
//! Follows Java's `DeleteFileIndex.canContainEqDeletesForFile`, and is more careful in four places where counts
//! and bounds alone mislead: NaN lies outside all bounds, a required field is null where an optional parent is, counts
//! of nulls may leave those out (Java's of ORC files, DuckDB's), and bounds whose lower end is above the upper one (uuids
//! ordered as signed numbers by old writers) say nothing.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::sync::Arc;

use super::task::DeleteTask;
use crate::manifest::columns::ManifestColumns;
use crate::manifest::data_file::DataFile;
use crate::spec::schema::Schema;
use crate::spec::table_metadata::TableMetadata;
use crate::spec::types::{FieldId, PrimitiveType, Type};
use crate::spec::value::Value;
use crate::spec::{value_binary, value_order};

/// Where the counts and bounds of a file are read from.
#[derive(Debug, Clone, Copy)]
pub enum FileMetrics<'a> {
    /// An entry of a manifest.
    Row {
        /// The manifest.
        columns: &'a ManifestColumns,
        /// The entry.
        row: usize,
    },
    /// A file as a value.
    File(&'a DataFile),
}

impl<'a> FileMetrics<'a> {
    fn null_count(&self, id: FieldId) -> Option<i64> {
        match self {
            FileMetrics::Row { columns, row } => columns.metrics_of(id)?.null_count.get(*row),
            FileMetrics::File(file) => file.null_value_counts.get(&id).copied(),
        }
    }

    fn value_count(&self, id: FieldId) -> Option<i64> {
        match self {
            FileMetrics::Row { columns, row } => columns.metrics_of(id)?.value_count.get(*row),
            FileMetrics::File(file) => file.value_counts.get(&id).copied(),
        }
    }

    fn nan_count(&self, id: FieldId) -> Option<i64> {
        match self {
            FileMetrics::Row { columns, row } => columns.metrics_of(id)?.nan_count.get(*row),
            FileMetrics::File(file) => file.nan_value_counts.get(&id).copied(),
        }
    }

    fn bounds(&self, id: FieldId) -> Option<(&'a [u8], &'a [u8])> {
        match self {
            FileMetrics::Row { columns, row } => {
                let metrics = columns.metrics_of(id)?;
                Some((metrics.lower_bound.get(*row)?, metrics.upper_bound.get(*row)?))
            }
            FileMetrics::File(file) => Some((file.lower_bounds.get(&id)?, file.upper_bounds.get(&id)?)),
        }
    }
}

/// A key column that metrics are kept for.
#[derive(Debug)]
struct KeyField {
    id: FieldId,
    field_type: PrimitiveType,
    /// So are all that hold it.
    is_required: bool,
    /// One that holds it is optional.
    has_optional_holder: bool,
}

/// What is known of one key column in one file.
#[derive(Debug)]
struct KeyStats {
    /// `None` where unknown.
    has_nulls: Option<bool>,
    /// `None` where unknown.
    has_only_nulls: Option<bool>,
    /// Whether some value may be NaN.
    may_have_nans: bool,
    /// Both bounds, when they cover every value that is neither null nor NaN.
    range: Option<(Value, Value)>,
}

impl KeyStats {
    fn new(metrics: FileMetrics<'_>, key: &KeyField) -> Self {
        let nulls = metrics.null_count(key.id);
        let values = metrics.value_count(key.id);
        let (has_nulls, has_only_nulls) = if key.is_required {
            (Some(false), Some(false))
        } else {
            (
                nulls.map(|n| n > 0).filter(|has| *has || !key.has_optional_holder),
                nulls.zip(values).map(|(nulls, values)| nulls == values),
            )
        };
        let is_float = matches!(key.field_type, PrimitiveType::Float | PrimitiveType::Double);
        KeyStats {
            has_nulls,
            has_only_nulls,
            may_have_nans: is_float && metrics.nan_count(key.id) != Some(0),
            range: Self::range(metrics, key),
        }
    }

    fn range(metrics: FileMetrics<'_>, key: &KeyField) -> Option<(Value, Value)> {
        let (lower, upper) = metrics.bounds(key.id)?;
        let lower = without_signed_zero(value_binary::from_bytes(lower, &key.field_type).ok()?)?;
        let upper = without_signed_zero(value_binary::from_bytes(upper, &key.field_type).ok()?)?;
        (value_order::compare(&lower, &upper, &key.field_type) != Ordering::Greater).then_some((lower, upper))
    }

    /// Whether a value of the one can equal a value of the other. Null equals null, and NaN equals NaN.
    fn may_meet(&self, deletes: &KeyStats, key: &KeyField) -> bool {
        if self.has_nulls != Some(false) && deletes.has_nulls != Some(false) {
            return true;
        }
        if self.may_have_nans && deletes.may_have_nans {
            return true;
        }
        if self.has_only_nulls == Some(true) && deletes.has_nulls == Some(false) {
            return false;
        }
        if deletes.has_only_nulls == Some(true) && self.has_nulls == Some(false) {
            return false;
        }
        let (Some((data_lower, data_upper)), Some((delete_lower, delete_upper))) = (&self.range, &deletes.range) else {
            return true;
        };
        let above = |a: &Value, b: &Value| value_order::compare(a, b, &key.field_type) == Ordering::Greater;
        !above(data_lower, delete_upper) && !above(delete_lower, data_upper)
    }
}

/// Makes both zeros one, so that engines that tell them apart and those that don't are both served.
/// `None` for NaN, which must not be a bound.
fn without_signed_zero(value: Value) -> Option<Value> {
    Some(match value {
        Value::Float(f) if f.is_nan() => return None,
        Value::Double(d) if d.is_nan() => return None,
        Value::Float(f) => Value::Float(f + 0.0),
        Value::Double(d) => Value::Double(d + 0.0),
        other => other,
    })
}

/// Finds the key columns of equality deletes over all schemas of a table.
#[derive(Debug)]
pub(super) struct KeyFields<'a> {
    metadata: &'a TableMetadata,
    known: HashMap<Vec<FieldId>, Arc<[KeyField]>>,
}

impl<'a> KeyFields<'a> {
    pub(super) fn new(metadata: &'a TableMetadata) -> Self {
        KeyFields {
            metadata,
            known: HashMap::new(),
        }
    }

    fn get(&mut self, ids: Vec<FieldId>) -> Arc<[KeyField]> {
        let metadata = self.metadata;
        let find = |ids: &[FieldId]| ids.iter().filter_map(|id| key_field(metadata, *id)).collect();
        Arc::clone(self.known.entry(ids).or_insert_with_key(|ids| find(ids)))
    }
}

/// The column as the newest schema that has it describes it; `None` for ids without metrics.
fn key_field(metadata: &TableMetadata, id: FieldId) -> Option<KeyField> {
    let newest = metadata.schemas.iter().filter(|s| s.field_by_id(id).is_some());
    let current = std::iter::once(metadata.current_schema()).filter(|s| s.field_by_id(id).is_some());
    let schema = current.chain(newest.rev()).next()?;
    let field = schema.field_by_id(id)?;
    let Type::Primitive(field_type) = &field.field_type else {
        return None;
    };
    let has_optional_holder = has_optional_holder(schema, id);
    Some(KeyField {
        id,
        field_type: field_type.clone(),
        is_required: field.required && !has_optional_holder,
        has_optional_holder,
    })
}

fn has_optional_holder(schema: &Schema, id: FieldId) -> bool {
    let holder = |id: &FieldId| schema.parent_id(*id);
    std::iter::successors(holder(&id), holder)
        .filter_map(|id| schema.field_by_id(id))
        .any(|holder| !holder.required)
}

#[derive(Debug)]
struct EqualityDelete {
    task: DeleteTask,
    keys: Arc<[KeyField]>,
    stats: Vec<KeyStats>,
}

/// Equality deletes of one scope, sorted by sequence number.
#[derive(Debug, Default)]
pub(super) struct EqualityDeletes {
    deletes: Vec<EqualityDelete>,
}

impl EqualityDeletes {
    pub(super) fn push(&mut self, task: DeleteTask, fields: &mut KeyFields<'_>) {
        let keys = fields.get(task.equality_ids());
        let metrics = FileMetrics::Row {
            columns: &task.entries().columns,
            row: task.row(),
        };
        let stats = keys.iter().map(|key| KeyStats::new(metrics, key)).collect();
        self.deletes.push(EqualityDelete { task, keys, stats });
    }

    /// Must be called after the last [`Self::push`].
    pub(super) fn sort(&mut self) {
        self.deletes.sort_by_key(|d| d.task.sequence_number());
    }

    /// Adds the deletes that are newer than a data file of this sequence number and can touch its rows.
    pub(super) fn collect(&self, sequence_number: i64, metrics: FileMetrics<'_>, found: &mut Vec<DeleteTask>) {
        let start = self
            .deletes
            .partition_point(|d| d.task.sequence_number() <= sequence_number);
        // Most deletes of a scope share their keys: the data file's bounds are decoded once per run of equal keys.
        let mut current: Option<(&Arc<[KeyField]>, Vec<KeyStats>)> = None;
        for delete in self.deletes.iter().skip(start) {
            let stats = match &mut current {
                Some((keys, stats)) if Arc::ptr_eq(keys, &delete.keys) => stats,
                other => {
                    let stats = delete.keys.iter().map(|key| KeyStats::new(metrics, key)).collect();
                    &mut other.insert((&delete.keys, stats)).1
                }
            };
            let mut columns = delete.keys.iter().zip(stats.iter().zip(&delete.stats));
            if columns.all(|(key, (data, deletes))| data.may_meet(deletes, key)) {
                found.push(delete.task.clone());
            }
        }
    }
}
