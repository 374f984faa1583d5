//! An unknown key in every object of metadata comes back from reading and writing, and from changes beside it.

use std::sync::Arc;

use serde_json::{Value as Json, json};

use crate::spec::name_mapping::NameMapping;
use crate::spec::table_metadata::{TableMetadata, TableMetadataRef};
use crate::spec::types::PrimitiveType;
use crate::spec::view_metadata::ViewMetadata;
use crate::update::schema::{ColumnPosition, NewColumn, SchemaUpdate};
use crate::update::spec::SpecUpdate;
use crate::update::{MetadataBuilder, TableUpdate};

const UNKNOWN: &str = "from-the-future";

/// Objects that are maps from names to values: every key in them is known.
const MAPS: [&str; 3] = ["properties", "summary", "refs"];

/// Adds a key, with a value found nowhere else, to every object that has fields. Returns how many there were.
fn inject(json: &mut Json, path: &str, parent_key: &str) -> usize {
    let mut injected = 0;
    match json {
        Json::Object(object) => {
            for (key, value) in object.iter_mut() {
                injected += inject(value, &format!("{path}/{key}"), key);
            }
            if !MAPS.contains(&parent_key) {
                object.insert(UNKNOWN.into(), json!({"at": path, "null": null}));
                injected += 1;
            }
        }
        Json::Array(items) => {
            for (i, item) in items.iter_mut().enumerate() {
                injected += inject(item, &format!("{path}/{i}"), "");
            }
        }
        _ => {}
    }
    injected
}

fn injected(mut json: Json) -> Json {
    inject(&mut json, "", "");
    json
}

/// How often the unknown key occurs.
fn occurrences(json: &Json) -> usize {
    match json {
        Json::Object(object) => {
            usize::from(object.contains_key(UNKNOWN)) + object.values().map(occurrences).sum::<usize>()
        }
        Json::Array(items) => items.iter().map(occurrences).sum(),
        _ => 0,
    }
}

fn schema() -> Json {
    json!({"type": "struct", "schema-id": 0, "identifier-field-ids": [1], "fields": [
        {"id": 1, "name": "id", "required": true, "type": "long"},
        {"id": 2, "name": "place", "required": false, "doc": "where", "type": {"type": "struct", "fields": [
            {"id": 3, "name": "lat", "required": false, "type": "double"}]}},
        {"id": 4, "name": "tags", "required": false, "type": {"type": "list", "element-id": 5,
            "element": {"type": "map", "key-id": 6, "key": {"type": "struct", "fields": [
                    {"id": 8, "name": "k", "required": true, "type": "int"}]},
                "value-id": 7, "value": {"type": "list", "element-id": 9, "element": "string", "element-required": false},
                "value-required": false},
            "element-required": true}}]})
}

fn table(version: u8) -> Json {
    let mut table = json!({
        "format-version": version,
        "table-uuid": "9c12d441-03fe-4693-9a96-a0705ddf69c1",
        "location": "s3://bucket/t",
        "last-updated-ms": 1602638573590_i64,
        "last-column-id": 9,
        "current-schema-id": 0,
        "schemas": [schema()],
        "default-spec-id": 0,
        "partition-specs": [{"spec-id": 0, "fields": [
            {"name": "id_bucket", "transform": "bucket[4]", "source-id": 1, "field-id": 1000}]}],
        "last-partition-id": 1000,
        "default-sort-order-id": 1,
        "sort-orders": [{"order-id": 0, "fields": []}, {"order-id": 1, "fields": [
            {"transform": "identity", "source-id": 1, "direction": "asc", "null-order": "nulls-first"}]}],
        "properties": {"owner": "me"},
        "current-snapshot-id": 7,
        "refs": {"main": {"snapshot-id": 7, "type": "branch"}, "old": {"snapshot-id": 7, "type": "tag"}},
        "snapshots": [{"snapshot-id": 7, "timestamp-ms": 1602638573000_i64, "schema-id": 0,
            "summary": {"operation": "append"}, "manifest-list": "s3://bucket/t/l.avro"}],
        "statistics": [{"snapshot-id": 7, "statistics-path": "s3://bucket/t/s.puffin", "file-size-in-bytes": 10,
            "file-footer-size-in-bytes": 4, "blob-metadata": [{"type": "apache-datasketches-theta-v1",
                "snapshot-id": 7, "sequence-number": 1, "fields": [1], "properties": {"ndv": "3"}}]}],
        "partition-statistics": [{"snapshot-id": 7, "statistics-path": "s3://bucket/t/p", "file-size-in-bytes": 10}],
        "snapshot-log": [{"snapshot-id": 7, "timestamp-ms": 1602638573000_i64}],
        "metadata-log": [{"metadata-file": "s3://bucket/t/0.json", "timestamp-ms": 1602638572000_i64}]
    });
    if version > 1 {
        table["last-sequence-number"] = json!(1);
        table["snapshots"][0]["sequence-number"] = json!(1);
    }
    if version > 2 {
        table["next-row-id"] = json!(5);
        table["snapshots"][0]["first-row-id"] = json!(0);
        table["snapshots"][0]["added-rows"] = json!(5);
        table["encryption-keys"] = json!([{"key-id": "k", "encrypted-key-metadata": "aGk=", "encrypted-by-id": "kek",
            "properties": {"a": "b"}}]);
    }
    table
}

