//! Tables and views of a sql catalog: rows of `iceberg_tables`.

use sqlx::{Sqlite, SqliteConnection, Transaction};
use tarn_format::catalog::{Namespace, TableIdent};
use tarn_format::{Error, Result, ResultExt};

use super::failure::database_error;
use super::namespaces::{self, stored};
use super::schema::{Layout, Need};
use super::{MissingNamespace, SqlPointers};
use crate::pointers::{EntryKind, Pointer, Swap, existing_entry, kind_key, missing_entry, missing_namespace};

const SELECT_V1: &str = "SELECT metadata_location, iceberg_type FROM iceberg_tables \
    WHERE catalog_name = ? AND table_namespace = ? AND table_name = ?";
const SELECT_V0: &str = "SELECT metadata_location, NULL FROM iceberg_tables \
    WHERE catalog_name = ? AND table_namespace = ? AND table_name = ?";

const LIST_V1: &str = "SELECT table_name, iceberg_type FROM iceberg_tables \
    WHERE catalog_name = ? AND table_namespace = ? ORDER BY table_name";
const LIST_V0: &str = "SELECT table_name, NULL FROM iceberg_tables \
    WHERE catalog_name = ? AND table_namespace = ? ORDER BY table_name";

const ANY: &str = "SELECT count(*) FROM iceberg_tables WHERE catalog_name = ? AND table_namespace = ?";

const INSERT_V1: &str = "INSERT INTO iceberg_tables \
    (catalog_name, table_namespace, table_name, metadata_location, previous_metadata_location, iceberg_type) \
    VALUES (?, ?, ?, ?, NULL, ?)";
const INSERT_V0: &str = "INSERT INTO iceberg_tables \
    (catalog_name, table_namespace, table_name, metadata_location, previous_metadata_location) \
    VALUES (?, ?, ?, ?, NULL)";

const SWAP_TABLE_V1: &str = "UPDATE iceberg_tables SET metadata_location = ?, previous_metadata_location = ? \
    WHERE catalog_name = ? AND table_namespace = ? AND table_name = ? AND metadata_location = ? \
    AND (iceberg_type = 'TABLE' OR iceberg_type IS NULL)";
const SWAP_TABLE_V0: &str = "UPDATE iceberg_tables SET metadata_location = ?, previous_metadata_location = ? \
    WHERE catalog_name = ? AND table_namespace = ? AND table_name = ? AND metadata_location = ?";
const SWAP_VIEW: &str = "UPDATE iceberg_tables SET metadata_location = ?, previous_metadata_location = ? \
    WHERE catalog_name = ? AND table_namespace = ? AND table_name = ? AND metadata_location = ? \
    AND iceberg_type = 'VIEW'";

const DELETE: &str = "DELETE FROM iceberg_tables WHERE catalog_name = ? AND table_namespace = ? AND table_name = ?";

const RENAME: &str = "UPDATE iceberg_tables SET table_namespace = ?, table_name = ? \
    WHERE catalog_name = ? AND table_namespace = ? AND table_name = ?";

/// A NULL type is a table: rows of V0 databases and of writers that do not know the column.
fn kind_of(stored: Option<&str>) -> Result<EntryKind> {
    match stored {
        None | Some("TABLE") => Ok(EntryKind::Table),
        Some("VIEW") => Ok(EntryKind::View),
        Some(other) => Err(Error::corrupt(format!(
            "a catalog row has the unknown iceberg_type `{other}`"
        ))),
    }
}

fn stored_kind(kind: EntryKind) -> &'static str {
    match kind {
        EntryKind::Table => "TABLE",
        EntryKind::View => "VIEW",
    }
}

fn need_of(kind: EntryKind) -> Need {
    match kind {
        EntryKind::Table => Need::Tables,
        EntryKind::View => Need::Views,
    }
}

pub(super) async fn any_in(connection: &mut SqliteConnection, catalog: &str, namespace: &Namespace) -> Result<bool> {
    let (count,): (i64,) = sqlx::query_as(ANY)
        .bind(catalog)
        .bind(stored(namespace)?)
        .fetch_one(connection)
        .await
        .map_err(|e| database_error(e, "cannot list tables"))?;
    Ok(count > 0)
}

