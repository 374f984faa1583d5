//! SET, RESET and USE.

use sqlparser::tokenizer::Token;
use tarn_format::{Error, Result};

use super::cursor::Cursor;
use super::namespaces::NAMESPACE;
use crate::ast::Statement;

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
    let key = c.property_key()?;
    let value = if c.eat_token(&Token::Eq) { Some(value(c)) } else { None };
    Ok(Statement::Set { key: Some(key), value })
}

/// A setting's value reaches to the end of the statement and needs no quotes; what stands between its words is part of
/// it, comments aside.
fn value(c: &mut Cursor<'_>) -> String {
    let mut text = String::new();
    while !c.at_end() {
        let space = c.skip_space();
        if !text.is_empty() && !c.at_end() {
            text.push_str(&space);
        }
        match c.next() {
            Token::SingleQuotedString(s) | Token::DoubleQuotedString(s) => text.push_str(&s),
            Token::EOF => {}
            token => text.push_str(&token.to_string()),
        }
    }
    text
}

/// What follows `RESET`.
pub(crate) fn reset(c: &mut Cursor<'_>) -> Result<Statement> {
    let key = if c.at_end() { None } else { Some(c.property_key()?) };
    Ok(Statement::Reset { key })
}

/// What follows `USE`.
pub(crate) fn use_name(c: &mut Cursor<'_>) -> Result<Statement> {
    let keyword_follows = matches!(c.peek(1), Token::Word(_));
    if keyword_follows && c.eat_any(&["CATALOG"]).is_none() {
        c.eat_any(NAMESPACE);
    }
    Ok(Statement::Use { name: c.name()? })
}
