//! The column `readable_metrics`: sizes, counts and bounds of every primitive column of the table, by its name and in its
//! type (Java `MetricsUtil.readableMetricsSchema`).

use std::sync::Arc;

use arrow::array::{ArrayRef, StructArray, new_null_array};
use arrow::datatypes::{DataType, Field, Fields};
use datafusion::error::Result;
use tarn_format::manifest::columns::{FieldMetrics, ManifestColumns};
use tarn_format::spec::schema::Schema;
use tarn_format::spec::types::{FieldId, NestedField, PrimitiveType, StructType};

use super::bounds::{bounds_array, shown_type};
use super::data_file::longs;
use super::static_rows::no_such_column;

/// The column's name.
pub(super) const READABLE_METRICS: &str = "readable_metrics";

/// The primitive columns of a table at every depth, in the order of their full names.
fn primitive_columns(schema: &Schema) -> Vec<(&str, FieldId, &PrimitiveType)> {
    let columns = schema.field_ids().filter_map(|id| {
        let primitive = schema.type_by_id(id)?.as_primitive()?;
        Some((schema.full_name(id)?, id, primitive))
    });
    let mut columns: Vec<_> = columns.collect();
    columns.sort_unstable_by_key(|(name, ..)| *name);
    columns
}

/// The column. Its ids follow `highest_id`, the highest of the other columns of the metadata table.
pub(super) fn field(schema: &Schema, highest_id: FieldId) -> NestedField {
    let mut last_id = highest_id;
    let mut next_id = || {
        last_id = last_id.saturating_add(1);
        last_id
    };
    let mut column = |(name, _, primitive): (&str, FieldId, &PrimitiveType)| {
        let id = next_id();
        let mut metric = |name: &str, metric_type: PrimitiveType, doc: &str| {
            NestedField::optional(next_id(), name, metric_type).with_doc(doc)
        };
        let long = PrimitiveType::Long;
        let metrics = vec![
            metric("column_size", long.clone(), "Total size on disk"),
            metric("value_count", long.clone(), "Total count, including null and NaN"),
            metric("null_value_count", long.clone(), "Null value count"),
            metric("nan_value_count", long, "NaN value count"),
            metric("lower_bound", shown_type(primitive), "Lower bound"),
            metric("upper_bound", shown_type(primitive), "Upper bound"),
        ];
        NestedField::optional(id, name, StructType::new(metrics)).with_doc(format!("Metrics for column {name}"))
    };
    let columns: Vec<NestedField> = primitive_columns(schema).into_iter().map(&mut column).collect();
    let columns = StructType::new(columns);
    NestedField::optional(next_id(), READABLE_METRICS, columns).with_doc("Column metrics in readable form")
}

/// The fields whose metrics a column of this Arrow type shows.
pub(super) fn field_ids(schema: &Schema, shown: &DataType) -> Vec<FieldId> {
    let DataType::Struct(fields) = shown else {
        return Vec::new();
    };
    let columns = primitive_columns(schema).into_iter();
    columns
        .filter(|(name, ..)| fields.find(name).is_some())
        .map(|(_, id, _)| id)
        .collect()
}

/// The column for these entries. `shown` may have some of the columns and metrics only, in their order.
pub(super) fn array(schema: &Schema, shown: &Field, columns: &ManifestColumns, rows: &[u32]) -> Result<ArrayRef> {
    let DataType::Struct(fields) = shown.data_type() else {
        return no_such_column(shown);
    };
    let mut known = primitive_columns(schema).into_iter();
    let mut arrays: Vec<ArrayRef> = Vec::with_capacity(fields.len());
    for field in fields {
        // Both are in order of names.
        let Some((_, id, primitive)) = known.find(|(name, ..)| name == field.name()) else {
            return no_such_column(field);
        };
        arrays.push(column_array(field, primitive, columns.metrics_of(id), rows)?);
    }
    struct_array(fields, arrays, rows.len())
}

fn column_array(
    field: &Field,
    primitive: &PrimitiveType,
    metrics: Option<&FieldMetrics>,
    rows: &[u32],
) -> Result<ArrayRef> {
    let DataType::Struct(fields) = field.data_type() else {
        return no_such_column(field);
    };
    let mut arrays: Vec<ArrayRef> = Vec::with_capacity(fields.len());
    for field in fields {
        let Some(metrics) = metrics else {
            arrays.push(new_null_array(field.data_type(), rows.len()));
            continue;
        };
        arrays.push(match field.name().as_str() {
            "column_size" => longs(&metrics.column_size, rows),
            "value_count" => longs(&metrics.value_count, rows),
            "null_value_count" => longs(&metrics.null_count, rows),
            "nan_value_count" => longs(&metrics.nan_count, rows),
            "lower_bound" => bounds_array(&metrics.lower_bound, rows, primitive, field.data_type())?,
            "upper_bound" => bounds_array(&metrics.upper_bound, rows, primitive, field.data_type())?,
            _ => return no_such_column(field),
        });
    }
    struct_array(fields, arrays, rows.len())
}

fn struct_array(fields: &Fields, columns: Vec<ArrayRef>, len: usize) -> Result<ArrayRef> {
    Ok(Arc::new(StructArray::try_new_with_length(
        fields.clone(),
        columns,
        None,
        len,
    )?))
}
