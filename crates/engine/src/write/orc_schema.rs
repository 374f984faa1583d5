//! Columns as ORC files store them, with the attributes by which Iceberg's readers know them (Java: `ORCSchemaUtil`).

use arrow::datatypes::TimeUnit;
use tarn_format::spec::schema::Schema;
use tarn_format::spec::types::{FieldId, NestedField, PrimitiveType, Type};
use tarn_format::{Error, Result};

use super::parquet_schema::is_stored;
use crate::scan::orc::protobuf::{put_bytes, put_number};
use crate::scan::orc::types::{BINARY_TYPE, FIXED_LENGTH, ID, LONG_TYPE, REQUIRED, TIMESTAMP_UNIT};

/// A column of a file, at any depth.
#[derive(Debug, Clone)]
pub(super) struct OrcColumn {
    pub(super) id: FieldId,
    pub(super) name: String,
    pub(super) field_type: Type,
    /// How its values are encoded.
    pub(super) stored: Stored,
    /// The fields of a struct, the element of a list, key and value of a map.
    pub(super) children: Vec<OrcColumn>,
    /// What its type's message says beside kind and children.
    attributes: Vec<u8>,
}

/// What a column is encoded as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stored {
    Boolean,
    Integer,
    Float,
    Double,
    Text,
    Binary,
    Timestamp(TimeUnit),
    Decimal { scale: u8 },
    Struct,
    List,
    Map,
}

impl OrcColumn {
    /// The column and those below it.
    pub(super) fn types(&self) -> usize {
        1 + self.children.iter().map(OrcColumn::types).sum::<usize>()
    }

    /// Appends the messages of its type and of those below it. `place` is that of the type.
    fn append_messages(&self, place: u64, messages: &mut Vec<Vec<u8>>) {
        let mut message = Vec::new();
        put_number(&mut message, 1, self.kind());
        put_children(&mut message, &self.children, place);
        if self.stored == Stored::Struct {
            put_names(&mut message, &self.children);
        }
        message.extend_from_slice(&self.attributes);
        messages.push(message);
        append_children(&self.children, place, messages);
    }

    /// The type's number in a file (`Type.Kind`).
    fn kind(&self) -> u64 {
        use PrimitiveType as P;
        match (&self.stored, &self.field_type) {
            (Stored::Boolean, _) => 0,
            (Stored::Integer, Type::Primitive(P::Int)) => 3,
            (Stored::Integer, Type::Primitive(P::Date)) => 15,
            (Stored::Integer, _) => 4,
            (Stored::Float, _) => 5,
            (Stored::Double, _) => 6,
            (Stored::Text, _) => 7,
            (Stored::Binary, _) => 8,
            (Stored::Timestamp(_), Type::Primitive(P::Timestamptz | P::TimestamptzNs)) => 18,
            (Stored::Timestamp(_), _) => 9,
            (Stored::List, _) => 10,
            (Stored::Map, _) => 11,
            (Stored::Struct, _) => STRUCT,
            (Stored::Decimal { .. }, _) => 14,
        }
    }
}

const STRUCT: u64 = 12;

/// The columns of `schema` that are stored, in its order: those that are always null are not.
///
/// # Errors
/// `Unsupported` for types that cannot be written, naming the column.
pub(super) fn columns(schema: &Schema) -> Result<Vec<OrcColumn>> {
    let fields = schema.fields().iter().filter(|field| is_stored(&field.field_type));
    fields.map(|field| column(field)).collect()
}

/// The messages of all types: the struct that all columns are in first.
pub(super) fn type_messages(columns: &[OrcColumn]) -> Vec<Vec<u8>> {
    let mut root = Vec::new();
    put_number(&mut root, 1, STRUCT);
    put_children(&mut root, columns, 0);
    put_names(&mut root, columns);
    let mut messages = vec![root];
    append_children(columns, 0, &mut messages);
    messages
}

/// Places of the types right below the one at `parent`: a tree in the order of its nodes.
fn places(children: &[OrcColumn], parent: u64) -> impl Iterator<Item = u64> {
    children.iter().scan(parent + 1, |next, child| {
        let place = *next;
        *next += child.types() as u64;
        Some(place)
    })
}

fn put_children(message: &mut Vec<u8>, children: &[OrcColumn], parent: u64) {
    places(children, parent).for_each(|place| put_number(message, 2, place));
}

