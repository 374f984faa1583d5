//! Views as relations of queries: stored in catalogs or kept by the session, expanded where they are named.

mod columns;
mod definition;
mod stored_text;
mod temporary;

use datafusion::catalog::view::ViewTable;
use datafusion::logical_expr::LogicalPlan;
use std::sync::Arc;
use tarn_format::catalog::{TableIdent, View};
use tarn_format::{Error, ErrorKind, Result, ResultExt};

pub(crate) use self::columns::{BoundColumn, Family};
pub(crate) use self::definition::{Definition, QUERY_COLUMN_NAMES, SPARK};
pub(crate) use self::stored_text::stored_text;
pub(crate) use self::temporary::{TemporaryView, TemporaryViews};
use crate::ast::Name;
use crate::commands::plan_context_in;
use crate::loaded_tables::LoadedTables;
use crate::names::Located;
use crate::planner::{LoadedRelation, plan_query};
use crate::session::{Current, Session};

/// Most views over one another.
const MAX_DEPTH: usize = 64;

/// Whose query it is that names relations.
#[derive(Debug, Clone, Default)]
pub(crate) struct ViewScope {
    /// Where its names are looked for; `None`: where the session is.
    pub(crate) place: Option<Current>,
    /// The views it is the query of, outermost first.
    within: Vec<Name>,
    /// Whether it may name views of the session.
    pub(crate) temporary: TemporaryNames,
}

/// Whether a query may name views of the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum TemporaryNames {
    /// It may.
    #[default]
    Seen,
    /// Its names mean what catalogs hold.
    NotSeen,
    /// It must not: it is to be stored.
    Refused,
}

impl ViewScope {
    /// The scope of the query of a view.
    ///
    /// # Errors
    /// `InvalidInput` when the view is reached from its own query, or by too many others.
    pub(crate) fn of_view(&self, name: &Name, place: Option<Current>, temporary: TemporaryNames) -> Result<ViewScope> {
        let same = |other: &Name| other.to_string().eq_ignore_ascii_case(&name.to_string());
        let mut within = self.within.clone();
        within.push(name.clone());
        let shown = || within.iter().map(Name::to_string).collect::<Vec<_>>().join(" -> ");
        if self.within.iter().any(same) {
            return Err(Error::invalid(format!("view {name} would read itself: {}", shown())));
        }
        if within.len() > MAX_DEPTH {
            return Err(Error::invalid(format!(
                "more than {MAX_DEPTH} views are nested, the last is {name}"
            )));
        }
        // What catalogs hold cannot depend on a session.
        let temporary = match (self.temporary, temporary) {
            (TemporaryNames::Refused, _) if !self.within.is_empty() => TemporaryNames::NotSeen,
            (_, wanted) => wanted,
        };
        Ok(ViewScope {
            place,
            within,
            temporary,
        })
    }
}

/// The view of a catalog that a name means; `None` when there is none.
///
/// # Errors
/// Those of loading it.
pub(crate) async fn load(located: &Located) -> Result<Option<View>> {
    let ident = located.ident()?;
    if ident.namespace.is_root() {
        return Ok(None);
    }
    match located.entry.catalog.load_view(&ident).await {
        Ok(view) => Ok(Some(view)),
        Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::Unsupported) => Ok(None),
        Err(e) => Err(e),
    }
}

/// A view of a catalog as a relation.
///
/// # Errors
/// `Unsupported` when it has no query in Spark's dialect; those of planning its query.
pub(crate) async fn stored(
    session: &Session,
    located: &Located,
    view: &View,
    scope: &ViewScope,
    tables: &LoadedTables,
) -> Result<LoadedRelation> {
    let name = full_name(&located.catalog_name, &view.ident);
    let definition = Definition::of_view(&located.catalog_name, view).context("view", name.to_string())?;
    let scope = scope.of_view(&name, Some(definition.place.clone()), TemporaryNames::NotSeen)?;
    relation(session, name, &definition, scope, tables).await
}

/// A view of the session as a relation.
///
/// # Errors
/// Those of planning its query.
pub(crate) async fn temporary(
    session: &Session,
    view: &TemporaryView,
    scope: &ViewScope,
    tables: &LoadedTables,
) -> Result<LoadedRelation> {
    let name = Name(vec![view.name.clone()]);
    let scope = scope.of_view(&name, Some(view.definition.place.clone()), TemporaryNames::Seen)?;
    relation(session, name, &view.definition, scope, tables).await
}

async fn relation(
    session: &Session,
    name: Name,
    definition: &Definition,
    scope: ViewScope,
    tables: &LoadedTables,
) -> Result<LoadedRelation> {
    let plan = plan(session, definition, scope, tables)
        .await
        .context("view", name.to_string())?;
    Ok(LoadedRelation {
        provider: Arc::new(ViewTable::new(plan, None)),
        name,
        iceberg: None,
    })
}

/// The plan of a view's query, with the view's columns.
///
/// # Errors
/// Those of planning; `InvalidInput` when the query has not the columns it had.
pub(crate) async fn plan(
    session: &Session,
    definition: &Definition,
    scope: ViewScope,
    tables: &LoadedTables,
) -> Result<LogicalPlan> {
    let context = plan_context_in(session, tables, scope);
    let plan = plan_query(&context, definition.query.as_ref().clone()).await?;
    definition.with_columns(plan)
}

/// Catalog, namespace and name.
pub(crate) fn full_name(catalog: &str, ident: &TableIdent) -> Name {
    let mut parts = vec![catalog.to_string()];
    parts.extend(ident.namespace.0.iter().cloned());
    parts.push(ident.name.clone());
    Name(parts)
}
