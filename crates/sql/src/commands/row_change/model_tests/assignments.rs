//! New values of a row's columns, and of fields of its struct.

use super::expressions::{May, Number, Rows, Text};
use super::random::Random;
use super::rows::{Nested, Row, nested_sql, time_sql};

/// New values of one row. No column is assigned twice.
#[derive(Debug, Clone)]
pub(super) struct Assignments(Vec<Assignment>);

#[derive(Debug, Clone)]
enum Assignment {
    Id(Number),
    A(Number),
    B(Text),
    Struct(Option<Nested>),
    X(Number),
    Y(Text),
    Time(Option<i32>),
    Later(i32),
}

impl Assignments {
    pub(super) fn random(random: &mut Random, may: May<'_>) -> Self {
        let mut all: Vec<Assignment> = Vec::new();
        for _ in 0..1 + random.below(3) {
            let number = Number::random(random, may, 0);
            let next = match random.below(9) {
                0 => Assignment::Id(Number::Coalesce(Box::new(number), 0)),
                1 | 2 => Assignment::A(number),
                3 => Assignment::B(Text::random(random, may)),
                4 => Assignment::Struct(Nested::random(random)),
                5 => Assignment::X(number),
                6 => Assignment::Y(Text::random(random, may)),
                7 => Assignment::Time((!random.one_in(3)).then(|| random.number(72))),
                _ => Assignment::Later(1 + random.number(30)),
            };
            if !all.iter().any(|a| a.clashes(&next)) {
                all.push(next);
            }
        }
        Assignments(all)
    }

    pub(super) fn sql(&self, table: &str) -> String {
        let each = self.0.iter().map(|assignment| match assignment {
            Assignment::Id(v) => format!("id = {}", v.sql(table)),
            Assignment::A(v) => format!("t.a = {}", v.sql(table)),
            Assignment::B(v) => format!("b = {}", v.sql()),
            Assignment::Struct(v) => format!("s = {}", nested_sql(v.as_ref())),
            Assignment::X(v) => format!("s.x = {}", v.sql(table)),
            Assignment::Y(v) => format!("t.s.y = {}", v.sql()),
            Assignment::Time(v) => format!("ts = {}", time_sql(*v)),
            Assignment::Later(hours) => format!("ts = t.ts + INTERVAL '{hours}' HOUR"),
        });
        each.collect::<Vec<_>>().join(", ")
    }

    /// The row with its new values, which are computed from its old ones.
    pub(super) fn of(&self, row: &Row, rows: Rows<'_>) -> Row {
        let mut new = row.clone();
        for assignment in &self.0 {
            match assignment {
                Assignment::Id(v) => new.id = v.of(rows).unwrap_or(0),
                Assignment::A(v) => new.a = v.of(rows),
                Assignment::B(v) => new.b = v.of(rows),
                Assignment::Struct(v) => new.s.clone_from(v),
                // A struct that is NULL becomes one whose other fields are.
                Assignment::X(v) => new.s.get_or_insert_default().x = v.of(rows),
                Assignment::Y(v) => new.s.get_or_insert_default().y = v.of(rows),
                Assignment::Time(v) => new.ts = *v,
                Assignment::Later(hours) => new.ts = row.ts.map(|ts| ts + hours),
            }
        }
        new
    }
}

impl Assignment {
    fn column(&self) -> &'static str {
        match self {
            Assignment::Id(_) => "id",
            Assignment::A(_) => "a",
            Assignment::B(_) => "b",
            Assignment::Struct(_) => "s",
            Assignment::X(_) => "s.x",
            Assignment::Y(_) => "s.y",
            Assignment::Time(_) | Assignment::Later(_) => "ts",
        }
    }

    fn clashes(&self, other: &Assignment) -> bool {
        let (a, b) = (self.column(), other.column());
        a == b || (a.starts_with('s') && b == "s") || (b.starts_with('s') && a == "s")
    }
}
