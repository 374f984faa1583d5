//! Namespaces of a sql catalog: rows of `iceberg_namespace_properties`, levels joined by dots.
//!
//! A namespace exists when either table has a row at it or below it (Java: `JdbcUtil.namespaceExists`); the reserved
//! property `exists` keeps one alive that has no other.

use std::collections::BTreeSet;

use sqlx::SqliteConnection;
use tarn_format::catalog::Namespace;
use tarn_format::spec::snapshot::Properties;
use tarn_format::{Error, Result};

use super::failure::database_error;
use super::schema::Need;
use super::{SqlPointers, entries};
use crate::pointers::{Swap, existing_namespace, filled_namespace, missing_namespace};

/// The property that marks existence (Java: `JdbcCatalog.NAMESPACE_EXISTS_PROPERTY`).
const EXISTS: &str = "exists";

/// All namespaces at or below `?2`, of the catalog `?1`; `?3` is `?2` with a dot, `?4` its length in characters.
/// Java and PyIceberg use LIKE, which in SQLite ignores case: comparing prefixes does not.
const SELECT_BELOW: &str = "SELECT DISTINCT table_namespace FROM iceberg_tables \
        WHERE catalog_name = ?1 AND (?2 = '' OR table_namespace = ?2 OR substr(table_namespace, 1, ?4) = ?3) \
    UNION SELECT DISTINCT namespace FROM iceberg_namespace_properties \
        WHERE catalog_name = ?1 AND (?2 = '' OR namespace = ?2 OR substr(namespace, 1, ?4) = ?3)";

const SELECT_PROPERTIES: &str = "SELECT property_key, property_value FROM iceberg_namespace_properties \
    WHERE catalog_name = ? AND namespace = ?";

const DELETE_PROPERTY: &str = "DELETE FROM iceberg_namespace_properties \
    WHERE catalog_name = ? AND namespace = ? AND property_key = ?";

const DELETE_PROPERTIES: &str = "DELETE FROM iceberg_namespace_properties WHERE catalog_name = ? AND namespace = ?";

const UPSERT_PROPERTY: &str = "INSERT INTO iceberg_namespace_properties \
    (catalog_name, namespace, property_key, property_value) VALUES (?, ?, ?, ?) \
    ON CONFLICT (catalog_name, namespace, property_key) DO UPDATE SET property_value = excluded.property_value";

/// The stored form. A level that is empty or holds a dot cannot be told apart from other levels and is refused.
pub(super) fn stored(namespace: &Namespace) -> Result<String> {
    if namespace.0.iter().any(|level| level.is_empty() || level.contains('.')) {
        return Err(
            Error::invalid("a sql catalog cannot name a namespace level that is empty or holds a dot")
                .with_context("namespace", namespace.to_string()),
        );
    }
    Ok(namespace.0.join("."))
}

fn parse(stored: &str) -> Namespace {
    if stored.is_empty() {
        Namespace::default()
    } else {
        Namespace::new(stored.split('.'))
    }
}

async fn below(connection: &mut SqliteConnection, catalog: &str, namespace: &Namespace) -> Result<Vec<Namespace>> {
    let stored = stored(namespace)?;
    let prefix = format!("{stored}.");
    let length = i64::try_from(prefix.chars().count()).unwrap_or(i64::MAX);
    let rows: Vec<(String,)> = sqlx::query_as(SELECT_BELOW)
        .bind(catalog)
        .bind(&stored)
        .bind(&prefix)
        .bind(length)
        .fetch_all(connection)
        .await
        .map_err(|e| database_error(e, "cannot list namespaces"))?;
    Ok(rows.iter().map(|(name,)| parse(name)).collect())
}

/// Whether the namespace exists. The root always does.
pub(super) async fn exists(connection: &mut SqliteConnection, catalog: &str, namespace: &Namespace) -> Result<bool> {
    Ok(namespace.is_root() || !below(connection, catalog, namespace).await?.is_empty())
}

pub(super) async fn require(connection: &mut SqliteConnection, catalog: &str, namespace: &Namespace) -> Result<()> {
    if exists(connection, catalog, namespace).await? {
        Ok(())
    } else {
        Err(missing_namespace(namespace))
    }
}

pub(super) async fn children(store: &SqlPointers, parent: &Namespace) -> Result<Vec<Namespace>> {
    let found = match store.reader_with_layout().await? {
        Some((mut connection, _)) => below(&mut connection, store.stored_name(), parent).await?,
        None => Vec::new(),
    };
    if found.is_empty() && !parent.is_root() {
        return Err(missing_namespace(parent));
    }
    Ok(direct_children(&found, parent))
}

fn direct_children(found: &[Namespace], parent: &Namespace) -> Vec<Namespace> {
    let depth = parent.0.len() + 1;
    let children: BTreeSet<Namespace> = found
        .iter()
        .filter(|n| n.0.len() >= depth)
        .map(|n| Namespace(n.0.iter().take(depth).cloned().collect()))
        .collect();
    children.into_iter().collect()
}

