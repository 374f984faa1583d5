//! Structs, lists and maps of every type come back, with their ids in the file at every level.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, Int32Array, ListArray, MapArray, StringArray, StructArray};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::compute::cast;
use arrow::datatypes::DataType;
use arrow::util::display::{ArrayFormatter, FormatOptions};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::schema::types::Type as ParquetType;
use tarn_format::spec::table_metadata::FormatVersion;
use tarn_format::spec::types::{ListType, MapType, NestedField, PrimitiveType, StructType, Type};

use super::values::{positions, samples};
use super::{Making, Site};
use crate::arrow::schema::{COMMENT_KEY, schema_to_arrow};

/// struct<v: T, deep: struct<w: T>>, list<T>, map<int, T>, list<struct<m: map<int, T>>>: ids 10 to 24.
pub(crate) fn columns(p: &PrimitiveType) -> Vec<NestedField> {
    let value = |id: i32, name: &str| NestedField::optional(id, name, p.clone());
    let structure = |fields| Type::Struct(StructType::new(fields));
    let list = |element: NestedField| {
        Type::List(ListType {
            element: Arc::new(element),
        })
    };
    let map = |key_id: i32, value: NestedField| {
        Type::Map(MapType {
            key: Arc::new(NestedField::required(key_id, "key", PrimitiveType::Int)),
            value: Arc::new(value),
        })
    };
    let deep = NestedField::optional(6, "deep", structure(vec![value(7, "w")]));
    let in_list = structure(vec![NestedField::optional(12, "m", map(13, value(14, "value")))]);
    vec![
        NestedField::required(1, "position", PrimitiveType::Int),
        NestedField::optional(2, "s", structure(vec![value(5, "v"), deep])),
        NestedField::optional(3, "l", list(value(8, "element"))),
        NestedField::optional(4, "m", map(9, value(10, "value"))),
        NestedField::optional(15, "ls", list(NestedField::optional(11, "element", in_list))),
    ]
}

/// Row by row: two values, none, NULL, one value, two values again.
fn offsets() -> (OffsetBuffer<i32>, NullBuffer) {
    let offsets = OffsetBuffer::new(vec![0, 2, 2, 2, 3, 5].into());
    (offsets, NullBuffer::from(vec![true, true, false, true, true]))
}

/// An array of this type whose leaves are the five values.
pub(crate) fn build(data_type: &DataType, leaf: &ArrayRef) -> ArrayRef {
    match data_type {
        DataType::Struct(fields) => {
            let children = fields.iter().map(|f| build(f.data_type(), leaf)).collect();
            let nulls = NullBuffer::from(vec![true, true, true, false, true]);
            Arc::new(StructArray::new(fields.clone(), children, Some(nulls)))
        }
        DataType::List(element) => {
            let (offsets, nulls) = offsets();
            let values = build(element.data_type(), leaf);
            Arc::new(ListArray::new(Arc::clone(element), offsets, values, Some(nulls)))
        }
        DataType::Map(entries, sorted) => {
            let DataType::Struct(fields) = entries.data_type() else {
                panic!("no entries: {entries}");
            };
            let keys: ArrayRef = Arc::new(Int32Array::from_iter_values(0..5));
            let children = vec![keys, build(fields[1].data_type(), leaf)];
            let (offsets, nulls) = offsets();
            let pairs = StructArray::new(fields.clone(), children, None);
            Arc::new(MapArray::new(Arc::clone(entries), offsets, pairs, Some(nulls), *sorted))
        }
        // Text and bytes have another form inside nested types than at top level.
        other => cast(leaf, other).unwrap(),
    }
}

/// The rows as text: below a NULL there is nothing, whatever the arrays hold there.
pub(crate) fn shown(array: &ArrayRef) -> Vec<String> {
    let options = FormatOptions::new().with_null("NULL");
    let formatter = ArrayFormatter::try_new(array.as_ref(), &options).unwrap();
    (0..array.len()).map(|row| formatter.value(row).to_string()).collect()
}

/// How many of the rows have no `s.v`: where the leaf is null, and where the struct is.
pub(crate) fn nulls_of_v(leaf: &ArrayRef) -> i64 {
    let structure = 3;
    (0..leaf.len())
        .filter(|row| leaf.is_null(*row) || *row == structure)
        .count() as i64
}

/// Formats that can hold every sample of the type. Of times, ORC has none for the microsecond before 1970.
fn formats(p: &PrimitiveType) -> &'static [&'static str] {
    use PrimitiveType as P;
    match p {
        P::Geometry { .. } | P::Geography { .. } => &["parquet", "avro"],
        P::Timestamp | P::Timestamptz | P::TimestampNs | P::TimestamptzNs => &["parquet", "avro"],
        _ => &["parquet", "avro", "orc"],
    }
}

