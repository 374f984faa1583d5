//! JSON single values; expected forms are the examples of the spec's Appendix D.

use std::sync::Arc;

use serde_json::json;

use super::*;
use crate::error::ErrorKind;
use crate::spec::types::{ListType, NestedField};

fn primitive(name: &str) -> Type {
    name.parse().unwrap()
}

#[test]
fn examples_of_the_spec() {
    let uuid = *uuid::Uuid::parse_str("f79c3e09-677c-4bbd-a479-3f349cb785e7")
        .unwrap()
        .as_bytes();
    let bytes = Value::binary([0x00, 0x01, 0x02, 0xff]);
    for (name, json, value) in [
        ("boolean", json!(true), Value::Boolean(true)),
        ("int", json!(34), Value::Int(34)),
        ("long", json!(34), Value::Long(34)),
        ("float", json!(1.0), Value::Float(1.0)),
        ("float", json!(0.1), Value::Float(0.1)),
        ("double", json!(1.0), Value::Double(1.0)),
        ("decimal(9,2)", json!("14.20"), Value::Decimal(1420)),
        ("decimal(9,2)", json!("-0.05"), Value::Decimal(-5)),
        ("decimal(9,0)", json!("7"), Value::Decimal(7)),
        ("date", json!("2017-11-16"), Value::Int(17_486)),
        ("time", json!("22:31:08.123456"), Value::Long(81_068_123_456)),
        (
            "timestamp",
            json!("2017-11-16T22:31:08.123456"),
            Value::Long(1_510_871_468_123_456),
        ),
        (
            "timestamptz",
            json!("2017-11-16T22:31:08.123456+00:00"),
            Value::Long(1_510_871_468_123_456),
        ),
        (
            "timestamp_ns",
            json!("2017-11-16T22:31:08.123456789"),
            Value::Long(1_510_871_468_123_456_789),
        ),
        (
            "timestamptz_ns",
            json!("2017-11-16T22:31:08.123456789+00:00"),
            Value::Long(1_510_871_468_123_456_789),
        ),
        ("string", json!("iceberg"), Value::string("iceberg")),
        ("uuid", json!("f79c3e09-677c-4bbd-a479-3f349cb785e7"), Value::Uuid(uuid)),
        ("fixed[4]", json!("000102ff"), bytes.clone()),
        ("binary", json!("000102ff"), bytes),
    ] {
        assert_eq!(from_json(&json, &primitive(name)).unwrap(), value, "{name}");
        assert_eq!(to_json(&value, &primitive(name)).unwrap(), json, "{name}");
    }
}

#[test]
fn other_spellings_are_read() {
    for (name, json, value) in [
        ("double", json!(1), Value::Double(1.0)),
        ("decimal(9,2)", json!("1420E-2"), Value::Decimal(1420)),
        ("binary", json!("00FF"), Value::binary([0, 255])),
        ("time", json!("22:31"), Value::Long(81_060_000_000)),
        ("timestamp", json!("1970-01-01T00:00:00.5"), Value::Long(500_000)),
        ("timestamptz", json!("1970-01-01T00:00:00Z"), Value::Long(0)),
    ] {
        assert_eq!(from_json(&json, &primitive(name)).unwrap(), value, "{json}");
    }
}

#[test]
fn nested_values_have_the_forms_of_the_spec() {
    let row = Type::Struct(StructType::new(vec![
        NestedField::optional(1, "a", PrimitiveType::Int),
        NestedField::optional(2, "b", PrimitiveType::String),
        NestedField::optional(3, "c", PrimitiveType::String),
    ]));
    let row_value = Value::Struct(vec![(1, Some(Value::Int(1))), (2, Some(Value::string("bar")))]);
    let list = Type::List(ListType {
        element: Arc::new(NestedField::optional(1, "element", PrimitiveType::Int)),
    });
    let list_value = Value::List(vec![Some(Value::Int(1)), None, Some(Value::Int(3))]);
    let map = Type::Map(MapType {
        key: Arc::new(NestedField::required(1, "key", PrimitiveType::String)),
        value: Arc::new(NestedField::optional(2, "value", PrimitiveType::Int)),
    });
    let map_value = Value::Map(vec![
        (Value::string("a"), Some(Value::Int(1))),
        (Value::string("b"), Some(Value::Int(2))),
    ]);
    for (value_type, json, value) in [
        (row.clone(), json!({"1": 1, "2": "bar"}), row_value),
        (row, json!({}), Value::Struct(vec![])),
        (list, json!([1, null, 3]), list_value),
        (map, json!({"keys": ["a", "b"], "values": [1, 2]}), map_value),
    ] {
        assert_eq!(from_json(&json, &value_type).unwrap(), value);
        assert_eq!(to_json(&value, &value_type).unwrap(), json);
    }
}

