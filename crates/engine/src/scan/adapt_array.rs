//! Arrays as a file holds them, turned into arrays as the table's schema has them: children matched by field id at
//! every depth, missing ones filled with their initial default or null, promoted ones cast. Children of structs are null
//! where the struct is.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, ListArray, MapArray, StructArray, new_null_array};
use arrow::compute::{CastOptions, cast_with_options};
use arrow::datatypes::{DataType, Field, FieldRef, Fields};
use datafusion::error::{DataFusionError, Result};
use tarn_format::spec::schema::Schema;
use tarn_format::spec::types::NestedFieldRef;

use crate::arrow::parent_nulls::masked;
use crate::arrow::schema::{field_id, is_variant};
use crate::arrow::value::repeat;
use crate::arrow::variant::from_file;
use crate::external;

/// Turns an array of a file's field into one of the table's field.
///
/// `schema` gives the initial defaults of children that the file lacks.
///
/// # Errors
/// When a value does not fit the table's type: the file contradicts the schema.
pub(crate) fn adapt(array: &ArrayRef, from: &Field, to: &Field, schema: &Schema) -> Result<ArrayRef> {
    if array.data_type() == to.data_type() {
        return Ok(Arc::clone(array));
    }
    if is_variant(to) {
        return from_file(array).map_err(|e| {
            let message = format!("column '{}' does not hold variants", to.name());
            DataFusionError::from(e).context(message)
        });
    }
    // The field's own type, not the array's: a file without ids got them from the name mapping.
    match (from.data_type(), to.data_type()) {
        (DataType::Struct(file), DataType::Struct(table)) => {
            let array = array.as_struct();
            let columns: Result<Vec<ArrayRef>> = table.iter().map(|t| child(array, file, t, schema)).collect();
            let adapted =
                StructArray::try_new_with_length(table.clone(), columns?, array.nulls().cloned(), array.len())?;
            Ok(Arc::new(adapted))
        }
        (DataType::List(file), DataType::List(table)) => {
            let array = array.as_list::<i32>();
            let values = adapt(array.values(), file, table, schema)?;
            let adapted = ListArray::try_new(
                Arc::clone(table),
                array.offsets().clone(),
                values,
                array.nulls().cloned(),
            )?;
            Ok(Arc::new(adapted))
        }
        (DataType::Map(file, _), DataType::Map(table, sorted)) => {
            let array = array.as_map();
            let entries = map_entries(array.entries(), file, table, schema)?;
            let offsets = array.offsets().clone();
            let adapted = MapArray::try_new(Arc::clone(table), offsets, entries, array.nulls().cloned(), *sorted)?;
            Ok(Arc::new(adapted))
        }
        (_, target) => {
            let strict = CastOptions {
                safe: false,
                ..CastOptions::default()
            };
            cast_with_options(array, target, &strict).map_err(|e| {
                let message = format!(
                    "column '{}' of type {} cannot be read as {target}",
                    to.name(),
                    from.data_type()
                );
                DataFusionError::from(e).context(message)
            })
        }
    }
}

/// Keys and values of maps go by position: their ids may be missing where a writer left them out.
fn map_entries(entries: &StructArray, file: &Field, table: &Field, schema: &Schema) -> Result<StructArray> {
    let (DataType::Struct(file), DataType::Struct(table)) = (file.data_type(), table.data_type()) else {
        return Err(DataFusionError::Execution("a map column has no entries".to_string()));
    };
    let columns: Result<Vec<ArrayRef>> = entries
        .columns()
        .iter()
        .zip(file.iter().zip(table))
        .map(|(array, (from, to))| adapt(array, from, to, schema))
        .collect();
    Ok(StructArray::try_new(table.clone(), columns?, entries.nulls().cloned())?)
}

fn child(array: &StructArray, file: &Fields, to: &FieldRef, schema: &Schema) -> Result<ArrayRef> {
    let id = field_id(to);
    let found = file.iter().position(|f| id.is_some() && field_id(f) == id);
    match found {
        Some(i) => adapt(&masked(array.column(i), array.nulls())?, &file[i], to, schema),
        None => missing(array, to, id.and_then(|id| schema.field_by_id(id))),
    }
}

/// A child that the file lacks. A required one without a default may be missing only where every parent is null.
fn missing(parent: &StructArray, to: &FieldRef, field: Option<&NestedFieldRef>) -> Result<ArrayRef> {
    let default = field.and_then(|f| f.initial_default.as_ref().map(|v| (v, &f.field_type)));
    if let Some((value, field_type)) = default {
        let filled = repeat(Some(value), field_type, to.data_type(), parent.len());
        let filled = filled.map_err(external)?;
        return Ok(masked(&filled, parent.nulls())?);
    }
    // The field of the schema tells, not `to`, which is nullable as soon as a parent is.
    let required = field.map_or(!to.is_nullable(), |f| f.required);
    if required && parent.null_count() < parent.len() {
        let message = format!(
            "required field '{}' is missing in the file and has no default",
            to.name()
        );
        return Err(DataFusionError::Execution(message));
    }
    Ok(new_null_array(to.data_type(), parent.len()))
}

#[cfg(test)]
mod tests;