pub(super) async fn names(store: &SqlPointers, namespace: &Namespace, kind: EntryKind) -> Result<Vec<String>> {
    let Some((mut connection, layout)) = store.reader_with_layout().await? else {
        return if namespace.is_root() {
            Ok(Vec::new())
        } else {
            Err(missing_namespace(namespace))
        };
    };
    namespaces::require(&mut connection, store.stored_name(), namespace).await?;
    let sql = if layout == Layout::V1 { LIST_V1 } else { LIST_V0 };
    let rows: Vec<(String, Option<String>)> = sqlx::query_as(sql)
        .bind(store.stored_name())
        .bind(stored(namespace)?)
        .fetch_all(&mut *connection)
        .await
        .map_err(|e| database_error(e, "cannot list tables"))?;
    // A row of a type we do not know is neither: it must not make the others unreachable.
    let named = rows
        .into_iter()
        .filter(|(_, t)| kind_of(t.as_deref()).is_ok_and(|k| k == kind));
    Ok(named.map(|(name, _)| name).collect())
}

/// The row of a name. A NULL location breaks the catalog's contract.
async fn row(
    connection: &mut SqliteConnection,
    layout: Layout,
    catalog: &str,
    ident: &TableIdent,
) -> Result<Option<Pointer>> {
    let sql = if layout == Layout::V1 { SELECT_V1 } else { SELECT_V0 };
    let found: Option<(Option<String>, Option<String>)> = sqlx::query_as(sql)
        .bind(catalog)
        .bind(stored(&ident.namespace)?)
        .bind(&ident.name)
        .fetch_optional(connection)
        .await
        .map_err(|e| database_error(e, "cannot read the catalog").with_context("table", ident.to_string()))?;
    let Some((location, kind)) = found else {
        return Ok(None);
    };
    let kind = kind_of(kind.as_deref()).context("table", ident.to_string())?;
    let metadata_location = location.ok_or_else(|| {
        Error::corrupt("the catalog row has no metadata location").with_context(kind_key(kind), ident.to_string())
    })?;
    Ok(Some(Pointer {
        kind,
        metadata_location,
    }))
}

pub(super) async fn get(store: &SqlPointers, ident: &TableIdent) -> Result<Option<Pointer>> {
    match store.reader_with_layout().await? {
        Some((mut connection, layout)) => row(&mut connection, layout, store.stored_name(), ident).await,
        None => Ok(None),
    }
}

pub(super) async fn insert(store: &SqlPointers, ident: &TableIdent, pointer: &Pointer) -> Result<Swap> {
    let namespace = stored(&ident.namespace)?;
    let (mut transaction, layout) = store.writer(need_of(pointer.kind)).await?;
    if store.options.missing_namespace == MissingNamespace::Refused {
        namespaces::require(&mut transaction, store.stored_name(), &ident.namespace).await?;
    }
    if let Some(taken) = row(&mut transaction, layout, store.stored_name(), ident).await? {
        return Err(existing_entry(taken.kind, ident));
    }
    let mut statement = sqlx::query(if layout == Layout::V1 { INSERT_V1 } else { INSERT_V0 })
        .bind(store.stored_name())
        .bind(namespace)
        .bind(&ident.name)
        .bind(&pointer.metadata_location);
    if layout == Layout::V1 {
        statement = statement.bind(stored_kind(pointer.kind));
    }
    let inserted = statement.execute(&mut *transaction).await;
    inserted.map_err(|e| failed(e, pointer.kind, ident))?;
    store.commit(transaction, layout).await
}

