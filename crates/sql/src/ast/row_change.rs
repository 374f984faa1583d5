//! Statements that change rows.

use sqlparser::ast::{Expr, TableFactor, With};

use super::Name;

/// DELETE FROM table [AS alias] [WHERE condition]
#[derive(Debug, Clone, PartialEq)]
pub struct Delete {
    /// WITH
    pub with: Option<With>,
    /// The table or branch.
    pub table: Name,
    /// AS
    pub alias: Option<String>,
    /// WHERE
    pub condition: Option<Expr>,
}

/// UPDATE table [AS alias] SET … [WHERE condition]
#[derive(Debug, Clone, PartialEq)]
pub struct Update {
    /// WITH
    pub with: Option<With>,
    /// The table or branch.
    pub table: Name,
    /// AS
    pub alias: Option<String>,
    /// SET
    pub assignments: Vec<Assignment>,
    /// WHERE
    pub condition: Option<Expr>,
}

/// `column = value`
#[derive(Debug, Clone, PartialEq)]
pub struct Assignment {
    /// The column or field of a struct, perhaps qualified.
    pub column: Name,
    /// Its new value.
    pub value: Expr,
}

/// Whether a statement adds columns to its table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SchemaEvolution {
    /// It does not.
    None,
    /// WITH SCHEMA EVOLUTION: `UPDATE SET *` and `INSERT *` add those that only the source has.
    ByStars,
}

/// MERGE [WITH SCHEMA EVOLUTION] INTO table [AS alias] USING source ON condition WHEN …
#[derive(Debug, Clone, PartialEq)]
pub struct Merge {
    /// WITH
    pub with: Option<With>,
    /// The table or branch.
    pub table: Name,
    /// AS
    pub alias: Option<String>,
    /// WITH SCHEMA EVOLUTION
    pub evolution: SchemaEvolution,
    /// USING
    pub source: TableFactor,
    /// ON
    pub on: Expr,
    /// WHEN …, in order.
    pub clauses: Vec<MergeClause>,
}

/// A clause of MERGE, with what its AND says.
#[derive(Debug, Clone, PartialEq)]
pub enum MergeClause {
    /// WHEN MATCHED
    Matched {
        /// AND
        condition: Option<Expr>,
        /// THEN
        action: MatchedAction,
    },
    /// WHEN NOT MATCHED [BY TARGET]
    NotMatched {
        /// AND
        condition: Option<Expr>,
        /// THEN INSERT
        row: InsertedRow,
    },
    /// WHEN NOT MATCHED BY SOURCE
    NotMatchedBySource {
        /// AND
        condition: Option<Expr>,
        /// THEN
        action: MatchedAction,
    },
}

/// What becomes of a row of the target.
#[derive(Debug, Clone, PartialEq)]
pub enum MatchedAction {
    /// DELETE
    Delete,
    /// UPDATE SET
    Update(Assignments),
}

/// What UPDATE SET of MERGE sets.
#[derive(Debug, Clone, PartialEq)]
pub enum Assignments {
    /// `*`: every column, to the source's of its name.
    Star,
    /// These.
    Listed(Vec<Assignment>),
}

/// What INSERT of MERGE inserts.
#[derive(Debug, Clone, PartialEq)]
pub enum InsertedRow {
    /// `*`: every column, from the source's of its name.
    Star,
    /// `(column, …) VALUES (value, …)`
    Listed {
        /// The columns.
        columns: Vec<Name>,
        /// Their values.
        values: Vec<Expr>,
    },
}
