//! DESCRIBE.

use std::collections::BTreeMap;

use sqlparser::ast::Query;
use tarn_format::catalog::View;
use tarn_format::spec::schema::{CaseSensitivity, Schema};
use tarn_format::spec::types::NestedFieldRef;
use tarn_format::transform::Transform;
use tarn_format::{Error, Result, ResultExt};

use super::history;
use super::named::{Named, named};
use super::namespaces::missing;
use super::procedures;
use super::query::plan_context;
use super::show::shown_properties;
use super::spark_types::{transform_name, type_name};
use super::views;
use crate::ast::{Describe, Extended, Name, PropertyList};
use crate::functions;
use crate::loaded_tables::LoadedTables;
use crate::names::{FoundTable, Located, Suffix, unknown_suffix};
use crate::near_names::did_you_mean;
use crate::output::Output;
use crate::planner::plan_query;
use crate::relations::{State, full_name, metadata_table};
use crate::session::Session;
use crate::views::{TemporaryView, ViewScope, temporary};

/// A row of DESCRIBE.
type Row = [Option<String>; 3];

const COLUMNS: [&str; 3] = ["col_name", "data_type", "comment"];

/// Runs DESCRIBE.
pub(crate) async fn describe(session: &Session, describe: &Describe) -> Result<Output> {
    match describe {
        Describe::Table { name, extended, column } => table(session, name, *extended, column.as_ref()).await,
        Describe::Namespace { name, extended } => namespace(session, name, *extended).await,
        Describe::History { table } => history::describe_history(session, table).await,
        Describe::Procedure { name } => procedures::describe(session, name).await,
        Describe::Query(query) => describe_query(session, query).await,
    }
}

/// The columns of a query, which is planned and not run.
async fn describe_query(session: &Session, query: &Query) -> Result<Output> {
    let plan = plan_query(&plan_context(session), query.clone()).await?;
    let fields = plan.schema().fields().iter();
    let rows = fields.map(|f| [Some(f.name().clone()), Some(functions::type_name(f.data_type())), None]);
    Output::text(COLUMNS, rows.collect())
}

fn row(a: impl Into<String>, b: impl Into<String>, c: impl Into<String>) -> Row {
    [Some(a.into()), Some(b.into()), Some(c.into())]
}

async fn table(session: &Session, name: &Name, extended: Extended, column: Option<&Name>) -> Result<Output> {
    let found = match named(session, name).await? {
        Named::Table(found) => *found,
        Named::View(view) => return describe_view(session, &view.0, &view.1, extended, column),
        Named::Temporary(view) => return describe_temporary_view(session, &view, column).await,
    };
    let metadata = &found.table.metadata;
    let schema = match &found.suffix {
        Suffix::None | Suffix::Branch(_) => metadata.current_schema().clone(),
        Suffix::Metadata(..) => return describe_metadata_table(session, found, extended, column),
        Suffix::Other(name) => return Err(unknown_suffix(name)),
        suffix => selected_schema(&found, suffix)?,
    };
    if let Some(column) = column {
        let field = schema.find_field(&column.to_string(), session.settings().case_sensitivity())?;
        return describe_column(field, column, schema.fields());
    }
    let mut rows = columns(schema.fields());
    rows.extend(partitioning(&found, &schema));
    if extended == Extended::Given {
        rows.extend(details(&found));
    }
    Output::text(COLUMNS, rows)
}

fn describe_view(
    session: &Session,
    located: &Located,
    view: &View,
    extended: Extended,
    column: Option<&Name>,
) -> Result<Output> {
    let schema = views::columns(view)?;
    if let Some(column) = column {
        let field = schema.find_field(&column.to_string(), session.settings().case_sensitivity())?;
        return describe_column(field, column, schema.fields());
    }
    // Columns of views without a comment have an empty one, as in Spark, and not NULL as those of tables.
    let described = schema.fields().iter();
    let described = described.map(|f| row(&f.name, type_name(&f.field_type), f.doc.as_deref().unwrap_or_default()));
    let mut rows: Vec<Row> = described.collect();
    if extended == Extended::Given {
        rows.extend([row("", "", ""), row("# Detailed View Information", "", "")]);
        let details = views::details(&located.catalog_name, view).into_iter();
        rows.extend(details.map(|(title, value)| row(title, value, "")));
    }
    Output::text(COLUMNS, rows)
}

async fn describe_temporary_view(session: &Session, view: &TemporaryView, column: Option<&Name>) -> Result<Output> {
    if let Some(column) = column {
        return Err(Error::invalid(format!(
            "{} is a temporary view: DESCRIBE shows all its columns, leave {column} out",
            view.name
        )));
    }
    let relation = temporary(session, view, &ViewScope::default(), &LoadedTables::default()).await?;
    let schema = relation.provider.schema();
    let rows = schema.fields().iter();
    let rows = rows.map(|f| [Some(f.name().clone()), Some(functions::type_name(f.data_type())), None]);
    Output::text(COLUMNS, rows.collect())
}

fn describe_metadata_table(
    session: &Session,
    found: FoundTable,
    extended: Extended,
    column: Option<&Name>,
) -> Result<Output> {
    let name = full_name(&found);
    let Suffix::Metadata(kind, suffix) = &found.suffix else {
        return Err(Error::invalid(format!("{name} is no metadata table")));
    };
    let state = State {
        suffix,
        version: None,
        options: &PropertyList::default(),
    };
    let table = metadata_table(found.table, *kind, state, found.entry.caches);
    let table = table.context("table", name.to_string())?;
    if let Some(column) = column {
        // Names of readable metrics may hold dots, so only whole columns are looked up.
        let case = session.settings().case_sensitivity();
        let same = |f: &&NestedFieldRef| match (case, column.0.as_slice()) {
            (CaseSensitivity::Sensitive, [name]) => f.name == *name,
            (CaseSensitivity::Insensitive, [name]) => f.name.to_lowercase() == name.to_lowercase(),
            _ => false,
        };
        return describe_column(table.fields().iter().find(same), column, table.fields());
    }
    let mut rows = columns(table.fields());
    if extended == Extended::Given {
        rows.extend([
            row("", "", ""),
            row("# Detailed Table Information", "", ""),
            row("Name", format!("{name}.{}", table.kind()), ""),
            row("Type", "MANAGED", ""),
            row("Provider", "iceberg", ""),
        ]);
    }
    Output::text(COLUMNS, rows)
}

