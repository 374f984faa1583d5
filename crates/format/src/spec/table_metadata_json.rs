//! The JSON form of table metadata (spec, Appendix C "Table Metadata and Snapshots").
//!
//! The reader bears what old writers left out of v1 and fills it in: `schemas`, `partition-specs`, `sort-orders`, ids,
//! `refs`. What it reads obeys [`TableMetadata`]'s promises: the current schema, default spec and default order exist,
//! ids are unique, and refs point to kept snapshots. The writer writes v1's older fields beside the newer ones, as Java
//! does.

use std::collections::{BTreeMap, HashSet};
use std::hash::Hash;
use std::sync::Arc;

use serde_json::Value as Json;

use super::json_fields::{Fields, JsonForm, ObjectWriter, serde_by_json_form};
use super::partition::{PARTITION_FIELD_ID_START, PartitionSpec};
use super::partition_json;
use super::schema::{Schema, SchemaRef};
use super::snapshot::{MAIN_BRANCH, RefKind, Snapshot, SnapshotRef};
use super::sort::SortOrder;
use super::table_metadata::{FormatVersion, MetadataLogEntry, SnapshotLogEntry, TableMetadata};
use super::types::FieldId;
use crate::error::{Error, Result};

serde_by_json_form!(TableMetadata, SnapshotLogEntry, MetadataLogEntry);

impl JsonForm for TableMetadata {
    fn from_value(json: Json) -> Result<Self> {
        let mut fields = Fields::new("table metadata", json)?;
        let version = format_version(&mut fields)?;
        let metadata = read(version, &mut fields)?;
        validate(&metadata)?;
        Ok(TableMetadata {
            extra: fields.rest(),
            ..metadata
        })
    }

    fn to_value(&self) -> Result<Json> {
        let v1 = self.format_version == FormatVersion::V1;
        let mut object = ObjectWriter::new();
        object
            .set("format-version", self.format_version.number())
            .set_some("table-uuid", self.table_uuid.map(|uuid| uuid.to_string()))
            .set("location", self.location.clone());
        if !v1 {
            object.set("last-sequence-number", self.last_sequence_number);
        }
        object
            .set("last-updated-ms", self.last_updated_ms)
            .set("last-column-id", self.last_column_id);
        if v1 {
            object.set("schema", self.current_schema().to_value()?);
        }
        object.set("current-schema-id", self.current_schema_id);
        object.set_list("schemas", self.schemas.iter().map(AsRef::as_ref))?;
        if v1 {
            object.set("partition-spec", partition_json::fields_to_value(self.default_spec()));
        }
        object.set("default-spec-id", self.default_spec_id);
        object.set_list("partition-specs", self.partition_specs.iter().map(AsRef::as_ref))?;
        object.set("last-partition-id", self.last_partition_id);
        object.set("default-sort-order-id", self.default_sort_order_id);
        object.set_list("sort-orders", self.sort_orders.iter().map(AsRef::as_ref))?;
        object.set_properties("properties", &self.properties);
        self.snapshots_into(&mut object)?;
        Ok(object.set_extra(&self.extra).finish())
    }
}

impl TableMetadata {
    fn snapshots_into(&self, object: &mut ObjectWriter) -> Result<()> {
        let v3 = self.format_version >= FormatVersion::V3;
        // Null means "none" only since v3; older readers know -1.
        match self.current_snapshot_id {
            None if v3 => object.set("current-snapshot-id", Json::Null),
            id => object.set("current-snapshot-id", id.unwrap_or(-1)),
        };
        if v3 {
            object.set("next-row-id", self.next_row_id);
        }
        if !self.encryption_keys.is_empty() {
            object.set_list("encryption-keys", &self.encryption_keys)?;
        }
        let mut refs = ObjectWriter::new();
        for (name, reference) in &self.refs {
            refs.set(name, reference.to_value()?);
        }
        object.set("refs", refs.finish());
        object.set_list("snapshots", self.snapshots.iter().map(AsRef::as_ref))?;
        object.set_list("statistics", &self.statistics)?;
        object.set_list("partition-statistics", &self.partition_statistics)?;
        object.set_list("snapshot-log", &self.snapshot_log)?;
        object.set_list("metadata-log", &self.metadata_log)?;
        Ok(())
    }
}

