//! Timestamps with a zone in the session's zone. The instant stays; functions of date and time see the session's clock.

use std::sync::Arc;

use arrow::datatypes::{DataType, Field, FieldRef, Fields, Schema, SchemaRef};

use super::schema::UTC;

/// The schema with every timestamp that has a zone in this one, at every depth.
pub fn in_zone(schema: &SchemaRef, zone: &Arc<str>) -> SchemaRef {
    if zone.as_ref() == UTC {
        return Arc::clone(schema);
    }
    let fields = in_zone_fields(schema.fields(), zone);
    Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()))
}

fn in_zone_fields(fields: &Fields, zone: &Arc<str>) -> Fields {
    fields.iter().map(|f| in_zone_field(f, zone)).collect()
}

fn in_zone_field(field: &FieldRef, zone: &Arc<str>) -> FieldRef {
    let data_type = match field.data_type() {
        DataType::Timestamp(unit, Some(_)) => DataType::Timestamp(*unit, Some(Arc::clone(zone))),
        DataType::Struct(fields) => DataType::Struct(in_zone_fields(fields, zone)),
        DataType::List(element) => DataType::List(in_zone_field(element, zone)),
        DataType::Map(entries, sorted) => DataType::Map(in_zone_field(entries, zone), *sorted),
        _ => return Arc::clone(field),
    };
    Arc::new(Field::clone(field).with_data_type(data_type))
}

#[cfg(test)]
mod tests {
    use arrow::datatypes::TimeUnit;

    use super::*;

    #[test]
    fn only_timestamps_with_a_zone_change() {
        let zoned = |zone: &str| DataType::Timestamp(TimeUnit::Microsecond, Some(zone.into()));
        let plain = DataType::Timestamp(TimeUnit::Microsecond, None);
        let schema = |zone: &str| -> SchemaRef {
            let inner = vec![
                Field::new("a", zoned(zone), true),
                Field::new("b", plain.clone(), false),
            ];
            let list = Field::new("element", DataType::Struct(inner.into()), true);
            Arc::new(Schema::new(vec![
                Field::new("t", zoned(zone), false),
                Field::new("l", DataType::List(Arc::new(list)), true),
            ]))
        };
        assert_eq!(in_zone(&schema(UTC), &Arc::from("Europe/Oslo")), schema("Europe/Oslo"));
        assert_eq!(in_zone(&schema(UTC), &Arc::from(UTC)), schema(UTC));
    }
}
