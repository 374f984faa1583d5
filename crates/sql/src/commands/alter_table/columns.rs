//! ADD, DROP, RENAME, ALTER and REPLACE COLUMN.

use tarn_format::spec::schema::{CaseSensitivity, Schema};
use tarn_format::spec::table_metadata::{FormatVersion, TableMetadata, TableMetadataRef};
use tarn_format::spec::value::Value;
use tarn_format::update::schema::{ColumnPosition, NewColumn, SchemaUpdate};
use tarn_format::{Error, Result};

use super::Changer;
use crate::ast::alter::{AddedColumn, ColumnChange, Position};
use crate::ast::{ColumnDef, DataType, IfExists, Name};
use crate::commands::column_defaults::default_value;
use crate::commands::query::plan_context;
use crate::near_names::did_you_mean;
use crate::session::Session;

/// ADD COLUMN.
///
/// # Errors
/// Those of the columns' defaults.
pub(super) fn add(session: &Session, columns: Vec<AddedColumn>, case: CaseSensitivity) -> Result<Changer> {
    let mut added = Vec::with_capacity(columns.len());
    for column in columns {
        let new = new_column(session, column.parent.as_ref(), &column.column)?;
        added.push((new, column.position));
    }
    Ok(Box::new(move |base| {
        let mut update = SchemaUpdate::new(base).case_sensitivity(case);
        for (column, position) in &added {
            check_default_version(base, column.default.as_ref(), &column.name)?;
            let path = path(column.parent.as_deref(), &column.name);
            update.add_column(column.clone())?;
            if let Some(position) = position {
                update.move_column(&path, &place(position, column.parent.as_deref()))?;
            }
        }
        Ok(update.finish()?.0)
    }))
}

fn new_column(session: &Session, parent: Option<&Name>, column: &ColumnDef) -> Result<NewColumn> {
    let mut next_id = 0;
    let field = column.to_iceberg(&mut next_id);
    let default = match &column.default {
        Some(expression) => default_value(&plan_context(session), expression, &field)?,
        None => None,
    };
    Ok(NewColumn {
        parent: parent.map(Name::to_string),
        name: field.name,
        column_type: field.field_type,
        nullability: column.nullability,
        doc: field.doc,
        default,
    })
}

/// A default is what older rows read as, which readers know since version 3.
fn check_default_version(base: &TableMetadata, default: Option<&Value>, column: &str) -> Result<()> {
    if default.is_none() || base.format_version >= FormatVersion::V3 {
        return Ok(());
    }
    Err(Error::invalid(format!(
        "the default of column '{column}' needs format version 3, the table has {}: \
         SET TBLPROPERTIES ('format-version'='3') upgrades it",
        base.format_version
    )))
}

fn path(parent: Option<&str>, name: &str) -> String {
    match parent {
        Some(parent) => format!("{parent}.{name}"),
        None => name.to_string(),
    }
}

fn place(position: &Position, parent: Option<&str>) -> ColumnPosition {
    match position {
        Position::First => ColumnPosition::First,
        Position::After(sibling) => ColumnPosition::After(path(parent, sibling)),
    }
}

/// DROP COLUMN.
pub(super) fn drop(columns: Vec<Name>, if_exists: IfExists, case: CaseSensitivity) -> Changer {
    Box::new(move |base| {
        let schema = base.current_schema();
        let mut update = SchemaUpdate::new(base).case_sensitivity(case);
        for column in &columns {
            let column = column.to_string();
            if if_exists == IfExists::Given && schema.find_field(&column, case)?.is_none() {
                continue;
            }
            known(schema, &column, case)?;
            update.delete_column(&column)?;
        }
        Ok(update.finish()?.0)
    })
}

/// RENAME COLUMN.
pub(super) fn rename(column: Name, new_name: String, case: CaseSensitivity) -> Changer {
    Box::new(move |base| {
        let schema = base.current_schema();
        let id = known(schema, &column.to_string(), case)?;
        refuse_taken(schema, id, &new_name, case)?;
        let mut update = SchemaUpdate::new(base).case_sensitivity(case);
        update.rename_column(&column.to_string(), &new_name)?;
        Ok(update.finish()?.0)
    })
}

/// The id of a column that must exist.
fn known(schema: &Schema, column: &str, case: CaseSensitivity) -> Result<i32> {
    if let Some(field) = schema.find_field(column, case)? {
        return Ok(field.id);
    }
    let names: Vec<&str> = schema.field_ids().filter_map(|id| schema.full_name(id)).collect();
    let hint = did_you_mean(column, names);
    Err(Error::invalid(format!("column '{column}' does not exist{hint}")))
}

