//! View metadata; the form is that of the view spec.

use serde_json::{Value as Json, json};

use super::*;
use crate::error::ErrorKind;

fn view() -> Json {
    json!({
        "view-uuid": "fa6506c3-7681-40c8-86dc-e36561f83385", "format-version": 1,
        "location": "s3://bucket/warehouse/default.db/event_agg",
        "properties": {"comment": "Daily event counts"},
        "schemas": [{"type": "struct", "schema-id": 1, "fields": [
            {"id": 1, "name": "event_count", "required": false, "type": "int", "doc": "Count of events"}]}],
        "current-version-id": 1,
        "versions": [{
            "version-id": 1, "timestamp-ms": 1573518431292_i64, "schema-id": 1,
            "summary": {"engine-name": "Spark", "engineVersion": "3.3.2"},
            "default-catalog": "prod", "default-namespace": ["default"],
            "representations": [
                {"type": "sql", "sql": "SELECT COUNT(1) FROM events", "dialect": "spark"},
                {"type": "plan", "bytes": "AAAA"}],
            "storage": "none"}],
        "version-log": [{"timestamp-ms": 1573518431292_i64, "version-id": 1}],
        "owner": "me"
    })
}

#[test]
fn all_of_a_view_comes_back() {
    let read = ViewMetadata::from_json(view().to_string().as_bytes()).unwrap();
    let written: Json = serde_json::from_slice(&read.to_json().unwrap()).unwrap();
    assert_eq!(written, view());
    assert_eq!(read.current_version().default_catalog.as_deref(), Some("prod"));
    assert!(
        matches!(&read.current_version().representations[1], ViewRepresentation::Other(fields) if fields["type"] == "plan")
    );
}

#[test]
fn broken_views_are_refused() {
    for (name, value, kind) in [
        ("view-uuid", Json::Null, ErrorKind::Corrupt),
        ("format-version", json!(2), ErrorKind::Unsupported),
        ("location", json!(1), ErrorKind::Corrupt),
        ("schemas", json!([]), ErrorKind::Corrupt),
        ("versions", json!([]), ErrorKind::Corrupt),
        ("current-version-id", json!(9), ErrorKind::Corrupt),
        ("version-log", Json::Null, ErrorKind::Corrupt),
        (
            "versions",
            json!([view()["versions"][0], view()["versions"][0]]),
            ErrorKind::Corrupt,
        ),
    ] {
        let mut json = view();
        json[name] = value;
        let refused = ViewMetadata::from_json(json.to_string().as_bytes()).unwrap_err();
        assert_eq!(refused.kind(), kind, "{name}: {refused}");
    }
}
