//! MERGE.

use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, Field};
use datafusion::common::ScalarValue;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder, cast, lit, when};
use sqlparser::ast::{SelectItem, SetExpr, TableWithJoins, WildcardAdditionalOptions};
use tarn_engine::arrow::schema::{arrow_to_struct, schema_to_arrow};
use tarn_engine::rowlevel::{RowAction, RowStatement};
use tarn_format::{Error, Result, ResultExt};

use super::assignments::stored;
use super::condition::{Condition, random};
use super::merge_query::{CLAUSE, CONDITION, ClauseValue, DROPPED, MergeQuery, Stars, merge_query};
use super::postponed::{Postponed, postpone};
use super::target::{FILE, POSITION, Target, query};
use crate::ast::{Assignments, InsertedRow, MatchedAction, Merge, MergeClause, SchemaEvolution};
use crate::commands::SchemaMerge;
use crate::commands::insert_columns::default_of;
use crate::commands::write_plan::WritePlan;
use crate::error::from_engine;
use crate::output::Output;
use crate::planner::builders::select_star_from;
use crate::planner::plan_query;
use crate::session::Session;
use crate::store_assignment::with_nulls;

/// Runs MERGE.
pub(crate) async fn merge(session: &Session, merge: &Merge) -> Result<Output> {
    Box::pin(plan_merge(session, merge)).await?.run("MERGE").await
}

/// Plans MERGE.
///
/// # Errors
/// Those of finding the table and planning source, conditions and values; `InvalidInput` for columns that are not there or
/// assigned twice, and for values that cannot be stored in them.
pub(crate) async fn plan_merge(session: &Session, merge: &Merge) -> Result<WritePlan> {
    let target = Target::find(session, &merge.table, merge.alias.as_deref()).await?;
    Box::pin(plan_merge_into(session, target, merge)).await
}

/// Plans MERGE into a table that is found.
///
/// # Errors
/// As [`plan_merge`].
pub(super) async fn plan_merge_into(session: &Session, mut target: Target, merge: &Merge) -> Result<WritePlan> {
    let table = target.name.to_string();
    // Where a subquery is computed above the clause, the rule that moves access to fields of structs down leaves the
    // clause out of what it passes up.
    let optimizer = &mut target.context.state.config_mut().options_mut().optimizer;
    optimizer.enable_leaf_expression_pushdown = false;
    let merging = SchemaMerge::of(&target.options, &session.settings(), target.properties());
    let stars = match (merge.evolution, merging.context("table", table.as_str())?) {
        (SchemaEvolution::None, SchemaMerge::Refused) => Stars::AllColumns,
        _ => evolve(&mut target, merge).await?,
    };
    let parts = merge_query(&target, merge, &stars).context("table", table.as_str())?;
    let updated = parts.updated_columns.clone();
    target.updated_columns = Some(updated.into_iter().collect());
    let rows = plan_query(&target.context, parts.query.clone()).await?;
    refuse_random(&rows)?;
    let keys = parts.keys.iter().map(|(_, name)| name.clone()).collect();
    let rows = changes(&target, merge, &parts, rows).context("table", table)?;
    let covering = Condition::of_merged(&rows, &target.context.state)?.covering(target.schema());
    target.plan(session, statement(merge), rows, keys, covering).await
}

/// Adds the source's columns to the target where a clause takes them all.
async fn evolve(target: &mut Target, merge: &Merge) -> Result<Stars> {
    let mut select = select_star_from(vec![TableWithJoins {
        relation: merge.source.clone(),
        joins: Vec::new(),
    }]);
    select.projection = vec![SelectItem::Wildcard(WildcardAdditionalOptions::default())];
    let rows = query(merge.with.clone(), SetExpr::Select(Box::new(select)));
    let rows = plan_query(&target.context, rows).await?;
    let columns = arrow_to_struct(rows.schema().as_arrow()).context("table", target.name.to_string())?;
    let takes_all = merge.clauses.iter().any(|clause| {
        matches!(
            clause,
            MergeClause::Matched {
                action: MatchedAction::Update(Assignments::Star),
                ..
            } | MergeClause::NotMatched {
                row: InsertedRow::Star,
                ..
            }
        )
    });
    if takes_all {
        target.grow(&columns.fields)?;
    }
    Ok(Stars::Of(
        columns.fields.iter().map(|field| field.name.clone()).collect(),
    ))
}

/// A row that several source rows match is refused, unless all that can happen to it is to be deleted.
fn statement(merge: &Merge) -> RowStatement {
    let mut matched = merge.clauses.iter().filter_map(|clause| match clause {
        MergeClause::Matched { condition, action } => Some((condition, action)),
        _ => None,
    });
    match (matched.next(), matched.next()) {
        (Some((None, MatchedAction::Delete)), None) => RowStatement::MergeDeleting,
        _ => RowStatement::Merge,
    }
}

