//! What the reader bears, what it refuses, and what it keeps.

use serde_json::{Value as Json, json};

use super::*;
use crate::error::ErrorKind;
use crate::spec::snapshot::{Operation, SnapshotManifests};
use crate::transform::Transform;

fn v2() -> Json {
    json!({
        "format-version": 2, "table-uuid": "9c12d441-03fe-4693-9a96-a0705ddf69c1", "location": "s3://bucket/t",
        "last-sequence-number": 2, "last-updated-ms": 1602638573590_i64, "last-column-id": 2,
        "current-schema-id": 1,
        "schemas": [
            {"type": "struct", "schema-id": 0, "fields": [{"id": 1, "name": "x", "required": true, "type": "long"}]},
            {"type": "struct", "schema-id": 1, "identifier-field-ids": [1], "fields": [
                {"id": 1, "name": "x", "required": true, "type": "long"},
                {"id": 2, "name": "y", "required": false, "type": "date", "doc": "day"}]}],
        "default-spec-id": 0,
        "partition-specs": [{"spec-id": 0, "fields": [
            {"name": "x", "transform": "identity", "source-id": 1, "field-id": 1000},
            {"name": "z", "transform": "zorder[3]", "source-ids": [1, 2], "field-id": 1001}]}],
        "last-partition-id": 1001, "default-sort-order-id": 3,
        "sort-orders": [{"order-id": 3, "fields": [
            {"transform": "bucket[4]", "source-id": 2, "direction": "desc", "null-order": "nulls-last"}]}],
        "properties": {"read.split.target.size": "134217728"},
        "current-snapshot-id": 12,
        "refs": {
            "main": {"snapshot-id": 12, "type": "branch"},
            "audit": {"snapshot-id": 11, "type": "branch", "min-snapshots-to-keep": 5, "max-snapshot-age-ms": 7},
            "eoy": {"snapshot-id": 11, "type": "tag", "max-ref-age-ms": 9, "colour": "red"}},
        "snapshots": [
            {"sequence-number": 1, "snapshot-id": 11, "timestamp-ms": 1515100955770_i64,
             "summary": {"operation": "append", "added-records": "1"}, "manifest-list": "s3://a/1.avro"},
            {"sequence-number": 2, "snapshot-id": 12, "parent-snapshot-id": 11, "timestamp-ms": 1555100955770_i64,
             "summary": {"operation": "vacuum"}, "manifest-list": "s3://a/2.avro", "schema-id": 1,
             "mood": {"good": true}}],
        "statistics": [{"snapshot-id": 11, "statistics-path": "s3://a/s.puffin", "file-size-in-bytes": 413,
            "file-footer-size-in-bytes": 42, "blob-metadata": [{"type": "ndv", "snapshot-id": 11,
            "sequence-number": 1, "fields": [1], "properties": {"ndv": "8"}}]}],
        "partition-statistics": [{"snapshot-id": 11, "statistics-path": "s3://a/p.parquet", "file-size-in-bytes": 43}],
        "snapshot-log": [{"timestamp-ms": 1515100955770_i64, "snapshot-id": 11}],
        "metadata-log": [{"timestamp-ms": 1515100955770_i64, "metadata-file": "s3://a/1.metadata.json"}],
        "owner": "me"
    })
}

fn v1_of_an_old_writer() -> Json {
    json!({
        "format-version": 1, "location": "s3://bucket/t/", "last-updated-ms": 1602638573874_i64,
        "schema": {"type": "struct", "fields": [
            {"id": 1, "name": "x", "required": true, "type": "long"},
            {"id": 3, "name": "ts", "required": true, "type": "timestamp"}]},
        "partition-spec": [
            {"name": "x_bucket", "transform": "bucket[8]", "source-id": 1},
            {"name": "ts_day", "transform": "day", "source-id": 3}],
        "current-snapshot-id": 7,
        "snapshots": [
            {"snapshot-id": 7, "timestamp-ms": 1602638573000_i64, "manifests": ["s3://a/m0.avro", "s3://a/m1.avro"]}]
    })
}

