//! [`MetadataBuilder`]: applies [`TableUpdate`]s to table metadata and keeps the spec's writer rules.
//!
//! Semantics are those of Java's `TableMetadata.Builder` (1.10). Updates apply in order; what only the finished state can
//! show (types and defaults against the format version, the default spec against the current schema) is checked by
//! [`MetadataBuilder::build`]. A builder that returned an error must be dropped.

mod compatibility;
mod creation;
mod history;
mod properties;
mod schemas;
mod snapshots;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::sync::Arc;

pub use compatibility::validate_identifier_field;
pub(crate) use compatibility::{check_spec, check_spec_names};
pub use creation::creation_updates;
pub(crate) use creation::{fresh_order, fresh_spec, persisted};
pub(crate) use properties::{FORMAT_VERSION, format_version, is_reserved};
pub use properties::{RESERVED_PROPERTIES, positive_property};
pub(crate) use schemas::{next_id, same_partitioning};
pub(crate) use snapshots::check_ref;

use super::TableUpdate;
use crate::error::{Error, Result};
use crate::spec::partition::{PARTITION_FIELD_ID_START, PartitionSpec};
use crate::spec::sort::SortOrder;
use crate::spec::table_metadata::{FormatVersion, TableMetadata, TableMetadataRef};
use crate::spec::table_metadata_json::strip_trailing_slashes;

/// How far clocks of writers may differ, in milliseconds.
const CLOCK_TOLERANCE_MS: i64 = 60_000;

/// Table metadata under change.
#[derive(Debug)]
pub struct MetadataBuilder {
    base: Option<TableMetadataRef>,
    previous_location: Option<String>,
    state: TableMetadata,
    changes: Changes,
}

/// What the updates did so far.
#[derive(Debug, Default)]
struct Changes {
    any: bool,
    last_schema: Option<i32>,
    last_spec: Option<i32>,
    last_order: Option<i32>,
    added_schemas: BTreeSet<i32>,
    added_specs: BTreeSet<i32>,
    added_snapshots: BTreeSet<i64>,
    /// Added snapshots that `main` pointed to, in order.
    main_snapshots: Vec<i64>,
    /// Positions in the snapshot log of entries whose time is that of the build.
    undated_log_entries: Vec<usize>,
    snapshots_removed: bool,
    /// Refs that went with their snapshot and were not named since.
    dangling_refs: BTreeSet<String>,
    keys_added: bool,
}

impl MetadataBuilder {
    /// Starts from an empty state: the base of a commit that creates a table from updates.
    pub fn empty() -> Self {
        MetadataBuilder {
            base: None,
            previous_location: None,
            state: TableMetadata {
                format_version: FormatVersion::V2,
                table_uuid: None,
                location: String::new(),
                last_sequence_number: 0,
                last_updated_ms: 0,
                last_column_id: 0,
                schemas: Vec::new(),
                current_schema_id: -1,
                partition_specs: Vec::new(),
                default_spec_id: -1,
                last_partition_id: PARTITION_FIELD_ID_START - 1,
                sort_orders: Vec::new(),
                default_sort_order_id: -1,
                properties: Default::default(),
                current_snapshot_id: None,
                snapshots: Vec::new(),
                snapshot_log: Vec::new(),
                metadata_log: Vec::new(),
                refs: Default::default(),
                statistics: Vec::new(),
                partition_statistics: Vec::new(),
                next_row_id: 0,
                encryption_keys: Vec::new(),
                extra: Default::default(),
            },
            changes: Changes::default(),
        }
    }

    /// Starts from existing metadata. `previous_location` is its file, which goes into the metadata log.
    pub fn from_metadata(base: TableMetadataRef, previous_location: Option<&str>) -> Self {
        MetadataBuilder {
            state: base.as_ref().clone(),
            base: Some(base),
            previous_location: previous_location.map(str::to_string),
            changes: Changes::default(),
        }
    }

    /// Whether any update changed anything.
    pub fn changed(&self) -> bool {
        self.changes.any
    }

    /// The state so far. Not all of the rules hold before [`Self::build`].
    pub fn state(&self) -> &TableMetadata {
        &self.state
    }