/// The columns of a change of rows, from those of the query. A clause's values are computed for the rows that it takes.
fn changes(target: &Target, merge: &Merge, parts: &MergeQuery, rows: LogicalPlan) -> Result<LogicalPlan> {
    let input = Arc::clone(rows.schema());
    let Postponed { rows, columns } = postpone(rows, CLAUSE)?;
    let [file, position, clause, ..] = columns.as_slice() else {
        return Err(Error::corrupt("merged rows have no file, position and clause"));
    };
    let mut projection = vec![
        file.clone().alias(FILE),
        position.clone().alias(POSITION),
        action(merge, clause)?.alias("_action"),
    ];
    let table = schema_to_arrow(target.schema());
    for (i, field) in target.schema().fields().iter().enumerate() {
        // All clauses give values of one type.
        let arrow = with_nulls(table.field(i));
        let mut value = Values::new(clause, &arrow);
        for (k, values) in parts.values.iter().enumerate() {
            match values.get(i) {
                None => {}
                Some(ClauseValue::Column(at)) => {
                    let from = input.field(*at);
                    value.add(k, stored(columns[*at].clone(), from, &arrow, target)?);
                }
                Some(ClauseValue::Default) => {
                    let default = default_of(field)?;
                    let from = Field::new(field.name.as_str(), default.data_type(), true);
                    value.add(k, stored(lit(default), &from, &arrow, target)?);
                }
            }
        }
        projection.push(value.build()?.alias(field.name.as_str()));
    }
    projection.extend(parts.row_id.map(|at| columns[at].clone().alias("_row_id")));
    for (at, name) in &parts.keys {
        // A key is a column of the table, which has its name already.
        projection.push(columns[*at].clone().alias(format!("key {name}")));
    }
    let happens = clause.clone().not_eq(lit(DROPPED));
    let built = LogicalPlanBuilder::from(rows)
        .filter(happens)
        .and_then(|rows| rows.project(projection))
        .and_then(LogicalPlanBuilder::build);
    built.map_err(from_engine)
}

/// What a clause's number means.
fn action(merge: &Merge, clause: &Expr) -> Result<Expr> {
    let action = |clause: &MergeClause| match clause {
        MergeClause::Matched { action, .. } | MergeClause::NotMatchedBySource { action, .. } => match action {
            MatchedAction::Delete => RowAction::Delete,
            MatchedAction::Update(_) => RowAction::Update,
        },
        MergeClause::NotMatched { .. } => RowAction::Insert,
    };
    let number = Field::new("_action", DataType::Int32, false);
    let mut value = Values::new(clause, &number);
    for (k, of_merge) in merge.clauses.iter().enumerate() {
        value.add(k, lit(action(of_merge) as i32));
    }
    value.otherwise = lit(RowAction::Keep as i32);
    value.build()
}

/// A value for each clause.
struct Values<'a> {
    clause: &'a Expr,
    branches: Vec<(Expr, Expr)>,
    otherwise: Expr,
    data_type: DataType,
}

impl<'a> Values<'a> {
    fn new(clause: &'a Expr, field: &Field) -> Self {
        Values {
            clause,
            branches: Vec::new(),
            otherwise: lit(ScalarValue::Null),
            data_type: field.data_type().clone(),
        }
    }

    fn add(&mut self, clause: usize, value: Expr) {
        let is_taken = self.clause.clone().eq(lit(clause as i64 + 1));
        self.branches.push((is_taken, value));
    }

    fn build(self) -> Result<Expr> {
        let mut branches = self.branches.into_iter();
        let otherwise = match &self.otherwise {
            Expr::Literal(scalar, _) if scalar.is_null() => {
                lit(ScalarValue::try_from(&self.data_type).map_err(from_engine)?)
            }
            other => other.clone(),
        };
        let Some((first, value)) = branches.next() else {
            return Ok(cast(otherwise, self.data_type));
        };
        let mut case = when(first, value);
        for (condition, value) in branches {
            case = case.when(condition, value);
        }
        case.otherwise(otherwise).map_err(from_engine)
    }
}

/// Refuses conditions that differ each time they are looked at; the source may be random.
fn refuse_random(rows: &LogicalPlan) -> Result<()> {
    let mut found = None;
    let mut aggregate = None;
    let mut outermost = true;
    let visited = rows.apply(|node| {
        match node {
            LogicalPlan::Projection(projection) => {
                let mut conditions = projection.expr.iter().filter(|e| {
                    matches!(e, Expr::Alias(alias) if alias.name.starts_with(CONDITION)) && e.is_volatile()
                });
                found = found.take().or(conditions.next().cloned());
            }
            LogicalPlan::Join(join) if outermost => {
                outermost = false;
                let equal = join.on.iter().flat_map(|(a, b)| [a, b]);
                let mut all = equal.chain(join.filter.iter());
                aggregate = all.clone().find(|e| is_aggregate(e)).cloned();
                found = found.take().or(all.find(|e| e.is_volatile()).cloned());
            }
            _ => {}
        }
        Ok(TreeNodeRecursion::Continue)
    });
    visited.map_err(from_engine)?;
    if let Some(condition) = aggregate {
        return Err(Error::invalid(format!(
            "the condition {condition} aggregates rows, but MERGE looks at one row at a time: aggregate in the source"
        )));
    }
    match found {
        Some(condition) => Err(random(&condition)),
        None => Ok(()),
    }
}

fn is_aggregate(condition: &Expr) -> bool {
    let found = condition.exists(|e| Ok(matches!(e, Expr::AggregateFunction(_) | Expr::WindowFunction(_))));
    found.unwrap_or(false)
}
