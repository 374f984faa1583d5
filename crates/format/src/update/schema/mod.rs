//! [`SchemaUpdate`]: schema evolution (Java: `UpdateSchema`, `SchemaUpdate`).
//!
//! Columns are named by their full names in the schema the update started from, such as `location.lat`,
//! `points.element.x` or, shorter, `points.x`. Every call is checked at once; [`SchemaUpdate::apply`] gives the new schema,
//! [`SchemaUpdate::finish`] the change to commit.

mod apply;
mod column;
mod column_properties;
mod promotion;
#[cfg(test)]
mod tests;
mod union_by_name;

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

pub use column::{ColumnPosition, IncompatibleChanges, NewColumn};
pub use promotion::is_promotion_allowed;

use super::fresh_ids::FreshIds;
use super::requirements::{TableChange, requirements_for_update};
use super::{LAST_ADDED, TableUpdate};
use crate::error::{Error, Result};
use crate::spec::name_mapping::{DEFAULT_NAME_MAPPING, NameMapping};
use crate::spec::schema::{CaseSensitivity, SchemaRef};
use crate::spec::table_metadata::TableMetadataRef;
use crate::spec::types::{FieldId, NestedField, NestedFieldRef, Nullability, Type};
use crate::spec::value::Value;
use crate::spec::value_json;
use crate::transform::Transform;

/// Stands for the schema itself where fields have a parent.
const ROOT: FieldId = -1;

/// Changes of a table's schema, collected.
#[derive(Debug)]
pub struct SchemaUpdate {
    base: TableMetadataRef,
    schema: SchemaRef,
    case: CaseSensitivity,
    incompatible: IncompatibleChanges,
    ids: FreshIds,
    pending: Pending,
    identifiers: Option<Vec<Identifier>>,
}

/// What was asked for so far.
#[derive(Debug, Default)]
struct Pending {
    deletes: BTreeSet<FieldId>,
    /// Changed and added fields.
    updates: HashMap<FieldId, NestedField>,
    /// Added fields by parent, in order.
    adds: HashMap<FieldId, Vec<FieldId>>,
    /// Full names of added fields, in lower case when case does not matter.
    added_names: HashMap<String, FieldId>,
    /// Parents of added fields.
    added_parents: HashMap<FieldId, FieldId>,
    moves: HashMap<FieldId, Vec<Move>>,
}

#[derive(Debug, Clone, Copy)]
struct Move {
    id: FieldId,
    target: MoveTarget,
}

#[derive(Debug, Clone, Copy)]
enum MoveTarget {
    First,
    Before(FieldId),
    After(FieldId),
}

#[derive(Debug)]
enum Identifier {
    Id(FieldId),
    /// Not known when it was named; a column that is added later.
    Name(String),
}

impl SchemaUpdate {
    /// Starts from a table's current schema.
    pub fn new(base: &TableMetadataRef) -> Self {
        SchemaUpdate {
            schema: Arc::clone(base.current_schema()),
            case: CaseSensitivity::Sensitive,
            incompatible: IncompatibleChanges::Refuse,
            ids: FreshIds::after(base.last_column_id),
            base: Arc::clone(base),
            pending: Pending::default(),
            identifiers: None,
        }
    }

    /// Whether names must match in case; they must by default.
    #[must_use]
    pub fn case_sensitivity(mut self, case: CaseSensitivity) -> Self {
        self.case = case;
        self
    }

    /// Whether incompatible changes are made.
    #[must_use]
    pub fn incompatible_changes(mut self, incompatible: IncompatibleChanges) -> Self {
        self.incompatible = incompatible;
        self
    }

