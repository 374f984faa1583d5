//! What a command found, once: sections of facts and rows that are shown as text or as JSON.

use comfy_table::presets::UTF8_HORIZONTAL_ONLY;
use comfy_table::{CellAlignment, ContentArrangement, Table, TableComponent};
use serde_json::{Map, Value as Json, json};

/// One value, typed by how it is shown.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// Unknown or absent.
    Missing,
    /// Text.
    Text(String),
    /// A file's location: people see it from the table's location on.
    Location(String),
    /// A number of things, or an id.
    Number(i64),
    /// A size in bytes.
    Bytes(i64),
    /// Milliseconds since epoch.
    Time(i64),
}

impl Cell {
    /// Text of anything that can be displayed.
    pub fn text(value: impl ToString) -> Self {
        Cell::Text(value.to_string())
    }

    /// For people. Locations below `base` are shortened by it.
    fn shown(&self, base: &str) -> String {
        match self {
            Cell::Missing => "-".to_string(),
            Cell::Text(text) => text.clone(),
            Cell::Location(location) => {
                let below = location.strip_prefix(base).and_then(|rest| rest.strip_prefix('/'));
                below.filter(|_| !base.is_empty()).unwrap_or(location).to_string()
            }
            Cell::Number(number) => number.to_string(),
            Cell::Bytes(bytes) => size(*bytes),
            Cell::Time(ms) => time(*ms),
        }
    }

    fn json(&self) -> Json {
        match self {
            Cell::Missing => Json::Null,
            Cell::Text(text) | Cell::Location(text) => json!(text),
            Cell::Number(number) | Cell::Bytes(number) => json!(number),
            Cell::Time(ms) => json!(time(*ms)),
        }
    }

    fn is_numeric(&self) -> bool {
        matches!(self, Cell::Number(_) | Cell::Bytes(_))
    }
}

impl From<Option<i64>> for Cell {
    fn from(number: Option<i64>) -> Self {
        number.map_or(Cell::Missing, Cell::Number)
    }
}

impl From<Option<&str>> for Cell {
    fn from(text: Option<&str>) -> Self {
        text.map_or(Cell::Missing, Cell::text)
    }
}

/// A titled part of a report.
#[derive(Debug, Clone)]
pub struct Section {
    /// Heading; in lower case with underscores it is the JSON key.
    title: &'static str,
    body: Body,
}

#[derive(Debug, Clone)]
enum Body {
    Facts(Vec<(String, Cell)>),
    Rows {
        columns: Vec<&'static str>,
        rows: Vec<Vec<Cell>>,
    },
}

/// What a command found.
#[derive(Debug, Clone, Default)]
pub struct Report {
    sections: Vec<Section>,
    base: String,
}

impl Report {
    /// Shortens locations below this one, for people.
    pub fn shorten_below(&mut self, location: &str) {
        self.base = location.to_string();
    }

    /// Adds names with one value each.
    pub fn facts<K: ToString>(&mut self, title: &'static str, facts: impl IntoIterator<Item = (K, Cell)>) {
        let facts = facts.into_iter().map(|(name, cell)| (name.to_string(), cell)).collect();
        self.sections.push(Section {
            title,
            body: Body::Facts(facts),
        });
    }

