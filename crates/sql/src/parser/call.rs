//! CALL.

use sqlparser::tokenizer::Token;
use tarn_format::{Error, Result};

use super::cursor::Cursor;
use crate::ast::Statement;
use crate::ast::call::{Call, CallArgument};

/// What follows `CALL`.
pub(crate) fn call(c: &mut Cursor<'_>) -> Result<Statement> {
    let procedure = c.name()?;
    if !c.eat_token(&Token::LParen) {
        return Err(Error::invalid(format!(
            "CALL {procedure} needs arguments in parentheses, as in CALL {procedure}('db.t')"
        )));
    }
    let arguments = if *c.peek(0) == Token::RParen {
        Vec::new()
    } else {
        c.comma_separated(argument)?
    };
    c.expect_token(&Token::RParen)?;
    Ok(Statement::Call(Call { procedure, arguments }))
}

/// `value` or `name => value`
fn argument(c: &mut Cursor<'_>) -> Result<CallArgument> {
    let is_named = matches!(c.peek(0), Token::Word(_)) && *c.peek(1) == Token::RArrow;
    let name = if is_named {
        let name = c.identifier()?;
        c.expect_token(&Token::RArrow)?;
        Some(name)
    } else {
        None
    };
    Ok(CallArgument {
        name,
        value: c.expression()?,
    })
}
