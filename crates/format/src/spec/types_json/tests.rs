//! JSON of types and schemas; expected forms are the spec's Appendix C.

use std::sync::Arc;

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::error::ErrorKind;
use crate::spec::schema::Schema;
use crate::spec::value::Value;

#[test]
fn primitive_names_of_the_spec() {
    let decimal = PrimitiveType::Decimal { precision: 9, scale: 2 };
    let geography = |crs: Option<&str>, algorithm| PrimitiveType::Geography {
        crs: crs.map(str::to_string),
        algorithm,
    };
    for (text, expected) in [
        ("boolean", PrimitiveType::Boolean),
        ("int", PrimitiveType::Int),
        ("long", PrimitiveType::Long),
        ("float", PrimitiveType::Float),
        ("double", PrimitiveType::Double),
        ("date", PrimitiveType::Date),
        ("time", PrimitiveType::Time),
        ("timestamp", PrimitiveType::Timestamp),
        ("timestamptz", PrimitiveType::Timestamptz),
        ("timestamp_ns", PrimitiveType::TimestampNs),
        ("timestamptz_ns", PrimitiveType::TimestamptzNs),
        ("string", PrimitiveType::String),
        ("uuid", PrimitiveType::Uuid),
        ("binary", PrimitiveType::Binary),
        ("unknown", PrimitiveType::Unknown),
        ("fixed[16]", PrimitiveType::Fixed(16)),
        ("fixed[ 16 ]", PrimitiveType::Fixed(16)),
        ("decimal(9,2)", decimal.clone()),
        ("decimal(9, 2)", decimal.clone()),
        ("decimal( 9 ,  2 )", decimal.clone()),
        ("DECIMAL(9,2)", decimal),
        ("geometry", PrimitiveType::Geometry { crs: None }),
        (
            "geometry(srid:4326)",
            PrimitiveType::Geometry {
                crs: Some("srid:4326".into()),
            },
        ),
        ("geography", geography(None, None)),
        ("geography(srid:4326)", geography(Some("srid:4326"), None)),
        (
            "geography(srid:4326, karney)",
            geography(Some("srid:4326"), Some(EdgeAlgorithm::Karney)),
        ),
        (
            "geography( srid:4326,spherical )",
            geography(Some("srid:4326"), Some(EdgeAlgorithm::Spherical)),
        ),
    ] {
        let read = PrimitiveType::from_value(json!(text)).unwrap();
        assert_eq!(read, expected, "{text}");
        assert_eq!(
            PrimitiveType::from_value(read.to_value().unwrap()).unwrap(),
            expected,
            "{text}"
        );
    }
    assert_eq!(Type::from_value(json!("variant")).unwrap(), Type::Variant);
}

#[test]
fn names_that_are_none() {
    for text in [
        "decimal(39,2)",
        "decimal(0,0)",
        "decimal(5,6)",
        "decimal(9)",
        "decimal(9,-1)",
        "decimal(99999999999,1)",
        "fixed[-1]",
        "fixed[4294967296]",
        "fixed[]",
    ] {
        assert_eq!(
            Type::from_value(json!(text)).unwrap_err().kind(),
            ErrorKind::Corrupt,
            "{text}"
        );
    }
    for text in [
        "",
        "(",
        "[",
        "fixed(16)",
        "decimal[9,2]",
        "decimal(9,2",
        "varchar(3)",
        "integer",
        "ü(",
        "geography(a, flat)",
    ] {
        assert_eq!(
            Type::from_value(json!(text)).unwrap_err().kind(),
            ErrorKind::Unsupported,
            "{text}"
        );
    }
    for json in [
        json!(1),
        json!(null),
        json!([]),
        json!({}),
        json!({"type": "list", "element-id": 1, "element": "int"}),
    ] {
        assert_eq!(
            Type::from_value(json.clone()).unwrap_err().kind(),
            ErrorKind::Corrupt,
            "{json}"
        );
    }
}

