//! INSERT INTO.

use std::sync::Arc;

use datafusion::common::ScalarValue;
use datafusion::dataframe::DataFrame;
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder, lit};
use datafusion::physical_plan::ExecutionPlan;
use tarn_engine::arrow::schema::schema_to_arrow;
use tarn_engine::arrow::value::to_scalar;
use tarn_engine::write::{WriteTarget, append, append_report};
use tarn_format::spec::schema::{CaseSensitivity, Schema};
use tarn_format::spec::types::NestedField;
use tarn_format::{Error, ErrorKind, Result, ResultExt};

use super::query::plan_context;
use crate::ast::{Insert, InsertTarget};
use crate::error::from_engine;
use crate::names::{FoundTable, Suffix, find_table, nearest, unknown_suffix};
use crate::output::{Output, WriteReport};
use crate::planner::plan_query;
use crate::relations::full_name;
use crate::session::Session;
use crate::store_assignment::assign;

/// A planned INSERT.
pub(crate) struct InsertPlan {
    /// What writes and commits when it is executed.
    pub(crate) plan: Arc<dyn ExecutionPlan>,
    context: Arc<datafusion::execution::TaskContext>,
    table: String,
}

/// Runs INSERT INTO.
pub(crate) async fn insert(session: &Session, insert: &Insert) -> Result<Output> {
    let planned = plan(session, insert).await?;
    let batches = datafusion::physical_plan::collect(Arc::clone(&planned.plan), planned.context).await;
    batches.map_err(from_engine).context("table", planned.table.as_str())?;
    Ok(match append_report(&planned.plan) {
        Some(report) => Output::Written(WriteReport {
            statement: "INSERT",
            table: planned.table,
            rows: report.rows,
            files: report.files,
            bytes: report.bytes,
            snapshot_id: (report.snapshot_id >= 0).then_some(report.snapshot_id),
            duration: report.duration,
        }),
        None => Output::Done(format!("inserted into {}", planned.table)),
    })
}

/// Plans INSERT INTO.
///
/// # Errors
/// `InvalidInput` for values that cannot be stored in their columns; those of planning the query.
pub(crate) async fn plan(session: &Session, insert: &Insert) -> Result<InsertPlan> {
    let found = find_table(&session.locate_table(&insert.table).await?).await?;
    let table = full_name(&found).to_string();
    let branch = branch(&found).context("table", table.as_str())?;
    let context = plan_context(session);
    let source = plan_query(&context, insert.source.as_ref().clone()).await?;
    let case = session.settings().case_sensitivity();
    let schema = Arc::clone(found.table.metadata.current_schema());
    let rows = arrange(source, &insert.target, &schema, case).context("table", table.as_str())?;
    let frame = DataFrame::new(context.state, rows);
    let task = Arc::new(frame.task_ctx());
    let physical = frame.create_physical_plan().await.map_err(from_engine)?;
    let mut target = WriteTarget::new(Arc::clone(&found.entry.catalog), found.table)?;
    target.branch = branch;
    let plan = append(physical, target).map_err(from_engine)?;
    Ok(InsertPlan {
        plan,
        context: task,
        table,
    })
}

fn branch(found: &FoundTable) -> Result<Option<String>> {
    match &found.suffix {
        Suffix::None => Ok(None),
        Suffix::Branch(name) => Ok(Some(name.clone())),
        Suffix::Tag(name) => Err(Error::invalid(format!(
            "tag '{name}' cannot be written to: use a branch"
        ))),
        Suffix::SnapshotId(_) | Suffix::AtTimestamp(_) => Err(Error::invalid(
            "a past state cannot be written to: use the table or a branch",
        )),
        Suffix::Metadata(kind, _) => Err(Error::invalid(format!(
            "{kind} is a metadata table, which cannot be written to"
        ))),
        Suffix::Other(name) => Err(unknown_suffix(name)),
    }
}

/// The source's columns in the order of the table's, cast for storage.
fn arrange(source: LogicalPlan, target: &InsertTarget, schema: &Schema, case: CaseSensitivity) -> Result<LogicalPlan> {
    let places = places(&source, target, schema, case)?;
    let input = source.schema();
    let columns: Vec<Expr> = input.columns().into_iter().map(Expr::Column).collect();
    let table = schema_to_arrow(schema);
    let mut projection = Vec::with_capacity(table.fields().len());
    for (i, field) in schema.fields().iter().enumerate() {
        let arrow = table.field(i);
        let value = match places[i] {
            Some(at) => assign(columns[at].clone(), input.field(at).data_type(), arrow)?,
            None => lit(default_of(field)?),
        };
        projection.push(value.alias(field.name.as_str()));
    }
    let built = LogicalPlanBuilder::from(source).project(projection);
    built.and_then(LogicalPlanBuilder::build).map_err(from_engine)
}

/// For each column of the table the source's column that goes there; `None` takes the default.
fn places(
    source: &LogicalPlan,
    target: &InsertTarget,
    schema: &Schema,
    case: CaseSensitivity,
) -> Result<Vec<Option<usize>>> {
    let given = source.schema().fields().len();
    let count = |wanted: usize| {
        if given == wanted {
            return Ok(());
        }
        let how = if given < wanted { "not enough" } else { "too many" };
        Err(Error::invalid(format!(
            "{how} values: {wanted} columns take {given} values"
        )))
    };
    match target {
        InsertTarget::ByPosition => {
            count(schema.fields().len())?;
            Ok((0..given).map(Some).collect())
        }
        InsertTarget::Columns(names) => {
            let places = by_names(names.iter().map(String::as_str), schema, case)?;
            count(names.len())?;
            Ok(places)
        }
        InsertTarget::ByName => by_names(source.schema().fields().iter().map(|f| f.name().as_str()), schema, case),
    }
}

fn by_names<'a>(
    names: impl Iterator<Item = &'a str>,
    schema: &Schema,
    case: CaseSensitivity,
) -> Result<Vec<Option<usize>>> {
    let same = |a: &str, b: &str| match case {
        CaseSensitivity::Sensitive => a == b,
        CaseSensitivity::Insensitive => a.to_lowercase() == b.to_lowercase(),
    };
    let mut places = vec![None; schema.fields().len()];
    for (i, name) in names.enumerate() {
        let Some(at) = schema.fields().iter().position(|f| same(&f.name, name)) else {
            let near = nearest(name, schema.fields().iter().map(|f| f.name.as_str()));
            let hint = near.map(|n| format!("; did you mean {n}?")).unwrap_or_default();
            return Err(Error::invalid(format!("the table has no column '{name}'{hint}")));
        };
        if places[at].replace(i).is_some() {
            return Err(Error::invalid(format!("column '{name}' is given twice")));
        }
    }
    Ok(places)
}

/// What a column gets when the statement gives nothing.
fn default_of(field: &NestedField) -> Result<ScalarValue> {
    if field.required && field.write_default.is_none() {
        return Err(Error::new(
            ErrorKind::InvalidInput,
            format!(
                "column '{}' is required and has no default: give it a value",
                field.name
            ),
        ));
    }
    to_scalar(field.write_default.as_ref(), &field.field_type)
}
