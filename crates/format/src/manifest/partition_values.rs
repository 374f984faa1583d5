//! Partition tuples in Avro: read by the writer's types, brought to the types of the spec.

use std::borrow::Cow;
use std::sync::Arc;

use super::avro::cursor::{Cursor, Malformed};
use super::avro::encoder::Encoder;
use super::avro::schema::{AvroField, AvroSchema, AvroType, Logical, Zone};
use super::data_file::PartitionTuple;
use super::write_schema::decimal_size;
use crate::error::{Error, Result};
use crate::spec::types::{PrimitiveType, StructType, Type};
use crate::spec::value::Value;

/// How the partition record of one manifest becomes tuples.
#[derive(Debug)]
pub(super) struct PartitionPlan {
    fields: Vec<FieldPlan>,
    width: usize,
}

#[derive(Debug)]
struct FieldPlan {
    null_branch: Option<u8>,
    schema: Arc<AvroSchema>,
    /// Place in the tuple; `None` when the spec does not have the field.
    place: Option<usize>,
    /// The spec's type; `None` keeps the writer's.
    target: Option<PrimitiveType>,
}

impl PartitionPlan {
    /// Matches the writer's fields with those of `partition_type`; without one the tuple has the writer's fields.
    ///
    /// # Errors
    /// `Corrupt` when a partition field is not primitive.
    pub(super) fn compile(fields: &[AvroField], partition_type: Option<&StructType>) -> Result<Self> {
        let places = places(fields, partition_type);
        let mut plans = Vec::with_capacity(fields.len());
        for (field, place) in fields.iter().zip(places) {
            let nullable = field.schema.nullable().filter(|n| is_primitive(&n.schema.avro_type));
            let nullable = nullable.ok_or_else(|| {
                Error::corrupt(format!(
                    "the manifest's partition field '{}' is not primitive",
                    field.name
                ))
            })?;
            let target = place.and_then(|p| partition_type?.fields.get(p)).map(|f| &f.field_type);
            plans.push(FieldPlan {
                null_branch: nullable.null_branch,
                schema: Arc::clone(nullable.schema),
                place,
                target: target.and_then(Type::as_primitive).cloned(),
            });
        }
        Ok(PartitionPlan {
            fields: plans,
            width: partition_type.map_or(fields.len(), |t| t.fields.len()),
        })
    }

    /// The tuple of entries without a partition record: all null.
    pub(super) fn empty(&self) -> PartitionTuple {
        PartitionTuple(vec![None; self.width])
    }

    /// Decodes one record.
    pub(super) fn decode(&self, cursor: &mut Cursor<'_>) -> Result<PartitionTuple, Malformed> {
        let mut tuple = vec![None; self.width];
        for field in &self.fields {
            if let Some(null_branch) = field.null_branch {
                match cursor.long()? {
                    branch if branch == i64::from(null_branch) => continue,
                    0 | 1 => {}
                    _ => return Err(Malformed::Branch),
                }
            }
            let value = decode(cursor, &field.schema)?;
            if let Some(place) = field.place.and_then(|p| tuple.get_mut(p)) {
                *place = value.map(|v| match &field.target {
                    Some(target) => convert(v, field.schema.logical, target),
                    None => v,
                });
            }
        }
        cursor.check()?;
        Ok(PartitionTuple(tuple))
    }
}

/// The place of each of the writer's fields: by id, else by name, and where no name is known at all, by position.
fn places(fields: &[AvroField], partition_type: Option<&StructType>) -> Vec<Option<usize>> {
    let Some(partition_type) = partition_type else {
        return (0..fields.len()).map(Some).collect();
    };
    let wanted = &partition_type.fields;
    let by_id = |f: &AvroField| match f.field_id {
        Some(id) => wanted.iter().position(|w| w.id == id),
        None => wanted.iter().position(|w| f.is_named(&w.name)),
    };
    let mut places: Vec<Option<usize>> = fields.iter().map(by_id).collect();
    let is_unknown = fields.iter().all(|f| f.field_id.is_none()) && places.iter().all(Option::is_none);
    if is_unknown && fields.len() == wanted.len() {
        return (0..fields.len()).map(Some).collect();
    }
    // A v1 writer may number the fields afresh in every spec: what has no id match may still match by name.
    for (i, field) in fields.iter().enumerate() {
        let by_name = wanted.iter().position(|w| field.is_named(&w.name));
        let is_free = by_name.is_some() && !places.contains(&by_name);
        if let Some(slot) = places.get_mut(i).filter(|slot| slot.is_none() && is_free) {
            *slot = by_name;
        }
    }
    places
}

