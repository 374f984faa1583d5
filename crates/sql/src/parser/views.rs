//! CREATE VIEW, ALTER VIEW and DROP VIEW.

use sqlparser::ast::Query;
use sqlparser::tokenizer::Token;
use tarn_format::{Error, Result};

use super::cursor::Cursor;
use crate::ast::view::{AlterView, CreateView, CreateViewMode, ViewColumn, ViewStorage};
use crate::ast::{IfExists, Name, Statement};

/// CREATE VIEW after its `CREATE`; `None` when another statement follows.
pub(crate) fn create_view(c: &mut Cursor<'_>) -> Result<Option<Statement>> {
    let mut found = None;
    for (replace, mode) in [
        (&["OR", "REPLACE"][..], CreateViewMode::CreateOrReplace),
        (&[], CreateViewMode::Create),
    ] {
        for (words, storage) in [
            (&["TEMPORARY", "VIEW"][..], ViewStorage::Session),
            (&["TEMP", "VIEW"], ViewStorage::Session),
            (&["VIEW"], ViewStorage::Catalog),
        ] {
            if found.is_none() && c.eat(&[replace, words].concat()) {
                found = Some((mode, storage));
            }
        }
    }
    let Some((mode, storage)) = found else {
        return Ok(None);
    };
    let mode = match (mode, c.eat(&["IF", "NOT", "EXISTS"])) {
        (CreateViewMode::Create, true) => CreateViewMode::CreateIfNotExists,
        (_, true) => return Err(Error::invalid("IF NOT EXISTS cannot be combined with OR REPLACE")),
        (mode, false) => mode,
    };
    let name = c.name()?;
    let columns = match *c.peek(0) {
        Token::LParen => c.parenthesized(column)?,
        _ => Vec::new(),
    };
    let (mut comment, mut properties) = (None, Vec::new());
    loop {
        if c.eat(&["COMMENT"]) {
            comment = Some(c.string()?);
        } else if c.eat(&["TBLPROPERTIES"]) {
            properties.extend(c.properties()?);
        } else {
            break;
        }
    }
    c.expect(&["AS"])?;
    let (query, sql) = query(c, &name)?;
    Ok(Some(Statement::CreateView(Box::new(CreateView {
        name,
        mode,
        storage,
        columns,
        comment,
        properties,
        query,
        sql,
    }))))
}

/// The query of a view, and its text.
fn query(c: &mut Cursor<'_>, view: &Name) -> Result<(Box<Query>, String)> {
    let sql = c.rest_of_text();
    let query = c
        .query()
        .map_err(|e| Error::invalid(format!("view {view} needs a query: {e}")))?;
    Ok((query, sql))
}

fn column(c: &mut Cursor<'_>) -> Result<ViewColumn> {
    let name = c.identifier()?;
    let comment = match c.eat(&["COMMENT"]) {
        true => Some(c.string()?),
        false => None,
    };
    Ok(ViewColumn { name, comment })
}

/// What follows `ALTER VIEW`.
pub(crate) fn alter_view(c: &mut Cursor<'_>) -> Result<Statement> {
    let name = c.name()?;
    let change = if c.eat(&["RENAME", "TO"]) {
        AlterView::RenameTo(c.name()?)
    } else if c.eat(&["SET", "TBLPROPERTIES"]) {
        AlterView::SetProperties(c.properties()?)
    } else if c.eat(&["UNSET", "TBLPROPERTIES"]) {
        let if_exists = if_exists(c);
        AlterView::UnsetProperties {
            keys: c.parenthesized(Cursor::property_key)?,
            if_exists,
        }
    } else if c.eat(&["AS"]) {
        let (query, sql) = query(c, &name)?;
        AlterView::As { query, sql }
    } else {
        return Err(c.unexpected("RENAME TO, SET TBLPROPERTIES, UNSET TBLPROPERTIES or AS"));
    };
    Ok(Statement::AlterView { name, change })
}

/// What follows `DROP VIEW`.
pub(crate) fn drop_view(c: &mut Cursor<'_>) -> Result<Statement> {
    let if_exists = if_exists(c);
    Ok(Statement::DropView {
        name: c.name()?,
        if_exists,
    })
}

fn if_exists(c: &mut Cursor<'_>) -> IfExists {
    match c.eat(&["IF", "EXISTS"]) {
        true => IfExists::Given,
        false => IfExists::Absent,
    }
}
