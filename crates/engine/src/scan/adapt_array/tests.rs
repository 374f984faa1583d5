use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Int32Array, Int64Array, ListArray, StringArray, StructArray};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::datatypes::{DataType, Field, Fields, Int64Type};
use tarn_format::spec::schema::Schema;
use tarn_format::spec::types::{ListType, NestedField, PrimitiveType, StructType, Type};
use tarn_format::spec::value::Value;

use super::adapt;
use crate::arrow::parent_nulls::with_parents_nulls;
use crate::arrow::schema::{FIELD_ID_KEY, field_to_arrow, schema_to_arrow};

fn with_id(name: &str, data_type: DataType, id: i32) -> Field {
    Field::new(name, data_type, true).with_metadata([(FIELD_ID_KEY.to_string(), id.to_string())].into())
}

/// `s struct<2: kept bigint, 4: added string, 5: filled int default 7>`
fn schema() -> Schema {
    let mut filled = NestedField::optional(5, "filled", PrimitiveType::Int);
    filled.initial_default = Some(Value::Int(7));
    let fields = vec![
        NestedField::optional(2, "kept", PrimitiveType::Long),
        NestedField::optional(4, "added", PrimitiveType::String),
        filled,
    ];
    let inner = Type::Struct(StructType::new(fields));
    let list = Type::List(ListType {
        element: Arc::new(NestedField::optional(7, "element", PrimitiveType::Long)),
    });
    let columns = vec![
        NestedField::optional(1, "s", inner),
        NestedField::optional(6, "l", list),
    ];
    Schema::new(0, StructType::new(columns), vec![]).unwrap()
}

/// A file without ids: they come with the field, from the name mapping, and are not in the array's type.
#[test]
fn ids_are_those_of_the_field() {
    let schema = schema();
    let without: Fields = vec![Field::new("k", DataType::Int32, true)].into();
    let values: Vec<ArrayRef> = vec![Arc::new(Int32Array::from(vec![5]))];
    let array: ArrayRef = Arc::new(StructArray::new(without, values, None));
    let from = DataType::Struct(vec![with_id("k", DataType::Int32, 2)].into());
    let to = field_to_arrow(schema.field_by_id(1).unwrap());
    let adapted = adapt(&array, &with_id("s", from, 1), &to, &schema).unwrap();
    assert_eq!(adapted.as_struct().column(0).as_primitive::<Int64Type>().value(0), 5);
}

#[test]
fn children_go_by_id_and_missing_ones_get_their_default() {
    let schema = schema();
    // The file has `kept` under another name and as int, another child that was dropped, and none of the added ones.
    let file: Fields = vec![
        with_id("dropped", DataType::Utf8, 3),
        with_id("old_name", DataType::Int32, 2),
    ]
    .into();
    let values: Vec<ArrayRef> = vec![
        Arc::new(StringArray::from(vec!["x", "y"])),
        Arc::new(Int32Array::from(vec![5, 6])),
    ];
    let nulls = NullBuffer::from(vec![true, false]);
    let array: ArrayRef = Arc::new(StructArray::new(file.clone(), values, Some(nulls)));
    let to = field_to_arrow(schema.field_by_id(1).unwrap());
    let adapted = adapt(&array, &with_id("s", DataType::Struct(file), 1), &to, &schema).unwrap();
    assert_eq!(adapted.data_type(), to.data_type());
    let adapted = adapted.as_struct();
    assert!(adapted.is_null(1));
    // Nothing shows below a NULL, neither what the file holds there nor a default.
    assert!(adapted.columns().iter().all(|c| c.is_null(1)));
    assert_eq!(adapted.column(0).as_primitive::<Int64Type>().value(0), 5);
    assert!(adapted.column(1).is_null(0));
    assert_eq!(
        adapted.column(2).as_primitive::<arrow::datatypes::Int32Type>().value(0),
        7
    );
}

#[test]
fn lists_keep_their_shape() {
    let schema = schema();
    let element = Arc::new(with_id("item", DataType::Int32, 7));
    let values: ArrayRef = Arc::new(Int32Array::from(vec![1, 2, 3]));
    let offsets = OffsetBuffer::new(vec![0, 2, 2, 3].into());
    let array: ArrayRef = Arc::new(ListArray::new(Arc::clone(&element), offsets, values, None));
    let to = field_to_arrow(schema.field_by_id(6).unwrap());
    let adapted = adapt(&array, &with_id("l", DataType::List(element), 6), &to, &schema).unwrap();
    let adapted = adapted.as_list::<i32>();
    assert_eq!(adapted.value(0).as_ref(), &Int64Array::from(vec![1, 2]));
    assert!(adapted.value(1).is_empty());
    assert_eq!(adapted.value(2).as_ref(), &Int64Array::from(vec![3]));
}

#[test]
fn values_that_do_not_fit_are_errors() {
    let schema = schema();
    let array: ArrayRef = Arc::new(StringArray::from(vec!["no number"]));
    let to = with_id("n", DataType::Int64, 9);
    assert!(adapt(&array, &with_id("n", DataType::Utf8, 9), &to, &schema).is_err());
}

#[test]
fn a_required_child_that_the_file_lacks_is_an_error_unless_every_parent_is_null() {
    let required = StructType::new(vec![NestedField::required(2, "r", PrimitiveType::Int)]);
    let column = NestedField::optional(1, "s", required);
    let schema = Schema::new(0, StructType::new(vec![column]), vec![]).unwrap();
    // As tables are read: `r` is nullable because its struct is, yet required in it.
    let read = with_parents_nulls(&schema_to_arrow(&schema));
    let to = read.field(0);
    let file: Fields = vec![with_id("other", DataType::Int32, 3)].into();
    let from = with_id("s", DataType::Struct(file.clone()), 1);
    let array = |nulls: Vec<bool>| -> ArrayRef {
        let other: ArrayRef = Arc::new(Int32Array::from(vec![1, 2]));
        Arc::new(StructArray::new(
            file.clone(),
            vec![other],
            Some(NullBuffer::from(nulls)),
        ))
    };
    assert!(adapt(&array(vec![true, false]), &from, to, &schema).is_err());
    assert_eq!(
        adapt(&array(vec![false, false]), &from, to, &schema)
            .unwrap()
            .null_count(),
        2
    );
}
