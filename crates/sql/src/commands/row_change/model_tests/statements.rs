//! Statements, as SQL and as what they do to rows.

use super::assignments::Assignments;
use super::expressions::{Condition, May, Rows, Side, Subqueries};
use super::merges::Merge;
use super::random::Random;
use super::rows::Row;

/// The target's row with any subquery.
const TARGET: May<'_> = May {
    sides: &[Side::Target],
    subqueries: Subqueries::Correlated,
};

#[derive(Debug, Clone)]
pub(super) enum Statement {
    Insert(Vec<Row>),
    /// Rows of the table once more.
    InsertOwn(Condition),
    Overwrite(Vec<Row>),
    Delete(Condition),
    Truncate,
    Update(Assignments, Option<Condition>),
    Merge(Box<Merge>),
}

impl Statement {
    pub(super) fn random(random: &mut Random, rows: &[Row]) -> Self {
        let new = |random: &mut Random, count: usize| (0..count).map(|_| Row::random(random)).collect();
        if rows.len() < 4 {
            let count = 6 + random.below(6);
            return Statement::Insert(new(random, count));
        }
        // Statements that add the table to itself stay few.
        match random.below(if rows.len() > 30 { 14 } else { 17 }) {
            0..=3 => Statement::Delete(Condition::random(random, TARGET, 0)),
            4..=7 => {
                let condition = (!random.one_in(8)).then(|| Condition::random(random, TARGET, 0));
                Statement::Update(Assignments::random(random, TARGET), condition)
            }
            8..=13 => Statement::Merge(Box::new(Merge::random(random))),
            14 => match random.below(8) {
                0 => Statement::Truncate,
                1 => Statement::Overwrite(new(random, 8)),
                _ => Statement::InsertOwn(Condition::random(random, TARGET, 1)),
            },
            _ => {
                let count = 1 + random.below(6);
                Statement::Insert(new(random, count))
            }
        }
    }

    pub(super) fn sql(&self, table: &str) -> String {
        let values = |rows: &[Row]| rows.iter().map(Row::sql).collect::<Vec<_>>().join(", ");
        match self {
            Statement::Insert(rows) => format!("INSERT INTO {table} VALUES {}", values(rows)),
            Statement::InsertOwn(condition) => {
                format!(
                    "INSERT INTO {table} SELECT t.* FROM {table} AS t WHERE {}",
                    condition.sql(table)
                )
            }
            Statement::Overwrite(rows) => format!("INSERT OVERWRITE {table} VALUES {}", values(rows)),
            Statement::Delete(condition) => format!("DELETE FROM {table} AS t WHERE {}", condition.sql(table)),
            Statement::Truncate => format!("TRUNCATE TABLE {table}"),
            Statement::Update(set, condition) => {
                let condition = condition.as_ref();
                let condition = condition.map_or(String::new(), |c| format!(" WHERE {}", c.sql(table)));
                format!("UPDATE {table} AS t SET {}{condition}", set.sql(table))
            }
            Statement::Merge(merge) => merge.sql(table),
        }
    }

    /// The rows afterwards; `None` where the statement is refused.
    pub(super) fn apply(&self, table: &[Row]) -> Option<Vec<Row>> {
        let of = |row| Rows {
            target: Some(row),
            source: None,
            table,
        };
        let taken = |condition: &Condition| table.iter().filter(|row| condition.takes(of(*row))).cloned().collect();
        Some(match self {
            Statement::Insert(new) => [table, new].concat(),
            Statement::InsertOwn(condition) => [table.to_vec(), taken(condition)].concat(),
            Statement::Overwrite(rows) => rows.clone(),
            Statement::Delete(condition) => table.iter().filter(|row| !condition.takes(of(*row))).cloned().collect(),
            Statement::Truncate => Vec::new(),
            Statement::Update(set, condition) => {
                let takes = |row| condition.as_ref().is_none_or(|c| c.takes(of(row)));
                let update = |row| match takes(row) {
                    true => set.of(row, of(row)),
                    false => row.clone(),
                };
                table.iter().map(update).collect()
            }
            Statement::Merge(merge) => return merge.apply(table),
        })
    }
}

/// Rows that a query with a condition gives.
pub(super) struct Query(Condition);

impl Query {
    pub(super) fn random(random: &mut Random) -> Self {
        Query(Condition::random(random, TARGET, 0))
    }

    pub(super) fn sql(&self, table: &str) -> String {
        format!("SELECT * FROM {table} AS t WHERE {}", self.0.sql(table))
    }

    pub(super) fn of(&self, table: &[Row]) -> Vec<Row> {
        let of = |row| Rows {
            target: Some(row),
            source: None,
            table,
        };
        table.iter().filter(|row| self.0.takes(of(*row))).cloned().collect()
    }
}
