//! From text to statements.
//!
//! Queries and expressions are sqlparser's. Everything that Spark and Iceberg add, or that sqlparser would read and
//! DataFusion would then ignore, has a grammar of its own here.

mod alter;
mod array_forms;
mod call;
mod cast_types;
mod create_table;
mod cursor;
mod delete;
mod hints;
mod insert;
mod merge;
mod namespaces;
mod set;
mod show;
mod tokens;
mod types;
mod update;
mod views;

use sqlparser::tokenizer::Token;
use tarn_format::{Error, Result};

pub(crate) use self::cast_types::{marked_type, type_of_text};
use self::cursor::Cursor;
use self::namespaces::NAMESPACE;
use self::tokens::StatementTokens;
pub(crate) use self::tokens::VERSION_MARKER;
use crate::ast::{CreateMode, ExplainMode, Name, Statement};
use crate::dialect::TarnDialect;
use crate::script::Position;

/// Deepest nesting of EXPLAIN.
const MAX_EXPLAIN_DEPTH: usize = 4;

/// The statements of a text, which semicolons separate.
///
/// # Errors
/// `InvalidInput` with line and column for text that is no statement; `Unsupported` for statements that are not
/// implemented.
pub fn parse(sql: &str, dialect: &TarnDialect) -> Result<Vec<Statement>> {
    parse_at(sql, dialect, Position::START)
}

/// As [`parse`], for a text that is part of another: messages tell positions in the whole.
///
/// # Errors
/// As [`parse`].
pub fn parse_at(sql: &str, dialect: &TarnDialect, position: Position) -> Result<Vec<Statement>> {
    tokens::statements(sql, dialect, position)?
        .into_iter()
        .map(|tokens| parse_tokens(dialect, tokens, (sql, position)))
        .collect()
}

/// A dotted name, its parts in backticks where they need them.
///
/// # Errors
/// `InvalidInput` for text that is no name.
pub fn parse_name(text: &str, dialect: &TarnDialect) -> Result<Name> {
    let refused = || Error::invalid(format!("'{text}' is not the name of a table"));
    let mut statements = tokens::statements(text, dialect, Position::START).map_err(|e| refused().with_source(e))?;
    let (Some(tokens), true) = (statements.pop(), statements.is_empty()) else {
        return Err(refused());
    };
    let mut cursor = Cursor::new(dialect, tokens.tokens);
    let name = cursor.name().and_then(|name| cursor.expect_end().map(|()| name));
    name.map_err(|e| refused().with_source(e))
}

fn parse_tokens(dialect: &TarnDialect, tokens: StatementTokens, text: (&str, Position)) -> Result<Statement> {
    let mut cursor = Cursor::new(dialect, tokens.tokens)
        .with_hints(tokens.hints)
        .with_text(text, tokens.end);
    let statement = statement(&mut cursor, 0)?;
    cursor.expect_end()?;
    Ok(statement)
}

fn statement(c: &mut Cursor<'_>, depth: usize) -> Result<Statement> {
    if depth > MAX_EXPLAIN_DEPTH {
        return Err(Error::invalid("EXPLAIN is nested too deeply"));
    }
    if c.eat(&["EXPLAIN"]) {
        return explain(c, depth);
    }
    if c.eat(&["CREATE"]) {
        return create(c);
    }
    if c.eat(&["REPLACE", "TABLE"]) {
        return create_table::create_table(c, CreateMode::Replace);
    }
    if c.eat(&["DROP"]) {
        return drop(c);
    }
    if let Some(statement) = row_change(c)? {
        return Ok(statement);
    }
    if c.eat(&["SHOW"]) {
        return show::show(c);
    }
    if c.eat_any(&["DESCRIBE", "DESC"]).is_some() {
        return show::describe(c);
    }
    if c.eat(&["SET"]) {
        return set::set(c);
    }
    if c.eat(&["RESET"]) {
        return set::reset(c);
    }
    if c.eat(&["USE"]) {
        return set::use_name(c);
    }
    if c.eat(&["ALTER"]) {
        if c.eat_any(NAMESPACE).is_some() {
            return namespaces::alter_namespace(c);
        }
        if c.eat(&["VIEW"]) {
            return views::alter_view(c);
        }
        c.expect(&["TABLE"])?;
        return alter::alter_table(c);
    }
    if c.eat(&["CALL"]) {
        return call::call(c);
    }
    if c.eat(&["COMMENT", "ON"]) {
        if c.eat(&["TABLE"]) {
            return alter::comment_on_table(c);
        }
        if c.eat_any(NAMESPACE).is_some() {
            return namespaces::comment_on_namespace(c);
        }
        return Err(c.unexpected("TABLE or NAMESPACE"));
    }
    query_or_unsupported(c)
}

