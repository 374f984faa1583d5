//! The report on a view.

use tarn_format::spec::view_metadata::{ViewMetadata, ViewRepresentation, ViewVersion};

use super::table;
use crate::report::{Cell, Report};

/// Describes a view's metadata.
pub fn describe(report: &mut Report, view: &ViewMetadata, file: &str) {
    let current = view.current_version();
    let catalog = current.default_catalog.as_deref();
    report.facts(
        "View",
        [
            ("metadata file", Cell::text(file)),
            ("location", Cell::text(&view.location)),
            ("format version", Cell::Number(i64::from(view.format_version))),
            ("uuid", Cell::text(view.view_uuid)),
            ("current version", Cell::Number(i64::from(view.current_version_id))),
            ("default catalog", Cell::from(catalog)),
            ("default namespace", Cell::text(current.default_namespace.join("."))),
        ],
    );
    if let Some(schema) = view.schema_by_id(current.schema_id) {
        table::schema(report, schema);
    }
    let rows = current.representations.iter().map(representation).collect();
    report.rows("Definitions", &["dialect", "sql"], rows);
    let row = |version: &ViewVersion| {
        let engine = version.summary.get("engine-name").map(String::as_str);
        vec![
            Cell::Number(i64::from(version.version_id)),
            Cell::Time(version.timestamp_ms),
            Cell::Number(i64::from(version.schema_id)),
            Cell::from(engine),
        ]
    };
    let rows = view.versions.iter().map(|v| row(v)).collect();
    report.rows("Versions", &["version", "created", "schema", "engine"], rows);
    report.facts("Properties", view.properties.iter().map(|(k, v)| (k, Cell::text(v))));
}

fn representation(representation: &ViewRepresentation) -> Vec<Cell> {
    match representation {
        ViewRepresentation::Sql { sql, dialect, .. } => vec![Cell::text(dialect), Cell::text(sql)],
        ViewRepresentation::Other(json) => {
            let kind = json.get("type").and_then(|t| t.as_str());
            vec![Cell::from(kind), Cell::Missing]
        }
    }
}
