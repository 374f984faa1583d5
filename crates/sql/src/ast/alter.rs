//! What ALTER TABLE asks for.

use sqlparser::ast::Expr;
use tarn_format::spec::snapshot::{RefKind, SnapshotRetention};
use tarn_format::spec::sort::{NullOrder, SortDirection};

use super::{ColumnDef, DataType, IfExists, IfNotExists, Name, PartitionTerm, PropertyList};

/// A change of a table.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs)]
pub enum AlterTable {
    /// RENAME TO
    RenameTo(Name),
    /// SET TBLPROPERTIES, COMMENT ON TABLE
    SetProperties(PropertyList),
    /// UNSET TBLPROPERTIES
    UnsetProperties(Vec<String>),
    /// SET LOCATION
    SetLocation(String),
    /// ADD COLUMNS
    AddColumns(Vec<AddedColumn>),
    /// DROP COLUMNS
    DropColumns { columns: Vec<Name>, if_exists: IfExists },
    /// RENAME COLUMN
    RenameColumn { column: Name, new_name: String },
    /// ALTER COLUMN
    AlterColumn { column: Name, changes: Vec<ColumnChange> },
    /// REPLACE COLUMNS
    ReplaceColumns(Vec<ColumnDef>),
    /// ADD PARTITION FIELD
    AddPartitionField {
        term: Box<PartitionTerm>,
        name: Option<String>,
    },
    /// DROP PARTITION FIELD
    DropPartitionField(Box<PartitionTerm>),
    /// REPLACE PARTITION FIELD
    ReplacePartitionField {
        old: Box<PartitionTerm>,
        new: Box<PartitionTerm>,
        name: Option<String>,
    },
    /// WRITE
    Write(WriteOrder),
    /// SET IDENTIFIER FIELDS
    SetIdentifierFields(Vec<Name>),
    /// DROP IDENTIFIER FIELDS
    DropIdentifierFields(Vec<Name>),
    /// CREATE BRANCH, CREATE TAG, REPLACE BRANCH, REPLACE TAG
    PutRef(PutRef),
    /// DROP BRANCH, DROP TAG
    DropRef {
        kind: RefKind,
        name: String,
        if_exists: IfExists,
    },
}

/// A column of ADD COLUMNS.
#[derive(Debug, Clone, PartialEq)]
pub struct AddedColumn {
    /// The struct that it goes into; `None`: the table.
    pub parent: Option<Name>,
    /// The column.
    pub column: ColumnDef,
    /// FIRST, AFTER
    pub position: Option<Position>,
}

/// A place among the columns of a table or the fields of a struct.
#[derive(Debug, Clone, PartialEq)]
pub enum Position {
    /// Before all others.
    First,
    /// After this one.
    After(String),
}

/// A clause of ALTER COLUMN.
#[derive(Debug, Clone, PartialEq)]
pub enum ColumnChange {
    /// TYPE
    Type(DataType),
    /// COMMENT
    Comment(String),
    /// FIRST, AFTER
    Position(Position),
    /// SET NOT NULL
    SetNotNull,
    /// DROP NOT NULL
    DropNotNull,
    /// SET DEFAULT
    SetDefault(Box<Expr>),
    /// DROP DEFAULT
    DropDefault,
}

/// WRITE …: how writers distribute and order rows.
#[derive(Debug, Clone, PartialEq)]
pub struct WriteOrder {
    /// `write.distribution-mode`; `None`: it stays.
    pub distribution: Option<&'static str>,
    /// The order; empty: none.
    pub fields: Vec<OrderField>,
}

/// A field of a write order.
#[derive(Debug, Clone, PartialEq)]
pub struct OrderField {
    /// A column, or a transform of one.
    pub term: PartitionTerm,
    /// ASC, DESC
    pub direction: SortDirection,
    /// NULLS FIRST, NULLS LAST
    pub null_order: NullOrder,
}

/// CREATE or REPLACE of a branch or tag.
#[derive(Debug, Clone, PartialEq)]
pub struct PutRef {
    /// Which of the two.
    pub kind: RefKind,
    /// Its name.
    pub name: String,
    /// What happens when it is there, or is not.
    pub mode: PutRefMode,
    /// AS OF VERSION; `None`: the current snapshot.
    pub snapshot_id: Option<i64>,
    /// RETAIN, WITH SNAPSHOT RETENTION
    pub retention: SnapshotRetention,
}

/// How a branch or tag is put.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PutRefMode {
    /// CREATE: it must not be there, unless IF NOT EXISTS is given.
    Create(IfNotExists),
    /// CREATE OR REPLACE
    CreateOrReplace,
    /// REPLACE: it must be there.
    Replace,
}
