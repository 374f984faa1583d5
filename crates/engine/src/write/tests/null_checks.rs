//! NOT NULL holds at any depth, and a refused write leaves nothing behind.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, Int32Array, Int32Builder, ListBuilder, MapBuilder, MapFieldNames, RecordBatch, StringArray,
    StringBuilder, StructArray,
};
use arrow::buffer::NullBuffer;
use arrow::datatypes::{DataType, Field, Fields, Schema as ArrowSchema};
use tarn_format::ErrorKind;
use tarn_format::spec::types::{ListType, MapType, NestedField, PrimitiveType, StructType, Type};

use super::{Making, Site};

const INT: PrimitiveType = PrimitiveType::Int;

/// A batch that allows NULL everywhere, as the engine's plans do.
fn nullable(array: ArrayRef) -> RecordBatch {
    let schema = ArrowSchema::new(vec![Field::new("c", array.data_type().clone(), true)]);
    RecordBatch::try_new(Arc::new(schema), vec![array]).unwrap()
}

/// Appends a good batch, then one that must be refused for the column `name`.
async fn check(column: NestedField, good: ArrayRef, bad: ArrayRef, name: &str) {
    let site = Site::new(vec![column], Making::new()).await;
    site.append(nullable(Arc::clone(&good))).await.unwrap();
    let before = site.table().await;
    let files = site.stored_files().await;
    let error = site.append(nullable(bad)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput, "{error}");
    assert!(error.to_string().contains(&format!("'{name}'")), "{error}");
    assert!(error.to_string().contains("lake.db.t"), "{error}");
    assert_eq!(site.table().await.metadata, before.metadata);
    assert_eq!(site.stored_files().await, files);
    assert_eq!(site.rows("c").await.num_rows(), good.len());
}

#[tokio::test]
async fn of_columns() {
    let good = Arc::new(Int32Array::from(vec![1, 2]));
    let bad = Arc::new(Int32Array::from(vec![Some(1), None]));
    check(NestedField::required(1, "c", INT), good, bad, "c").await;
}

#[tokio::test]
async fn of_struct_fields_where_the_struct_is_not_null() {
    let child = |values: Vec<Option<i32>>, valid: Vec<bool>| -> ArrayRef {
        let fields: Fields = vec![Field::new("x", DataType::Int32, true)].into();
        let columns: Vec<ArrayRef> = vec![Arc::new(Int32Array::from(values))];
        Arc::new(StructArray::new(fields, columns, Some(NullBuffer::from(valid))))
    };
    let column = NestedField::optional(
        1,
        "c",
        Type::Struct(StructType::new(vec![NestedField::required(2, "x", INT)])),
    );
    // In a struct that is NULL the field has no value that could be missing.
    let good = child(vec![Some(1), None], vec![true, false]);
    let bad = child(vec![Some(1), None], vec![true, true]);
    check(column, good, bad, "c.x").await;
}

#[tokio::test]
async fn of_list_elements() {
    let list = |values: [Option<i32>; 2]| -> ArrayRef {
        let mut builder = ListBuilder::new(Int32Builder::new());
        builder.append_value(values);
        builder.append_null();
        Arc::new(builder.finish())
    };
    let element = Arc::new(NestedField::required(2, "element", INT));
    let column = NestedField::optional(1, "c", Type::List(ListType { element }));
    check(column, list([Some(1), Some(2)]), list([Some(1), None]), "c.element").await;
}

#[tokio::test]
async fn of_map_values() {
    let map = |value: Option<&str>| -> ArrayRef {
        let names = MapFieldNames {
            entry: "key_value".to_string(),
            key: "key".to_string(),
            value: "value".to_string(),
        };
        let mut builder = MapBuilder::new(Some(names), StringBuilder::new(), StringBuilder::new());
        builder.keys().append_value("k");
        builder.values().append_option(value);
        builder.append(true).unwrap();
        Arc::new(builder.finish())
    };
    let map_type = MapType {
        key: Arc::new(NestedField::required(2, "key", PrimitiveType::String)),
        value: Arc::new(NestedField::required(3, "value", PrimitiveType::String)),
    };
    let column = NestedField::optional(1, "c", Type::Map(map_type));
    check(column, map(Some("v")), map(None), "c.value").await;
}

#[tokio::test]
async fn columns_of_other_types_are_refused_before_anything_is_written() {
    let site = Site::new(vec![NestedField::optional(1, "c", INT)], Making::new()).await;
    let files = site.stored_files().await;
    let error = site
        .append(nullable(Arc::new(StringArray::from(vec!["1"]))))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    assert!(error.to_string().contains("'c'"), "{error}");
    assert_eq!(site.stored_files().await, files);
}
