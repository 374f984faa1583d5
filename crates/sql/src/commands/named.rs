//! What the name means that SHOW or DESCRIBE is given: a view of the session, a table, or a view of a catalog.

use tarn_format::Result;
use tarn_format::catalog::View;

use crate::ast::Name;
use crate::loaded_tables::LoadedTables;
use crate::names::{FoundTable, Located, find_table_if_any, missing};
use crate::session::Session;
use crate::views::{self, TemporaryView};

/// What a name means.
pub(super) enum Named {
    /// A view of the session.
    Temporary(Box<TemporaryView>),
    /// A table, or what may follow one.
    Table(Box<FoundTable>),
    /// A view of a catalog.
    View(Box<(Located, View)>),
}

/// What a name means, looked for in the order in which queries do.
///
/// # Errors
/// `NotFound` when it means nothing; those of loading it.
pub(super) async fn named(session: &Session, name: &Name) -> Result<Named> {
    if let [single] = name.0.as_slice()
        && let Some(view) = session.temporary_views().get(single)
    {
        return Ok(Named::Temporary(Box::new(view)));
    }
    let located = session.locate_table(name).await?;
    if let Some(found) = find_table_if_any(&located, &LoadedTables::default()).await? {
        return Ok(Named::Table(Box::new(found)));
    }
    match views::load(&located).await? {
        Some(view) => Ok(Named::View(Box::new((located, view)))),
        None => Err(missing(&located).await?),
    }
}
