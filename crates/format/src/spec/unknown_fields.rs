//! Fields of metadata objects that this version of the engine does not know.
//!
//! They are kept as read and written back, so that a commit of ours loses nothing a newer writer left. They say nothing
//! to us, and so take no part in equality: a schema, spec or order that differs from another only in unknown fields is
//! the same one and is reused.

use std::hash::{Hash, Hasher};

use serde_json::{Map as JsonMap, Value as Json};

/// Unknown fields of one object, in the order read. One word when there are none, as almost always.
///
/// Any two values are equal; see the module's documentation.
#[derive(Debug, Clone, Default)]
pub struct UnknownFields(Option<Box<JsonMap<String, Json>>>);

impl UnknownFields {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// The value of a field; JSON null when the field is null.
    pub fn get(&self, name: &str) -> Option<&Json> {
        self.0.as_ref()?.get(name)
    }

    /// The fields in the order read.
    pub fn iter(&self) -> impl Iterator<Item = (&String, &Json)> {
        self.0.iter().flat_map(|fields| fields.iter())
    }
}

impl From<JsonMap<String, Json>> for UnknownFields {
    fn from(fields: JsonMap<String, Json>) -> Self {
        UnknownFields((!fields.is_empty()).then(|| Box::new(fields)))
    }
}

impl PartialEq for UnknownFields {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for UnknownFields {}

impl Hash for UnknownFields {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

#[cfg(test)]
mod tests;