pub(super) async fn properties(store: &SqlPointers, namespace: &Namespace) -> Result<Option<Properties>> {
    let Some((mut connection, _)) = store.reader_with_layout().await? else {
        return Ok(namespace.is_root().then(Properties::new));
    };
    if !exists(&mut connection, store.stored_name(), namespace).await? {
        return Ok(None);
    }
    let rows: Vec<(Option<String>, Option<String>)> = sqlx::query_as(SELECT_PROPERTIES)
        .bind(store.stored_name())
        .bind(stored(namespace)?)
        .fetch_all(&mut *connection)
        .await
        .map_err(|e| database_error(e, "cannot read namespace properties"))?;
    let pairs = rows
        .into_iter()
        .filter_map(|(key, value)| Some((key?, value.unwrap_or_default())));
    Ok(Some(pairs.filter(|(key, _)| key != EXISTS).collect()))
}

pub(super) async fn insert(store: &SqlPointers, namespace: &Namespace, properties: Properties) -> Result<()> {
    refuse_reserved(properties.keys())?;
    let (mut transaction, layout) = store.writer(Need::Tables).await?;
    if exists(&mut transaction, store.stored_name(), namespace).await? {
        return Err(existing_namespace(namespace));
    }
    set(&mut transaction, store.stored_name(), namespace, properties).await?;
    certain(store.commit(transaction, layout).await?)
}

pub(super) async fn change(
    store: &SqlPointers,
    namespace: &Namespace,
    removals: &[String],
    updates: Properties,
) -> Result<()> {
    refuse_reserved(removals.iter().chain(updates.keys()))?;
    let (mut transaction, layout) = store.writer(Need::Tables).await?;
    require(&mut transaction, store.stored_name(), namespace).await?;
    let stored = stored(namespace)?;
    for key in removals {
        sqlx::query(DELETE_PROPERTY)
            .bind(store.stored_name())
            .bind(&stored)
            .bind(key)
            .execute(&mut *transaction)
            .await
            .map_err(|e| database_error(e, "cannot change namespace properties"))?;
    }
    set(&mut transaction, store.stored_name(), namespace, updates).await?;
    certain(store.commit(transaction, layout).await?)
}

pub(super) async fn remove(store: &SqlPointers, namespace: &Namespace) -> Result<()> {
    let (mut transaction, layout) = store.writer(Need::Tables).await?;
    let found = below(&mut transaction, store.stored_name(), namespace).await?;
    if found.is_empty() {
        return Err(missing_namespace(namespace));
    }
    if !direct_children(&found, namespace).is_empty() {
        return Err(filled_namespace(namespace, "namespaces"));
    }
    if entries::any_in(&mut transaction, store.stored_name(), namespace).await? {
        return Err(filled_namespace(namespace, "tables or views"));
    }
    sqlx::query(DELETE_PROPERTIES)
        .bind(store.stored_name())
        .bind(stored(namespace)?)
        .execute(&mut *transaction)
        .await
        .map_err(|e| database_error(e, "cannot drop the namespace"))?;
    certain(store.commit(transaction, layout).await?)
}

/// Sets properties, and the mark of existence with them: PyIceberg leaves it out, and the namespace would vanish with
/// its last property.
async fn set(
    connection: &mut SqliteConnection,
    catalog: &str,
    namespace: &Namespace,
    mut properties: Properties,
) -> Result<()> {
    let stored = stored(namespace)?;
    properties.insert(EXISTS.to_owned(), "true".to_owned());
    for (key, value) in properties {
        sqlx::query(UPSERT_PROPERTY)
            .bind(catalog)
            .bind(&stored)
            .bind(key)
            .bind(value)
            .execute(&mut *connection)
            .await
            .map_err(|e| database_error(e, "cannot write namespace properties"))?;
    }
    Ok(())
}

/// Keeps a namespace that has no row of its own from vanishing with its last table.
pub(super) async fn keep(connection: &mut SqliteConnection, catalog: &str, namespace: &Namespace) -> Result<()> {
    if namespace.is_root() {
        return Ok(());
    }
    set(connection, catalog, namespace, Properties::new()).await
}

fn refuse_reserved<'a>(mut keys: impl Iterator<Item = &'a String>) -> Result<()> {
    if keys.any(|k| k == EXISTS) {
        return Err(Error::invalid(format!(
            "`{EXISTS}` is a reserved namespace property of sql catalogs"
        )));
    }
    Ok(())
}

/// Namespace changes can be repeated, so an uncertain outcome is told as the failure it is.
fn certain(outcome: Swap) -> Result<()> {
    match outcome {
        Swap::Done | Swap::Lost => Ok(()),
        Swap::Unknown(e) => Err(e),
    }
}
