//! CREATE VIEW.

use std::sync::Arc;

use datafusion::logical_expr::LogicalPlan;
use tarn_engine::arrow::schema::arrow_to_struct;
use tarn_engine::write::nullable_fields;
use tarn_format::catalog::{Namespace, ViewCreation};
use tarn_format::spec::schema::Schema;
use tarn_format::spec::snapshot::Properties;
use tarn_format::spec::types::{NestedField, StructType};
use tarn_format::spec::view_metadata::{ViewRepresentation, ViewVersion};
use tarn_format::update::{LAST_ADDED, ViewUpdate};
use tarn_format::{Error, ErrorKind, Result, ResultExt};

use super::{change, shown_name};
use crate::ast::Name;
use crate::ast::view::{CreateView, CreateViewMode, ViewStorage};
use crate::commands::namespaces::missing;
use crate::commands::plan_context_in;
use crate::loaded_tables::LoadedTables;
use crate::names::Located;
use crate::output::Output;
use crate::planner::plan_query;
use crate::session::{Current, Session};
use crate::views::{
    self, BoundColumn, Definition, Family, QUERY_COLUMN_NAMES, SPARK, TemporaryNames, TemporaryView, ViewScope,
    stored_text,
};

/// Properties that statements stand for (Java: `SparkView.RESERVED_PROPERTIES`).
const RESERVED: [&str; 4] = ["provider", "location", "format-version", QUERY_COLUMN_NAMES];

/// Runs CREATE VIEW.
pub(crate) async fn create_view(session: &Session, create: &CreateView) -> Result<Output> {
    refuse_reserved(create.properties.iter().map(|(key, _)| key.as_str()))?;
    match create.storage {
        ViewStorage::Session => create_temporary(session, create).await,
        ViewStorage::Catalog => create_stored(session, create).await,
    }
}

/// Refuses properties that statements stand for.
///
/// # Errors
/// `InvalidInput`.
pub(super) fn refuse_reserved<'a>(keys: impl IntoIterator<Item = &'a str>) -> Result<()> {
    let mut reserved = keys.into_iter().filter(|key| RESERVED.contains(key));
    match reserved.next() {
        Some(key) => Err(Error::invalid(format!(
            "property '{key}' of views is reserved: leave it out"
        ))),
        None => Ok(()),
    }
}

async fn create_temporary(session: &Session, create: &CreateView) -> Result<Output> {
    let [name] = create.name.0.as_slice() else {
        return Err(Error::invalid(format!(
            "a temporary view belongs to the session: its name has one part, {} has more",
            create.name
        )));
    };
    if session.temporary_views().get(name).is_some() {
        match create.mode {
            CreateViewMode::Create => return Err(exists(name)),
            CreateViewMode::CreateIfNotExists => {
                return Ok(Output::Done(format!("view {name} exists already, nothing created")));
            }
            CreateViewMode::CreateOrReplace => {}
        }
    }
    let scope = ViewScope::default().of_view(&create.name, None, TemporaryNames::Seen)?;
    let (_, definition) = planned(session, create, scope).await?;
    session.temporary_views().put(TemporaryView {
        name: name.clone(),
        definition,
    });
    Ok(Output::Done(format!("created temporary view {name}")))
}

async fn create_stored(session: &Session, create: &CreateView) -> Result<Output> {
    let located = session.locate_table(&create.name).await?;
    let ident = located.ident()?;
    let name = shown_name(&located);
    let catalog = located.entry.catalog.as_ref();
    let existing = views::load(&located).await?;
    if let Some(found) = existing.as_ref().map(|v| &v.ident) {
        match create.mode {
            CreateViewMode::Create => return Err(exists(&name)),
            CreateViewMode::CreateIfNotExists => {
                return Ok(Output::Done(format!("view {found} exists already, nothing created")));
            }
            CreateViewMode::CreateOrReplace => {}
        }
    } else if catalog.table_exists(&ident).await? {
        return Err(Error::new(
            ErrorKind::AlreadyExists,
            format!("{name} is a table: a view needs another name"),
        ));
    } else if !catalog.namespace_exists(&ident.namespace).await?
        && !session.is_implied(&located.catalog_name, &ident.namespace)
    {
        return Err(missing(catalog, &ident.namespace).await);
    }
    let full = views::full_name(&located.catalog_name, &ident);
    let scope = ViewScope::default().of_view(&full, None, TemporaryNames::Refused)?;
    let (plan, definition) = planned(session, create, scope).await.context("view", name.as_str())?;
    let schema = schema(&plan, create).context("view", name.as_str())?;
    let properties = properties(create, &definition);
    let version = version(stored_text(&create.sql, &session.dialect()), &located, definition);
    match existing {
        Some(view) => {
            let updates = vec![
                ViewUpdate::SetProperties(properties),
                ViewUpdate::AddSchema(schema),
                ViewUpdate::AddVersion(version),
                ViewUpdate::SetCurrentVersion(LAST_ADDED),
            ];
            change(catalog, &view, updates).await?;
            Ok(Output::Done(format!("replaced view {name}")))
        }
        None => {
            session.make_implied_namespace(&located).await?;
            let creation = ViewCreation {
                schema,
                version,
                location: None,
                properties,
            };
            catalog.create_view(&ident, creation).await?;
            Ok(Output::Done(format!("created view {name}")))
        }
    }
}

