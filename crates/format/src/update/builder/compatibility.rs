//! Rules between schemas, specs, orders and the format version.

use std::collections::HashSet;

use super::MetadataBuilder;
use crate::error::{Error, Result};
use crate::spec::partition::{PARTITION_FIELD_ID_START, PartitionField, PartitionSpec};
use crate::spec::schema::Schema;
use crate::spec::sort::SortOrder;
use crate::spec::table_metadata::FormatVersion;
use crate::spec::types::{FieldId, NestedField, PrimitiveType, Type};
use crate::transform::Transform;

/// How deep the types of a schema may nest: what is written must stay within the depth at which JSON is read.
const MAX_SCHEMA_DEPTH: usize = 38;

impl MetadataBuilder {
    /// Checks what only the finished state can show.
    pub(super) fn check_whole(&self) -> Result<()> {
        let state = &self.state;
        let version = state.format_version;
        for schema in state.schemas.iter() {
            if self.changes.added_schemas.contains(&schema.schema_id()) {
                check_schema(schema, version)?;
            }
        }
        for spec in state.partition_specs.iter() {
            if version == FormatVersion::V1 && self.changes.added_specs.contains(&spec.spec_id) {
                check_sequential(spec)?;
            }
        }
        check_spec(state.default_spec(), state.current_schema())?;
        check_order(state.default_sort_order(), state.current_schema())?;
        if self.changes.keys_added && version < FormatVersion::V3 {
            return Err(Error::validation("encryption keys need format version 3"));
        }
        for snapshot in &state.snapshots {
            let lost = |id: &i32| state.schema_by_id(*id).is_none() && self.had_schema(*id);
            if let Some(id) = snapshot.schema_id.filter(lost) {
                let message = format!(
                    "schema {id} cannot be removed: snapshot {} uses it",
                    snapshot.snapshot_id
                );
                return Err(Error::validation(message));
            }
        }
        Ok(())
    }

    fn had_schema(&self, id: i32) -> bool {
        self.base.as_ref().is_some_and(|base| base.schema_by_id(id).is_some())
    }
}

/// The first format version that knows the type itself; what is nested in it is looked at apart.
fn first_version(field_type: &Type) -> FormatVersion {
    match field_type {
        Type::Variant
        | Type::Primitive(
            PrimitiveType::TimestampNs
            | PrimitiveType::TimestamptzNs
            | PrimitiveType::Unknown
            | PrimitiveType::Geometry { .. }
            | PrimitiveType::Geography { .. },
        ) => FormatVersion::V3,
        _ => FormatVersion::V1,
    }
}

/// Checks types, defaults, identifier fields and depth of a new schema.
fn check_schema(schema: &Schema, version: FormatVersion) -> Result<()> {
    for field in schema.fields() {
        check_field(field, schema, version, MAX_SCHEMA_DEPTH)?;
    }
    schema
        .identifier_field_ids()
        .iter()
        .try_for_each(|id| validate_identifier_field(schema, *id))
}

fn check_field(field: &NestedField, schema: &Schema, version: FormatVersion, depth: usize) -> Result<()> {
    let name = || schema.full_name(field.id).unwrap_or(&field.name).to_string();
    let refuse = |why: String| Err(Error::validation(format!("column '{}': {why}", name())));
    let Some(depth) = depth.checked_sub(1) else {
        return refuse(format!("types may nest at most {MAX_SCHEMA_DEPTH} deep"));
    };
    if field.id < 0 {
        return refuse(format!("field id {} is negative", field.id));
    }
    let first = first_version(&field.field_type);
    if version < first {
        return refuse(format!("type {} needs format version {first}", field.field_type));
    }
    // As in Java, a write default alone is not refused: readers of older versions don't need it.
    if field.initial_default.is_some() && version < FormatVersion::V3 {
        return refuse("an initial default needs format version 3".into());
    }
    let null_only = matches!(
        field.field_type,
        Type::Variant
            | Type::Primitive(
                PrimitiveType::Unknown | PrimitiveType::Geometry { .. } | PrimitiveType::Geography { .. }
            )
    );
    if null_only && (field.initial_default.is_some() || field.write_default.is_some()) {
        return refuse(format!("the default of type {} must be null", field.field_type));
    }
    if field.required && matches!(field.field_type, Type::Primitive(PrimitiveType::Unknown)) {
        return refuse("a column of type unknown must be optional".into());
    }
    let mut children = field.field_type.children().into_iter();
    children.try_for_each(|child| check_field(child, schema, version, depth))
}

