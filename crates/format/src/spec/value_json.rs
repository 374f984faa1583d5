//! JSON single-value serialisation (spec, Appendix D): default values and partition values in JSON.
//!
//! Values are checked strictly against their type. Geometry, geography, variant and unknown have no values here: the
//! spec wants their defaults null.

use serde_json::{Map as JsonMap, Number, Value as Json};

use super::iso_time::{self, Precision};
use super::json_fields::kind_of;
use super::types::{MapType, PrimitiveType, StructType, Type};
use super::value::Value;
use crate::error::{Error, Result};

/// The JSON form of a value.
///
/// # Errors
/// `InvalidInput` when the value is not one of the type (or, for floats, not a JSON number), `Unsupported` for types
/// that have no JSON values.
pub fn to_json(value: &Value, value_type: &Type) -> Result<Json> {
    match (value_type, value) {
        (Type::Primitive(primitive), _) => primitive_to_json(value, primitive),
        (Type::Struct(fields), Value::Struct(entries)) => {
            let mut object = JsonMap::new();
            for (id, entry) in entries {
                let field = fields.field_by_id(*id).ok_or_else(|| not_of_type(value_type))?;
                if let Some(entry) = entry {
                    object.insert(id.to_string(), to_json(entry, &field.field_type)?);
                }
            }
            Ok(Json::Object(object))
        }
        (Type::List(list), Value::List(items)) => optional_list(items.iter(), &list.element.field_type),
        (Type::Map(map), Value::Map(entries)) => {
            let keys = entries.iter().map(|(key, _)| to_json(key, &map.key.field_type));
            let keys = keys.collect::<Result<Vec<Json>>>()?;
            let values = optional_list(entries.iter().map(|(_, value)| value), &map.value.field_type)?;
            let mut object = JsonMap::new();
            object.insert("keys".into(), Json::Array(keys));
            object.insert("values".into(), values);
            Ok(Json::Object(object))
        }
        (Type::Variant, _) => Err(no_values(value_type)),
        _ => Err(not_of_type(value_type)),
    }
}

fn optional_list<'a>(items: impl Iterator<Item = &'a Option<Value>>, item_type: &Type) -> Result<Json> {
    let items = items.map(|item| match item {
        Some(item) => to_json(item, item_type),
        None => Ok(Json::Null),
    });
    items.collect::<Result<Vec<Json>>>().map(Json::Array)
}

fn primitive_to_json(value: &Value, primitive: &PrimitiveType) -> Result<Json> {
    let json = match (primitive, value) {
        (PrimitiveType::Boolean, Value::Boolean(b)) => Json::Bool(*b),
        (PrimitiveType::Int, Value::Int(n)) => Json::from(*n),
        (PrimitiveType::Long, Value::Long(n)) => Json::from(*n),
        (PrimitiveType::Float, Value::Float(x)) => float_to_json(shortest(*x))?,
        (PrimitiveType::Double, Value::Double(x)) => float_to_json(*x)?,
        (PrimitiveType::Decimal { precision, scale }, Value::Decimal(unscaled)) => {
            if !fits(*unscaled, *precision) {
                return Err(Error::invalid(format!("value has more digits than {primitive}")));
            }
            Json::from(format_decimal(*unscaled, *scale))
        }
        (PrimitiveType::Date, Value::Int(days)) => Json::from(iso_time::format_date(i64::from(*days))),
        (PrimitiveType::Time, Value::Long(micros)) if (0..86_400_000_000).contains(micros) => {
            Json::from(iso_time::format_time(*micros, Precision::Micros))
        }
        (PrimitiveType::Timestamp, Value::Long(n)) => Json::from(iso_time::format_timestamp(*n, Precision::Micros)),
        (PrimitiveType::TimestampNs, Value::Long(n)) => Json::from(iso_time::format_timestamp(*n, Precision::Nanos)),
        (PrimitiveType::Timestamptz, Value::Long(n)) => {
            Json::from(iso_time::format_timestamp(*n, Precision::Micros) + "+00:00")
        }
        (PrimitiveType::TimestamptzNs, Value::Long(n)) => {
            Json::from(iso_time::format_timestamp(*n, Precision::Nanos) + "+00:00")
        }
        (PrimitiveType::String, Value::String(s)) => Json::from(s.as_ref()),
        (PrimitiveType::Uuid, Value::Uuid(bytes)) => Json::from(uuid::Uuid::from_bytes(*bytes).to_string()),
        (PrimitiveType::Fixed(length), Value::Binary(bytes)) if bytes.len() == *length as usize => {
            Json::from(format_hex(bytes))
        }
        (PrimitiveType::Binary, Value::Binary(bytes)) => Json::from(format_hex(bytes)),
        (PrimitiveType::Unknown | PrimitiveType::Geometry { .. } | PrimitiveType::Geography { .. }, _) => {
            return Err(no_values(primitive));
        }
        _ => return Err(not_of_type(primitive)),
    };
    Ok(json)
}

