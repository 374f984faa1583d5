//! Reading JSON objects field by field with errors that name what is wrong, and the bridge to serde.
//!
//! Metadata JSON is read through [`serde_json::Value`]: the parser's recursion limit bounds its depth, and what a
//! reader does not take stays in the object, to be kept as unknown fields.

use serde_json::{Map as JsonMap, Value as Json};

use super::snapshot::Properties;
use super::unknown_fields::UnknownFields;
use crate::error::{Error, Result};

/// A value with a JSON form. Types that implement it get `Serialize` and `Deserialize` by [`serde_by_json_form`].
pub(crate) trait JsonForm: Sized {
    /// Reads the JSON form. `Corrupt` when it is not one.
    fn from_value(json: Json) -> Result<Self>;
    /// The JSON form. `InvalidInput` when the value cannot be told in JSON, such as a default of another type.
    fn to_value(&self) -> Result<Json>;
}

/// Implements serde's traits for types with a [`JsonForm`].
macro_rules! serde_by_json_form {
    ($($type:ty),+ $(,)?) => {$(
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let json = $crate::spec::json_fields::JsonForm::to_value(self).map_err(serde::ser::Error::custom)?;
                serde::Serialize::serialize(&json, serializer)
            }
        }
        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let json = <serde_json::Value as serde::Deserialize>::deserialize(deserializer)?;
                $crate::spec::json_fields::JsonForm::from_value(json).map_err(serde::de::Error::custom)
            }
        }
    )+};
}
pub(crate) use serde_by_json_form;

/// The fields of a JSON object not taken yet. A null counts as absent.
#[derive(Debug)]
pub(crate) struct Fields {
    what: &'static str,
    map: JsonMap<String, Json>,
}

impl Fields {
    /// The fields of `json`, which `what` names in errors.
    pub(crate) fn new(what: &'static str, json: Json) -> Result<Self> {
        match json {
            Json::Object(map) => Ok(Fields { what, map }),
            other => Err(Error::corrupt(format!(
                "{what} must be a JSON object, not {}",
                kind_of(&other)
            ))),
        }
    }

    /// Takes a field; `None` when it is absent or null.
    pub(crate) fn take(&mut self, name: &str) -> Option<Json> {
        self.map.shift_remove(name).filter(|json| !json.is_null())
    }

    /// Takes a field whatever it holds.
    pub(crate) fn discard(&mut self, name: &str) {
        self.map.shift_remove(name);
    }

    /// Takes a field that must be there.
    pub(crate) fn required(&mut self, name: &str) -> Result<Json> {
        self.take(name).ok_or_else(|| self.missing(name))
    }

    /// Takes everything not taken.
    pub(crate) fn rest(&mut self) -> UnknownFields {
        UnknownFields::from(std::mem::take(&mut self.map))
    }

    /// The object itself, without what was taken.
    pub(crate) fn into_map(self) -> JsonMap<String, Json> {
        self.map
    }

    /// An error saying that a field is missing.
    pub(crate) fn missing(&self, name: &str) -> Error {
        Error::corrupt(format!("{} has no '{name}'", self.what))
    }

    fn wrong(&self, name: &str, expected: &str, found: &Json) -> Error {
        Error::corrupt(format!(
            "'{name}' of {} must be {expected}, not {}",
            self.what,
            kind_of(found)
        ))
    }

    /// An optional 32-bit integer.
    pub(crate) fn opt_i32(&mut self, name: &str) -> Result<Option<i32>> {
        let Some(json) = self.take(name) else { return Ok(None) };
        match json.as_i64().and_then(|n| i32::try_from(n).ok()) {
            Some(n) => Ok(Some(n)),
            None => Err(self.wrong(name, "a 32-bit integer", &json)),
        }
    }

    /// A 32-bit integer.
    pub(crate) fn i32(&mut self, name: &str) -> Result<i32> {
        self.opt_i32(name)?.ok_or_else(|| self.missing(name))
    }

