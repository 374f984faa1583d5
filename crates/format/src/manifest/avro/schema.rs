//! Writer schemas: Avro's JSON with the attributes that Iceberg adds.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Map as JsonMap, Value as Json};

use crate::error::{Error, Result};
use crate::spec::types::FieldId;

/// A type as written, with its logical type.
#[derive(Debug, Clone, PartialEq)]
pub struct AvroSchema {
    /// The physical type.
    pub avro_type: AvroType,
    /// What it stands for.
    pub logical: Logical,
    /// Ids of what an array or map holds.
    pub ids: ItemIds,
    /// How many types lie within each other here; bounded, so that everything may recurse over schemas.
    depth: usize,
}

/// Field ids that an array or map has for its items; absent in old files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ItemIds {
    /// `element-id` of an array.
    pub element: Option<FieldId>,
    /// `key-id` of a map.
    pub key: Option<FieldId>,
    /// `value-id` of a map.
    pub value: Option<FieldId>,
}

/// No manifest nests deeper than its partition fields: 7 levels. JSON alone bounds nothing, for named types may be used
/// within later ones.
const MAX_DEPTH: usize = 100;

/// A manifest has some twenty fields and one per partition field.
const MAX_FIELDS: usize = 10_000;

/// A physical type. Named types are shared by their users.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs)]
pub enum AvroType {
    Null,
    Boolean,
    Int,
    Long,
    Float,
    Double,
    Bytes,
    String,
    Enum,
    /// Size in bytes.
    Fixed(usize),
    Array(Arc<AvroSchema>),
    /// The values; keys are strings.
    Map(Arc<AvroSchema>),
    Union(Vec<Arc<AvroSchema>>),
    Record(Vec<AvroField>),
}

/// A logical type that Iceberg has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Logical {
    None,
    Decimal {
        precision: u8,
        scale: u8,
    },
    Date,
    TimeMillis,
    TimeMicros,
    TimestampMillis(Zone),
    TimestampMicros(Zone),
    TimestampNanos(Zone),
    Uuid,
    /// An array of the entries of a map whose keys are no strings.
    Map,
}

/// Whether timestamps are instants (`adjust-to-utc`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Zone {
    Utc,
    None,
}

/// A field of a record.
#[derive(Debug, Clone, PartialEq)]
pub struct AvroField {
    /// The name in the file, which may be sanitised.
    pub name: String,
    /// The name before that (`iceberg-field-name`).
    pub original_name: Option<String>,
    /// `field-id`; absent in old files.
    pub field_id: Option<FieldId>,
    /// The type.
    pub schema: Arc<AvroSchema>,
}

impl AvroField {
    /// Whether the field has this name, sanitised or not.
    pub fn is_named(&self, name: &str) -> bool {
        self.name == name || self.original_name.as_deref() == Some(name) || self.name == sanitize(name)
    }
}

/// A type that may be null.
#[derive(Debug, Clone, Copy)]
pub struct Nullable<'a> {
    /// The type without null.
    pub schema: &'a Arc<AvroSchema>,
    /// The union's branch of null; `None` when the type is no union.
    pub null_branch: Option<u8>,
}

impl AvroSchema {
    /// Parses a schema.
    ///
    /// # Errors
    /// `Corrupt` when it is no Avro schema, or a type contains itself, which Iceberg has not.
    pub fn parse(json: &[u8]) -> Result<Arc<AvroSchema>> {
        let json: Json =
            serde_json::from_slice(json).map_err(|e| Error::corrupt("the Avro schema is not JSON").with_source(e))?;
        Parser::default().parse(&json, "")
    }

    /// Splits off null, when the type is a union of null and one other, in either order.
    /// Any other union is `None`.
    pub fn nullable(self: &Arc<Self>) -> Option<Nullable<'_>> {
        let AvroType::Union(branches) = &self.avro_type else {
            return Some(Nullable {
                schema: self,
                null_branch: None,
            });
        };
        let is_null = |s: &Arc<AvroSchema>| s.avro_type == AvroType::Null;
        match branches.as_slice() {
            [null, schema] if is_null(null) => Some(Nullable {
                schema,
                null_branch: Some(0),
            }),
            [schema, null] if is_null(null) => Some(Nullable {
                schema,
                null_branch: Some(1),
            }),
            _ => None,
        }
    }

    /// The fields of a record.
    pub fn record_fields(&self) -> Option<&[AvroField]> {
        match &self.avro_type {
            AvroType::Record(fields) => Some(fields),
            _ => None,
        }
    }
}