#[test]
fn nested_types_have_the_forms_of_the_spec() {
    let list = json!({"type": "list", "element-id": 3, "element-required": true, "element": "string"});
    let map =
        json!({"type": "map", "key-id": 4, "key": "string", "value-id": 5, "value-required": false, "value": "double"});
    let row = json!({"type": "struct", "fields": [
        {"id": 1, "name": "id", "required": true, "type": "uuid",
         "initial-default": "0db3e2a8-9d1d-42b9-aa7b-74ebe558dceb",
         "write-default": "ec5911be-b0a7-458c-8438-c9a3e53cffae"},
        {"id": 2, "name": "data", "required": false, "doc": "text", "type": list}]});
    for json in [list, map, row] {
        let read = Type::from_value(json.clone()).unwrap();
        assert_eq!(read.to_value().unwrap(), json);
    }
}

#[test]
fn errors_name_the_field() {
    let row = |field: Json| Type::from_value(json!({"type": "struct", "fields": [field]})).unwrap_err();
    let default = row(json!({"id": 1, "name": "n", "required": true, "type": "int", "initial-default": "x"}));
    assert!(
        default.to_string().contains("field: n") && default.to_string().contains("initial-default"),
        "{default}"
    );
    let no_type = row(json!({"id": 1, "name": "n", "required": true}));
    assert!(no_type.to_string().contains("field: n"), "{no_type}");
    let no_id = row(json!({"id": 4294967296_i64, "name": "n", "required": true, "type": "int"}));
    assert!(no_id.to_string().contains("32-bit"), "{no_id}");
}

#[test]
fn depth_is_limited() {
    let mut deep = json!("int");
    for _ in 0..120 {
        deep = json!({"type": "list", "element-id": 1, "element": deep, "element-required": false});
    }
    assert_eq!(Type::from_value(deep).unwrap_err().kind(), ErrorKind::Corrupt);
    let text = "[".repeat(100_000);
    assert!(serde_json::from_str::<Type>(&text).is_err());
}

#[test]
fn schemas_keep_ids_and_refuse_twins() {
    let json = json!({"type": "struct", "schema-id": 4, "identifier-field-ids": [1], "fields": [
        {"id": 1, "name": "a", "required": true, "type": "long"}]});
    let schema: Schema = serde_json::from_value(json.clone()).unwrap();
    assert_eq!((schema.schema_id(), schema.identifier_field_ids()), (4, &[1][..]));
    assert_eq!(serde_json::to_value(&schema).unwrap(), json);
    let field = |id: i32, name: &str| json!({"id": id, "name": name, "required": true, "type": "long"});
    for fields in [
        json!([field(1, "a"), field(1, "b")]),
        json!([field(1, "a"), field(2, "a")]),
    ] {
        let json = json!({"type": "struct", "schema-id": 0, "fields": fields});
        assert_eq!(Schema::from_value(json).unwrap_err().kind(), ErrorKind::Corrupt);
    }
    let unknown_identifier = json!({"type": "struct", "identifier-field-ids": [9], "fields": []});
    assert_eq!(
        Schema::from_value(unknown_identifier).unwrap_err().kind(),
        ErrorKind::Corrupt
    );
}

fn primitive() -> impl Strategy<Value = PrimitiveType> {
    let crs = || prop::option::of("[a-z]{1,6}:[0-9]{1,5}");
    let algorithm = prop::option::of(prop::sample::select(vec![
        EdgeAlgorithm::Spherical,
        EdgeAlgorithm::Vincenty,
        EdgeAlgorithm::Thomas,
        EdgeAlgorithm::Andoyer,
        EdgeAlgorithm::Karney,
    ]));
    prop_oneof![
        prop::sample::select(vec![
            PrimitiveType::Boolean,
            PrimitiveType::Int,
            PrimitiveType::Long,
            PrimitiveType::Float,
            PrimitiveType::Double,
            PrimitiveType::Date,
            PrimitiveType::Time,
            PrimitiveType::Timestamp,
            PrimitiveType::Timestamptz,
            PrimitiveType::TimestampNs,
            PrimitiveType::TimestamptzNs,
            PrimitiveType::String,
            PrimitiveType::Uuid,
            PrimitiveType::Binary,
            PrimitiveType::Unknown,
        ]),
        (1_u8..=38).prop_flat_map(|precision| {
            (0..=precision).prop_map(move |scale| PrimitiveType::Decimal { precision, scale })
        }),
        (0_u32..=i32::MAX as u32).prop_map(PrimitiveType::Fixed),
        crs().prop_map(|crs| PrimitiveType::Geometry { crs }),
        (crs(), algorithm).prop_map(|(crs, algorithm)| PrimitiveType::Geography {
            // The default CRS is written out where an algorithm follows it.
            crs: crs.or_else(|| algorithm.map(|_| "OGC:CRS84".to_string())),
            algorithm,
        }),
    ]
}

