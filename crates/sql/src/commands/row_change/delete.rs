//! DELETE and TRUNCATE TABLE.

use std::sync::Arc;

use sqlparser::ast::SelectItem;
use tarn_engine::rowlevel::{MatchingFiles, RowAction, RowStatement, delete_files, matching_files};
use tarn_format::expr::Predicate;
use tarn_format::{Result, ResultExt};

use super::condition::{Condition, refuse_random};
use super::target::{FILE, POSITION, Target, leading};
use crate::ast::{Delete, Name};
use crate::commands::write_plan::WritePlan;
use crate::error::from_engine;
use crate::output::Output;
use crate::planner::plan_query;
use crate::session::Session;

/// Runs DELETE.
pub(crate) async fn delete(session: &Session, delete: &Delete) -> Result<Output> {
    plan_delete(session, delete).await?.run("DELETE").await
}

/// Runs TRUNCATE TABLE.
pub(crate) async fn truncate(session: &Session, table: &Name) -> Result<Output> {
    plan_truncate(session, table).await?.run("TRUNCATE").await
}

/// Plans TRUNCATE TABLE.
///
/// # Errors
/// As [`plan_delete`].
pub(crate) async fn plan_truncate(session: &Session, table: &Name) -> Result<WritePlan> {
    let all = Delete {
        with: None,
        table: table.clone(),
        alias: None,
        condition: None,
    };
    plan_delete(session, &all).await
}

/// Plans DELETE. Where metadata tells that whole files match, they are removed without being read.
///
/// # Errors
/// Those of finding the table, of planning the condition and of reading metadata.
pub(crate) async fn plan_delete(session: &Session, delete: &Delete) -> Result<WritePlan> {
    let target = Target::find(session, &delete.table, delete.alias.as_deref()).await?;
    let table = target.name.to_string();
    let schema = Arc::clone(target.schema());
    let items = [FILE, POSITION].map(|name| SelectItem::UnnamedExpr(target.column(name)));
    let query = target.query(delete.with.clone(), items.to_vec(), delete.condition.clone());
    let rows = plan_query(&target.context, query).await?;
    refuse_random(&rows)?;
    let condition = Condition::of(&rows, &target.context.state)?;
    if let Some(filter) = condition.exact(&schema)
        && let Some(plan) = whole_files(session, &target, filter).await.context("table", table)?
    {
        return Ok(plan);
    }
    let rows = leading(rows, RowAction::Delete, [])?;
    let covering = condition.covering(&schema);
    target
        .plan(session, RowStatement::Delete, rows, Vec::new(), covering)
        .await
}

/// The plan that removes whole files; `None` when only a part of some file matches.
async fn whole_files(session: &Session, target: &Target, filter: Predicate) -> Result<Option<WritePlan>> {
    let write = target.write(session)?;
    let matching = match filter {
        Predicate::AlwaysFalse => MatchingFiles::None,
        _ => matching_files(&target.read(&write)?, &filter).await?,
    };
    if matching == MatchingFiles::Parts {
        return Ok(None);
    }
    let plan = delete_files(write, filter, matching).map_err(from_engine)?;
    let context = target.context.state.task_ctx();
    Ok(Some(WritePlan::ready(session, context, plan, target.name.to_string())))
}