/// Checks that a field may identify rows: a required primitive, no float, in required structs only (spec, "Identifier
/// Field IDs").
///
/// # Errors
/// `Validation` naming the field and what is wrong.
pub fn validate_identifier_field(schema: &Schema, id: FieldId) -> Result<()> {
    let refuse = |why: String| {
        let name = schema
            .full_name(id)
            .map_or_else(|| id.to_string(), |name| format!("'{name}'"));
        Err(Error::validation(format!(
            "column {name} cannot be an identifier field: {why}"
        )))
    };
    let Some(field) = schema.field_by_id(id) else {
        return refuse("it does not exist".into());
    };
    match field.field_type.as_primitive() {
        None => return refuse("it is not of a primitive type".into()),
        Some(PrimitiveType::Float | PrimitiveType::Double) => return refuse("it is a float or double".into()),
        Some(_) if !field.required => return refuse("it is optional".into()),
        Some(_) => {}
    }
    let mut parent = schema.parent_id(id);
    while let Some(above) = parent.and_then(|id| schema.field_by_id(id)) {
        if above.field_type.as_struct().is_none() {
            return refuse(format!("it is inside the list or map '{}'", above.name));
        }
        if !above.required {
            return refuse(format!("it is inside the optional struct '{}'", above.name));
        }
        parent = schema.parent_id(above.id);
    }
    Ok(())
}

/// Checks that a spec's transforms can be applied to the schema's columns (Java: `PartitionSpec.checkCompatibility`).
pub(crate) fn check_spec(spec: &PartitionSpec, schema: &Schema) -> Result<()> {
    for field in &spec.fields {
        // A void field stands where v1 dropped one; its column may be gone.
        if field.transform != Transform::Void {
            check_partition_source(field, schema)?;
        }
    }
    Ok(())
}

fn check_partition_source(field: &PartitionField, schema: &Schema) -> Result<()> {
    let refuse = |why: String| Err(Error::validation(format!("partition field '{}': {why}", field.name)));
    for id in &field.source_ids {
        let Some(source) = schema.field_by_id(*id) else {
            return refuse(format!("its source column {id} does not exist"));
        };
        match source.field_type.as_primitive() {
            None => return refuse(format!("its source column is a {}, not a primitive", source.field_type)),
            Some(primitive) if !field.transform.can_transform(primitive) => {
                return refuse(format!("transform {} does not take {primitive}", field.transform));
            }
            Some(_) => {}
        }
        let mut parent = schema.parent_id(*id);
        while let Some(above) = parent.and_then(|id| schema.field_by_id(id)) {
            if above.field_type.as_struct().is_none() {
                return refuse(format!("its source column is inside the list or map '{}'", above.name));
            }
            parent = schema.parent_id(above.id);
        }
    }
    Ok(())
}

/// Checks that a new spec's names are unique, and equal a column's name only when they partition by that column
/// (Java: `PartitionSpec.Builder`).
pub(crate) fn check_spec_names(spec: &PartitionSpec, schema: &Schema) -> Result<()> {
    let mut names = HashSet::new();
    let mut ids = HashSet::new();
    for field in &spec.fields {
        if field.name.is_empty() {
            return Err(Error::invalid("a partition field has no name"));
        }
        if !names.insert(field.name.as_str()) {
            return Err(Error::invalid(format!("partition name '{}' is used twice", field.name)));
        }
        if !ids.insert(field.field_id) {
            return Err(Error::invalid(format!(
                "partition field id {} is used twice",
                field.field_id
            )));
        }
        let source_exists = field.source_ids.iter().any(|id| schema.field_by_id(*id).is_some());
        let column = schema.field_by_name(&field.name).map(|column| column.id);
        if source_exists && column.is_some() && column != field.source_id() {
            let message = format!("partition name '{}' is the name of another column", field.name);
            return Err(Error::invalid(message));
        }
    }
    Ok(())
}

/// v1 wrote no partition field ids, so that readers count them (Java: `PartitionSpec.hasSequentialIds`).
fn check_sequential(spec: &PartitionSpec) -> Result<()> {
    let sequential = spec
        .fields
        .iter()
        .zip(PARTITION_FIELD_ID_START..)
        .all(|(field, id)| field.field_id == id);
    if sequential {
        return Ok(());
    }
    Err(Error::validation(
        "format version 1 needs partition field ids that count from 1000",
    ))
}

/// Checks that a sort order can be applied to the schema's columns (Java: `SortOrder.checkCompatibility`).
pub(crate) fn check_order(order: &SortOrder, schema: &Schema) -> Result<()> {
    for field in &order.fields {
        for id in &field.source_ids {
            let Some(source) = schema.field_by_id(*id) else {
                return Err(Error::validation(format!(
                    "the sort order's column {id} does not exist"
                )));
            };
            let fits = source
                .field_type
                .as_primitive()
                .is_some_and(|primitive| field.transform.can_transform(primitive));
            if !fits {
                return Err(Error::validation(format!(
                    "the sort order's transform {} does not take column '{}' of type {}",
                    field.transform, source.name, source.field_type
                )));
            }
        }
    }
    Ok(())
}
