//! The JSON form of types and fields (spec, Appendix C "Schemas").

use std::str::FromStr;
use std::sync::Arc;

use serde_json::Value as Json;

use super::json_fields::{Fields, JsonForm, ObjectWriter, kind_of, serde_by_json_form};
use super::types::{EdgeAlgorithm, FieldId, ListType, MapType, NestedField, PrimitiveType, StructType, Type};
use super::unknown_fields::UnknownFields;
use super::value_json;
use crate::error::{Error, Result};

/// How deep types may nest when read. JSON text reaches less: its parser stops at 128 levels.
pub const MAX_TYPE_DEPTH: usize = 100;

serde_by_json_form!(Type, PrimitiveType, StructType, NestedField);

impl JsonForm for Type {
    fn from_value(json: Json) -> Result<Self> {
        type_from_json(json, MAX_TYPE_DEPTH).map(|(t, _)| t)
    }

    fn to_value(&self) -> Result<Json> {
        match self {
            Type::Primitive(p) => p.to_value(),
            Type::Variant => Ok(Json::from("variant")),
            Type::Struct(s) => s.to_value(),
            Type::List(l) => Ok(ObjectWriter::new()
                .set("type", "list")
                .set("element-id", l.element.id)
                .set("element", nested_type_to_value(&l.element)?)
                .set("element-required", l.element.required)
                .finish()),
            Type::Map(m) => Ok(ObjectWriter::new()
                .set("type", "map")
                .set("key-id", m.key.id)
                .set("key", nested_type_to_value(&m.key)?)
                .set("value-id", m.value.id)
                .set("value", nested_type_to_value(&m.value)?)
                .set("value-required", m.value.required)
                .finish()),
        }
    }
}

impl JsonForm for PrimitiveType {
    fn from_value(json: Json) -> Result<Self> {
        match json {
            Json::String(s) => s.parse(),
            other => Err(Error::corrupt(format!(
                "a primitive type must be a string, not {}",
                kind_of(&other)
            ))),
        }
    }

    fn to_value(&self) -> Result<Json> {
        Ok(Json::from(self.to_string()))
    }
}

impl JsonForm for StructType {
    fn from_value(json: Json) -> Result<Self> {
        match Type::from_value(json)? {
            Type::Struct(s) => Ok(s),
            other => Err(Error::corrupt(format!("a struct was expected, not {other}"))),
        }
    }

    fn to_value(&self) -> Result<Json> {
        let mut object = ObjectWriter::new();
        object.set("type", "struct");
        object.set_list("fields", self.fields.iter().map(AsRef::as_ref))?;
        Ok(object.finish())
    }
}

impl JsonForm for NestedField {
    fn from_value(json: Json) -> Result<Self> {
        field_from_json(json, MAX_TYPE_DEPTH)
    }

    fn to_value(&self) -> Result<Json> {
        let default = |value: &Option<_>| {
            let json = value.as_ref().map(|v| value_json::to_json(v, &self.field_type));
            json.transpose().map_err(|e| e.with_context("field", self.name.clone()))
        };
        Ok(ObjectWriter::new()
            .set("id", self.id)
            .set("name", self.name.clone())
            .set("required", self.required)
            .set("type", nested_type_to_value(self)?)
            .set_some("doc", self.doc.clone())
            .set_some("initial-default", default(&self.initial_default)?)
            .set_some("write-default", default(&self.write_default)?)
            .set_extra(&self.extra)
            .finish())
    }
}

/// The type of a field, with the unknown fields of its object.
fn nested_type_to_value(field: &NestedField) -> Result<Json> {
    let mut json = field.field_type.to_value()?;
    if let Json::Object(object) = &mut json {
        for (name, value) in field.type_extra.iter() {
            object.entry(name.as_str()).or_insert_with(|| value.clone());
        }
    }
    Ok(json)
}

