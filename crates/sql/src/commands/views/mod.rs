//! Statements on views.

mod alter;
mod create;
mod show;
#[cfg(test)]
mod tests;

pub(crate) use self::alter::{alter_view, drop_view};
pub(crate) use self::create::create_view;
pub(crate) use self::show::{columns, create_statement, details, properties, show_views};

use tarn_format::catalog::{Catalog, View, ViewCommit};
use tarn_format::update::{ViewRequirement, ViewUpdate};
use tarn_format::{Error, ErrorKind, Result};

use crate::ast::Name;
use crate::names::Located;
use crate::session::Session;
use crate::views;

/// A view of a catalog by its name.
///
/// # Errors
/// `NotFound` when there is none.
async fn stored_view(session: &Session, name: &Name) -> Result<(Located, View)> {
    let located = session.locate_table(name).await?;
    match views::load(&located).await? {
        Some(view) => Ok((located, view)),
        None => Err(not_found(&located)),
    }
}

/// Most attempts to change a view that others change too (Java: `commit.retry.num-retries` and the first).
const MAX_ATTEMPTS: usize = 5;

/// Changes a view, again from its newer state when another was first.
///
/// # Errors
/// `Conflict` when it has been replaced by another view, or others were first each time.
async fn change(catalog: &dyn Catalog, view: &View, updates: Vec<ViewUpdate>) -> Result<View> {
    let commit = ViewCommit {
        ident: view.ident.clone(),
        requirements: vec![ViewRequirement::UuidMatch(view.metadata.view_uuid)],
        updates,
    };
    for _ in 1..MAX_ATTEMPTS {
        match catalog.commit_view(commit.clone()).await {
            Err(e) if e.kind() == ErrorKind::Conflict => {}
            committed => return committed,
        }
    }
    catalog.commit_view(commit).await
}

fn not_found(located: &Located) -> Error {
    Error::not_found(format!("view {} not found", shown_name(located)))
}

/// A view's name with its catalog.
fn shown_name(located: &Located) -> String {
    format!("{}.{}", located.catalog_name, located.path.join("."))
}
