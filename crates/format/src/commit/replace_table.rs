//! The updates that put another table in the place of one that exists (Java: `TableMetadata.buildReplacement`).
//!
//! Columns and partition fields that the old table had keep their ids, by full name or by source and transform. The
//! history stays; only `main` is taken away.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::catalog::TableCreation;
use crate::error::{Error, Result};
use crate::spec::partition::{PartitionField, PartitionSpec};
use crate::spec::schema::Schema;
use crate::spec::snapshot::{MAIN_BRANCH, Properties};
use crate::spec::sort::SortOrder;
use crate::spec::table_metadata::{FormatVersion, TableMetadata};
use crate::spec::types::{FieldId, ListType, MapType, NestedField, NestedFieldRef, StructType, Type};
use crate::transform::Transform;
use crate::update::fresh_ids::FreshIds;
use crate::update::{LAST_ADDED, RESERVED_PROPERTIES, TableUpdate};

const FORMAT_VERSION: &str = "format-version";

/// Updates that make `base` what `creation` says, for [`super::Transaction::replace`].
///
/// # Errors
/// `InvalidInput` when the spec or order names a column that the schema has not, or the format version is unknown.
pub fn replacement_updates(base: &TableMetadata, creation: &TableCreation) -> Result<Vec<TableUpdate>> {
    let mut columns = Columns {
        before: base.current_schema(),
        wanted: &creation.schema,
        fresh: FreshIds::after(base.last_column_id),
        new_ids: BTreeMap::new(),
    };
    let schema = columns.schema()?;
    let mut updates = Vec::new();
    if let Some(text) = creation.properties.get(FORMAT_VERSION) {
        let version = text.trim().parse().ok().and_then(FormatVersion::from_number);
        let version = version.ok_or_else(|| Error::invalid(format!("unknown format version '{text}'")))?;
        if version != base.format_version {
            updates.push(TableUpdate::UpgradeFormatVersion(version));
        }
    }
    updates.extend([
        TableUpdate::RemoveSnapshotRef(MAIN_BRANCH.to_string()),
        TableUpdate::AddSchema(schema),
        TableUpdate::SetCurrentSchema(LAST_ADDED),
        TableUpdate::AddSpec(columns.spec(base, creation.partition_spec.as_ref())?),
        TableUpdate::SetDefaultSpec(LAST_ADDED),
        TableUpdate::AddSortOrder(columns.order(creation.sort_order.as_ref())?),
        TableUpdate::SetDefaultSortOrder(LAST_ADDED),
    ]);
    updates.extend(creation.location.clone().map(TableUpdate::SetLocation));
    let properties = creation.properties.iter();
    let properties = properties.filter(|(key, _)| !RESERVED_PROPERTIES.contains(&key.as_str()));
    let properties: Properties = properties.map(|(k, v)| (k.clone(), v.clone())).collect();
    if !properties.is_empty() {
        updates.push(TableUpdate::SetProperties(properties));
    }
    Ok(updates)
}

/// The new table's columns under their ids.
struct Columns<'a> {
    before: &'a Schema,
    wanted: &'a Schema,
    fresh: FreshIds,
    new_ids: BTreeMap<FieldId, FieldId>,
}

