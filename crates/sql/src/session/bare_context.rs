//! DataFusion's own context: the session's tables by three-part names, for DataFrames and DataFusion's SQL.
//!
//! A namespace of several parts is one name with dots, `` lake."sales.eu".orders ``. Catalogs are asked when a table is
//! named, so listing gives nothing. What DataFusion would read differently than written, it refuses here.

use std::sync::{Arc, Weak};

use async_trait::async_trait;
use datafusion::catalog::{CatalogProvider, CatalogProviderList, SchemaProvider, TableProvider};
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::session_state::SessionStateBuilder;
use datafusion::logical_expr::planner::{RelationPlanner, RelationPlannerContext, RelationPlanning};
use datafusion::prelude::SessionContext;
use sqlparser::ast::TableFactor;
use tarn_format::{Error, ErrorKind};

use super::{Inner, Session};
use crate::ast::Name;
use crate::loaded_tables::LoadedTables;
use crate::planner::{RelationLoader, RelationRequest};
use crate::relations::SessionRelations;
use crate::views::ViewScope;

/// Shows the session's catalogs to its context.
pub(super) fn show_catalogs(context: &SessionContext, session: Weak<Inner>) {
    let others = Arc::clone(context.state().catalog_list());
    context.register_catalog_list(Arc::new(Catalogs { session, others }));
}

/// Makes DataFusion's SQL refuse what it would otherwise read as if nothing had been said.
pub(super) fn refuse_versions(builder: SessionStateBuilder) -> SessionStateBuilder {
    builder.with_relation_planners(vec![Arc::new(RefuseVersions)])
}

/// The session's catalogs, before those that were registered with DataFusion.
#[derive(Debug)]
struct Catalogs {
    session: Weak<Inner>,
    others: Arc<dyn CatalogProviderList>,
}

impl Catalogs {
    fn session(&self) -> Option<Session> {
        self.session.upgrade().map(|inner| Session { inner })
    }
}

impl CatalogProviderList for Catalogs {
    fn register_catalog(&self, name: String, catalog: Arc<dyn CatalogProvider>) -> Option<Arc<dyn CatalogProvider>> {
        self.others.register_catalog(name, catalog)
    }

    fn catalog_names(&self) -> Vec<String> {
        let mut names = self.session().map(|s| s.catalog_names()).unwrap_or_default();
        names.extend(self.others.catalog_names());
        names
    }

    fn catalog(&self, name: &str) -> Option<Arc<dyn CatalogProvider>> {
        let is_ours = |s: Session| s.catalog_names().iter().any(|n| n.eq_ignore_ascii_case(name));
        if !self.session().is_some_and(is_ours) {
            return self.others.catalog(name);
        }
        Some(Arc::new(OneCatalog {
            session: Weak::clone(&self.session),
            name: name.to_string(),
        }))
    }
}

#[derive(Debug)]
struct OneCatalog {
    session: Weak<Inner>,
    name: String,
}

impl CatalogProvider for OneCatalog {
    fn schema_names(&self) -> Vec<String> {
        Vec::new()
    }

    fn schema(&self, name: &str) -> Option<Arc<dyn SchemaProvider>> {
        let parts = std::iter::once(self.name.as_str()).chain(name.split('.'));
        Some(Arc::new(OneNamespace {
            session: Weak::clone(&self.session),
            parts: parts.map(str::to_string).collect(),
        }))
    }
}

/// A namespace, whether it exists or not.
#[derive(Debug)]
struct OneNamespace {
    session: Weak<Inner>,
    /// Catalog and namespace.
    parts: Vec<String>,
}

#[async_trait]
impl SchemaProvider for OneNamespace {
    fn table_names(&self) -> Vec<String> {
        Vec::new()
    }

    async fn table(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>> {
        let Some(inner) = self.session.upgrade() else {
            return Ok(None);
        };
        let relations = SessionRelations {
            session: Session { inner },
            tables: LoadedTables::default(),
            scope: ViewScope::default(),
        };
        let mut parts = self.parts.clone();
        parts.push(name.to_string());
        match relations.load(RelationRequest::named(Name(parts))).await {
            Ok(relation) => Ok(Some(relation.provider)),
            Err(e) if e.kind() == ErrorKind::NotFound => Ok(None),
            Err(e) => Err(DataFusionError::External(Box::new(e))),
        }
    }

    fn table_exist(&self, _name: &str) -> bool {
        // Only asking the catalog would tell, which cannot be done without waiting; `table` does.
        false
    }
}

/// DataFusion would read the current state in place of the one that is asked for.
#[derive(Debug)]
struct RefuseVersions;

impl RelationPlanner for RefuseVersions {
    fn plan_relation(
        &self,
        relation: TableFactor,
        _context: &mut dyn RelationPlannerContext,
    ) -> Result<RelationPlanning> {
        match &relation {
            TableFactor::Table {
                version: Some(version), ..
            } => Err(DataFusionError::External(Box::new(Error::unsupported(format!(
                "DataFusion's own SQL cannot read {version}: run the statement with Session::sql"
            ))))),
            _ => Ok(RelationPlanning::Original(Box::new(relation))),
        }
    }
}
