//! Growing a schema to hold another (Java: `UnionByNameVisitor`).

use super::promotion::is_promotion_allowed;
use super::{NewColumn, SchemaUpdate};
use crate::error::{Error, Result};
use crate::spec::schema::{CaseSensitivity, Schema};
use crate::spec::types::{NestedField, NestedFieldRef, StructType, Type};

impl SchemaUpdate {
    /// Adds the columns of `other` that are missing, matched by name at every depth, and widens those that are there:
    /// promotes types, makes columns optional that `other` has optional, and takes over its comments and write defaults.
    /// Narrower types in `other` change nothing.
    ///
    /// # Errors
    /// `InvalidInput` when a column has a type in `other` that it cannot be promoted to.
    pub fn union_by_name_with(&mut self, other: &Schema) -> Result<&mut Self> {
        let existing = self.schema.as_struct().clone();
        self.union_struct(&existing, other.as_struct(), None)?;
        Ok(self)
    }

    fn union_struct(&mut self, existing: &StructType, other: &StructType, path: Option<&str>) -> Result<()> {
        for field in &other.fields {
            match self.partner(existing, &field.name)? {
                Some(partner) => self.union_field(&partner, field)?,
                None => self.union_new(field, path)?,
            }
        }
        Ok(())
    }

    fn partner(&self, existing: &StructType, name: &str) -> Result<Option<NestedFieldRef>> {
        if self.case == CaseSensitivity::Sensitive {
            return Ok(existing.field_by_name(name).cloned());
        }
        let lower = name.to_lowercase();
        let mut matching = existing.fields.iter().filter(|f| f.name.to_lowercase() == lower);
        match (matching.next(), matching.next()) {
            (found, None) => Ok(found.cloned()),
            (_, Some(_)) => Err(Error::invalid(format!("column name '{name}' is ambiguous"))),
        }
    }

    fn union_new(&mut self, field: &NestedField, path: Option<&str>) -> Result<()> {
        let mut column = NewColumn::optional(field.name.clone(), field.field_type.clone());
        column.parent = path.map(str::to_string);
        column.doc = field.doc.clone();
        column.default = field.initial_default.clone();
        self.add_column(column)?;
        let full_name = path.map_or_else(|| field.name.clone(), |path| format!("{path}.{}", field.name));
        self.update_column_default(&full_name, field.write_default.clone())?;
        Ok(())
    }

    fn union_field(&mut self, existing: &NestedField, other: &NestedField) -> Result<()> {
        let schema = std::sync::Arc::clone(&self.schema);
        let name = schema.full_name(existing.id).unwrap_or(&existing.name);
        match (&existing.field_type, &other.field_type) {
            (Type::Struct(ours), Type::Struct(theirs)) => self.union_struct(ours, theirs, Some(name))?,
            (Type::List(ours), Type::List(theirs)) => self.union_field(&ours.element, &theirs.element)?,
            (Type::Map(ours), Type::Map(theirs)) => {
                self.union_field(&ours.key, &theirs.key)?;
                self.union_field(&ours.value, &theirs.value)?;
            }
            (ours, theirs) => {
                // What can be promoted to ours is narrower and needs no change.
                if !is_promotion_allowed(theirs, ours, self.base.format_version) {
                    self.update_column_type(name, theirs.clone())?;
                }
            }
        }
        if existing.required && !other.required {
            self.make_column_optional(name)?;
        }
        if other.doc.is_some() {
            self.update_column_doc(name, other.doc.as_deref())?;
        }
        if other.write_default.is_some() {
            self.update_column_default(name, other.write_default.clone())?;
        }
        Ok(())
    }
}