fn put_names(message: &mut Vec<u8>, children: &[OrcColumn]) {
    children
        .iter()
        .for_each(|child| put_bytes(message, 3, child.name.as_bytes()));
}

fn append_children(children: &[OrcColumn], parent: u64, messages: &mut Vec<Vec<u8>>) {
    let places = places(children, parent);
    children
        .iter()
        .zip(places)
        .for_each(|(child, place)| child.append_messages(place, messages));
}

fn column(field: &NestedField) -> Result<OrcColumn> {
    let (stored, children) = match &field.field_type {
        Type::Primitive(primitive) => (stored(primitive).ok_or_else(|| refused(field))?, Vec::new()),
        Type::Struct(fields) => {
            let fields = fields.fields.iter().filter(|child| is_stored(&child.field_type));
            (
                Stored::Struct,
                fields.map(|child| column(child)).collect::<Result<_>>()?,
            )
        }
        // What there is nothing of could be of any number.
        Type::List(list) if !is_stored(&list.element.field_type) => return Err(refused(field)),
        Type::Map(map) if !is_stored(&map.value.field_type) => return Err(refused(field)),
        Type::List(list) => (Stored::List, vec![column(&list.element)?]),
        Type::Map(map) => (Stored::Map, vec![column(&map.key)?, column(&map.value)?]),
        Type::Variant => return Err(refused(field)),
    };
    Ok(OrcColumn {
        id: field.id,
        name: field.name.clone(),
        field_type: field.field_type.clone(),
        stored,
        children,
        attributes: attributes(field),
    })
}

/// `None` for types that are not written.
fn stored(primitive: &PrimitiveType) -> Option<Stored> {
    use PrimitiveType as P;
    Some(match primitive {
        P::Boolean => Stored::Boolean,
        P::Int | P::Long | P::Time | P::Date => Stored::Integer,
        P::Float => Stored::Float,
        P::Double => Stored::Double,
        P::String => Stored::Text,
        P::Uuid | P::Fixed(_) | P::Binary => Stored::Binary,
        P::Timestamp | P::Timestamptz => Stored::Timestamp(TimeUnit::Microsecond),
        P::TimestampNs | P::TimestamptzNs => Stored::Timestamp(TimeUnit::Nanosecond),
        P::Decimal { scale, .. } => Stored::Decimal { scale: *scale },
        P::Geometry { .. } | P::Geography { .. } | P::Unknown => return None,
    })
}

fn attributes(field: &NestedField) -> Vec<u8> {
    use PrimitiveType as P;
    let mut message = Vec::new();
    let primitive = field.field_type.as_primitive();
    if let Some(P::Decimal { precision, scale }) = primitive {
        put_number(&mut message, 5, u64::from(*precision));
        put_number(&mut message, 6, u64::from(*scale));
    }
    let told = |key, value: &str| Some((key, value.to_string()));
    let attribute = match primitive {
        Some(P::Long) => told(LONG_TYPE, "LONG"),
        Some(P::Time) => told(LONG_TYPE, "TIME"),
        Some(P::Uuid) => told(BINARY_TYPE, "UUID"),
        Some(P::Fixed(_)) => told(BINARY_TYPE, "FIXED"),
        Some(P::Binary) => told(BINARY_TYPE, "BINARY"),
        Some(P::Timestamp | P::Timestamptz) => told(TIMESTAMP_UNIT, "MICROS"),
        Some(P::TimestampNs | P::TimestamptzNs) => told(TIMESTAMP_UNIT, "NANOS"),
        _ => None,
    };
    let length = match primitive {
        Some(P::Fixed(len)) => told(FIXED_LENGTH, &len.to_string()),
        _ => None,
    };
    let own = [(ID, field.id.to_string()), (REQUIRED, field.required.to_string())];
    for (key, value) in attribute.into_iter().chain(length).chain(own) {
        let mut pair = Vec::new();
        put_bytes(&mut pair, 1, key.as_bytes());
        put_bytes(&mut pair, 2, value.as_bytes());
        put_bytes(&mut message, 7, &pair);
    }
    message
}

fn refused(field: &NestedField) -> Error {
    Error::unsupported(format!(
        "column '{}' of type {} cannot be written to ORC files: write Parquet or Avro (property 'write.format.default')",
        field.name, field.field_type
    ))
}