/// The types in which the writer's fields are decoded where no other is asked for, by place in `partition_type`. `None`
/// for a field that the writer does not have, or that is always null.
pub(super) fn written_types(fields: &[AvroField], partition_type: &StructType) -> Vec<Option<PrimitiveType>> {
    let mut types = vec![None; partition_type.fields.len()];
    for (field, place) in fields.iter().zip(places(fields, Some(partition_type))) {
        if let Some(slot) = place.and_then(|p| types.get_mut(p)) {
            *slot = field.schema.nullable().and_then(|n| written_type(n.schema));
        }
    }
    types
}

fn written_type(schema: &AvroSchema) -> Option<PrimitiveType> {
    use PrimitiveType as T;
    Some(match (&schema.avro_type, schema.logical) {
        (AvroType::Boolean, _) => T::Boolean,
        (AvroType::Int, Logical::Date) => T::Date,
        (AvroType::Int, Logical::TimeMillis) | (AvroType::Long, Logical::TimeMicros) => T::Time,
        (AvroType::Int, _) => T::Int,
        (AvroType::Long, Logical::TimestampMillis(Zone::None) | Logical::TimestampMicros(Zone::None)) => T::Timestamp,
        (AvroType::Long, Logical::TimestampMillis(Zone::Utc) | Logical::TimestampMicros(Zone::Utc)) => T::Timestamptz,
        (AvroType::Long, Logical::TimestampNanos(Zone::None)) => T::TimestampNs,
        (AvroType::Long, Logical::TimestampNanos(Zone::Utc)) => T::TimestamptzNs,
        (AvroType::Long, _) => T::Long,
        (AvroType::Float, _) => T::Float,
        (AvroType::Double, _) => T::Double,
        (AvroType::String, _) => T::String,
        (AvroType::Bytes | AvroType::Fixed(_), Logical::Decimal { precision, scale }) => {
            T::Decimal { precision, scale }
        }
        (AvroType::Bytes, _) => T::Binary,
        (AvroType::Fixed(16), Logical::Uuid) => T::Uuid,
        (AvroType::Fixed(len), _) => T::Fixed(u32::try_from(*len).ok()?),
        _ => return None,
    })
}

fn is_primitive(avro_type: &AvroType) -> bool {
    !matches!(
        avro_type,
        AvroType::Array(_) | AvroType::Map(_) | AvroType::Union(_) | AvroType::Record(_) | AvroType::Enum
    )
}

/// The value in the writer's own type; milliseconds become microseconds.
fn decode(cursor: &mut Cursor<'_>, schema: &AvroSchema) -> Result<Option<Value>, Malformed> {
    let logical = schema.logical;
    let value = match &schema.avro_type {
        AvroType::Boolean => Value::Boolean(cursor.boolean()?),
        AvroType::Int if logical == Logical::TimeMillis => Value::Long(i64::from(cursor.int()?) * 1000),
        AvroType::Int => Value::Int(cursor.int()?),
        AvroType::Long if matches!(logical, Logical::TimestampMillis(_)) => {
            Value::Long(cursor.long()?.saturating_mul(1000))
        }
        AvroType::Long => Value::Long(cursor.long()?),
        AvroType::Float => Value::Float(f32::from_le_bytes(array(cursor.take(4)?)?)),
        AvroType::Double => Value::Double(f64::from_le_bytes(array(cursor.take(8)?)?)),
        AvroType::String => Value::string(cursor.string()?),
        AvroType::Bytes => binary(cursor.bytes()?, logical)?,
        AvroType::Fixed(size) => binary(cursor.take(*size)?, logical)?,
        _ => return Ok(None),
    };
    Ok(Some(value))
}

