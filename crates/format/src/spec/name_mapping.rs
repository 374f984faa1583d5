//! Name mappings: field ids for data files written without them (spec, "Name Mapping Serialization").

use std::collections::{BTreeMap, HashMap, HashSet};

use serde_json::Value as Json;

use super::json_fields::{Fields, JsonForm, ObjectWriter, kind_of, serde_by_json_form};
use super::schema::Schema;
use super::types::{FieldId, NestedField, StructType, Type};
use super::unknown_fields::UnknownFields;
use crate::error::{Error, Result};

/// The table property that holds the mapping.
pub const DEFAULT_NAME_MAPPING: &str = "schema.name-mapping.default";

/// Stands for the mapping itself where fields have a parent.
const ROOT: FieldId = -1;

/// Names by which fields of files without ids are found. An empty mapping maps nothing: every column is null.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NameMapping {
    /// Top-level fields.
    pub fields: Vec<MappedField>,
}

/// The names of one field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MappedField {
    /// The field id; `None` maps the names to nothing.
    pub field_id: Option<FieldId>,
    /// The names.
    pub names: Vec<String>,
    /// Fields below.
    pub fields: Vec<MappedField>,
    /// Fields this version of the engine does not know, kept as read.
    pub extra: UnknownFields,
}

serde_by_json_form!(NameMapping, MappedField);

impl JsonForm for NameMapping {
    fn from_value(json: Json) -> Result<Self> {
        match json {
            Json::Array(items) => {
                let fields = items.into_iter().map(MappedField::from_value);
                let fields = fields.collect::<Result<_>>()?;
                Ok(NameMapping { fields })
            }
            other => Err(Error::corrupt(format!(
                "a name mapping must be an array, not {}",
                kind_of(&other)
            ))),
        }
    }

    fn to_value(&self) -> Result<Json> {
        let fields = self.fields.iter().map(MappedField::to_value);
        Ok(Json::Array(fields.collect::<Result<_>>()?))
    }
}

impl JsonForm for MappedField {
    fn from_value(json: Json) -> Result<Self> {
        let mut fields = Fields::new("a field of a name mapping", json)?;
        Ok(MappedField {
            field_id: fields.opt_i32("field-id")?,
            names: fields.opt_string_list("names")?.unwrap_or_default(),
            fields: fields.opt_list("fields")?.unwrap_or_default(),
            extra: fields.rest(),
        })
    }

    fn to_value(&self) -> Result<Json> {
        let mut object = ObjectWriter::new();
        object
            .set_some("field-id", self.field_id)
            .set("names", self.names.clone());
        if !self.fields.is_empty() {
            object.set_list("fields", &self.fields)?;
        }
        Ok(object.set_extra(&self.extra).finish())
    }
}

impl NameMapping {
    /// Reads the JSON text of a mapping.
    ///
    /// # Errors
    /// `Corrupt` when it is none, or an id or a name among siblings occurs twice.
    pub fn from_json(text: &str) -> Result<Self> {
        let mapping: NameMapping =
            serde_json::from_str(text).map_err(|e| Error::corrupt("the name mapping is not valid").with_source(e))?;
        check(&mapping.fields, &mut HashSet::new())?;
        Ok(mapping)
    }

    /// The JSON text.
    ///
    /// # Errors
    /// None in practice: every mapping has a JSON form.
    pub fn to_json(&self) -> Result<String> {
        serde_json::to_string(self).map_err(|e| Error::invalid("the name mapping cannot be written").with_source(e))
    }

    /// The mapping that finds each column of a schema by its name there (Java: `MappingUtil.create`).
    pub fn of_schema(schema: &Schema) -> Self {
        NameMapping {
            fields: mapped_fields(schema.as_struct()),
        }
    }

    /// The top-level field of this name.
    pub fn field_by_name(&self, name: &str) -> Option<&MappedField> {
        named(&self.fields, name)
    }