pub(super) async fn swap(store: &SqlPointers, ident: &TableIdent, from: &Pointer, to: &str) -> Result<Swap> {
    let namespace = stored(&ident.namespace)?;
    let (mut transaction, layout) = store.writer(need_of(from.kind)).await?;
    let sql = match (from.kind, layout) {
        (EntryKind::View, _) => SWAP_VIEW,
        (EntryKind::Table, Layout::V1) => SWAP_TABLE_V1,
        (EntryKind::Table, _) => SWAP_TABLE_V0,
    };
    let swapped = sqlx::query(sql)
        .bind(to)
        .bind(&from.metadata_location)
        .bind(store.stored_name())
        .bind(namespace)
        .bind(&ident.name)
        .bind(&from.metadata_location)
        .execute(&mut *transaction)
        .await;
    let swapped = swapped.map_err(|e| failed(e, from.kind, ident))?;
    if swapped.rows_affected() == 0 {
        let current = row(&mut transaction, layout, store.stored_name(), ident).await?;
        return match current.filter(|c| c.kind == from.kind) {
            Some(_) => Ok(Swap::Lost),
            None => Err(missing_entry(from.kind, ident)),
        };
    }
    store.commit(transaction, layout).await
}

pub(super) async fn remove(store: &SqlPointers, ident: &TableIdent, kind: EntryKind) -> Result<Option<String>> {
    if get(store, ident).await?.is_none_or(|found| found.kind != kind) {
        return Ok(None);
    }
    let (mut transaction, layout) = store.writer(Need::Tables).await?;
    let found = row(&mut transaction, layout, store.stored_name(), ident).await?;
    let Some(found) = found.filter(|f| f.kind == kind) else {
        return Ok(None);
    };
    namespaces::keep(&mut transaction, store.stored_name(), &ident.namespace).await?;
    let deleted = one_row(&mut transaction, store, ident).await;
    deleted.map_err(|e| failed(e, kind, ident))?;
    match store.commit(transaction, layout).await? {
        // The row alone says whether it happened.
        Swap::Unknown(e) => match get(store, ident).await {
            Ok(None) => Ok(Some(found.metadata_location)),
            Ok(Some(_)) => Err(e),
            Err(_) => Err(e.with_kind(tarn_format::ErrorKind::CommitStateUnknown)),
        },
        Swap::Done | Swap::Lost => Ok(Some(found.metadata_location)),
    }
}

async fn one_row(
    transaction: &mut Transaction<'static, Sqlite>,
    store: &SqlPointers,
    ident: &TableIdent,
) -> std::result::Result<(), sqlx::Error> {
    let namespace = ident.namespace.0.join(".");
    let statement = sqlx::query(DELETE)
        .bind(store.stored_name())
        .bind(namespace)
        .bind(&ident.name);
    statement.execute(&mut **transaction).await.map(drop)
}

pub(super) async fn rename(store: &SqlPointers, kind: EntryKind, from: &TableIdent, to: &TableIdent) -> Result<()> {
    let (old_namespace, new_namespace) = (stored(&from.namespace)?, stored(&to.namespace)?);
    let (mut transaction, layout) = store.writer(Need::Tables).await?;
    let found = row(&mut transaction, layout, store.stored_name(), from).await?;
    if found.is_none_or(|f| f.kind != kind) {
        return Err(missing_entry(kind, from));
    }
    namespaces::require(&mut transaction, store.stored_name(), &to.namespace).await?;
    if let Some(taken) = row(&mut transaction, layout, store.stored_name(), to).await? {
        return Err(existing_entry(taken.kind, to));
    }
    namespaces::keep(&mut transaction, store.stored_name(), &from.namespace).await?;
    let renamed = sqlx::query(RENAME)
        .bind(new_namespace)
        .bind(&to.name)
        .bind(store.stored_name())
        .bind(old_namespace)
        .bind(&from.name)
        .execute(&mut *transaction)
        .await;
    renamed.map_err(|e| failed(e, kind, from))?;
    match store.commit(transaction, layout).await? {
        Swap::Done | Swap::Lost => Ok(()),
        Swap::Unknown(e) => match (get(store, from).await, get(store, to).await) {
            (Ok(None), Ok(Some(_))) => Ok(()),
            (Ok(Some(_)), Ok(None)) => Err(e),
            _ => Err(e.with_kind(tarn_format::ErrorKind::CommitStateUnknown)),
        },
    }
}

fn failed(error: sqlx::Error, kind: EntryKind, ident: &TableIdent) -> Error {
    if error.as_database_error().is_some_and(|e| e.is_unique_violation()) {
        return existing_entry(kind, ident);
    }
    database_error(error, "cannot write to the catalog database").with_context(kind_key(kind), ident.to_string())
}
