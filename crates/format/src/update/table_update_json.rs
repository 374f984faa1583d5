//! The JSON form of [`TableUpdate`] and [`TableRequirement`] (REST catalog specification, `TableUpdate`,
//! `TableRequirement`).

use serde_json::Value as Json;

use super::{TableRequirement, TableUpdate};
use crate::error::{Error, Result};
use crate::spec::json_fields::{Fields, JsonForm, ObjectWriter, serde_by_json_form};
use crate::spec::partition::PartitionSpec;
use crate::spec::schema::Schema;
use crate::spec::snapshot::{Properties, Snapshot, SnapshotRef};
use crate::spec::snapshot_json::{ref_into, ref_kind, retention_from_fields};
use crate::spec::sort::SortOrder;
use crate::spec::table_metadata::{EncryptedKey, FormatVersion, PartitionStatisticsFile, StatisticsFile};

serde_by_json_form!(TableUpdate, TableRequirement);

impl JsonForm for TableUpdate {
    fn from_value(json: Json) -> Result<Self> {
        let mut fields = Fields::new("a table update", json)?;
        let action = fields.string("action")?;
        let f = &mut fields;
        Ok(match action.as_str() {
            "assign-uuid" => TableUpdate::AssignUuid(uuid(f)?),
            "upgrade-format-version" => TableUpdate::UpgradeFormatVersion(format_version(f)?),
            "add-schema" => TableUpdate::AddSchema(Schema::from_value(f.required("schema")?)?),
            "set-current-schema" => TableUpdate::SetCurrentSchema(f.i32("schema-id")?),
            "add-spec" => TableUpdate::AddSpec(PartitionSpec::from_value(f.required("spec")?)?),
            "set-default-spec" => TableUpdate::SetDefaultSpec(f.i32("spec-id")?),
            "add-sort-order" => TableUpdate::AddSortOrder(SortOrder::from_value(f.required("sort-order")?)?),
            "set-default-sort-order" => TableUpdate::SetDefaultSortOrder(f.i32("sort-order-id")?),
            "add-snapshot" => TableUpdate::AddSnapshot(Snapshot::from_value(f.required("snapshot")?)?),
            "set-snapshot-ref" => set_snapshot_ref(f)?,
            "remove-snapshots" => {
                let ids = f.opt_i64_list("snapshot-ids")?;
                TableUpdate::RemoveSnapshots(ids.ok_or_else(|| f.missing("snapshot-ids"))?)
            }
            "remove-snapshot-ref" => TableUpdate::RemoveSnapshotRef(f.string("ref-name")?),
            "set-location" => TableUpdate::SetLocation(f.string("location")?),
            "set-properties" => TableUpdate::SetProperties(property_updates(f)?),
            "remove-properties" => TableUpdate::RemoveProperties(property_removals(f)?),
            "set-statistics" => TableUpdate::SetStatistics(StatisticsFile::from_value(f.required("statistics")?)?),
            "remove-statistics" => TableUpdate::RemoveStatistics(f.i64("snapshot-id")?),
            "set-partition-statistics" => {
                let file = f.required("partition-statistics")?;
                TableUpdate::SetPartitionStatistics(PartitionStatisticsFile::from_value(file)?)
            }
            "remove-partition-statistics" => TableUpdate::RemovePartitionStatistics(f.i64("snapshot-id")?),
            "remove-partition-specs" => TableUpdate::RemovePartitionSpecs(ids(f, "spec-ids")?),
            "remove-schemas" => TableUpdate::RemoveSchemas(ids(f, "schema-ids")?),
            "add-encryption-key" => {
                TableUpdate::AddEncryptionKey(EncryptedKey::from_value(f.required("encryption-key")?)?)
            }
            "remove-encryption-key" => TableUpdate::RemoveEncryptionKey(f.string("key-id")?),
            _ => return Err(Error::unsupported(format!("table update '{action}' is not known"))),
        })
    }