impl JsonForm for SnapshotLogEntry {
    fn from_value(json: Json) -> Result<Self> {
        let mut fields = Fields::new("a snapshot log entry", json)?;
        Ok(SnapshotLogEntry {
            timestamp_ms: fields.i64("timestamp-ms")?,
            snapshot_id: fields.snapshot_id("snapshot-id")?,
            extra: fields.rest(),
        })
    }

    fn to_value(&self) -> Result<Json> {
        Ok(ObjectWriter::new()
            .set("timestamp-ms", self.timestamp_ms)
            .set("snapshot-id", self.snapshot_id)
            .set_extra(&self.extra)
            .finish())
    }
}

impl JsonForm for MetadataLogEntry {
    fn from_value(json: Json) -> Result<Self> {
        let mut fields = Fields::new("a metadata log entry", json)?;
        Ok(MetadataLogEntry {
            timestamp_ms: fields.i64("timestamp-ms")?,
            metadata_file: fields.string("metadata-file")?,
            extra: fields.rest(),
        })
    }

    fn to_value(&self) -> Result<Json> {
        Ok(ObjectWriter::new()
            .set("timestamp-ms", self.timestamp_ms)
            .set("metadata-file", self.metadata_file.clone())
            .set_extra(&self.extra)
            .finish())
    }
}

fn format_version(fields: &mut Fields) -> Result<FormatVersion> {
    let number = fields.i64("format-version")?;
    FormatVersion::from_number(number).ok_or_else(|| {
        Error::unsupported(format!(
            "table format version {number} is not supported: versions 1 to 3 are"
        ))
    })
}

fn read(version: FormatVersion, fields: &mut Fields) -> Result<TableMetadata> {
    let v1 = version == FormatVersion::V1;
    let table_uuid = fields.opt_uuid("table-uuid")?;
    if table_uuid.is_none() && !v1 {
        return Err(fields.missing("table-uuid"));
    }
    let location = fields.string("location")?;
    let last_sequence_number = match version {
        FormatVersion::V1 => {
            fields.discard("last-sequence-number");
            Some(0)
        }
        _ => fields.opt_i64("last-sequence-number")?,
    };
    let last_updated_ms = fields.i64("last-updated-ms")?;
    let (schemas, current_schema_id) = read_schemas(v1, fields)?;
    let last_column_id = match fields.opt_i32("last-column-id")? {
        Some(id) => id,
        None if v1 => schemas.iter().map(|s| s.highest_field_id()).max().unwrap_or(0),
        None => return Err(fields.missing("last-column-id")),
    };
    let (partition_specs, default_spec_id) = read_specs(v1, fields)?;
    let last_partition_id = match fields.opt_i32("last-partition-id")? {
        Some(id) => id,
        None if v1 => highest_partition_id(&partition_specs),
        None => return Err(fields.missing("last-partition-id")),
    };
    let (sort_orders, default_sort_order_id) = read_orders(v1, fields)?;
    let current_snapshot_id = fields.opt_snapshot_id("current-snapshot-id")?.filter(|id| *id != -1);
    let snapshots = shared(fields.opt_list::<Snapshot>("snapshots")?.unwrap_or_default());
    Ok(TableMetadata {
        format_version: version,
        table_uuid,
        location: strip_trailing_slashes(&location).to_string(),
        // DuckDB's COPY leaves it out: then it is the highest that a snapshot has.
        last_sequence_number: last_sequence_number.unwrap_or_else(|| highest_sequence_number(&snapshots)),
        last_updated_ms,
        last_column_id,
        schemas,
        current_schema_id,
        partition_specs,
        default_spec_id,
        last_partition_id,
        sort_orders,
        default_sort_order_id,
        properties: fields.opt_properties("properties")?.unwrap_or_default(),
        current_snapshot_id,
        next_row_id: read_next_row_id(version, &snapshots, fields)?,
        snapshots,
        snapshot_log: fields.opt_list("snapshot-log")?.unwrap_or_default(),
        metadata_log: fields.opt_list("metadata-log")?.unwrap_or_default(),
        refs: read_refs(fields, current_snapshot_id)?,
        statistics: fields.opt_list("statistics")?.unwrap_or_default(),
        partition_statistics: fields.opt_list("partition-statistics")?.unwrap_or_default(),
        encryption_keys: fields.opt_list("encryption-keys")?.unwrap_or_default(),
        extra: Default::default(),
    })
}