    /// An optional 64-bit integer.
    pub(crate) fn opt_i64(&mut self, name: &str) -> Result<Option<i64>> {
        let Some(json) = self.take(name) else { return Ok(None) };
        match json.as_i64() {
            Some(n) => Ok(Some(n)),
            None => Err(self.wrong(name, "a 64-bit integer", &json)),
        }
    }

    /// An optional snapshot id. Some writers draw ids from all of 64 bits: those beyond `i64` are wrapped, so that they
    /// stay distinct, and are written back wrapped, so that other readers can take them.
    pub(crate) fn opt_snapshot_id(&mut self, name: &str) -> Result<Option<i64>> {
        match self.map.get(name).and_then(Json::as_u64) {
            Some(id) if i64::try_from(id).is_err() => {
                self.discard(name);
                Ok(Some(id.cast_signed()))
            }
            _ => self.opt_i64(name),
        }
    }

    /// A snapshot id.
    pub(crate) fn snapshot_id(&mut self, name: &str) -> Result<i64> {
        self.opt_snapshot_id(name)?.ok_or_else(|| self.missing(name))
    }

    /// A 64-bit integer.
    pub(crate) fn i64(&mut self, name: &str) -> Result<i64> {
        self.opt_i64(name)?.ok_or_else(|| self.missing(name))
    }

    /// A boolean.
    pub(crate) fn bool(&mut self, name: &str) -> Result<bool> {
        match self.required(name)? {
            Json::Bool(b) => Ok(b),
            other => Err(self.wrong(name, "true or false", &other)),
        }
    }

    /// An optional string.
    pub(crate) fn opt_string(&mut self, name: &str) -> Result<Option<String>> {
        match self.take(name) {
            None => Ok(None),
            Some(Json::String(s)) => Ok(Some(s)),
            Some(other) => Err(self.wrong(name, "a string", &other)),
        }
    }

    /// A string.
    pub(crate) fn string(&mut self, name: &str) -> Result<String> {
        self.opt_string(name)?.ok_or_else(|| self.missing(name))
    }

    /// An optional UUID.
    pub(crate) fn opt_uuid(&mut self, name: &str) -> Result<Option<uuid::Uuid>> {
        let Some(text) = self.opt_string(name)? else {
            return Ok(None);
        };
        match uuid::Uuid::parse_str(&text) {
            Ok(uuid) => Ok(Some(uuid)),
            Err(e) => Err(Error::corrupt(format!("'{name}' of {} is not a UUID", self.what)).with_source(e)),
        }
    }

    /// An optional array.
    pub(crate) fn opt_array(&mut self, name: &str) -> Result<Option<Vec<Json>>> {
        match self.take(name) {
            None => Ok(None),
            Some(Json::Array(a)) => Ok(Some(a)),
            Some(other) => Err(self.wrong(name, "an array", &other)),
        }
    }

    /// An array.
    pub(crate) fn array(&mut self, name: &str) -> Result<Vec<Json>> {
        self.opt_array(name)?.ok_or_else(|| self.missing(name))
    }

    /// An optional array of things with a JSON form.
    pub(crate) fn opt_list<T: JsonForm>(&mut self, name: &str) -> Result<Option<Vec<T>>> {
        let Some(items) = self.opt_array(name)? else {
            return Ok(None);
        };
        items
            .into_iter()
            .map(T::from_value)
            .collect::<Result<Vec<T>>>()
            .map(Some)
    }

    /// An array of things with a JSON form.
    pub(crate) fn list<T: JsonForm>(&mut self, name: &str) -> Result<Vec<T>> {
        self.opt_list(name)?.ok_or_else(|| self.missing(name))
    }

    /// An optional array of 32-bit integers.
    pub(crate) fn opt_i32_list(&mut self, name: &str) -> Result<Option<Vec<i32>>> {
        let Some(items) = self.opt_array(name)? else {
            return Ok(None);
        };
        let mut numbers = Vec::with_capacity(items.len());
        for item in items {
            match item.as_i64().and_then(|n| i32::try_from(n).ok()) {
                Some(n) => numbers.push(n),
                None => return Err(self.wrong(name, "an array of 32-bit integers", &item)),
            }
        }
        Ok(Some(numbers))
    }