/// Reads the JSON form of a value that is not null.
///
/// # Errors
/// `Corrupt` when the JSON is not a value of the type, `Unsupported` for types that have no JSON values.
pub fn from_json(json: &Json, value_type: &Type) -> Result<Value> {
    match value_type {
        Type::Primitive(primitive) => primitive_from_json(json, primitive),
        Type::Struct(fields) => struct_from_json(json, fields),
        Type::List(list) => {
            let items = json.as_array().ok_or_else(|| not_a_value(json, value_type))?;
            let items = items.iter().map(|item| nullable(item, &list.element.field_type));
            items.collect::<Result<Vec<_>>>().map(Value::List)
        }
        Type::Map(map) => map_from_json(json, map).and_then(|value| value.ok_or_else(|| not_a_value(json, value_type))),
        Type::Variant => Err(no_values(value_type)),
    }
}

fn nullable(json: &Json, value_type: &Type) -> Result<Option<Value>> {
    match json {
        Json::Null => Ok(None),
        json => from_json(json, value_type).map(Some),
    }
}

fn struct_from_json(json: &Json, fields: &StructType) -> Result<Value> {
    let object = json
        .as_object()
        .ok_or_else(|| Error::corrupt(format!("a struct value must be an object, not {}", kind_of(json))))?;
    let mut entries = Vec::with_capacity(fields.fields.len());
    for field in &fields.fields {
        if let Some(entry) = object.get(&field.id.to_string()) {
            entries.push((field.id, nullable(entry, &field.field_type)?));
        }
    }
    if entries.len() != object.len() {
        return Err(Error::corrupt("a struct value holds fields that the type has not"));
    }
    Ok(Value::Struct(entries))
}

fn map_from_json(json: &Json, map: &MapType) -> Result<Option<Value>> {
    let side = |name| json.get(name).and_then(Json::as_array);
    let (Some(keys), Some(values)) = (side("keys"), side("values")) else {
        return Ok(None);
    };
    if keys.len() != values.len() {
        return Ok(None);
    }
    let mut entries = Vec::with_capacity(keys.len());
    for (key, value) in keys.iter().zip(values) {
        entries.push((
            from_json(key, &map.key.field_type)?,
            nullable(value, &map.value.field_type)?,
        ));
    }
    Ok(Some(Value::Map(entries)))
}

fn primitive_from_json(json: &Json, primitive: &PrimitiveType) -> Result<Value> {
    let wrong = || not_a_value(json, primitive);
    let text = || json.as_str().ok_or_else(wrong);
    Ok(match primitive {
        PrimitiveType::Boolean => Value::Boolean(json.as_bool().ok_or_else(wrong)?),
        PrimitiveType::Int => {
            let n = json.as_i64().and_then(|n| i32::try_from(n).ok());
            Value::Int(n.ok_or_else(wrong)?)
        }
        PrimitiveType::Long => Value::Long(json.as_i64().ok_or_else(wrong)?),
        PrimitiveType::Float => {
            let x = json.as_f64().ok_or_else(wrong)? as f32;
            Value::Float(Some(x).filter(|x| x.is_finite()).ok_or_else(wrong)?)
        }
        PrimitiveType::Double => Value::Double(json.as_f64().ok_or_else(wrong)?),
        PrimitiveType::Decimal { precision, scale } => {
            let unscaled = parse_decimal(text()?, *scale).filter(|n| fits(*n, *precision));
            Value::Decimal(unscaled.ok_or_else(wrong)?)
        }
        PrimitiveType::Date => Value::Int(iso_time::parse_date(text()?)?),
        PrimitiveType::Time => Value::Long(iso_time::parse_time(text()?, Precision::Micros)?),
        PrimitiveType::Timestamp => Value::Long(iso_time::parse_timestamp(text()?, Precision::Micros)?),
        PrimitiveType::TimestampNs => Value::Long(iso_time::parse_timestamp(text()?, Precision::Nanos)?),
        PrimitiveType::Timestamptz => Value::Long(iso_time::parse_timestamptz(text()?, Precision::Micros)?),
        PrimitiveType::TimestamptzNs => Value::Long(iso_time::parse_timestamptz(text()?, Precision::Nanos)?),
        PrimitiveType::String => Value::string(text()?),
        PrimitiveType::Uuid => {
            let text = Some(text()?).filter(|t| t.len() == 36).ok_or_else(wrong)?;
            let uuid = uuid::Uuid::parse_str(text).map_err(|e| wrong().with_source(e))?;
            Value::Uuid(uuid.into_bytes())
        }
        PrimitiveType::Fixed(length) => {
            let bytes = parse_hex(text()?).filter(|bytes| bytes.len() == *length as usize);
            Value::binary(bytes.ok_or_else(wrong)?)
        }
        PrimitiveType::Binary => Value::binary(parse_hex(text()?).ok_or_else(wrong)?),
        PrimitiveType::Unknown | PrimitiveType::Geometry { .. } | PrimitiveType::Geography { .. } => {
            return Err(no_values(primitive));
        }
    })
}

