//! Columns that a write brings into its table, in the very commit that adds its rows (Java: `SparkWriteBuilder` with
//! `mergeSchema`, which commits them before it).

use std::sync::Arc;

use tarn_format::catalog::Table;
use tarn_format::spec::schema::{CaseSensitivity, Schema, SchemaRef};
use tarn_format::spec::table_metadata::{TableMetadata, TableMetadataRef};
use tarn_format::spec::types::{ListType, MapType, NestedField, NestedFieldRef, StructType, Type};
use tarn_format::update::schema::SchemaUpdate;
use tarn_format::update::{MetadataBuilder, TableUpdate};
use tarn_format::{Error, Result};

/// How a table's columns grow.
#[derive(Debug, Clone)]
pub struct SchemaGrowth {
    /// Columns that are new or get a wider type.
    wanted: Schema,
    case: CaseSensitivity,
    /// What files are written with.
    grown: SchemaRef,
}

impl SchemaGrowth {
    /// The table with the columns of rows: those that it lacks are added, as optional ones; those of a type that the
    /// table's can be promoted to are promoted. `None` where nothing changes. Other columns are left alone: whether their
    /// values can be stored is for the write to say.
    ///
    /// # Errors
    /// `InvalidInput` for names that are ambiguous without regard to case.
    pub fn of(table: &Table, rows: &[NestedFieldRef], case: CaseSensitivity) -> Result<Option<(Table, Self)>> {
        let existing = table.metadata.current_schema().fields();
        let mut wanted = Vec::new();
        for field in rows {
            let field = &fitted(field, partner(existing, &field.name, case), case);
            let alone = schema_of(vec![Arc::clone(field)])?;
            match updates(&table.metadata, &alone, case) {
                Ok(updates) if updates.is_empty() => {}
                Ok(_) => wanted.push(Arc::clone(field)),
                // It is there, with a type that is none of these.
                Err(_) if partner(existing, &field.name, case).is_some() => {}
                Err(e) => return Err(e),
            }
        }
        if wanted.is_empty() {
            return Ok(None);
        }
        let wanted = schema_of(wanted)?;
        let metadata = grown(&table.metadata, &updates(&table.metadata, &wanted, case)?)?;
        let growth = SchemaGrowth {
            wanted,
            case,
            grown: Arc::clone(metadata.current_schema()),
        };
        let metadata = metadata.into();
        Ok(Some((
            Table {
                metadata,
                ..table.clone()
            },
            growth,
        )))
    }

    /// What the commit does to a state of the table.
    ///
    /// # Errors
    /// `Validation` when the columns would not be those that files were written with.
    pub(crate) fn updates(&self, base: &TableMetadata) -> Result<Vec<TableUpdate>> {
        let base: TableMetadataRef = Arc::new(base.clone());
        let updates = updates(&base, &self.wanted, self.case)?;
        let after = grown(&base, &updates)?;
        if after.current_schema().as_struct() != self.grown.as_struct() {
            return Err(Error::validation(
                "the table's columns were changed while rows with new columns were written: write them again",
            ));
        }
        Ok(updates)
    }
}

fn same(a: &str, b: &str, case: CaseSensitivity) -> bool {
    match case {
        CaseSensitivity::Sensitive => a == b,
        CaseSensitivity::Insensitive => a.to_lowercase() == b.to_lowercase(),
    }
}

fn partner<'a>(fields: &'a [NestedFieldRef], name: &str, case: CaseSensitivity) -> Option<&'a NestedFieldRef> {
    fields.iter().find(|field| same(&field.name, name, case))
}

/// A column of rows as one of the table: what is new may be NULL, and what is there stays as strict as it is.
fn fitted(field: &NestedFieldRef, existing: Option<&NestedFieldRef>, case: CaseSensitivity) -> NestedFieldRef {
    let Some(existing) = existing else {
        return nullable(field);
    };
    let inner = |new: &NestedFieldRef, old: &NestedFieldRef| fitted(new, Some(old), case);
    let field_type = match (&field.field_type, &existing.field_type) {
        (Type::Struct(new), Type::Struct(old)) => {
            let children = new.fields.iter();
            let children = children.map(|child| fitted(child, partner(&old.fields, &child.name, case), case));
            Type::Struct(StructType {
                fields: children.collect(),
            })
        }
        (Type::List(new), Type::List(old)) => Type::List(ListType {
            element: inner(&new.element, &old.element),
        }),
        (Type::Map(new), Type::Map(old)) => Type::Map(MapType {
            key: inner(&new.key, &old.key),
            value: inner(&new.value, &old.value),
        }),
        (new, _) => new.clone(),
    };
    Arc::new(NestedField {
        required: true,
        field_type,
        doc: None,
        ..field.as_ref().clone()
    })
}

/// Columns that may be NULL at every depth, as Spark makes them of rows.
pub fn nullable_fields(fields: &[NestedFieldRef]) -> Vec<NestedFieldRef> {
    fields.iter().map(nullable).collect()
}

fn nullable(field: &NestedFieldRef) -> NestedFieldRef {
    Arc::new(NestedField {
        required: false,
        field_type: nullable_type(&field.field_type),
        ..field.as_ref().clone()
    })
}

fn nullable_type(field_type: &Type) -> Type {
    match field_type {
        Type::Struct(s) => Type::Struct(StructType {
            fields: nullable_fields(&s.fields),
        }),
        Type::List(l) => Type::List(ListType {
            element: nullable(&l.element),
        }),
        Type::Map(m) => Type::Map(MapType {
            key: Arc::new(NestedField {
                field_type: nullable_type(&m.key.field_type),
                ..m.key.as_ref().clone()
            }),
            value: nullable(&m.value),
        }),
        Type::Primitive(_) | Type::Variant => field_type.clone(),
    }
}

fn schema_of(fields: Vec<NestedFieldRef>) -> Result<Schema> {
    Schema::new(0, StructType { fields }, Vec::new())
}

fn updates(base: &TableMetadataRef, wanted: &Schema, case: CaseSensitivity) -> Result<Vec<TableUpdate>> {
    let mut update = SchemaUpdate::new(base).case_sensitivity(case);
    update.union_by_name_with(wanted)?;
    Ok(update.finish()?.0)
}

fn grown(base: &TableMetadataRef, updates: &[TableUpdate]) -> Result<TableMetadata> {
    let mut builder = MetadataBuilder::from_metadata(Arc::clone(base), None);
    builder.apply_all(updates)?;
    builder.build(base.last_updated_ms)
}
