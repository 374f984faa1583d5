//! Columns as ORC files store them, with the attributes by which Iceberg's readers know them (Java: `ORCSchemaUtil`).

use arrow::datatypes::{DataType, TimeUnit};
use tarn_format::spec::schema::Schema;
use tarn_format::spec::types::{FieldId, NestedField, PrimitiveType, Type};
use tarn_format::{Error, Result};

use crate::arrow::schema::UTC;
use crate::scan::orc::protobuf::{put_bytes, put_number};
use crate::scan::orc::types::{BINARY_TYPE, FIXED_LENGTH, ID, LONG_TYPE, REQUIRED, TIMESTAMP_UNIT};

/// A column of a file.
#[derive(Debug, Clone)]
pub(super) struct OrcColumn {
    pub(super) id: FieldId,
    pub(super) name: String,
    pub(super) primitive: PrimitiveType,
    /// What the encoder is given.
    pub(super) stored: DataType,
    /// The type's message.
    pub(super) message: Vec<u8>,
}

/// The columns of `schema` that are stored, in its order: those that are always null are not.
///
/// # Errors
/// `Unsupported` for types that cannot be written, naming the column.
pub(super) fn columns(schema: &Schema) -> Result<Vec<OrcColumn>> {
    let fields = schema.fields().iter();
    let columns = fields.map(|field| match &field.field_type {
        Type::Primitive(PrimitiveType::Unknown) => Ok(None),
        Type::Primitive(primitive) => column(field, primitive).map(Some),
        _ => Err(refused(field)),
    });
    columns.filter_map(Result::transpose).collect()
}

/// The message of the struct that all columns are in.
pub(super) fn root_message(columns: &[OrcColumn]) -> Vec<u8> {
    const STRUCT: u64 = 12;
    let mut message = Vec::new();
    put_number(&mut message, 1, STRUCT);
    (1..=columns.len()).for_each(|place| put_number(&mut message, 2, place as u64));
    columns
        .iter()
        .for_each(|column| put_bytes(&mut message, 3, column.name.as_bytes()));
    message
}

fn column(field: &NestedField, primitive: &PrimitiveType) -> Result<OrcColumn> {
    use PrimitiveType as P;
    let timestamp = |unit, zone: Option<&str>| DataType::Timestamp(unit, zone.map(Into::into));
    let micros = Some((TIMESTAMP_UNIT, "MICROS".to_string()));
    let nanos = Some((TIMESTAMP_UNIT, "NANOS".to_string()));
    let binary = |kind: &str| Some((BINARY_TYPE, kind.to_string()));
    let long = |kind: &str| Some((LONG_TYPE, kind.to_string()));
    let (kind, stored, attribute) = match primitive {
        P::Boolean => (0, DataType::Boolean, None),
        P::Int => (3, DataType::Int32, None),
        P::Long => (4, DataType::Int64, long("LONG")),
        P::Time => (4, DataType::Int64, long("TIME")),
        P::Float => (5, DataType::Float32, None),
        P::Double => (6, DataType::Float64, None),
        P::String => (7, DataType::Utf8, None),
        P::Uuid => (8, DataType::Binary, binary("UUID")),
        P::Fixed(_) => (8, DataType::Binary, binary("FIXED")),
        P::Binary => (8, DataType::Binary, binary("BINARY")),
        P::Timestamp => (9, timestamp(TimeUnit::Microsecond, None), micros),
        P::TimestampNs => (9, timestamp(TimeUnit::Nanosecond, None), nanos),
        P::Date => (15, DataType::Date32, None),
        P::Timestamptz => (18, timestamp(TimeUnit::Microsecond, Some(UTC)), micros),
        P::TimestamptzNs => (18, timestamp(TimeUnit::Nanosecond, Some(UTC)), nanos),
        P::Decimal { .. } | P::Geometry { .. } | P::Geography { .. } | P::Unknown => return Err(refused(field)),
    };
    let length = match primitive {
        P::Fixed(len) => Some((FIXED_LENGTH, len.to_string())),
        _ => None,
    };
    let mut message = Vec::new();
    put_number(&mut message, 1, kind);
    let own = [(ID, field.id.to_string()), (REQUIRED, field.required.to_string())];
    for (key, value) in attribute.into_iter().chain(length).chain(own) {
        let mut pair = Vec::new();
        put_bytes(&mut pair, 1, key.as_bytes());
        put_bytes(&mut pair, 2, value.as_bytes());
        put_bytes(&mut message, 7, &pair);
    }
    Ok(OrcColumn {
        id: field.id,
        name: field.name.clone(),
        primitive: primitive.clone(),
        stored,
        message,
    })
}

fn refused(field: &NestedField) -> Error {
    Error::unsupported(format!(
        "column '{}' of type {} cannot be written to ORC files yet: write Parquet or Avro (property 'write.format.default')",
        field.name, field.field_type
    ))
}
