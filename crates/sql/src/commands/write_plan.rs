//! A planned write: rows in the table's columns under the node that writes and commits them.

use std::sync::Arc;

use datafusion::dataframe::DataFrame;
use datafusion::execution::TaskContext;
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_plan::ExecutionPlan;
use tarn_engine::rowlevel::row_change_report;
use tarn_engine::write::{OptionSources, WriteOptions, WriteTarget, append, append_report};
use tarn_format::catalog::Table;
use tarn_format::spec::snapshot::Properties;
use tarn_format::{Result, ResultExt};

use super::write_audit_publish;
use crate::catalogs::CatalogEntry;
use crate::error::from_engine;
use crate::output::{Output, WriteReport};
use crate::planner::PlanContext;
use crate::session::Session;

/// A write that has not happened yet.
pub(crate) struct WritePlan {
    /// What writes and commits when it is executed.
    pub(crate) plan: Arc<dyn ExecutionPlan>,
    context: Arc<TaskContext>,
    table: String,
}

/// The main branch of a table, written as the statement's options say, before the session's settings and the table's
/// properties do.
///
/// # Errors
/// As [`WriteOptions::new`].
pub(crate) fn write_target(
    session: &Session,
    entry: &CatalogEntry,
    table: Table,
    options: &Properties,
) -> Result<WriteTarget> {
    let settings = session.settings();
    let sources = OptionSources {
        statement: options,
        session: settings.values(),
    };
    let options = WriteOptions::new(&table.metadata, sources)?;
    let mut target = WriteTarget::with_options(Arc::clone(&entry.catalog), table, options);
    target.commit = session.commit_options(entry);
    Ok(target)
}

impl WritePlan {
    /// Plans writing `rows`, whose columns are the target's in order. Session settings say whether they are published.
    ///
    /// # Errors
    /// Those of planning and of [`write_audit_publish::aim`].
    pub(crate) async fn new(
        session: &Session,
        context: PlanContext,
        rows: LogicalPlan,
        mut target: WriteTarget,
        table: String,
    ) -> Result<WritePlan> {
        write_audit_publish::aim(&mut target, &session.settings()).context("table", table.as_str())?;
        let frame = DataFrame::new(context.state, rows);
        let context = Arc::new(frame.task_ctx());
        let physical = frame.create_physical_plan().await.map_err(from_engine)?;
        let plan = append(physical, target).map_err(from_engine)?;
        session.watch(&plan);
        Ok(WritePlan { plan, context, table })
    }

    /// A plan that is ready to run on a table.
    pub(super) fn ready(
        session: &Session,
        context: Arc<TaskContext>,
        plan: Arc<dyn ExecutionPlan>,
        table: String,
    ) -> WritePlan {
        session.watch(&plan);
        WritePlan { plan, context, table }
    }

    /// Writes and commits; the result says what `statement` did.
    ///
    /// # Errors
    /// Those of the query, of values that do not fit, and of the commit. Nothing has happened then, unless the outcome
    /// of the commit is unknown.
    pub(crate) async fn run(self, statement: &'static str) -> Result<Output> {
        let batches = datafusion::physical_plan::collect(Arc::clone(&self.plan), self.context).await;
        batches.map_err(from_engine).context("table", self.table.as_str())?;
        if let Some(report) = row_change_report(&self.plan) {
            return Ok(Output::Written(WriteReport {
                statement,
                table: self.table,
                rows: report.rows(),
                files: report.added_files + report.added_delete_files,
                bytes: report.bytes,
                snapshot_id: report.snapshot_id,
                duration: report.duration,
                warnings: Vec::new(),
            }));
        }
        Ok(match append_report(&self.plan) {
            Some(report) => Output::Written(WriteReport {
                statement,
                table: self.table,
                rows: report.rows,
                files: report.files,
                bytes: report.bytes,
                snapshot_id: report.snapshot_id,
                duration: report.duration,
                warnings: Vec::new(),
            }),
            None => Output::Done(format!("{statement}: {}", self.table)),
        })
    }
}