#[derive(Default)]
struct Parser {
    named: HashMap<String, Arc<AvroSchema>>,
}

impl Parser {
    fn parse(&mut self, json: &Json, namespace: &str) -> Result<Arc<AvroSchema>> {
        match json {
            Json::String(name) => self.named_type(name, namespace),
            Json::Array(branches) => {
                let branches = branches
                    .iter()
                    .map(|b| self.parse(b, namespace))
                    .collect::<Result<_>>()?;
                plain(AvroType::Union(branches))
            }
            Json::Object(object) => self.object(object, namespace),
            _ => Err(Error::corrupt("the Avro schema holds something that is no type")),
        }
    }

    fn named_type(&self, name: &str, namespace: &str) -> Result<Arc<AvroSchema>> {
        if let Some(primitive) = primitive(name) {
            return plain(primitive);
        }
        let found = self
            .named
            .get(&full_name(name, namespace))
            .or_else(|| self.named.get(name));
        found
            .cloned()
            .ok_or_else(|| Error::corrupt(format!("the Avro schema uses type '{name}' before it is complete")))
    }

    fn object(&mut self, object: &JsonMap<String, Json>, namespace: &str) -> Result<Arc<AvroSchema>> {
        let type_name = match object.get("type") {
            Some(Json::String(name)) => name.as_str(),
            // {"type": {...}} wraps a type.
            Some(inner) => return self.parse(inner, namespace),
            None => return Err(Error::corrupt("the Avro schema holds a type without a name")),
        };
        let avro_type = match type_name {
            "record" | "error" => return self.record(object, namespace),
            "enum" => AvroType::Enum,
            "fixed" => {
                let size = object.get("size").and_then(Json::as_u64);
                let size = size.and_then(|s| usize::try_from(s).ok());
                AvroType::Fixed(size.ok_or_else(|| Error::corrupt("the Avro schema holds a fixed without a size"))?)
            }
            "array" => AvroType::Array(self.child(object, "items", namespace)?),
            "map" => AvroType::Map(self.child(object, "values", namespace)?),
            name => match primitive(name) {
                Some(primitive) => primitive,
                None => return self.named_type(name, namespace),
            },
        };
        let schema = new_schema(avro_type, logical(object), item_ids(object))?;
        if matches!(schema.avro_type, AvroType::Enum | AvroType::Fixed(_)) {
            self.register(object, namespace, &schema);
        }
        Ok(schema)
    }

    fn child(&mut self, object: &JsonMap<String, Json>, key: &str, namespace: &str) -> Result<Arc<AvroSchema>> {
        let json = object.get(key);
        self.parse(
            json.ok_or_else(|| Error::corrupt(format!("the Avro schema holds a collection without '{key}'")))?,
            namespace,
        )
    }

    fn record(&mut self, object: &JsonMap<String, Json>, namespace: &str) -> Result<Arc<AvroSchema>> {
        let Some(Json::Array(json_fields)) = object.get("fields") else {
            return Err(Error::corrupt("the Avro schema holds a record without fields"));
        };
        if json_fields.len() > MAX_FIELDS {
            return Err(Error::corrupt(format!(
                "the Avro schema holds a record of more than {MAX_FIELDS} fields"
            )));
        }
        let own_name = own_full_name(object, namespace);
        let inner = own_name
            .rsplit_once('.')
            .map_or("", |(namespace, _)| namespace)
            .to_string();
        let mut fields = Vec::with_capacity(json_fields.len());
        for json in json_fields {
            fields.push(self.field(json, &inner)?);
        }
        let schema = plain(AvroType::Record(fields))?;
        self.register(object, namespace, &schema);
        Ok(schema)
    }

    fn field(&mut self, json: &Json, namespace: &str) -> Result<AvroField> {
        let (Some(name), Some(field_type)) = (json.get("name").and_then(Json::as_str), json.get("type")) else {
            return Err(Error::corrupt("the Avro schema holds a field without name or type"));
        };
        Ok(AvroField {
            name: name.to_string(),
            original_name: json
                .get("iceberg-field-name")
                .and_then(Json::as_str)
                .map(str::to_string),
            field_id: id_of(json.get("field-id")),
            schema: self.parse(field_type, namespace)?,
        })
    }

    fn register(&mut self, object: &JsonMap<String, Json>, namespace: &str, schema: &Arc<AvroSchema>) {
        self.named.insert(own_full_name(object, namespace), Arc::clone(schema));
    }
}

