//! CAST between nested types: elements, keys, values and fields one by one, fields by position.

use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, AsArray, ListArray, MapArray, StructArray, new_null_array};
use datafusion::arrow::datatypes::{DataType, Fields};
use datafusion::common::{exec_err, plan_err};
use datafusion::error::Result;
use tarn_engine::arrow::variant::is_variant_type;

use super::cast_array;
use super::unary::Kernel;

/// A nested value as another type of the same shape.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct NestedCast(pub(crate) DataType);

/// Whether every part of one type can be cast to the part of the other in its place.
pub(crate) fn has_same_shape(from: &DataType, to: &DataType) -> bool {
    if is_variant_type(from) || is_variant_type(to) {
        return true;
    }
    match (from, to) {
        (DataType::List(a), DataType::List(b)) | (DataType::Map(a, _), DataType::Map(b, _)) => {
            has_same_shape(a.data_type(), b.data_type())
        }
        (DataType::Struct(a), DataType::Struct(b)) => {
            let mut pairs = a.iter().zip(b);
            a.len() == b.len() && pairs.all(|(a, b)| has_same_shape(a.data_type(), b.data_type()))
        }
        (DataType::Null, _) => true,
        (a, b) => !a.is_nested() && !b.is_nested(),
    }
}

impl Kernel for NestedCast {
    fn name(&self) -> &str {
        "nested_cast"
    }

    fn return_type(&self, argument: &DataType) -> Result<DataType> {
        if has_same_shape(argument, &self.0) {
            Ok(self.0.clone())
        } else {
            plan_err!("a value of type {argument} cannot be cast to {}", self.0)
        }
    }

    fn evaluate(&self, array: &ArrayRef) -> Result<ArrayRef> {
        convert(array, &self.0)
    }
}

fn convert(array: &ArrayRef, target: &DataType) -> Result<ArrayRef> {
    if array.data_type() == target {
        return Ok(Arc::clone(array));
    }
    if is_variant_type(array.data_type()) || is_variant_type(target) {
        return cast_array(array, target);
    }
    match (array.data_type(), target) {
        (DataType::Null, _) => Ok(new_null_array(target, array.len())),
        (DataType::List(_), DataType::List(element)) => {
            let list = array.as_list::<i32>();
            let values = convert(list.values(), element.data_type())?;
            let converted = ListArray::try_new(
                Arc::clone(element),
                list.offsets().clone(),
                values,
                list.nulls().cloned(),
            )?;
            Ok(Arc::new(converted))
        }
        (DataType::Map(..), DataType::Map(entries, sorted)) => {
            let map = array.as_map();
            let DataType::Struct(fields) = entries.data_type() else {
                return exec_err!("a map has no entries");
            };
            let entries_array = convert_struct(map.entries(), fields)?;
            let offsets = map.offsets().clone();
            let converted = MapArray::try_new(
                Arc::clone(entries),
                offsets,
                entries_array,
                map.nulls().cloned(),
                *sorted,
            )?;
            Ok(Arc::new(converted))
        }
        (DataType::Struct(_), DataType::Struct(fields)) => Ok(Arc::new(convert_struct(array.as_struct(), fields)?)),
        _ => cast_array(array, target),
    }
}

fn convert_struct(array: &StructArray, fields: &Fields) -> Result<StructArray> {
    let columns = array.columns().iter().zip(fields);
    let columns: Result<Vec<ArrayRef>> = columns.map(|(c, f)| convert(c, f.data_type())).collect();
    Ok(StructArray::try_new_with_length(
        fields.clone(),
        columns?,
        array.nulls().cloned(),
        array.len(),
    )?)
}
