//! Statements other than queries, a file for each kind.

mod create_table;
mod describe;
mod insert;
mod namespaces;
mod query;
mod settings;
mod show;
mod spark_types;

use tarn_format::catalog::Purge;
use tarn_format::{ErrorKind, Result};

pub(crate) use self::query::plan_context;
use crate::ast::{self, IfExists, Statement};
use crate::names::refuse_metadata_table;
use crate::output::Output;
use crate::session::Session;

/// Runs a statement.
pub(crate) async fn run(session: &Session, statement: &Statement) -> Result<Output> {
    match statement {
        Statement::CreateTable(create) => create_table::create_table(session, create).await,
        Statement::DropTable { name, if_exists, purge } => drop_table(session, name, *if_exists, *purge).await,
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
        Statement::Use { name } => namespaces::use_name(session, name).await,
        Statement::Show(show) => show::show(session, show).await,
        Statement::Describe(describe) => describe::describe(session, describe).await,
        Statement::Set { key, value } => settings::set(session, key.as_deref(), value.as_deref()),
        Statement::Reset { key } => settings::reset(session, key.as_deref()),
        Statement::Query(query) => query::query(session, query).await,
        Statement::Explain { mode, statement } => query::explain(session, *mode, statement).await,
        Statement::Insert(insert) => insert::insert(session, insert).await,
    }
}

async fn drop_table(session: &Session, name: &ast::Name, if_exists: IfExists, purge: ast::Purge) -> Result<Output> {
    let located = session.locate_table(name).await?;
    let ident = located.ident()?;
    let purge = match purge {
        ast::Purge::Given => Purge::Delete,
        ast::Purge::Absent => Purge::Keep,
    };
    let dropped = located.entry.catalog.drop_table(&ident, purge).await;
    if dropped.as_ref().is_err_and(|e| e.kind() == ErrorKind::NotFound) {
        refuse_metadata_table(&located).await?;
    }
    match dropped {
        Ok(()) => Ok(Output::Done(format!("dropped table {}.{ident}", located.catalog_name))),
        Err(e) if e.kind() == ErrorKind::NotFound && if_exists == IfExists::Given => Ok(Output::Done(format!(
            "no table {}.{ident}, nothing dropped",
            located.catalog_name
        ))),
        Err(e) => Err(e),
    }
}
