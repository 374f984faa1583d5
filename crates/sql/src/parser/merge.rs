//! MERGE.

use sqlparser::ast::{Expr, With};
use sqlparser::tokenizer::Token;
use tarn_format::{Error, Result};

use super::cursor::Cursor;
use super::delete::target;
use super::update::assignment;
use crate::ast::{Assignments, InsertedRow, MatchedAction, Merge, MergeClause, SchemaEvolution, Statement};

/// What follows `MERGE`.
pub(super) fn merge(c: &mut Cursor<'_>, with: Option<With>) -> Result<Statement> {
    let evolution = match c.eat(&["WITH", "SCHEMA", "EVOLUTION"]) {
        true => SchemaEvolution::ByStars,
        false => SchemaEvolution::None,
    };
    c.expect(&["INTO"])?;
    let (table, alias) = target(c, "USING")?;
    c.expect(&["USING"])?;
    let source = c.table_factor()?;
    c.expect(&["ON"])?;
    let on = c.expression()?;
    let mut clauses = Vec::new();
    while c.eat(&["WHEN"]) {
        clauses.push(clause(c)?);
    }
    if clauses.is_empty() {
        return Err(Error::invalid(
            "MERGE says what to do in WHEN clauses: give WHEN MATCHED or WHEN NOT MATCHED",
        ));
    }
    check_order(&clauses)?;
    Ok(Statement::Merge(Box::new(Merge {
        with,
        table,
        alias,
        evolution,
        source,
        on,
        clauses,
    })))
}

fn clause(c: &mut Cursor<'_>) -> Result<MergeClause> {
    if c.eat(&["MATCHED"]) {
        let condition = condition(c)?;
        let action = matched_action(c)?;
        return Ok(MergeClause::Matched { condition, action });
    }
    c.expect(&["NOT", "MATCHED"])?;
    if c.eat(&["BY", "SOURCE"]) {
        let condition = condition(c)?;
        let action = matched_action(c)?;
        return Ok(MergeClause::NotMatchedBySource { condition, action });
    }
    c.eat(&["BY", "TARGET"]);
    let condition = condition(c)?;
    if c.at(&["DELETE"]) || c.at(&["UPDATE"]) {
        return Err(Error::invalid(
            "WHEN NOT MATCHED is about rows that the table does not have: they can only be inserted",
        ));
    }
    c.expect(&["INSERT"])?;
    let row = inserted_row(c)?;
    Ok(MergeClause::NotMatched { condition, row })
}

/// `[AND condition] THEN`
fn condition(c: &mut Cursor<'_>) -> Result<Option<Expr>> {
    let condition = match c.eat(&["AND"]) {
        true => Some(c.expression()?),
        false => None,
    };
    c.expect(&["THEN"])?;
    Ok(condition)
}

fn matched_action(c: &mut Cursor<'_>) -> Result<MatchedAction> {
    if c.eat(&["DELETE"]) {
        return Ok(MatchedAction::Delete);
    }
    if c.at(&["INSERT"]) {
        return Err(Error::invalid(
            "rows that the table has are updated or deleted: INSERT belongs under WHEN NOT MATCHED",
        ));
    }
    if !c.eat(&["UPDATE", "SET"]) {
        return Err(c.unexpected("UPDATE SET or DELETE"));
    }
    if c.eat_token(&Token::Mul) {
        return Ok(MatchedAction::Update(Assignments::Star));
    }
    let assignments = c.comma_separated(assignment)?;
    Ok(MatchedAction::Update(Assignments::Listed(assignments)))
}

fn inserted_row(c: &mut Cursor<'_>) -> Result<InsertedRow> {
    if c.eat_token(&Token::Mul) {
        return Ok(InsertedRow::Star);
    }
    let columns = c.parenthesized(Cursor::name)?;
    c.expect(&["VALUES"])?;
    let values = c.parenthesized(Cursor::expression)?;
    if columns.len() != values.len() {
        return Err(Error::invalid(format!(
            "INSERT of MERGE names {} columns, but gives {} values",
            columns.len(),
            values.len()
        )));
    }
    Ok(InsertedRow::Listed { columns, values })
}

/// A clause without condition takes every row: none of its kind may follow.
fn check_order(clauses: &[MergeClause]) -> Result<()> {
    let kind = |clause: &MergeClause| match clause {
        MergeClause::Matched { condition, .. } => (0, condition.is_some()),
        MergeClause::NotMatched { condition, .. } => (1, condition.is_some()),
        MergeClause::NotMatchedBySource { condition, .. } => (2, condition.is_some()),
    };
    const NAMES: [&str; 3] = ["MATCHED", "NOT MATCHED", "NOT MATCHED BY SOURCE"];
    for (n, name) in NAMES.into_iter().enumerate() {
        let mut of_kind = clauses.iter().map(kind).filter(|(k, _)| *k == n).rev();
        of_kind.next();
        if of_kind.any(|(_, has_condition)| !has_condition) {
            return Err(Error::invalid(format!(
                "only the last WHEN {name} clause may have no condition"
            )));
        }
    }
    Ok(())
}