fn array<const N: usize>(bytes: &[u8]) -> Result<[u8; N], Malformed> {
    bytes.try_into().map_err(|_| Malformed::Truncated)
}

fn binary(bytes: &[u8], logical: Logical) -> Result<Value, Malformed> {
    match logical {
        Logical::Decimal { .. } => Ok(Value::Decimal(decimal(bytes).ok_or(Malformed::Range)?)),
        Logical::Uuid if bytes.len() == 16 => Ok(Value::Uuid(array(bytes)?)),
        _ => Ok(Value::binary(bytes)),
    }
}

/// Big-endian two's complement of any length that fits 128 bits.
fn decimal(bytes: &[u8]) -> Option<i128> {
    let sign = if bytes.first().is_some_and(|b| b & 0x80 != 0) {
        0xff
    } else {
        0
    };
    let (head, tail) = bytes.split_at(bytes.len().saturating_sub(16));
    let fits =
        head.iter().all(|b| *b == sign) && (head.is_empty() || tail.first().is_some_and(|b| (b ^ sign) & 0x80 == 0));
    let mut wide = [sign; 16];
    wide.get_mut(16 - tail.len()..)?.copy_from_slice(tail);
    fits.then_some(i128::from_be_bytes(wide))
}

const MICROS_PER_DAY: i64 = 86_400_000_000;

/// Brings a value to the spec's type, when the column was promoted or the writer chose another physical type.
/// What cannot be brought there is kept as it is: it still tells partitions apart.
fn convert(value: Value, logical: Logical, target: &PrimitiveType) -> Value {
    use PrimitiveType as T;
    match (value, target) {
        (Value::Int(days), T::Timestamp | T::Timestamptz) if logical == Logical::Date => {
            let micros = i64::from(days).checked_mul(MICROS_PER_DAY);
            micros.map_or(Value::Int(days), Value::Long)
        }
        (Value::Int(days), T::TimestampNs | T::TimestamptzNs) if logical == Logical::Date => {
            let nanos = i64::from(days).checked_mul(MICROS_PER_DAY * 1000);
            nanos.map_or(Value::Int(days), Value::Long)
        }
        (Value::Int(v), T::Long | T::Time | T::Timestamp | T::Timestamptz | T::TimestampNs | T::TimestamptzNs) => {
            Value::Long(i64::from(v))
        }
        (Value::Long(v), T::Int | T::Date) => i32::try_from(v).map_or(Value::Long(v), Value::Int),
        (Value::Float(v), T::Double) => Value::Double(f64::from(v)),
        (Value::Int(v), T::Decimal { .. }) => Value::Decimal(i128::from(v)),
        (Value::Long(v), T::Decimal { .. }) => Value::Decimal(i128::from(v)),
        (Value::Binary(b), T::Decimal { .. }) => decimal(&b).map_or(Value::Binary(b), Value::Decimal),
        (Value::Binary(b), T::Uuid) => <[u8; 16]>::try_from(&b[..]).map_or(Value::Binary(b), Value::Uuid),
        (Value::Binary(b), T::String) => match std::str::from_utf8(&b) {
            Ok(text) => Value::string(text),
            Err(_) => Value::Binary(b),
        },
        (Value::String(s), T::Uuid) => match uuid::Uuid::parse_str(&s) {
            Ok(uuid) => Value::Uuid(*uuid.as_bytes()),
            Err(_) => Value::String(s),
        },
        (Value::String(s), T::Binary | T::Fixed(_)) => Value::binary(s.as_bytes()),
        (Value::Uuid(u), T::Binary | T::Fixed(_)) => Value::binary(u),
        (value, _) => value,
    }
}