#[tokio::test]
async fn every_type_comes_back_inside_structs_lists_and_maps() {
    for (p, since, leaf) in samples() {
        if p == PrimitiveType::Unknown {
            continue;
        }
        let versions = [FormatVersion::V1, FormatVersion::V2, FormatVersion::V3];
        let all = |v| formats(&p).iter().map(move |format| (v, *format));
        for (version, format) in versions.into_iter().flat_map(all) {
            if version < since {
                continue;
            }
            let making = Making::new().version(version).property("write.format.default", format);
            let site = Site::new(columns(&p), making).await;
            let schema = schema_to_arrow(site.table().await.metadata.current_schema());
            let mut arrays = vec![positions()];
            arrays.extend(schema.fields()[1..].iter().map(|f| build(f.data_type(), &leaf)));
            let batch = site.batch(arrays).await;
            site.append(batch.clone()).await.unwrap();
            let rows = site.rows("position").await;
            for (found, written) in rows.columns().iter().zip(batch.columns()) {
                assert_eq!(shown(found), shown(written), "{p} in {version:?} {format}");
            }
        }
    }
}

/// Full paths of a Parquet schema with their field ids.
fn ids(parquet: &ParquetType, path: &str, found: &mut BTreeMap<String, Option<i32>>) {
    let info = parquet.get_basic_info();
    let path = format!("{path}.{}", info.name());
    found.insert(path.clone(), info.has_id().then(|| info.id()));
    if parquet.is_group() {
        parquet.get_fields().iter().for_each(|child| ids(child, &path, found));
    }
}

#[tokio::test]
async fn ids_stand_at_every_level_of_the_file() {
    let site = Site::new(columns(&PrimitiveType::Long), Making::new()).await;
    let table = site.table().await;
    let schema = table.metadata.current_schema();
    let arrow = schema_to_arrow(schema);
    let leaf: ArrayRef = Arc::new(arrow::array::Int64Array::from(vec![1, 2, 3, 4, 5]));
    let mut arrays = vec![positions()];
    arrays.extend(arrow.fields()[1..].iter().map(|f| build(f.data_type(), &leaf)));
    site.append(site.batch(arrays).await).await.unwrap();
    let footer = site.footer(&site.file().await).await;
    let mut found = BTreeMap::new();
    ids(footer.file_metadata().schema(), "", &mut found);
    // Names inside collections are those of the specification (Appendix A, Parquet); the groups between have no ids.
    let id = |name: &str| Some(schema.field_by_name(name).unwrap_or_else(|| panic!("no {name}")).id);
    let expected: BTreeMap<String, Option<i32>> = [
        (".table", None),
        (".table.position", id("position")),
        (".table.s", id("s")),
        (".table.s.v", id("s.v")),
        (".table.s.deep", id("s.deep")),
        (".table.s.deep.w", id("s.deep.w")),
        (".table.l", id("l")),
        (".table.l.list", None),
        (".table.l.list.element", id("l.element")),
        (".table.m", id("m")),
        (".table.m.key_value", None),
        (".table.m.key_value.key", id("m.key")),
        (".table.m.key_value.value", id("m.value")),
        (".table.ls", id("ls")),
        (".table.ls.list", None),
        (".table.ls.list.element", id("ls.element")),
        (".table.ls.list.element.m", id("ls.element.m")),
        (".table.ls.list.element.m.key_value", None),
        (".table.ls.list.element.m.key_value.key", id("ls.element.m.key")),
        (".table.ls.list.element.m.key_value.value", id("ls.element.m.value")),
    ]
    .map(|(path, id)| (path.to_string(), id))
    .into();
    assert_eq!(found, expected);
}

/// Comments are no part of a nested type: else every scan would make its arrays anew.
#[tokio::test]
async fn files_of_commented_fields_are_read_as_they_are() {
    let child = NestedField::optional(3, "a", PrimitiveType::String).with_doc("of a child");
    let s = NestedField::optional(2, "s", Type::Struct(StructType::new(vec![child]))).with_doc("of a column");
    let site = Site::new(
        vec![NestedField::required(1, "id", PrimitiveType::Int), s],
        Making::new(),
    )
    .await;
    let schema = schema_to_arrow(site.table().await.metadata.current_schema());
    let text: ArrayRef = Arc::new(StringArray::from(vec!["x"]));
    let DataType::Struct(fields) = schema.field(1).data_type() else {
        panic!("no struct");
    };
    let s: ArrayRef = Arc::new(StructArray::new(fields.clone(), vec![text], None));
    let batch: Vec<ArrayRef> = vec![Arc::new(Int32Array::from(vec![1])), s];
    site.append(site.batch(batch).await).await.unwrap();
    let bytes = site.table().await.io.read(&site.file().await.file_path).await.unwrap();
    let stored = ParquetRecordBatchReaderBuilder::try_new(bytes)
        .unwrap()
        .schema()
        .clone();
    assert_eq!(stored.field(1).data_type(), schema.field(1).data_type());
    assert_eq!(schema.field(1).metadata()[COMMENT_KEY], "of a column");
}