fn selected_schema(found: &FoundTable, suffix: &Suffix) -> Result<std::sync::Arc<Schema>> {
    use tarn_format::scan::snapshots::SnapshotSelector;
    let selector = match suffix {
        Suffix::Tag(name) => SnapshotSelector::Ref(name.clone()),
        Suffix::SnapshotId(id) => SnapshotSelector::Id(*id),
        Suffix::AtTimestamp(ms) => SnapshotSelector::AsOf(*ms),
        _ => SnapshotSelector::Current,
    };
    Ok(selector.select(&found.table.metadata)?.schema)
}

fn columns(fields: &[NestedFieldRef]) -> Vec<Row> {
    let rows = fields
        .iter()
        .map(|f| [Some(f.name.clone()), Some(type_name(&f.field_type)), f.doc.clone()]);
    rows.collect()
}

/// Spark shows identity-partitioned tables as it shows its own, and others by transform.
fn partitioning(found: &FoundTable, schema: &Schema) -> Vec<Row> {
    let spec = found.table.metadata.default_spec();
    let fields: Vec<_> = spec.fields.iter().filter(|f| f.transform != Transform::Void).collect();
    if fields.is_empty() {
        return Vec::new();
    }
    let identity = fields.iter().all(|f| f.transform == Transform::Identity);
    if identity {
        let mut rows = vec![
            row("# Partition Information", "", ""),
            row("# col_name", "data_type", "comment"),
        ];
        rows.extend(fields.iter().filter_map(|f| {
            let id = f.source_id()?;
            let source = schema.field_by_id(id)?;
            Some([
                schema.full_name(id).map(str::to_string),
                Some(type_name(&source.field_type)),
                source.doc.clone(),
            ])
        }));
        return rows;
    }
    let mut rows = vec![row("", "", ""), row("# Partitioning", "", "")];
    rows.extend(fields.iter().enumerate().map(|(i, f)| {
        let column = f.source_id().and_then(|id| schema.full_name(id)).unwrap_or("?");
        row(format!("Part {i}"), transform_name(&f.transform, column), "")
    }));
    rows
}

fn details(found: &FoundTable) -> Vec<Row> {
    let metadata = &found.table.metadata;
    let properties = shown_properties(metadata).into_iter().map(|(k, v)| format!("{k}={v}"));
    let properties = properties.collect::<Vec<_>>().join(",");
    vec![
        row("", "", ""),
        row("# Metadata Columns", "", ""),
        row("_spec_id", "int", ""),
        row("_partition", "struct<>", ""),
        row("_file", "string", ""),
        row("_pos", "bigint", ""),
        row("_deleted", "boolean", ""),
        row("", "", ""),
        row("# Detailed Table Information", "", ""),
        row("Name", format!("{}.{}", found.catalog_name, found.table.ident), ""),
        row("Type", "MANAGED", ""),
        row("Location", metadata.location.as_str(), ""),
        row("Provider", "iceberg", ""),
        row("Table Properties", format!("[{properties}]"), ""),
    ]
}

fn describe_column(field: Option<&NestedFieldRef>, column: &Name, fields: &[NestedFieldRef]) -> Result<Output> {
    let Some(field) = field else {
        let name = column.to_string();
        let hint = did_you_mean(&name, fields.iter().map(|f| f.name.as_str()));
        return Err(Error::invalid(format!("column '{name}' not found{hint}")));
    };
    let facts = [
        ("col_name", field.name.clone()),
        ("data_type", type_name(&field.field_type)),
        ("comment", field.doc.clone().unwrap_or_else(|| "NULL".to_string())),
    ];
    let rows = facts.into_iter().map(|(k, v)| [Some(k.to_string()), Some(v)]);
    Output::text(["info_name", "info_value"], rows.collect())
}

async fn namespace(session: &Session, name: &Name, extended: Extended) -> Result<Output> {
    let located = session.locate_namespace(Some(name)).await?;
    let namespace = located.namespace();
    let catalog = located.entry.catalog.as_ref();
    if !catalog.namespace_exists(&namespace).await? {
        return Err(missing(catalog, &namespace).await);
    }
    let properties: BTreeMap<String, String> = catalog.load_namespace(&namespace).await?;
    let mut rows = vec![
        ("Catalog Name".to_string(), located.catalog_name.clone()),
        ("Namespace Name".to_string(), namespace.to_string()),
    ];
    for (key, title) in [("comment", "Comment"), ("location", "Location"), ("owner", "Owner")] {
        if let Some(value) = properties.get(key) {
            rows.push((title.to_string(), value.clone()));
        }
    }
    if extended == Extended::Given {
        let rest = properties
            .iter()
            .filter(|(k, _)| !matches!(k.as_str(), "comment" | "location" | "owner"));
        let rest: Vec<String> = rest.map(|(k, v)| format!("({k},{v})")).collect();
        rows.push(("Properties".to_string(), format!("({})", rest.join(","))));
    }
    Output::text(
        ["info_name", "info_value"],
        rows.into_iter().map(|(k, v)| [Some(k), Some(v)]).collect(),
    )
}
