//! Fresh field ids (Java: `TypeUtil.assignFreshIds`): all fields of a level first, then what is nested in them.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::spec::schema::Schema;
use crate::spec::types::{
    FieldId, ListType, MAX_ASSIGNABLE_FIELD_ID, MapType, NestedField, NestedFieldRef, StructType, Type,
};

/// Gives out ids in order and remembers which old id became which new one.
#[derive(Debug)]
pub struct FreshIds {
    last: FieldId,
    new_ids: BTreeMap<FieldId, FieldId>,
    reused: BTreeMap<FieldId, FieldId>,
}

impl FreshIds {
    /// Ids count on from `last`.
    pub fn after(last: FieldId) -> Self {
        FreshIds {
            last,
            new_ids: BTreeMap::new(),
            reused: BTreeMap::new(),
        }
    }

    /// Ids count on from `last`, except that columns of `schema` take over the ids of columns of the same full name in
    /// `base`.
    pub fn reusing(last: FieldId, schema: &Schema, base: &Schema) -> Self {
        let same_name = |id: FieldId| Some((id, base.field_by_name(schema.full_name(id)?)?.id));
        FreshIds {
            reused: schema.field_ids().filter_map(same_name).collect(),
            ..Self::after(last)
        }
    }

    /// The highest id given; what `after` was told when none was.
    pub fn last(&self) -> FieldId {
        self.last
    }

    /// The new id of a field.
    pub fn new_id(&self, old: FieldId) -> Option<FieldId> {
        self.new_ids.get(&old).copied()
    }

    /// The next id.
    ///
    /// # Errors
    /// `InvalidInput` when the ids that columns may have are used up.
    pub fn next_id(&mut self) -> Result<FieldId> {
        if self.last >= MAX_ASSIGNABLE_FIELD_ID {
            return Err(Error::invalid("the table has no field ids left"));
        }
        self.last = self.last.max(0) + 1;
        Ok(self.last)
    }

    /// The type with new ids for everything nested in it.
    pub fn assign_type(&mut self, field_type: &Type) -> Result<Type> {
        Ok(match field_type {
            Type::Struct(s) => Type::Struct(self.assign_struct(s)?),
            Type::List(l) => {
                let id = self.replace(l.element.id)?;
                Type::List(ListType {
                    element: self.renumbered(&l.element, id)?,
                })
            }
            Type::Map(m) => {
                let key_id = self.replace(m.key.id)?;
                let value_id = self.replace(m.value.id)?;
                Type::Map(MapType {
                    key: self.renumbered(&m.key, key_id)?,
                    value: self.renumbered(&m.value, value_id)?,
                })
            }
            Type::Primitive(_) | Type::Variant => field_type.clone(),
        })
    }

    /// The struct with new ids for its fields and everything nested in them.
    pub fn assign_struct(&mut self, fields: &StructType) -> Result<StructType> {
        let ids = fields.fields.iter().map(|f| self.replace(f.id));
        let ids = ids.collect::<Result<Vec<FieldId>>>()?;
        let renumbered = fields.fields.iter().zip(ids).map(|(f, id)| self.renumbered(f, id));
        Ok(StructType {
            fields: renumbered.collect::<Result<Vec<_>>>()?,
        })
    }

    /// The schema with new ids, also in its identifier fields.
    pub fn assign_schema(&mut self, schema_id: i32, schema: &Schema) -> Result<Schema> {
        let root = self.assign_struct(schema.as_struct())?;
        let identifiers = schema.identifier_field_ids().iter();
        let renumbered = Schema::new(schema_id, root, identifiers.filter_map(|id| self.new_id(*id)).collect())?;
        Ok(renumbered.with_extra(schema.extra().clone()))
    }

    fn replace(&mut self, old: FieldId) -> Result<FieldId> {
        let new = match self.reused.get(&old) {
            Some(id) => *id,
            None => self.next_id()?,
        };
        self.new_ids.insert(old, new);
        Ok(new)
    }

    fn renumbered(&mut self, field: &NestedFieldRef, id: FieldId) -> Result<NestedFieldRef> {
        Ok(Arc::new(NestedField {
            id,
            field_type: self.assign_type(&field.field_type)?,
            ..field.as_ref().clone()
        }))
    }
}
