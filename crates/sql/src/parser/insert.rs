//! INSERT INTO.

use sqlparser::tokenizer::Token;
use tarn_format::{Error, Result};

use super::cursor::Cursor;
use crate::ast::{Insert, InsertTarget, PartitionValue, Statement};

/// What follows `INSERT`.
pub(crate) fn insert(c: &mut Cursor<'_>) -> Result<Statement> {
    if c.at(&["OVERWRITE"]) {
        return Err(Error::unsupported("INSERT OVERWRITE is not supported yet"));
    }
    c.expect(&["INTO"])?;
    c.eat(&["TABLE"]);
    let table = c.name()?;
    if c.at(&["TIMESTAMP", "AS", "OF"]) {
        return Err(Error::invalid(format!(
            "an earlier state of {table} cannot be written to: leave AS OF out, or write to a branch"
        )));
    }
    let partition = match c.eat(&["PARTITION"]) {
        true => c.parenthesized(partition_value)?,
        false => Vec::new(),
    };
    let target = if c.eat(&["BY", "NAME"]) {
        InsertTarget::ByName
    } else if *c.peek(0) == Token::LParen && !query_in_parentheses(c) {
        InsertTarget::Columns(c.parenthesized(Cursor::identifier)?)
    } else {
        InsertTarget::ByPosition
    };
    let options = c.hints_before_here();
    let source = c.query()?;
    Ok(Statement::Insert(Box::new(Insert {
        table,
        options,
        partition,
        target,
        source,
    })))
}

/// `column` or `column = value`
fn partition_value(c: &mut Cursor<'_>) -> Result<PartitionValue> {
    let column = c.identifier()?;
    let value = if c.eat_token(&Token::Eq) {
        Some(c.expression()?)
    } else {
        None
    };
    Ok(PartitionValue { column, value })
}

fn query_in_parentheses(c: &Cursor<'_>) -> bool {
    let mut n = 0;
    while *c.peek(n) == Token::LParen {
        n += 1;
    }
    ["SELECT", "WITH", "VALUES", "TABLE", "FROM"]
        .iter()
        .any(|w| super::tokens::is_word(c.peek(n), w))
}
