//! Avro data files as another library reads them.

use std::sync::Arc;

use apache_avro::types::Value as Avro;
use arrow::array::{ArrayRef, Int64Array, StringViewArray};
use serde_json::{Value as Json, json};
use tarn_format::ErrorKind;
use tarn_format::manifest::data_file::FileFormat;
use tarn_format::spec::types::{ListType, MapType, NestedField, PrimitiveType, StructType};

use super::{Making, Site};
use crate::write::avro_schema::schema_to_avro;

const ROWS: i64 = 30_000;

fn avro() -> Making {
    Making::new().property("write.format.default", "avro")
}

fn columns() -> Vec<NestedField> {
    vec![
        NestedField::required(1, "id", PrimitiveType::Long),
        NestedField::optional(2, "2 be", PrimitiveType::String),
    ]
}

async fn append(site: &Site) -> tarn_format::Result<()> {
    let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(0..ROWS));
    let text: ArrayRef = Arc::new(StringViewArray::from_iter(
        (0..ROWS).map(|id| (id % 3 > 0).then(|| format!("text {id}"))),
    ));
    site.append(site.batch(vec![ids, text]).await).await.map(drop)
}

#[tokio::test]
async fn files_are_read_by_another_library() {
    for (codec, name) in [
        ("gzip", "deflate"),
        ("zstd", "zstandard"),
        ("snappy", "snappy"),
        ("uncompressed", "null"),
    ] {
        let site = Site::new(columns(), avro().property("write.avro.compression-codec", codec)).await;
        append(&site).await.unwrap();
        let file = site.file().await;
        assert_eq!((file.file_format, file.record_count), (FileFormat::Avro, ROWS));
        assert!(file.file_path.ends_with(".avro"));
        let bytes = site.table().await.io.read(&file.file_path).await.unwrap();
        assert_eq!(bytes.len() as i64, file.file_size_in_bytes);
        let header = String::from_utf8_lossy(&bytes[..2000]);
        assert!(header.contains("iceberg.schema") && header.contains(name), "{codec}");
        let count = site.rows("id").await.num_rows();
        assert_eq!(count as i64, ROWS);
        if !["deflate", "null"].contains(&name) {
            // The other library would need features for them.
            continue;
        }
        let reader = apache_avro::Reader::new(bytes.as_ref()).unwrap();
        for (id, record) in reader.enumerate() {
            let text = match id % 3 {
                0 => Avro::Union(0, Box::new(Avro::Null)),
                _ => Avro::Union(1, Box::new(Avro::String(format!("text {id}")))),
            };
            let fields = [("id", Avro::Long(id as i64)), ("_2_x20be", text)];
            let fields = fields.map(|(name, value)| (name.to_string(), value));
            assert_eq!(record.unwrap(), Avro::Record(fields.into()));
        }
    }
}

#[tokio::test]
async fn files_are_closed_at_their_target_size() {
    let site = Site::new(
        columns(),
        avro()
            .property("write.target-file-size-bytes", 60_000)
            .property("write.avro.compression-codec", "uncompressed"),
    )
    .await;
    append(&site).await.unwrap();
    let files = site.files().await;
    // About 350,000 bytes, in blocks of 64,000, which are not cut.
    assert!((5..=6).contains(&files.len()), "{}", files.len());
    assert_eq!(files.iter().map(|f| f.record_count).sum::<i64>(), ROWS);
    assert!(files.iter().all(|f| f.file_size_in_bytes < 70_000), "{files:#?}");
}

#[tokio::test]
async fn settings_that_make_no_sense_are_refused() {
    for (key, value) in [
        ("write.avro.compression-codec", "brotli"),
        ("write.avro.compression-level", "12"),
        ("write.format.default", "csv"),
    ] {
        let site = Site::new(columns(), avro().property(key, value)).await;
        let error = append(&site).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        assert!(error.message().contains(key), "{error}");
    }
}

/// Java's `TypeToSchema` names and shapes (spec, Appendix A, Avro).
#[tokio::test]
async fn schemas_are_those_of_the_specification() {
    let optional = |id: i32, name: &str, p: PrimitiveType| NestedField::optional(id, name, p);
    let decimal = PrimitiveType::Decimal { precision: 9, scale: 2 };
    let map = |id: i32, key: PrimitiveType| MapType {
        key: Arc::new(NestedField::required(id, "key", key)),
        value: Arc::new(optional(id + 1, "value", PrimitiveType::Int)),
    };
    let list = ListType {
        element: Arc::new(NestedField::required(102, "element", PrimitiveType::Date)),
    };
    let structure = StructType::new(vec![optional(103, "d", decimal.clone())]);
    let columns = vec![
        optional(1, "d1", decimal),
        optional(2, "mt", PrimitiveType::Timestamptz),
        optional(3, "ms", PrimitiveType::String),
        NestedField::optional(4, "m1", map(104, PrimitiveType::String)),
        NestedField::optional(5, "m2", map(106, PrimitiveType::Int)),
        NestedField::optional(6, "l", list),
        NestedField::required(7, "s", structure),
    ];
    let site = Site::new(columns, Making::new()).await;
    let schema = schema_to_avro(site.table().await.metadata.current_schema()).unwrap();
    let fields: Vec<&Json> = schema["fields"]
        .as_array()
        .unwrap()
        .iter()
        .map(|f| &f["type"])
        .collect();
    let decimal = json!({"type": "fixed", "name": "decimal_9_2", "size": 4, "logicalType": "decimal",
        "precision": 9, "scale": 2});
    // The table gave ids anew: columns first, then what is in them.
    let pairs = json!({"type": "record", "name": "k10_v11", "fields": [
        {"name": "key", "type": "int", "field-id": 10},
        {"name": "value", "type": ["null", "int"], "default": null, "field-id": 11}]});
    let expected = [
        json!(["null", decimal]),
        json!(["null", {"type": "long", "logicalType": "timestamp-micros", "adjust-to-utc": true}]),
        json!(["null", "string"]),
        json!(["null", {"type": "map", "values": ["null", "int"], "key-id": 8, "value-id": 9}]),
        json!(["null", {"type": "array", "logicalType": "map", "items": pairs}]),
        json!(["null", {"type": "array", "items": {"type": "int", "logicalType": "date"}, "element-id": 12}]),
        json!({"type": "record", "name": "r7", "fields": [
            {"name": "d", "type": ["null", "decimal_9_2"], "default": null, "field-id": 13}]}),
    ];
    assert_eq!(fields, expected.iter().collect::<Vec<_>>());
    assert_eq!(schema["fields"][6]["field-id"], 7);
    assert_eq!(schema["name"], "table");
}