/// Siblings whose names differ in case only could not be told apart.
fn refuse_taken(schema: &Schema, id: i32, new_name: &str, case: CaseSensitivity) -> Result<()> {
    let parent = schema.parent_id(id);
    let siblings = schema
        .field_ids()
        .filter(|other| *other != id && schema.parent_id(*other) == parent);
    for sibling in siblings.filter_map(|id| schema.field_by_id(id)) {
        let same = match case {
            CaseSensitivity::Sensitive => sibling.name == new_name,
            CaseSensitivity::Insensitive => sibling.name.to_lowercase() == new_name.to_lowercase(),
        };
        if same {
            return Err(Error::invalid(format!("column '{}' exists already", sibling.name)));
        }
    }
    Ok(())
}

/// ALTER COLUMN.
///
/// # Errors
/// `InvalidInput` when the column does not exist or its default is no value of it.
pub(super) fn alter(
    session: &Session,
    metadata: &TableMetadataRef,
    column: &Name,
    changes: Vec<ColumnChange>,
    case: CaseSensitivity,
) -> Result<Changer> {
    let name = column.to_string();
    let id = known(metadata.current_schema(), &name, case)?;
    let mut steps = Vec::with_capacity(changes.len());
    for change in changes {
        steps.push(match change {
            ColumnChange::SetDefault(expression) => {
                let field = metadata.current_schema().field_by_id(id);
                let field = field.ok_or_else(|| Error::corrupt(format!("column '{name}' has no field")))?;
                Step::Default(default_value(&plan_context(session), &expression, field)?)
            }
            ColumnChange::DropDefault => Step::Default(None),
            other => Step::Change(other),
        });
    }
    let parent = column.0.split_last().map(|(_, parents)| parents.join("."));
    let parent = parent.filter(|p| !p.is_empty());
    Ok(Box::new(move |base| {
        let mut update = SchemaUpdate::new(base).case_sensitivity(case);
        for step in &steps {
            match step {
                Step::Default(default) => {
                    check_default_version(base, default.as_ref(), &name)?;
                    update.update_column_default(&name, default.clone())?;
                }
                Step::Change(change) => apply(&mut update, &name, parent.as_deref(), change)?,
            }
        }
        Ok(update.finish()?.0)
    }))
}

/// A change of a column, with its default computed.
enum Step {
    Default(Option<Value>),
    Change(ColumnChange),
}

fn apply(update: &mut SchemaUpdate, name: &str, parent: Option<&str>, change: &ColumnChange) -> Result<()> {
    match change {
        ColumnChange::Type(data_type) => update_type(update, name, data_type),
        ColumnChange::Comment(text) => update.update_column_doc(name, Some(text)).map(|_| ()),
        ColumnChange::Position(position) => update.move_column(name, &place(position, parent)).map(|_| ()),
        ColumnChange::SetNotNull => update.require_column(name).map(|_| ()),
        ColumnChange::DropNotNull => update.make_column_optional(name).map(|_| ()),
        // Computed before.
        ColumnChange::SetDefault(_) | ColumnChange::DropDefault => Ok(()),
    }
}

fn update_type(update: &mut SchemaUpdate, name: &str, data_type: &DataType) -> Result<()> {
    let instead = match data_type {
        DataType::Struct(_) => "ADD COLUMN and DROP COLUMN change the fields of a struct",
        DataType::Array(_) => "ALTER COLUMN column.element changes the elements of an array",
        DataType::Map(..) => "ALTER COLUMN column.value changes the values of a map",
        DataType::Primitive(_) | DataType::Variant => {
            let mut next_id = 0;
            return update
                .update_column_type(name, data_type.to_iceberg(&mut next_id))
                .map(|_| ());
        }
    };
    Err(Error::invalid(format!(
        "the type of column '{name}' cannot be changed to a nested one: {instead}"
    )))
}

/// REPLACE COLUMNS: all columns go, and others come; none keeps its values.
///
/// # Errors
/// Those of the columns' defaults.
pub(super) fn replace(session: &Session, columns: Vec<ColumnDef>, case: CaseSensitivity) -> Result<Changer> {
    let added: Result<Vec<NewColumn>> = columns.iter().map(|c| new_column(session, None, c)).collect();
    let added = added?;
    Ok(Box::new(move |base| {
        let mut update = SchemaUpdate::new(base).case_sensitivity(case);
        let before: Vec<String> = base.current_schema().fields().iter().map(|f| f.name.clone()).collect();
        for column in &before {
            update.delete_column(column)?;
        }
        for column in &added {
            check_default_version(base, column.default.as_ref(), &column.name)?;
            update.add_column(column.clone())?;
        }
        Ok(update.finish()?.0)
    }))
}
