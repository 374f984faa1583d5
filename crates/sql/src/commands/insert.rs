//! INSERT INTO and INSERT OVERWRITE.

use std::sync::Arc;

use datafusion::common::{Column, ScalarValue};
use datafusion::logical_expr::{Expr, lit};
use tarn_engine::arrow::schema::schema_to_arrow;
use tarn_engine::scan::pushdown::to_exact_predicate;
use tarn_engine::write::ExistingRows;
use tarn_format::expr::Predicate;
use tarn_format::spec::table_metadata::TableMetadata;
use tarn_format::{Error, Result, ResultExt};

use super::column_defaults::fill_defaults;
use super::insert_columns::{arrange, constants};
use super::query::plan_context_with;
use super::write_options::{SchemaMerge, WriteKind, replaced_where, write_options};
use super::write_plan::{WritePlan, write_target};
use crate::ast::{Insert, InsertMode};
use crate::config::PartitionOverwrite;
use crate::loaded_tables::LoadedTables;
use crate::names::{FoundTable, Suffix, find_table, unknown_suffix};
use crate::output::Output;
use crate::planner::{PlanContext, evaluate, plan_query};
use crate::relations::full_name;
use crate::session::Session;
use crate::store_assignment::{Matching, assign};

/// Runs INSERT.
pub(crate) async fn insert(session: &Session, insert: &Insert) -> Result<Output> {
    plan(session, insert).await?.run("INSERT").await
}

/// Plans INSERT.
///
/// # Errors
/// `InvalidInput` for values that cannot be stored in their columns; those of planning the query.
pub(crate) async fn plan(session: &Session, insert: &Insert) -> Result<WritePlan> {
    let tables = LoadedTables::default();
    let found = find_table(&session.locate_table(&insert.table).await?, &tables).await?;
    let table = full_name(&found).to_string();
    let branch = write_branch(&found).context("table", table.as_str())?;
    let context = plan_context_with(session, &tables);
    let case = session.settings().case_sensitivity();
    let metadata = Arc::clone(&found.table.metadata);
    let schema = metadata.current_schema();
    let constants = constants(&context, &insert.partition, &metadata, case).context("table", table.as_str())?;
    let mut query = insert.source.as_ref().clone();
    fill_defaults(&mut query, &insert.target, &constants, schema, case).context("table", table.as_str())?;
    let source = plan_query(&context, query).await?;
    let rows = arrange(source, &insert.target, &constants, schema, case).context("table", table.as_str())?;
    let kind = match insert.mode {
        InsertMode::Into => WriteKind::Adds,
        InsertMode::Overwrite => WriteKind::Overwrites,
    };
    let options = write_options(&insert.options, kind)?;
    if SchemaMerge::of(&options, &metadata.properties).context("table", table.as_str())? == SchemaMerge::Wanted {
        let told = "INSERT does not add columns: write a DataFrame with mergeSchema, or MERGE WITH SCHEMA EVOLUTION";
        return Err(Error::unsupported(told).with_context("table", table));
    }
    let target = write_target(session, &found.entry, found.table, &options);
    let mut target = target.context("table", table.as_str())?;
    target.branch = branch;
    target.existing = match (insert.mode, session.settings().partition_overwrite()) {
        (InsertMode::Into, _) => ExistingRows::Kept,
        (InsertMode::Overwrite, PartitionOverwrite::Dynamic) => ExistingRows::ReplacedByPartition,
        (InsertMode::Overwrite, PartitionOverwrite::Static) => {
            let replaced = replaced_rows(&context, &constants, &metadata).context("table", table.as_str())?;
            replaced_where(replaced, &options)?
        }
    };
    WritePlan::new(session, context, rows, target, table).await
}

/// The rows of the partitions that PARTITION names; all without it.
fn replaced_rows(
    context: &PlanContext,
    constants: &[Option<ScalarValue>],
    metadata: &TableMetadata,
) -> Result<Predicate> {
    let schema = metadata.current_schema();
    let table = schema_to_arrow(schema);
    let mut filters = Vec::new();
    for (i, constant) in constants.iter().enumerate() {
        let Some(constant) = constant else { continue };
        let field = table.field(i);
        let value = assign(lit(constant.clone()), &constant.data_type(), field, Matching::Position)?;
        let value = evaluate(context, value)?;
        let column = Expr::Column(Column::from_name(field.name()));
        filters.push(match value.is_null() {
            true => column.is_null(),
            false => column.eq(lit(value)),
        });
    }
    to_exact_predicate(&filters, schema)
        .ok_or_else(|| Error::unsupported("partitions of this type cannot be overwritten one by one yet"))
}

/// The branch that a name says to write to.
///
/// # Errors
/// `InvalidInput` for states that cannot be written to.
pub(crate) fn write_branch(found: &FoundTable) -> Result<Option<String>> {
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