    /// The field at the end of a path of names, such as `["location", "lat"]` or `["tags", "element"]`.
    pub fn field_by_path<'a>(&self, path: impl IntoIterator<Item = &'a str>) -> Option<&MappedField> {
        let mut fields = &self.fields;
        let mut found = None;
        for name in path {
            let field = named(fields, name)?;
            fields = &field.fields;
            found = Some(field);
        }
        found
    }

    /// The field of this id at any depth.
    pub fn field_by_id(&self, id: FieldId) -> Option<&MappedField> {
        fn search(fields: &[MappedField], id: FieldId) -> Option<&MappedField> {
            let below = |field| -> Option<&MappedField> {
                let field: &MappedField = field;
                if field.field_id == Some(id) {
                    return Some(field);
                }
                search(&field.fields, id)
            };
            fields.iter().find_map(below)
        }
        search(&self.fields, id)
    }

    /// The mapping after a schema change: renamed fields are found by the new name too, added fields are mapped, and a
    /// name given to another field no longer leads to its former one (Java: `MappingUtil.update`).
    ///
    /// `updates` holds changed and added fields by id, `adds` the ids added to each parent, -1 for the top level.
    #[must_use]
    pub fn updated(&self, updates: &HashMap<FieldId, NestedField>, adds: &HashMap<FieldId, Vec<FieldId>>) -> Self {
        let change = Change { updates, adds };
        NameMapping {
            fields: change.with_additions(change.fields(&self.fields), ROOT),
        }
    }
}

impl MappedField {
    /// The field below of this name.
    pub fn field_by_name(&self, name: &str) -> Option<&MappedField> {
        named(&self.fields, name)
    }
}

struct Change<'a> {
    updates: &'a HashMap<FieldId, NestedField>,
    adds: &'a HashMap<FieldId, Vec<FieldId>>,
}

impl Change<'_> {
    fn fields(&self, fields: &[MappedField]) -> Vec<MappedField> {
        let mut changed: Vec<MappedField> = fields.iter().map(|field| self.field(field)).collect();
        let ids = fields.iter().filter_map(|field| field.field_id);
        let updated = ids.filter_map(|id| self.updates.get(&id));
        take_names_away(&mut changed, &updated.map(|f| (f.name.as_str(), f.id)).collect());
        changed
    }

    fn field(&self, field: &MappedField) -> MappedField {
        let mut names = field.names.clone();
        let mut fields = self.fields(&field.fields);
        if let Some(id) = field.field_id {
            let new_name = self.updates.get(&id).map(|update| update.name.clone());
            names.extend(new_name.filter(|name| !field.names.contains(name)));
            fields = self.with_additions(fields, id);
        }
        MappedField {
            field_id: field.field_id,
            names,
            fields,
            extra: field.extra.clone(),
        }
    }

    fn with_additions(&self, mut fields: Vec<MappedField>, parent: FieldId) -> Vec<MappedField> {
        let ids = self.adds.get(&parent).into_iter().flatten();
        let added: Vec<&NestedField> = ids.filter_map(|id| self.updates.get(id)).collect();
        take_names_away(&mut fields, &added.iter().map(|f| (f.name.as_str(), f.id)).collect());
        fields.extend(added.into_iter().map(mapped_field));
        fields
    }
}

/// Removes names that now belong to another field.
fn take_names_away(fields: &mut [MappedField], owners: &BTreeMap<&str, FieldId>) {
    for field in fields {
        let id = field.field_id;
        field.names.retain(|name| match owners.get(name.as_str()) {
            Some(owner) => id == Some(*owner),
            None => true,
        });
    }
}

fn mapped_fields(fields: &StructType) -> Vec<MappedField> {
    fields.fields.iter().map(|field| mapped_field(field)).collect()
}

fn mapped_field(field: &NestedField) -> MappedField {
    let fields = match &field.field_type {
        Type::Struct(fields) => mapped_fields(fields),
        nested => nested.children().into_iter().map(|child| mapped_field(child)).collect(),
    };
    MappedField {
        field_id: Some(field.id),
        names: vec![field.name.clone()],
        fields,
        extra: Default::default(),
    }
}

fn named<'a>(fields: &'a [MappedField], name: &str) -> Option<&'a MappedField> {
    fields.iter().find(|field| field.names.iter().any(|n| n == name))
}

