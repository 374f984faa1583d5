//! Data and delete files in Avro, written by another library.

use std::sync::Arc;

use apache_avro::types::Value as Avro;
use tarn_engine::scan::{MetadataColumn, ReadOptions};
use tarn_format::ErrorKind;
use tarn_format::manifest::data_file::{DataContent, DataFile};
use tarn_format::spec::partition::PartitionSpec;
use tarn_format::spec::table_metadata::FormatVersion::{V2, V3};
use tarn_format::spec::types::{ListType, MapType, NestedField, PrimitiveType, StructType};
use tarn_format::spec::value::Value;

use crate::site::{Site, shown};

const ID_AND_DATA: &str = r#"{"type": "record", "name": "table", "fields": [
    {"name": "data", "type": ["null", "string"], "default": null, "field-id": 2},
    {"name": "id", "type": ["null", "long"], "default": null, "field-id": 1}]}"#;

fn some(value: Avro) -> Avro {
    Avro::Union(1, Box::new(value))
}

fn null() -> Avro {
    Avro::Union(0, Box::new(Avro::Null))
}

fn record(fields: Vec<(&str, Avro)>) -> Avro {
    Avro::Record(
        fields
            .into_iter()
            .map(|(name, value)| (name.to_string(), value))
            .collect(),
    )
}

/// A data file of ids, with `data` null where they are odd.
async fn numbered(site: &Site, name: &str, first: i64, rows: i64) -> DataFile {
    let row = |id: i64| {
        let data = if id % 2 == 0 {
            some(Avro::String(format!("x{id}")))
        } else {
            null()
        };
        record(vec![("data", data), ("id", some(Avro::Long(id)))])
    };
    let rows: Vec<Avro> = (first..first + rows).map(row).collect();
    site.avro(name, DataContent::Data, ID_AND_DATA, rows).await
}

#[tokio::test]
async fn rows_are_read_by_field_id() {
    let site = Site::new(V3).await;
    let (a, b) = (numbered(&site, "a", 0, 5).await, site.numbered("b", 5, 2).await);
    site.append(&[&a.into(), &b]).await;
    let all = "SELECT id, data FROM t ORDER BY id";
    let expected = ["0 x0", "1 NULL", "2 x2", "3 NULL", "4 x4", "5 x", "6 x"];
    assert_eq!(site.query(all).await, expected);
    assert_eq!(
        site.query("SELECT id FROM t WHERE data = 'x2' OR id = 6 ORDER BY 1")
            .await,
        ["2", "6"]
    );
    assert_eq!(site.query("SELECT count(*), count(data) FROM t").await, ["7 5"]);
    assert_eq!(
        site.query("SELECT id FROM t ORDER BY id DESC LIMIT 3").await,
        ["6", "5", "4"]
    );
    let columns = [MetadataColumn::Pos, MetadataColumn::File, MetadataColumn::SpecId];
    let query = "SELECT id, _pos, right(_file, 1), _spec_id FROM t WHERE id IN (3, 5)";
    assert_eq!(
        site.query_with(&format!("{query} ORDER BY 1"), &columns).await,
        ["3 3 a 0", "5 0 b 0"]
    );
    let mut added = NestedField::optional(3, "n", PrimitiveType::Int);
    added.initial_default = Some(Value::Int(7));
    site.evolve(vec![
        NestedField::optional(2, "renamed", PrimitiveType::String),
        added,
        NestedField::optional(4, "m", PrimitiveType::Int),
    ])
    .await;
    assert_eq!(site.query("SELECT * FROM t WHERE renamed = 'x4'").await, ["x4 7 NULL"]);
}

#[tokio::test]
async fn a_file_that_is_split_is_read_once() {
    let site = Site::new(V2).await;
    let mut file = numbered(&site, "a", 0, 50).await;
    file.split_offsets = vec![150, 300];
    site.append(&[&file.into()]).await;
    let read = ReadOptions {
        split_size_bytes: Some(16),
        ..ReadOptions::default()
    };
    let rows = site.try_query("SELECT id FROM t ORDER BY id", &[], read).await;
    assert_eq!(rows.unwrap(), shown(0..50));
}

#[tokio::test]
async fn deletes_of_all_kinds_apply_to_avro_files() {
    for version in [V2, V3] {
        let site = Site::new(version).await;
        let a = numbered(&site, "a", 0, 10).await;
        site.append(&[&a.clone().into()]).await;
        let positions = match version {
            V2 => site.positions_of("p", &a, &[0, 9, 12]).await,
            _ => site.vector_of("p", &a, &[0, 9, 12]).await,
        };
        let key = vec![("data", 2, crate::equality::texts(&[Some("x4")]))];
        site.delete([positions, site.keys("k", key).await]).await;
        assert_eq!(site.ids().await, shown([1, 2, 3, 5, 6, 7, 8]));
        assert_eq!(site.query("SELECT count(*) FROM t").await, ["7"]);
        assert_eq!(
            site.query("SELECT count(*) FROM (SELECT data FROM t LIMIT 6)").await,
            ["6"]
        );
        let marked = site.query_with("SELECT id FROM t WHERE _deleted ORDER BY 1", &[MetadataColumn::Deleted]);
        assert_eq!(marked.await, ["0", "4", "9"]);
    }
}