fn any_type() -> impl Strategy<Value = Type> {
    let leaf = prop_oneof![9 => primitive().prop_map(Type::Primitive), 1 => Just(Type::Variant)];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let field = |name: &'static str, inner: BoxedStrategy<Type>| {
            (inner, any::<bool>(), prop::option::of(".{0,8}")).prop_map(move |(field_type, required, doc)| {
                NestedField {
                    required,
                    doc: if name.is_empty() { doc } else { None },
                    ..NestedField::optional(0, name, field_type)
                }
            })
        };
        let inner = inner.boxed();
        prop_oneof![
            prop::collection::vec(field("", inner.clone()), 0..4)
                .prop_map(|fields| Type::Struct(StructType::new(fields))),
            field("element", inner.clone()).prop_map(|element| Type::List(ListType {
                element: Arc::new(element)
            })),
            (field("key", inner.clone()), field("value", inner)).prop_map(|(key, value)| Type::Map(MapType {
                key: Arc::new(NestedField { required: true, ..key }),
                value: Arc::new(value),
            })),
        ]
    })
}

/// Gives every field an id and struct fields a name, so that the whole is a valid schema.
fn numbered(field_type: &Type, next: &mut i32) -> Type {
    let renumber = |field: &NestedField, next: &mut i32| {
        *next += 1;
        let id = *next;
        let name = if field.name.is_empty() {
            format!("f{id}")
        } else {
            field.name.clone()
        };
        Arc::new(NestedField {
            id,
            name,
            field_type: numbered(&field.field_type, next),
            ..field.clone()
        })
    };
    match field_type {
        Type::Struct(s) => Type::Struct(StructType {
            fields: s.fields.iter().map(|f| renumber(f, next)).collect(),
        }),
        Type::List(l) => Type::List(ListType {
            element: renumber(&l.element, next),
        }),
        Type::Map(m) => Type::Map(MapType {
            key: renumber(&m.key, next),
            value: renumber(&m.value, next),
        }),
        other => other.clone(),
    }
}

proptest! {
    #[test]
    fn schemas_round_trip(columns in prop::collection::vec(any_type(), 0..5), schema_id in 0..9_i32) {
        let mut next = 0;
        let columns = columns.into_iter().map(|t| NestedField::optional(0, "", t)).collect();
        let Type::Struct(root) = numbered(&Type::Struct(StructType::new(columns)), &mut next) else { unreachable!() };
        let schema = Schema::new(schema_id, root, vec![]).unwrap();
        let text = serde_json::to_string(&schema).unwrap();
        prop_assert_eq!(serde_json::from_str::<Schema>(&text).unwrap(), schema);
    }

    #[test]
    fn any_text_is_a_type_or_an_error(text in ".{0,40}") {
        let _ = text.parse::<Type>();
        let _ = format!("decimal({text})").parse::<Type>();
        let _ = format!("geography({text})").parse::<Type>();
    }

    #[test]
    fn integer_defaults_round_trip(n in any::<i32>(), x in any::<f32>().prop_filter("a JSON number", |x| x.is_finite())) {
        for (value, field_type) in [
            (Value::Int(n), PrimitiveType::Int),
            (Value::Int(n), PrimitiveType::Date),
            (Value::Float(x), PrimitiveType::Float),
            (Value::Decimal(i128::from(n)), PrimitiveType::Decimal { precision: 12, scale: 5 }),
            (Value::Long(i64::from(n) * 1_000_003), PrimitiveType::TimestampNs),
            (Value::Long(i64::from(n) * 1_000_003), PrimitiveType::Timestamptz),
        ] {
            let mut field = NestedField::optional(1, "a", field_type);
            field.initial_default = Some(value);
            let text = serde_json::to_string(&field).unwrap();
            prop_assert_eq!(serde_json::from_str::<NestedField>(&text).unwrap(), field);
        }
    }
}