fn read_json(json: &Json) -> Result<TableMetadata> {
    TableMetadata::from_json(json.to_string().as_bytes())
}

#[test]
fn all_of_v2_comes_back() {
    let json = v2();
    let table = read_json(&json).unwrap();
    let written: Json = serde_json::from_slice(&table.to_json().unwrap()).unwrap();
    assert_eq!(written, json);
    assert_eq!(table.current_schema().schema_id(), 1);
    assert_eq!(
        table.default_spec().fields[1].transform,
        Transform::Unknown("zorder[3]".into())
    );
    // An operation we don't know is not lost, but tells nothing.
    let newest = table.current_snapshot().unwrap();
    assert_eq!(
        (newest.operation, newest.summary["operation"].as_str()),
        (None, "vacuum")
    );
    assert_eq!(table.snapshots[0].operation, Some(Operation::Append));
    assert_eq!(table.refs["eoy"].extra.get("colour"), Some(&json!("red")));
    assert_eq!(
        (newest.extra.get("mood"), table.extra.get("owner")),
        (Some(&json!({"good": true})), Some(&json!("me")))
    );
    let through_serde: TableMetadata = serde_json::from_value(json).unwrap();
    assert_eq!(through_serde, table);
}

#[test]
fn what_old_v1_writers_left_out_is_filled_in() {
    let table = read_json(&v1_of_an_old_writer()).unwrap();
    assert_eq!((table.table_uuid, table.location.as_str()), (None, "s3://bucket/t"));
    assert_eq!((table.last_column_id, table.last_partition_id), (3, 1001));
    assert_eq!(
        (
            table.current_schema_id,
            table.default_spec_id,
            table.default_sort_order_id
        ),
        (0, 0, 0)
    );
    let ids: Vec<i32> = table.default_spec().fields.iter().map(|f| f.field_id).collect();
    assert_eq!(ids, [1000, 1001]);
    assert!(table.default_sort_order().is_unsorted());
    assert_eq!(table.refs[MAIN_BRANCH], SnapshotRef::branch(7));
    let snapshot = table.current_snapshot().unwrap();
    let manifests = vec!["s3://a/m0.avro".to_string(), "s3://a/m1.avro".to_string()];
    assert_eq!(snapshot.manifests, SnapshotManifests::Embedded(manifests));
    assert_eq!((snapshot.operation, snapshot.sequence_number), (None, 0));
    // Written, it has both the older and the newer fields.
    let written: Json = serde_json::from_slice(&table.to_json().unwrap()).unwrap();
    assert_eq!(written["schema"], written["schemas"][0]);
    assert_eq!(written["partition-spec"], written["partition-specs"][0]["fields"]);
    assert!(written.get("last-sequence-number").is_none() && written["snapshots"][0].get("manifests").is_some());
    assert_eq!(TableMetadata::from_json(&table.to_json().unwrap()).unwrap(), table);
}

#[test]
fn no_snapshot_has_many_spellings() {
    let mut json = v2();
    json["refs"] = json!({});
    for absent in [json!(-1), Json::Null] {
        json["current-snapshot-id"] = absent;
        let table = read_json(&json).unwrap();
        assert_eq!((table.current_snapshot_id, table.refs.len()), (None, 0));
        let written: Json = serde_json::from_slice(&table.to_json().unwrap()).unwrap();
        assert_eq!(written["current-snapshot-id"], json!(-1));
    }
    json["format-version"] = json!(3);
    json["next-row-id"] = json!(5);
    let table = read_json(&json).unwrap();
    let written: Json = serde_json::from_slice(&table.to_json().unwrap()).unwrap();
    assert_eq!(
        (&written["current-snapshot-id"], &written["next-row-id"]),
        (&Json::Null, &json!(5))
    );
}

