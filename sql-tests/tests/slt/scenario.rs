//! One file: its records and the combinations in which it runs.

use sqllogictest::parser::{self, Condition, ExpectedError, QueryExpect, SortMode, StatementExpect};
use sqllogictest::{DefaultColumnType, Record as Parsed};

use super::matrix::{Combination, Defaults, Matrix};

/// A file that follows the format.
#[derive(Debug)]
pub struct Scenario {
    sets_version: bool,
    matrix: Matrix,
    records: Vec<Record>,
}

/// One statement or query and what it must do.
#[derive(Debug)]
pub struct Record {
    /// The line of its directive in the file.
    pub line: u32,
    /// The SQL, names not yet substituted.
    pub sql: String,
    /// What must come out.
    pub expected: Expected,
    conditions: Vec<Condition>,
}

/// What a record expects.
#[derive(Debug)]
pub enum Expected {
    /// Success, whatever it returns.
    Success,
    /// A refusal whose text matches, where the file says how.
    Refusal(ExpectedError),
    /// These rows, in this order.
    Rows(Vec<String>),
    /// These rows, in any order.
    Unordered(Vec<String>),
    /// One row, whose values get these names.
    Names(Vec<String>),
}

impl Scenario {
    /// Reads a file.
    ///
    /// # Errors
    /// One line with name and line number where the format is broken or a record is not one of the kinds agreed on
    /// (`statement`, `query`, `let`).
    pub fn parse(name: &str, text: &str, defaults: &Defaults) -> Result<Self, String> {
        let parsed = parser::parse_with_name::<DefaultColumnType>(text, name).map_err(|e| e.to_string())?;
        let mut records = Vec::new();
        for record in parsed {
            match record {
                Parsed::Comment(_) | Parsed::Newline | Parsed::Condition(_) | Parsed::Connection(_) => {}
                other => records.push(Record::of(name, other)?),
            }
        }
        if records.is_empty() {
            return Err(format!("{name}: holds no record"));
        }
        let matrix = Matrix::parse(text, defaults).map_err(|e| format!("{name}: {e}"))?;
        Ok(Scenario {
            sets_version: defaults.sets_version(),
            matrix,
            records,
        })
    }

    /// Whether new tables have the combination's format version without saying so.
    pub fn sets_version(&self) -> bool {
        self.sets_version
    }

    /// The ways to run it.
    pub fn combinations(&self) -> Vec<Combination> {
        self.matrix.combinations()
    }

    /// The records that run in a combination, in the file's order.
    pub fn records_of(&self, combination: &Combination) -> impl Iterator<Item = &Record> {
        self.records.iter().filter(move |record| record.runs_in(combination))
    }
}

impl Record {
    fn of(name: &str, parsed: Parsed<DefaultColumnType>) -> Result<Self, String> {
        let unknown = |record: &str| {
            Err(format!(
                "{name}: a record of a kind that these files don't use: {record}"
            ))
        };
        let shown = parsed.to_string();
        let (loc, sql, conditions, expected) = match parsed {
            Parsed::Statement {
                loc,
                sql,
                conditions,
                expected,
                ..
            } => {
                let expected = match expected {
                    StatementExpect::Ok => Expected::Success,
                    StatementExpect::Error(text) => Expected::Refusal(text),
                    StatementExpect::Count(_) => return unknown(&shown),
                };
                (loc, sql, conditions, expected)
            }
            Parsed::Query {
                loc,
                sql,
                conditions,
                expected,
                ..
            } => {
                let expected = match expected {
                    QueryExpect::Results {
                        sort_mode: Some(SortMode::RowSort),
                        results,
                        ..
                    } => Expected::Unordered(results),
                    QueryExpect::Results {
                        sort_mode: None | Some(SortMode::NoSort),
                        results,
                        ..
                    } => Expected::Rows(results),
                    _ => return unknown(&shown),
                };
                (loc, sql, conditions, expected)
            }
            Parsed::Let {
                loc,
                sql,
                conditions,
                variables,
                ..
            } => (loc, sql, conditions, Expected::Names(variables)),
            _ => return unknown(&shown),
        };
        Ok(Record {
            line: loc.line(),
            sql,
            expected,
            conditions,
        })
    }

    fn runs_in(&self, combination: &Combination) -> bool {
        self.conditions.iter().all(|condition| match condition {
            Condition::OnlyIf { label } => combination.has(label),
            Condition::SkipIf { label } => !combination.has(label),
        })
    }
}
