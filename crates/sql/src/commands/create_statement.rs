//! SHOW CREATE TABLE: the statements that make a table of the same columns, partitioning, properties and write order.

use tarn_format::Result;
use tarn_format::spec::schema::Schema;
use tarn_format::spec::table_metadata::TableMetadata;
use tarn_format::spec::types::{FieldId, NestedField, PrimitiveType, Type};
use tarn_format::transform::Transform;

use super::column_defaults::literal;
use super::show::{shown_properties, write_order};
use super::spark_types::{transform_name, type_name};
use crate::names::FoundTable;
use crate::quoting::{defined_name, string};
use crate::relations::full_name;

/// Shown properties that tell of the table and cannot be set.
const DERIVED_PROPERTIES: [&str; 4] = ["current-snapshot-id", "format", "sort-order", "identifier-fields"];

/// A script that makes a table like this one: CREATE TABLE, then ALTER TABLE for what it has no clause for.
///
/// # Errors
/// `Corrupt` when a default value is not of its column's type.
pub(super) fn create_statement(found: &FoundTable) -> Result<String> {
    let metadata = &found.table.metadata;
    let schema = metadata.current_schema();
    let columns: Result<Vec<String>> = schema.fields().iter().map(|f| column_definition(f)).collect();
    let name: Vec<String> = full_name(found).0.iter().map(|part| defined_name(part)).collect();
    let name = name.join(".");
    let mut text = format!("CREATE TABLE {name} (\n{})\nUSING iceberg\n", columns?.join(",\n"));
    // A field that format version 1 keeps though it was dropped partitions by nothing.
    let fields = metadata
        .default_spec()
        .fields
        .iter()
        .filter(|f| f.transform != Transform::Void);
    let fields = fields.filter_map(|f| Some(transform_name(&f.transform, &path(schema, f.source_id()?)?)));
    let fields: Vec<String> = fields.collect();
    if !fields.is_empty() {
        text.push_str(&format!("PARTITIONED BY ({})\n", fields.join(", ")));
    }
    if let Some(comment) = metadata.properties.get("comment") {
        text.push_str(&format!("COMMENT {}\n", string(comment)));
    }
    text.push_str(&format!("LOCATION {}\n", string(&metadata.location)));
    let properties = shown_properties(metadata).into_iter();
    let properties = properties.filter(|(key, _)| !DERIVED_PROPERTIES.contains(&key.as_str()));
    let properties = properties.map(|(k, v)| format!("  {} = {}", string(&k), string(&v)));
    text.push_str(&format!(
        "TBLPROPERTIES (\n{})",
        properties.collect::<Vec<_>>().join(",\n")
    ));
    for change in changes(metadata) {
        text.push_str(&format!(";\nALTER TABLE {name} {change}"));
    }
    Ok(text)
}

/// What ALTER TABLE must add to what CREATE TABLE made.
fn changes(metadata: &TableMetadata) -> Vec<String> {
    let schema = metadata.current_schema();
    let mut changes = Vec::new();
    let identifiers = schema.identifier_field_ids().iter();
    let identifiers: Vec<String> = identifiers.filter_map(|id| path(schema, *id)).collect();
    if !identifiers.is_empty() {
        changes.push(format!("SET IDENTIFIER FIELDS {}", identifiers.join(", ")));
    }
    // LOCALLY, since without it the statement would set the distribution mode, which is among the properties.
    let order = write_order(metadata, |id| path(schema, id));
    if !order.is_empty() {
        changes.push(format!("WRITE LOCALLY ORDERED BY {order}"));
    }
    changes
}

/// The name of a column at any depth as statements take it, its parts quoted each for itself.
fn path(schema: &Schema, id: FieldId) -> Option<String> {
    let name = defined_name(&schema.field_by_id(id)?.name);
    match schema.parent_id(id) {
        None => Some(name),
        Some(parent) => Some(format!("{}.{name}", path(schema, parent)?)),
    }
}

/// A column as CREATE TABLE defines it.
fn column_definition(field: &NestedField) -> Result<String> {
    let mut text = format!("  {} {}", defined_name(&field.name), definition(&field.field_type));
    if field.required {
        text.push_str(" NOT NULL");
    }
    if let Some(default) = &field.write_default {
        text.push_str(&format!(" DEFAULT {}", literal(Some(default), &field.field_type)?));
    }
    if let Some(comment) = &field.doc {
        text.push_str(&format!(" COMMENT {}", string(comment)));
    }
    Ok(text)
}

/// A type as CREATE TABLE defines it: its words in capitals, the names of fields as they are.
fn definition(field_type: &Type) -> String {
    match field_type {
        Type::Struct(s) => {
            let fields = s.fields.iter().map(|f| {
                let required = if f.required { " NOT NULL" } else { "" };
                let comment = f.doc.as_ref().map(|c| format!(" COMMENT {}", string(c)));
                let comment = comment.unwrap_or_default();
                format!(
                    "{}: {}{required}{comment}",
                    defined_name(&f.name),
                    definition(&f.field_type)
                )
            });
            format!("STRUCT<{}>", fields.collect::<Vec<_>>().join(", "))
        }
        Type::List(l) => format!("ARRAY<{}>", definition(&l.element.field_type)),
        Type::Map(m) => format!(
            "MAP<{}, {}>",
            definition(&m.key.field_type),
            definition(&m.value.field_type)
        ),
        // What these are defined with is no word of SQL.
        Type::Primitive(PrimitiveType::Geometry { .. } | PrimitiveType::Geography { .. }) => type_name(field_type),
        other => type_name(other).to_uppercase(),
    }
}