#[test]
fn values_of_other_types_are_refused() {
    let list = Type::List(ListType {
        element: Arc::new(NestedField::optional(1, "element", PrimitiveType::Int)),
    });
    let map = Type::Map(MapType {
        key: Arc::new(NestedField::required(1, "key", PrimitiveType::String)),
        value: Arc::new(NestedField::optional(2, "value", PrimitiveType::Int)),
    });
    for (value_type, json) in [
        (primitive("int"), json!(2_147_483_648_i64)),
        (primitive("int"), json!(1.0)),
        (primitive("int"), json!("1")),
        (primitive("long"), json!(9_223_372_036_854_775_808_u64)),
        (primitive("float"), json!(1e39)),
        (primitive("boolean"), json!(1)),
        (primitive("decimal(9,2)"), json!("14.2")),
        (primitive("decimal(3,2)"), json!("14.20")),
        (primitive("decimal(9,2)"), json!(14.20)),
        (primitive("decimal(38,0)"), json!("9".repeat(60))),
        (primitive("decimal(9,2)"), json!("1e-999999999999")),
        (primitive("decimal(9,2)"), json!("")),
        (primitive("decimal(9,2)"), json!("-")),
        (primitive("date"), json!(17_486)),
        (primitive("date"), json!("2017-02-30")),
        (primitive("timestamp"), json!("2017-11-16T22:31:08+00:00")),
        (primitive("timestamptz"), json!("2017-11-16T22:31:08-07:00")),
        (primitive("timestamp_ns"), json!("9999-01-01T00:00:00")),
        (primitive("uuid"), json!("f79c3e09677c4bbda4793f349cb785e7")),
        (primitive("fixed[4]"), json!("0001")),
        (primitive("binary"), json!("0")),
        (primitive("binary"), json!("zz")),
        (list.clone(), json!({})),
        (list, json!(["a"])),
        (map.clone(), json!({"keys": ["a"], "values": []})),
        (map.clone(), json!({"keys": [null], "values": [1]})),
        (map, json!([])),
        (Type::Struct(StructType::default()), json!({"7": 1})),
    ] {
        let refused = from_json(&json, &value_type).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Corrupt, "{json} as {value_type}");
    }
    for name in ["unknown", "variant", "geometry", "geography"] {
        assert_eq!(
            from_json(&json!("x"), &primitive(name)).unwrap_err().kind(),
            ErrorKind::Unsupported,
            "{name}"
        );
        assert_eq!(
            to_json(&Value::string("x"), &primitive(name)).unwrap_err().kind(),
            ErrorKind::Unsupported,
            "{name}"
        );
    }
}

#[test]
fn values_that_have_no_json_are_refused() {
    for (name, value) in [
        ("double", Value::Double(f64::NAN)),
        ("float", Value::Float(f32::INFINITY)),
        ("int", Value::Long(1)),
        ("time", Value::Long(-1)),
        ("time", Value::Long(86_400_000_000)),
        ("fixed[2]", Value::binary([1])),
        ("decimal(2,1)", Value::Decimal(100)),
        ("decimal(38,1)", Value::Decimal(i128::MIN)),
    ] {
        assert_eq!(
            to_json(&value, &primitive(name)).unwrap_err().kind(),
            ErrorKind::InvalidInput,
            "{name}"
        );
    }
}
