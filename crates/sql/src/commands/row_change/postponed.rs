//! Values of a planned query that are not wanted for all of its rows: taken out, to be computed above it.
//!
//! A MERGE is one query, in which names, subqueries and types are planned as in any other. There the values of all its
//! clauses stand side by side; computed there, a division by zero in one clause would fail rows of another.

use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::common::{Column, TableReference};
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder};
use tarn_format::Result;

use crate::error::from_engine;

/// A query without the values of its select list.
pub(super) struct Postponed {
    /// The rows that the select list is computed from.
    pub(super) rows: LogicalPlan,
    /// The select list, over these rows.
    pub(super) columns: Vec<Expr>,
}

/// Takes the select list off a query; the column `kept` is still computed in it, once. Values that a side of its join
/// computes from its own columns are taken out of that side too.
///
/// # Errors
/// Those of building the plan.
pub(super) fn postpone(rows: LogicalPlan, kept: &str) -> Result<Postponed> {
    let LogicalPlan::Projection(projection) = &rows else {
        let columns = rows.schema().columns().into_iter().map(Expr::Column).collect();
        return Ok(Postponed { rows, columns });
    };
    let input = &projection.input;
    let mut below: Vec<Expr> = input.schema().columns().into_iter().map(Expr::Column).collect();
    let mut columns = Vec::with_capacity(projection.expr.len());
    for value in &projection.expr {
        if value.schema_name().to_string() == kept {
            below.push(value.clone());
            columns.push(Expr::Column(Column::from_name(kept)));
            continue;
        }
        columns.push(out_of_sides(value.clone().unalias(), input).map_err(from_engine)?);
    }
    let built = LogicalPlanBuilder::from(input.as_ref().clone()).project(below);
    let rows = built.and_then(LogicalPlanBuilder::build).map_err(from_engine)?;
    Ok(Postponed { rows, columns })
}

/// A value with that in place of a column which a side of the join computes.
fn out_of_sides(value: Expr, join: &LogicalPlan) -> datafusion::error::Result<Expr> {
    let LogicalPlan::Join(join) = join else {
        return Ok(value);
    };
    let replaced = value.transform(|e| {
        let Expr::Column(Column {
            relation: Some(side),
            name,
            ..
        }) = &e
        else {
            return Ok(Transformed::no(e));
        };
        let computed = [&join.left, &join.right]
            .into_iter()
            .find_map(|plan| computed_by(plan, side, name));
        Ok(match computed {
            // Its own columns are not looked at again: they are the side's.
            Some(computed) => Transformed::new(computed, true, datafusion::common::tree_node::TreeNodeRecursion::Jump),
            None => Transformed::no(e),
        })
    });
    replaced.data()
}

/// What a side computes for one of its columns, over the columns that it gives; `None` for what it only passes on, and
/// what takes more than its row to tell.
fn computed_by(plan: &LogicalPlan, side: &TableReference, name: &str) -> Option<Expr> {
    let LogicalPlan::SubqueryAlias(alias) = plan else {
        return None;
    };
    let LogicalPlan::Projection(projection) = alias.input.as_ref() else {
        return None;
    };
    if alias.alias != *side {
        return None;
    }
    let given = |e: &Expr| match e {
        Expr::Column(column) => Some((column.clone(), column.name.clone())),
        Expr::Alias(alias) => match alias.expr.as_ref() {
            Expr::Column(column) => Some((column.clone(), alias.name.clone())),
            _ => None,
        },
        _ => None,
    };
    let value = projection.expr.iter().find_map(|e| match e {
        Expr::Alias(alias) if alias.name == name => Some(alias.expr.as_ref()),
        _ => None,
    })?;
    let is_more = |e: &Expr| {
        matches!(
            e,
            Expr::ScalarSubquery(_)
                | Expr::InSubquery(_)
                | Expr::Exists(_)
                | Expr::SetComparison(_)
                | Expr::OuterReferenceColumn(..)
                | Expr::AggregateFunction(_)
                | Expr::WindowFunction(_)
        )
    };
    if matches!(value, Expr::Column(_)) || value.is_volatile() || value.exists(|e| Ok(is_more(e))).ok()? {
        return None;
    }
    let mut all_given = true;
    let moved = value.clone().transform(|e| {
        let Expr::Column(column) = &e else {
            return Ok(Transformed::no(e));
        };
        let passed_on = projection.expr.iter().filter_map(given).find(|(own, _)| own == column);
        all_given &= passed_on.is_some();
        Ok(match passed_on {
            Some((_, name)) => Transformed::yes(Expr::Column(Column::new(Some(side.clone()), name))),
            None => Transformed::no(e),
        })
    });
    let moved = moved.data().ok()?;
    all_given.then_some(moved)
}