#[tokio::test]
async fn delete_files_may_be_avro_files() {
    let site = Site::new(V2).await;
    let a = site.numbered("a", 0, 10).await;
    site.append(&[&a]).await;
    let positions = r#"{"type": "record", "name": "position_delete", "fields": [
        {"name": "file_path", "type": "string", "field-id": 2147483546},
        {"name": "pos", "type": "long", "field-id": 2147483545}]}"#;
    let row = |pos| {
        let path = Avro::String(a.file_path.to_string());
        record(vec![("file_path", path), ("pos", Avro::Long(pos))])
    };
    let positions = site.avro("p", DataContent::PositionDeletes, positions, vec![row(1), row(3)]);
    let key = r#"{"type": "record", "name": "key", "fields": [
        {"name": "id", "type": ["null", "long"], "field-id": 1}]}"#;
    let rows = vec![record(vec![("id", some(Avro::Long(5)))])];
    let mut keys = site.avro("k", DataContent::EqualityDeletes, key, rows).await;
    keys.equality_ids = vec![1];
    site.delete([positions.await, keys]).await;
    assert_eq!(site.ids().await, shown([0, 2, 4, 6, 7, 8, 9]));
}

const ALL_TYPES: &str = r#"{"type": "record", "name": "table", "fields": [
    {"name": "b", "type": "boolean", "field-id": 1},
    {"name": "i", "type": "int", "field-id": 2},
    {"name": "f", "type": "float", "field-id": 3},
    {"name": "d", "type": "double", "field-id": 4},
    {"name": "dec", "type": {"type": "fixed", "name": "decimal_9_2", "size": 4,
        "logicalType": "decimal", "precision": 9, "scale": 2}, "field-id": 5},
    {"name": "day", "type": {"type": "int", "logicalType": "date"}, "field-id": 6},
    {"name": "t", "type": {"type": "long", "logicalType": "time-micros"}, "field-id": 7},
    {"name": "ts", "type": {"type": "long", "logicalType": "timestamp-micros", "adjust-to-utc": false}, "field-id": 8},
    {"name": "tz", "type": {"type": "long", "logicalType": "timestamp-micros", "adjust-to-utc": true}, "field-id": 9},
    {"name": "bin", "type": "bytes", "field-id": 10},
    {"name": "fix", "type": {"type": "fixed", "name": "fixed_3", "size": 3}, "field-id": 11},
    {"name": "l", "type": ["null", {"type": "array", "items": ["null", "int"], "element-id": 16}], "field-id": 12},
    {"name": "m", "type": ["null", {"type": "map", "values": "long", "key-id": 17, "value-id": 18}], "field-id": 13},
    {"name": "mi", "type": ["null", {"type": "array", "logicalType": "map", "items":
        {"type": "record", "name": "k19_v20", "fields": [
            {"name": "key", "type": "int", "field-id": 19},
            {"name": "value", "type": ["null", "string"], "field-id": 20}]}}], "field-id": 14},
    {"name": "s", "type": ["null", {"type": "record", "name": "r15", "fields": [
        {"name": "x", "type": "int", "field-id": 21}]}], "field-id": 15}]}"#;

/// With the ids that a new table gives.
fn all_types() -> Vec<NestedField> {
    use PrimitiveType as P;
    let required = |id, name: &str, p: P| NestedField::required(id, name, p);
    let text = |id, name: &str| NestedField::optional(id, name, P::String);
    let map = |key: NestedField, value: NestedField| MapType {
        key: Arc::new(key),
        value: Arc::new(value),
    };
    let list = |element: NestedField| ListType {
        element: Arc::new(element),
    };
    vec![
        required(1, "b", P::Boolean),
        // Promoted since the file was written.
        required(2, "i", P::Long),
        required(3, "f", P::Double),
        required(4, "d", P::Double),
        required(5, "dec", P::Decimal { precision: 9, scale: 2 }),
        required(6, "day", P::Date),
        required(7, "t", P::Time),
        required(8, "ts", P::Timestamp),
        required(9, "tz", P::Timestamptz),
        required(10, "bin", P::Binary),
        required(11, "fix", P::Fixed(3)),
        NestedField::optional(12, "l", list(NestedField::optional(16, "element", P::Int))),
        NestedField::optional(
            13,
            "m",
            map(required(17, "key", P::String), required(18, "value", P::Long)),
        ),
        NestedField::optional(14, "mi", map(required(19, "key", P::Int), text(20, "value"))),
        NestedField::optional(15, "s", StructType::new(vec![required(21, "x", P::Int)])),
    ]
}

