//! DELETE and TRUNCATE TABLE.

use std::sync::Arc;

use sqlparser::ast::SelectItem;
use tarn_engine::rowlevel::{MatchingFiles, RowAction, RowStatement, delete_files, matching_files};
use tarn_format::commit::settings::CommitSettings;
use tarn_format::expr::Predicate;
use tarn_format::{ErrorKind, Result, ResultExt};

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
    run(session, delete, "DELETE").await
}

/// Runs TRUNCATE TABLE.
pub(crate) async fn truncate(session: &Session, table: &Name) -> Result<Output> {
    run(session, &all_of(table), "TRUNCATE").await
}

/// Plans and runs it, and once more where whole files were to go and others brought in a file of which only a part
/// matches: the rows of that one have to be looked at.
async fn run(session: &Session, delete: &Delete, statement: &'static str) -> Result<Output> {
    let mut plans = 1;
    loop {
        let planned = Box::pin(plan(session, delete)).await?;
        let outcome = planned.write.run(statement).await;
        match (outcome, planned.how) {
            (Err(e), How::WholeFiles { retries }) if e.kind() == ErrorKind::Validation && plans <= retries => {
                tracing::info!(table = %delete.table, error = %e, "files of a deletion came in meanwhile, planning it again");
                plans += 1;
            }
            (outcome, _) => return outcome,
        }
    }
}

/// How a planned deletion goes about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum How {
    /// It removes files unread; tried again so often, as `commit.retry.num-retries` says.
    WholeFiles { retries: u32 },
    /// It looks for rows.
    Rows,
}

struct Planned {
    write: WritePlan,
    how: How,
}

/// Plans TRUNCATE TABLE.
///
/// # Errors
/// As [`plan_delete`].
pub(crate) async fn plan_truncate(session: &Session, table: &Name) -> Result<WritePlan> {
    plan_delete(session, &all_of(table)).await
}

fn all_of(table: &Name) -> Delete {
    Delete {
        with: None,
        table: table.clone(),
        alias: None,
        condition: None,
    }
}

/// Plans DELETE. Where metadata tells that whole files match, they are removed without being read.
///
/// # Errors
/// Those of finding the table, of planning the condition and of reading metadata.
pub(crate) async fn plan_delete(session: &Session, delete: &Delete) -> Result<WritePlan> {
    Box::pin(plan(session, delete)).await.map(|planned| planned.write)
}

async fn plan(session: &Session, delete: &Delete) -> Result<Planned> {
    let target = Target::find(session, &delete.table, delete.alias.as_deref()).await?;
    let table = target.name.to_string();
    let schema = Arc::clone(target.schema());
    let items = [FILE, POSITION].map(|name| SelectItem::UnnamedExpr(target.column(name)));
    let query = target.query(delete.with.clone(), items.to_vec(), delete.condition.clone());
    let rows = plan_query(&target.context, query).await?;
    refuse_random(&rows)?;
    let condition = Condition::of(&rows, &target.context.state)?;
    if let Some(filter) = condition.exact(&schema)
        && let Some(write) = whole_files(session, &target, filter).await.context("table", table)?
    {
        let retries = CommitSettings::from_properties(target.properties()).retry.num_retries;
        let how = How::WholeFiles { retries };
        return Ok(Planned { write, how });
    }
    let rows = leading(rows, RowAction::Delete, [])?;
    let covering = condition.covering(&schema);
    let planned = target.plan(session, RowStatement::Delete, rows, Vec::new(), covering);
    Ok(Planned {
        write: planned.await?,
        how: How::Rows,
    })
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