/// The type and the unknown fields of its object.
fn type_from_json(json: Json, depth: usize) -> Result<(Type, UnknownFields)> {
    let Some(depth) = depth.checked_sub(1) else {
        return Err(Error::corrupt("types are nested too deep"));
    };
    if let Json::String(name) = &json {
        return Ok((type_from_name(name)?, UnknownFields::default()));
    }
    let mut fields = Fields::new("a type", json)?;
    let nested = match fields.string("type")?.as_str() {
        "struct" => Type::Struct(struct_from_fields(&mut fields, depth)?),
        "list" => {
            let id = fields.i32("element-id")?;
            let mut element = nested_from_json(id, "element", fields.required("element")?, depth)?;
            element.required = fields.bool("element-required")?;
            Type::List(ListType {
                element: Arc::new(element),
            })
        }
        "map" => {
            let key_id = fields.i32("key-id")?;
            let mut key = nested_from_json(key_id, "key", fields.required("key")?, depth)?;
            key.required = true;
            let value_id = fields.i32("value-id")?;
            let mut value = nested_from_json(value_id, "value", fields.required("value")?, depth)?;
            value.required = fields.bool("value-required")?;
            Type::Map(MapType {
                key: Arc::new(key),
                value: Arc::new(value),
            })
        }
        // Schemas and fields of other writers may spell a primitive as an object.
        other => return Err(Error::unsupported(format!("type '{}' is not known", clip(other)))),
    };
    Ok((nested, fields.rest()))
}

/// An element, key or value.
fn nested_from_json(id: FieldId, name: &str, json: Json, depth: usize) -> Result<NestedField> {
    let (field_type, type_extra) = type_from_json(json, depth)?;
    let field = NestedField::optional(id, name, field_type);
    Ok(NestedField { type_extra, ..field })
}

/// The fields of a struct or schema object whose `type` is taken already.
pub(crate) fn struct_from_fields(fields: &mut Fields, depth: usize) -> Result<StructType> {
    let children = fields.array("fields")?;
    let mut parsed = Vec::with_capacity(children.len());
    for child in children {
        parsed.push(Arc::new(field_from_json(child, depth)?));
    }
    Ok(StructType { fields: parsed })
}

fn field_from_json(json: Json, depth: usize) -> Result<NestedField> {
    let mut fields = Fields::new("a field", json)?;
    let id = fields.i32("id")?;
    let name = fields.string("name")?;
    let in_field = |e: Error| e.with_context("field", name.clone());
    let field_type = type_from_json(fields.required("type").map_err(in_field)?, depth);
    let (field_type, type_extra) = field_type.map_err(in_field)?;
    let mut default = |key: &'static str| {
        let json = fields.take(key);
        let value = json.map(|json| value_json::from_json(&json, &field_type)).transpose();
        value.map_err(|e| e.with_context("field", name.clone()).with_context("default", key))
    };
    let initial_default = default("initial-default")?;
    let write_default = default("write-default")?;
    let required = fields.bool("required").map_err(in_field)?;
    let doc = fields.opt_string("doc").map_err(in_field)?;
    Ok(NestedField {
        id,
        name,
        required,
        field_type,
        doc,
        initial_default,
        write_default,
        extra: fields.rest(),
        type_extra,
    })
}

fn type_from_name(name: &str) -> Result<Type> {
    if name.trim().eq_ignore_ascii_case("variant") {
        return Ok(Type::Variant);
    }
    name.parse::<PrimitiveType>().map(Type::Primitive)
}

impl FromStr for Type {
    type Err = Error;

    /// Parses the name of a primitive type or `variant`.
    fn from_str(name: &str) -> Result<Self> {
        type_from_name(name)
    }
}

impl FromStr for PrimitiveType {
    type Err = Error;