    /// Adds a column at the end of its struct.
    ///
    /// # Errors
    /// `InvalidInput` when the parent is no struct or goes, the name is taken, the default is not of the type, or a
    /// required column has no default.
    pub fn add_column(&mut self, column: NewColumn) -> Result<&mut Self> {
        let (parent_id, full_name) = match &column.parent {
            None => (ROOT, column.name.clone()),
            Some(parent) => {
                let id = self.struct_to_add_to(parent)?.id;
                if self.pending.deletes.contains(&id) {
                    return Err(Error::invalid(format!(
                        "cannot add to '{parent}', which will be dropped"
                    )));
                }
                let path = self.schema.full_name(id).unwrap_or(parent);
                (id, format!("{path}.{}", column.name))
            }
        };
        let existing = self.find(&full_name)?.map(|field| field.id);
        if existing.is_some_and(|id| !self.pending.deletes.contains(&id)) || self.added(&full_name).is_some() {
            return Err(Error::invalid(format!("column '{full_name}' exists already")));
        }
        let required = column.nullability == Nullability::Required;
        if required && column.default.is_none() && self.incompatible == IncompatibleChanges::Refuse {
            let message = format!("cannot add required column '{full_name}' without a default value");
            return Err(Error::invalid(message));
        }
        check_default(&full_name, column.default.as_ref(), &column.column_type)?;
        let id = self.ids.next_id()?;
        let field = NestedField {
            id,
            name: column.name,
            required,
            field_type: self.ids.assign_type(&column.column_type)?,
            doc: column.doc,
            initial_default: column.default.clone(),
            write_default: column.default,
            extra: Default::default(),
            type_extra: Default::default(),
        };
        let key = self.name_key(&full_name);
        let pending = &mut self.pending;
        pending.added_names.insert(key, id);
        pending.added_parents.insert(id, parent_id);
        pending.updates.insert(id, field);
        pending.adds.entry(parent_id).or_default().push(id);
        Ok(self)
    }

    /// Drops a column.
    ///
    /// # Errors
    /// `InvalidInput` when it does not exist or the update changes or adds to it.
    pub fn delete_column(&mut self, name: &str) -> Result<&mut Self> {
        let id = self.existing(name)?.id;
        if self.pending.adds.contains_key(&id) {
            return Err(Error::invalid(format!("cannot drop column '{name}', it has additions")));
        }
        if self.pending.updates.contains_key(&id) {
            return Err(Error::invalid(format!(
                "cannot drop column '{name}', it has other changes"
            )));
        }
        self.pending.deletes.insert(id);
        Ok(self)
    }

    /// Renames a column; `new_name` is its own name, not its path.
    ///
    /// # Errors
    /// `InvalidInput` when it does not exist or will be dropped.
    pub fn rename_column(&mut self, name: &str, new_name: &str) -> Result<&mut Self> {
        let id = self.existing(name)?.id;
        self.change(name, id, |field| field.name = new_name.to_string())
    }

    /// Makes a column refuse null.
    ///
    /// # Errors
    /// `InvalidInput` when it does not exist, will be dropped, or older rows may hold null in it.
    pub fn require_column(&mut self, name: &str) -> Result<&mut Self> {
        let field = self.for_update(name)?;
        if field.required {
            return Ok(self);
        }
        let defaulted = self.added(name).is_some() && field.initial_default.is_some();
        if !defaulted && self.incompatible == IncompatibleChanges::Refuse {
            return Err(Error::invalid(format!("cannot make optional column '{name}' required")));
        }
        let id = field.id;
        self.change(name, id, |field| field.required = true)
    }

    /// Makes a column allow null.
    ///
    /// # Errors
    /// `InvalidInput` when it does not exist or will be dropped.
    pub fn make_column_optional(&mut self, name: &str) -> Result<&mut Self> {
        let field = self.for_update(name)?;
        if !field.required {
            return Ok(self);
        }
        let id = field.id;
        self.change(name, id, |field| field.required = false)
    }

    /// Promotes a column to a wider type.
    ///
    /// # Errors
    /// `InvalidInput` when it does not exist, will be dropped, or the spec does not allow the promotion.
    pub fn update_column_type(&mut self, name: &str, new_type: impl Into<Type>) -> Result<&mut Self> {
        let new_type = new_type.into();
        let field = self.for_update(name)?;
        if field.field_type == new_type {
            return Ok(self);
        }
        let (id, from) = (field.id, field.field_type);
        if !is_promotion_allowed(&from, &new_type, self.base.format_version) {
            return Err(Error::invalid(format!(
                "cannot change the type of column '{name}' from {from} to {new_type}"
            )));
        }
        self.check_partition_values(name, id, &from, &new_type)?;
        let new_type = self.ids.assign_type(&new_type)?;
        let promote = |value: &Option<Value>| match value {
            None => Ok(None),
            Some(value) => match promotion::promote_value(value, &from, &new_type) {
                Some(value) => Ok(Some(value)),
                None => Err(Error::invalid(format!(
                    "the default of column '{name}' does not fit {new_type}"
                ))),
            },
        };
        let (initial, write) = (promote(&field.initial_default)?, promote(&field.write_default)?);
        self.change(name, id, |field| {
            field.field_type = new_type;
            field.initial_default = initial;
            field.write_default = write;
        })
    }

