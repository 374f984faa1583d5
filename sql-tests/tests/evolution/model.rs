//! What a table is, naively: columns with identities, and for every state of it the rows with a value per identity.

use std::collections::BTreeMap;

use crate::slt::render::shortest;

/// Identity of a column or a struct's field; names come and go.
pub type Id = u32;

/// A type.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    Int,
    Long,
    Float,
    Double,
    /// Two digits after the point.
    Decimal(u8),
    Text,
    /// A date in January 2024.
    Day,
    Struct(Vec<Column>),
    /// Its element.
    List(Box<Column>),
    /// Its value; keys are texts.
    Map(Box<Column>),
}

/// A column, a field of a struct, an element of a list or a value of a map.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    pub id: Id,
    pub name: String,
    pub kind: Kind,
    /// What rows hold that were written before it was there.
    pub initial: Value,
    /// What new rows hold that do not say.
    pub default: Value,
}

/// A value.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    Null,
    Whole(i64),
    /// Quarters of one, which binary fractions hold exactly.
    Quarters(i64),
    /// Hundredths.
    Hundredths(i64),
    Text(String),
    /// Day of January 2024.
    Day(u32),
    Struct(Row),
    List(Vec<Value>),
    Map(BTreeMap<String, Value>),
}

/// The values that were written, by identity.
pub type Row = BTreeMap<Id, Value>;

/// A state of the table: what reading it gives.
#[derive(Debug, Clone)]
pub struct State {
    pub columns: Vec<Column>,
    pub rows: Vec<Row>,
}

impl Kind {
    /// The type in SQL.
    pub fn sql(&self) -> String {
        match self {
            Kind::Int => "int".to_string(),
            Kind::Long => "bigint".to_string(),
            Kind::Float => "float".to_string(),
            Kind::Double => "double".to_string(),
            Kind::Decimal(precision) => format!("decimal({precision},2)"),
            Kind::Text => "string".to_string(),
            Kind::Day => "date".to_string(),
            Kind::Struct(fields) => {
                let fields: Vec<String> = fields.iter().map(|f| format!("{}: {}", f.name, f.kind.sql())).collect();
                format!("struct<{}>", fields.join(", "))
            }
            Kind::List(element) => format!("array<{}>", element.kind.sql()),
            Kind::Map(value) => format!("map<string, {}>", value.kind.sql()),
        }
    }

    /// Whether it holds no others.
    pub fn is_simple(&self) -> bool {
        !matches!(self, Kind::Struct(_) | Kind::List(_) | Kind::Map(_))
    }

    /// What lies in a list or a map, by the name that SQL has for it.
    pub fn inner(&mut self) -> Option<(&'static str, &mut Column)> {
        match self {
            Kind::List(element) => Some(("element", element)),
            Kind::Map(value) => Some(("value", value)),
            _ => None,
        }
    }

    /// The fields of a struct, also of one in a list or a map, and the way to it.
    pub fn fields(&mut self) -> Option<(&'static str, &mut Vec<Column>)> {
        match self {
            Kind::Struct(fields) => Some(("", fields)),
            _ => match self.inner()? {
                (
                    "element",
                    Column {
                        kind: Kind::Struct(fields),
                        ..
                    },
                ) => Some((".element", fields)),
                (
                    _,
                    Column {
                        kind: Kind::Struct(fields),
                        ..
                    },
                ) => Some((".value", fields)),
                _ => None,
            },
        }
    }

    /// The type that it can be widened to.
    pub fn wider(&self) -> Option<Kind> {
        match self {
            Kind::Int => Some(Kind::Long),
            Kind::Float => Some(Kind::Double),
            Kind::Decimal(precision) if *precision < 20 => Some(Kind::Decimal(precision + 3)),
            _ => None,
        }
    }
}

impl Column {
    /// Its value in a row, which may be older than it.
    pub fn of(&self, row: &Row) -> Value {
        row.get(&self.id).cloned().unwrap_or_else(|| self.initial.clone())
    }

