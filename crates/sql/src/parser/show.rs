//! SHOW and DESCRIBE.

use sqlparser::tokenizer::Token;
use tarn_format::Result;

use super::cursor::Cursor;
use super::namespaces::NAMESPACE;
use crate::ast::{Describe, Extended, Name, Show, Statement};

/// What follows `SHOW`.
pub(crate) fn show(c: &mut Cursor<'_>) -> Result<Statement> {
    let show = if c.eat(&["CATALOGS"]) {
        Show::Catalogs { pattern: pattern(c)? }
    } else if c.eat_any(&["NAMESPACES", "DATABASES", "SCHEMAS"]).is_some() {
        Show::Namespaces {
            parent: in_name(c)?,
            pattern: pattern(c)?,
        }
    } else if c.eat(&["TABLES"]) {
        Show::Tables {
            namespace: in_name(c)?,
            pattern: pattern(c)?,
        }
    } else if c.eat(&["VIEWS"]) {
        Show::Views {
            namespace: in_name(c)?,
            pattern: pattern(c)?,
        }
    } else if c.eat(&["COLUMNS"]) {
        columns(c)?
    } else if c.eat(&["TBLPROPERTIES"]) {
        table_properties(c)?
    } else if c.eat(&["CREATE", "TABLE"]) {
        Show::CreateTable { table: c.name()? }
    } else if c.eat(&["SNAPSHOTS"]) {
        // SHOW SNAPSHOTS IN t, too
        c.eat_any(&["IN", "FROM"]);
        Show::Snapshots { table: c.name()? }
    } else if c.eat(&["CURRENT"]) && c.eat_any(NAMESPACE).is_some() {
        Show::CurrentNamespace
    } else if c.eat(&["PROCEDURES"]) {
        Show::Procedures {
            scope: in_name(c)?,
            pattern: pattern(c)?,
        }
    } else if c.eat(&["FUNCTIONS"]) || c.eat(&["ALL", "FUNCTIONS"]) || c.eat(&["SYSTEM", "FUNCTIONS"]) {
        Show::Functions {
            namespace: in_name(c)?,
            pattern: pattern(c)?,
        }
    } else {
        return Err(c.unexpected(
            "CATALOGS, NAMESPACES, TABLES, VIEWS, COLUMNS, TBLPROPERTIES, CREATE TABLE, SNAPSHOTS, CURRENT NAMESPACE, FUNCTIONS or PROCEDURES",
        ));
    };
    Ok(Statement::Show(show))
}

fn in_name(c: &mut Cursor<'_>) -> Result<Option<Name>> {
    if c.eat_any(&["IN", "FROM"]).is_some() {
        c.name().map(Some)
    } else {
        Ok(None)
    }
}

fn pattern(c: &mut Cursor<'_>) -> Result<Option<String>> {
    let like = c.eat(&["LIKE"]);
    if like || matches!(c.peek(0), Token::SingleQuotedString(_) | Token::DoubleQuotedString(_)) {
        return c.string().map(Some);
    }
    Ok(None)
}

fn columns(c: &mut Cursor<'_>) -> Result<Show> {
    let Some(mut table) = in_name(c)? else {
        return Err(c.unexpected("IN table"));
    };
    // SHOW COLUMNS IN table IN namespace
    if let Some(mut namespace) = in_name(c)? {
        namespace.0.append(&mut table.0);
        table = namespace;
    }
    Ok(Show::Columns { table })
}

fn table_properties(c: &mut Cursor<'_>) -> Result<Show> {
    let table = c.name()?;
    let mut key = None;
    if c.eat_token(&Token::LParen) {
        key = Some(c.property_key()?);
        c.expect_token(&Token::RParen)?;
    }
    Ok(Show::TableProperties { table, key })
}

/// What follows `DESCRIBE`.
pub(crate) fn describe(c: &mut Cursor<'_>) -> Result<Statement> {
    if c.eat(&["QUERY"]) || ["SELECT", "WITH", "VALUES"].iter().any(|w| c.at(&[w])) {
        return Ok(Statement::Describe(Describe::Query(c.query()?)));
    }
    if c.eat_any(NAMESPACE).is_some() {
        let extended = extended(c);
        return Ok(Statement::Describe(Describe::Namespace {
            name: c.name()?,
            extended,
        }));
    }
    if matches!(c.peek(1), Token::Word(_)) && c.eat(&["PROCEDURE"]) {
        return Ok(Statement::Describe(Describe::Procedure { name: c.name()? }));
    }
    // `DESCRIBE history` describes a table of that name.
    if matches!(c.peek(1), Token::Word(_)) && c.eat(&["HISTORY"]) {
        return Ok(Statement::Describe(Describe::History { table: c.name()? }));
    }
    c.eat(&["TABLE"]);
    let extended = extended(c);
    let name = c.name()?;
    let column = if c.at_end() { None } else { Some(c.name()?) };
    Ok(Statement::Describe(Describe::Table { name, extended, column }))
}

fn extended(c: &mut Cursor<'_>) -> Extended {
    // `DESCRIBE extended` describes a table of that name.
    let followed = !matches!(c.peek(1), Token::EOF | Token::Period);
    if followed && c.eat_any(&["EXTENDED", "FORMATTED"]).is_some() {
        Extended::Given
    } else {
        Extended::Absent
    }
}
