//! What SHOW and DESCRIBE tell of views.

use tarn_format::ErrorKind;
use tarn_format::Result;
use tarn_format::catalog::View;
use tarn_format::spec::schema::SchemaRef;
use tarn_format::spec::view_metadata::ViewRepresentation;
use tarn_format::{Error, ResultExt};

use crate::ast::Name;
use crate::commands::namespaces::missing;
use crate::commands::show::matches;
use crate::output::Output;
use crate::quoting::{defined_name, string};
use crate::session::Session;
use crate::views::{QUERY_COLUMN_NAMES, full_name};

/// Runs SHOW VIEWS.
///
/// # Errors
/// `NotFound` when the namespace does not exist, `Unsupported` for a catalog without views.
pub(crate) async fn show_views(session: &Session, namespace: Option<&Name>, pattern: Option<&str>) -> Result<Output> {
    let (catalog, namespace) = match namespace {
        Some(name) => {
            let located = session.locate_namespace(Some(name)).await?;
            let namespace = located.namespace();
            (located.entry.catalog, namespace)
        }
        None => {
            let (_, entry) = session.current_catalog().await?;
            (entry.catalog, session.current().namespace)
        }
    };
    let mut found = Vec::new();
    if namespace.is_root() || catalog.namespace_exists(&namespace).await? {
        found = match catalog.list_views(&namespace).await {
            Err(e) if e.kind() == ErrorKind::Unsupported => Vec::new(),
            listed => listed?,
        };
    } else if !session.is_implied(catalog.name(), &namespace) {
        return Err(missing(catalog.as_ref(), &namespace).await);
    }
    found.sort();
    let row =
        |namespace: String, name: String, temporary: bool| [Some(namespace), Some(name), Some(temporary.to_string())];
    let stored = found.into_iter().map(|v| row(namespace.to_string(), v.name, false));
    let temporary = session.temporary_views().names().into_iter();
    let rows = stored.chain(temporary.map(|name| row(String::new(), name, true)));
    let rows = rows.filter(|[_, name, _]| name.as_deref().is_some_and(|n| matches(n, pattern)));
    Output::text(["namespace", "viewName", "isTemporary"], rows.collect())
}

/// The columns of a view.
///
/// # Errors
/// `Corrupt` when its schema is missing.
pub(crate) fn columns(view: &View) -> Result<&SchemaRef> {
    let id = view.metadata.current_version().schema_id;
    let schema = view.metadata.schema_by_id(id);
    schema
        .ok_or_else(|| Error::corrupt(format!("schema {id} is missing")))
        .context("view", view.ident.to_string())
}

/// The properties of a view that users gave it, sorted.
pub(crate) fn properties(view: &View) -> Vec<(String, String)> {
    let all = view.metadata.properties.iter();
    let shown = all.filter(|(key, _)| key.as_str() != QUERY_COLUMN_NAMES && key.as_str() != "comment");
    shown.map(|(k, v)| (k.clone(), v.clone())).collect()
}

/// What DESCRIBE EXTENDED tells of a view, by title (Java: `DescribeV2ViewExec`).
pub(crate) fn details(catalog: &str, view: &View) -> Vec<(&'static str, String)> {
    let metadata = &view.metadata;
    let version = metadata.current_version();
    let mut place = vec![version.default_catalog.clone().unwrap_or_else(|| catalog.to_string())];
    place.extend(version.default_namespace.iter().cloned());
    let property = |key: &str| metadata.properties.get(key).cloned().unwrap_or_default();
    let properties: Vec<String> = properties(view).iter().map(|(k, v)| format!("{k}={v}")).collect();
    let maker = ["engine-name", "engine-version"].map(|key| version.summary.get(key).cloned().unwrap_or_default());
    let dialects: Vec<&str> = queries(view).map(|(_, dialect)| dialect).collect();
    vec![
        ("Name", full_name(catalog, &view.ident).to_string()),
        ("Type", "VIEW".to_string()),
        ("Comment", property("comment")),
        ("View Catalog and Namespace", Name(place).to_string()),
        (
            "View Query Output Columns",
            format!("[{}]", property(QUERY_COLUMN_NAMES).replace(',', ", ")),
        ),
        ("View Dialects", format!("[{}]", dialects.join(", "))),
        ("View Version", version.version_id.to_string()),
        ("View Properties", format!("[{}]", properties.join(","))),
        ("Location", metadata.location.clone()),
        ("Created By", maker.join(" ").trim().to_string()),
    ]
}

/// The queries of a view with their dialects.
fn queries(view: &View) -> impl Iterator<Item = (&str, &str)> {
    let representations = view.metadata.current_version().representations.iter();
    representations.filter_map(|r| match r {
        ViewRepresentation::Sql { sql, dialect, .. } => Some((sql.as_str(), dialect.as_str())),
        ViewRepresentation::Other(_) => None,
    })
}

/// A statement that makes a view of the same query; for a view without one of ours, its queries in their dialects.
///
/// # Errors
/// As [`columns`].
pub(crate) fn create_statement(catalog: &str, view: &View) -> Result<String> {
    let name = full_name(catalog, &view.ident).0;
    let name: Vec<String> = name.iter().map(|part| defined_name(part)).collect();
    let columns = columns(view)?.fields().iter().map(|f| match &f.doc {
        Some(doc) => format!("  {} COMMENT {}", defined_name(&f.name), string(doc)),
        None => format!("  {}", defined_name(&f.name)),
    });
    let columns = columns.collect::<Vec<_>>().join(",\n");
    let mut text = format!("CREATE VIEW {} (\n{columns})\n", name.join("."));
    if let Some(comment) = view.metadata.properties.get("comment") {
        text.push_str(&format!("COMMENT {}\n", string(comment)));
    }
    let properties = properties(view);
    if !properties.is_empty() {
        let properties = properties
            .iter()
            .map(|(k, v)| format!("  {} = {}", string(k), string(v)));
        text.push_str(&format!(
            "TBLPROPERTIES (\n{})\n",
            properties.collect::<Vec<_>>().join(",\n")
        ));
    }
    text.push_str("AS\n");
    let queries = queries(view).map(|(sql, dialect)| match dialect {
        crate::views::SPARK => sql.to_string(),
        other => format!("-- in the dialect {other}\n{sql}"),
    });
    text.push_str(&queries.collect::<Vec<_>>().join("\n"));
    Ok(text)
}
