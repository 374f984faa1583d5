//! Required fields of structs that are NULL: nothing is read there (spec, "Schemas": a struct may be null as a whole).

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, Int32Array, ListArray, RecordBatch, StringArray, StructArray};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::datatypes::{DataType, Fields};
use arrow::util::display::{ArrayFormatter, FormatOptions};
use datafusion::prelude::SessionContext;
use tarn_format::scan::snapshots::SnapshotSelector;
use tarn_format::spec::types::{ListType, NestedField, PrimitiveType, StructType, Type};

use super::{Making, Site};
use crate::{Caches, IcebergTable};

fn structure(fields: Vec<NestedField>) -> Type {
    Type::Struct(StructType::new(fields))
}

/// `id int not null, s struct<x int not null, d struct<y string not null> not null, e struct<w int not null>>,
/// l list<struct<z int not null>>`
fn columns() -> Vec<NestedField> {
    let required = |id, name, t: Type| NestedField::required(id, name, t);
    let s = structure(vec![
        required(4, "x", PrimitiveType::Int.into()),
        required(5, "d", structure(vec![required(6, "y", PrimitiveType::String.into())])),
        NestedField::optional(7, "e", structure(vec![required(8, "w", PrimitiveType::Int.into())])),
    ]);
    let element = structure(vec![required(10, "z", PrimitiveType::Int.into())]);
    let l = Type::List(ListType {
        element: Arc::new(NestedField::optional(9, "element", element)),
    });
    vec![
        required(1, "id", PrimitiveType::Int.into()),
        NestedField::optional(2, "s", s),
        NestedField::optional(3, "l", l),
    ]
}

fn fields(data_type: &DataType) -> &Fields {
    match data_type {
        DataType::Struct(fields) => fields,
        DataType::List(element) => fields(element.data_type()),
        other => panic!("nothing is nested in {other}"),
    }
}

fn numbers(values: [i32; 3]) -> ArrayRef {
    Arc::new(Int32Array::from(values.to_vec()))
}

/// Every leaf has a value, below NULLs too. Row 1: `s` is NULL, `l` holds a NULL. Row 2: `s.e` is NULL.
async fn write(site: &Site) {
    let schema = crate::arrow::schema::schema_to_arrow(site.table().await.metadata.current_schema());
    let [_, s, l] = [0, 1, 2].map(|i| schema.field(i).data_type());
    let text: ArrayRef = Arc::new(StringArray::from(vec!["a", "b", "c"]));
    let of = |data_type: &DataType, children: Vec<ArrayRef>, nulls: Option<[bool; 3]>| -> ArrayRef {
        let nulls = nulls.map(|n| NullBuffer::from(n.to_vec()));
        Arc::new(StructArray::new(fields(data_type).clone(), children, nulls))
    };
    let d = of(fields(s)[1].data_type(), vec![text], None);
    let e = of(
        fields(s)[2].data_type(),
        vec![numbers([4, 5, 6])],
        Some([true, false, true]),
    );
    let s = of(s, vec![numbers([7, 8, 9]), d, e], Some([false, true, true]));
    let elements = of(l, vec![numbers([1, 2, 3])], Some([false, true, true]));
    let DataType::List(element) = l else { panic!("no list") };
    let offsets = OffsetBuffer::new(vec![0, 1, 2, 3].into());
    let l: ArrayRef = Arc::new(ListArray::new(Arc::clone(element), offsets, elements, None));
    let batch = RecordBatch::try_new(schema, vec![numbers([1, 2, 3]), s, l]).unwrap();
    site.append(batch).await.unwrap();
}

async fn query(site: &Site, sql: &str) -> Vec<String> {
    let table = IcebergTable::new(site.table().await, SnapshotSelector::Current, Caches::default()).unwrap();
    let context = SessionContext::new();
    context.register_table("t", Arc::new(table)).unwrap();
    let batches = context.sql(sql).await.unwrap().collect().await.unwrap();
    let options = FormatOptions::new().with_null("NULL");
    let mut rows = Vec::new();
    for batch in &batches {
        let columns = batch.columns().iter();
        let columns: Vec<_> = columns
            .map(|c| ArrayFormatter::try_new(c.as_ref(), &options).unwrap())
            .collect();
        rows.extend((0..batch.num_rows()).map(|row| {
            let values: Vec<String> = columns.iter().map(|c| c.value(row).to_string()).collect();
            values.join(" ")
        }));
    }
    rows
}

#[tokio::test]
async fn children_of_null_structs_are_null() {
    let site = Site::new(columns(), Making::new()).await;
    write(&site).await;
    let values = query(
        &site,
        "SELECT id, s['x'], s['d'], s['d']['y'], s['e']['w'], l[1]['z'] FROM t ORDER BY id",
    );
    let expected = ["1 NULL NULL NULL NULL NULL", "2 8 {y: b} b NULL 2", "3 9 {y: c} c 6 3"];
    assert_eq!(values.await, expected);
    for (condition, expected) in [
        ("s['x'] IS NULL", &["1"][..]),
        ("s['x'] = 7", &[]),
        ("s['x'] > 0", &["2", "3"]),
        ("s['d']['y'] IS NOT NULL", &["2", "3"]),
        ("s['e']['w'] IS NULL", &["1", "2"]),
        ("l[1]['z'] IS NULL", &["1"]),
    ] {
        let found = query(&site, &format!("SELECT id FROM t WHERE {condition} ORDER BY id")).await;
        assert_eq!(found, expected, "{condition}");
    }
    let counted = query(&site, "SELECT count(s['x']), count(s['d']['y']), min(s['x']) FROM t").await;
    assert_eq!(counted, ["2 2 8"]);
}

/// Rows that were read can be written again, to a table with the same required fields.
#[tokio::test]
async fn what_was_read_can_be_written() {
    let site = Site::new(columns(), Making::new()).await;
    write(&site).await;
    let rows = site.rows("id").await;
    assert!(rows.schema().field(1).is_nullable());
    site.append(rows).await.unwrap();
    let again = site.rows("id").await;
    assert_eq!(again.num_rows(), 6);
    assert_eq!(again.column(1).as_struct().column(0).null_count(), 2);
}
