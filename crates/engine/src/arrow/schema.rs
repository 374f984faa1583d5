//! Iceberg schemas as Arrow schemas, and Arrow schemas as Iceberg ones.
//!
//! Every Arrow field carries its Iceberg id under [`FIELD_ID_KEY`], the key that Parquet's Arrow reader uses too,
//! so that files and tables meet by id. Top-level text and bytes are views, as DataFusion reads Parquet; inside
//! nested types they are plain, because Parquet's reader makes no views there.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::datatypes::{
    DataType, Field, FieldRef, Fields, Schema as ArrowSchema, SchemaRef as ArrowSchemaRef, TimeUnit,
};
use tarn_format::spec::schema::Schema;
use tarn_format::spec::types::{
    FieldId, ListType, MapType, NestedField, NestedFieldRef, PrimitiveType, StructType, Type,
};
use tarn_format::{Error, Result};

use super::variant::variant_type;

/// Key of the Iceberg field id in Arrow field metadata.
pub const FIELD_ID_KEY: &str = "PARQUET:field_id";

/// Key of Arrow's extension type name in field metadata.
const EXTENSION_NAME_KEY: &str = "ARROW:extension:name";

/// Arrow's extension type of Variant.
const VARIANT: &str = "arrow.parquet.variant";

/// Key of a top-level column's comment in field metadata, as Spark has it.
pub const COMMENT_KEY: &str = "comment";

/// The zone of `timestamptz` in Arrow.
pub const UTC: &str = "UTC";

/// Where a field stands: text and bytes are views only at top level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Depth {
    Top,
    Nested,
}

/// The Arrow schema of a table's rows: one field per column, with field ids and nullability.
pub fn schema_to_arrow(schema: &Schema) -> ArrowSchemaRef {
    let fields: Fields = schema.fields().iter().map(|f| field(f, Depth::Top)).collect();
    Arc::new(ArrowSchema::new(fields))
}

/// The Arrow field of a top-level column.
pub fn field_to_arrow(nested: &NestedField) -> FieldRef {
    field(nested, Depth::Top)
}

/// The Arrow type of a top-level column of this type.
pub fn type_to_arrow(field_type: &Type) -> DataType {
    data_type(field_type, Depth::Top)
}

/// The Arrow type of a struct inside a column, such as a partition tuple.
pub fn struct_to_arrow(fields: &StructType) -> DataType {
    DataType::Struct(fields.fields.iter().map(|f| field(f, Depth::Nested)).collect())
}

/// The Iceberg field id that an Arrow field carries.
pub fn field_id(field: &Field) -> Option<FieldId> {
    field.metadata().get(FIELD_ID_KEY)?.parse().ok()
}

/// Whether the field is a Variant, whose children are its encoding and no fields of the table.
pub(crate) fn is_variant(field: &Field) -> bool {
    field.metadata().get(EXTENSION_NAME_KEY).map(String::as_str) == Some(VARIANT)
}

fn field(nested: &NestedField, depth: Depth) -> FieldRef {
    let mut metadata = HashMap::from([(FIELD_ID_KEY.to_string(), nested.id.to_string())]);
    // Inside nested types it would be part of the type, and files have none: every scan would make arrays anew.
    if let (Depth::Top, Some(comment)) = (depth, &nested.doc) {
        metadata.insert(COMMENT_KEY.to_string(), comment.clone());
    }
    match &nested.field_type {
        Type::Primitive(PrimitiveType::Uuid) => {
            metadata.insert(EXTENSION_NAME_KEY.to_string(), "arrow.uuid".to_string());
        }
        Type::Variant => {
            metadata.insert(EXTENSION_NAME_KEY.to_string(), VARIANT.to_string());
        }
        _ => {}
    }
    let data_type = data_type(&nested.field_type, depth);
    Arc::new(Field::new(nested.name.as_str(), data_type, !nested.required).with_metadata(metadata))
}

fn data_type(field_type: &Type, depth: Depth) -> DataType {
    match field_type {
        Type::Primitive(p) => primitive(p, depth),
        Type::Struct(s) => DataType::Struct(s.fields.iter().map(|f| field(f, Depth::Nested)).collect()),
        Type::List(l) => DataType::List(field(&l.element, Depth::Nested)),
        Type::Map(m) => {
            let entries = vec![field(&m.key, Depth::Nested), field(&m.value, Depth::Nested)];
            let entries = Field::new("key_value", DataType::Struct(entries.into()), false);
            DataType::Map(Arc::new(entries), false)
        }
        Type::Variant => variant_type(),
    }
}

