//! CREATE TABLE … AS SELECT and REPLACE TABLE … AS SELECT: the table comes into being, or is replaced, in the very commit
//! that adds the rows. A statement that fails leaves nothing.

use std::sync::Arc;

use datafusion::logical_expr::LogicalPlan;
use sqlparser::ast::Query;
use tarn_engine::arrow::schema::arrow_to_struct;
use tarn_engine::write::nullable_fields;
use tarn_format::catalog::TableCreation;
use tarn_format::spec::schema::CaseSensitivity;
use tarn_format::spec::snapshot::Properties;
use tarn_format::spec::types::StructType;
use tarn_format::{Error, Result, ResultExt};

use super::create_table::{Place, creation, refuse_duplicates, replace};
use super::insert_columns::arrange;
use super::query::plan_context_with;
use super::write_plan::{WritePlan, write_target};
use crate::ast::{CreateTable, InsertTarget};
use crate::loaded_tables::LoadedTables;
use crate::names::Located;
use crate::planner::{PlanContext, plan_query};
use crate::session::Session;

/// The rows of the statement and the table that they need. Nothing has happened yet.
pub(crate) struct PlannedRows {
    context: PlanContext,
    source: LogicalPlan,
    creation: TableCreation,
    case: CaseSensitivity,
    /// Of the table, with its catalog.
    name: String,
}

/// Plans the query of a statement that has loaded `tables` already.
///
/// # Errors
/// Those of planning the query, and of [`creation`].
pub(crate) async fn plan_rows(
    session: &Session,
    create: &CreateTable,
    query: &Query,
    located: &Located,
    tables: &LoadedTables,
) -> Result<PlannedRows> {
    if create.partitioning.iter().any(|t| t.declared.is_some()) {
        return Err(Error::invalid(
            "PARTITIONED BY names columns of the query: leave their types out",
        ));
    }
    let context = plan_context_with(session, tables);
    let source = plan_query(&context, query.clone()).await?;
    rows_of(session, create, located, (context, source))
}

/// The rows of a plan, and the table that they need.
///
/// # Errors
/// As [`creation`].
pub(crate) fn rows_of(
    session: &Session,
    create: &CreateTable,
    located: &Located,
    (context, source): (PlanContext, LogicalPlan),
) -> Result<PlannedRows> {
    let name = format!("{}.{}", located.catalog_name, located.ident()?);
    let columns = arrow_to_struct(source.schema().as_arrow()).context("table", name.as_str())?;
    let columns = StructType {
        fields: nullable_fields(&columns.fields),
    };
    refuse_duplicates(&columns.fields).context("table", name.as_str())?;
    let case = session.settings().case_sensitivity();
    let creation = creation(create, columns, case).context("table", name.as_str())?;
    Ok(PlannedRows {
        context,
        source,
        creation,
        case,
        name,
    })
}

impl PlannedRows {
    /// Plans making or replacing the table with the rows in it.
    ///
    /// # Errors
    /// `NotFound` when the namespace does not exist; those of planning the write.
    pub(crate) async fn into_write(
        self,
        session: &Session,
        located: &Located,
        place: Place,
        options: &Properties,
    ) -> Result<WritePlan> {
        let name = self.name;
        let entry = &located.entry;
        let (table, replaces) = match place {
            Place::New => (entry.catalog.stage_table(&located.ident()?, self.creation).await?, None),
            Place::Existing(table) => {
                let (after, replaced) = replace(table, &self.creation).context("table", name.as_str())?;
                (after, Some(replaced))
            }
        };
        let mut target = write_target(session, entry, table, options).context("table", name.as_str())?;
        target.replaces = replaces;
        let schema = Arc::clone(target.table.metadata.current_schema());
        let rows = arrange(self.source, &InsertTarget::ByPosition, &[], &schema, self.case);
        let rows = rows.context("table", name.as_str())?;
        WritePlan::new(session, self.context, rows, target, name).await
    }
}
