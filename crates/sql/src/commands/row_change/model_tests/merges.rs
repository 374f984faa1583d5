//! MERGE with clauses of all kinds.

use super::assignments::Assignments;
use super::expressions::{Condition, May, Number, Rows, Side, Subqueries};
use super::random::Random;
use super::rows::Row;

const BOTH: [Side; 2] = [Side::Target, Side::Source];

#[derive(Debug, Clone)]
pub(super) struct Merge {
    source: Source,
    on: On,
    matched: Vec<Clause>,
    not_matched: Vec<Insert>,
    by_source: Vec<Clause>,
}

#[derive(Debug, Clone)]
enum Source {
    Values(Vec<Row>),
    /// Those of a common table expression.
    Named(Vec<Row>),
    /// Rows of the table itself, their ids moved.
    Table(Condition, i32),
}

#[derive(Debug, Clone)]
enum On {
    Ids,
    IdsAnd(Condition),
    /// Both may be NULL.
    Numbers,
    NumbersOrNull,
    Moved(i32),
    /// No keys are equal.
    Above(i32),
}

/// What becomes of a row of the table.
#[derive(Debug, Clone)]
struct Clause {
    condition: Option<Condition>,
    action: Action,
}

#[derive(Debug, Clone)]
enum Action {
    Delete,
    Update(Assignments),
    UpdateAll,
}

/// What is made of a row of the source.
#[derive(Debug, Clone)]
struct Insert {
    condition: Option<Condition>,
    /// `a` and `id` only; all columns without.
    values: Option<(Number, Number)>,
}

impl Merge {
    pub(super) fn random(random: &mut Random) -> Self {
        let mut merge = Merge {
            source: Source::random(random),
            on: On::random(random),
            matched: Vec::new(),
            not_matched: Vec::new(),
            by_source: Vec::new(),
        };
        while merge.matched.len() + merge.not_matched.len() + merge.by_source.len() == 0 {
            if !random.one_in(4) {
                merge.matched = clauses(random, &BOTH, MatchedKind::Matched);
            }
            let count = random.below(3);
            for i in 0..count {
                merge.not_matched.push(Insert::random(random, i + 1 == count));
            }
            if random.one_in(3) {
                merge.by_source = clauses(random, &BOTH[..1], MatchedKind::BySource);
            }
        }
        merge
    }

    pub(super) fn sql(&self, table: &str) -> String {
        let with = match &self.source {
            Source::Named(rows) => format!("WITH named AS (SELECT * FROM {}) ", values(rows)),
            _ => String::new(),
        };
        let mut sql = format!(
            "{with}MERGE INTO {table} AS t USING {} ON {}",
            self.source.sql(table),
            self.on.sql(table)
        );
        sql.extend(self.matched.iter().map(|c| c.sql("MATCHED", table)));
        sql.extend(self.not_matched.iter().map(|c| c.sql(table)));
        sql.extend(self.by_source.iter().map(|c| c.sql("NOT MATCHED BY SOURCE", table)));
        sql
    }

    /// The rows afterwards; `None` where the statement is refused.
    pub(super) fn apply(&self, table: &[Row]) -> Option<Vec<Row>> {
        let pair = |target, source| Rows { target, source, table };
        let source = self.source.rows(table);
        let only_deletes = matches!(
            self.matched.as_slice(),
            [Clause {
                condition: None,
                action: Action::Delete
            }]
        );
        let mut after = Vec::new();
        for row in table {
            let mut matching = source.iter().filter(|s| self.on.matches(pair(Some(row), Some(s))));
            let (first, second) = (matching.next(), matching.next());
            if second.is_some() && !self.matched.is_empty() && !only_deletes {
                return None;
            }
            let rows = pair(Some(row), first);
            let clauses = if first.is_some() {
                &self.matched
            } else {
                &self.by_source
            };
            match clauses.iter().find(|clause| clause.takes(rows)) {
                None => after.push(row.clone()),
                Some(clause) => after.extend(clause.of(row, rows)),
            }
        }
        for new in &source {
            let is_there = table.iter().any(|row| self.on.matches(pair(Some(row), Some(new))));
            let rows = pair(None, Some(new));
            if !is_there && let Some(insert) = self.not_matched.iter().find(|clause| clause.takes(rows)) {
                after.push(insert.of(new, rows));
            }
        }
        Some(after)
    }
}

fn values(rows: &[Row]) -> String {
    let rows: Vec<String> = rows.iter().map(Row::sql).collect();
    format!("(VALUES {}) AS v (id, a, b, s, ts)", rows.join(", "))
}

impl Source {
    fn random(random: &mut Random) -> Self {
        if random.one_in(5) {
            let may = May {
                sides: &BOTH[..1],
                subqueries: Subqueries::None,
            };
            return Source::Table(Condition::random(random, may, 1), random.number(3));
        }
        let mut rows: Vec<Row> = (0..1 + random.below(5)).map(|_| Row::random(random)).collect();
        if !random.one_in(4) {
            rows.sort_by_key(|row| row.id);
            rows.dedup_by_key(|row| row.id);
        }
        match random.one_in(4) {
            true => Source::Named(rows),
            false => Source::Values(rows),
        }
    }