/// A statement that changes rows, with the WITH before it.
fn row_change(c: &mut Cursor<'_>) -> Result<Option<Statement>> {
    const WORDS: [&str; 4] = ["INSERT", "DELETE", "UPDATE", "MERGE"];
    if c.eat(&["TRUNCATE"]) {
        return delete::truncate(c).map(Some);
    }
    let with = c.with_before(&WORDS)?;
    let statement = match c.eat_any(&WORDS) {
        Some("INSERT") => insert::insert(c, with),
        Some("DELETE") => delete::delete(c, with),
        Some("UPDATE") => update::update(c, with),
        Some(_) => merge::merge(c, with),
        None => return Ok(None),
    };
    statement.map(Some)
}

fn query_or_unsupported(c: &mut Cursor<'_>) -> Result<Statement> {
    if c.at(&["REFRESH"]) {
        return Err(Error::unsupported("REFRESH is not supported yet"));
    }
    let starts = ["SELECT", "WITH", "VALUES", "TABLE", "FROM"].iter().any(|w| c.at(&[w]));
    if !starts && *c.peek(0) != Token::LParen {
        return Err(c.unexpected("a statement, such as SELECT, INSERT, CREATE, DROP, SHOW, DESCRIBE, SET or USE"));
    }
    Ok(Statement::Query(c.query()?))
}

fn explain(c: &mut Cursor<'_>, depth: usize) -> Result<Statement> {
    let mode = match c.eat_any(&["ANALYZE", "EXTENDED", "VERBOSE", "FORMATTED", "CODEGEN", "COST"]) {
        Some("ANALYZE") => ExplainMode::Analyze,
        Some("EXTENDED" | "VERBOSE") => ExplainMode::Extended,
        _ => ExplainMode::Plan,
    };
    let statement = Box::new(statement(c, depth + 1)?);
    Ok(Statement::Explain { mode, statement })
}

fn create(c: &mut Cursor<'_>) -> Result<Statement> {
    if c.eat(&["OR", "REPLACE", "TABLE"]) {
        return create_table::create_table(c, CreateMode::CreateOrReplace);
    }
    if c.eat(&["TABLE"]) {
        return create_table::create_table(c, CreateMode::Create);
    }
    if c.eat_any(NAMESPACE).is_some() {
        return namespaces::create_namespace(c);
    }
    if c.eat(&["CATALOG"]) {
        return namespaces::create_catalog(c);
    }
    if let Some(view) = views::create_view(c)? {
        return Ok(view);
    }
    Err(c.unexpected("TABLE, VIEW, NAMESPACE or CATALOG"))
}

fn drop(c: &mut Cursor<'_>) -> Result<Statement> {
    if c.eat(&["TABLE"]) {
        return create_table::drop_table(c);
    }
    if c.eat_any(NAMESPACE).is_some() {
        return namespaces::drop_namespace(c);
    }
    if c.eat(&["CATALOG"]) {
        return namespaces::drop_catalog(c);
    }
    if c.eat(&["VIEW"]) {
        return views::drop_view(c);
    }
    Err(c.unexpected("TABLE, VIEW, NAMESPACE or CATALOG"))
}

#[cfg(test)]
mod tests;
