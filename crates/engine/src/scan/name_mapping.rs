//! Field ids for files that were written without them (spec, "Column Projection").

use std::collections::HashMap;
use std::sync::Arc;

use arrow::datatypes::{DataType, Field, FieldRef, Fields, Schema as ArrowSchema, SchemaRef as ArrowSchemaRef};
use tarn_format::spec::name_mapping::{MappedField, NameMapping};

use crate::arrow::schema::{FIELD_ID_KEY, field_id};

/// The file's schema with ids. A file that has an id anywhere is taken as it is. Otherwise the mapping decides, and an
/// empty mapping maps nothing. Positions never decide.
pub(crate) fn assign_ids(file: &ArrowSchemaRef, mapping: &NameMapping) -> ArrowSchemaRef {
    if file.fields().iter().any(has_ids) {
        return Arc::clone(file);
    }
    let fields: Fields = file.fields().iter().map(|f| assign(f, &mapping.fields)).collect();
    Arc::new(ArrowSchema::new_with_metadata(fields, file.metadata().clone()))
}

fn has_ids(field: &FieldRef) -> bool {
    field_id(field).is_some()
        || match field.data_type() {
            DataType::Struct(fields) => fields.iter().any(has_ids),
            DataType::List(f) | DataType::LargeList(f) | DataType::Map(f, _) => has_ids(f),
            _ => false,
        }
}

fn assign(field: &FieldRef, mapping: &[MappedField]) -> FieldRef {
    assign_as(field, field.name(), mapping)
}

fn assign_as(field: &FieldRef, name: &str, mapping: &[MappedField]) -> FieldRef {
    let found = mapping.iter().find(|m| m.names.iter().any(|n| n == name));
    let below = found.map(|m| m.fields.as_slice()).unwrap_or_default();
    let data_type = match field.data_type() {
        DataType::Struct(children) => DataType::Struct(children.iter().map(|c| assign(c, below)).collect()),
        // Writers name elements, keys and values as they like; the mapping knows them by the spec's names.
        DataType::List(element) => DataType::List(assign_as(element, "element", below)),
        DataType::Map(entries, sorted) => DataType::Map(map_entries(entries, below), *sorted),
        other => other.clone(),
    };
    let mut metadata: HashMap<String, String> = field.metadata().clone();
    if let Some(id) = found.and_then(|m| m.field_id) {
        metadata.insert(FIELD_ID_KEY.to_string(), id.to_string());
    }
    Arc::new(Field::new(field.name().as_str(), data_type, field.is_nullable()).with_metadata(metadata))
}

fn map_entries(entries: &FieldRef, mapping: &[MappedField]) -> FieldRef {
    let DataType::Struct(children) = entries.data_type() else {
        return Arc::clone(entries);
    };
    let names = ["key", "value"];
    let children: Fields = children
        .iter()
        .zip(names)
        .map(|(child, name)| assign_as(child, name, mapping))
        .collect();
    Arc::new(entries.as_ref().clone().with_data_type(DataType::Struct(children)))
}
