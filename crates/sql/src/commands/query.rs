//! Queries and EXPLAIN.

use std::sync::Arc;

use datafusion::dataframe::DataFrame;
use datafusion::logical_expr::{LogicalPlan, LogicalPlanBuilder};
use datafusion::physical_plan::execute_stream;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use futures::StreamExt;
use sqlparser::ast::Query;
use tarn_format::{Error, Result};

use super::create_table::{self, Explained};
use super::{insert, row_change};
use crate::ast::{ExplainMode, Statement};
use crate::error::from_engine;
use crate::loaded_tables::LoadedTables;
use crate::output::Output;
use crate::planner::{PlanContext, QuerySettings, plan_query};
use crate::relations::SessionRelations;
use crate::session::Session;
use crate::views::ViewScope;

/// What planning needs of the session, for a statement that has loaded no table.
pub(crate) fn plan_context(session: &Session) -> PlanContext {
    plan_context_with(session, &LoadedTables::default())
}

/// What planning needs of the session, for a statement that has loaded these tables.
pub(crate) fn plan_context_with(session: &Session, tables: &LoadedTables) -> PlanContext {
    plan_context_in(session, tables, ViewScope::default())
}

/// What planning needs of the session, for a query in this scope.
pub(crate) fn plan_context_in(session: &Session, tables: &LoadedTables, scope: ViewScope) -> PlanContext {
    let settings = session.settings();
    let mut state = session.context().state();
    let options = state.config_mut().options_mut();
    options.execution.time_zone = Some(settings.time_zone().to_string());
    PlanContext {
        state,
        loader: Arc::new(SessionRelations {
            session: session.clone(),
            tables: tables.clone(),
            scope,
        }),
        settings: QuerySettings {
            case_sensitivity: match settings.case_sensitivity() {
                tarn_format::spec::schema::CaseSensitivity::Sensitive => crate::planner::CaseSensitivity::Sensitive,
                tarn_format::spec::schema::CaseSensitivity::Insensitive => crate::planner::CaseSensitivity::Insensitive,
            },
            time_zone: settings.time_zone().to_string(),
        },
    }
}

/// Runs a query.
pub(crate) async fn query(session: &Session, query: &Query) -> Result<Output> {
    let context = plan_context(session);
    let plan = plan_query(&context, query.clone()).await?;
    execute(session, context, plan).await
}

async fn execute(session: &Session, context: PlanContext, plan: LogicalPlan) -> Result<Output> {
    let frame = DataFrame::new(context.state, plan);
    let task = Arc::new(frame.task_ctx());
    let physical = frame.create_physical_plan().await.map_err(from_engine)?;
    session.watch(&physical);
    let stream = execute_stream(Arc::clone(&physical), task).map_err(from_engine)?;
    // The plan lives as long as it runs, and no longer.
    let schema = stream.schema();
    let rows = stream.inspect(move |_| {
        let _ = &physical;
    });
    Ok(Output::Rows(Box::pin(RecordBatchStreamAdapter::new(schema, rows))))
}

/// Runs EXPLAIN. A write is planned and shown, never run.
pub(crate) async fn explain(session: &Session, mode: ExplainMode, statement: &Statement) -> Result<Output> {
    let plan = match statement {
        Statement::Query(query) => {
            let context = plan_context(session);
            let plan = plan_query(&context, query.as_ref().clone()).await?;
            let verbose = mode == ExplainMode::Extended;
            let explained = LogicalPlanBuilder::from(plan).explain(verbose, mode == ExplainMode::Analyze);
            let explained = explained.and_then(LogicalPlanBuilder::build).map_err(from_engine)?;
            return execute(session, context, explained).await;
        }
        Statement::Insert(_)
        | Statement::CreateTable(_)
        | Statement::Delete(_)
        | Statement::Update(_)
        | Statement::Merge(_)
        | Statement::Truncate { .. }
            if mode == ExplainMode::Analyze =>
        {
            return Err(Error::unsupported(
                "EXPLAIN ANALYZE of a write would run it: use EXPLAIN",
            ));
        }
        Statement::Insert(statement) => Box::pin(insert::plan(session, statement)).await?,
        Statement::Delete(statement) => Box::pin(row_change::plan_delete(session, statement)).await?,
        Statement::Update(statement) => Box::pin(row_change::plan_update(session, statement)).await?,
        Statement::Merge(statement) => Box::pin(row_change::plan_merge(session, statement)).await?,
        Statement::Truncate { table } => Box::pin(row_change::plan_truncate(session, table)).await?,
        Statement::CreateTable(statement) => match create_table::plan(session, statement).await? {
            Explained::Write(plan) => plan,
            Explained::Nothing(reason) => return shown_plan(reason),
        },
        _ => {
            return Err(Error::invalid(
                "only queries, statements that change rows and CREATE TABLE … AS SELECT can be explained",
            ));
        }
    };
    let text = datafusion::physical_plan::displayable(plan.plan.as_ref()).indent(false);
    shown_plan(text.to_string())
}

fn shown_plan(text: String) -> Result<Output> {
    Output::text(
        ["plan_type", "plan"],
        vec![[Some("physical_plan".to_string()), Some(text)]],
    )
}
