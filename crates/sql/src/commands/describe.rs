//! DESCRIBE.

use std::collections::BTreeMap;

use tarn_format::spec::schema::Schema;
use tarn_format::transform::Transform;
use tarn_format::{Error, Result};

use super::namespaces::missing;
use super::show::shown_properties;
use super::spark_types::{transform_name, type_name};
use crate::ast::{Describe, Extended, Name};
use crate::names::{FoundTable, Suffix, find_table, nearest};
use crate::output::Output;
use crate::session::Session;

/// A row of DESCRIBE.
type Row = [Option<String>; 3];

const COLUMNS: [&str; 3] = ["col_name", "data_type", "comment"];

/// Runs DESCRIBE.
pub(crate) async fn describe(session: &Session, describe: &Describe) -> Result<Output> {
    match describe {
        Describe::Table { name, extended, column } => table(session, name, *extended, column.as_ref()).await,
        Describe::Namespace { name, extended } => namespace(session, name, *extended).await,
        Describe::Query(_) => Err(Error::unsupported("DESCRIBE of a query is not supported yet")),
    }
}

fn row(a: impl Into<String>, b: impl Into<String>, c: impl Into<String>) -> Row {
    [Some(a.into()), Some(b.into()), Some(c.into())]
}

async fn table(session: &Session, name: &Name, extended: Extended, column: Option<&Name>) -> Result<Output> {
    let found = find_table(&session.locate_table(name).await?).await?;
    let metadata = &found.table.metadata;
    let schema = match &found.suffix {
        Suffix::None | Suffix::Branch(_) => metadata.current_schema().clone(),
        Suffix::Other(_) => return Err(Error::unsupported("metadata tables cannot be described yet")),
        suffix => selected_schema(&found, suffix)?,
    };
    if let Some(column) = column {
        return describe_column(session, &schema, column);
    }
    let mut rows = columns(&schema);
    rows.extend(partitioning(&found, &schema));
    if extended == Extended::Given {
        rows.extend(details(&found));
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

fn columns(schema: &Schema) -> Vec<Row> {
    let rows = schema
        .fields()
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

fn describe_column(session: &Session, schema: &Schema, column: &Name) -> Result<Output> {
    let name = column.to_string();
    let Some(field) = schema.find_field(&name, session.settings().case_sensitivity())? else {
        let near = nearest(&name, schema.fields().iter().map(|f| f.name.as_str()));
        let hint = near.map(|n| format!("; did you mean {n}?")).unwrap_or_default();
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
