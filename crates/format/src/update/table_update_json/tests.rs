//! JSON of updates and requirements; names are those of the REST catalog's OpenAPI document.

use serde_json::json;

use crate::error::ErrorKind;
use crate::spec::json_fields::JsonForm;
use crate::update::{TableRequirement, TableUpdate};

#[test]
fn updates_round_trip() {
    let schema = json!({"type": "struct", "schema-id": 1, "fields": [
        {"id": 1, "name": "a", "required": true, "type": "long"}]});
    let key = json!({"key-id": "k", "encrypted-key-metadata": "aWNl", "encrypted-by-id": "m"});
    let statistics = json!({"snapshot-id": 7, "statistics-path": "s", "file-size-in-bytes": 1,
        "file-footer-size-in-bytes": 1, "blob-metadata": []});
    for update in [
        json!({"action": "assign-uuid", "uuid": "9c12d441-03fe-4693-9a96-a0705ddf69c1"}),
        json!({"action": "upgrade-format-version", "format-version": 2}),
        json!({"action": "add-schema", "schema": schema, "last-column-id": 1}),
        json!({"action": "set-current-schema", "schema-id": -1}),
        json!({"action": "add-spec", "spec": {"spec-id": 2, "fields": [
            {"source-id": 1, "field-id": 1000, "name": "p", "transform": "bucket[4]"}]}}),
        json!({"action": "set-default-spec", "spec-id": -1}),
        json!({"action": "add-sort-order", "sort-order": {"order-id": 3, "fields": [
            {"source-id": 1, "transform": "identity", "direction": "asc", "null-order": "nulls-first"}]}}),
        json!({"action": "set-default-sort-order", "sort-order-id": -1}),
        json!({"action": "add-snapshot", "snapshot": {"snapshot-id": 7, "timestamp-ms": 8, "sequence-number": 2,
            "summary": {"operation": "append"}, "manifest-list": "l"}}),
        json!({"action": "set-snapshot-ref", "ref-name": "b", "snapshot-id": 7, "type": "branch",
            "min-snapshots-to-keep": 2, "max-snapshot-age-ms": 3, "max-ref-age-ms": 4}),
        json!({"action": "remove-snapshots", "snapshot-ids": [7, 8]}),
        json!({"action": "remove-snapshot-ref", "ref-name": "b"}),
        json!({"action": "set-location", "location": "s3://b/t"}),
        json!({"action": "set-properties", "updates": {"a": "b"}}),
        json!({"action": "remove-properties", "removals": ["a"]}),
        json!({"action": "set-statistics", "snapshot-id": 7, "statistics": statistics}),
        json!({"action": "remove-statistics", "snapshot-id": 7}),
        json!({"action": "set-partition-statistics", "partition-statistics":
            {"snapshot-id": 7, "statistics-path": "s", "file-size-in-bytes": 1}}),
        json!({"action": "remove-partition-statistics", "snapshot-id": 7}),
        json!({"action": "remove-partition-specs", "spec-ids": [1]}),
        json!({"action": "remove-schemas", "schema-ids": [1]}),
        json!({"action": "add-encryption-key", "encryption-key": key}),
        json!({"action": "remove-encryption-key", "key-id": "k"}),
    ] {
        let read = TableUpdate::from_value(update.clone()).unwrap();
        assert_eq!(read.to_value().unwrap(), update);
        let through_serde: TableUpdate = serde_json::from_str(&serde_json::to_string(&read).unwrap()).unwrap();
        assert_eq!(through_serde, read);
    }
}

#[test]
fn older_clients_are_understood() {
    let set = json!({"action": "set-properties", "updated": {"a": "b"}});
    let removed = json!({"action": "remove-properties", "removed": ["a"]});
    assert!(matches!(TableUpdate::from_value(set).unwrap(), TableUpdate::SetProperties(p) if p["a"] == "b"));
    assert!(matches!(TableUpdate::from_value(removed).unwrap(), TableUpdate::RemoveProperties(k) if k == ["a"]));
}

#[test]
fn requirements_round_trip() {
    for requirement in [
        json!({"type": "assert-create"}),
        json!({"type": "assert-table-uuid", "uuid": "9c12d441-03fe-4693-9a96-a0705ddf69c1"}),
        json!({"type": "assert-ref-snapshot-id", "ref": "main", "snapshot-id": 7}),
        json!({"type": "assert-ref-snapshot-id", "ref": "main", "snapshot-id": null}),
        json!({"type": "assert-last-assigned-field-id", "last-assigned-field-id": 3}),
        json!({"type": "assert-current-schema-id", "current-schema-id": 1}),
        json!({"type": "assert-last-assigned-partition-id", "last-assigned-partition-id": 1001}),
        json!({"type": "assert-default-spec-id", "default-spec-id": 2}),
        json!({"type": "assert-default-sort-order-id", "default-sort-order-id": 1}),
    ] {
        let read = TableRequirement::from_value(requirement.clone()).unwrap();
        assert_eq!(read.to_value().unwrap(), requirement);
    }
}

#[test]
fn what_is_not_known_is_refused() {
    let unknown = TableUpdate::from_value(json!({"action": "fly"})).unwrap_err();
    assert_eq!(unknown.kind(), ErrorKind::Unsupported);
    let unknown = TableRequirement::from_value(json!({"type": "assert-luck"})).unwrap_err();
    assert_eq!(unknown.kind(), ErrorKind::Unsupported);
    for broken in [
        json!({}),
        json!([]),
        json!({"action": "set-location"}),
        json!({"action": "set-current-schema", "schema-id": "x"}),
    ] {
        assert_eq!(TableUpdate::from_value(broken).unwrap_err().kind(), ErrorKind::Corrupt);
    }
}
