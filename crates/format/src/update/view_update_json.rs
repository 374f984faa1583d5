//! The JSON form of [`ViewUpdate`] and [`ViewRequirement`] (REST catalog specification, `ViewUpdate`,
//! `ViewRequirement`).

use serde_json::Value as Json;

use super::table_update_json::{property_removals, property_updates, uuid};
use super::{ViewRequirement, ViewUpdate};
use crate::error::{Error, Result};
use crate::spec::json_fields::{Fields, JsonForm, ObjectWriter, serde_by_json_form};
use crate::spec::schema::Schema;
use crate::spec::view_metadata::ViewVersion;

serde_by_json_form!(ViewUpdate, ViewRequirement);

impl JsonForm for ViewUpdate {
    fn from_value(json: Json) -> Result<Self> {
        let mut fields = Fields::new("a view update", json)?;
        let action = fields.string("action")?;
        let f = &mut fields;
        Ok(match action.as_str() {
            "assign-uuid" => ViewUpdate::AssignUuid(uuid(f)?),
            "upgrade-format-version" => ViewUpdate::UpgradeFormatVersion(f.i32("format-version")?),
            "add-schema" => ViewUpdate::AddSchema(Schema::from_value(f.required("schema")?)?),
            "set-location" => ViewUpdate::SetLocation(f.string("location")?),
            "set-properties" => ViewUpdate::SetProperties(property_updates(f)?),
            "remove-properties" => ViewUpdate::RemoveProperties(property_removals(f)?),
            "add-view-version" => ViewUpdate::AddVersion(ViewVersion::from_value(f.required("view-version")?)?),
            "set-current-view-version" => ViewUpdate::SetCurrentVersion(f.i32("view-version-id")?),
            _ => return Err(Error::unsupported(format!("view update '{action}' is not known"))),
        })
    }

    fn to_value(&self) -> Result<Json> {
        let mut o = ObjectWriter::new();
        match self {
            ViewUpdate::AssignUuid(uuid) => o.set("action", "assign-uuid").set("uuid", uuid.to_string()),
            ViewUpdate::UpgradeFormatVersion(version) => o
                .set("action", "upgrade-format-version")
                .set("format-version", *version),
            ViewUpdate::AddSchema(schema) => o
                .set("action", "add-schema")
                .set("schema", schema.to_value()?)
                .set("last-column-id", schema.highest_field_id()),
            ViewUpdate::SetLocation(location) => o.set("action", "set-location").set("location", location.clone()),
            ViewUpdate::SetProperties(properties) => {
                o.set("action", "set-properties").set_properties("updates", properties)
            }
            ViewUpdate::RemoveProperties(keys) => o.set("action", "remove-properties").set("removals", keys.clone()),
            ViewUpdate::AddVersion(version) => o
                .set("action", "add-view-version")
                .set("view-version", version.to_value()?),
            ViewUpdate::SetCurrentVersion(id) => {
                o.set("action", "set-current-view-version").set("view-version-id", *id)
            }
        };
        Ok(o.finish())
    }
}

impl JsonForm for ViewRequirement {
    fn from_value(json: Json) -> Result<Self> {
        let mut fields = Fields::new("a view requirement", json)?;
        let kind = fields.string("type")?;
        match kind.as_str() {
            "assert-view-uuid" => Ok(ViewRequirement::UuidMatch(uuid(&mut fields)?)),
            _ => Err(Error::unsupported(format!("view requirement '{kind}' is not known"))),
        }
    }

    fn to_value(&self) -> Result<Json> {
        let ViewRequirement::UuidMatch(uuid) = self;
        Ok(ObjectWriter::new()
            .set("type", "assert-view-uuid")
            .set("uuid", uuid.to_string())
            .finish())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn updates_and_requirements_round_trip() {
        for update in [
            json!({"action": "assign-uuid", "uuid": "9c12d441-03fe-4693-9a96-a0705ddf69c1"}),
            json!({"action": "upgrade-format-version", "format-version": 1}),
            json!({"action": "add-schema", "last-column-id": 0,
                "schema": {"type": "struct", "schema-id": 0, "fields": []}}),
            json!({"action": "set-location", "location": "l"}),
            json!({"action": "set-properties", "updates": {"a": "b"}}),
            json!({"action": "remove-properties", "removals": ["a"]}),
            json!({"action": "add-view-version", "view-version": {"version-id": 1, "timestamp-ms": 2, "schema-id": -1,
                "summary": {}, "default-namespace": ["n"],
                "representations": [{"type": "sql", "sql": "SELECT 1", "dialect": "spark"}]}}),
            json!({"action": "set-current-view-version", "view-version-id": -1}),
        ] {
            assert_eq!(
                ViewUpdate::from_value(update.clone()).unwrap().to_value().unwrap(),
                update
            );
        }
        let requirement = json!({"type": "assert-view-uuid", "uuid": "9c12d441-03fe-4693-9a96-a0705ddf69c1"});
        let read = ViewRequirement::from_value(requirement.clone()).unwrap();
        assert_eq!(read.to_value().unwrap(), requirement);
        assert!(ViewUpdate::from_value(json!({"action": "add-snapshot"})).is_err());
    }
}
