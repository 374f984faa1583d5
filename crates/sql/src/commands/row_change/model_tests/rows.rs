//! Rows of the tables that random statements change.

use super::random::Random;

/// The columns of a table.
pub(super) const COLUMNS: &str = "id int, a int, b string, s struct<x: int, y: string>, ts timestamp";

/// A row of a table as text, in SQL; [`Row::shown`] gives the same.
pub(super) const SHOWN: &str = "concat(id, '|', coalesce(CAST(a AS string), 'NULL'), '|', coalesce(b, 'NULL'), '|', \
     CASE WHEN s IS NULL THEN 'NULL' ELSE concat('{', coalesce(CAST(s.x AS string), 'NULL'), ',', coalesce(s.y, 'NULL'), '}') END, \
     '|', coalesce(CAST(ts AS string), 'NULL'))";

const TEXTS: [&str; 4] = ["x", "y", "zz", "z%"];

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) id: i32,
    pub(super) a: Option<i32>,
    pub(super) b: Option<String>,
    pub(super) s: Option<Nested>,
    /// Hours since 2024 began.
    pub(super) ts: Option<i32>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Nested {
    pub(super) x: Option<i32>,
    pub(super) y: Option<String>,
}

/// Text that is there now and then.
pub(super) fn some_text(random: &mut Random) -> Option<String> {
    (!random.one_in(5)).then(|| random.pick(&TEXTS).to_string())
}

/// A small number that is there now and then.
pub(super) fn some_number(random: &mut Random) -> Option<i32> {
    (!random.one_in(5)).then(|| random.number(4))
}

impl Nested {
    pub(super) fn random(random: &mut Random) -> Option<Self> {
        (!random.one_in(4)).then(|| Nested {
            x: some_number(random),
            y: some_text(random),
        })
    }
}

impl Row {
    pub(super) fn random(random: &mut Random) -> Self {
        Row {
            id: random.number(12),
            a: some_number(random),
            b: some_text(random),
            s: Nested::random(random),
            ts: (!random.one_in(5)).then(|| random.number(72)),
        }
    }

    pub(super) fn shown(&self) -> String {
        let number = |n: Option<i32>| n.map_or("NULL".to_string(), |n| n.to_string());
        let text = |t: &Option<String>| t.clone().unwrap_or("NULL".to_string());
        let s = self.s.as_ref();
        let s = s.map_or("NULL".to_string(), |s| format!("{{{},{}}}", number(s.x), text(&s.y)));
        let ts = self.ts.map_or("NULL".to_string(), time);
        format!("{}|{}|{}|{s}|{ts}", self.id, number(self.a), text(&self.b))
    }

    /// As a row of VALUES.
    pub(super) fn sql(&self) -> String {
        format!(
            "({}, {}, {}, {}, {})",
            self.id,
            number_sql(self.a),
            text_sql(self.b.as_deref()),
            nested_sql(self.s.as_ref()),
            time_sql(self.ts)
        )
    }
}

pub(super) fn number_sql(number: Option<i32>) -> String {
    number.map_or("CAST(NULL AS int)".to_string(), |n| n.to_string())
}

pub(super) fn text_sql(text: Option<&str>) -> String {
    text.map_or("CAST(NULL AS string)".to_string(), |t| format!("'{t}'"))
}

pub(super) fn nested_sql(nested: Option<&Nested>) -> String {
    match nested {
        Some(s) => format!(
            "named_struct('x', {}, 'y', {})",
            number_sql(s.x),
            text_sql(s.y.as_deref())
        ),
        None => "CAST(NULL AS struct<x: int, y: string>)".to_string(),
    }
}

pub(super) fn time_sql(ts: Option<i32>) -> String {
    match ts {
        Some(ts) => format!("TIMESTAMP '{}'", time(ts)),
        None => "CAST(NULL AS timestamp)".to_string(),
    }
}

fn time(hours: i32) -> String {
    format!("2024-01-{:02} {:02}:00:00", 1 + hours / 24, hours % 24)
}

/// The table `o (k int, v int)` that subqueries look into.
pub(super) const LOOKUP: [(Option<i32>, Option<i32>); 5] = [
    (Some(0), Some(1)),
    (Some(1), None),
    (Some(1), Some(2)),
    (Some(3), Some(0)),
    (None, Some(3)),
];

pub(super) fn lookup_sql() -> String {
    let rows = LOOKUP.map(|(k, v)| format!("({}, {})", number_sql(k), number_sql(v)));
    rows.join(", ")
}