fn read(json: &Json) -> TableMetadata {
    TableMetadata::from_json(json.to_string().as_bytes()).unwrap()
}

fn written(table: &TableMetadata) -> Json {
    serde_json::from_slice(&table.to_json().unwrap()).unwrap()
}

#[test]
fn every_object_of_a_table_keeps_what_is_not_known() {
    for (version, objects) in [(1, 25), (2, 25), (3, 26)] {
        let mut json = table(version);
        assert_eq!(inject(&mut json, "", ""), objects, "v{version}");
        if version == 1 {
            // The older fields repeat what the newer ones hold.
            json["schema"] = json["schemas"][0].clone();
            json["partition-spec"] = json["partition-specs"][0]["fields"].clone();
        }
        let once = written(&read(&json));
        assert_eq!(once, json, "v{version}");
        assert_eq!(written(&read(&once)), json, "v{version}");
    }
}

#[test]
fn every_object_of_an_old_v1_table_keeps_what_is_not_known() {
    let json = injected(json!({
        "format-version": 1,
        "location": "s3://bucket/t",
        "last-updated-ms": 1602638573590_i64,
        "last-column-id": 9,
        "schema": schema(),
        "partition-spec": [{"name": "id_bucket", "transform": "bucket[4]", "source-id": 1, "field-id": 1000}],
        "current-snapshot-id": 7,
        "snapshots": [{"snapshot-id": 7, "timestamp-ms": 1602638573000_i64, "manifests": ["s3://a/m0.avro"]}]
    }));
    let once = written(&read(&json));
    for (name, value) in json.as_object().unwrap() {
        assert_eq!(&once[name], value, "{name}");
    }
    assert_eq!(once["schemas"][0], json["schema"]);
    assert_eq!(once["partition-specs"][0]["fields"], json["partition-spec"]);
    assert_eq!(written(&read(&once)), once);
}

#[test]
fn every_object_of_a_view_keeps_what_is_not_known() {
    let mut json = json!({
        "view-uuid": "9c12d441-03fe-4693-9a96-a0705ddf69c1",
        "format-version": 1,
        "location": "s3://bucket/v",
        "properties": {"comment": "c"},
        "schemas": [schema()],
        "current-version-id": 1,
        "versions": [{"version-id": 1, "timestamp-ms": 5, "schema-id": 0, "summary": {"engine-name": "x"},
            "default-namespace": ["db"], "representations": [
                {"type": "sql", "sql": "SELECT 1", "dialect": "spark"}, {"type": "plan", "plan": {"steps": [{}]}}]}],
        "version-log": [{"timestamp-ms": 5, "version-id": 1}]
    });
    assert!(inject(&mut json, "", "") > 12);
    let view = ViewMetadata::from_json(json.to_string().as_bytes()).unwrap();
    let once: Json = serde_json::from_slice(&view.to_json().unwrap()).unwrap();
    assert_eq!(once, json);
}

