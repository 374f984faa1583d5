//! Applying the collected changes to the schema.

use std::collections::HashMap;
use std::sync::Arc;

use super::{Identifier, Move, MoveTarget, Pending, ROOT, SchemaUpdate};
use crate::error::{Error, Result};
use crate::spec::schema::Schema;
use crate::spec::types::{FieldId, ListType, MapType, NestedField, NestedFieldRef, StructType, Type};
use crate::update::validate_identifier_field;

impl SchemaUpdate {
    /// The schema with the changes; its id is that of the schema the update started from.
    ///
    /// # Errors
    /// `InvalidInput` when two columns get one name, an identifier field is dropped, or a map key, list element or map
    /// value would be dropped or a key changed; `Validation` when an identifier field is unfit.
    pub fn apply(&self) -> Result<Schema> {
        self.check_identifiers_stay()?;
        let root = self.pending.apply_struct(self.schema.as_struct(), ROOT)?;
        let bare = Schema::new(self.schema.schema_id(), root.clone(), Vec::new())?;
        let mut identifiers = Vec::new();
        match &self.identifiers {
            None => identifiers.extend_from_slice(self.schema.identifier_field_ids()),
            Some(named) => {
                for identifier in named {
                    let id = match identifier {
                        Identifier::Id(id) => *id,
                        Identifier::Name(name) => {
                            let found = bare.find_field(name, self.case)?.map(|field| field.id);
                            found.ok_or_else(|| Error::invalid(format!("identifier field '{name}' does not exist")))?
                        }
                    };
                    if !identifiers.contains(&id) {
                        identifiers.push(id);
                    }
                }
            }
        }
        identifiers
            .iter()
            .try_for_each(|id| validate_identifier_field(&bare, *id))?;
        let changed = Schema::new(self.schema.schema_id(), root, identifiers)?;
        Ok(changed.with_extra(self.schema.extra().clone()))
    }

    fn check_identifiers_stay(&self) -> Result<()> {
        let ids: Vec<FieldId> = match &self.identifiers {
            None => self.schema.identifier_field_ids().to_vec(),
            Some(named) => named
                .iter()
                .filter_map(|i| if let Identifier::Id(id) = i { Some(*id) } else { None })
                .collect(),
        };
        for id in ids {
            let mut above = Some(id);
            while let Some(current) = above {
                if self.pending.deletes.contains(&current) {
                    let name = |id| self.schema.full_name(id).unwrap_or_default();
                    return Err(Error::invalid(format!(
                        "cannot drop column '{}': identifier field '{}' would go; set the identifier fields first",
                        name(current),
                        name(id)
                    )));
                }
                above = self.schema.parent_id(current);
            }
        }
        Ok(())
    }
}

impl Pending {
    fn apply_struct(&self, fields: &StructType, parent: FieldId) -> Result<StructType> {
        let mut changed = Vec::with_capacity(fields.fields.len());
        for field in &fields.fields {
            if !self.deletes.contains(&field.id) {
                changed.push(self.apply_field(field)?);
            }
        }
        for id in self.adds.get(&parent).into_iter().flatten() {
            changed.extend(self.updates.get(id).map(|field| Arc::new(field.clone())));
        }
        let moves = self.moves.get(&parent).map_or(&[] as &[Move], Vec::as_slice);
        Ok(StructType {
            fields: move_fields(changed, moves)?,
        })
    }

    fn apply_field(&self, field: &NestedFieldRef) -> Result<NestedFieldRef> {
        let update = self.updates.get(&field.id);
        let field_type = match &field.field_type {
            // Only a primitive changes its type as a whole; changes inside the others are applied one by one.
            Type::Primitive(_) | Type::Variant => update.unwrap_or(field).field_type.clone(),
            Type::Struct(inner) => Type::Struct(self.apply_struct(inner, field.id)?),
            Type::List(list) => self.apply_list(list)?,
            Type::Map(map) => self.apply_map(map)?,
        };
        if update.is_none() && field_type == field.field_type {
            return Ok(Arc::clone(field));
        }
        Ok(Arc::new(NestedField {
            field_type,
            ..update.unwrap_or(field).clone()
        }))
    }

    fn apply_list(&self, list: &ListType) -> Result<Type> {
        if self.deletes.contains(&list.element.id) {
            return Err(Error::invalid("the element of a list cannot be dropped"));
        }
        Ok(Type::List(ListType {
            element: self.apply_nested(&list.element)?,
        }))
    }

    fn apply_map(&self, map: &MapType) -> Result<Type> {
        let key = &map.key;
        if self.deletes.contains(&key.id) || self.deletes.contains(&map.value.id) {
            return Err(Error::invalid("the key or value of a map cannot be dropped"));
        }
        if self.updates.contains_key(&key.id) || self.adds.contains_key(&key.id) || self.apply_field(key)? != *key {
            return Err(Error::invalid("the key of a map cannot be changed"));
        }
        Ok(Type::Map(MapType {
            key: Arc::clone(key),
            value: self.apply_nested(&map.value)?,
        }))
    }

    /// An element or value keeps its fixed name.
    fn apply_nested(&self, field: &NestedFieldRef) -> Result<NestedFieldRef> {
        let applied = self.apply_field(field)?;
        if applied.name == field.name {
            return Ok(applied);
        }
        Err(Error::invalid(format!(
            "the {} of a list or map cannot be renamed",
            field.name
        )))
    }
}

fn move_fields(mut fields: Vec<NestedFieldRef>, moves: &[Move]) -> Result<Vec<NestedFieldRef>> {
    for Move { id, target } in moves {
        let positions: HashMap<FieldId, usize> = fields.iter().enumerate().map(|(i, f)| (f.id, i)).collect();
        let position_of = |id: &FieldId| {
            let position = positions.get(id).copied();
            position.ok_or_else(|| Error::invalid("a column that will be dropped cannot be moved or moved to"))
        };
        let from = position_of(id)?;
        let to = match target {
            MoveTarget::First => 0,
            MoveTarget::Before(other) => position_of(other)?,
            MoveTarget::After(other) => position_of(other)? + 1,
        };
        let field = fields.remove(from);
        fields.insert(if from < to { to - 1 } else { to }, field);
    }
    Ok(fields)
}