impl Columns<'_> {
    fn schema(&mut self) -> Result<Schema> {
        let root = self.fields(&self.wanted.as_struct().fields.clone())?;
        let identifiers = self.wanted.identifier_field_ids().iter();
        let identifiers = identifiers.filter_map(|id| self.new_ids.get(id).copied()).collect();
        let schema = Schema::new(self.wanted.schema_id(), root, identifiers)?;
        Ok(schema.with_extra(self.wanted.extra().clone()))
    }

    /// All ids of a level first, then those nested in it, as for new tables.
    fn fields(&mut self, fields: &[NestedFieldRef]) -> Result<StructType> {
        let ids: Vec<FieldId> = fields.iter().map(|f| self.id(f.id)).collect::<Result<_>>()?;
        let fields = fields.iter().zip(ids).map(|(field, id)| self.field(field, id));
        Ok(StructType {
            fields: fields.collect::<Result<_>>()?,
        })
    }

    fn field(&mut self, field: &NestedField, id: FieldId) -> Result<NestedFieldRef> {
        let field_type = match &field.field_type {
            Type::Struct(s) => Type::Struct(self.fields(&s.fields)?),
            Type::List(list) => {
                let element = self.id(list.element.id)?;
                Type::List(ListType {
                    element: self.field(&list.element, element)?,
                })
            }
            Type::Map(map) => {
                let (key, value) = (self.id(map.key.id)?, self.id(map.value.id)?);
                Type::Map(MapType {
                    key: self.field(&map.key, key)?,
                    value: self.field(&map.value, value)?,
                })
            }
            Type::Primitive(_) | Type::Variant => field.field_type.clone(),
        };
        Ok(Arc::new(NestedField {
            id,
            field_type,
            ..field.clone()
        }))
    }

    fn id(&mut self, wanted: FieldId) -> Result<FieldId> {
        let name = self.wanted.full_name(wanted).unwrap_or_default();
        let id = match self.before.field_by_name(name) {
            Some(field) => field.id,
            None => self.fresh.next_id()?,
        };
        self.new_ids.insert(wanted, id);
        Ok(id)
    }

    fn sources(&self, wanted: &[FieldId]) -> Result<Vec<FieldId>> {
        let ids = wanted.iter().map(|id| {
            let id = self.new_ids.get(id).copied();
            id.ok_or_else(|| Error::invalid("partition spec or sort order names a column that the schema has not"))
        });
        ids.collect()
    }

    fn order(&self, order: Option<&SortOrder>) -> Result<SortOrder> {
        let mut order = order.cloned().unwrap_or_default();
        order.order_id = i32::from(!order.is_unsorted());
        for field in &mut order.fields {
            field.source_ids = self.sources(&field.source_ids)?;
        }
        Ok(order)
    }

    fn spec(&self, base: &TableMetadata, spec: Option<&PartitionSpec>) -> Result<PartitionSpec> {
        let mut spec = spec.cloned().unwrap_or_default();
        spec.spec_id = 0;
        for field in &mut spec.fields {
            field.source_ids = self.sources(&field.source_ids)?;
        }
        match base.format_version {
            FormatVersion::V1 => carry_forward(base, &mut spec),
            FormatVersion::V2 | FormatVersion::V3 => reuse_ids(base, &mut spec),
        }
        Ok(spec)
    }
}

fn is_same(a: &PartitionField, b: &PartitionField) -> bool {
    a.source_ids == b.source_ids && a.transform == b.transform
}

/// A field that any spec had keeps its id.
fn reuse_ids(base: &TableMetadata, spec: &mut PartitionSpec) {
    let mut last = base.last_partition_id;
    for field in &mut spec.fields {
        let known = base.partition_specs.iter().flat_map(|s| &s.fields);
        let known = known.filter(|f| is_same(f, field)).map(|f| f.field_id).max();
        field.field_id = known.unwrap_or_else(|| {
            last = last.saturating_add(1);
            last
        });
    }
}

/// In v1 fields have their place for good: what is gone becomes void, what is new comes last.
fn carry_forward(base: &TableMetadata, spec: &mut PartitionSpec) {
    let mut added = std::mem::take(&mut spec.fields);
    let names: Vec<String> = added.iter().map(|f| f.name.clone()).collect();
    for old in &base.default_spec().fields {
        let place = added.iter().position(|f| is_same(f, old));
        let field = match place.map(|place| added.remove(place)) {
            Some(field) => PartitionField {
                field_id: old.field_id,
                ..field
            },
            None => PartitionField {
                name: match names.contains(&old.name) {
                    true => format!("{}_{}", old.name, old.field_id),
                    false => old.name.clone(),
                },
                transform: Transform::Void,
                ..old.clone()
            },
        };
        spec.fields.push(field);
    }
    for (n, field) in (1..).zip(&mut added) {
        field.field_id = base.last_partition_id.saturating_add(n);
    }
    spec.fields.append(&mut added);
}
