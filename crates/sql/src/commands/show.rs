//! SHOW.

use tarn_format::catalog::Namespace;
use tarn_format::spec::sort::{NullOrder, SortDirection};
use tarn_format::spec::table_metadata::TableMetadata;
use tarn_format::spec::types::FieldId;
use tarn_format::{Error, Result};

use super::create_statement::create_statement;
use super::history;
use super::named::{Named, named};
use super::namespaces::missing;
use super::procedures;
use super::query::plan_context;
use super::spark_types::transform_name;
use super::views;
use crate::ast::{Name, Show};
use crate::functions::SYSTEM_FUNCTIONS;
use crate::loaded_tables::LoadedTables;
use crate::names::{FoundTable, Suffix, find_table};
use crate::output::Output;
use crate::planner::function_names;
use crate::session::Session;
use crate::views::TemporaryView;

/// Runs SHOW.
pub(crate) async fn show(session: &Session, show: &Show) -> Result<Output> {
    match show {
        Show::Catalogs { pattern } => {
            let names = session
                .catalog_names()
                .into_iter()
                .filter(|n| matches(n, pattern.as_deref()));
            Output::text(["catalog"], names.map(|n| [Some(n)]).collect())
        }
        Show::Namespaces { parent, pattern } => namespaces(session, parent.as_ref(), pattern.as_deref()).await,
        Show::Tables { namespace, pattern } => tables(session, namespace.as_ref(), pattern.as_deref()).await,
        Show::Views { namespace, pattern } => views::show_views(session, namespace.as_ref(), pattern.as_deref()).await,
        Show::Columns { table } => columns(session, table).await,
        Show::TableProperties { table, key } => table_properties(session, table, key.as_deref()).await,
        Show::CreateTable { table } => {
            let statement = match named(session, table).await? {
                Named::View(view) => views::create_statement(&view.0.catalog_name, &view.1)?,
                Named::Table(found) => create_statement(&plain(table, *found)?)?,
                Named::Temporary(view) => return Err(temporary(&view)),
            };
            Output::text(["createtab_stmt"], vec![[Some(statement)]])
        }
        Show::Snapshots { table } => history::show_snapshots(session, table).await,
        Show::CurrentNamespace => {
            let current = session.current();
            let row = [Some(current.catalog), Some(current.namespace.to_string())];
            Output::text(["catalog", "namespace"], vec![row])
        }
        Show::Procedures { scope, pattern } => procedures::show(session, scope.as_ref(), pattern.as_deref()).await,
        Show::Functions { namespace, pattern } => functions(session, namespace.as_ref(), pattern.as_deref()),
    }
}

async fn namespaces(session: &Session, parent: Option<&Name>, pattern: Option<&str>) -> Result<Output> {
    let located = session.locate_namespace(parent).await?;
    let parent = located.namespace();
    let catalog = located.entry.catalog.as_ref();
    if !parent.is_root() && !catalog.namespace_exists(&parent).await? {
        return Err(missing(catalog, &parent).await);
    }
    let found = catalog.list_namespaces(&parent).await?;
    let names = found.iter().map(Namespace::to_string).filter(|n| matches(n, pattern));
    Output::text(["namespace"], names.map(|n| [Some(n)]).collect())
}

async fn tables(session: &Session, namespace: Option<&Name>, pattern: Option<&str>) -> Result<Output> {
    let (catalog_name, catalog, namespace) = match namespace {
        Some(name) => {
            let located = session.locate_namespace(Some(name)).await?;
            let namespace = located.namespace();
            (located.catalog_name, located.entry.catalog, namespace)
        }
        None => {
            let (name, entry) = session.current_catalog().await?;
            (name, entry.catalog, session.current().namespace)
        }
    };
    let mut found = Vec::new();
    if namespace.is_root() || catalog.namespace_exists(&namespace).await? {
        found = catalog.list_tables(&namespace).await?;
    } else if !session.is_implied(&catalog_name, &namespace) {
        return Err(missing(catalog.as_ref(), &namespace).await);
    }
    found.sort();
    let names = found.into_iter().map(|t| t.name).filter(|n| matches(n, pattern));
    let row = |name| [Some(namespace.to_string()), Some(name), Some("false".to_string())];
    Output::text(["namespace", "tableName", "isTemporary"], names.map(row).collect())
}

/// All functions, or those of the namespace `system`, which every catalog has.
fn functions(session: &Session, namespace: Option<&Name>, pattern: Option<&str>) -> Result<Output> {
    let mut names: Vec<String> = match namespace {
        None => function_names(&plan_context(session)),
        Some(Name(parts)) if parts.last().is_some_and(|p| p.eq_ignore_ascii_case("system")) => {
            SYSTEM_FUNCTIONS.map(|f| format!("system.{f}")).into()
        }
        Some(_) => Vec::new(),
    };
    names.sort();
    names.dedup();
    let names = names.into_iter().filter(|n| matches(n, pattern));
    Output::text(["function"], names.map(|n| [Some(n)]).collect())
}

/// A table by its name alone.
///
/// # Errors
/// `NotFound`, also when something follows the table's name.
pub(crate) async fn plain_table(session: &Session, name: &Name) -> Result<FoundTable> {
    let found = find_table(&session.locate_table(name).await?, &LoadedTables::default()).await?;
    plain(name, found)
}

