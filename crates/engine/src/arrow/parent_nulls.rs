//! Struct children that are null where their struct is.
//!
//! Arrow lets the values below a null be anything, and Parquet's reader gives a required field no nulls of its own. But
//! DataFusion takes a child out of its struct as it is: so tables are read with children that carry the nulls of all
//! structs around them.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, BooleanArray, StructArray};
use arrow::buffer::NullBuffer;
use arrow::compute::nullif;
use arrow::datatypes::{DataType, Field, FieldRef, Fields, Schema, SchemaRef};
use arrow::error::ArrowError;

use super::schema::is_variant;

/// Whether a struct around a field may be null.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Parents {
    Required,
    Optional,
}

impl Parents {
    fn and(self, field: &Field) -> Self {
        match field.is_nullable() {
            true => Parents::Optional,
            false => self,
        }
    }
}

/// The schema with every field nullable that stands in a struct that may be null, however deep. What is in lists and maps
/// is there only where they are: elements and values depend on the structs inside the list or map alone.
pub fn with_parents_nulls(schema: &SchemaRef) -> SchemaRef {
    let fields: Fields = schema.fields().iter().map(|f| field(f, Parents::Required)).collect();
    Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()))
}

fn field(own: &FieldRef, parents: Parents) -> FieldRef {
    let all = parents.and(own);
    let data_type = match own.data_type() {
        DataType::Struct(children) if !is_variant(own) => {
            DataType::Struct(children.iter().map(|c| field(c, all)).collect())
        }
        DataType::List(element) => DataType::List(field(element, Parents::Required)),
        DataType::Map(entries, sorted) => DataType::Map(map_entries(entries), *sorted),
        other => other.clone(),
    };
    let nullable = all == Parents::Optional;
    if nullable == own.is_nullable() && data_type == *own.data_type() {
        return Arc::clone(own);
    }
    Arc::new(Field::clone(own).with_data_type(data_type).with_nullable(nullable))
}

/// Entries and keys are never null.
fn map_entries(entries: &FieldRef) -> FieldRef {
    let DataType::Struct(pair) = entries.data_type() else {
        return Arc::clone(entries);
    };
    let pair: Fields = pair.iter().map(|f| field(f, Parents::Required)).collect();
    Arc::new(Field::clone(entries).with_data_type(DataType::Struct(pair)))
}

/// The child at `index` of a struct array, null where the struct is; `None` when there is no such child.
///
/// # Errors
/// Arrow's, when the struct's nulls are not of the child's length.
pub fn masked_child(parent: &StructArray, index: usize) -> Option<Result<ArrayRef, ArrowError>> {
    let child = parent.columns().get(index)?;
    Some(masked(child, parent.nulls()))
}

/// The array with these nulls besides its own.
///
/// # Errors
/// Arrow's, when the lengths differ.
pub fn masked(array: &ArrayRef, nulls: Option<&NullBuffer>) -> Result<ArrayRef, ArrowError> {
    match nulls {
        Some(nulls) if nulls.null_count() > 0 => nullif(array.as_ref(), &BooleanArray::new(!nulls.inner(), None)),
        _ => Ok(Arc::clone(array)),
    }
}

#[cfg(test)]
mod tests {
    use arrow::array::{AsArray, Int32Array};
    use arrow::datatypes::Int32Type;

    use super::*;

    fn structure(name: &str, children: Vec<Field>, nullable: bool) -> Field {
        Field::new(name, DataType::Struct(children.into()), nullable)
    }

    fn number(name: &str, nullable: bool) -> Field {
        Field::new(name, DataType::Int32, nullable)
    }

    fn map(value: Field) -> Field {
        let entries = structure("key_value", vec![number("key", false), value], false);
        Field::new("m", DataType::Map(Arc::new(entries), false), false)
    }

    #[test]
    fn fields_below_an_optional_struct_become_nullable() {
        let deep = |x: bool| structure("inner", vec![number("x", x)], x);
        let of = |field: Field| -> SchemaRef { Arc::new(Schema::new(vec![number("top", false), field])) };
        let before = of(structure("s", vec![deep(false)], true));
        assert_eq!(with_parents_nulls(&before), of(structure("s", vec![deep(true)], true)));
        let required = of(structure("s", vec![deep(false)], false));
        assert_eq!(with_parents_nulls(&required), required);
    }

    #[test]
    fn elements_and_values_begin_anew_and_keys_stay() {
        let list = |element: Field| Field::new("l", DataType::List(Arc::new(element)), true);
        let of = |fields: Vec<Field>| -> SchemaRef { Arc::new(Schema::new(vec![structure("s", fields, true)])) };
        // The list and the map are in an optional struct; what they hold is not.
        let element = || structure("element", vec![number("x", false)], false);
        let value = |optional: bool, x: bool| structure("value", vec![number("x", x)], optional);
        let before = of(vec![list(element()), map(value(true, false))]);
        let after = of(vec![list(element()), map(value(true, true)).with_nullable(true)]);
        assert_eq!(with_parents_nulls(&before), after);
    }

    #[test]
    fn a_child_has_the_nulls_of_its_struct_and_its_own() {
        let child: ArrayRef = Arc::new(Int32Array::from(vec![Some(1), None, Some(3), Some(4)]));
        let fields: Fields = vec![number("x", true)].into();
        let nulls = NullBuffer::from(vec![true, true, false, true]);
        let parent = StructArray::new(fields, vec![child], Some(nulls));
        // A slice, whose nulls do not begin where their buffer does.
        let parent = parent.slice(1, 3);
        let masked = masked_child(&parent, 0).unwrap().unwrap();
        let values: Vec<Option<i32>> = masked.as_primitive::<Int32Type>().iter().collect();
        assert_eq!(values, [None, None, Some(4)]);
        assert!(masked_child(&parent, 1).is_none());
    }
}
