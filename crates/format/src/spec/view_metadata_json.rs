//! The JSON form of view metadata (view spec).

use serde_json::Value as Json;
use std::collections::HashSet;
use std::sync::Arc;

use super::json_fields::{Fields, JsonForm, ObjectWriter, serde_by_json_form};
use super::schema::Schema;
use super::table_metadata_json::strip_trailing_slashes;
use super::view_metadata::{ViewMetadata, ViewRepresentation, ViewVersion, ViewVersionLogEntry};
use crate::error::{Error, Result};

/// The only version of the view format.
pub const VIEW_FORMAT_VERSION: i32 = 1;

serde_by_json_form!(ViewMetadata, ViewVersion, ViewRepresentation, ViewVersionLogEntry);

impl JsonForm for ViewMetadata {
    fn from_value(json: Json) -> Result<Self> {
        let mut fields = Fields::new("view metadata", json)?;
        let view_uuid = fields
            .opt_uuid("view-uuid")?
            .ok_or_else(|| fields.missing("view-uuid"))?;
        let format_version = fields.i32("format-version")?;
        if format_version != VIEW_FORMAT_VERSION {
            return Err(Error::unsupported(format!(
                "view format version {format_version} is not supported: version {VIEW_FORMAT_VERSION} is"
            )));
        }
        let metadata = ViewMetadata {
            view_uuid,
            format_version,
            location: strip_trailing_slashes(&fields.string("location")?).to_string(),
            schemas: fields.list::<Schema>("schemas")?.into_iter().map(Arc::new).collect(),
            current_version_id: fields.i32("current-version-id")?,
            versions: fields
                .list::<ViewVersion>("versions")?
                .into_iter()
                .map(Arc::new)
                .collect(),
            version_log: fields.list("version-log")?,
            properties: fields.opt_properties("properties")?.unwrap_or_default(),
            extra: fields.rest(),
        };
        validate(&metadata)?;
        Ok(metadata)
    }

    fn to_value(&self) -> Result<Json> {
        let mut object = ObjectWriter::new();
        object
            .set("view-uuid", self.view_uuid.to_string())
            .set("format-version", self.format_version)
            .set("location", self.location.clone());
        if !self.properties.is_empty() {
            object.set_properties("properties", &self.properties);
        }
        object.set_list("schemas", self.schemas.iter().map(AsRef::as_ref))?;
        object.set("current-version-id", self.current_version_id);
        object.set_list("versions", self.versions.iter().map(AsRef::as_ref))?;
        object.set_list("version-log", &self.version_log)?;
        Ok(object.set_extra(&self.extra).finish())
    }
}

fn validate(metadata: &ViewMetadata) -> Result<()> {
    let mut versions = HashSet::new();
    for version in &metadata.versions {
        if !versions.insert(version.version_id) {
            return Err(Error::corrupt(format!(
                "view version {} occurs twice",
                version.version_id
            )));
        }
    }
    let mut schemas = HashSet::new();
    for schema in &metadata.schemas {
        if !schemas.insert(schema.schema_id()) {
            return Err(Error::corrupt(format!("schema id {} occurs twice", schema.schema_id())));
        }
    }
    let Some(current) = metadata.version_by_id(metadata.current_version_id) else {
        let message = format!("current view version {} does not exist", metadata.current_version_id);
        return Err(Error::corrupt(message));
    };
    if !schemas.contains(&current.schema_id) {
        let message = format!(
            "schema {} of the current view version does not exist",
            current.schema_id
        );
        return Err(Error::corrupt(message));
    }
    Ok(())
}

impl JsonForm for ViewVersion {
    fn from_value(json: Json) -> Result<Self> {
        let mut fields = Fields::new("a view version", json)?;
        Ok(ViewVersion {
            version_id: fields.i32("version-id")?,
            schema_id: fields.i32("schema-id")?,
            timestamp_ms: fields.i64("timestamp-ms")?,
            summary: fields.opt_properties("summary")?.unwrap_or_default(),
            representations: fields.list("representations")?,
            default_catalog: fields.opt_string("default-catalog")?,
            default_namespace: fields
                .opt_string_list("default-namespace")?
                .ok_or_else(|| fields.missing("default-namespace"))?,
            extra: fields.rest(),
        })
    }

    fn to_value(&self) -> Result<Json> {
        let mut object = ObjectWriter::new();
        object
            .set("version-id", self.version_id)
            .set("timestamp-ms", self.timestamp_ms)
            .set("schema-id", self.schema_id)
            .set_properties("summary", &self.summary)
            .set_some("default-catalog", self.default_catalog.clone())
            .set("default-namespace", self.default_namespace.clone())
            .set_list("representations", &self.representations)?;
        Ok(object.set_extra(&self.extra).finish())
    }
}

impl JsonForm for ViewRepresentation {
    fn from_value(json: Json) -> Result<Self> {
        let is_sql = json
            .get("type")
            .and_then(Json::as_str)
            .is_some_and(|kind| kind.eq_ignore_ascii_case("sql"));
        let mut fields = Fields::new("a view representation", json)?;
        if !is_sql {
            return Ok(ViewRepresentation::Other(fields.into_map()));
        }
        fields.discard("type");
        Ok(ViewRepresentation::Sql {
            sql: fields.string("sql")?,
            dialect: fields.string("dialect")?,
            extra: fields.rest(),
        })
    }

    fn to_value(&self) -> Result<Json> {
        Ok(match self {
            ViewRepresentation::Sql { sql, dialect, extra } => ObjectWriter::new()
                .set("type", "sql")
                .set("sql", sql.clone())
                .set("dialect", dialect.clone())
                .set_extra(extra)
                .finish(),
            ViewRepresentation::Other(fields) => Json::Object(fields.clone()),
        })
    }
}

impl JsonForm for ViewVersionLogEntry {
    fn from_value(json: Json) -> Result<Self> {
        let mut fields = Fields::new("a version log entry", json)?;
        Ok(ViewVersionLogEntry {
            version_id: fields.i32("version-id")?,
            timestamp_ms: fields.i64("timestamp-ms")?,
            extra: fields.rest(),
        })
    }

    fn to_value(&self) -> Result<Json> {
        Ok(ObjectWriter::new()
            .set("timestamp-ms", self.timestamp_ms)
            .set("version-id", self.version_id)
            .set_extra(&self.extra)
            .finish())
    }
}

#[cfg(test)]
mod tests;