    /// Parses the spec's type string. Names are read in any case and parameters with any spacing, as Java does.
    ///
    /// # Errors
    /// `Corrupt` for parameters out of range, `Unsupported` for a name that is not known.
    fn from_str(text: &str) -> Result<Self> {
        let trimmed = text.trim();
        let lower = trimmed.to_ascii_lowercase();
        let plain = match lower.as_str() {
            "boolean" => PrimitiveType::Boolean,
            "int" => PrimitiveType::Int,
            "long" => PrimitiveType::Long,
            "float" => PrimitiveType::Float,
            "double" => PrimitiveType::Double,
            "date" => PrimitiveType::Date,
            "time" => PrimitiveType::Time,
            "timestamp" => PrimitiveType::Timestamp,
            "timestamptz" => PrimitiveType::Timestamptz,
            "timestamp_ns" => PrimitiveType::TimestampNs,
            "timestamptz_ns" => PrimitiveType::TimestamptzNs,
            "string" => PrimitiveType::String,
            "uuid" => PrimitiveType::Uuid,
            "binary" => PrimitiveType::Binary,
            "unknown" => PrimitiveType::Unknown,
            "geometry" => PrimitiveType::Geometry { crs: None },
            "geography" => PrimitiveType::Geography {
                crs: None,
                algorithm: None,
            },
            _ => return parameterised(trimmed),
        };
        Ok(plain)
    }
}

fn parameterised(text: &str) -> Result<PrimitiveType> {
    let not_known = || Error::unsupported(format!("type '{}' is not known", clip(text)));
    let invalid = |why: &str| Error::corrupt(format!("type '{}' is not valid: {why}", clip(text)));
    let open = text.find(['(', '[']).ok_or_else(not_known)?;
    let (name, rest) = text.split_at(open);
    let mut inner = rest.chars();
    let closing = if inner.next() == Some('(') { ')' } else { ']' };
    if inner.next_back() != Some(closing) {
        return Err(not_known());
    }
    let inner = inner.as_str().trim();
    match (name.trim_end().to_ascii_lowercase().as_str(), closing) {
        ("fixed", ']') => match inner.parse::<u32>() {
            Ok(length) if length <= i32::MAX as u32 => Ok(PrimitiveType::Fixed(length)),
            _ => Err(invalid("the length is out of range")),
        },
        ("decimal", ')') => {
            let (precision, scale) = inner.split_once(',').ok_or_else(|| invalid("two numbers are needed"))?;
            match (precision.trim().parse::<u8>(), scale.trim().parse::<u8>()) {
                (Ok(precision @ 1..=38), Ok(scale)) if scale <= precision => {
                    Ok(PrimitiveType::Decimal { precision, scale })
                }
                _ => Err(invalid("precision or scale is out of range")),
            }
        }
        ("geometry", ')') => Ok(PrimitiveType::Geometry { crs: crs_of(inner) }),
        ("geography", ')') => match inner.rsplit_once(',') {
            None => Ok(PrimitiveType::Geography {
                crs: crs_of(inner),
                algorithm: None,
            }),
            Some((crs, algorithm)) => Ok(PrimitiveType::Geography {
                crs: crs_of(crs.trim()),
                algorithm: Some(algorithm.trim().parse()?),
            }),
        },
        _ => Err(not_known()),
    }
}

/// A CRS as it is kept: the default one is told by leaving it out.
fn crs_of(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_string())
}

impl FromStr for EdgeAlgorithm {
    type Err = Error;

    /// Parses the name in any case.
    fn from_str(name: &str) -> Result<Self> {
        match name.to_ascii_lowercase().as_str() {
            "spherical" => Ok(EdgeAlgorithm::Spherical),
            "vincenty" => Ok(EdgeAlgorithm::Vincenty),
            "thomas" => Ok(EdgeAlgorithm::Thomas),
            "andoyer" => Ok(EdgeAlgorithm::Andoyer),
            "karney" => Ok(EdgeAlgorithm::Karney),
            _ => Err(Error::unsupported(format!(
                "edge algorithm '{}' is not known",
                clip(name)
            ))),
        }
    }
}

/// The beginning of a string of any length, for messages.
fn clip(text: &str) -> &str {
    match text.char_indices().nth(80) {
        Some((end, _)) => &text[..end],
        None => text,
    }
}

#[cfg(test)]
mod tests;
