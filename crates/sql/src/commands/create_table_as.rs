//! CREATE TABLE … AS SELECT and REPLACE TABLE … AS SELECT: the table comes into being, or is replaced, in the very commit
//! that adds the rows. A statement that fails leaves nothing.

use std::sync::Arc;

use sqlparser::ast::Query;
use tarn_engine::arrow::schema::arrow_to_struct;
use tarn_engine::write::WriteTarget;
use tarn_format::spec::types::{ListType, MapType, NestedField, NestedFieldRef, StructType, Type};
use tarn_format::{Error, Result, ResultExt};

use super::create_table::{Place, creation, refuse_duplicates, replace};
use super::insert_columns::arrange;
use super::query::plan_context;
use super::write_plan::WritePlan;
use crate::ast::{CreateTable, InsertTarget};
use crate::names::Located;
use crate::planner::plan_query;
use crate::session::Session;

/// Plans the statement; nothing happens before the plan runs.
///
/// # Errors
/// Those of planning the query, and of [`creation`].
pub(crate) async fn plan(
    session: &Session,
    create: &CreateTable,
    query: &Query,
    located: &Located,
    place: Place,
) -> Result<WritePlan> {
    let ident = located.ident()?;
    let name = format!("{}.{ident}", located.catalog_name);
    if create.partitioning.iter().any(|t| t.declared.is_some()) {
        return Err(Error::invalid(
            "PARTITIONED BY names columns of the query: leave their types out",
        ));
    }
    let context = plan_context(session);
    let source = plan_query(&context, query.clone()).await?;
    let columns = arrow_to_struct(source.schema().as_arrow()).context("table", name.as_str())?;
    let columns = StructType {
        fields: nullable_fields(&columns.fields),
    };
    refuse_duplicates(&columns.fields).context("table", name.as_str())?;
    let case = session.settings().case_sensitivity();
    let creation = creation(create, columns, case).context("table", name.as_str())?;
    let catalog = Arc::clone(&located.entry.catalog);
    let target = match place {
        Place::New => WriteTarget::new(Arc::clone(&catalog), catalog.stage_table(&ident, creation).await?)?,
        Place::Existing(table) => {
            let (after, replaced) = replace(table, &creation).context("table", name.as_str())?;
            WriteTarget {
                replaces: Some(replaced),
                ..WriteTarget::new(catalog, after)?
            }
        }
    };
    let schema = Arc::clone(target.table.metadata.current_schema());
    let rows = arrange(source, &InsertTarget::ByPosition, &[], &schema, case).context("table", name.as_str())?;
    WritePlan::new(session, context, rows, target, name).await
}

/// Every column of a table that a query makes may be NULL, as in Spark, at every depth.
fn nullable_fields(fields: &[NestedFieldRef]) -> Vec<NestedFieldRef> {
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