    /// Adds a table.
    pub fn rows(&mut self, title: &'static str, columns: &[&'static str], rows: Vec<Vec<Cell>>) {
        self.sections.push(Section {
            title,
            body: Body::Rows {
                columns: columns.to_vec(),
                rows,
            },
        });
    }

    /// For people. Empty sections are left out.
    pub fn to_text(&self) -> String {
        let mut out = String::new();
        for section in &self.sections {
            let body = match &section.body {
                Body::Facts(facts) if !facts.is_empty() => facts_text(facts, &self.base),
                Body::Rows { columns, rows } if !rows.is_empty() => rows_text(columns, rows, &self.base),
                _ => continue,
            };
            if !out.is_empty() {
                out.push('\n');
            }
            out.push_str(&format!("{}\n{body}\n", section.title));
        }
        out
    }

    /// For programs: an object with a key per section; facts as an object, rows as an array of objects.
    pub fn to_json(&self) -> Json {
        let mut object = Map::new();
        for section in &self.sections {
            let value = match &section.body {
                Body::Facts(facts) => Json::Object(facts.iter().map(|(k, cell)| (key(k), cell.json())).collect()),
                Body::Rows { columns, rows } => rows
                    .iter()
                    .map(|row| {
                        columns
                            .iter()
                            .zip(row)
                            .map(|(k, cell)| (key(k), cell.json()))
                            .collect::<Map<_, _>>()
                    })
                    .collect(),
            };
            object.insert(key(section.title), value);
        }
        Json::Object(object)
    }
}

/// Names with spaces become keys; property names, which have none, stay as they are.
fn key(name: &str) -> String {
    if name.contains(' ') || name.starts_with(|c: char| c.is_ascii_uppercase()) {
        name.to_lowercase().replace(' ', "_")
    } else {
        name.to_string()
    }
}

fn facts_text(facts: &[(String, Cell)], base: &str) -> String {
    let width = facts.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let line = |(name, cell): &(String, Cell)| format!("  {name:width$}  {}", cell.shown(base));
    facts.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn rows_text(columns: &[&'static str], rows: &[Vec<Cell>], base: &str) -> String {
    let mut table = Table::new();
    table.load_preset(UTF8_HORIZONTAL_ONLY);
    for lines in [
        TableComponent::HorizontalLines,
        TableComponent::TopBorder,
        TableComponent::BottomBorder,
    ] {
        table.remove_style(lines);
    }
    table.set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(columns);
    for row in rows {
        table.add_row(row.iter().map(|cell| {
            let shown = comfy_table::Cell::new(cell.shown(base));
            if cell.is_numeric() {
                shown.set_alignment(CellAlignment::Right)
            } else {
                shown
            }
        }));
    }
    table.trim_fmt()
}

/// A size in the largest binary unit of which there is at least one.
fn size(bytes: i64) -> String {
    const UNITS: [&str; 5] = ["KiB", "MiB", "GiB", "TiB", "PiB"];
    if bytes.unsigned_abs() < 1024 {
        return format!("{bytes} B");
    }
    let mut value = bytes as f64 / 1024.0;
    let mut unit = 0;
    while value.abs() >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    format!("{value:.1} {}", UNITS.get(unit).unwrap_or(&"PiB"))
}

/// A time in UTC; a number no calendar holds is shown as it is.
fn time(ms: i64) -> String {
    match chrono::DateTime::from_timestamp_millis(ms) {
        Some(time) => time.format("%Y-%m-%d %H:%M:%S%.3f UTC").to_string(),
        None => format!("{ms} ms"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_times_are_readable() {
        assert_eq!(size(0), "0 B");
        assert_eq!(size(1023), "1023 B");
        assert_eq!(size(1024), "1.0 KiB");
        assert_eq!(size(1_572_864), "1.5 MiB");
        assert_eq!(size(i64::MIN), "-8192.0 PiB");
        assert_eq!(time(0), "1970-01-01 00:00:00.000 UTC");
        assert_eq!(time(i64::MAX), "9223372036854775807 ms");
    }

    #[test]
    fn text_leaves_empty_sections_out_and_json_keeps_them() {
        let mut report = Report::default();
        report.facts("Table", [("format version", Cell::Number(2)), ("uuid", Cell::Missing)]);
        report.rows("Data files", &["path", "size"], vec![]);
        assert_eq!(report.to_text(), "Table\n  format version  2\n  uuid            -\n");
        let expected = json!({"table": {"format_version": 2, "uuid": null}, "data_files": []});
        assert_eq!(report.to_json(), expected);
    }
}
