//! INSERT INTO and INSERT OVERWRITE.

use std::sync::Arc;

use datafusion::common::{Column, ScalarValue};
use datafusion::logical_expr::{Expr, LogicalPlan, lit};
use tarn_engine::arrow::schema::{arrow_to_struct, schema_to_arrow};
use tarn_engine::scan::pushdown::to_exact_predicate;
use tarn_engine::write::{ExistingRows, SchemaGrowth};
use tarn_format::catalog::Table;
use tarn_format::expr::Predicate;
use tarn_format::spec::schema::CaseSensitivity;
use tarn_format::spec::table_metadata::TableMetadata;
use tarn_format::spec::types::NestedField;
use tarn_format::{Error, Result, ResultExt};

use super::column_defaults::fill_defaults;
use super::insert_columns::{arrange, constants};
use super::query::plan_context_with;
use super::schema_merge::{SchemaMerge, named_target};
use super::write_options::{WriteKind, replaced_where, write_options};
use super::write_plan::{WritePlan, write_target};
use crate::ast::{Insert, InsertMode, InsertTarget};
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
    let mut found = find_table(&session.locate_table(&insert.table).await?, &tables).await?;
    let table = full_name(&found).to_string();
    let kind = match insert.mode {
        InsertMode::Into => WriteKind::Adds,
        InsertMode::Overwrite => WriteKind::Overwrites,
    };
    let options = write_options(&insert.options, kind)?;
    let branch = write_branch(&found).context("table", table.as_str())?;
    let context = plan_context_with(session, &tables);
    let settings = session.settings();
    let case = settings.case_sensitivity();
    let merging = SchemaMerge::of(&options, &settings, &found.table.metadata.properties);
    let merging = merging.context("table", table.as_str())?;
    let goes_to = match merging {
        SchemaMerge::Refused => insert.target.clone(),
        SchemaMerge::Wanted => named_target(&insert.target, &insert.source).context("table", table.as_str())?,
    };
    let before = Arc::clone(found.table.metadata.current_schema());
    let constants =
        constants(&context, &insert.partition, &found.table.metadata, case).context("table", table.as_str())?;
    let mut query = insert.source.as_ref().clone();
    fill_defaults(&mut query, &goes_to, &constants, &before, case).context("table", table.as_str())?;
    let source = plan_query(&context, query).await?;
    let growth = match merging {
        SchemaMerge::Refused => None,
        SchemaMerge::Wanted => grow(&mut found.table, &source, &goes_to, case).context("table", table.as_str())?,
    };
    let metadata = Arc::clone(&found.table.metadata);
    let schema = metadata.current_schema();
    let rows = arrange(source, &goes_to, &constants, schema, case).context("table", table.as_str())?;
    let target = write_target(session, &found.entry, found.table, &options);
    let mut target = target.context("table", table.as_str())?;
    target.growth = growth;
    target.branch = branch;
    target.existing = match (insert.mode, settings.partition_overwrite()) {
        (InsertMode::Into, _) => ExistingRows::Kept,
        (InsertMode::Overwrite, PartitionOverwrite::Dynamic) => ExistingRows::ReplacedByPartition,
        (InsertMode::Overwrite, PartitionOverwrite::Static) => {
            let replaced = replaced_rows(&context, &constants, &metadata).context("table", table.as_str())?;
            replaced_where(replaced, &options)?
        }
    };
    WritePlan::new(session, context, rows, target, table).await
}

/// Brings the columns of rows into a table which it lacks, by their names; those of a list before the rows' own.
///
/// # Errors
/// As [`SchemaGrowth::of`].
pub(crate) fn grow(
    table: &mut Table,
    rows: &LogicalPlan,
    target: &InsertTarget,
    case: CaseSensitivity,
) -> Result<Option<SchemaGrowth>> {
    let mut columns = arrow_to_struct(rows.schema().as_arrow())?.fields;
    match target {
        InsertTarget::ByPosition => return Ok(None),
        InsertTarget::ByName => {}
        InsertTarget::Columns(names) => {
            for (column, name) in columns.iter_mut().zip(names) {
                *column = Arc::new(NestedField {
                    name: name.as_str().into(),
                    ..column.as_ref().clone()
                });
            }
        }
    }
    let Some((grown, growth)) = SchemaGrowth::of(table, &columns, case)? else {
        return Ok(None);
    };
    *table = grown;
    Ok(Some(growth))
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
