//! Lives whose tables are kept for other readers, with what these should find there.
//!
//! With `TARN_LIVES_KEPT=DIR`, each life in a catalog that others can open leaves `DIR/NAME.json`: where the catalog is, and
//! the table's columns, partition fields, sort order, identifier, branches, tags, and the rows of each snapshot.

use std::path::{Path, PathBuf};

use serde_json::{Value as Json, json};

use super::history::History;
use super::model::{Column, Id, Kind, Row, State, Value};

/// Where to leave reports, if they are wanted.
pub fn wanted() -> Option<PathBuf> {
    std::env::var_os("TARN_LIVES_KEPT").map(PathBuf::from)
}

/// Writes the report of a life.
///
/// # Errors
/// Those of writing.
pub fn report(to: &Path, name: &str, history: &History, place: &Path) -> Result<(), String> {
    let source = |id: Id| history.columns.iter().find(|c| c.id == id).map(|c| c.name.as_str());
    let partition = history.partition.iter().map(|f| json!([source(f.source), f.transform]));
    let order = history.order.iter();
    let order = order.map(|f| json!([source(f.source), f.transform, f.direction, f.nulls]));
    let identifier = history.is_identified.then(|| source(super::history::KEY)).flatten();
    let snapshots = history
        .snapshots
        .iter()
        .map(|(id, state)| (id.to_string(), rows(state)));
    let report = json!({
        "directory": place,
        "version": history.version,
        "columns": history.columns.iter().map(column).collect::<Vec<_>>(),
        "partition": partition.collect::<Vec<_>>(),
        "order": order.collect::<Vec<_>>(),
        "identifier": identifier,
        "branches": history.branches.keys().collect::<Vec<_>>(),
        "current": history.line.last(),
        "tags": history.tags,
        "snapshots": snapshots.collect::<serde_json::Map<_, _>>(),
    });
    let file = to.join(format!("{name}.json"));
    std::fs::write(&file, report.to_string()).map_err(|e| format!("{}: {e}", file.display()))
}

/// Name and type in SQL.
fn column(column: &Column) -> Json {
    json!([column.name, column.kind.sql()])
}

fn rows(state: &State) -> Json {
    let row = |row: &Row| -> Json { state.columns.iter().map(|c| cell(c, &c.of(row))).collect() };
    json!({"columns": state.names(), "rows": state.rows.iter().map(row).collect::<Vec<_>>()})
}

/// Decimals and dates as text, structs as lists of names and values, maps as lists of keys and values.
fn cell(column: &Column, value: &Value) -> Json {
    match (value, &column.kind) {
        (Value::Null, _) => Json::Null,
        (Value::Whole(n), _) => json!(n),
        (Value::Quarters(n), _) => json!(*n as f64 / 4.0),
        (Value::Struct(row), Kind::Struct(fields)) => {
            fields.iter().map(|f| json!([f.name, cell(f, &f.of(row))])).collect()
        }
        (Value::List(values), Kind::List(element)) => values.iter().map(|v| cell(element, v)).collect(),
        (Value::Map(pairs), Kind::Map(inner)) => pairs.iter().map(|(key, v)| json!([key, cell(inner, v)])).collect(),
        (value, _) => json!(column.shown(value)),
    }
}
