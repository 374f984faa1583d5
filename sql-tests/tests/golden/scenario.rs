//! One golden file: its records and the combinations in which it runs.

use sqllogictest::parser::{self, Condition};
use sqllogictest::{DefaultColumnType, Record};

use super::matrix::{Combination, Matrix};

/// A file that follows the format.
#[derive(Debug)]
pub struct Scenario {
    matrix: Matrix,
    /// The conditions of each record that would reach an engine.
    records: Vec<Vec<Condition>>,
}

impl Scenario {
    /// Reads a file.
    ///
    /// # Errors
    /// One line with name and line number where the format is broken or a record is not one of the kinds agreed on
    /// (`statement`, `query`, `let`).
    pub fn parse(name: &str, text: &str) -> Result<Self, String> {
        let parsed = parser::parse_with_name::<DefaultColumnType>(text, name).map_err(|e| e.to_string())?;
        let mut records = Vec::new();
        for record in parsed {
            match record {
                Record::Statement { conditions, .. }
                | Record::Query { conditions, .. }
                | Record::Let { conditions, .. } => {
                    records.push(conditions);
                }
                Record::Comment(_) | Record::Newline | Record::Condition(_) | Record::Connection(_) => {}
                other => {
                    return Err(format!(
                        "{name}: a record of a kind that golden files don't use: {other}"
                    ));
                }
            }
        }
        if records.is_empty() {
            return Err(format!("{name}: holds no record"));
        }
        let matrix = Matrix::parse(text).map_err(|e| format!("{name}: {e}"))?;
        Ok(Scenario { matrix, records })
    }

    /// The ways to run it.
    pub fn combinations(&self) -> Vec<Combination> {
        self.matrix.combinations()
    }

    /// How many records run in one combination.
    pub fn records_of(&self, combination: &Combination) -> usize {
        let runs = |conditions: &&Vec<Condition>| {
            conditions.iter().all(|condition| match condition {
                Condition::OnlyIf { label } => combination.has(label),
                Condition::SkipIf { label } => !combination.has(label),
            })
        };
        self.records.iter().filter(runs).count()
    }
}