    fn to_value(&self) -> Result<Json> {
        let mut o = ObjectWriter::new();
        o.set("action", action(self));
        match self {
            TableUpdate::AssignUuid(uuid) => o.set("uuid", uuid.to_string()),
            TableUpdate::UpgradeFormatVersion(version) => o.set("format-version", version.number()),
            // Old servers want the last column id, which newer ones take from the schema.
            TableUpdate::AddSchema(schema) => o
                .set("schema", schema.to_value()?)
                .set("last-column-id", schema.highest_field_id()),
            TableUpdate::SetCurrentSchema(id) => o.set("schema-id", *id),
            TableUpdate::AddSpec(spec) => o.set("spec", spec.to_value()?),
            TableUpdate::SetDefaultSpec(id) => o.set("spec-id", *id),
            TableUpdate::AddSortOrder(order) => o.set("sort-order", order.to_value()?),
            TableUpdate::SetDefaultSortOrder(id) => o.set("sort-order-id", *id),
            TableUpdate::AddSnapshot(snapshot) => o.set("snapshot", snapshot.to_value()?),
            TableUpdate::SetSnapshotRef { name, reference } => {
                o.set("ref-name", name.clone());
                ref_into(&mut o, reference);
                o.set_extra(&reference.extra);
                &mut o
            }
            TableUpdate::RemoveSnapshots(ids) => o.set("snapshot-ids", ids.clone()),
            TableUpdate::RemoveSnapshotRef(name) => o.set("ref-name", name.clone()),
            TableUpdate::SetLocation(location) => o.set("location", location.clone()),
            TableUpdate::SetProperties(properties) => o.set_properties("updates", properties),
            TableUpdate::RemoveProperties(keys) => o.set("removals", keys.clone()),
            TableUpdate::SetStatistics(file) => o
                .set("snapshot-id", file.snapshot_id)
                .set("statistics", file.to_value()?),
            TableUpdate::RemoveStatistics(id) | TableUpdate::RemovePartitionStatistics(id) => o.set("snapshot-id", *id),
            TableUpdate::SetPartitionStatistics(file) => o.set("partition-statistics", file.to_value()?),
            TableUpdate::RemovePartitionSpecs(ids) => o.set("spec-ids", ids.clone()),
            TableUpdate::RemoveSchemas(ids) => o.set("schema-ids", ids.clone()),
            TableUpdate::AddEncryptionKey(key) => o.set("encryption-key", key.to_value()?),
            TableUpdate::RemoveEncryptionKey(id) => o.set("key-id", id.clone()),
        };
        Ok(o.finish())
    }
}

fn action(update: &TableUpdate) -> &'static str {
    match update {
        TableUpdate::AssignUuid(_) => "assign-uuid",
        TableUpdate::UpgradeFormatVersion(_) => "upgrade-format-version",
        TableUpdate::AddSchema(_) => "add-schema",
        TableUpdate::SetCurrentSchema(_) => "set-current-schema",
        TableUpdate::AddSpec(_) => "add-spec",
        TableUpdate::SetDefaultSpec(_) => "set-default-spec",
        TableUpdate::AddSortOrder(_) => "add-sort-order",
        TableUpdate::SetDefaultSortOrder(_) => "set-default-sort-order",
        TableUpdate::AddSnapshot(_) => "add-snapshot",
        TableUpdate::SetSnapshotRef { .. } => "set-snapshot-ref",
        TableUpdate::RemoveSnapshots(_) => "remove-snapshots",
        TableUpdate::RemoveSnapshotRef(_) => "remove-snapshot-ref",
        TableUpdate::SetLocation(_) => "set-location",
        TableUpdate::SetProperties(_) => "set-properties",
        TableUpdate::RemoveProperties(_) => "remove-properties",
        TableUpdate::SetStatistics(_) => "set-statistics",
        TableUpdate::RemoveStatistics(_) => "remove-statistics",
        TableUpdate::SetPartitionStatistics(_) => "set-partition-statistics",
        TableUpdate::RemovePartitionStatistics(_) => "remove-partition-statistics",
        TableUpdate::RemovePartitionSpecs(_) => "remove-partition-specs",
        TableUpdate::RemoveSchemas(_) => "remove-schemas",
        TableUpdate::AddEncryptionKey(_) => "add-encryption-key",
        TableUpdate::RemoveEncryptionKey(_) => "remove-encryption-key",
    }
}

fn set_snapshot_ref(fields: &mut Fields) -> Result<TableUpdate> {
    Ok(TableUpdate::SetSnapshotRef {
        name: fields.string("ref-name")?,
        reference: SnapshotRef {
            snapshot_id: fields.i64("snapshot-id")?,
            kind: ref_kind(&fields.string("type")?)?,
            retention: retention_from_fields(fields)?,
            extra: fields.rest(),
        },
    })
}