#[tokio::test]
async fn all_types_are_decoded() {
    let site = Site::with(V2, all_types(), PartitionSpec::unpartitioned()).await;
    let row = |nested: [Avro; 4]| {
        let [l, m, mi, s] = nested;
        record(vec![
            ("b", Avro::Boolean(true)),
            ("i", Avro::Int(-5)),
            ("f", Avro::Float(1.5)),
            ("d", Avro::Double(-2.25)),
            (
                "dec",
                Avro::Decimal(apache_avro::Decimal::from((-12_345_i32).to_be_bytes())),
            ),
            ("day", Avro::Date(19_000)),
            ("t", Avro::TimeMicros(3_723_000_001)),
            ("ts", Avro::TimestampMicros(1_600_000_000_000_001)),
            ("tz", Avro::TimestampMicros(-1)),
            ("bin", Avro::Bytes(vec![0, 255])),
            ("fix", Avro::Fixed(3, vec![1, 2, 3])),
            ("l", l),
            ("m", m),
            ("mi", mi),
            ("s", s),
        ])
    };
    let full = row([
        some(Avro::Array(vec![some(Avro::Int(1)), null()])),
        some(Avro::Map([("k".to_string(), Avro::Long(2))].into())),
        some(Avro::Array(vec![record(vec![
            ("key", Avro::Int(3)),
            ("value", some(Avro::String("v".to_string()))),
        ])])),
        some(record(vec![("x", Avro::Int(4))])),
    ]);
    let empty = row([null(), null(), null(), null()]);
    let file = site.avro("a", DataContent::Data, ALL_TYPES, vec![full, empty]).await;
    site.append(&[&file.into()]).await;
    let plain = "true -5 1.5 -2.25 -123.45 2022-01-08 01:02:03.000001 2020-09-13T12:26:40.000001 \
                 1969-12-31T23:59:59.999999Z 00ff 010203";
    let expected = [
        format!("{plain} [1, ] {{k: 2}} {{3: v}} {{x: 4}}"),
        format!("{plain} NULL NULL NULL NULL"),
    ];
    assert_eq!(site.query("SELECT * FROM t").await, expected);
    assert_eq!(site.query("SELECT s['x'], l[1] FROM t WHERE s['x'] = 4").await, ["4 1"]);
    assert_eq!(site.query("SELECT count(*) FROM t WHERE s['x'] IS NULL").await, ["1"]);
}

#[tokio::test]
async fn files_without_ids_are_read_by_the_name_mapping() {
    let nested = StructType::new(vec![NestedField::optional(4, "x", PrimitiveType::Long)]);
    let columns = vec![
        NestedField::optional(1, "id", PrimitiveType::Long),
        NestedField::optional(2, "data", PrimitiveType::String),
        NestedField::optional(3, "s", nested),
    ];
    let site = Site::with(V2, columns, PartitionSpec::unpartitioned()).await;
    let schema = r#"{"type": "record", "name": "hive", "fields": [
        {"name": "s", "type": {"type": "record", "name": "s", "fields": [{"name": "x", "type": "int"}]}},
        {"name": "old", "type": "string"},
        {"name": "id", "type": "int"}]}"#;
    let row = record(vec![
        ("s", record(vec![("x", Avro::Int(5))])),
        ("old", Avro::String("text".to_string())),
        ("id", Avro::Int(1)),
    ]);
    let file = site.avro("a", DataContent::Data, schema, vec![row]).await;
    site.append(&[&file.into()]).await;
    // Without a mapping of its own, the schema's names count.
    assert_eq!(site.query("SELECT id, data, s['x'] FROM t").await, ["1 NULL 5"]);
    let mapping = r#"[{"field-id": 2, "names": ["data", "old"]}, {"field-id": 3, "names": ["s"]}]"#;
    site.set_property("schema.name-mapping.default", mapping).await;
    assert_eq!(site.query("SELECT id, data, s['x'] FROM t").await, ["NULL text NULL"]);
    assert_eq!(site.query("SELECT data FROM t WHERE data > 'a'").await, ["text"]);
}

#[tokio::test]
async fn broken_files_are_refused() {
    let site = Site::new(V2).await;
    let a = numbered(&site, "a", 0, 50).await;
    let io = site.io().await;
    let bytes = io.read(&a.file_path).await.unwrap();
    io.delete(&a.file_path).await.unwrap();
    io.write(&a.file_path, bytes.slice(..bytes.len() - 20)).await.unwrap();
    site.append(&[&a.into()]).await;
    let error = site.error("SELECT * FROM t").await;
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    let message = error.to_string();
    assert!(message.contains("db.t") && message.contains("data/a"), "{message}");
}
