//! Statements on namespaces, and USE.

use tarn_format::catalog::{Catalog, Namespace, Purge};
use tarn_format::spec::snapshot::Properties;
use tarn_format::{Error, ErrorKind, Result};

use crate::ast::{Cascade, IfExists, IfNotExists, Name, PropertyList, Used};
use crate::names::Located;
use crate::near_names::did_you_mean;
use crate::output::Output;
use crate::session::{Current, Session};

/// Runs CREATE NAMESPACE.
pub(crate) async fn create(
    session: &Session,
    name: &Name,
    if_not_exists: IfNotExists,
    properties: &PropertyList,
) -> Result<Output> {
    let located = session.locate_namespace(Some(name)).await?;
    let namespace = located.namespace();
    let properties: Properties = properties.iter().cloned().collect();
    match located.entry.catalog.create_namespace(&namespace, properties).await {
        Ok(()) => Ok(Output::Done(format!(
            "created namespace {}.{namespace}",
            located.catalog_name
        ))),
        Err(e) if e.kind() == ErrorKind::AlreadyExists && if_not_exists == IfNotExists::Given => Ok(Output::Done(
            format!("namespace {namespace} exists already, nothing created"),
        )),
        Err(e) => Err(e),
    }
}

/// Runs DROP NAMESPACE.
pub(crate) async fn drop(session: &Session, name: &Name, if_exists: IfExists, cascade: Cascade) -> Result<Output> {
    let located = session.locate_namespace(Some(name)).await?;
    let namespace = located.namespace();
    let catalog = located.entry.catalog.as_ref();
    if !catalog.namespace_exists(&namespace).await? {
        return match if_exists {
            IfExists::Given => Ok(Output::Done(format!("no namespace {namespace}, nothing dropped"))),
            IfExists::Absent => Err(missing(catalog, &namespace).await),
        };
    }
    if cascade == Cascade::Cascade {
        empty(catalog, &namespace).await?;
    }
    catalog.drop_namespace(&namespace).await?;
    Ok(Output::Done(format!(
        "dropped namespace {}.{namespace}",
        located.catalog_name
    )))
}

/// Drops everything in a namespace. Files of tables stay, as DROP TABLE without PURGE leaves them.
async fn empty(catalog: &dyn Catalog, namespace: &Namespace) -> Result<()> {
    for child in catalog.list_namespaces(namespace).await? {
        Box::pin(empty(catalog, &child)).await?;
        catalog.drop_namespace(&child).await?;
    }
    for table in catalog.list_tables(namespace).await? {
        catalog.drop_table(&table, Purge::Keep).await?;
    }
    match catalog.list_views(namespace).await {
        Ok(views) => {
            for view in views {
                catalog.drop_view(&view).await?;
            }
            Ok(())
        }
        Err(e) if e.kind() == ErrorKind::Unsupported => Ok(()),
        Err(e) => Err(e),
    }
}

/// Runs ALTER NAMESPACE … SET PROPERTIES and COMMENT ON NAMESPACE.
pub(crate) async fn set_properties(session: &Session, name: &Name, properties: &PropertyList) -> Result<Output> {
    let located = session.locate_namespace(Some(name)).await?;
    let namespace = located.namespace();
    let catalog = located.entry.catalog.as_ref();
    if !catalog.namespace_exists(&namespace).await? {
        return Err(missing(catalog, &namespace).await);
    }
    let properties: Properties = properties.iter().cloned().collect();
    catalog.update_namespace(&namespace, &[], properties).await?;
    Ok(Output::Done(format!(
        "changed namespace {}.{namespace}",
        located.catalog_name
    )))
}

/// Runs USE: a catalog, a namespace of one, or a namespace of the current catalog.
pub(crate) async fn use_name(session: &Session, what: Used, name: &Name) -> Result<Output> {
    let located = match what {
        Used::Any => session.locate_namespace(Some(name)).await?,
        Used::Namespace => {
            let current = session.locate_namespace(None).await?;
            let path = name.0.clone();
            Located { path, ..current }
        }
        Used::Catalog => catalog(session, name).await?,
    };
    let namespace = located.namespace();
    let catalog = located.entry.catalog.as_ref();
    let may_be_missing = namespace.is_root() || session.is_implied(&located.catalog_name, &namespace);
    if !may_be_missing && !catalog.namespace_exists(&namespace).await? {
        return Err(missing(catalog, &namespace).await);
    }
    let catalog = located.catalog_name;
    let line = if namespace.is_root() {
        format!("using {catalog}")
    } else {
        format!("using {catalog}.{namespace}")
    };
    session.set_current(Current { catalog, namespace });
    Ok(Output::Done(line))
}

/// The root of the catalog of this name.
async fn catalog(session: &Session, name: &Name) -> Result<Located> {
    let located = session.locate_namespace(Some(name)).await?;
    if located.path.is_empty() {
        return Ok(located);
    }
    let names = session.catalog_names();
    let hint = did_you_mean(&name.to_string(), names.iter().map(String::as_str));
    Err(Error::not_found(format!("catalog {name} not found{hint}")))
}

/// The error that a namespace does not exist, with a near name.
pub(crate) async fn missing(catalog: &dyn Catalog, namespace: &Namespace) -> Error {
    let parent = namespace.parent().unwrap_or_default();
    let siblings = catalog.list_namespaces(&parent).await.unwrap_or_default();
    let last = |n: &Namespace| n.0.last().cloned().unwrap_or_default();
    let names: Vec<String> = siblings.iter().map(last).collect();
    let hint = did_you_mean(&last(namespace), names.iter().map(String::as_str));
    Error::not_found(format!("namespace {}.{namespace} not found{hint}", catalog.name()))
}