#[test]
fn snapshot_ids_of_all_64_bits_are_borne() {
    let mut json = v2();
    let id = json!(9_876_543_210_123_456_789_u64);
    json["current-snapshot-id"] = id.clone();
    json["snapshots"][1]["snapshot-id"] = id.clone();
    json["refs"]["main"]["snapshot-id"] = id;
    let table = read_json(&json).unwrap();
    assert_eq!(
        table.current_snapshot().unwrap().snapshot_id,
        9_876_543_210_123_456_789_u64 as i64
    );
    assert_eq!(TableMetadata::from_json(&table.to_json().unwrap()).unwrap(), table);
}

#[test]
fn a_list_of_orders_may_lack_the_unsorted_one() {
    let mut json = v2();
    json["sort-orders"] = json!([]);
    json["default-sort-order-id"] = json!(0);
    assert!(read_json(&json).unwrap().default_sort_order().is_unsorted());
}

/// Sets what a JSON pointer leads to; `None` removes the field.
fn with(mut json: Json, pointer: &str, value: Option<Json>) -> Json {
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    let parent = json.pointer_mut(parent).unwrap();
    match (parent, value) {
        (Json::Object(object), Some(value)) => drop(object.insert(name.into(), value)),
        (Json::Object(object), None) => drop(object.remove(name)),
        (Json::Array(items), Some(value)) => items[name.parse::<usize>().unwrap()] = value,
        other => panic!("nothing to set: {other:?}"),
    }
    json
}

#[test]
fn broken_tables_are_refused_naming_what_is_wrong() {
    for (pointer, value, told) in [
        ("/format-version", None, "format-version"),
        ("/table-uuid", None, "table-uuid"),
        ("/table-uuid", Some(json!("no")), "table-uuid"),
        ("/location", None, "location"),
        ("/location", Some(json!(7)), "location"),
        ("/last-sequence-number", Some(json!("1")), "last-sequence-number"),
        ("/last-sequence-number", Some(json!(1)), "sequence number"),
        ("/last-updated-ms", Some(json!("now")), "last-updated-ms"),
        ("/last-updated-ms", Some(json!(1e300)), "last-updated-ms"),
        ("/last-column-id", Some(json!(4_294_967_296_i64)), "last-column-id"),
        ("/schemas", None, "schemas"),
        ("/schemas", Some(json!([])), "current schema 1"),
        ("/schemas/0", Some(json!("struct")), "schema"),
        ("/schemas/0/schema-id", Some(json!(1)), "schema id 1"),
        ("/current-schema-id", Some(json!(5)), "current schema 5"),
        ("/partition-specs", Some(json!([])), "default partition spec 0"),
        (
            "/partition-specs/0/fields/0/transform",
            Some(json!("bucket[0]")),
            "bucket[0]",
        ),
        ("/partition-specs/0/fields/0/source-id", None, "source-id"),
        ("/partition-specs/0/fields/0/field-id", None, "ids"),
        ("/default-sort-order-id", Some(json!(9)), "default sort order 9"),
        ("/sort-orders/0/fields/0/direction", Some(json!("up")), "direction"),
        ("/properties", Some(json!({"a": 1})), "'a'"),
        ("/properties", Some(json!([])), "properties"),
        ("/current-snapshot-id", Some(json!(99)), "snapshot"),
        ("/current-snapshot-id", Some(json!(-1)), "main"),
        ("/refs/eoy/snapshot-id", Some(json!(99)), "eoy"),
        ("/refs/eoy/type", Some(json!("twig")), "eoy"),
        ("/snapshots/0/snapshot-id", Some(json!(12)), "snapshot id 12"),
        ("/snapshots/0/manifest-list", None, "snapshot: 11"),
        ("/snapshots/0/summary", Some(json!({"operation": 1})), "operation"),
        ("/snapshots", Some(json!({})), "snapshots"),
        ("/statistics/0/blob-metadata", None, "blob-metadata"),
        ("/metadata-log/0/metadata-file", None, "metadata-file"),
    ] {
        let refused = read_json(&with(v2(), pointer, value)).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Corrupt, "{pointer}: {refused}");
        assert!(refused.to_string().contains(told), "{pointer}: {refused}");
    }
}

