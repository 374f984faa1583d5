//! Merging a DataFrame into a table, in the words of Spark's `mergeInto`.

use tarn_format::{Error, Result};

use crate::ast::Statement;
use crate::commands::{MergeRows, WriteKind, merge_rows, write_options};
use crate::output::{Output, WriteReport};
use crate::writer::Writer;

/// The rows in the statement's text.
const ROWS: &str = "rows of the merged dataframe";

/// A MERGE of a DataFrame into a table; [`Writer::merge_into`] makes it.
///
/// Conditions and values are SQL. They name the DataFrame's columns after `source` (or what [`Self::source_alias`] says) and
/// the table's after the table's name. Clauses are tried in the order in which they are given.
#[derive(Debug, Clone)]
#[must_use]
pub struct MergeWriter {
    writer: Writer,
    table: String,
    on: String,
    alias: String,
    evolution: &'static str,
    clauses: Vec<String>,
}

impl MergeWriter {
    pub(crate) fn new(writer: Writer, table: String, on: String) -> Self {
        MergeWriter {
            writer,
            table,
            on,
            alias: "source".to_string(),
            evolution: "",
            clauses: Vec::new(),
        }
    }

    /// What conditions and values call the DataFrame.
    pub fn source_alias(mut self, alias: impl Into<String>) -> Self {
        self.alias = alias.into();
        self
    }

    /// Lets `update_all` and `insert_all` add columns to the table that only the DataFrame has.
    pub fn with_schema_evolution(mut self) -> Self {
        self.evolution = "WITH SCHEMA EVOLUTION ";
        self
    }

    /// Rows of the table that a row of the DataFrame matches.
    pub fn when_matched(self) -> WhenMatched {
        self.of_target("MATCHED", None)
    }

    /// As [`Self::when_matched`], where a condition is true as well.
    pub fn when_matched_and(self, condition: impl Into<String>) -> WhenMatched {
        self.of_target("MATCHED", Some(condition.into()))
    }

    /// Rows of the table that no row of the DataFrame matches.
    pub fn when_not_matched_by_source(self) -> WhenMatched {
        self.of_target("NOT MATCHED BY SOURCE", None)
    }

    /// As [`Self::when_not_matched_by_source`], where a condition is true as well.
    pub fn when_not_matched_by_source_and(self, condition: impl Into<String>) -> WhenMatched {
        self.of_target("NOT MATCHED BY SOURCE", Some(condition.into()))
    }

    /// Rows of the DataFrame that match no row of the table.
    pub fn when_not_matched(self) -> WhenNotMatched {
        WhenNotMatched {
            when: when("NOT MATCHED", None),
            merge: self,
        }
    }

    /// As [`Self::when_not_matched`], where a condition is true as well.
    pub fn when_not_matched_and(self, condition: impl Into<String>) -> WhenNotMatched {
        WhenNotMatched {
            when: when("NOT MATCHED", Some(condition.into())),
            merge: self,
        }
    }

    fn of_target(self, kind: &str, condition: Option<String>) -> WhenMatched {
        WhenMatched {
            when: when(kind, condition),
            merge: self,
        }
    }

    fn then(mut self, when: &str, action: &str) -> Self {
        self.clauses.push(format!("{when} THEN {action}"));
        self
    }

    /// Merges, in one commit.
    ///
    /// # Errors
    /// As those of the statement MERGE: `InvalidInput` for text that is no SQL, names that are unknown, values that do not
    /// fit and rows that several rows match; `Validation` and `Conflict` when others changed what this reads.
    pub async fn merge(self) -> Result<WriteReport> {
        let Writer {
            session, rows, options, ..
        } = self.writer;
        let options = write_options(&options, WriteKind::Merges)?;
        let (evolution, table, alias, on) = (self.evolution, &self.table, &self.alias, &self.on);
        let clauses = self.clauses.join(" ");
        let text = format!("MERGE {evolution}INTO {table} USING `{ROWS}` AS {alias} ON ({on}) {clauses}");
        let statements = session.parse(&text)?;
        let [Statement::Merge(merge)] = statements.as_slice() else {
            return Err(Error::invalid(format!("this is not one merge: {text}")));
        };
        let source = MergeRows {
            name: ROWS,
            rows,
            options,
        };
        match Box::pin(merge_rows(&session, merge, source)).await? {
            Output::Written(report) => Ok(report),
            _ => Err(Error::corrupt("the merge did not say what it wrote")),
        }
    }
}

fn when(kind: &str, condition: Option<String>) -> String {
    match condition {
        None => format!("WHEN {kind}"),
        Some(condition) => format!("WHEN {kind} AND ({condition})"),
    }
}

/// What becomes of rows of the table.
#[derive(Debug, Clone)]
#[must_use]
pub struct WhenMatched {
    merge: MergeWriter,
    when: String,
}

impl WhenMatched {
    /// `UPDATE SET *`: every column gets the value of the DataFrame's of its name.
    pub fn update_all(self) -> MergeWriter {
        self.merge.then(&self.when, "UPDATE SET *")
    }

    /// `UPDATE SET column = value, …`
    pub fn update<C: AsRef<str>, V: AsRef<str>>(self, set: impl IntoIterator<Item = (C, V)>) -> MergeWriter {
        let set = set
            .into_iter()
            .map(|(column, value)| format!("{} = {}", column.as_ref(), value.as_ref()));
        let set: Vec<String> = set.collect();
        self.merge.then(&self.when, &format!("UPDATE SET {}", set.join(", ")))
    }

    /// `DELETE`
    pub fn delete(self) -> MergeWriter {
        self.merge.then(&self.when, "DELETE")
    }
}

/// What becomes of rows of the DataFrame.
#[derive(Debug, Clone)]
#[must_use]
pub struct WhenNotMatched {
    merge: MergeWriter,
    when: String,
}

impl WhenNotMatched {
    /// `INSERT *`: every column gets the value of the DataFrame's of its name.
    pub fn insert_all(self) -> MergeWriter {
        self.merge.then(&self.when, "INSERT *")
    }

    /// `INSERT (column, …) VALUES (value, …)`
    pub fn insert<C: AsRef<str>, V: AsRef<str>>(self, row: impl IntoIterator<Item = (C, V)>) -> MergeWriter {
        let (columns, values): (Vec<String>, Vec<String>) = row
            .into_iter()
            .map(|(column, value)| (column.as_ref().to_string(), value.as_ref().to_string()))
            .unzip();
        let insert = format!("INSERT ({}) VALUES ({})", columns.join(", "), values.join(", "));
        self.merge.then(&self.when, &insert)
    }
}