    /// Applies one update.
    ///
    /// # Errors
    /// `Validation` or `InvalidInput` when it breaks a rule, `Conflict` when a newer base makes it stale (sequence
    /// number or first row id), `Unsupported` for a format version that cannot be reached.
    pub fn apply(&mut self, update: &TableUpdate) -> Result<()> {
        match update {
            TableUpdate::AssignUuid(uuid) => self.assign_uuid(*uuid),
            TableUpdate::UpgradeFormatVersion(version) => self.upgrade(*version),
            TableUpdate::AddSchema(schema) => self.add_schema(schema),
            TableUpdate::SetCurrentSchema(id) => self.set_current_schema(*id),
            TableUpdate::AddSpec(spec) => self.add_spec(spec),
            TableUpdate::SetDefaultSpec(id) => self.set_default_spec(*id),
            TableUpdate::AddSortOrder(order) => self.add_sort_order(order),
            TableUpdate::SetDefaultSortOrder(id) => self.set_default_sort_order(*id),
            TableUpdate::AddSnapshot(snapshot) => self.add_snapshot(snapshot),
            TableUpdate::SetSnapshotRef { name, reference } => self.set_ref(name, reference),
            TableUpdate::RemoveSnapshots(ids) => {
                self.remove_snapshots(ids);
                Ok(())
            }
            TableUpdate::RemoveSnapshotRef(name) => {
                self.remove_ref(name);
                Ok(())
            }
            TableUpdate::SetLocation(location) => self.set_location(location),
            TableUpdate::SetProperties(properties) => self.set_properties(properties),
            TableUpdate::RemoveProperties(keys) => {
                self.remove_properties(keys);
                Ok(())
            }
            TableUpdate::SetStatistics(_)
            | TableUpdate::RemoveStatistics(_)
            | TableUpdate::SetPartitionStatistics(_)
            | TableUpdate::RemovePartitionStatistics(_) => {
                self.change_statistics(update);
                Ok(())
            }
            TableUpdate::RemovePartitionSpecs(ids) => self.remove_specs(ids),
            TableUpdate::RemoveSchemas(ids) => self.remove_schemas(ids),
            TableUpdate::AddEncryptionKey(key) => {
                self.add_encryption_key(key);
                Ok(())
            }
            TableUpdate::RemoveEncryptionKey(id) => {
                self.remove_encryption_key(id);
                Ok(())
            }
        }
    }

    /// Applies updates in order.
    ///
    /// # Errors
    /// The first of [`Self::apply`].
    pub fn apply_all<'a>(&mut self, updates: impl IntoIterator<Item = &'a TableUpdate>) -> Result<()> {
        updates.into_iter().try_for_each(|update| self.apply(update))
    }

    /// Finishes: the new metadata as of `now_ms`, or the base as it was when nothing changed.
    ///
    /// # Errors
    /// `Validation` when the state as a whole breaks a rule, `Conflict` when a removed snapshot has a ref.
    pub fn build(mut self, now_ms: i64) -> Result<TableMetadata> {
        if let (Some(base), false) = (&self.base, self.changes.any) {
            return Ok(base.as_ref().clone());
        }
        if self.base.is_none() {
            self.complete_new_table()?;
        }
        self.state.table_uuid.get_or_insert_with(uuid::Uuid::new_v4);
        self.check_dangling_refs()?;
        self.check_whole()?;
        self.finish_history(now_ms)?;
        Ok(self.state)
    }

    /// A table made from updates alone may lack what has an obvious default.
    fn complete_new_table(&mut self) -> Result<()> {
        let state = &mut self.state;
        if state.schema_by_id(state.current_schema_id).is_none() {
            return Err(Error::validation("a new table has no current schema"));
        }
        if state.location.is_empty() {
            return Err(Error::validation("a new table has no location"));
        }
        if state.partition_specs.is_empty() {
            state.partition_specs.push(Arc::new(PartitionSpec::unpartitioned()));
        }
        if state.spec_by_id(state.default_spec_id).is_none() {
            state.default_spec_id = state.partition_specs[0].spec_id;
        }
        if state.sort_orders.is_empty() {
            state.sort_orders.push(Arc::new(SortOrder::unsorted()));
        }
        if state.sort_order_by_id(state.default_sort_order_id).is_none() {
            state.default_sort_order_id = state.sort_orders[0].order_id;
        }
        Ok(())
    }

    fn assign_uuid(&mut self, uuid: uuid::Uuid) -> Result<()> {
        match self.state.table_uuid {
            Some(current) if current == uuid => Ok(()),
            Some(current) => Err(Error::validation(format!(
                "the table has the uuid {current}, it cannot become {uuid}"
            ))),
            None => {
                self.state.table_uuid = Some(uuid);
                self.changes.any = true;
                Ok(())
            }
        }
    }

    fn upgrade(&mut self, version: FormatVersion) -> Result<()> {
        let current = self.state.format_version;
        // A table that does not exist yet may start at any version.
        if version < current && self.base.is_some() {
            let message = format!("a table of format version {current} cannot be downgraded to {version}");
            return Err(Error::validation(message));
        }
        if version != current {
            self.state.format_version = version;
            self.changes.any = true;
        }
        Ok(())
    }

    fn set_location(&mut self, location: &str) -> Result<()> {
        let location = strip_trailing_slashes(location);
        if location.is_empty() {
            return Err(Error::invalid("the location of a table cannot be empty"));
        }
        if self.state.location != location {
            self.state.location = location.to_string();
            self.changes.any = true;
        }
        Ok(())
    }
}