    /// Sets or removes a column's comment.
    ///
    /// # Errors
    /// `InvalidInput` when it does not exist or will be dropped.
    pub fn update_column_doc(&mut self, name: &str, doc: Option<&str>) -> Result<&mut Self> {
        let field = self.for_update(name)?;
        if field.doc.as_deref() == doc {
            return Ok(self);
        }
        let id = field.id;
        self.change(name, id, |field| field.doc = doc.map(str::to_string))
    }

    /// Sets or removes the value for writers that give none. What older rows read as does not change.
    ///
    /// # Errors
    /// `InvalidInput` when the column does not exist or will be dropped, or the value is not of its type.
    pub fn update_column_default(&mut self, name: &str, default: Option<Value>) -> Result<&mut Self> {
        let field = self.for_update(name)?;
        if field.write_default == default {
            return Ok(self);
        }
        check_default(name, default.as_ref(), &field.field_type)?;
        let id = field.id;
        self.change(name, id, |field| field.write_default = default)
    }

    /// Moves a column among its siblings.
    ///
    /// # Errors
    /// `InvalidInput` when it or the other does not exist, they are not siblings, or their parent is no struct.
    pub fn move_column(&mut self, name: &str, position: &ColumnPosition) -> Result<&mut Self> {
        let id = self.for_move(name)?;
        let other = match position {
            ColumnPosition::First => None,
            ColumnPosition::Before(other) | ColumnPosition::After(other) => Some(self.for_move(other)?),
        };
        if other == Some(id) {
            return Err(Error::invalid(format!("cannot move column '{name}' next to itself")));
        }
        let parent = self.parent_of(id);
        let above = self.schema.field_by_id(parent);
        if let Some(above) = above.filter(|above| above.field_type.as_struct().is_none()) {
            let message = format!("cannot move column '{name}' in a {}", above.field_type);
            return Err(Error::invalid(message));
        }
        if other.is_some_and(|other| self.parent_of(other) != parent) {
            return Err(Error::invalid(format!(
                "cannot move column '{name}' to a different struct"
            )));
        }
        let target = match (position, other) {
            (ColumnPosition::Before(_), Some(other)) => MoveTarget::Before(other),
            (ColumnPosition::After(_), Some(other)) => MoveTarget::After(other),
            _ => MoveTarget::First,
        };
        self.pending.moves.entry(parent).or_default().push(Move { id, target });
        Ok(self)
    }