fn exists(name: &str) -> Error {
    let message = format!("view {name} exists already: CREATE OR REPLACE VIEW replaces it");
    Error::new(ErrorKind::AlreadyExists, message)
}

/// The query's plan with the view's columns, and the definition.
async fn planned(session: &Session, create: &CreateView, scope: ViewScope) -> Result<(LogicalPlan, Definition)> {
    let context = plan_context_in(session, &LoadedTables::default(), scope);
    let plan = plan_query(&context, create.query.as_ref().clone()).await?;
    let fields = plan.schema().fields();
    let named = &create.columns;
    if !named.is_empty() && named.len() != fields.len() {
        return Err(Error::invalid(format!(
            "the view names {} columns, its query has {}",
            named.len(),
            fields.len()
        )));
    }
    let columns = fields.iter().enumerate().map(|(at, field)| BoundColumn {
        name: named.get(at).map_or(field.name(), |c| &c.name).clone(),
        query_name: Some(field.name().clone()),
        family: Family::of_arrow(field.data_type()),
    });
    let columns: Vec<BoundColumn> = columns.collect();
    refuse_repeated(&columns)?;
    let definition = Definition {
        query: create.query.clone(),
        place: session.current(),
        columns,
    };
    let plan = definition.with_columns(plan)?;
    Ok((plan, definition))
}

fn refuse_repeated(columns: &[BoundColumn]) -> Result<()> {
    for (at, BoundColumn { name, .. }) in columns.iter().enumerate() {
        let is_same = |c: &BoundColumn| c.name.to_lowercase() == name.to_lowercase();
        if columns[..at].iter().any(is_same) {
            return Err(Error::invalid(format!(
                "the view has two columns '{name}': name its columns, as in CREATE VIEW v (a, b) AS …"
            )));
        }
    }
    Ok(())
}

fn schema(plan: &LogicalPlan, create: &CreateView) -> Result<Schema> {
    let columns = arrow_to_struct(plan.schema().as_arrow())?;
    let mut fields = nullable_fields(&columns.fields);
    for (field, column) in fields.iter_mut().zip(&create.columns) {
        if column.comment.is_some() {
            *field = Arc::new(NestedField {
                doc: column.comment.clone(),
                ..field.as_ref().clone()
            });
        }
    }
    Schema::new(0, StructType { fields }, vec![])
}

fn properties(create: &CreateView, definition: &Definition) -> Properties {
    let mut properties: Properties = create.properties.iter().cloned().collect();
    if let Some(comment) = &create.comment {
        properties.insert("comment".to_string(), comment.clone());
    }
    properties.insert(QUERY_COLUMN_NAMES.to_string(), definition.query_columns());
    properties
}

fn version(sql: String, located: &Located, definition: Definition) -> ViewVersion {
    let Current { catalog, namespace } = definition.place;
    let Namespace(default_namespace) = namespace;
    ViewVersion {
        version_id: 1,
        schema_id: LAST_ADDED,
        timestamp_ms: chrono::Utc::now().timestamp_millis(),
        summary: [("engine-name", "tarn"), ("engine-version", env!("CARGO_PKG_VERSION"))]
            .map(|(k, v)| (k.to_string(), v.to_string()))
            .into(),
        representations: vec![ViewRepresentation::Sql {
            sql,
            dialect: SPARK.to_string(),
            extra: Default::default(),
        }],
        default_catalog: (catalog != located.catalog_name).then_some(catalog),
        default_namespace,
        extra: Default::default(),
    }
}

/// The name of a view of the session, when a name means one.
pub(super) fn temporary_name<'a>(session: &Session, name: &'a Name) -> Option<&'a str> {
    match name.0.as_slice() {
        [single] if session.temporary_views().get(single).is_some() => Some(single),
        _ => None,
    }
}