fn format_version(fields: &mut Fields) -> Result<FormatVersion> {
    let number = fields.i64("format-version")?;
    FormatVersion::from_number(number)
        .ok_or_else(|| Error::unsupported(format!("table format version {number} is not supported")))
}

fn ids(fields: &mut Fields, name: &str) -> Result<Vec<i32>> {
    fields.opt_i32_list(name)?.ok_or_else(|| fields.missing(name))
}

/// A UUID that must be there.
pub(super) fn uuid(fields: &mut Fields) -> Result<uuid::Uuid> {
    fields.opt_uuid("uuid")?.ok_or_else(|| fields.missing("uuid"))
}

/// Properties to set, under the name that older clients used too.
pub(super) fn property_updates(fields: &mut Fields) -> Result<Properties> {
    match fields.opt_properties("updates")? {
        Some(properties) => Ok(properties),
        None => fields
            .opt_properties("updated")?
            .ok_or_else(|| fields.missing("updates")),
    }
}

/// Properties to remove, under the name that older clients used too.
pub(super) fn property_removals(fields: &mut Fields) -> Result<Vec<String>> {
    match fields.opt_string_list("removals")? {
        Some(keys) => Ok(keys),
        None => fields
            .opt_string_list("removed")?
            .ok_or_else(|| fields.missing("removals")),
    }
}

impl JsonForm for TableRequirement {
    fn from_value(json: Json) -> Result<Self> {
        let mut fields = Fields::new("a table requirement", json)?;
        let kind = fields.string("type")?;
        let f = &mut fields;
        Ok(match kind.as_str() {
            "assert-create" => TableRequirement::NotExist,
            "assert-table-uuid" => TableRequirement::UuidMatch(uuid(f)?),
            "assert-ref-snapshot-id" => TableRequirement::RefSnapshotIdMatch {
                name: f.string("ref")?,
                snapshot_id: f.opt_i64("snapshot-id")?,
            },
            "assert-last-assigned-field-id" => {
                TableRequirement::LastAssignedFieldIdMatch(f.i32("last-assigned-field-id")?)
            }
            "assert-current-schema-id" => TableRequirement::CurrentSchemaIdMatch(f.i32("current-schema-id")?),
            "assert-last-assigned-partition-id" => {
                TableRequirement::LastAssignedPartitionIdMatch(f.i32("last-assigned-partition-id")?)
            }
            "assert-default-spec-id" => TableRequirement::DefaultSpecIdMatch(f.i32("default-spec-id")?),
            "assert-default-sort-order-id" => {
                TableRequirement::DefaultSortOrderIdMatch(f.i32("default-sort-order-id")?)
            }
            _ => return Err(Error::unsupported(format!("table requirement '{kind}' is not known"))),
        })
    }

    fn to_value(&self) -> Result<Json> {
        let mut o = ObjectWriter::new();
        match self {
            TableRequirement::NotExist => o.set("type", "assert-create"),
            TableRequirement::UuidMatch(uuid) => o.set("type", "assert-table-uuid").set("uuid", uuid.to_string()),
            TableRequirement::RefSnapshotIdMatch { name, snapshot_id } => o
                .set("type", "assert-ref-snapshot-id")
                .set("ref", name.clone())
                // Null says that the ref must not exist.
                .set("snapshot-id", snapshot_id.map_or(Json::Null, Json::from)),
            TableRequirement::LastAssignedFieldIdMatch(id) => o
                .set("type", "assert-last-assigned-field-id")
                .set("last-assigned-field-id", *id),
            TableRequirement::CurrentSchemaIdMatch(id) => {
                o.set("type", "assert-current-schema-id").set("current-schema-id", *id)
            }
            TableRequirement::LastAssignedPartitionIdMatch(id) => o
                .set("type", "assert-last-assigned-partition-id")
                .set("last-assigned-partition-id", *id),
            TableRequirement::DefaultSpecIdMatch(id) => {
                o.set("type", "assert-default-spec-id").set("default-spec-id", *id)
            }
            TableRequirement::DefaultSortOrderIdMatch(id) => o
                .set("type", "assert-default-sort-order-id")
                .set("default-sort-order-id", *id),
        };
        Ok(o.finish())
    }
}

#[cfg(test)]
mod tests;
