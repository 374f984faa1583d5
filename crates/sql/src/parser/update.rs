//! UPDATE.

use sqlparser::ast::With;
use sqlparser::tokenizer::Token;
use tarn_format::Result;

use super::cursor::Cursor;
use super::delete::target;
use crate::ast::{Assignment, Statement, Update};

/// What follows `UPDATE`.
pub(super) fn update(c: &mut Cursor<'_>, with: Option<With>) -> Result<Statement> {
    let (table, alias) = target(c, "SET")?;
    c.expect(&["SET"])?;
    let assignments = c.comma_separated(assignment)?;
    let condition = match c.eat(&["WHERE"]) {
        true => Some(c.expression()?),
        false => None,
    };
    Ok(Statement::Update(Box::new(Update {
        with,
        table,
        alias,
        assignments,
        condition,
    })))
}

/// `column = value`
pub(super) fn assignment(c: &mut Cursor<'_>) -> Result<Assignment> {
    let column = c.name()?;
    c.expect_token(&Token::Eq)?;
    let value = c.expression()?;
    Ok(Assignment { column, value })
}
