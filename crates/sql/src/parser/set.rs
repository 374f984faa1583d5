//! SET, RESET and USE.

use sqlparser::tokenizer::Token;
use tarn_format::{Error, Result};

use super::cursor::Cursor;
use super::namespaces::NAMESPACE;
use crate::ast::{Name, Statement, Used};

/// What follows `SET`.
pub(crate) fn set(c: &mut Cursor<'_>) -> Result<Statement> {
    if c.at_end() {
        return Ok(Statement::Set { key: None, value: None });
    }
    if c.eat(&["TIME", "ZONE"]) {
        if c.at(&["LOCAL"]) {
            return Err(Error::unsupported(
                "SET TIME ZONE LOCAL is not supported: name the zone, as in SET TIME ZONE 'Europe/Oslo'",
            ));
        }
        return Ok(Statement::Set {
            key: Some("spark.sql.session.timeZone".to_string()),
            value: Some(c.string()?),
        });
    }
    if c.eat(&["CATALOG"]) {
        let name = match c.peek(0) {
            Token::SingleQuotedString(_) | Token::DoubleQuotedString(_) => c.string()?,
            _ => c.identifier()?,
        };
        return Ok(Statement::Use {
            what: Used::Catalog,
            name: Name(vec![name]),
        });
    }
    let key = c.property_key()?;
    // What stands behind `=` came as one string: see `super::tokens::statements`.
    let value = match c.eat_token(&Token::Eq) {
        true if c.at_end() => Some(String::new()),
        true => Some(c.string()?),
        false => None,
    };
    Ok(Statement::Set { key: Some(key), value })
}

/// What follows `RESET`.
pub(crate) fn reset(c: &mut Cursor<'_>) -> Result<Statement> {
    let key = if c.at_end() { None } else { Some(c.property_key()?) };
    Ok(Statement::Reset { key })
}

/// What follows `USE`.
pub(crate) fn use_name(c: &mut Cursor<'_>) -> Result<Statement> {
    let is_keyword = matches!(c.peek(1), Token::Word(_));
    let what = if is_keyword && c.eat(&["CATALOG"]) {
        Used::Catalog
    } else if is_keyword && c.eat_any(NAMESPACE).is_some() {
        Used::Namespace
    } else {
        Used::Any
    };
    Ok(Statement::Use { what, name: c.name()? })
}
