//! A table schema: a struct with an id and identifier fields, indexed by id and name.

use std::collections::HashMap;
use std::sync::Arc;

use super::types::{FieldId, NestedField, NestedFieldRef, StructType, Type};
use super::unknown_fields::UnknownFields;
use crate::error::{Error, Result};

/// Whether names must match in case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum CaseSensitivity {
    Sensitive,
    Insensitive,
}

/// A schema and its indexes. Immutable; shared as [`SchemaRef`].
#[derive(Debug, Clone)]
pub struct Schema {
    schema_id: i32,
    identifier_field_ids: Vec<FieldId>,
    root: StructType,
    extra: UnknownFields,
    by_id: HashMap<FieldId, Indexed>,
    by_name: HashMap<String, FieldId>,
    by_lower_name: HashMap<String, Vec<FieldId>>,
    by_short_name: HashMap<String, FieldId>,
}

/// A shared schema.
pub type SchemaRef = Arc<Schema>;

/// Names from the root to a field, in full and with what may be left out left out.
#[derive(Default)]
struct Path {
    full: Vec<String>,
    short: Vec<String>,
}

#[derive(Debug, Clone)]
struct Indexed {
    field: NestedFieldRef,
    parent: Option<FieldId>,
    full_name: String,
}

impl PartialEq for Schema {
    fn eq(&self, other: &Self) -> bool {
        self.schema_id == other.schema_id && self.same_fields(other)
    }
}

impl Schema {
    /// Indexes `root`.
    ///
    /// # Errors
    /// `InvalidInput` when a field id occurs twice, two full names are equal, or an identifier field is unknown.
    pub fn new(schema_id: i32, root: StructType, identifier_field_ids: Vec<FieldId>) -> Result<Self> {
        let mut schema = Schema {
            schema_id,
            identifier_field_ids,
            by_id: HashMap::new(),
            by_name: HashMap::new(),
            by_lower_name: HashMap::new(),
            by_short_name: HashMap::new(),
            root: StructType::default(),
            extra: UnknownFields::default(),
        };
        let mut path = Path::default();
        for field in &root.fields {
            schema.index(field, None, &mut path)?;
        }
        schema.root = root;
        let Schema {
            by_name, by_short_name, ..
        } = &mut schema;
        by_short_name.retain(|name, _| !by_name.contains_key(name));
        for id in &schema.identifier_field_ids {
            if !schema.by_id.contains_key(id) {
                return Err(Error::invalid(format!("identifier field {id} is not in the schema")));
            }
        }
        Ok(schema)
    }

    fn index(&mut self, field: &NestedFieldRef, parent: Option<&NestedField>, path: &mut Path) -> Result<()> {
        // Java leaves out `element` and `value` where they hold a struct: `points.x` is `points.element.x`.
        let skipped = matches!(parent.map(|p| &p.field_type), Some(Type::List(_) | Type::Map(_)))
            && field.name != "key"
            && field.field_type.as_struct().is_some();
        path.full.push(field.name.clone());
        let full_name = path.full.join(".");
        if !skipped {
            path.short.push(field.name.clone());
            if path.short.len() < path.full.len() {
                self.by_short_name.insert(path.short.join("."), field.id);
            }
        }
        let indexed = Indexed {
            field: Arc::clone(field),
            parent: parent.map(|p| p.id),
            full_name: full_name.clone(),
        };
        if let Some(other) = self.by_id.insert(field.id, indexed) {
            let message = format!(
                "field id {} is used by both '{}' and '{full_name}'",
                field.id, other.full_name
            );
            return Err(Error::invalid(message));
        }
        if self.by_name.insert(full_name.clone(), field.id).is_some() {
            return Err(Error::invalid(format!("column name '{full_name}' occurs twice")));
        }
        self.by_lower_name
            .entry(full_name.to_lowercase())
            .or_default()
            .push(field.id);
        for child in field.field_type.children() {
            self.index(child, Some(field), path)?;
        }
        path.full.pop();
        if !skipped {
            path.short.pop();
        }
        Ok(())
    }

    /// The id, unique in the table.
    pub fn schema_id(&self) -> i32 {
        self.schema_id
    }