/// The double whose shortest text is that of the float: `0.1_f32` is written `0.1`, not `0.10000000149011612`.
fn shortest(x: f32) -> f64 {
    x.to_string().parse().unwrap_or(f64::from(x))
}

fn float_to_json(x: f64) -> Result<Json> {
    match Number::from_f64(x) {
        Some(number) => Ok(Json::Number(number)),
        None => Err(Error::invalid("NaN and infinity have no JSON form")),
    }
}

fn fits(unscaled: i128, precision: u8) -> bool {
    10_u128
        .checked_pow(u32::from(precision))
        .is_some_and(|limit| unscaled.unsigned_abs() < limit)
}

/// A decimal with exactly `scale` digits after the point.
pub(crate) fn format_decimal(unscaled: i128, scale: u8) -> String {
    let sign = if unscaled < 0 { "-" } else { "" };
    let scale = usize::from(scale);
    let digits = format!("{:0width$}", unscaled.unsigned_abs(), width = scale + 1);
    let (whole, fraction) = digits.split_at(digits.len() - scale);
    if scale == 0 {
        return format!("{sign}{whole}");
    }
    format!("{sign}{whole}.{fraction}")
}

/// The unscaled value of a decimal whose text has exactly this scale (`1.50` and `150E-2` have scale 2).
fn parse_decimal(text: &str, scale: u8) -> Option<i128> {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (text, 0),
    };
    let (negative, unsigned) = match mantissa.as_bytes().first()? {
        b'-' => (true, &mantissa[1..]),
        b'+' => (false, &mantissa[1..]),
        _ => (false, mantissa),
    };
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let digits = [whole, fraction].concat();
    if digits.is_empty() || digits.len() > 80 || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let text_scale = i32::try_from(fraction.len()).ok()?.checked_sub(exponent)?;
    if text_scale != i32::from(scale) {
        return None;
    }
    let magnitude = digits.parse::<i128>().ok()?;
    Some(if negative { -magnitude } else { magnitude })
}

fn format_hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        text.push(char::from(DIGITS[usize::from(byte >> 4)]));
        text.push(char::from(DIGITS[usize::from(byte & 0xf)]));
    }
    text
}

fn parse_hex(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes();
    if !digits.len().is_multiple_of(2) {
        return None;
    }
    let digit = |b: u8| char::from(b).to_digit(16);
    digits
        .chunks_exact(2)
        .map(|pair| u8::try_from(digit(pair[0])? * 16 + digit(pair[1])?).ok())
        .collect()
}

fn not_a_value(json: &Json, value_type: impl std::fmt::Display) -> Error {
    Error::corrupt(format!("{} is not a {value_type} value", kind_of(json)))
}

fn not_of_type(value_type: impl std::fmt::Display) -> Error {
    Error::invalid(format!("value is not of type {value_type}"))
}

fn no_values(value_type: impl std::fmt::Display) -> Error {
    Error::unsupported(format!(
        "values of type {value_type} have no JSON form; only null is allowed"
    ))
}

#[cfg(test)]
mod tests;
