//! The JSON form of schemas (spec, Appendix C "Schemas").

use serde_json::Value as Json;

use super::json_fields::{Fields, JsonForm, ObjectWriter, serde_by_json_form};
use super::schema::Schema;
use super::types_json::{MAX_TYPE_DEPTH, struct_from_fields};
use crate::error::{Error, ErrorKind, Result};

serde_by_json_form!(Schema);

impl JsonForm for Schema {
    /// A v1 schema without `schema-id` gets id 0.
    fn from_value(json: Json) -> Result<Self> {
        let mut fields = Fields::new("a schema", json)?;
        match fields.opt_string("type")?.as_deref() {
            Some("struct") => {}
            _ => return Err(Error::corrupt("a schema must have the type 'struct'")),
        }
        let schema_id = fields.opt_i32("schema-id")?.unwrap_or(0);
        let identifiers = fields.opt_i32_list("identifier-field-ids")?.unwrap_or_default();
        let columns = struct_from_fields(&mut fields, MAX_TYPE_DEPTH)?;
        let schema = Schema::new(schema_id, columns, identifiers).map_err(|e| {
            e.with_kind(ErrorKind::Corrupt)
                .with_context("schema", schema_id.to_string())
        })?;
        Ok(schema.with_extra(fields.rest()))
    }

    fn to_value(&self) -> Result<Json> {
        let mut object = ObjectWriter::new();
        object.set("type", "struct").set("schema-id", self.schema_id());
        if !self.identifier_field_ids().is_empty() {
            object.set("identifier-field-ids", self.identifier_field_ids().to_vec());
        }
        object.set_list("fields", self.fields().iter().map(AsRef::as_ref))?;
        Ok(object.set_extra(self.extra()).finish())
    }
}
