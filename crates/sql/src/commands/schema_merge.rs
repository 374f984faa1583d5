//! Columns that only the rows of a write have: refused, or brought into the table on request (Java:
//! `SparkWriteConf.mergeSchema`, `SparkWriteBuilder.validateOrMergeWriteSchema`).

use sqlparser::ast::{Expr, Query, SelectItem, SetExpr};
use tarn_format::spec::snapshot::Properties;
use tarn_format::{Error, Result};

use super::write_options::switch;
use crate::ast::InsertTarget;
use crate::config::{MERGE_SCHEMA, Settings};

/// The option of one write, in its two spellings.
const OPTIONS: [&str; 2] = ["merge-schema", "mergeschema"];
/// The table's word that it takes them.
const ACCEPT_ANY_SCHEMA: &str = "write.spark.accept-any-schema";

/// Whether an option of a write is of schemas.
pub(super) fn is_option(name: &str) -> bool {
    OPTIONS.contains(&name)
}

/// What becomes of columns that only the rows have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SchemaMerge {
    /// They are refused.
    Refused,
    /// They come into the table.
    Wanted,
}

impl SchemaMerge {
    /// What the options of a write ask of a table, or else the session does, whose word counts for the tables that take any
    /// columns.
    ///
    /// # Errors
    /// `InvalidInput` for a value that is not true or false, and for an option on tables that do not take any columns.
    pub(crate) fn of(options: &Properties, settings: &Settings, table: &Properties) -> Result<Self> {
        let accepts = table.get(ACCEPT_ANY_SCHEMA);
        let accepts = accepts.is_some_and(|word| word.trim().eq_ignore_ascii_case("true"));
        let Some((name, value)) = OPTIONS.iter().find_map(|name| Some((name, options.get(*name)?))) else {
            return Ok(match accepts && settings.is_on(MERGE_SCHEMA) {
                true => SchemaMerge::Wanted,
                false => SchemaMerge::Refused,
            });
        };
        match switch(name, value)? {
            false => Ok(SchemaMerge::Refused),
            true if accepts => Ok(SchemaMerge::Wanted),
            true => Err(Error::invalid(format!(
                "{name} needs a table that takes any columns: set '{ACCEPT_ANY_SCHEMA}'='true' first"
            ))),
        }
    }
}

/// Where the columns of an INSERT go that brings its own: by the names of its list, or of its query. Rows without names
/// of their own (VALUES) go by position, and bring nothing.
///
/// # Errors
/// `InvalidInput` for a query with a column that nobody has named: its text would be the new column's name.
pub(super) fn named_target(target: &InsertTarget, source: &Query) -> Result<InsertTarget> {
    if let InsertTarget::Columns(_) = target {
        return Ok(target.clone());
    }
    let Some(items) = items(&source.body) else {
        return Ok(target.clone());
    };
    let unnamed = items.iter().find_map(|item| match item {
        SelectItem::UnnamedExpr(
            Expr::Identifier(_) | Expr::CompoundIdentifier(_) | Expr::CompoundFieldAccess { .. },
        ) => None,
        SelectItem::UnnamedExpr(expr) => Some(expr),
        _ => None,
    });
    match unnamed {
        Some(expr) => Err(Error::invalid(format!(
            "columns of rows that may bring new ones go by their names: give '{expr}' one with AS"
        ))),
        None => Ok(InsertTarget::ByName),
    }
}

/// The select list that names a query's columns; `None` where there is none.
fn items(body: &SetExpr) -> Option<&[SelectItem]> {
    match body {
        SetExpr::Select(select) => Some(&select.projection),
        SetExpr::Query(query) => items(&query.body),
        SetExpr::SetOperation { left, .. } => items(left),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn properties(pairs: &[(&str, &str)]) -> Properties {
        pairs.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect()
    }

    #[test]
    fn a_table_must_take_any_columns() {
        let session = |value: &str| {
            let pair = (MERGE_SCHEMA.to_string(), value.to_string());
            Settings::new([pair]).unwrap()
        };
        let open = properties(&[(ACCEPT_ANY_SCHEMA, "true")]);
        let closed = Properties::new();
        let asked = properties(&[("mergeschema", "true")]);
        let declined = properties(&[("merge-schema", "false")]);
        for (options, setting, table, expected) in [
            (&closed, "false", &open, SchemaMerge::Refused),
            (&closed, "true", &open, SchemaMerge::Wanted),
            // The session speaks to all tables, so it says nothing to this one.
            (&closed, "true", &closed, SchemaMerge::Refused),
            (&asked, "false", &open, SchemaMerge::Wanted),
            (&declined, "true", &open, SchemaMerge::Refused),
        ] {
            let found = SchemaMerge::of(options, &session(setting), table).unwrap();
            assert_eq!(found, expected, "{options:?} {setting} {table:?}");
        }
        assert!(SchemaMerge::of(&asked, &session("true"), &closed).is_err());
        let unclear = properties(&[("merge-schema", "perhaps")]);
        assert!(SchemaMerge::of(&unclear, &session("true"), &open).is_err());
    }
}