    /// Sets the columns that identify rows, by their full names before or after this update.
    pub fn set_identifier_fields<'a>(&mut self, names: impl IntoIterator<Item = &'a str>) -> Result<&mut Self> {
        let mut identifiers = Vec::new();
        for name in names {
            let known = self.find(name)?.map(|field| field.id).or_else(|| self.added(name));
            identifiers.push(known.map_or_else(|| Identifier::Name(name.to_string()), Identifier::Id));
        }
        self.identifiers = Some(identifiers);
        Ok(self)
    }

    /// The change to commit; empty when nothing changes.
    ///
    /// # Errors
    /// Those of [`Self::apply`].
    pub fn finish(self) -> Result<TableChange> {
        let schema = self.apply()?;
        let mut updates = Vec::new();
        if !schema.same_fields(&self.schema) {
            updates.push(TableUpdate::AddSchema(schema.clone()));
            updates.push(TableUpdate::SetCurrentSchema(LAST_ADDED));
        }
        let (mut set, removed) = self.column_property_changes(&schema);
        if let Some(mapping) = self.updated_name_mapping() {
            set.insert(DEFAULT_NAME_MAPPING.to_string(), mapping);
        }
        if !set.is_empty() {
            updates.push(TableUpdate::SetProperties(set));
        }
        if !removed.is_empty() {
            updates.push(TableUpdate::RemoveProperties(removed));
        }
        let requirements = match updates.is_empty() {
            true => Vec::new(),
            false => requirements_for_update(&self.base, &updates),
        };
        Ok((updates, requirements))
    }

    /// The table's name mapping with the update's changes, when it has one that changes. An unreadable mapping is left
    /// alone, as Java leaves it.
    fn updated_name_mapping(&self) -> Option<String> {
        let text = self.base.properties.get(DEFAULT_NAME_MAPPING)?;
        let mapping = NameMapping::from_json(text).ok()?;
        let updated = mapping.updated(&self.pending.updates, &self.pending.adds);
        (updated != mapping).then(|| updated.to_json().ok()).flatten()
    }

    fn change(&mut self, name: &str, id: FieldId, change: impl FnOnce(&mut NestedField)) -> Result<&mut Self> {
        if self.pending.deletes.contains(&id) {
            return Err(Error::invalid(format!(
                "cannot change column '{name}', which will be dropped"
            )));
        }
        let schema = &self.schema;
        let field = self.pending.updates.entry(id).or_insert_with(|| {
            let existing = schema.field_by_id(id).map(|field| field.as_ref().clone());
            existing.unwrap_or_else(|| NestedField::optional(id, name, Type::Variant))
        });
        change(field);
        Ok(self)
    }

    fn find(&self, name: &str) -> Result<Option<&NestedFieldRef>> {
        self.schema.find_field(name, self.case)
    }

    fn existing(&self, name: &str) -> Result<&NestedFieldRef> {
        self.find(name)?
            .ok_or_else(|| Error::invalid(format!("column '{name}' does not exist")))
    }

    /// A column as the update has it so far, also one just added.
    fn for_update(&self, name: &str) -> Result<NestedField> {
        let existing = self.find(name)?;
        let id = existing.map(|field| field.id).or_else(|| self.added(name));
        let pending = id.and_then(|id| self.pending.updates.get(&id)).cloned();
        pending
            .or_else(|| existing.map(|field| field.as_ref().clone()))
            .ok_or_else(|| Error::invalid(format!("column '{name}' does not exist")))
    }

    fn for_move(&self, name: &str) -> Result<FieldId> {
        match self.added(name) {
            Some(id) => Ok(id),
            None => Ok(self.existing(name)?.id),
        }
    }

    fn added(&self, name: &str) -> Option<FieldId> {
        self.pending.added_names.get(&self.name_key(name)).copied()
    }

    fn name_key(&self, name: &str) -> String {
        match self.case {
            CaseSensitivity::Sensitive => name.to_string(),
            CaseSensitivity::Insensitive => name.to_lowercase(),
        }
    }

    fn parent_of(&self, id: FieldId) -> FieldId {
        let added = self.pending.added_parents.get(&id).copied();
        added.or_else(|| self.schema.parent_id(id)).unwrap_or(ROOT)
    }

    /// The struct that `parent` names; a list stands for its element and a map for its value.
    fn struct_to_add_to(&self, parent: &str) -> Result<&NestedFieldRef> {
        let field = self
            .find(parent)?
            .ok_or_else(|| Error::invalid(format!("parent column '{parent}' does not exist")))?;
        let holder = match &field.field_type {
            Type::List(list) => &list.element,
            Type::Map(map) => &map.value,
            _ => field,
        };
        match holder.field_type {
            Type::Struct(_) => Ok(holder),
            _ => Err(Error::invalid(format!(
                "cannot add to column '{parent}' of type {}, it is no struct",
                field.field_type
            ))),
        }
    }

    /// A promotion must not change the partition values of files already written (spec, "Schema Evolution").
    fn check_partition_values(&self, name: &str, id: FieldId, from: &Type, to: &Type) -> Result<()> {
        let from_date = matches!(from, Type::Primitive(crate::spec::types::PrimitiveType::Date));
        if !from_date || from == to {
            return Ok(());
        }
        let fields = self.base.partition_specs.iter().flat_map(|spec| &spec.fields);
        // Years, months and days of a date are those of its first moment; all else comes out otherwise.
        let changing = fields.filter(|field| field.source_ids.contains(&id)).find(|field| {
            !matches!(
                field.transform,
                Transform::Void | Transform::Year | Transform::Month | Transform::Day
            )
        });
        match changing {
            None => Ok(()),
            Some(field) => Err(Error::invalid(format!(
                "cannot change the type of column '{name}': values of partition field '{}' would change",
                field.name
            ))),
        }
    }
}

fn check_default(name: &str, default: Option<&Value>, field_type: &Type) -> Result<()> {
    match default {
        None => Ok(()),
        Some(value) => value_json::to_json(value, field_type)
            .map(drop)
            .map_err(|e| Error::invalid(format!("default of column '{name}' is not valid")).with_source(e)),
    }
}
