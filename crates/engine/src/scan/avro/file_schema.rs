//! Avro schemas as Arrow schemas with field ids.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::datatypes::{
    DataType, Field, FieldRef, Fields, Schema as ArrowSchema, SchemaRef as ArrowSchemaRef, TimeUnit,
};
use tarn_format::manifest::avro::schema::{AvroField, AvroSchema, AvroType, Logical, Zone};
use tarn_format::spec::types::FieldId;
use tarn_format::{Error, Result};

use crate::arrow::schema::{FIELD_ID_KEY, UTC};

/// The Arrow schema of a file's records.
///
/// # Errors
/// `Corrupt` when it does not hold records, `Unsupported` for types that Iceberg does not have.
pub(super) fn schema(avro: &AvroSchema) -> Result<ArrowSchemaRef> {
    let fields = avro.record_fields();
    let fields = fields.ok_or_else(|| Error::corrupt("the Avro file holds no records"))?;
    Ok(Arc::new(ArrowSchema::new(record(fields)?)))
}

fn record(fields: &[AvroField]) -> Result<Fields> {
    let field_of = |f: &AvroField| {
        let name = f.original_name.as_deref().unwrap_or(&f.name);
        field(name, f.field_id, &f.schema)
    };
    fields.iter().map(field_of).collect()
}

/// The field of a type that may be null.
fn field(name: &str, id: Option<FieldId>, schema: &Arc<AvroSchema>) -> Result<FieldRef> {
    let Some(nullable) = schema.nullable() else {
        return Err(Error::unsupported(format!(
            "'{name}' in the Avro file is a union of several types"
        )));
    };
    let is_null = nullable.schema.avro_type == AvroType::Null;
    let own = Field::new(
        name,
        data_type(name, nullable.schema)?,
        nullable.null_branch.is_some() || is_null,
    );
    let id = id.map(|id| (FIELD_ID_KEY.to_string(), id.to_string()));
    Ok(Arc::new(own.with_metadata(HashMap::from_iter(id))))
}

fn data_type(name: &str, schema: &AvroSchema) -> Result<DataType> {
    Ok(match (&schema.avro_type, schema.logical) {
        (AvroType::Null, _) => DataType::Null,
        (AvroType::Boolean, _) => DataType::Boolean,
        (AvroType::Int, Logical::Date) => DataType::Date32,
        (AvroType::Int, Logical::TimeMillis) | (AvroType::Long, Logical::TimeMicros) => {
            DataType::Time64(TimeUnit::Microsecond)
        }
        (AvroType::Int, _) => DataType::Int32,
        (AvroType::Long, Logical::TimestampMillis(zone) | Logical::TimestampMicros(zone)) => {
            timestamp(TimeUnit::Microsecond, zone)
        }
        (AvroType::Long, Logical::TimestampNanos(zone)) => timestamp(TimeUnit::Nanosecond, zone),
        (AvroType::Long, _) => DataType::Int64,
        (AvroType::Float, _) => DataType::Float32,
        (AvroType::Double, _) => DataType::Float64,
        (AvroType::Bytes | AvroType::Fixed(_), Logical::Decimal { precision, scale }) => {
            decimal(name, precision, scale)?
        }
        (AvroType::String, Logical::Uuid) => DataType::FixedSizeBinary(16),
        (AvroType::String, _) => DataType::Utf8,
        (AvroType::Bytes, _) => DataType::Binary,
        (AvroType::Fixed(size), _) => {
            let size =
                i32::try_from(*size).map_err(|_| Error::corrupt(format!("'{name}' is a fixed of {size} bytes")))?;
            DataType::FixedSizeBinary(size)
        }
        (AvroType::Enum | AvroType::Union(_), _) => {
            return Err(Error::unsupported(format!(
                "'{name}' in the Avro file is of a type that Iceberg does not have"
            )));
        }
        (AvroType::Record(fields), _) => DataType::Struct(record(fields)?),
        // Maps whose keys are no strings are arrays of their entries.
        (AvroType::Array(entries), Logical::Map) => match &entries.avro_type {
            AvroType::Record(pair) if pair.len() == 2 => map(record(pair)?),
            _ => {
                return Err(Error::corrupt(format!(
                    "'{name}' in the Avro file is a map without pairs"
                )));
            }
        },
        (AvroType::Array(items), _) => DataType::List(field("element", schema.ids.element, items)?),
        (AvroType::Map(values), _) => {
            let key = Field::new("key", DataType::Utf8, false);
            let id = schema.ids.key.map(|id| (FIELD_ID_KEY.to_string(), id.to_string()));
            let key = Arc::new(key.with_metadata(HashMap::from_iter(id)));
            map(Fields::from(vec![key, field("value", schema.ids.value, values)?]))
        }
    })
}

fn map(pair: Fields) -> DataType {
    let entries = Field::new("key_value", DataType::Struct(pair), false);
    DataType::Map(Arc::new(entries), false)
}

fn timestamp(unit: TimeUnit, zone: Zone) -> DataType {
    let zone = match zone {
        Zone::Utc => Some(Arc::from(UTC)),
        Zone::None => None,
    };
    DataType::Timestamp(unit, zone)
}

fn decimal(name: &str, precision: u8, scale: u8) -> Result<DataType> {
    if !(1..=38).contains(&precision) || scale > precision {
        return Err(Error::corrupt(format!(
            "'{name}' in the Avro file is decimal({precision}, {scale})"
        )));
    }
    Ok(DataType::Decimal128(precision, scale as i8))
}
