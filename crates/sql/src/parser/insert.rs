//! INSERT INTO and INSERT OVERWRITE.

use sqlparser::ast::With;
use sqlparser::tokenizer::Token;
use tarn_format::{Error, Result};

use super::cursor::Cursor;
use crate::ast::{Insert, InsertMode, InsertTarget, PartitionValue, Statement};

/// What follows `INSERT`.
pub(crate) fn insert(c: &mut Cursor<'_>, with: Option<With>) -> Result<Statement> {
    let mode = if c.eat(&["OVERWRITE"]) {
        c.eat(&["INTO"]);
        InsertMode::Overwrite
    } else {
        c.expect(&["INTO"])?;
        InsertMode::Into
    };
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
    let mut source = c.query()?;
    if let Some(mut with) = with {
        // Names of the inner WITH hide those of the outer one.
        with.cte_tables
            .extend(source.with.take().into_iter().flat_map(|w| w.cte_tables));
        source.with = Some(with);
    }
    Ok(Statement::Insert(Box::new(Insert {
        mode,
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
