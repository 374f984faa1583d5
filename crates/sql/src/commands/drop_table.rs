//! DROP TABLE.

use tarn_format::catalog::{Purge, gc_enabled};
use tarn_format::{Error, ErrorKind, Result};

use crate::ast::{self, IfExists, Name};
use crate::names::refuse_metadata_table;
use crate::output::Output;
use crate::session::Session;
use crate::views;

/// Runs DROP TABLE. Without PURGE the files stay, save those that are the table to a catalog that is a directory.
pub(crate) async fn drop_table(
    session: &Session,
    name: &Name,
    if_exists: IfExists,
    purge: ast::Purge,
) -> Result<Output> {
    let located = session.locate_table(name).await?;
    let ident = located.ident()?;
    let catalog = &located.entry.catalog;
    let dropped = match purge {
        ast::Purge::Absent => catalog.drop_table(&ident, Purge::Keep).await,
        ast::Purge::Given => match catalog.load_table(&ident).await {
            Ok(table) if !gc_enabled(&table.metadata.properties) => {
                return Err(Error::validation(format!(
                    "table {}.{ident} cannot be purged: its property gc.enabled is not true, as its files may belong to \
                     other tables too; DROP TABLE without PURGE drops it alone",
                    located.catalog_name
                )));
            }
            Ok(_) => catalog.drop_table(&ident, Purge::Delete).await,
            Err(e) => Err(e),
        },
    };
    if dropped.as_ref().is_err_and(|e| e.kind() == ErrorKind::NotFound) {
        refuse_metadata_table(&located).await?;
        if views::load(&located).await?.is_some() {
            return Err(Error::not_found(format!(
                "{}.{ident} is a view, not a table: DROP VIEW drops it",
                located.catalog_name
            )));
        }
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
