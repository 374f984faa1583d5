//! CREATE TABLE … AS SELECT and REPLACE TABLE … AS SELECT: the table comes into being, or is replaced, in the very commit
//! that adds the rows. A statement that fails leaves nothing.

use std::sync::Arc;

use datafusion::logical_expr::LogicalPlan;
use sqlparser::ast::Query;
use tarn_engine::arrow::schema::arrow_to_struct;
use tarn_format::catalog::TableCreation;
use tarn_format::spec::schema::CaseSensitivity;
use tarn_format::spec::snapshot::Properties;
use tarn_format::spec::types::{ListType, MapType, NestedField, NestedFieldRef, StructType, Type};
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
    let name = format!("{}.{}", located.catalog_name, located.ident()?);
    if create.partitioning.iter().any(|t| t.declared.is_some()) {
        return Err(Error::invalid(
            "PARTITIONED BY names columns of the query: leave their types out",
        ));
    }
    let context = plan_context_with(session, tables);
    let source = plan_query(&context, query.clone()).await?;
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
    pub(crate) async fn into_write(self, session: &Session, located: &Located, place: Place) -> Result<WritePlan> {
        let name = self.name;
        let entry = &located.entry;
        let (table, replaces) = match place {
            Place::New => (entry.catalog.stage_table(&located.ident()?, self.creation).await?, None),
            Place::Existing(table) => {
                let (after, replaced) = replace(table, &self.creation).context("table", name.as_str())?;
                (after, Some(replaced))
            }
        };
        let mut target = write_target(session, entry, table, &Properties::new()).context("table", name.as_str())?;
        target.replaces = replaces;
        let schema = Arc::clone(target.table.metadata.current_schema());
        let rows = arrange(self.source, &InsertTarget::ByPosition, &[], &schema, self.case);
        let rows = rows.context("table", name.as_str())?;
        WritePlan::new(session, self.context, rows, target, name).await
    }
}

/// Every column of a table that a query makes may be NULL, as in Spark, at every depth.
pub(crate) fn nullable_fields(fields: &[NestedFieldRef]) -> Vec<NestedFieldRef> {
    let nullable = |field: &NestedFieldRef| {
        Arc::new(NestedField {
            required: false,
            field_type: nullable_type(&field.field_type),
            ..field.as_ref().clone()
        })
    };
    fields.iter().map(nullable).collect()
}

fn nullable_type(field_type: &Type) -> Type {
    let one = |field: &NestedFieldRef| nullable_fields(std::slice::from_ref(field)).swap_remove(0);
    match field_type {
        Type::Struct(s) => Type::Struct(StructType {
            fields: nullable_fields(&s.fields),
        }),
        Type::List(l) => Type::List(ListType {
            element: one(&l.element),
        }),
        Type::Map(m) => Type::Map(MapType {
            key: Arc::new(NestedField {
                field_type: nullable_type(&m.key.field_type),
                ..m.key.as_ref().clone()
            }),
            value: one(&m.value),
        }),
        Type::Primitive(_) | Type::Variant => field_type.clone(),
    }
}