#[test]
fn every_object_of_a_name_mapping_keeps_what_is_not_known() {
    let json = injected(json!([{"field-id": 1, "names": ["id"]},
        {"field-id": 2, "names": ["place"], "fields": [{"field-id": 3, "names": ["lat", "latitude"]}]}]));
    let mapping = NameMapping::from_json(&json.to_string()).unwrap();
    let once: Json = serde_json::from_str(&mapping.to_json().unwrap()).unwrap();
    assert_eq!(once, json);
    let changed = mapping.updated(&Default::default(), &Default::default());
    let changed: Json = serde_json::from_str(&changed.to_json().unwrap()).unwrap();
    assert_eq!(changed, json);
}

fn changed(base: &TableMetadataRef, updates: &[TableUpdate]) -> TableMetadata {
    let mut builder = MetadataBuilder::from_metadata(Arc::clone(base), None);
    builder.apply_all(updates).unwrap();
    builder.build(1_602_638_574_000).unwrap()
}

#[test]
fn what_differs_only_in_unknown_fields_is_reused() {
    let base = Arc::new(read(&injected(table(3))));
    let plain = read(&table(3));
    assert_eq!(base.as_ref(), &plain);
    let updates = [
        TableUpdate::AddSchema(plain.schemas[0].as_ref().clone()),
        TableUpdate::AddSpec(plain.partition_specs[0].as_ref().clone()),
        TableUpdate::AddSortOrder(plain.sort_orders[1].as_ref().clone()),
    ];
    let mut builder = MetadataBuilder::from_metadata(Arc::clone(&base), None);
    builder.apply_all(&updates).unwrap();
    assert!(!builder.changed());
    assert_eq!(occurrences(&written(builder.state())), 26);
}

#[test]
fn changes_keep_what_is_not_known_of_what_stays() {
    let base = Arc::new(read(&injected(table(3))));
    let mut update = SchemaUpdate::new(&base);
    let point = NewColumn::optional("lon", PrimitiveType::Double).inside("place");
    update.add_column(point).unwrap();
    update.rename_column("place", "location").unwrap();
    update.move_column("tags", &ColumnPosition::First).unwrap();
    let (updates, _) = update.finish().unwrap();
    let json = written(&changed(&base, &updates));
    let (before, after) = (&json["schemas"][0], &json["schemas"][1]);
    assert_eq!(after[UNKNOWN], before[UNKNOWN]);
    assert_eq!(after["fields"][0], before["fields"][2]);
    assert_eq!(after["fields"][2]["name"], "location");
    assert_eq!(after["fields"][2][UNKNOWN], before["fields"][1][UNKNOWN]);
    let place = |schema: &Json, i: usize| schema["fields"][i]["type"].clone();
    assert_eq!(place(after, 2)[UNKNOWN], place(before, 1)[UNKNOWN]);
    assert_eq!(place(after, 2)["fields"][0], place(before, 1)["fields"][0]);
    assert_eq!(occurrences(after), occurrences(before));

    let mut update = SpecUpdate::new(&base).unwrap();
    update.rename_field("id_bucket", "b").unwrap();
    let (updates, _) = update.finish().unwrap();
    let json = written(&changed(&base, &updates));
    let specs = &json["partition-specs"];
    assert_eq!(specs[1]["fields"][0]["name"], "b");
    assert_eq!(specs[1]["fields"][0][UNKNOWN], specs[0]["fields"][0][UNKNOWN]);
}

#[test]
fn a_change_of_metadata_sent_as_json_keeps_what_is_not_known() {
    let base = read(&injected(table(3)));
    let updates = [
        TableUpdate::AddSchema(base.schemas[0].as_ref().clone()),
        TableUpdate::AddSpec(base.partition_specs[0].as_ref().clone()),
        TableUpdate::AddSortOrder(base.sort_orders[1].as_ref().clone()),
        TableUpdate::AddSnapshot(base.snapshots[0].as_ref().clone()),
        TableUpdate::SetSnapshotRef {
            name: "old".into(),
            reference: base.refs["old"].clone(),
        },
        TableUpdate::SetStatistics(base.statistics[0].clone()),
        TableUpdate::SetPartitionStatistics(base.partition_statistics[0].clone()),
        TableUpdate::AddEncryptionKey(base.encryption_keys[0].clone()),
    ];
    for update in updates {
        let sent = serde_json::to_value(&update).unwrap();
        assert!(occurrences(&sent) > 0, "{sent}");
        let received: TableUpdate = serde_json::from_value(sent.clone()).unwrap();
        assert_eq!(serde_json::to_value(&received).unwrap(), sent);
    }
}
