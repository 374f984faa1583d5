//! Schemas, partition specs and sort orders under change.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::MetadataBuilder;
use super::compatibility::{check_order, check_spec, check_spec_names};
use crate::error::{Error, Result};
use crate::spec::partition::PartitionSpec;
use crate::spec::schema::{Schema, SchemaRef};
use crate::spec::sort::SortOrder;
use crate::update::LAST_ADDED;

impl MetadataBuilder {
    pub(super) fn add_schema(&mut self, schema: &Schema) -> Result<()> {
        let state = &mut self.state;
        let last_column_id = state.last_column_id.max(schema.highest_field_id());
        let found = state.schemas.iter().find(|s| s.same_fields(schema));
        let id = match found {
            Some(same) => same.schema_id(),
            None => {
                let ids = state.schemas.iter().map(|s| s.schema_id());
                let id = next_id(ids, 0)?;
                state.schemas.push(Arc::new(schema.with_schema_id(id)));
                self.changes.added_schemas.insert(id);
                self.changes.any = true;
                id
            }
        };
        if last_column_id != state.last_column_id {
            state.last_column_id = last_column_id;
            self.changes.any = true;
        }
        self.changes.last_schema = Some(id);
        Ok(())
    }

    pub(super) fn set_current_schema(&mut self, id: i32) -> Result<()> {
        let id = resolve(id, self.changes.last_schema, "schema")?;
        if self.state.schema_by_id(id).is_none() {
            return Err(Error::validation(format!("schema {id} does not exist")));
        }
        if self.state.current_schema_id != id {
            self.state.current_schema_id = id;
            self.changes.any = true;
        }
        Ok(())
    }

    pub(super) fn remove_schemas(&mut self, ids: &[i32]) -> Result<()> {
        if ids.contains(&self.state.current_schema_id) {
            return Err(Error::validation("the current schema cannot be removed"));
        }
        let before = self.state.schemas.len();
        self.state.schemas.retain(|s| !ids.contains(&s.schema_id()));
        self.changes.any |= self.state.schemas.len() != before;
        Ok(())
    }

    pub(super) fn add_spec(&mut self, spec: &PartitionSpec) -> Result<()> {
        if let Some(same) = self.state.partition_specs.iter().find(|s| same_partitioning(s, spec)) {
            self.changes.last_spec = Some(same.spec_id);
            return Ok(());
        }
        let schema = self.schema_for("a partition spec")?;
        check_spec(spec, &schema)?;
        check_spec_names(spec, &schema)?;
        let state = &mut self.state;
        let id = next_id(state.partition_specs.iter().map(|s| s.spec_id), 0)?;
        let highest = spec.fields.iter().map(|f| f.field_id).max();
        state.last_partition_id = state.last_partition_id.max(highest.unwrap_or(i32::MIN));
        state.partition_specs.push(Arc::new(PartitionSpec {
            spec_id: id,
            ..spec.clone()
        }));
        self.changes.added_specs.insert(id);
        self.changes.last_spec = Some(id);
        self.changes.any = true;
        Ok(())
    }

    pub(super) fn set_default_spec(&mut self, id: i32) -> Result<()> {
        let id = resolve(id, self.changes.last_spec, "partition spec")?;
        if self.state.spec_by_id(id).is_none() {
            return Err(Error::validation(format!("partition spec {id} does not exist")));
        }
        if self.state.default_spec_id != id {
            self.state.default_spec_id = id;
            self.changes.any = true;
        }
        Ok(())
    }

    pub(super) fn remove_specs(&mut self, ids: &[i32]) -> Result<()> {
        if ids.contains(&self.state.default_spec_id) {
            return Err(Error::validation("the default partition spec cannot be removed"));
        }
        let before = self.state.partition_specs.len();
        self.state.partition_specs.retain(|s| !ids.contains(&s.spec_id));
        self.changes.any |= self.state.partition_specs.len() != before;
        Ok(())
    }

    pub(super) fn add_sort_order(&mut self, order: &SortOrder) -> Result<()> {
        let orders = &self.state.sort_orders;
        let found = match order.is_unsorted() {
            true => orders.iter().find(|o| o.order_id == 0),
            false => orders.iter().find(|o| o.fields == order.fields),
        };
        if let Some(same) = found {
            self.changes.last_order = Some(same.order_id);
            return Ok(());
        }
        let schema = self.schema_for("a sort order")?;
        check_order(order, &schema)?;
        let state = &mut self.state;
        let id = match order.is_unsorted() {
            true => 0,
            false => next_id(state.sort_orders.iter().map(|o| o.order_id), 1)?,
        };
        state.sort_orders.push(Arc::new(SortOrder {
            order_id: id,
            ..order.clone()
        }));
        self.changes.last_order = Some(id);
        self.changes.any = true;
        Ok(())
    }

    pub(super) fn set_default_sort_order(&mut self, id: i32) -> Result<()> {
        let id = resolve(id, self.changes.last_order, "sort order")?;
        if self.state.sort_order_by_id(id).is_none() {
            return Err(Error::validation(format!("sort order {id} does not exist")));
        }
        if self.state.default_sort_order_id != id {
            self.state.default_sort_order_id = id;
            self.changes.any = true;
        }
        Ok(())
    }

    /// The schema that specs and orders are checked against: the current one, or the one just added to a new table.
    fn schema_for(&self, what: &str) -> Result<SchemaRef> {
        let state = &self.state;
        let current = state.schema_by_id(state.current_schema_id);
        let found = current.or_else(|| state.schemas.last());
        found
            .cloned()
            .ok_or_else(|| Error::validation(format!("{what} cannot be added before a schema")))
    }
}

/// Whether two specs partition alike: ids don't matter (Java: `PartitionSpec.compatibleWith`).
pub(crate) fn same_partitioning(one: &PartitionSpec, other: &PartitionSpec) -> bool {
    let key = |spec: &PartitionSpec| -> Vec<_> {
        let fields = spec.fields.iter();
        fields
            .map(|f| (f.source_ids.clone(), f.transform.to_string(), f.name.clone()))
            .collect()
    };
    key(one) == key(other)
}

pub(crate) fn next_id(ids: impl Iterator<Item = i32>, first: i32) -> Result<i32> {
    let taken: BTreeSet<i32> = ids.collect();
    match taken.last() {
        Some(highest) if *highest >= first => highest
            .checked_add(1)
            .ok_or_else(|| Error::validation("ids are used up")),
        _ => Ok(first),
    }
}

fn resolve(id: i32, last_added: Option<i32>, what: &str) -> Result<i32> {
    match (id, last_added) {
        (LAST_ADDED, Some(last)) => Ok(last),
        (LAST_ADDED, None) => Err(Error::validation(format!("no {what} was added that could be set"))),
        (id, _) => Ok(id),
    }
}
