//! SET: which columns and fields of structs get which values.

use std::collections::BTreeMap;

use datafusion::arrow::datatypes::Field;
use datafusion::logical_expr::Expr as PlannedExpr;
use sqlparser::ast::{Expr, Ident};
use tarn_format::spec::types::{NestedField, NestedFieldRef, Type};
use tarn_format::{Error, Result};

use super::target::Target;
use crate::ast::{Assignment, Name};
use crate::commands::column_defaults::{default_expression, is_default};
use crate::commands::insert_columns::column;
use crate::planner::builders::{call, quoted, text};
use crate::store_assignment::{Matching, assign};

/// What becomes of a column or field.
#[derive(Debug)]
enum Change<'a> {
    /// It gets a value.
    Value(&'a Expr),
    /// Fields of it change, by their index.
    Fields(BTreeMap<usize, Change<'a>>),
}

/// The changes of a row, by the index of the column.
#[derive(Debug, Default)]
pub(super) struct Changes<'a>(BTreeMap<usize, Change<'a>>);

impl<'a> Changes<'a> {
    /// What assignments say.
    ///
    /// # Errors
    /// `InvalidInput` for names that are no columns or fields of structs, and for what is assigned twice, as a whole or
    /// in part.
    pub(super) fn new(target: &Target, assignments: &'a [Assignment]) -> Result<Self> {
        let mut changes = BTreeMap::new();
        for assignment in assignments {
            let path = path_of(target, &assignment.column)?;
            insert(&mut changes, &path, &assignment.value).ok_or_else(|| {
                Error::invalid(format!(
                    "'{}' is assigned more than once, as a whole or in part",
                    assignment.column
                ))
            })?;
        }
        Ok(Changes(changes))
    }

    /// The columns that change, by index.
    pub(super) fn columns(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.keys().copied()
    }

    /// The new value of a column, computed from a row whose columns `qualifier` qualifies; `None` for a column that stays.
    ///
    /// # Errors
    /// `InvalidInput` when a default is asked for where there is none.
    pub(super) fn value(&self, at: usize, field: &NestedField, qualifier: &[String]) -> Result<Option<Expr>> {
        let Some(change) = self.0.get(&at) else {
            return Ok(None);
        };
        let path: Vec<Ident> = qualifier.iter().chain([&field.name]).map(quoted).collect();
        value(change, field, path).map(Some)
    }
}

fn value(change: &Change<'_>, field: &NestedField, path: Vec<Ident>) -> Result<Expr> {
    let changes = match change {
        Change::Value(expr) if is_default(expr) => {
            if field.required && field.write_default.is_none() {
                return Err(Error::invalid(format!(
                    "column '{}' is NOT NULL and has no default: give it a value",
                    field.name
                )));
            }
            return default_expression(field);
        }
        Change::Value(expr) => return Ok(Expr::Nested(Box::new((*expr).clone()))),
        Change::Fields(changes) => changes,
    };
    let mut arguments = Vec::new();
    for (at, child) in fields_of(field)?.iter().enumerate() {
        let mut child_path = path.clone();
        child_path.push(quoted(&child.name));
        arguments.push(text(&child.name));
        arguments.push(match changes.get(&at) {
            Some(change) => value(change, child, child_path)?,
            None => Expr::CompoundIdentifier(child_path),
        });
    }
    Ok(call("named_struct", arguments))
}

/// Adds a value; `None` when something else says what becomes of the place.
fn insert<'a>(changes: &mut BTreeMap<usize, Change<'a>>, path: &[usize], value: &'a Expr) -> Option<()> {
    let (first, rest) = path.split_first()?;
    if rest.is_empty() {
        if changes.contains_key(first) {
            return None;
        }
        changes.insert(*first, Change::Value(value));
        return Some(());
    }
    let inner = changes.entry(*first).or_insert_with(|| Change::Fields(BTreeMap::new()));
    match inner {
        Change::Value(_) => None,
        Change::Fields(fields) => insert(fields, rest, value),
    }
}

/// The indexes that lead to a column, and into structs below it. Longer qualifiers win over shorter ones, and those over
/// structs, as in queries.
fn path_of(target: &Target, name: &Name) -> Result<Vec<usize>> {
    let schema = target.schema();
    let own = target.path();
    let same = |a: &str, b: &str| Matching::Name(target.case).same(a, b);
    let qualifies = |parts: &[String]| {
        parts.len() <= own.len() && parts.iter().rev().zip(own.iter().rev()).all(|(a, b)| same(a, b))
    };
    for qualifiers in (0..name.0.len()).rev() {
        let (qualifier, rest) = name.0.split_at(qualifiers);
        let Some((first, fields)) = rest.split_first() else {
            continue;
        };
        if !qualifies(qualifier) {
            continue;
        }
        let Some(at) = schema.fields().iter().position(|f| same(&f.name, first)) else {
            continue;
        };
        let mut path = vec![at];
        let mut field = &schema.fields()[at];
        for part in fields {
            let children = fields_of(field)?;
            let at = children.iter().position(|f| same(&f.name, part));
            let at = at.ok_or_else(|| Error::invalid(format!("'{}' has no field '{part}'", field.name)))?;
            path.push(at);
            field = &children[at];
        }
        return Ok(path);
    }
    let wanted = match name.0.as_slice() {
        [qualifier, _, ..] if !qualifies(std::slice::from_ref(qualifier)) => name.to_string(),
        parts => parts.last().cloned().unwrap_or_default(),
    };
    column(&wanted, schema, target.case).map(|at| vec![at])
}

fn fields_of(field: &NestedField) -> Result<&[NestedFieldRef]> {
    match &field.field_type {
        Type::Struct(fields) => Ok(&fields.fields),
        other => Err(Error::invalid(format!(
            "'{}' is of type {other}: only fields of structs can be assigned on their own",
            field.name
        ))),
    }
}

/// A value as one of the column, with the column's name; fields of structs go by their names.
///
/// # Errors
/// As [`assign`].
pub(super) fn stored(value: PlannedExpr, from: &Field, column: &Field, target: &Target) -> Result<PlannedExpr> {
    assign(value, from.data_type(), column, Matching::Name(target.case))
}
