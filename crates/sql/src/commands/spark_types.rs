//! Iceberg types by their Spark names, for DESCRIBE and SHOW CREATE TABLE.

use tarn_format::spec::types::{PrimitiveType, Type};
use tarn_format::transform::Transform;

/// A type as Spark writes it; types that Spark lacks keep Iceberg's name.
pub(crate) fn type_name(field_type: &Type) -> String {
    match field_type {
        Type::Primitive(p) => primitive_name(p),
        Type::Struct(s) => {
            let fields = s
                .fields
                .iter()
                .map(|f| format!("{}:{}", f.name, type_name(&f.field_type)));
            format!("struct<{}>", fields.collect::<Vec<_>>().join(","))
        }
        Type::List(l) => format!("array<{}>", type_name(&l.element.field_type)),
        Type::Map(m) => format!(
            "map<{},{}>",
            type_name(&m.key.field_type),
            type_name(&m.value.field_type)
        ),
        Type::Variant => "variant".to_string(),
    }
}

fn primitive_name(p: &PrimitiveType) -> String {
    match p {
        PrimitiveType::Long => "bigint".to_string(),
        PrimitiveType::Decimal { precision, scale } => format!("decimal({precision},{scale})"),
        PrimitiveType::Timestamptz => "timestamp".to_string(),
        PrimitiveType::Timestamp => "timestamp_ntz".to_string(),
        PrimitiveType::TimestampNs => "timestamp_ns".to_string(),
        PrimitiveType::TimestamptzNs => "timestamptz_ns".to_string(),
        PrimitiveType::Fixed(length) => format!("fixed({length})"),
        other => other.to_string(),
    }
}

/// A transform of a column as Spark writes it.
pub(crate) fn transform_name(transform: &Transform, column: &str) -> String {
    match transform {
        Transform::Identity => column.to_string(),
        Transform::Bucket(n) => format!("bucket({n}, {column})"),
        Transform::Truncate(w) => format!("truncate({w}, {column})"),
        Transform::Year => format!("years({column})"),
        Transform::Month => format!("months({column})"),
        Transform::Day => format!("days({column})"),
        Transform::Hour => format!("hours({column})"),
        Transform::Void => format!("void({column})"),
        Transform::Unknown(name) => format!("{name}({column})"),
    }
}