    /// A value as results show it.
    pub fn shown(&self, value: &Value) -> String {
        match (value, &self.kind) {
            (Value::Null, _) => "NULL".to_string(),
            (Value::Whole(n), _) => n.to_string(),
            (Value::Quarters(n), _) => shortest(*n as f64 / 4.0, None),
            (Value::Hundredths(n), _) => hundredths(*n),
            (Value::Text(text), _) => text.clone(),
            (Value::Day(day), _) => format!("2024-01-{day:02}"),
            (Value::Struct(row), Kind::Struct(fields)) => {
                let fields: Vec<String> = fields
                    .iter()
                    .map(|f| format!("{}: {}", f.name, f.shown(&f.of(row))))
                    .collect();
                format!("{{{}}}", fields.join(", "))
            }
            (Value::List(values), Kind::List(element)) => {
                let values: Vec<String> = values.iter().map(|v| element.shown(v)).collect();
                format!("[{}]", values.join(", "))
            }
            (Value::Map(pairs), Kind::Map(value)) => {
                let pairs: Vec<String> = pairs.iter().map(|(k, v)| format!("{k}: {}", value.shown(v))).collect();
                format!("{{{}}}", pairs.join(", "))
            }
            (Value::Struct(_) | Value::List(_) | Value::Map(_), _) => "a value of another type".to_string(),
        }
    }

    /// A value as a literal of this column's type.
    pub fn literal(&self, value: &Value) -> String {
        match (value, &self.kind) {
            (Value::Null, _) => "NULL".to_string(),
            (Value::Quarters(n), kind) => format!("CAST({} AS {})", *n as f64 / 4.0, kind.sql()),
            (Value::Text(text), _) => format!("'{text}'"),
            (Value::Day(_), _) => format!("DATE '{}'", self.shown(value)),
            (Value::Struct(row), Kind::Struct(fields)) => {
                let fields: Vec<String> = fields
                    .iter()
                    .map(|f| format!("'{}', {}", f.name, typed(f, f.literal(&f.of(row)))))
                    .collect();
                format!("named_struct({})", fields.join(", "))
            }
            (Value::List(values), Kind::List(element)) => {
                let values = values.iter().map(|v| typed(element, element.literal(v)));
                format!("array({})", values.collect::<Vec<_>>().join(", "))
            }
            (Value::Map(pairs), Kind::Map(value)) => {
                let pairs = pairs
                    .iter()
                    .map(|(k, v)| format!("'{k}', {}", typed(value, value.literal(v))));
                format!("map({})", pairs.collect::<Vec<_>>().join(", "))
            }
            _ => self.shown(value),
        }
    }
}

/// NULL inside another value needs a type.
fn typed(field: &Column, literal: String) -> String {
    format!("CAST({literal} AS {})", field.kind.sql())
}

fn hundredths(n: i64) -> String {
    let sign = if n < 0 { "-" } else { "" };
    format!("{sign}{}.{:02}", n.abs() / 100, n.abs() % 100)
}

impl State {
    /// The names of the columns and the rows, as results show them, sorted.
    pub fn shown(&self, is_wanted: impl Fn(&Row) -> bool) -> Vec<Vec<String>> {
        let rows = self.rows.iter().filter(|row| is_wanted(row));
        let mut rows: Vec<Vec<String>> = rows
            .map(|row| self.columns.iter().map(|c| c.shown(&c.of(row))).collect())
            .collect();
        rows.sort();
        rows
    }

    /// The names of the columns.
    pub fn names(&self) -> Vec<String> {
        self.columns.iter().map(|c| c.name.clone()).collect()
    }
}

/// A condition on a column, or on a field of a struct.
#[derive(Debug, Clone)]
pub struct Condition {
    /// Outermost first.
    pub path: Vec<Column>,
    pub test: Test,
}

/// What is asked of a value.
#[derive(Debug, Clone)]
pub enum Test {
    IsNull,
    Equals(Value),
    Below(i64),
}

impl Condition {
    /// The condition in SQL.
    pub fn sql(&self) -> String {
        let names: Vec<&str> = self.path.iter().map(|c| c.name.as_str()).collect();
        let name = names.join(".");
        match (&self.test, self.path.last()) {
            (Test::Equals(value), Some(column)) => format!("{name} = {}", column.literal(value)),
            (Test::Below(end), _) => format!("{name} < {end}"),
            _ => format!("{name} IS NULL"),
        }
    }

    /// Whether it is true of a row; NULL is not.
    pub fn holds(&self, row: &Row) -> bool {
        let mut value = Value::Struct(row.clone());
        for column in &self.path {
            value = match value {
                Value::Struct(row) => column.of(&row),
                _ => Value::Null,
            };
        }
        match (&self.test, value) {
            (Test::IsNull, value) => value == Value::Null,
            (Test::Equals(_), Value::Null) => false,
            (Test::Equals(wanted), value) => value == *wanted,
            (Test::Below(end), Value::Whole(n)) => n < *end,
            (Test::Below(_), _) => false,
        }
    }
}
