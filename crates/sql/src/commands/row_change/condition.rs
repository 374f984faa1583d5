//! What a statement's condition says of files: which may hold its rows, and whether it can be told without reading them.

use datafusion::execution::SessionState;
use datafusion::logical_expr::utils::split_conjunction;
use datafusion::logical_expr::{Expr, LogicalPlan};
use tarn_engine::scan::pushdown::{to_exact_predicate, to_predicate};
use tarn_format::expr::Predicate;
use tarn_format::spec::schema::Schema;
use tarn_format::{Error, Result};

use super::target::FILE;
use crate::error::from_engine;

/// The condition of a planned `SELECT … FROM table WHERE condition`.
#[derive(Debug)]
pub(super) enum Condition {
    /// No row can match.
    Never,
    /// Rows match for which all of these are true; they are about the table's columns alone.
    All(Vec<Expr>),
    /// It takes more than the table's row to tell.
    Other,
}

impl Condition {
    /// The condition of a query, simplified.
    ///
    /// # Errors
    /// Those of the optimizer, such as types that do not fit.
    pub(super) fn of(rows: &LogicalPlan, state: &SessionState) -> Result<Self> {
        let optimized = state.optimize(rows).map_err(from_engine)?;
        Ok(Self::of_optimized(&optimized))
    }

    fn of_optimized(plan: &LogicalPlan) -> Self {
        let mut filters = Vec::new();
        let mut node = plan;
        loop {
            node = match node {
                LogicalPlan::Projection(projection) => &projection.input,
                LogicalPlan::SubqueryAlias(alias) => &alias.input,
                LogicalPlan::Filter(filter) => {
                    filters.extend(split_conjunction(&filter.predicate).into_iter().cloned());
                    &filter.input
                }
                LogicalPlan::TableScan(scan) => {
                    for filter in &scan.filters {
                        if !filters.contains(filter) {
                            filters.push(filter.clone());
                        }
                    }
                    return Condition::All(filters);
                }
                LogicalPlan::EmptyRelation(empty) if !empty.produce_one_row => return Condition::Never,
                _ => return Condition::Other,
            }
        }
    }

    /// What is true of every row of the target that a planned MERGE looks at, whatever the source's rows are. The target is
    /// what all joins of the plan begin with.
    ///
    /// # Errors
    /// Those of the optimizer, such as types that do not fit.
    pub(super) fn of_merged(rows: &LogicalPlan, state: &SessionState) -> Result<Self> {
        let optimized = state.optimize(rows).map_err(from_engine)?;
        let mut side = &optimized;
        loop {
            side = match side {
                LogicalPlan::Projection(projection) => &projection.input,
                LogicalPlan::SubqueryAlias(alias) => &alias.input,
                LogicalPlan::Filter(filter) => &filter.input,
                LogicalPlan::Join(join) => &join.left,
                // What a table cannot look at it is not asked for: nothing of use is left above.
                LogicalPlan::TableScan(scan) if scan.projected_schema.has_column_with_unqualified_name(FILE) => {
                    return Ok(Condition::All(scan.filters.clone()));
                }
                LogicalPlan::EmptyRelation(empty) if !empty.produce_one_row => return Ok(Condition::Never),
                _ => return Ok(Condition::Other),
            }
        }
    }

    /// A predicate that is true for every row that matches.
    pub(super) fn covering(&self, schema: &Schema) -> Predicate {
        match self {
            Condition::Never => Predicate::AlwaysFalse,
            Condition::All(filters) => to_predicate(filters, schema),
            Condition::Other => Predicate::AlwaysTrue,
        }
    }

    /// The predicate that is true for the very rows that match.
    pub(super) fn exact(&self, schema: &Schema) -> Option<Predicate> {
        match self {
            Condition::Never => Some(Predicate::AlwaysFalse),
            Condition::All(filters) => to_exact_predicate(filters, schema),
            Condition::Other => None,
        }
    }
}

/// Refuses conditions that differ each time they are looked at.
///
/// # Errors
/// `InvalidInput` naming the condition.
pub(super) fn refuse_random(rows: &LogicalPlan) -> Result<()> {
    let mut node = rows;
    loop {
        node = match node {
            LogicalPlan::Projection(projection) => &projection.input,
            LogicalPlan::SubqueryAlias(alias) => &alias.input,
            LogicalPlan::Filter(filter) if filter.predicate.is_volatile() => return Err(random(&filter.predicate)),
            LogicalPlan::Filter(filter) => &filter.input,
            _ => return Ok(()),
        }
    }
}

/// The error that a condition is random.
pub(super) fn random(condition: &Expr) -> Error {
    Error::invalid(format!(
        "the condition {condition} is another each time it is computed: rows cannot be chosen by it"
    ))
}