fn highest_sequence_number(snapshots: &[Arc<Snapshot>]) -> i64 {
    snapshots.iter().map(|s| s.sequence_number).max().unwrap_or(0)
}

/// `next-row-id`. Early v3 writers left it out: then it follows the rows that the snapshots were given ids for.
fn read_next_row_id(version: FormatVersion, snapshots: &[Arc<Snapshot>], fields: &mut Fields) -> Result<i64> {
    if version < FormatVersion::V3 {
        fields.discard("next-row-id");
        return Ok(0);
    }
    if let Some(next) = fields.opt_i64("next-row-id")? {
        return Ok(next);
    }
    let end = |s: &Arc<Snapshot>| Some(s.first_row_id?.saturating_add(s.added_rows.unwrap_or(0)));
    Ok(snapshots.iter().filter_map(end).max().unwrap_or(0))
}

fn shared<T>(items: Vec<T>) -> Vec<Arc<T>> {
    items.into_iter().map(Arc::new).collect()
}

fn read_schemas(v1: bool, fields: &mut Fields) -> Result<(Vec<SchemaRef>, i32)> {
    match fields.opt_list::<Schema>("schemas")? {
        Some(schemas) => {
            fields.discard("schema");
            Ok((shared(schemas), fields.i32("current-schema-id")?))
        }
        None if v1 => {
            fields.discard("current-schema-id");
            let schema = Schema::from_value(fields.required("schema")?)?;
            let id = schema.schema_id();
            Ok((vec![Arc::new(schema)], id))
        }
        None => Err(fields.missing("schemas")),
    }
}

fn read_specs(v1: bool, fields: &mut Fields) -> Result<(Vec<Arc<PartitionSpec>>, i32)> {
    match fields.opt_list::<PartitionSpec>("partition-specs")? {
        Some(specs) => {
            fields.discard("partition-spec");
            Ok((shared(specs), fields.i32("default-spec-id")?))
        }
        None if v1 => {
            fields.discard("default-spec-id");
            let spec = PartitionSpec {
                spec_id: 0,
                fields: partition_json::fields_from_array(fields.array("partition-spec")?)?,
                extra: Default::default(),
            };
            Ok((vec![Arc::new(spec)], 0))
        }
        None => Err(fields.missing("partition-specs")),
    }
}

fn read_orders(v1: bool, fields: &mut Fields) -> Result<(Vec<Arc<SortOrder>>, i32)> {
    let orders = fields.opt_list::<SortOrder>("sort-orders")?;
    if orders.is_none() && !v1 {
        return Err(fields.missing("sort-orders"));
    }
    let default_id = match (fields.opt_i32("default-sort-order-id")?, &orders) {
        (Some(id), Some(_)) => id,
        (None, Some(_)) => return Err(fields.missing("default-sort-order-id")),
        (_, None) => 0,
    };
    let mut orders = orders.unwrap_or_default();
    // Order 0 is always unsorted, so a list without it loses nothing.
    if default_id == 0 && orders.iter().all(|order| order.order_id != 0) {
        orders.insert(0, SortOrder::unsorted());
    }
    Ok((shared(orders), default_id))
}

fn read_refs(fields: &mut Fields, current_snapshot_id: Option<i64>) -> Result<BTreeMap<String, SnapshotRef>> {
    let mut refs = BTreeMap::new();
    if let Some(json) = fields.take("refs") {
        for (name, json) in Fields::new("refs", json)?.into_map() {
            let reference = SnapshotRef::from_value(json).map_err(|e| e.with_context("ref", name.clone()))?;
            refs.insert(name, reference);
        }
    }
    if let Some(snapshot_id) = current_snapshot_id {
        refs.entry(MAIN_BRANCH.to_string())
            .or_insert_with(|| SnapshotRef::branch(snapshot_id));
    }
    Ok(refs)
}