fn primitive(p: &PrimitiveType, depth: Depth) -> DataType {
    match p {
        PrimitiveType::Boolean => DataType::Boolean,
        PrimitiveType::Int => DataType::Int32,
        PrimitiveType::Long => DataType::Int64,
        PrimitiveType::Float => DataType::Float32,
        PrimitiveType::Double => DataType::Float64,
        PrimitiveType::Decimal { precision, scale } => DataType::Decimal128(*precision, *scale as i8),
        PrimitiveType::Date => DataType::Date32,
        PrimitiveType::Time => DataType::Time64(TimeUnit::Microsecond),
        PrimitiveType::Timestamp => DataType::Timestamp(TimeUnit::Microsecond, None),
        PrimitiveType::Timestamptz => DataType::Timestamp(TimeUnit::Microsecond, Some(UTC.into())),
        PrimitiveType::TimestampNs => DataType::Timestamp(TimeUnit::Nanosecond, None),
        PrimitiveType::TimestamptzNs => DataType::Timestamp(TimeUnit::Nanosecond, Some(UTC.into())),
        PrimitiveType::String if depth == Depth::Top => DataType::Utf8View,
        PrimitiveType::String => DataType::Utf8,
        PrimitiveType::Uuid => DataType::FixedSizeBinary(16),
        PrimitiveType::Fixed(len) => DataType::FixedSizeBinary(i32::try_from(*len).unwrap_or(i32::MAX)),
        PrimitiveType::Unknown => DataType::Null,
        PrimitiveType::Binary | PrimitiveType::Geometry { .. } | PrimitiveType::Geography { .. } => match depth {
            Depth::Top => DataType::BinaryView,
            Depth::Nested => DataType::Binary,
        },
    }
}

/// Iceberg columns for an Arrow schema, as CREATE TABLE AS SELECT makes them. Ids are given in order of appearance
/// from 1; a new table assigns its own anyway.
///
/// # Errors
/// `Unsupported` naming the column, for Arrow types that Iceberg has no type for.
pub fn arrow_to_struct(schema: &ArrowSchema) -> Result<StructType> {
    let mut ids = Ids(0);
    let fields: Result<Vec<_>> = schema.fields().iter().map(|f| ids.field(f, f.name())).collect();
    Ok(StructType { fields: fields? })
}

struct Ids(FieldId);

impl Ids {
    fn next(&mut self) -> FieldId {
        self.0 = self.0.saturating_add(1);
        self.0
    }

    fn field(&mut self, arrow: &Field, name: &str) -> Result<NestedFieldRef> {
        let id = self.next();
        let field_type = self.field_type(arrow, name)?;
        let mut field = if arrow.is_nullable() {
            NestedField::optional(id, name, field_type)
        } else {
            NestedField::required(id, name, field_type)
        };
        field.doc = arrow.metadata().get(COMMENT_KEY).cloned();
        Ok(Arc::new(field))
    }

    fn field_type(&mut self, arrow: &Field, name: &str) -> Result<Type> {
        Ok(match arrow.data_type() {
            DataType::Struct(fields) => {
                let fields: Result<Vec<_>> = fields.iter().map(|f| self.field(f, f.name())).collect();
                Type::Struct(StructType { fields: fields? })
            }
            DataType::List(e) | DataType::LargeList(e) | DataType::ListView(e) | DataType::FixedSizeList(e, _) => {
                Type::List(ListType {
                    element: self.field(e, "element")?,
                })
            }
            DataType::Map(entries, _) => match entries.data_type() {
                DataType::Struct(kv) if kv.len() == 2 => Type::Map(MapType {
                    key: self.field(&kv[0].as_ref().clone().with_nullable(false), "key")?,
                    value: self.field(&kv[1], "value")?,
                }),
                other => return Err(no_type(name, other)),
            },
            DataType::Dictionary(_, values) => {
                return self.field_type(&Field::new(name, values.as_ref().clone(), true), name);
            }
            DataType::FixedSizeBinary(16)
                if arrow.metadata().get(EXTENSION_NAME_KEY).map(String::as_str) == Some("arrow.uuid") =>
            {
                PrimitiveType::Uuid.into()
            }
            other => primitive_from_arrow(other).ok_or_else(|| no_type(name, other))?.into(),
        })
    }
}

fn no_type(name: &str, data_type: &DataType) -> Error {
    Error::unsupported(format!(
        "column '{name}' has type {data_type}, which Iceberg cannot store; cast it to another type"
    ))
}

fn primitive_from_arrow(data_type: &DataType) -> Option<PrimitiveType> {
    Some(match data_type {
        DataType::Boolean => PrimitiveType::Boolean,
        DataType::Int8 | DataType::Int16 | DataType::Int32 | DataType::UInt8 | DataType::UInt16 => PrimitiveType::Int,
        DataType::Int64 | DataType::UInt32 | DataType::UInt64 => PrimitiveType::Long,
        DataType::Float16 | DataType::Float32 => PrimitiveType::Float,
        DataType::Float64 => PrimitiveType::Double,
        DataType::Decimal32(p, s) | DataType::Decimal64(p, s) | DataType::Decimal128(p, s) if *s >= 0 && *p <= 38 => {
            PrimitiveType::Decimal {
                precision: *p,
                scale: *s as u8,
            }
        }
        DataType::Date32 | DataType::Date64 => PrimitiveType::Date,
        DataType::Time32(_) | DataType::Time64(_) => PrimitiveType::Time,
        DataType::Timestamp(TimeUnit::Nanosecond, None) => PrimitiveType::TimestampNs,
        DataType::Timestamp(TimeUnit::Nanosecond, Some(_)) => PrimitiveType::TimestamptzNs,
        DataType::Timestamp(_, None) => PrimitiveType::Timestamp,
        DataType::Timestamp(_, Some(_)) => PrimitiveType::Timestamptz,
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => PrimitiveType::String,
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => PrimitiveType::Binary,
        DataType::FixedSizeBinary(len) => PrimitiveType::Fixed(u32::try_from(*len).ok()?),
        DataType::Null => PrimitiveType::Unknown,
        _ => return None,
    })
}
