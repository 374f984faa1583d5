//! ADD, DROP, RENAME, ALTER and REPLACE COLUMN.

use sqlparser::tokenizer::Token;
use tarn_format::{Error, Result};

use super::names;
use crate::ast::alter::{AddedColumn, AlterTable, ColumnChange, Position};
use crate::ast::{IfExists, Name};
use crate::parser::create_table::{column, constraints};
use crate::parser::cursor::Cursor;
use crate::parser::types::{data_type, plain_column};

/// A change of columns; `None` when what follows is none.
pub(super) fn columns(c: &mut Cursor<'_>) -> Result<Option<AlterTable>> {
    let change = if c.eat(&["ADD", "COLUMN"]) || c.eat(&["ADD", "COLUMNS"]) {
        AlterTable::AddColumns(if *c.peek(0) == Token::LParen {
            c.parenthesized(added)?
        } else {
            c.comma_separated(added)?
        })
    } else if c.eat(&["DROP", "COLUMN"]) || c.eat(&["DROP", "COLUMNS"]) {
        let if_exists = if c.eat(&["IF", "EXISTS"]) {
            IfExists::Given
        } else {
            IfExists::Absent
        };
        AlterTable::DropColumns {
            columns: names(c)?,
            if_exists,
        }
    } else if c.eat(&["RENAME", "COLUMN"]) {
        let column = c.name()?;
        c.expect(&["TO"])?;
        AlterTable::RenameColumn {
            column,
            new_name: c.identifier()?,
        }
    } else if c.eat(&["REPLACE", "COLUMNS"]) {
        AlterTable::ReplaceColumns(c.parenthesized(column)?)
    } else if c.eat_any(&["ALTER", "CHANGE"]).is_some() {
        c.eat(&["COLUMN"]);
        altered(c)?
    } else {
        return Ok(None);
    };
    Ok(Some(change))
}

/// `parent.name type [NOT NULL] [DEFAULT value] [COMMENT 'text'] [FIRST | AFTER other]`
fn added(c: &mut Cursor<'_>) -> Result<AddedColumn> {
    let mut path = c.name()?;
    let name = path.0.pop().unwrap_or_default();
    let mut column = plain_column(name, data_type(c)?);
    let mut where_to = None;
    loop {
        constraints(c, &mut column)?;
        match position(c)? {
            Some(given) => where_to = Some(given),
            None => break,
        }
    }
    Ok(AddedColumn {
        parent: (!path.0.is_empty()).then_some(path),
        column,
        position: where_to,
    })
}

fn position(c: &mut Cursor<'_>) -> Result<Option<Position>> {
    if c.eat(&["FIRST"]) {
        return Ok(Some(Position::First));
    }
    if c.eat(&["AFTER"]) {
        return Ok(Some(Position::After(c.identifier()?)));
    }
    Ok(None)
}

fn altered(c: &mut Cursor<'_>) -> Result<AlterTable> {
    let column = c.name()?;
    let mut changes = Vec::new();
    while let Some(change) = column_change(c)? {
        changes.push(change);
    }
    if changes.is_empty() && matches!(c.peek(0), Token::Word(_)) {
        changes = hive_change(c, &column)?;
    }
    if changes.is_empty() {
        return Err(c.unexpected("TYPE, COMMENT, FIRST, AFTER, SET or DROP NOT NULL, SET or DROP DEFAULT"));
    }
    Ok(AlterTable::AlterColumn { column, changes })
}

fn column_change(c: &mut Cursor<'_>) -> Result<Option<ColumnChange>> {
    if c.eat(&["TYPE"]) {
        return Ok(Some(ColumnChange::Type(data_type(c)?)));
    }
    if c.eat(&["COMMENT"]) {
        return Ok(Some(ColumnChange::Comment(c.string()?)));
    }
    if c.eat(&["SET", "NOT", "NULL"]) {
        return Ok(Some(ColumnChange::SetNotNull));
    }
    if c.eat(&["DROP", "NOT", "NULL"]) {
        return Ok(Some(ColumnChange::DropNotNull));
    }
    if c.eat(&["SET", "DEFAULT"]) {
        return Ok(Some(ColumnChange::SetDefault(Box::new(c.expression()?))));
    }
    if c.eat(&["DROP", "DEFAULT"]) {
        return Ok(Some(ColumnChange::DropDefault));
    }
    Ok(position(c)?.map(ColumnChange::Position))
}

/// `CHANGE COLUMN name name type [COMMENT 'text'] [FIRST | AFTER other]`, as Hive writes it.
fn hive_change(c: &mut Cursor<'_>, column: &Name) -> Result<Vec<ColumnChange>> {
    let again = c.identifier()?;
    if column.0.last() != Some(&again) {
        return Err(Error::invalid(format!(
            "ALTER COLUMN does not rename '{column}' to '{again}': use RENAME COLUMN"
        )));
    }
    let mut changes = vec![ColumnChange::Type(data_type(c)?)];
    while let Some(change) = column_change(c)? {
        changes.push(change);
    }
    Ok(changes)
}
