//! ALTER VIEW and DROP VIEW.

use sqlparser::ast::Query;
use tarn_format::catalog::{TableIdent, View};
use tarn_format::update::ViewUpdate;
use tarn_format::{Error, ErrorKind, Result};

use super::create::{create_view, refuse_reserved, temporary_name};
use super::{not_found, shown_name, stored_view};
use crate::ast::view::{AlterView, CreateView, CreateViewMode, ViewStorage};
use crate::ast::{IfExists, Name};
use crate::commands::namespaces::missing;
use crate::names::Located;
use crate::output::Output;
use crate::session::Session;

/// Runs ALTER VIEW.
pub(crate) async fn alter_view(session: &Session, name: &Name, change: &AlterView) -> Result<Output> {
    if let Some(temporary) = temporary_name(session, name) {
        return Err(Error::invalid(format!(
            "{temporary} is a temporary view: CREATE OR REPLACE TEMPORARY VIEW changes it"
        )));
    }
    let (located, view) = stored_view(session, name).await?;
    let shown = shown_name(&located);
    let update = match change {
        AlterView::RenameTo(new_name) => return rename(session, &located, &view, new_name).await,
        AlterView::As { query, sql } => return replace_query(session, name, query, sql).await,
        AlterView::SetProperties(properties) => {
            refuse_reserved(properties.iter().map(|(key, _)| key.as_str()))?;
            ViewUpdate::SetProperties(properties.iter().cloned().collect())
        }
        AlterView::UnsetProperties { keys, if_exists } => {
            refuse_reserved(keys.iter().map(String::as_str))?;
            let absent = keys.iter().find(|key| !view.metadata.properties.contains_key(*key));
            if let (Some(key), IfExists::Absent) = (absent, if_exists) {
                return Err(Error::invalid(format!(
                    "view {shown} has no property '{key}': UNSET TBLPROPERTIES IF EXISTS goes over it"
                )));
            }
            ViewUpdate::RemoveProperties(keys.clone())
        }
    };
    super::change(located.entry.catalog.as_ref(), &view, vec![update]).await?;
    Ok(Output::Done(format!("altered view {shown}")))
}

/// ALTER VIEW … AS: a new version with the columns of the query; properties and comment stay.
async fn replace_query(session: &Session, name: &Name, query: &Query, sql: &str) -> Result<Output> {
    let create = CreateView {
        name: name.clone(),
        mode: CreateViewMode::CreateOrReplace,
        storage: ViewStorage::Catalog,
        columns: Vec::new(),
        comment: None,
        properties: Vec::new(),
        query: Box::new(query.clone()),
        sql: sql.to_string(),
    };
    create_view(session, &create).await
}

async fn rename(session: &Session, located: &Located, view: &View, new_name: &Name) -> Result<Output> {
    let shown = shown_name(located);
    let catalog = located.entry.catalog.as_ref();
    let to = match new_name.0.as_slice() {
        [single] => TableIdent::new(view.ident.namespace.clone(), single.as_str()),
        _ => {
            let there = session.locate_table(new_name).await?;
            if there.catalog_name != located.catalog_name {
                return Err(Error::invalid(format!(
                    "view {shown} cannot be renamed into catalog {}: a view stays in its catalog",
                    there.catalog_name
                )));
            }
            there.ident()?
        }
    };
    if !catalog.namespace_exists(&to.namespace).await? {
        return Err(missing(catalog, &to.namespace).await);
    }
    catalog.rename_view(&view.ident, &to).await?;
    Ok(Output::Done(format!(
        "renamed view {shown} to {}.{to}",
        located.catalog_name
    )))
}

/// Runs DROP VIEW.
pub(crate) async fn drop_view(session: &Session, name: &Name, if_exists: IfExists) -> Result<Output> {
    if let Some(temporary) = temporary_name(session, name) {
        session.temporary_views().remove(temporary);
        return Ok(Output::Done(format!("dropped temporary view {temporary}")));
    }
    let located = session.locate_table(name).await?;
    match located.entry.catalog.drop_view(&located.ident()?).await {
        Ok(()) => Ok(Output::Done(format!("dropped view {}", shown_name(&located)))),
        Err(e) if e.kind() == ErrorKind::NotFound => match if_exists {
            IfExists::Given => Ok(Output::Done(format!(
                "no view {}, nothing dropped",
                shown_name(&located)
            ))),
            IfExists::Absent if located.entry.catalog.table_exists(&located.ident()?).await? => Err(Error::not_found(
                format!("{} is a table, not a view: DROP TABLE drops it", shown_name(&located)),
            )),
            IfExists::Absent => Err(not_found(&located)),
        },
        Err(e) => Err(e),
    }
}
