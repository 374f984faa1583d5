//! Iceberg schemas as Avro schemas, as Java's `TypeToSchema` makes them: field ids at every level, names that Avro accepts,
//! maps whose keys are no text as arrays of pairs. Columns of type `unknown` are not stored.

use std::collections::HashSet;

use serde_json::{Value as Json, json};
use tarn_format::manifest::avro::schema::sanitize;
use tarn_format::spec::schema::Schema;
use tarn_format::spec::types::{FieldId, ListType, MapType, NestedField, NestedFieldRef, PrimitiveType, Type};
use tarn_format::{Error, Result};

use super::parquet_schema::{decimal_bytes, is_stored};

/// The Avro schema of a table's data files.
///
/// # Errors
/// `Unsupported` when nothing would be stored, and for types that are not written in Avro.
pub(super) fn schema_to_avro(schema: &Schema) -> Result<Json> {
    let fields = Names::default().fields(schema.fields())?;
    if fields.is_empty() {
        return Err(Error::unsupported("the table has no column that Avro can store"));
    }
    Ok(json!({"type": "record", "name": "table", "fields": fields}))
}

/// Names of types that were defined: Avro defines a type once.
#[derive(Default)]
struct Names(HashSet<String>);

impl Names {
    /// The definition at first, then the name.
    fn once(&mut self, name: String, definition: impl FnOnce(&str) -> Json) -> Json {
        let definition = definition(&name);
        match self.0.insert(name.clone()) {
            true => definition,
            false => Json::String(name),
        }
    }

    fn fields(&mut self, fields: &[NestedFieldRef]) -> Result<Vec<Json>> {
        let stored = fields.iter().filter(|f| is_stored(&f.field_type));
        stored.map(|f| self.field(f, &f.name)).collect()
    }

    fn field(&mut self, field: &NestedField, name: &str) -> Result<Json> {
        let accepted = sanitize(name);
        let mut json = json!({"name": accepted, "type": self.optional(field)?, "field-id": field.id});
        if let Json::Object(object) = &mut json {
            if !field.required {
                object.insert("default".to_string(), Json::Null);
            }
            if let Some(doc) = &field.doc {
                object.insert("doc".to_string(), json!(doc));
            }
            if accepted != name {
                object.insert("iceberg-field-name".to_string(), json!(name));
            }
        }
        Ok(json)
    }

    /// The type of a field, in a union with null where it may be null.
    fn optional(&mut self, field: &NestedField) -> Result<Json> {
        let own = self.of_type(field.id, &field.field_type)?;
        Ok(match field.required {
            true => own,
            false => json!(["null", own]),
        })
    }

    fn of_type(&mut self, id: FieldId, field_type: &Type) -> Result<Json> {
        Ok(match field_type {
            Type::Primitive(p) => self.primitive(p),
            Type::Struct(s) => {
                let fields = self.fields(&s.fields)?;
                json!({"type": "record", "name": format!("r{id}"), "fields": fields})
            }
            Type::List(l) => self.list(l)?,
            Type::Map(m) => self.map(m)?,
            Type::Variant => return Err(Error::unsupported("variants are not written in Avro yet")),
        })
    }

    fn list(&mut self, list: &ListType) -> Result<Json> {
        let items = self.collected(&list.element)?;
        Ok(json!({"type": "array", "items": items, "element-id": list.element.id}))
    }

    fn map(&mut self, map: &MapType) -> Result<Json> {
        let (key, value) = (&map.key, &map.value);
        if key.field_type == Type::Primitive(PrimitiveType::String) {
            let values = self.collected(value)?;
            return Ok(json!({"type": "map", "values": values, "key-id": key.id, "value-id": value.id}));
        }
        if !is_stored(&key.field_type) || !is_stored(&value.field_type) {
            return Err(unknown_items());
        }
        let pair = [self.field(key, "key")?, self.field(value, "value")?];
        let name = format!("k{}_v{}", key.id, value.id);
        let items = json!({"type": "record", "name": name, "fields": pair});
        Ok(json!({"type": "array", "items": items, "logicalType": "map"}))
    }

    /// The element or value of a collection: there it must be stored.
    fn collected(&mut self, field: &NestedField) -> Result<Json> {
        match is_stored(&field.field_type) {
            true => self.optional(field),
            false => Err(unknown_items()),
        }
    }

    fn primitive(&mut self, p: &PrimitiveType) -> Json {
        let logical = |of: &str, logical: &str| json!({"type": of, "logicalType": logical});
        let timestamp =
            |logical: &str, utc: bool| json!({"type": "long", "logicalType": logical, "adjust-to-utc": utc});
        match p {
            PrimitiveType::Unknown => json!("null"),
            PrimitiveType::Boolean => json!("boolean"),
            PrimitiveType::Int => json!("int"),
            PrimitiveType::Long => json!("long"),
            PrimitiveType::Float => json!("float"),
            PrimitiveType::Double => json!("double"),
            PrimitiveType::Date => logical("int", "date"),
            PrimitiveType::Time => logical("long", "time-micros"),
            PrimitiveType::Timestamp => timestamp("timestamp-micros", false),
            PrimitiveType::Timestamptz => timestamp("timestamp-micros", true),
            PrimitiveType::TimestampNs => timestamp("timestamp-nanos", false),
            PrimitiveType::TimestamptzNs => timestamp("timestamp-nanos", true),
            PrimitiveType::String => json!("string"),
            PrimitiveType::Binary | PrimitiveType::Geometry { .. } | PrimitiveType::Geography { .. } => json!("bytes"),
            PrimitiveType::Uuid => self.once(
                "uuid_fixed".to_string(),
                |name| json!({"type": "fixed", "name": name, "size": 16, "logicalType": "uuid"}),
            ),
            PrimitiveType::Fixed(size) => self.once(
                format!("fixed_{size}"),
                |name| json!({"type": "fixed", "name": name, "size": size}),
            ),
            PrimitiveType::Decimal { precision, scale } => self.once(format!("decimal_{precision}_{scale}"), |name| {
                json!({"type": "fixed", "name": name, "size": decimal_bytes(*precision),
                        "logicalType": "decimal", "precision": precision, "scale": scale})
            }),
        }
    }
}

fn unknown_items() -> Error {
    Error::unsupported("collections of type unknown cannot be stored in Avro")
}