/// DuckDB 1.5.5 writes such tables by COPY … (FORMAT iceberg).
#[test]
fn without_a_last_sequence_number_the_highest_of_the_snapshots_counts() {
    let table = read_json(&with(v2(), "/last-sequence-number", None)).unwrap();
    assert_eq!(table.last_sequence_number, 2);
    let mut empty = with(v2(), "/last-sequence-number", None);
    for (pointer, value) in [
        ("/snapshots", json!([])),
        ("/current-snapshot-id", json!(-1)),
        ("/refs", json!({})),
        ("/snapshot-log", json!([])),
        ("/statistics", json!([])),
        ("/partition-statistics", json!([])),
        ("/sort-orders", json!([])),
        ("/default-sort-order-id", json!(0)),
    ] {
        empty = with(empty, pointer, Some(value));
    }
    let empty = read_json(&empty).unwrap();
    assert_eq!(empty.last_sequence_number, 0);
    assert!(empty.sort_orders[0].fields.is_empty());
}

#[test]
fn unknown_versions_are_unsupported() {
    for version in [-1_i64, 0, 4, i64::MAX] {
        let refused = read_json(&with(v2(), "/format-version", Some(json!(version)))).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Unsupported);
        assert!(refused.to_string().contains(&version.to_string()), "{refused}");
    }
}

#[test]
fn hostile_text_is_an_error() {
    let deep = format!("{}1{}", "{\"a\":".repeat(50_000), "}".repeat(50_000));
    let brackets = "[".repeat(1_000_000);
    for text in [
        "",
        "null",
        "[]",
        "1",
        "{",
        "\u{feff}{}",
        "{\"format-version\":1e400}",
        &deep,
        &brackets,
    ] {
        assert_eq!(
            TableMetadata::from_json(text.as_bytes()).unwrap_err().kind(),
            ErrorKind::Corrupt
        );
    }
    assert!(TableMetadata::from_json(&[0xff, 0xfe, 0x00]).is_err());
}

#[test]
fn partition_types_find_dropped_columns() {
    let mut json = v2();
    json["current-schema-id"] = json!(0);
    json["partition-specs"][0]["fields"][1] =
        json!({"name": "y", "transform": "month", "source-id": 2, "field-id": 1001});
    let table = read_json(&json).unwrap();
    let told = |fields: &crate::spec::types::StructType| -> Vec<String> {
        fields
            .fields
            .iter()
            .map(|f| format!("{} {} {}", f.id, f.name, f.field_type))
            .collect()
    };
    assert_eq!(
        told(&table.partition_type_of(0).unwrap()),
        ["1000 x long", "1001 y int"]
    );
    let current_only = table.default_spec().partition_type(table.current_schema());
    // The months are ints whatever they are of; only what has the source's own type is unknown without it.
    assert_eq!(told(&current_only), ["1000 x long", "1001 y int"]);
    for (transform, expected) in [
        ("identity", "unknown"),
        ("truncate[4]", "unknown"),
        ("void", "unknown"),
        ("bucket[4]", "int"),
        ("year", "int"),
        ("day", "date"),
        ("hour", "int"),
        ("zorder", "string"),
    ] {
        json["partition-specs"][0]["fields"][1]["transform"] = json!(transform);
        json["partition-specs"][0]["fields"][1]["source-id"] = json!(99);
        let found = read_json(&json).unwrap().partition_type_of(0).unwrap();
        assert_eq!(told(&found)[1], format!("1001 y {expected}"), "{transform}");
    }
    assert!(table.partition_type_of(9).is_err());
}

#[test]
fn no_damaged_byte_makes_it_panic() {
    let text = v2().to_string().into_bytes();
    for position in 0..text.len() {
        for byte in [b'9', b'"'] {
            let mut damaged = text.clone();
            damaged[position] = byte;
            if let Ok(table) = TableMetadata::from_json(&damaged) {
                // What is accepted must keep the promises of the accessors and be writable.
                assert!(table.schema_by_id(table.current_schema_id).is_some());
                assert!(table.spec_by_id(table.default_spec_id).is_some());
                assert_eq!(TableMetadata::from_json(&table.to_json().unwrap()).unwrap(), table);
            }
        }
    }
}