impl SnapshotRef {
    /// A branch without retention of its own.
    pub fn branch(snapshot_id: i64) -> Self {
        Self::of_kind(snapshot_id, RefKind::Branch)
    }

    /// A tag without retention of its own.
    pub fn tag(snapshot_id: i64) -> Self {
        Self::of_kind(snapshot_id, RefKind::Tag)
    }

    fn of_kind(snapshot_id: i64, kind: RefKind) -> Self {
        SnapshotRef {
            snapshot_id,
            kind,
            retention: Default::default(),
            extra: Default::default(),
        }
    }
}

/// The highest partition field id of these specs; 999 when there is none.
pub(crate) fn highest_partition_id(specs: &[Arc<PartitionSpec>]) -> FieldId {
    let ids = specs.iter().flat_map(|spec| &spec.fields).map(|field| field.field_id);
    ids.max().unwrap_or(PARTITION_FIELD_ID_START - 1)
}

/// A base location as it is kept; a root such as `/` or `s3://` stays whole.
pub(crate) fn strip_trailing_slashes(location: &str) -> &str {
    let mut stripped = location;
    while stripped.ends_with('/') && !stripped.ends_with("://") && stripped.len() > 1 {
        stripped = &stripped[..stripped.len() - 1];
    }
    stripped
}

fn validate(metadata: &TableMetadata) -> Result<()> {
    unique("schema id", metadata.schemas.iter().map(|s| s.schema_id()))?;
    unique("partition spec id", metadata.partition_specs.iter().map(|s| s.spec_id))?;
    unique("sort order id", metadata.sort_orders.iter().map(|s| s.order_id))?;
    unique("snapshot id", metadata.snapshots.iter().map(|s| s.snapshot_id))?;
    let missing = |what: &str, id: i64| Err(Error::corrupt(format!("{what} {id} does not exist")));
    if metadata.schema_by_id(metadata.current_schema_id).is_none() {
        return missing("current schema", i64::from(metadata.current_schema_id));
    }
    if metadata.spec_by_id(metadata.default_spec_id).is_none() {
        return missing("default partition spec", i64::from(metadata.default_spec_id));
    }
    if metadata.sort_order_by_id(metadata.default_sort_order_id).is_none() {
        return missing("default sort order", i64::from(metadata.default_sort_order_id));
    }
    validate_snapshots(metadata)
}

fn validate_snapshots(metadata: &TableMetadata) -> Result<()> {
    let known: HashSet<i64> = metadata.snapshots.iter().map(|s| s.snapshot_id).collect();
    if let Some(id) = metadata.current_snapshot_id.filter(|id| !known.contains(id)) {
        return Err(Error::corrupt(format!("current snapshot {id} does not exist")));
    }
    for (name, reference) in &metadata.refs {
        if !known.contains(&reference.snapshot_id) {
            let message = format!(
                "ref '{name}' points to snapshot {}, which does not exist",
                reference.snapshot_id
            );
            return Err(Error::corrupt(message));
        }
    }
    let main = metadata.refs.get(MAIN_BRANCH).map(|main| main.snapshot_id);
    if main != metadata.current_snapshot_id {
        let told = |id: Option<i64>| id.map_or("none".to_string(), |id| id.to_string());
        return Err(Error::corrupt(format!(
            "the current snapshot is {} but 'main' points to {}",
            told(metadata.current_snapshot_id),
            told(main)
        )));
    }
    for snapshot in &metadata.snapshots {
        if snapshot.sequence_number > metadata.last_sequence_number {
            return Err(Error::corrupt(format!(
                "snapshot {} has sequence number {}, above the table's last, {}",
                snapshot.snapshot_id, snapshot.sequence_number, metadata.last_sequence_number
            )));
        }
    }
    Ok(())
}

fn unique<T: Eq + Hash + std::fmt::Display + Copy>(what: &str, ids: impl Iterator<Item = T>) -> Result<()> {
    let mut seen = HashSet::new();
    for id in ids {
        if !seen.insert(id) {
            return Err(Error::corrupt(format!("{what} {id} occurs twice")));
        }
    }
    Ok(())
}

#[cfg(test)]
mod fixture_tests;
#[cfg(test)]
mod tests;
