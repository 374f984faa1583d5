//! Columns of data files that are maps by field id: sizes, counts and bounds.

use std::sync::Arc;

use arrow::array::{ArrayRef, BinaryBuilder, Int32Builder, Int64Builder, MapArray, StructArray};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::datatypes::{DataType, Field};
use datafusion::error::Result;
use tarn_format::manifest::column_data::{OptionalBytes, OptionalLongs};
use tarn_format::manifest::columns::{FieldMetrics, ManifestColumns};
use tarn_format::spec::types::FieldId;

use super::static_rows::no_such_column;

/// A map from field id to number, for each of these entries.
pub(super) fn counts(
    columns: &ManifestColumns,
    rows: &[u32],
    field: &Field,
    of: impl Fn(&FieldMetrics) -> &OptionalLongs,
) -> Result<ArrayRef> {
    let mut keys = Int32Builder::new();
    let mut values = Int64Builder::new();
    let lengths = lengths(columns, rows, |id, metrics, row| {
        let value = of(metrics).get(row)?;
        keys.append_value(id);
        values.append_value(value);
        Some(())
    });
    let pairs: Vec<ArrayRef> = vec![Arc::new(keys.finish()), Arc::new(values.finish())];
    map(field, lengths, pairs, presence(columns, rows))
}

/// A map from field id to a bound in binary form, for each of these entries.
pub(super) fn bounds(
    columns: &ManifestColumns,
    rows: &[u32],
    field: &Field,
    of: impl Fn(&FieldMetrics) -> &OptionalBytes,
) -> Result<ArrayRef> {
    let mut keys = Int32Builder::new();
    let mut values = BinaryBuilder::new();
    let lengths = lengths(columns, rows, |id, metrics, row| {
        let value = of(metrics).get(row)?;
        keys.append_value(id);
        values.append_value(value);
        Some(())
    });
    let pairs: Vec<ArrayRef> = vec![Arc::new(keys.finish()), Arc::new(values.finish())];
    map(field, lengths, pairs, presence(columns, rows))
}

/// How many pairs each entry has; `append` takes the pair of a field, if there is one.
fn lengths(
    columns: &ManifestColumns,
    rows: &[u32],
    mut append: impl FnMut(FieldId, &FieldMetrics, usize) -> Option<()>,
) -> Vec<usize> {
    let mut of_row = |row: &u32| {
        let pairs = columns.metrics.iter();
        pairs
            .filter_map(|(id, metrics)| append(*id, metrics, *row as usize))
            .count()
    };
    rows.iter().map(&mut of_row).collect()
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

fn map(field: &Field, lengths: Vec<usize>, columns: Vec<ArrayRef>, nulls: NullBuffer) -> Result<ArrayRef> {
    let DataType::Map(entries, sorted) = field.data_type() else {
        return no_such_column(field);
    };
    let DataType::Struct(key_value) = entries.data_type() else {
        return no_such_column(field);
    };
    let pairs = StructArray::try_new(key_value.clone(), columns, None)?;
    let offsets = OffsetBuffer::from_lengths(lengths);
    let array = MapArray::try_new(Arc::clone(entries), offsets, pairs, Some(nulls), *sorted)?;
    Ok(Arc::new(array))
}