    fn sql(&self, table: &str) -> String {
        match self {
            Source::Values(rows) => format!("(SELECT * FROM {}) AS u", values(rows)),
            Source::Named(_) => "named AS u".to_string(),
            Source::Table(condition, moved) => format!(
                "(SELECT t.id + {moved} AS id, t.a, t.b, t.s, t.ts FROM {table} AS t WHERE {}) AS u",
                condition.sql(table)
            ),
        }
    }

    fn rows(&self, table: &[Row]) -> Vec<Row> {
        match self {
            Source::Values(rows) | Source::Named(rows) => rows.clone(),
            Source::Table(condition, moved) => {
                let of = |row| Rows {
                    target: Some(row),
                    source: None,
                    table,
                };
                let rows = table.iter().filter(|row| condition.takes(of(*row)));
                let moved = |row: &Row| Row {
                    id: row.id + moved,
                    ..row.clone()
                };
                rows.map(moved).collect()
            }
        }
    }
}

impl On {
    fn random(random: &mut Random) -> Self {
        match random.below(9) {
            0..=3 => On::Ids,
            4 | 5 => {
                let may = May {
                    sides: &BOTH,
                    subqueries: Subqueries::None,
                };
                On::IdsAnd(Condition::random(random, may, 1))
            }
            6 => match random.one_in(2) {
                true => On::Numbers,
                false => On::NumbersOrNull,
            },
            7 => On::Moved(1 + random.number(2)),
            _ => On::Above(6 + random.number(5)),
        }
    }

    fn sql(&self, table: &str) -> String {
        match self {
            On::Ids => "t.id = u.id".to_string(),
            On::IdsAnd(condition) => format!("t.id = u.id AND ({})", condition.sql(table)),
            On::Numbers => "t.a = u.a".to_string(),
            On::NumbersOrNull => "u.a <=> t.a".to_string(),
            On::Moved(by) => format!("t.id = u.id + {by}"),
            On::Above(by) => format!("t.id > u.id + {by}"),
        }
    }

    fn matches(&self, rows: Rows<'_>) -> bool {
        let (Some(t), Some(u)) = (rows.target, rows.source) else {
            return false;
        };
        match self {
            On::Ids => t.id == u.id,
            On::IdsAnd(condition) => t.id == u.id && condition.takes(rows),
            On::Numbers => t.a.is_some() && t.a == u.a,
            On::NumbersOrNull => t.a == u.a,
            On::Moved(by) => t.id == u.id + by,
            On::Above(by) => t.id > u.id + by,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MatchedKind {
    Matched,
    BySource,
}

fn clauses(random: &mut Random, sides: &[Side], kind: MatchedKind) -> Vec<Clause> {
    let may = May {
        sides,
        subqueries: Subqueries::Plain,
    };
    let count = 1 + random.below(3);
    let mut clauses = Vec::new();
    for i in 0..count {
        let is_last = i + 1 == count;
        let condition = (!is_last || random.one_in(2)).then(|| Condition::random(random, may, 1));
        let action = match random.below(6) {
            0 | 1 => Action::Delete,
            2 if kind == MatchedKind::Matched => Action::UpdateAll,
            _ => Action::Update(Assignments::random(random, may)),
        };
        clauses.push(Clause { condition, action });
    }
    clauses
}

impl Clause {
    fn sql(&self, kind: &str, table: &str) -> String {
        let action = match &self.action {
            Action::Delete => "DELETE".to_string(),
            Action::Update(set) => format!("UPDATE SET {}", set.sql(table)),
            Action::UpdateAll => "UPDATE SET *".to_string(),
        };
        when(kind, self.condition.as_ref(), table, &action)
    }

    fn takes(&self, rows: Rows<'_>) -> bool {
        self.condition.as_ref().is_none_or(|c| c.takes(rows))
    }

    fn of(&self, row: &Row, rows: Rows<'_>) -> Option<Row> {
        match &self.action {
            Action::Delete => None,
            Action::Update(set) => Some(set.of(row, rows)),
            Action::UpdateAll => rows.source.cloned(),
        }
    }
}

impl Insert {
    fn random(random: &mut Random, is_last: bool) -> Self {
        let may = May {
            sides: &BOTH[1..],
            subqueries: Subqueries::Plain,
        };
        Insert {
            condition: (!is_last || random.one_in(2)).then(|| Condition::random(random, may, 1)),
            values: random.one_in(3).then(|| {
                let id = Number::Coalesce(Box::new(Number::random(random, may, 1)), 5);
                (Number::random(random, may, 0), id)
            }),
        }
    }

    fn sql(&self, table: &str) -> String {
        let action = match &self.values {
            None => "INSERT *".to_string(),
            Some((a, id)) => format!("INSERT (a, id) VALUES ({}, {})", a.sql(table), id.sql(table)),
        };
        when("NOT MATCHED", self.condition.as_ref(), table, &action)
    }

    fn takes(&self, rows: Rows<'_>) -> bool {
        self.condition.as_ref().is_none_or(|c| c.takes(rows))
    }

    fn of(&self, new: &Row, rows: Rows<'_>) -> Row {
        match &self.values {
            None => new.clone(),
            Some((a, id)) => Row {
                id: id.of(rows).unwrap_or(5),
                a: a.of(rows),
                b: None,
                s: None,
                ts: None,
            },
        }
    }
}

fn when(kind: &str, condition: Option<&Condition>, table: &str, action: &str) -> String {
    let condition = condition.map_or(String::new(), |c| format!(" AND ({})", c.sql(table)));
    format!(" WHEN {kind}{condition} THEN {action}")
}