    /// An optional array of 64-bit integers.
    pub(crate) fn opt_i64_list(&mut self, name: &str) -> Result<Option<Vec<i64>>> {
        let Some(items) = self.opt_array(name)? else {
            return Ok(None);
        };
        let mut numbers = Vec::with_capacity(items.len());
        for item in items {
            match item.as_i64() {
                Some(n) => numbers.push(n),
                None => return Err(self.wrong(name, "an array of 64-bit integers", &item)),
            }
        }
        Ok(Some(numbers))
    }

    /// An optional array of strings.
    pub(crate) fn opt_string_list(&mut self, name: &str) -> Result<Option<Vec<String>>> {
        let Some(items) = self.opt_array(name)? else {
            return Ok(None);
        };
        let mut strings = Vec::with_capacity(items.len());
        for item in items {
            match item {
                Json::String(s) => strings.push(s),
                other => return Err(self.wrong(name, "an array of strings", &other)),
            }
        }
        Ok(Some(strings))
    }

    /// An optional object of strings.
    pub(crate) fn opt_properties(&mut self, name: &str) -> Result<Option<Properties>> {
        let map = match self.take(name) {
            None => return Ok(None),
            Some(Json::Object(map)) => map,
            Some(other) => return Err(self.wrong(name, "an object", &other)),
        };
        let mut properties = Properties::new();
        for (key, value) in map {
            match value {
                Json::String(s) => {
                    properties.insert(key, s);
                }
                other => {
                    let message = format!(
                        "'{key}' in '{name}' of {} must be a string, not {}",
                        self.what,
                        kind_of(&other)
                    );
                    return Err(Error::corrupt(message));
                }
            }
        }
        Ok(Some(properties))
    }
}

/// What a JSON value is, for error messages: never the value itself, which may be huge.
pub(crate) fn kind_of(json: &Json) -> String {
    match json {
        Json::Null => "null".into(),
        Json::Bool(b) => b.to_string(),
        Json::Number(n) => n.to_string(),
        Json::String(s) if s.len() <= 60 => format!("the string '{s}'"),
        Json::String(_) => "a long string".into(),
        Json::Array(_) => "an array".into(),
        Json::Object(_) => "an object".into(),
    }
}

/// Builds a JSON object, leaving out what is absent.
#[derive(Debug, Default)]
pub(crate) struct ObjectWriter(JsonMap<String, Json>);

impl ObjectWriter {
    /// An empty object.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Adds a field.
    pub(crate) fn set(&mut self, name: &str, value: impl Into<Json>) -> &mut Self {
        self.0.insert(name.to_string(), value.into());
        self
    }

    /// Adds a field when there is a value.
    pub(crate) fn set_some(&mut self, name: &str, value: Option<impl Into<Json>>) -> &mut Self {
        if let Some(value) = value {
            self.set(name, value);
        }
        self
    }

    /// Adds an array of things with a JSON form.
    pub(crate) fn set_list<'a, T: JsonForm + 'a>(
        &mut self,
        name: &str,
        items: impl IntoIterator<Item = &'a T>,
    ) -> Result<&mut Self> {
        let items = items.into_iter().map(T::to_value).collect::<Result<Vec<Json>>>()?;
        Ok(self.set(name, items))
    }

    /// Adds an object of strings.
    pub(crate) fn set_properties(&mut self, name: &str, properties: &Properties) -> &mut Self {
        self.set(name, properties_to_value(properties))
    }

    /// Adds fields kept from reading; those already set win.
    pub(crate) fn set_extra(&mut self, extra: &UnknownFields) -> &mut Self {
        for (name, value) in extra.iter() {
            if !self.0.contains_key(name) {
                self.0.insert(name.clone(), value.clone());
            }
        }
        self
    }

    /// The object.
    pub(crate) fn finish(&mut self) -> Json {
        Json::Object(std::mem::take(&mut self.0))
    }
}

/// Properties as a JSON object.
pub(crate) fn properties_to_value(properties: &Properties) -> Json {
    let entries = properties.iter().map(|(k, v)| (k.clone(), Json::String(v.clone())));
    Json::Object(entries.collect())
}