/// The tuple with the values of promoted columns in the types of `partition_type`. What is of another type stays.
pub(super) fn widened<'a>(tuple: &'a PartitionTuple, partition_type: &StructType) -> Cow<'a, PartitionTuple> {
    let fields = || partition_type.fields.iter().map(|f| f.field_type.as_primitive());
    let widen = |value: &Option<Value>, primitive: Option<&PrimitiveType>| widen(value.as_ref()?, primitive?);
    if !tuple.0.iter().zip(fields()).any(|(v, p)| widen(v, p).is_some()) {
        return Cow::Borrowed(tuple);
    }
    let mut wide = tuple.clone();
    for (value, primitive) in wide.0.iter_mut().zip(fields()) {
        if let Some(widened) = widen(value, primitive) {
            *value = Some(widened);
        }
    }
    Cow::Owned(wide)
}

/// `None` when the value is good as it is, or never will be.
fn widen(value: &Value, primitive: &PrimitiveType) -> Option<Value> {
    use PrimitiveType as T;
    match (value, primitive) {
        (Value::Int(v), T::Long) => Some(Value::Long(i64::from(*v))),
        (Value::Float(v), T::Double) => Some(Value::Double(f64::from(*v))),
        (Value::Binary(v), T::String) => std::str::from_utf8(v).ok().map(Value::string),
        (Value::String(v), T::Binary) => Some(Value::binary(v.as_bytes())),
        _ => None,
    }
}

/// Writes a tuple in the order and types of `partition_type`. Missing values are null.
///
/// # Errors
/// `InvalidInput` when a value is not of its field's type; none is of type unknown.
pub(super) fn encode(e: &mut Encoder, tuple: &PartitionTuple, partition_type: &StructType) -> Result<()> {
    if tuple.0.len() > partition_type.fields.len() {
        return Err(Error::invalid(
            "a partition tuple has more values than its spec has fields",
        ));
    }
    for (i, field) in partition_type.fields.iter().enumerate() {
        let value = tuple.0.get(i).and_then(Option::as_ref);
        let primitive = field.field_type.as_primitive();
        match (value, primitive) {
            (Some(_), None | Some(PrimitiveType::Unknown)) => {
                return Err(Error::invalid(format!(
                    "partition field '{}' has a value, but its type is not known",
                    field.name
                )));
            }
            // Written as Avro's null, which has no bytes.
            (None, None | Some(PrimitiveType::Unknown)) => {}
            (Some(value), Some(primitive)) => {
                e.long(1);
                encode_value(e, value, primitive).ok_or_else(|| {
                    Error::invalid(format!(
                        "partition field '{}' has a value that is not {primitive}",
                        field.name
                    ))
                })?;
            }
            _ => e.long(0),
        }
    }
    Ok(())
}

fn encode_value(e: &mut Encoder, value: &Value, primitive: &PrimitiveType) -> Option<()> {
    use PrimitiveType as T;
    match (value, primitive) {
        (Value::Boolean(v), T::Boolean) => e.boolean(*v),
        (Value::Int(v), T::Int | T::Date | T::Long) => e.long(i64::from(*v)),
        (Value::Long(v), T::Long | T::Time | T::Timestamp | T::Timestamptz | T::TimestampNs | T::TimestamptzNs) => {
            e.long(*v)
        }
        (Value::Float(v), T::Float) => e.raw(&v.to_le_bytes()),
        (Value::Float(v), T::Double) => e.raw(&f64::from(*v).to_le_bytes()),
        (Value::Double(v), T::Double) => e.raw(&v.to_le_bytes()),
        (Value::Decimal(v), T::Decimal { precision, .. }) => {
            let bytes = v.to_be_bytes();
            let (head, tail) = bytes.split_at_checked(16_usize.checked_sub(decimal_size(*precision))?)?;
            let sign = if *v < 0 { 0xff } else { 0 };
            let fits = head.iter().all(|b| *b == sign) && tail.first().is_some_and(|b| (b ^ sign) & 0x80 == 0);
            fits.then(|| e.raw(tail))?;
        }
        (Value::String(v), T::String) => e.sized(v.as_bytes()),
        (Value::Uuid(v), T::Uuid) => e.raw(v),
        (Value::Binary(v), T::Fixed(len)) => (v.len() == *len as usize).then(|| e.raw(v))?,
        (Value::Binary(v), T::Binary | T::Geometry { .. } | T::Geography { .. }) => e.sized(v),
        _ => return None,
    }
    Some(())
}
