//! Expressions over rows, as SQL and as what they are worth. Conditions may be unknown.

use super::random::Random;
use super::rows::{LOOKUP, Row, number_sql, text_sql, time_sql};

/// Which row a column is of: the target's `t`, or a source's `u`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Target,
    Source,
}

impl Side {
    fn name(self) -> &'static str {
        match self {
            Side::Target => "t",
            Side::Source => "u",
        }
    }
}

/// What an expression sees.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rows<'a> {
    pub(super) target: Option<&'a Row>,
    pub(super) source: Option<&'a Row>,
    /// All of the table before the statement.
    pub(super) table: &'a [Row],
}

impl<'a> Rows<'a> {
    fn of(&self, side: Side) -> Option<&'a Row> {
        match side {
            Side::Target => self.target,
            Side::Source => self.source,
        }
    }
}

/// What may stand in an expression.
#[derive(Debug, Clone, Copy)]
pub(super) struct May<'a> {
    pub(super) sides: &'a [Side],
    pub(super) subqueries: Subqueries,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Subqueries {
    None,
    /// IN, which need not look at the row.
    Plain,
    /// And EXISTS and scalar ones that look at it.
    Correlated,
}

#[derive(Debug, Clone)]
pub(super) enum Number {
    Id(Side),
    A(Side),
    X(Side),
    Constant(Option<i32>),
    Plus(Box<Number>, i32),
    Coalesce(Box<Number>, i32),
    Case(Box<Condition>, Box<Number>, Box<Number>),
    /// The greatest `o.v` of a key.
    Greatest(Box<Number>),
    /// The greatest `a` of the table.
    GreatestA,
}

impl Number {
    fn column(random: &mut Random, may: May<'_>) -> Self {
        let side = random.pick(may.sides);
        match random.below(3) {
            0 => Number::Id(side),
            1 => Number::A(side),
            _ => Number::X(side),
        }
    }

    pub(super) fn random(random: &mut Random, may: May<'_>, depth: usize) -> Self {
        let deeper = |random: &mut Random| Box::new(Number::random(random, may, depth + 1));
        let most = if depth > 1 { 4 } else { 9 };
        match random.below(most) {
            0..=2 => Number::column(random, may),
            3 => Number::Constant((!random.one_in(4)).then(|| random.number(6))),
            4 => Number::Plus(deeper(random), 1 + random.number(3)),
            5 => Number::Coalesce(deeper(random), random.number(4)),
            6 => Number::Case(
                Box::new(Condition::random(random, may, depth + 1)),
                deeper(random),
                deeper(random),
            ),
            7 if may.subqueries == Subqueries::Correlated => Number::Greatest(Box::new(Number::column(random, may))),
            8 if may.subqueries == Subqueries::Correlated => Number::GreatestA,
            _ => Number::column(random, may),
        }
    }

    pub(super) fn sql(&self, table: &str) -> String {
        match self {
            Number::Id(side) => format!("{}.id", side.name()),
            Number::A(side) => format!("{}.a", side.name()),
            Number::X(side) => format!("{}.s.x", side.name()),
            Number::Constant(n) => number_sql(*n),
            Number::Plus(of, n) => format!("({} + {n})", of.sql(table)),
            Number::Coalesce(of, n) => format!("coalesce({}, {n})", of.sql(table)),
            Number::Case(condition, yes, no) => format!(
                "CASE WHEN {} THEN {} ELSE {} END",
                condition.sql(table),
                yes.sql(table),
                no.sql(table)
            ),
            Number::Greatest(key) => format!("(SELECT max(o.v) FROM o WHERE o.k = {})", key.sql(table)),
            Number::GreatestA => format!("(SELECT max(g.a) FROM {table} AS g)"),
        }
    }

