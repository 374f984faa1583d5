//! Statements on namespaces and catalogs.

use sqlparser::tokenizer::Token;
use tarn_format::Result;

use super::cursor::Cursor;
use crate::ast::{Cascade, IfExists, IfNotExists, PropertyList, Statement};

/// The words for a namespace.
pub(crate) const NAMESPACE: &[&str] = &["NAMESPACE", "DATABASE", "SCHEMA"];

/// Key of the comment among a namespace's properties.
const COMMENT: &str = "comment";

/// What follows `CREATE NAMESPACE`.
pub(crate) fn create_namespace(c: &mut Cursor<'_>) -> Result<Statement> {
    let if_not_exists = if_not_exists(c);
    let name = c.name()?;
    let mut properties = PropertyList::new();
    loop {
        if c.eat(&["COMMENT"]) {
            properties.push((COMMENT.to_string(), c.string()?));
        } else if c.eat(&["LOCATION"]) {
            properties.push(("location".to_string(), c.string()?));
        } else if c.eat(&["WITH", "PROPERTIES"]) || c.eat(&["WITH", "DBPROPERTIES"]) {
            properties.extend(c.properties()?);
        } else {
            return Ok(Statement::CreateNamespace {
                name,
                if_not_exists,
                properties,
            });
        }
    }
}

/// What follows `DROP NAMESPACE`.
pub(crate) fn drop_namespace(c: &mut Cursor<'_>) -> Result<Statement> {
    let if_exists = if_exists(c);
    let name = c.name()?;
    let cascade = match c.eat_any(&["CASCADE", "RESTRICT"]) {
        Some("CASCADE") => Cascade::Cascade,
        _ => Cascade::Restrict,
    };
    Ok(Statement::DropNamespace {
        name,
        if_exists,
        cascade,
    })
}

/// What follows `ALTER NAMESPACE`.
pub(crate) fn alter_namespace(c: &mut Cursor<'_>) -> Result<Statement> {
    let name = c.name()?;
    c.expect(&["SET"])?;
    let properties = if c.eat(&["LOCATION"]) {
        vec![("location".to_string(), c.string()?)]
    } else {
        if !c.eat(&["PROPERTIES"]) {
            c.expect(&["DBPROPERTIES"])?;
        }
        c.properties()?
    };
    Ok(Statement::SetNamespaceProperties { name, properties })
}

/// What follows `COMMENT ON NAMESPACE`.
pub(crate) fn comment_on_namespace(c: &mut Cursor<'_>) -> Result<Statement> {
    let name = c.name()?;
    c.expect(&["IS"])?;
    let comment = if c.eat(&["NULL"]) { String::new() } else { c.string()? };
    Ok(Statement::SetNamespaceProperties {
        name,
        properties: vec![(COMMENT.to_string(), comment)],
    })
}

/// What follows `CREATE CATALOG`.
pub(crate) fn create_catalog(c: &mut Cursor<'_>) -> Result<Statement> {
    let if_not_exists = if_not_exists(c);
    let name = c.identifier()?;
    let given = c.eat(&["WITH"]) || c.eat(&["OPTIONS"]) || *c.peek(0) == Token::LParen;
    let properties = if given { c.properties()? } else { PropertyList::new() };
    Ok(Statement::CreateCatalog {
        name,
        if_not_exists,
        properties,
    })
}

/// What follows `DROP CATALOG`.
pub(crate) fn drop_catalog(c: &mut Cursor<'_>) -> Result<Statement> {
    let if_exists = if_exists(c);
    Ok(Statement::DropCatalog {
        name: c.identifier()?,
        if_exists,
    })
}

fn if_not_exists(c: &mut Cursor<'_>) -> IfNotExists {
    if c.eat(&["IF", "NOT", "EXISTS"]) {
        IfNotExists::Given
    } else {
        IfNotExists::Absent
    }
}

fn if_exists(c: &mut Cursor<'_>) -> IfExists {
    if c.eat(&["IF", "EXISTS"]) {
        IfExists::Given
    } else {
        IfExists::Absent
    }
}
