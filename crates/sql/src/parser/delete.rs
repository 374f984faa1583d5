//! DELETE and TRUNCATE TABLE, and what the statements that change rows have in common.

use sqlparser::ast::With;
use tarn_format::{Error, Result};

use super::cursor::Cursor;
use crate::ast::{Delete, Name, Statement};

/// What follows `DELETE`.
pub(super) fn delete(c: &mut Cursor<'_>, with: Option<With>) -> Result<Statement> {
    c.expect(&["FROM"])?;
    let (table, alias) = target(c, "WHERE")?;
    let condition = match c.eat(&["WHERE"]) {
        true => Some(c.expression()?),
        false => None,
    };
    Ok(Statement::Delete(Box::new(Delete {
        with,
        table,
        alias,
        condition,
    })))
}

/// What follows `TRUNCATE`.
pub(super) fn truncate(c: &mut Cursor<'_>) -> Result<Statement> {
    c.expect(&["TABLE"])?;
    let table = c.name()?;
    if c.at(&["PARTITION"]) {
        return Err(Error::invalid(
            "TRUNCATE TABLE takes no PARTITION: use DELETE with a condition",
        ));
    }
    Ok(Statement::Truncate { table })
}

/// A table to change and its alias, up to the word that follows.
pub(super) fn target(c: &mut Cursor<'_>, next: &str) -> Result<(Name, Option<String>)> {
    let table = c.name()?;
    if c.at(&["TIMESTAMP", "AS", "OF"]) {
        return Err(Error::invalid(format!(
            "an earlier state of {table} cannot be changed: leave AS OF out, or change a branch"
        )));
    }
    let alias = if c.eat(&["AS"]) || !(c.at(&[next]) || c.at_end()) {
        Some(c.identifier()?)
    } else {
        None
    };
    Ok((table, alias))
}