fn item_ids(object: &JsonMap<String, Json>) -> ItemIds {
    ItemIds {
        element: id_of(object.get("element-id")),
        key: id_of(object.get("key-id")),
        value: id_of(object.get("value-id")),
    }
}

/// Some writers put ids in quotes.
fn id_of(json: Option<&Json>) -> Option<FieldId> {
    let id = match json? {
        Json::String(text) => text.parse().ok(),
        id => id.as_i64(),
    };
    FieldId::try_from(id?).ok()
}

fn plain(avro_type: AvroType) -> Result<Arc<AvroSchema>> {
    new_schema(avro_type, Logical::None, ItemIds::default())
}

fn new_schema(avro_type: AvroType, logical: Logical, ids: ItemIds) -> Result<Arc<AvroSchema>> {
    let within = match &avro_type {
        AvroType::Array(inner) | AvroType::Map(inner) => inner.depth,
        AvroType::Union(branches) => branches.iter().map(|b| b.depth).max().unwrap_or(0),
        AvroType::Record(fields) => fields.iter().map(|f| f.schema.depth).max().unwrap_or(0),
        _ => 0,
    };
    if within >= MAX_DEPTH {
        return Err(Error::corrupt(format!(
            "the Avro schema nests types more than {MAX_DEPTH} levels deep"
        )));
    }
    Ok(Arc::new(AvroSchema {
        avro_type,
        logical,
        ids,
        depth: within + 1,
    }))
}

fn primitive(name: &str) -> Option<AvroType> {
    Some(match name {
        "null" => AvroType::Null,
        "boolean" => AvroType::Boolean,
        "int" => AvroType::Int,
        "long" => AvroType::Long,
        "float" => AvroType::Float,
        "double" => AvroType::Double,
        "bytes" => AvroType::Bytes,
        "string" => AvroType::String,
        _ => return None,
    })
}

fn logical(object: &JsonMap<String, Json>) -> Logical {
    let Some(name) = object.get("logicalType").and_then(Json::as_str) else {
        return Logical::None;
    };
    // As Java reads it: without the attribute a timestamp has no zone.
    let zone = match object.get("adjust-to-utc") {
        Some(Json::Bool(true)) => Zone::Utc,
        Some(Json::String(text)) if text.eq_ignore_ascii_case("true") => Zone::Utc,
        _ => Zone::None,
    };
    let digits = |key| {
        object
            .get(key)
            .and_then(Json::as_u64)
            .and_then(|n| u8::try_from(n).ok())
    };
    match name {
        "decimal" => Logical::Decimal {
            precision: digits("precision").unwrap_or(38),
            scale: digits("scale").unwrap_or(0),
        },
        "date" => Logical::Date,
        "time-millis" => Logical::TimeMillis,
        "time-micros" => Logical::TimeMicros,
        "timestamp-millis" => Logical::TimestampMillis(zone),
        "timestamp-micros" => Logical::TimestampMicros(zone),
        "timestamp-nanos" => Logical::TimestampNanos(zone),
        "local-timestamp-millis" => Logical::TimestampMillis(Zone::None),
        "local-timestamp-micros" => Logical::TimestampMicros(Zone::None),
        "local-timestamp-nanos" => Logical::TimestampNanos(Zone::None),
        "uuid" => Logical::Uuid,
        "map" => Logical::Map,
        _ => Logical::None,
    }
}

fn own_full_name(object: &JsonMap<String, Json>, namespace: &str) -> String {
    let text = |key| object.get(key).and_then(Json::as_str);
    full_name(text("name").unwrap_or_default(), text("namespace").unwrap_or(namespace))
}

fn full_name(name: &str, namespace: &str) -> String {
    if name.contains('.') || namespace.is_empty() {
        name.to_string()
    } else {
        format!("{namespace}.{name}")
    }
}

/// A name that Avro accepts: ASCII letters, digits and underscores, no digit first.
///
/// Java's `AvroSchemaUtil.sanitize` keeps letters and digits of every script, which Avro's specification and other
/// readers refuse. Readers go by field ids, so the stricter name is good for all of them.
pub fn sanitize(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for (i, unit) in name.encode_utf16().enumerate() {
        match u8::try_from(unit) {
            Ok(c) if c == b'_' || c.is_ascii_alphabetic() => out.push(char::from(c)),
            Ok(c) if c.is_ascii_digit() => {
                if i == 0 {
                    out.push('_');
                }
                out.push(char::from(c));
            }
            _ => out.push_str(&format!("_x{unit:X}")),
        }
    }
    out
}