    /// The columns.
    pub fn as_struct(&self) -> &StructType {
        &self.root
    }

    /// The top-level fields.
    pub fn fields(&self) -> &[NestedFieldRef] {
        &self.root.fields
    }

    /// Ids of the fields that identify a row; may be empty.
    pub fn identifier_field_ids(&self) -> &[FieldId] {
        &self.identifier_field_ids
    }

    /// The field of this id at any depth.
    pub fn field_by_id(&self, id: FieldId) -> Option<&NestedFieldRef> {
        self.by_id.get(&id).map(|i| &i.field)
    }

    /// The type of the field of this id.
    pub fn type_by_id(&self, id: FieldId) -> Option<&Type> {
        self.field_by_id(id).map(|f| &f.field_type)
    }

    /// The field of exactly this full name, such as `a.b` or `list.element.c`. As in Java, `element` and `value` may be
    /// left out where they hold a struct: `list.c`.
    pub fn field_by_name(&self, name: &str) -> Option<&NestedFieldRef> {
        let id = self.by_name.get(name).or_else(|| self.by_short_name.get(name))?;
        self.field_by_id(*id)
    }

    /// The field whose full name equals `name` without regard to case.
    ///
    /// # Errors
    /// `InvalidInput` when several fields match.
    pub fn field_by_name_ignore_case(&self, name: &str) -> Result<Option<&NestedFieldRef>> {
        let lower = name.to_lowercase();
        let short = || -> Vec<FieldId> {
            let names = self.by_short_name.iter();
            names
                .filter(|(n, _)| n.to_lowercase() == lower)
                .map(|(_, id)| *id)
                .collect()
        };
        let found = self.by_lower_name.get(&lower).cloned().unwrap_or_else(short);
        match found.as_slice() {
            [] => Ok(None),
            [id] => Ok(self.field_by_id(*id)),
            _ => Err(Error::invalid(format!("column name '{name}' is ambiguous"))),
        }
    }

    /// The field of this name, see [`Self::field_by_name`] and [`Self::field_by_name_ignore_case`].
    ///
    /// # Errors
    /// `InvalidInput` when case does not matter and several fields match.
    pub fn find_field(&self, name: &str, case: CaseSensitivity) -> Result<Option<&NestedFieldRef>> {
        match case {
            CaseSensitivity::Sensitive => Ok(self.field_by_name(name)),
            CaseSensitivity::Insensitive => self.field_by_name_ignore_case(name),
        }
    }

    /// The full name of a field: names from the root joined by dots.
    pub fn full_name(&self, id: FieldId) -> Option<&str> {
        self.by_id.get(&id).map(|i| i.full_name.as_str())
    }

    /// The id of the field that holds this one; `None` at top level.
    pub fn parent_id(&self, id: FieldId) -> Option<FieldId> {
        self.by_id.get(&id).and_then(|i| i.parent)
    }

    /// All ids at every depth, unordered.
    pub fn field_ids(&self) -> impl Iterator<Item = FieldId> + '_ {
        self.by_id.keys().copied()
    }

    /// The highest id at any depth; 0 for an empty schema.
    pub fn highest_field_id(&self) -> FieldId {
        self.by_id.keys().copied().max().unwrap_or(0)
    }

    /// Fields of the schema object that this version of the engine does not know, kept as read.
    pub fn extra(&self) -> &UnknownFields {
        &self.extra
    }

    /// The same schema with these unknown fields.
    #[must_use]
    pub fn with_extra(self, extra: UnknownFields) -> Self {
        Schema { extra, ..self }
    }

    /// Whether fields and identifier fields are equal; ids of the schemas and unknown fields don't matter.
    pub fn same_fields(&self, other: &Schema) -> bool {
        let sorted = |ids: &[FieldId]| {
            let mut ids = ids.to_vec();
            ids.sort_unstable();
            ids
        };
        self.root == other.root && sorted(&self.identifier_field_ids) == sorted(&other.identifier_field_ids)
    }

    /// The same fields under another schema id.
    #[must_use]
    pub fn with_schema_id(&self, schema_id: i32) -> Self {
        Schema {
            schema_id,
            ..self.clone()
        }
    }
}
