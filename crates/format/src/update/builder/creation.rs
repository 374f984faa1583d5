//! New tables (Java: `TableMetadata.newTableMetadata`).

use uuid::Uuid;

use super::MetadataBuilder;
use super::properties::{FORMAT_VERSION, format_version, is_reserved};
use crate::catalog::TableCreation;
use crate::error::{Error, Result};
use crate::spec::partition::{PARTITION_FIELD_ID_START, PartitionSpec};
use crate::spec::schema::Schema;
use crate::spec::snapshot::Properties;
use crate::spec::sort::SortOrder;
use crate::spec::table_metadata::TableMetadata;
use crate::spec::types::FieldId;
use crate::update::fresh_ids::FreshIds;
use crate::update::{LAST_ADDED, TableUpdate};

/// Java's default for tables made since 1.4.
const PARQUET_COMPRESSION: (&str, &str) = ("write.parquet.compression-codec", "zstd");

impl MetadataBuilder {
    /// Starts a new table: ids of columns, spec and order are assigned anew; reserved properties are left out, of which
    /// `format-version` is obeyed.
    ///
    /// # Errors
    /// `InvalidInput` when spec, order or identifier fields don't fit the schema, `Unsupported` for an upcoming version.
    pub fn new_table(creation: &TableCreation, location: &str, uuid: Uuid) -> Result<Self> {
        let mut builder = MetadataBuilder::empty();
        let version = match creation.properties.get(FORMAT_VERSION) {
            Some(text) => format_version(text)?,
            None => creation.format_version,
        };
        let mut ids = FreshIds::after(0);
        let schema = ids.assign_schema(0, &creation.schema)?;
        let spec = fresh_spec(creation.partition_spec.as_ref(), &creation.schema, &ids)?;
        let order = fresh_order(creation.sort_order.as_ref(), &creation.schema, &ids)?;
        builder.apply_all(&[
            TableUpdate::AssignUuid(uuid),
            TableUpdate::UpgradeFormatVersion(version),
            TableUpdate::AddSchema(schema),
            TableUpdate::SetCurrentSchema(LAST_ADDED),
            TableUpdate::AddSpec(spec),
            TableUpdate::SetDefaultSpec(LAST_ADDED),
            TableUpdate::AddSortOrder(order),
            TableUpdate::SetDefaultSortOrder(LAST_ADDED),
            TableUpdate::SetLocation(location.to_string()),
            TableUpdate::SetProperties(persisted(&creation.properties)),
        ])?;
        Ok(builder)
    }
}

/// The updates that make a table like `metadata` from nothing, for a commit that requires that no table exists.
pub fn creation_updates(metadata: &TableMetadata) -> Vec<TableUpdate> {
    let mut updates = Vec::new();
    updates.extend(metadata.table_uuid.map(TableUpdate::AssignUuid));
    updates.extend([
        TableUpdate::UpgradeFormatVersion(metadata.format_version),
        TableUpdate::AddSchema(metadata.current_schema().as_ref().clone()),
        TableUpdate::SetCurrentSchema(LAST_ADDED),
        TableUpdate::AddSpec(metadata.default_spec().as_ref().clone()),
        TableUpdate::SetDefaultSpec(LAST_ADDED),
        TableUpdate::AddSortOrder(metadata.default_sort_order().as_ref().clone()),
        TableUpdate::SetDefaultSortOrder(LAST_ADDED),
        TableUpdate::SetLocation(metadata.location.clone()),
    ]);
    if !metadata.properties.is_empty() {
        updates.push(TableUpdate::SetProperties(metadata.properties.clone()));
    }
    updates
}

/// The properties that a new table stores: without reserved ones, with the defaults for new tables.
pub(crate) fn persisted(properties: &Properties) -> Properties {
    let (codec, zstd) = PARQUET_COMPRESSION;
    let mut persisted = Properties::from([(codec.to_string(), zstd.to_string())]);
    let kept = properties.iter().filter(|(key, _)| !is_reserved(key));
    persisted.extend(kept.map(|(key, value)| (key.clone(), value.clone())));
    persisted
}

/// The spec over new column ids, with field ids counting from 1000.
pub(crate) fn fresh_spec(spec: Option<&PartitionSpec>, schema: &Schema, ids: &FreshIds) -> Result<PartitionSpec> {
    let mut fresh = spec.cloned().unwrap_or_default();
    fresh.spec_id = 0;
    for (id, field) in (PARTITION_FIELD_ID_START..).zip(&mut fresh.fields) {
        field.field_id = id;
        field.source_ids = fresh_sources(&field.source_ids, schema, ids)?;
    }
    Ok(fresh)
}

/// The order over new column ids.
pub(crate) fn fresh_order(order: Option<&SortOrder>, schema: &Schema, ids: &FreshIds) -> Result<SortOrder> {
    let mut fresh = order.cloned().unwrap_or_default();
    fresh.order_id = if fresh.is_unsorted() { 0 } else { 1 };
    for field in &mut fresh.fields {
        field.source_ids = fresh_sources(&field.source_ids, schema, ids)?;
    }
    Ok(fresh)
}

fn fresh_sources(sources: &[FieldId], schema: &Schema, ids: &FreshIds) -> Result<Vec<FieldId>> {
    let fresh = sources.iter().map(|id| {
        let new = schema.field_by_id(*id).and_then(|_| ids.new_id(*id));
        new.ok_or_else(|| {
            Error::invalid(format!(
                "column {id} of the partition spec or sort order is not in the schema"
            ))
        })
    });
    fresh.collect()
}
