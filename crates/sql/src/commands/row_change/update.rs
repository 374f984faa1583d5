//! UPDATE.

use std::sync::Arc;

use datafusion::logical_expr::{Expr as PlannedExpr, LogicalPlan};
use sqlparser::ast::SelectItem;
use tarn_engine::arrow::schema::schema_to_arrow;
use tarn_engine::rowlevel::{RowAction, RowStatement};
use tarn_format::{Result, ResultExt};

use super::assignments::{Changes, stored};
use super::condition::{Condition, refuse_random};
use super::target::{FILE, POSITION, Target, item, leading};
use crate::ast::Update;
use crate::commands::write_plan::WritePlan;
use crate::output::Output;
use crate::planner::plan_query;
use crate::session::Session;

/// Runs UPDATE.
pub(crate) async fn update(session: &Session, update: &Update) -> Result<Output> {
    plan_update(session, update).await?.run("UPDATE").await
}

/// Plans UPDATE.
///
/// # Errors
/// Those of finding the table and planning condition and values; `InvalidInput` for columns that are not there or assigned
/// twice, and for values that cannot be stored in them.
pub(crate) async fn plan_update(session: &Session, update: &Update) -> Result<WritePlan> {
    let mut target = Target::find(session, &update.table, update.alias.as_deref()).await?;
    let table = target.name.to_string();
    let schema = Arc::clone(target.schema());
    let changes = Changes::new(&target, &update.assignments).context("table", table.as_str())?;
    target.updated_columns = Some(
        changes
            .columns()
            .filter_map(|at| Some(schema.fields().get(at)?.id))
            .collect(),
    );
    let mut changed = Vec::new();
    let mut items: Vec<SelectItem> = [FILE, POSITION]
        .map(|name| SelectItem::UnnamedExpr(target.column(name)))
        .into();
    for (at, field) in schema.fields().iter().enumerate() {
        let value = changes
            .value(at, field, &target.path())
            .context("table", table.as_str())?;
        changed.push(value.is_some());
        let value = value.unwrap_or_else(|| target.column(&field.name));
        items.push(item(value, &format!("new {at}")));
    }
    items.extend(target.row_id().map(SelectItem::UnnamedExpr));
    let query = target.query(update.with.clone(), items, update.condition.clone());
    let rows = plan_query(&target.context, query).await?;
    refuse_random(&rows)?;
    let covering = Condition::of(&rows, &target.context.state)?.covering(&schema);
    let updates = with_values(&target, rows.clone(), &changed, Width::UpdatedColumns);
    target.updates = Some(updates.context("table", table.as_str())?);
    let rows = with_values(&target, rows, &changed, Width::AllColumns).context("table", table)?;
    target
        .plan(session, RowStatement::Update, rows, Vec::new(), covering)
        .await
}

/// Which columns rows have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Width {
    /// All of the table, and the row's id where it has row lineage.
    AllColumns,
    /// Those that get new values.
    UpdatedColumns,
}

/// The rows with their new values as ones of the columns.
fn with_values(target: &Target, rows: LogicalPlan, changed: &[bool], width: Width) -> Result<LogicalPlan> {
    let table = schema_to_arrow(target.schema());
    let input = Arc::clone(rows.schema());
    let values = input.columns().into_iter().enumerate().skip(2).zip(table.fields());
    let values = values
        .zip(changed)
        .filter(|(_, is_changed)| width == Width::AllColumns || **is_changed);
    let values = values.map(|(((at, value), column), is_changed)| {
        let value = PlannedExpr::Column(value);
        let value = match is_changed {
            true => stored(value, input.field(at), column, target)?,
            false => value,
        };
        Ok(value.alias(column.name()))
    });
    let mut values = values.collect::<Result<Vec<PlannedExpr>>>()?;
    if width == Width::AllColumns {
        // Behind the columns stands the row's id, where the table has row lineage.
        let row_id = input.columns().into_iter().skip(2 + changed.len());
        values.extend(row_id.map(PlannedExpr::Column));
    }
    leading(rows, RowAction::Update, values)
}