fn check(fields: &[MappedField], ids: &mut HashSet<FieldId>) -> Result<()> {
    let mut names = HashSet::new();
    for field in fields {
        if let Some(id) = field.field_id.filter(|id| !ids.insert(*id)) {
            return Err(Error::corrupt(format!("the name mapping has field id {id} twice")));
        }
        for name in &field.names {
            if !names.insert(name) {
                return Err(Error::corrupt(format!("the name mapping has '{name}' twice")));
            }
        }
        check(&field.fields, ids)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::types::{ListType, PrimitiveType};
    use std::sync::Arc;

    fn schema() -> Schema {
        let inner = StructType::new(vec![
            NestedField::required(4, "latitude", PrimitiveType::Double),
            NestedField::required(5, "longitude", PrimitiveType::Double),
        ]);
        let list = ListType {
            element: Arc::new(NestedField::optional(7, "element", PrimitiveType::String)),
        };
        let root = StructType::new(vec![
            NestedField::required(1, "id", PrimitiveType::Long),
            NestedField::optional(3, "location", inner),
            NestedField::optional(6, "tags", list),
        ]);
        Schema::new(0, root, vec![]).unwrap()
    }

    #[test]
    fn the_spec_example_is_read() {
        let text = r#"[ { "field-id": 1, "names": ["id", "record_id"] },
            { "field-id": 2, "names": ["data"] },
            { "field-id": 3, "names": ["location"], "fields": [
                { "field-id": 4, "names": ["latitude", "lat"] },
                { "field-id": 5, "names": ["longitude", "long"] } ] } ]"#;
        let mapping = NameMapping::from_json(text).unwrap();
        assert_eq!(mapping.field_by_name("record_id").unwrap().field_id, Some(1));
        assert_eq!(mapping.field_by_path(["location", "long"]).unwrap().field_id, Some(5));
        assert_eq!(mapping.field_by_id(4).unwrap().names, ["latitude", "lat"]);
        assert!(mapping.field_by_path(["location", "id"]).is_none());
        assert_eq!(NameMapping::from_json(&mapping.to_json().unwrap()).unwrap(), mapping);
        let unnamed = NameMapping::from_json(r#"[{"names": ["gone"]}, {"field-id": 1}]"#).unwrap();
        assert_eq!(unnamed.field_by_name("gone").unwrap().field_id, None);
    }

    #[test]
    fn ambiguous_mappings_are_refused() {
        for text in [
            r#"[{"field-id":1,"names":["a"]},{"field-id":1,"names":["b"]}]"#,
            r#"[{"field-id":1,"names":["a"]},{"field-id":2,"names":["a"]}]"#,
            r#"[{"field-id":1,"names":["a"],"fields":[{"field-id":1,"names":["b"]}]}]"#,
            r#"{"field-id":1}"#,
            r#"[{"field-id":"1"}]"#,
            "[",
        ] {
            assert!(NameMapping::from_json(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_schema_maps_by_its_names() {
        let mapping = NameMapping::of_schema(&schema());
        assert_eq!(
            mapping.field_by_path(["location", "latitude"]).unwrap().field_id,
            Some(4)
        );
        assert_eq!(mapping.field_by_path(["tags", "element"]).unwrap().field_id, Some(7));
    }

    #[test]
    fn renames_and_additions_are_followed() {
        let mapping = NameMapping::of_schema(&schema());
        // `latitude` becomes `lat`, and a new field takes the old name.
        let updates = HashMap::from([
            (4, NestedField::required(4, "lat", PrimitiveType::Double)),
            (8, NestedField::optional(8, "latitude", PrimitiveType::String)),
            (9, NestedField::optional(9, "id", PrimitiveType::String)),
        ]);
        let adds = HashMap::from([(3, vec![8]), (ROOT, vec![9])]);
        let updated = mapping.updated(&updates, &adds);
        assert_eq!(updated.field_by_id(4).unwrap().names, ["lat"]);
        assert_eq!(
            updated.field_by_path(["location", "latitude"]).unwrap().field_id,
            Some(8)
        );
        assert_eq!(updated.field_by_name("id").unwrap().field_id, Some(9));
        assert!(updated.field_by_id(1).unwrap().names.is_empty());
    }
}
