//! Statements other than queries, a file for each kind.

mod alter_table;
mod column_defaults;
mod create_statement;
mod create_table;
mod create_table_as;
mod describe;
mod drop_table;
mod history;
mod insert;
mod insert_columns;
mod named;
mod namespaces;
mod partitioning;
mod procedures;
mod query;
mod row_change;
mod schema_merge;
mod settings;
mod show;
mod spark_types;
mod table_properties;
mod views;
mod write_audit_publish;
mod write_options;
mod write_plan;

use tarn_format::Result;

pub(crate) use self::create_table::create_table_from;
pub(crate) use self::insert::{grow, write_branch};
pub(crate) use self::insert_columns::arrange;
pub(crate) use self::query::{plan_context, plan_context_in, plan_context_with};
pub(crate) use self::row_change::{MergeRows, merge_rows};
pub(crate) use self::schema_merge::SchemaMerge;
pub(crate) use self::show::plain_table;
pub(crate) use self::write_options::{WriteKind, replaced_where, write_options};
pub(crate) use self::write_plan::{WritePlan, write_target};
use crate::ast::Statement;
use crate::output::Output;
use crate::session::Session;

/// Runs a statement.
pub(crate) async fn run(session: &Session, statement: &Statement) -> Result<Output> {
    match statement {
        Statement::CreateTable(create) => create_table::create_table(session, create).await,
        Statement::DropTable { name, if_exists, purge } => {
            drop_table::drop_table(session, name, *if_exists, *purge).await
        }
        Statement::AlterTable { name, change } => alter_table::alter_table(session, name, change).await,
        Statement::CreateView(create) => views::create_view(session, create).await,
        Statement::AlterView { name, change } => views::alter_view(session, name, change).await,
        Statement::DropView { name, if_exists } => views::drop_view(session, name, *if_exists).await,
        Statement::Call(call) => procedures::call(session, call).await,
        Statement::CreateNamespace {
            name,
            if_not_exists,
            properties,
        } => namespaces::create(session, name, *if_not_exists, properties).await,
        Statement::DropNamespace {
            name,
            if_exists,
            cascade,
        } => namespaces::drop(session, name, *if_exists, *cascade).await,
        Statement::SetNamespaceProperties { name, properties } => {
            namespaces::set_properties(session, name, properties).await
        }
        Statement::CreateCatalog {
            name,
            if_not_exists,
            properties,
        } => settings::create_catalog(session, name, *if_not_exists, properties).await,
        Statement::DropCatalog { name, if_exists } => settings::drop_catalog(session, name, *if_exists),
        Statement::Use { what, name } => namespaces::use_name(session, *what, name).await,
        Statement::Show(show) => show::show(session, show).await,
        Statement::Describe(describe) => describe::describe(session, describe).await,
        Statement::Set { key, value } => settings::set(session, key.as_deref(), value.as_deref()),
        Statement::Reset { key } => settings::reset(session, key.as_deref()),
        Statement::Query(query) => query::query(session, query).await,
        Statement::Explain { mode, statement } => query::explain(session, *mode, statement).await,
        Statement::Insert(insert) => insert::insert(session, insert).await,
        Statement::Delete(delete) => row_change::delete(session, delete).await,
        Statement::Update(update) => row_change::update(session, update).await,
        Statement::Merge(merge) => Box::pin(row_change::merge(session, merge)).await,
        Statement::Truncate { table } => row_change::truncate(session, table).await,
    }
}