fn plain(name: &Name, found: FoundTable) -> Result<FoundTable> {
    match found.suffix {
        Suffix::None => Ok(found),
        _ => Err(Error::invalid(format!("'{name}' does not name a table itself"))),
    }
}

fn temporary(view: &TemporaryView) -> Error {
    let name = &view.name;
    Error::invalid(format!(
        "{name} is a temporary view, which no statement keeps: DESCRIBE {name} shows its columns"
    ))
}

async fn columns(session: &Session, name: &Name) -> Result<Output> {
    let names: Vec<String> = match named(session, name).await? {
        Named::Temporary(view) => view.definition.columns.into_iter().map(|c| c.name).collect(),
        Named::View(view) => views::columns(&view.1)?
            .fields()
            .iter()
            .map(|f| f.name.clone())
            .collect(),
        Named::Table(found) => {
            let found = plain(name, *found)?;
            let fields = found.table.metadata.current_schema().fields().iter();
            fields.map(|f| f.name.clone()).collect()
        }
    };
    Output::text(["col_name"], names.into_iter().map(|n| [Some(n)]).collect())
}

/// Spark's SHOW pattern: `*` is anything, `|` separates alternatives, case does not matter.
pub(super) fn matches(name: &str, pattern: Option<&str>) -> bool {
    let Some(pattern) = pattern else {
        return true;
    };
    let name = name.to_lowercase();
    pattern.to_lowercase().split('|').any(|p| glob(p.trim(), &name))
}

fn glob(pattern: &str, text: &str) -> bool {
    let parts: Vec<&str> = pattern.split('*').collect();
    let [first, middle @ .., last] = parts.as_slice() else {
        return pattern == text;
    };
    let Some(mut rest) = text.strip_prefix(first) else {
        return false;
    };
    for part in middle {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

async fn table_properties(session: &Session, table: &Name, key: Option<&str>) -> Result<Output> {
    let all = match named(session, table).await? {
        Named::View(view) => views::properties(&view.1),
        Named::Table(found) => shown_properties(&plain(table, *found)?.table.metadata),
        Named::Temporary(view) => return Err(temporary(&view)),
    };
    let rows = match key {
        None => all,
        Some(key) => {
            let found_value = all.iter().find(|(k, _)| k == key).map(|(_, v)| v.clone());
            let missing = || format!("Table {table} does not have property: {key}");
            vec![(key.to_string(), found_value.unwrap_or_else(missing))]
        }
    };
    Output::text(
        ["key", "value"],
        rows.into_iter().map(|(k, v)| [Some(k), Some(v)]).collect(),
    )
}

/// Properties that clauses of CREATE TABLE stand for, which Spark does not show among the others.
const HIDDEN_PROPERTIES: [&str; 6] = [
    "comment",
    "location",
    "provider",
    "owner",
    "external",
    "is_managed_location",
];

/// The properties of a table with those that Iceberg's Spark catalog adds, sorted (Java: `SparkTable.properties`).
pub(crate) fn shown_properties(metadata: &TableMetadata) -> Vec<(String, String)> {
    let mut all = metadata.properties.clone();
    all.retain(|key, _| !HIDDEN_PROPERTIES.contains(&key.as_str()));
    let snapshot = metadata.current_snapshot().map(|s| s.snapshot_id.to_string());
    let format = metadata
        .properties
        .get("write.format.default")
        .map_or("parquet", String::as_str);
    all.insert(
        "current-snapshot-id".to_string(),
        snapshot.unwrap_or_else(|| "none".to_string()),
    );
    all.insert("format".to_string(), format!("iceberg/{format}"));
    all.insert("format-version".to_string(), metadata.format_version.to_string());
    let schema = metadata.current_schema();
    let order = write_order(metadata, |id| schema.full_name(id).map(str::to_string));
    if !order.is_empty() {
        all.insert("sort-order".to_string(), order);
    }
    let identifiers = schema.identifier_field_ids().iter();
    let identifiers: Vec<&str> = identifiers.filter_map(|id| schema.full_name(*id)).collect();
    if !identifiers.is_empty() {
        all.insert("identifier-fields".to_string(), format!("[{}]", identifiers.join(",")));
    }
    all.into_iter().collect()
}

/// The sort order as WRITE ORDERED BY takes it, with columns named by `name`; empty when there is none.
pub(super) fn write_order(metadata: &TableMetadata, name: impl Fn(FieldId) -> Option<String>) -> String {
    let fields = metadata.default_sort_order().fields.iter().map(|field| {
        let column = field.source_ids.first().and_then(|id| name(*id));
        let column = column.unwrap_or_else(|| "?".to_string());
        let direction = match field.direction {
            SortDirection::Asc => "ASC",
            SortDirection::Desc => "DESC",
        };
        let nulls = match field.null_order {
            NullOrder::First => "FIRST",
            NullOrder::Last => "LAST",
        };
        format!(
            "{} {direction} NULLS {nulls}",
            transform_name(&field.transform, &column)
        )
    });
    fields.collect::<Vec<_>>().join(", ")
}
