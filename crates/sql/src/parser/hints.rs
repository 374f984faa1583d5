//! Read options of a table in a hint, as Flink writes them: `FROM t /*+ OPTIONS('snapshot-id'='1') */`.
//!
//! Hints are comments, which sqlparser drops. They are taken out of the tokens, and given to the table that stands
//! before them once the query is parsed. Other hints stay comments.

use std::ops::ControlFlow;

use sqlparser::ast::{BinaryOperator, Expr, Query, Spanned, TableFactor, Value, VisitMut, VisitorMut};
use sqlparser::tokenizer::{Location, Token, TokenWithSpan, Tokenizer, Whitespace};
use tarn_format::{Error, Result};

use super::cursor::Cursor;
use crate::ast::PropertyList;
use crate::dialect::TarnDialect;

/// A hint, and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hint {
    at: Location,
    options: PropertyList,
}

/// The hints among tokens.
///
/// # Errors
/// `InvalidInput` for OPTIONS without a list of `'key' = 'value'`.
pub(crate) fn find(dialect: &TarnDialect, tokens: &[TokenWithSpan]) -> Result<Vec<Hint>> {
    let mut hints = Vec::new();
    for token in tokens {
        let Token::Whitespace(Whitespace::MultiLineComment(comment)) = &token.token else {
            continue;
        };
        let Some(text) = comment.strip_prefix('+') else {
            continue;
        };
        if text
            .trim_start()
            .get(..7)
            .is_some_and(|w| w.eq_ignore_ascii_case("OPTIONS"))
        {
            hints.push(Hint {
                at: token.span.start,
                options: options(dialect, text)?,
            });
        }
    }
    Ok(hints)
}

fn options(dialect: &TarnDialect, text: &str) -> Result<PropertyList> {
    let refused = || Error::invalid(format!("the hint '{}' is not OPTIONS('key' = 'value', …)", text.trim()));
    let tokens = Tokenizer::new(dialect, text)
        .tokenize_with_location()
        .map_err(|_| refused())?;
    let tokens = tokens.into_iter().filter(|t| t.token != Token::EOF).collect();
    let mut cursor = Cursor::new(dialect, tokens);
    let parsed = cursor.expect(&["OPTIONS"]).and_then(|()| cursor.properties());
    let parsed = parsed.map_err(|_| refused())?;
    if cursor.at_end() { Ok(parsed) } else { Err(refused()) }
}

/// Gives every hint that stands in the query to the table before it. Hints before `begin` are left.
///
/// # Errors
/// `InvalidInput` for a hint without a table before it.
pub(crate) fn attach(query: &mut Query, begin: Location, hints: &mut Vec<Hint>) -> Result<()> {
    let (own, others): (Vec<Hint>, Vec<Hint>) = hints.drain(..).partition(|h| h.at >= begin);
    *hints = others;
    for hint in own {
        let mut search = Search {
            before: hint.at,
            found: None,
        };
        let _ = query.visit(&mut search);
        let Some(table) = search.found else {
            return Err(refused(&hint));
        };
        let mut setter = Setter {
            table,
            hints: hint.options.iter().map(option).collect(),
        };
        let _ = query.visit(&mut setter);
    }
    Ok(())
}

/// Takes the options of hints before a place.
pub(crate) fn before(place: Location, hints: &mut Vec<Hint>) -> PropertyList {
    let (own, others): (Vec<Hint>, Vec<Hint>) = hints.drain(..).partition(|h| h.at < place);
    *hints = others;
    own.into_iter().flat_map(|h| h.options).collect()
}

/// The error that a hint stands where none can.
pub(crate) fn refused(hint: &Hint) -> Error {
    Error::invalid(format!(
        "the hint OPTIONS at line {}, column {} does not follow the name of a table that is read",
        hint.at.line, hint.at.column
    ))
}

fn option((key, value): &(String, String)) -> Expr {
    let text = |s: &String| Box::new(Expr::Value(Value::SingleQuotedString(s.clone()).into()));
    Expr::BinaryOp {
        left: text(key),
        op: BinaryOperator::Eq,
        right: text(value),
    }
}

fn named_at(factor: &TableFactor) -> Option<Location> {
    let TableFactor::Table { name, args: None, .. } = factor else {
        return None;
    };
    let at = name.span().start;
    (at.line > 0).then_some(at)
}

/// Finds the last table before a place.
struct Search {
    before: Location,
    found: Option<Location>,
}

impl VisitorMut for Search {
    type Break = ();

    fn pre_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<()> {
        if let Some(at) = named_at(factor)
            && at < self.before
            && self.found.is_none_or(|found| found < at)
        {
            self.found = Some(at);
        }
        ControlFlow::Continue(())
    }
}

struct Setter {
    table: Location,
    hints: Vec<Expr>,
}

impl VisitorMut for Setter {
    type Break = ();

    fn pre_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<()> {
        if named_at(factor) == Some(self.table)
            && let TableFactor::Table { with_hints, .. } = factor
        {
            with_hints.append(&mut self.hints);
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }
}
