//! ALTER TABLE … RENAME TO.

use tarn_format::catalog::{Namespace, TableIdent};
use tarn_format::{Error, Result};

use crate::ast::Name;
use crate::commands::namespaces::missing;
use crate::commands::show::plain_table;
use crate::output::Output;
use crate::session::Session;

/// Gives the table another name in its catalog. A name of one part stays in the table's namespace.
pub(super) async fn rename(session: &Session, name: &Name, new_name: &Name) -> Result<Output> {
    let found = plain_table(session, name).await?;
    let from = &found.table.ident;
    let to = match new_name.0.as_slice() {
        [single] => TableIdent::new(from.namespace.clone(), single.as_str()),
        _ => {
            let located = session.locate_table(new_name).await?;
            if located.catalog_name != found.catalog_name {
                return Err(Error::invalid(format!(
                    "table {}.{from} cannot be renamed into catalog {}: a table stays in its catalog",
                    found.catalog_name, located.catalog_name
                )));
            }
            located.ident()?
        }
    };
    let catalog = found.entry.catalog.as_ref();
    let namespace: &Namespace = &to.namespace;
    if !catalog.namespace_exists(namespace).await? {
        return Err(missing(catalog, namespace).await);
    }
    catalog.rename_table(from, &to).await?;
    let catalog = &found.catalog_name;
    Ok(Output::Done(format!(
        "renamed table {catalog}.{from} to {catalog}.{to}"
    )))
}