    pub(super) fn of(&self, rows: Rows<'_>) -> Option<i32> {
        match self {
            Number::Id(side) => rows.of(*side).map(|row| row.id),
            Number::A(side) => rows.of(*side)?.a,
            Number::X(side) => rows.of(*side)?.s.as_ref()?.x,
            Number::Constant(n) => *n,
            Number::Plus(of, n) => of.of(rows).map(|v| v + n),
            Number::Coalesce(of, n) => Some(of.of(rows).unwrap_or(*n)),
            Number::Case(condition, yes, no) => match condition.takes(rows) {
                true => yes.of(rows),
                false => no.of(rows),
            },
            Number::Greatest(key) => {
                let key = key.of(rows)?;
                let values = LOOKUP.iter().filter(|(k, _)| *k == Some(key));
                values.filter_map(|(_, v)| *v).max()
            }
            Number::GreatestA => rows.table.iter().filter_map(|row| row.a).max(),
        }
    }
}

#[derive(Debug, Clone)]
pub(super) enum Text {
    B(Side),
    Y(Side),
    Constant(Option<&'static str>),
    With(Box<Text>, &'static str),
}

impl Text {
    pub(super) fn random(random: &mut Random, may: May<'_>) -> Self {
        let side = random.pick(may.sides);
        match random.below(6) {
            0 | 1 => Text::B(side),
            2 => Text::Y(side),
            3 => Text::With(Box::new(Text::random(random, may)), random.pick(&["!", "?"])),
            _ => Text::Constant((!random.one_in(5)).then(|| random.pick(&["x", "y", "zz", "z%", ""]))),
        }
    }

    pub(super) fn sql(&self) -> String {
        match self {
            Text::B(side) => format!("{}.b", side.name()),
            Text::Y(side) => format!("{}.s.y", side.name()),
            Text::Constant(text) => text_sql(*text),
            Text::With(of, end) => format!("concat({}, '{end}')", of.sql()),
        }
    }

    pub(super) fn of(&self, rows: Rows<'_>) -> Option<String> {
        match self {
            Text::B(side) => rows.of(*side)?.b.clone(),
            Text::Y(side) => rows.of(*side)?.s.as_ref()?.y.clone(),
            Text::Constant(text) => text.map(str::to_string),
            Text::With(of, end) => of.of(rows).map(|text| text + end),
        }
    }
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Compare {
    Equal,
    Less,
    AtLeast,
    Different,
}

impl Compare {
    fn random(random: &mut Random) -> Self {
        random.pick(&[Compare::Equal, Compare::Less, Compare::AtLeast, Compare::Different])
    }

    fn sql(self) -> &'static str {
        match self {
            Compare::Equal => "=",
            Compare::Less => "<",
            Compare::AtLeast => ">=",
            Compare::Different => "<>",
        }
    }

    fn of<T: PartialOrd>(self, left: Option<T>, right: Option<T>) -> Option<bool> {
        let (left, right) = (left?, right?);
        Some(match self {
            Compare::Equal => left == right,
            Compare::Less => left < right,
            Compare::AtLeast => left >= right,
            Compare::Different => left != right,
        })
    }
}

/// Where the values of IN come from.
#[derive(Debug, Clone)]
pub(super) enum Among {
    List(Vec<Option<i32>>),
    Values(Vec<Option<i32>>),
    /// `o.k` of rows with this `o.v` at least.
    Lookup(i32),
    /// `a` of the table's rows from an id on.
    Table(i32),
}

impl Among {
    fn random(random: &mut Random, may: May<'_>) -> Self {
        let values = |random: &mut Random| -> Vec<Option<i32>> {
            let count = 1 + random.below(3);
            (0..count)
                .map(|_| (!random.one_in(5)).then(|| random.number(4)))
                .collect()
        };
        let kinds = if may.subqueries == Subqueries::None { 1 } else { 4 };
        match random.below(kinds) {
            0 => Among::List(values(random)),
            1 => Among::Values(values(random)),
            2 => Among::Lookup(random.number(4)),
            _ => Among::Table(random.number(12)),
        }
    }

    fn sql(&self, table: &str) -> String {
        let list = |values: &[Option<i32>], around: fn(String) -> String| {
            let values: Vec<String> = values.iter().map(|v| around(number_sql(*v))).collect();
            values.join(", ")
        };
        match self {
            Among::List(values) => list(values, |v| v),
            Among::Values(values) => format!("SELECT * FROM (VALUES {}) AS v (x)", list(values, |v| format!("({v})"))),
            Among::Lookup(least) => format!("SELECT o.k FROM o WHERE o.v >= {least}"),
            Among::Table(least) => format!("SELECT g.a FROM {table} AS g WHERE g.id >= {least}"),
        }
    }

    fn of(&self, table: &[Row]) -> Vec<Option<i32>> {
        match self {
            Among::List(values) | Among::Values(values) => values.clone(),
            Among::Lookup(least) => {
                let rows = LOOKUP.iter().filter(|(_, v)| v.is_some_and(|v| v >= *least));
                rows.map(|(k, _)| *k).collect()
            }
            Among::Table(least) => table.iter().filter(|row| row.id >= *least).map(|row| row.a).collect(),
        }
    }
}

/// What may be NULL.
#[derive(Debug, Clone)]
pub(super) enum Nullable {
    Number(Number),
    Text(Text),
    Struct(Side),
}

#[derive(Debug, Clone)]
pub(super) enum Condition {
    Numbers(Compare, Number, Number),
    /// `<=>`
    Same(Number, Number),
    Texts(Compare, Text, Text),
    Like(Text, &'static str),
    Time(Compare, Side, i32),
    IsNull(Nullable),
    In(Number, Among),
    /// `(id, a) IN (SELECT k, v FROM o)`
    PairIn(Number, Number),
    /// A row of `o` has this key, and a value from this on.
    Exists(Number, i32),
    Not(Box<Condition>),
    And(Box<Condition>, Box<Condition>),
    Or(Box<Condition>, Box<Condition>),
}

impl Condition {
    pub(super) fn random(random: &mut Random, may: May<'_>, depth: usize) -> Self {
        let deeper = |random: &mut Random| Box::new(Condition::random(random, may, depth + 1));
        let constant = |random: &mut Random| Number::Constant((!random.one_in(12)).then(|| random.number(10)));
        match random.below(if depth < 2 { 14 } else { 8 }) {
            0 | 1 => Condition::Numbers(Compare::random(random), Number::column(random, may), constant(random)),
            2 => Condition::Numbers(
                Compare::random(random),
                Number::random(random, may, depth + 1),
                Number::random(random, may, depth + 1),
            ),
            3 => Condition::Texts(
                Compare::random(random),
                Text::random(random, may),
                Text::Constant(Some(random.pick(&["x", "y", "zz"]))),
            ),
            4 => Condition::Like(Text::random(random, may), random.pick(&["z%", "%", "y", "_", "%z"])),
            5 => Condition::Time(Compare::random(random), random.pick(may.sides), random.number(72)),
            6 => Condition::IsNull(match random.below(3) {
                0 => Nullable::Number(Number::column(random, may)),
                1 => Nullable::Text(Text::random(random, may)),
                _ => Nullable::Struct(random.pick(may.sides)),
            }),
            7 | 8 => Condition::In(Number::column(random, may), Among::random(random, may)),
            9 if may.subqueries == Subqueries::Correlated => {
                let key = Number::column(random, may);
                match random.one_in(3) {
                    true => Condition::PairIn(key, Number::column(random, may)),
                    false => Condition::Exists(key, random.number(4)),
                }
            }
            9 => Condition::Same(Number::column(random, may), Number::random(random, may, depth + 1)),
            10 | 11 => Condition::Not(deeper(random)),
            12 => Condition::And(deeper(random), deeper(random)),
            _ => Condition::Or(deeper(random), deeper(random)),
        }
    }

    pub(super) fn sql(&self, table: &str) -> String {
        match self {
            Condition::Numbers(op, l, r) => format!("{} {} {}", l.sql(table), op.sql(), r.sql(table)),
            Condition::Same(l, r) => format!("{} <=> {}", l.sql(table), r.sql(table)),
            Condition::Texts(op, l, r) => format!("{} {} {}", l.sql(), op.sql(), r.sql()),
            Condition::Like(text, pattern) => format!("{} LIKE '{pattern}'", text.sql()),
            Condition::Time(op, side, ts) => format!("{}.ts {} {}", side.name(), op.sql(), time_sql(Some(*ts))),
            Condition::IsNull(what) => match what {
                Nullable::Number(number) => format!("{} IS NULL", number.sql(table)),
                Nullable::Text(text) => format!("{} IS NULL", text.sql()),
                Nullable::Struct(side) => format!("{}.s IS NULL", side.name()),
            },
            Condition::In(number, among) => format!("{} IN ({})", number.sql(table), among.sql(table)),
            Condition::PairIn(k, v) => format!("({}, {}) IN (SELECT o.k, o.v FROM o)", k.sql(table), v.sql(table)),
            Condition::Exists(key, least) => format!(
                "EXISTS (SELECT 1 FROM o WHERE o.k = {} AND o.v >= {least})",
                key.sql(table)
            ),
            // NOT (x IN …) and NOT (x LIKE …) are also written as NOT IN and NOT LIKE.
            Condition::Not(inner) => match inner.as_ref() {
                Condition::In(number, among) => format!("{} NOT IN ({})", number.sql(table), among.sql(table)),
                Condition::Like(text, pattern) => format!("{} NOT LIKE '{pattern}'", text.sql()),
                Condition::Exists(..) => format!("NOT {}", inner.sql(table)),
                _ => format!("NOT ({})", inner.sql(table)),
            },
            Condition::And(l, r) => format!("({}) AND ({})", l.sql(table), r.sql(table)),
            Condition::Or(l, r) => format!("({}) OR ({})", l.sql(table), r.sql(table)),
        }
    }

    pub(super) fn takes(&self, rows: Rows<'_>) -> bool {
        self.of(rows) == Some(true)
    }

    fn of(&self, rows: Rows<'_>) -> Option<bool> {
        match self {
            Condition::Numbers(op, l, r) => op.of(l.of(rows), r.of(rows)),
            Condition::Same(l, r) => Some(l.of(rows) == r.of(rows)),
            Condition::Texts(op, l, r) => op.of(l.of(rows), r.of(rows)),
            Condition::Like(text, pattern) => text.of(rows).map(|text| like(&text, pattern)),
            Condition::Time(op, side, ts) => op.of(rows.of(*side)?.ts, Some(*ts)),
            Condition::IsNull(what) => Some(match what {
                Nullable::Number(number) => number.of(rows).is_none(),
                Nullable::Text(text) => text.of(rows).is_none(),
                Nullable::Struct(side) => rows.of(*side).is_none_or(|row| row.s.is_none()),
            }),
            Condition::In(number, among) => is_in(number.of(rows), &among.of(rows.table)),
            Condition::PairIn(k, v) => {
                let (k, v) = (k.of(rows), v.of(rows));
                let equal = |a: Option<i32>, b: Option<i32>| Compare::Equal.of(a, b);
                let each = LOOKUP.iter().map(|(x, y)| and(equal(k, *x), equal(v, *y)));
                each.fold(Some(false), or)
            }
            Condition::Exists(key, least) => {
                let key = key.of(rows);
                let found = LOOKUP
                    .iter()
                    .any(|(k, v)| Compare::Equal.of(*k, key) == Some(true) && v.is_some_and(|v| v >= *least));
                Some(found)
            }
            Condition::Not(inner) => inner.of(rows).map(|v| !v),
            Condition::And(l, r) => and(l.of(rows), r.of(rows)),
            Condition::Or(l, r) => or(l.of(rows), r.of(rows)),
        }
    }
}

fn and(left: Option<bool>, right: Option<bool>) -> Option<bool> {
    match (left, right) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        _ => None,
    }
}

fn or(left: Option<bool>, right: Option<bool>) -> Option<bool> {
    and(left.map(|v| !v), right.map(|v| !v)).map(|v| !v)
}

fn is_in(value: Option<i32>, among: &[Option<i32>]) -> Option<bool> {
    let each = among.iter().map(|other| Compare::Equal.of(value, *other));
    each.fold(Some(false), or)
}

/// `%` is any text, `_` any character.
fn like(text: &str, pattern: &str) -> bool {
    let mut characters = pattern.chars();
    match characters.next() {
        None => text.is_empty(),
        Some('%') => {
            let rest = characters.as_str();
            let mut starts = text.char_indices().map(|(at, _)| at).chain([text.len()]);
            starts.any(|at| like(&text[at..], rest))
        }
        Some(c) => {
            let mut own = text.chars();
            own.next().is_some_and(|first| c == '_' || first == c) && like(own.as_str(), characters.as_str())
        }
    }
}
