//! Statements, as SQL and as what they do to rows.

use super::random::Random;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Row {
    id: i32,
    a: Option<i32>,
    b: Option<String>,
}

impl Row {
    fn random(random: &mut Random) -> Self {
        Row {
            id: random.number(12),
            a: (!random.one_in(5)).then(|| random.number(4)),
            b: (!random.one_in(5)).then(|| ["x", "y", "zz"][random.below(3)].to_string()),
        }
    }

    pub(super) fn shown(&self) -> String {
        let a = self.a.map_or("NULL".to_string(), |a| a.to_string());
        format!("{}|{a}|{}", self.id, self.b.as_deref().unwrap_or("NULL"))
    }

    fn sql(&self) -> String {
        let a = self.a.map_or("CAST(NULL AS int)".to_string(), |a| a.to_string());
        let b = self
            .b
            .as_ref()
            .map_or("CAST(NULL AS string)".to_string(), |b| format!("'{b}'"));
        format!("({}, {a}, {b})", self.id)
    }
}

/// A condition on a row, which may be unknown.
#[derive(Debug, Clone)]
pub(super) enum Condition {
    Id(&'static str, i32),
    A(&'static str, i32),
    BIs(&'static str),
    AIsNull,
    AIn(Vec<Option<i32>>),
    Not(Box<Condition>),
    And(Box<Condition>, Box<Condition>),
    Or(Box<Condition>, Box<Condition>),
}

impl Condition {
    fn random(random: &mut Random, depth: usize) -> Self {
        let operator = |random: &mut Random| ["=", "<", ">=", "<>"][random.below(4)];
        let deeper = |random: &mut Random| Box::new(Condition::random(random, depth + 1));
        match random.below(if depth < 2 { 8 } else { 5 }) {
            0 => Condition::Id(operator(random), random.number(12)),
            1 => Condition::A(operator(random), random.number(4)),
            2 => Condition::BIs(["x", "y", "zz"][random.below(3)]),
            3 => Condition::AIsNull,
            4 => {
                let some = |random: &mut Random| (!random.one_in(6)).then(|| random.number(4));
                Condition::AIn((0..1 + random.below(3)).map(|_| some(random)).collect())
            }
            5 => Condition::Not(deeper(random)),
            6 => Condition::And(deeper(random), deeper(random)),
            _ => Condition::Or(deeper(random), deeper(random)),
        }
    }

    fn sql(&self, of: &str) -> String {
        match self {
            Condition::Id(op, v) => format!("{of}.id {op} {v}"),
            Condition::A(op, v) => format!("{of}.a {op} {v}"),
            Condition::BIs(v) => format!("{of}.b = '{v}'"),
            Condition::AIsNull => format!("{of}.a IS NULL"),
            Condition::AIn(values) => {
                let values: Vec<String> = values
                    .iter()
                    .map(|v| v.map_or("NULL".into(), |v| v.to_string()))
                    .collect();
                format!(
                    "{of}.a IN (SELECT * FROM (VALUES {}) AS v (x))",
                    values
                        .iter()
                        .map(|v| format!("(CAST({v} AS int))"))
                        .collect::<Vec<_>>()
                        .join(", ")
                )
            }
            Condition::Not(c) => format!("NOT ({})", c.sql(of)),
            Condition::And(l, r) => format!("({}) AND ({})", l.sql(of), r.sql(of)),
            Condition::Or(l, r) => format!("({}) OR ({})", l.sql(of), r.sql(of)),
        }
    }

    fn of(&self, row: &Row) -> Option<bool> {
        let compare = |op: &str, l: i32, r: i32| match op {
            "=" => l == r,
            "<" => l < r,
            ">=" => l >= r,
            _ => l != r,
        };
        match self {
            Condition::Id(op, v) => Some(compare(op, row.id, *v)),
            Condition::A(op, v) => row.a.map(|a| compare(op, a, *v)),
            Condition::BIs(v) => row.b.as_ref().map(|b| b == v),
            Condition::AIsNull => Some(row.a.is_none()),
            Condition::AIn(values) => match row.a {
                None => None,
                Some(a) if values.contains(&Some(a)) => Some(true),
                Some(_) if values.contains(&None) => None,
                Some(_) => Some(false),
            },
            Condition::Not(c) => c.of(row).map(|v| !v),
            Condition::And(l, r) => match (l.of(row), r.of(row)) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (Some(true), Some(true)) => Some(true),
                _ => None,
            },
            Condition::Or(l, r) => match (l.of(row), r.of(row)) {
                (Some(true), _) | (_, Some(true)) => Some(true),
                (Some(false), Some(false)) => Some(false),
                _ => None,
            },
        }
    }

    fn takes(&self, row: &Row) -> bool {
        self.of(row) == Some(true)
    }
}

/// New values of a row.
#[derive(Debug, Clone)]
pub(super) enum Set {
    AddToA(i32),
    A(Option<i32>),
    B(&'static str),
    Id(i32),
    Swap,
}

impl Set {
    fn random(random: &mut Random) -> Self {
        match random.below(5) {
            0 => Set::AddToA(1 + random.number(3)),
            1 => Set::A((!random.one_in(3)).then(|| random.number(4))),
            2 => Set::B(["x", "new", ""][random.below(3)]),
            3 => Set::Id(random.number(3)),
            _ => Set::Swap,
        }
    }

    fn sql(&self) -> String {
        match self {
            Set::AddToA(v) => format!("a = t.a + {v}"),
            Set::A(v) => format!("a = {}", v.map_or("NULL".into(), |v| v.to_string())),
            Set::B(v) => format!("b = '{v}'"),
            Set::Id(v) => format!("id = t.id + {v}"),
            Set::Swap => "a = t.id, id = coalesce(t.a, 0)".to_string(),
        }
    }

    fn of(&self, row: &Row) -> Row {
        let mut new = row.clone();
        match self {
            Set::AddToA(v) => new.a = row.a.map(|a| a + v),
            Set::A(v) => new.a = *v,
            Set::B(v) => new.b = Some((*v).to_string()),
            Set::Id(v) => new.id = row.id + v,
            Set::Swap => (new.a, new.id) = (Some(row.id), row.a.unwrap_or(0)),
        }
        new
    }
}

/// What becomes of a row of the target; `None` is DELETE.
#[derive(Debug, Clone)]
pub(super) struct Clause {
    condition: Option<Condition>,
    set: Option<Set>,
}

impl Clause {
    fn random(random: &mut Random, may_be_last: bool) -> Self {
        Clause {
            condition: (!may_be_last || random.one_in(2)).then(|| Condition::random(random, 1)),
            set: (!random.one_in(3)).then(|| Set::random(random)),
        }
    }

    fn sql(&self, kind: &str) -> String {
        let condition = self
            .condition
            .as_ref()
            .map_or(String::new(), |c| format!(" AND {}", c.sql("t")));
        let action = self
            .set
            .as_ref()
            .map_or("DELETE".to_string(), |s| format!("UPDATE SET {}", s.sql()));
        format!(" WHEN {kind}{condition} THEN {action}")
    }

    fn takes(&self, row: &Row) -> bool {
        self.condition.as_ref().is_none_or(|c| c.takes(row))
    }

    fn of(&self, row: &Row) -> Option<Row> {
        self.set.as_ref().map(|set| set.of(row))
    }
}

#[derive(Debug, Clone)]
pub(super) struct Merge {
    source: Vec<Row>,
    /// On the target's row, beside equal ids.
    on: Option<Condition>,
    matched: Vec<Clause>,
    inserts: bool,
    by_source: Option<Clause>,
}

#[derive(Debug, Clone)]
pub(super) enum Statement {
    Insert(Vec<Row>),
    Delete(Condition),
    Update(Set, Condition),
    Merge(Merge),
}

impl Statement {
    pub(super) fn random(random: &mut Random, rows: &[Row]) -> Self {
        if rows.len() < 4 {
            return Statement::Insert((0..6 + random.below(6)).map(|_| Row::random(random)).collect());
        }
        match random.below(6) {
            0 => Statement::Insert((0..1 + random.below(4)).map(|_| Row::random(random)).collect()),
            1 => Statement::Delete(Condition::random(random, 0)),
            2 => Statement::Update(Set::random(random), Condition::random(random, 0)),
            _ => Statement::Merge(Self::random_merge(random)),
        }
    }

    fn random_merge(random: &mut Random) -> Merge {
        let mut source: Vec<Row> = (0..1 + random.below(5)).map(|_| Row::random(random)).collect();
        if !random.one_in(4) {
            source.sort_by_key(|row| row.id);
            source.dedup_by_key(|row| row.id);
        }
        let mut merge = Merge {
            source,
            on: random.one_in(3).then(|| Condition::random(random, 1)),
            matched: Vec::new(),
            inserts: random.one_in(2),
            by_source: random.one_in(4).then(|| Clause::random(random, true)),
        };
        match random.below(4) {
            0 => {}
            1 => merge.matched.push(Clause::random(random, true)),
            _ => {
                merge.matched.push(Clause::random(random, false));
                merge.matched.push(Clause::random(random, true));
            }
        }
        merge.inserts |= merge.matched.is_empty() && merge.by_source.is_none();
        merge
    }

    pub(super) fn sql(&self, table: &str) -> String {
        let values = |rows: &[Row]| rows.iter().map(Row::sql).collect::<Vec<_>>().join(", ");
        match self {
            Statement::Insert(rows) => format!("INSERT INTO {table} VALUES {}", values(rows)),
            Statement::Delete(condition) => format!("DELETE FROM {table} AS t WHERE {}", condition.sql("t")),
            Statement::Update(set, condition) => {
                format!("UPDATE {table} AS t SET {} WHERE {}", set.sql(), condition.sql("t"))
            }
            Statement::Merge(merge) => {
                let on = merge
                    .on
                    .as_ref()
                    .map_or(String::new(), |c| format!(" AND ({})", c.sql("t")));
                let source = values(&merge.source);
                let mut sql =
                    format!("MERGE INTO {table} AS t USING (VALUES {source}) AS s (id, a, b) ON t.id = s.id{on}");
                sql.extend(merge.matched.iter().map(|c| c.sql("MATCHED")));
                if merge.inserts {
                    sql.push_str(" WHEN NOT MATCHED THEN INSERT *");
                }
                sql.extend(merge.by_source.iter().map(|c| c.sql("NOT MATCHED BY SOURCE")));
                sql
            }
        }
    }

    /// The rows afterwards; `None` where the statement is refused.
    pub(super) fn apply(&self, rows: &[Row]) -> Option<Vec<Row>> {
        match self {
            Statement::Insert(new) => Some(rows.iter().chain(new).cloned().collect()),
            Statement::Delete(condition) => Some(rows.iter().filter(|r| !condition.takes(r)).cloned().collect()),
            Statement::Update(set, condition) => {
                let update = |row: &Row| if condition.takes(row) { set.of(row) } else { row.clone() };
                Some(rows.iter().map(update).collect())
            }
            Statement::Merge(merge) => merge.apply(rows),
        }
    }
}

impl Merge {
    fn apply(&self, rows: &[Row]) -> Option<Vec<Row>> {
        let matches = |row: &Row, source: &Row| {
            row.id == source.id && self.on.as_ref().is_none_or(|condition| condition.takes(row))
        };
        let only_deletes = matches!(
            self.matched.as_slice(),
            [Clause {
                condition: None,
                set: None
            }]
        );
        let mut after = Vec::new();
        for row in rows {
            let matching = self.source.iter().filter(|source| matches(row, source)).count();
            if matching > 1 && !self.matched.is_empty() && !only_deletes {
                return None;
            }
            let clause = match matching {
                0 => self.by_source.as_ref().filter(|clause| clause.takes(row)),
                _ => self.matched.iter().find(|clause| clause.takes(row)),
            };
            match clause {
                None => after.push(row.clone()),
                Some(clause) => after.extend(clause.of(row)),
            }
        }
        if self.inserts {
            let new = self
                .source
                .iter()
                .filter(|source| !rows.iter().any(|row| matches(row, source)));
            after.extend(new.cloned());
        }
        Some(after)
    }
}
