//! ALTER TABLE and COMMENT ON TABLE.

mod columns;
mod refs;
mod write_order;

use sqlparser::tokenizer::Token;
use tarn_format::Result;

use super::create_table::field_term;
use super::cursor::Cursor;
use crate::ast::alter::AlterTable;
use crate::ast::{Name, Statement};

/// What follows `ALTER TABLE`.
pub(crate) fn alter_table(c: &mut Cursor<'_>) -> Result<Statement> {
    let name = c.name()?;
    let change = change(c)?;
    Ok(Statement::AlterTable { name, change })
}

/// What follows `COMMENT ON TABLE`.
pub(crate) fn comment_on_table(c: &mut Cursor<'_>) -> Result<Statement> {
    let name = c.name()?;
    c.expect(&["IS"])?;
    let change = if c.eat(&["NULL"]) {
        AlterTable::UnsetProperties(vec!["comment".to_string()])
    } else {
        AlterTable::SetProperties(vec![("comment".to_string(), c.string()?)])
    };
    Ok(Statement::AlterTable { name, change })
}

fn change(c: &mut Cursor<'_>) -> Result<AlterTable> {
    if c.eat(&["RENAME", "TO"]) {
        return Ok(AlterTable::RenameTo(c.name()?));
    }
    if c.eat(&["SET", "TBLPROPERTIES"]) {
        return Ok(AlterTable::SetProperties(c.properties()?));
    }
    if c.eat(&["UNSET", "TBLPROPERTIES"]) {
        // Properties that are not there are nothing to complain of, as in Iceberg's catalogs.
        c.eat(&["IF", "EXISTS"]);
        return Ok(AlterTable::UnsetProperties(c.parenthesized(Cursor::property_key)?));
    }
    if c.eat(&["SET", "LOCATION"]) {
        return Ok(AlterTable::SetLocation(c.string()?));
    }
    if c.eat(&["SET", "IDENTIFIER", "FIELDS"]) {
        return Ok(AlterTable::SetIdentifierFields(names(c)?));
    }
    if c.eat(&["DROP", "IDENTIFIER", "FIELDS"]) {
        return Ok(AlterTable::DropIdentifierFields(names(c)?));
    }
    if c.eat(&["WRITE"]) {
        return write_order::write_order(c).map(AlterTable::Write);
    }
    if let Some(change) = partition_fields(c)? {
        return Ok(change);
    }
    if let Some(change) = refs::refs(c)? {
        return Ok(change);
    }
    if let Some(change) = columns::columns(c)? {
        return Ok(change);
    }
    Err(c.unexpected(
        "RENAME TO, SET or UNSET TBLPROPERTIES, SET LOCATION, ADD, DROP, RENAME or ALTER COLUMN, ADD, DROP or REPLACE \
         PARTITION FIELD, WRITE, SET or DROP IDENTIFIER FIELDS, CREATE, REPLACE or DROP BRANCH or TAG",
    ))
}

/// Names separated by commas, in parentheses or not.
fn names(c: &mut Cursor<'_>) -> Result<Vec<Name>> {
    if *c.peek(0) == Token::LParen {
        c.parenthesized(Cursor::name)
    } else {
        c.comma_separated(Cursor::name)
    }
}

fn partition_fields(c: &mut Cursor<'_>) -> Result<Option<AlterTable>> {
    let change = if c.eat(&["ADD", "PARTITION", "FIELD"]) {
        AlterTable::AddPartitionField {
            term: Box::new(field_term(c)?),
            name: alias(c)?,
        }
    } else if c.eat(&["DROP", "PARTITION", "FIELD"]) {
        AlterTable::DropPartitionField(Box::new(field_term(c)?))
    } else if c.eat(&["REPLACE", "PARTITION", "FIELD"]) {
        let old = Box::new(field_term(c)?);
        c.expect(&["WITH"])?;
        AlterTable::ReplacePartitionField {
            old,
            new: Box::new(field_term(c)?),
            name: alias(c)?,
        }
    } else {
        return Ok(None);
    };
    Ok(Some(change))
}

fn alias(c: &mut Cursor<'_>) -> Result<Option<String>> {
    if c.eat(&["AS"]) {
        c.identifier().map(Some)
    } else {
        Ok(None)
    }
}
