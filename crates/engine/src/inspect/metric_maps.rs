//! Columns of data files that are maps by field id: sizes, counts and bounds.

use std::sync::Arc;

use arrow::array::{ArrayRef, BinaryArray, Int32Array, Int64Array, MapArray, StructArray};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::datatypes::{DataType, Field};
use datafusion::error::Result;
use tarn_format::manifest::column_data::{OptionalBytes, OptionalLongs};
use tarn_format::manifest::columns::{FieldMetrics, ManifestColumns};

use super::static_rows::no_such_column;

/// A map from field id to number, for each of these entries.
pub(super) fn counts(
    columns: &ManifestColumns,
    rows: &[u32],
    field: &Field,
    of: impl Fn(&FieldMetrics) -> &OptionalLongs,
) -> Result<ArrayRef> {
    let values = |values| -> ArrayRef { Arc::new(Int64Array::from(values)) };
    map(columns, rows, field, |metrics, row| of(metrics).get(row), values)
}

/// A map from field id to a bound in binary form, for each of these entries.
pub(super) fn bounds(
    columns: &ManifestColumns,
    rows: &[u32],
    field: &Field,
    of: impl Fn(&FieldMetrics) -> &OptionalBytes,
) -> Result<ArrayRef> {
    let values = |values: Vec<&[u8]>| -> ArrayRef { Arc::new(BinaryArray::from_iter_values(values)) };
    map(columns, rows, field, |metrics, row| of(metrics).get(row), values)
}

/// Writers that know metrics write all six maps, some of them empty; others, as of deletion vectors, write none. Decoded
/// columns don't tell an empty map from an absent one, so the maps of an entry are present when any has a pair.
fn presence(columns: &ManifestColumns, rows: &[u32]) -> NullBuffer {
    let has_any = |row: &u32| {
        let row = *row as usize;
        columns.metrics.values().any(|m| {
            m.value_count.get(row).is_some()
                || m.column_size.get(row).is_some()
                || m.lower_bound.get(row).is_some()
                || m.null_count.get(row).is_some()
                || m.upper_bound.get(row).is_some()
                || m.nan_count.get(row).is_some()
        })
    };
    rows.iter().map(has_any).collect()
}

fn map<'c, V>(
    columns: &'c ManifestColumns,
    rows: &[u32],
    field: &Field,
    value: impl Fn(&'c FieldMetrics, usize) -> Option<V>,
    array: impl FnOnce(Vec<V>) -> ArrayRef,
) -> Result<ArrayRef> {
    let DataType::Map(entries, sorted) = field.data_type() else {
        return no_such_column(field);
    };
    let DataType::Struct(key_value) = entries.data_type() else {
        return no_such_column(field);
    };
    let (mut keys, mut values, mut lengths) = (Vec::new(), Vec::new(), Vec::with_capacity(rows.len()));
    for row in rows {
        let before = keys.len();
        for (id, metrics) in &columns.metrics {
            if let Some(value) = value(metrics, *row as usize) {
                keys.push(*id);
                values.push(value);
            }
        }
        lengths.push(keys.len() - before);
    }
    let pairs: Vec<ArrayRef> = vec![Arc::new(Int32Array::from(keys)), array(values)];
    let pairs = StructArray::try_new(key_value.clone(), pairs, None)?;
    let offsets = OffsetBuffer::from_lengths(lengths);
    let nulls = Some(presence(columns, rows));
    let array = MapArray::try_new(Arc::clone(entries), offsets, pairs, nulls, *sorted)?;
    Ok(Arc::new(array))
}
