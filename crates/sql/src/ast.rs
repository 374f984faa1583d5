//! Statements, as far as they are not queries: those stay sqlparser's [`Query`].

pub mod alter;
pub mod call;
mod row_change;
pub mod view;

use sqlparser::ast::{Expr, Query};
use tarn_format::spec::types::{PrimitiveType, Type};
use tarn_format::transform::Transform;

pub use self::row_change::{
    Assignment, Assignments, Delete, InsertedRow, MatchedAction, Merge, MergeClause, SchemaEvolution, Update,
};

/// A name of one or more parts, as written.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Name(pub Vec<String>);

impl std::fmt::Display for Name {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0.join("."))
    }
}

/// Properties in the order written.
pub type PropertyList = Vec<(String, String)>;

/// A statement.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs)]
pub enum Statement {
    /// SELECT, VALUES, WITH, TABLE
    Query(Box<Query>),
    /// EXPLAIN [ANALYZE | EXTENDED] statement
    Explain {
        mode: ExplainMode,
        statement: Box<Statement>,
    },
    /// INSERT INTO, INSERT OVERWRITE
    Insert(Box<Insert>),
    /// DELETE FROM
    Delete(Box<Delete>),
    /// UPDATE
    Update(Box<Update>),
    /// MERGE INTO
    Merge(Box<Merge>),
    /// TRUNCATE TABLE
    Truncate { table: Name },
    /// CREATE [OR REPLACE] TABLE, REPLACE TABLE
    CreateTable(Box<CreateTable>),
    /// DROP TABLE
    DropTable {
        name: Name,
        if_exists: IfExists,
        purge: Purge,
    },
    /// ALTER TABLE, COMMENT ON TABLE
    AlterTable { name: Name, change: alter::AlterTable },
    /// CALL
    Call(call::Call),
    /// CREATE VIEW
    CreateView(Box<view::CreateView>),
    /// ALTER VIEW
    AlterView { name: Name, change: view::AlterView },
    /// DROP VIEW
    DropView { name: Name, if_exists: IfExists },
    /// CREATE NAMESPACE, DATABASE or SCHEMA
    CreateNamespace {
        name: Name,
        if_not_exists: IfNotExists,
        properties: PropertyList,
    },
    /// DROP NAMESPACE
    DropNamespace {
        name: Name,
        if_exists: IfExists,
        cascade: Cascade,
    },
    /// ALTER NAMESPACE … SET PROPERTIES, COMMENT ON NAMESPACE
    SetNamespaceProperties { name: Name, properties: PropertyList },
    /// CREATE CATALOG
    CreateCatalog {
        name: String,
        if_not_exists: IfNotExists,
        properties: PropertyList,
    },
    /// DROP CATALOG
    DropCatalog { name: String, if_exists: IfExists },
    /// USE [CATALOG | NAMESPACE] name
    Use { what: Used, name: Name },
    /// SHOW …
    Show(Show),
    /// DESCRIBE …
    Describe(Describe),
    /// SET key = value; SET key; SET
    Set { key: Option<String>, value: Option<String> },
    /// RESET \[key]
    Reset { key: Option<String> },
}

/// What the name in USE is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Used {
    /// A catalog, or else a namespace of the current one.
    Any,
    /// A catalog.
    Catalog,
    /// A namespace of the current catalog.
    Namespace,
}

/// IF NOT EXISTS
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum IfNotExists {
    Given,
    Absent,
}

/// IF EXISTS
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum IfExists {
    Given,
    Absent,
}

/// PURGE
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Purge {
    Given,
    Absent,
}

/// CASCADE or RESTRICT
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Cascade {
    Cascade,
    Restrict,
}

/// What EXPLAIN shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExplainMode {
    /// The plan.
    Plan,
    /// The plan with all steps.
    Extended,
    /// The plan with what running it measured.
    Analyze,
}

/// What INSERT does with the rows that are there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InsertMode {
    /// They stay (INTO).
    Into,
    /// They are replaced (OVERWRITE).
    Overwrite,
}

/// INSERT INTO|OVERWRITE table [(columns) | BY NAME] query
#[derive(Debug, Clone, PartialEq)]
pub struct Insert {
    /// INTO or OVERWRITE
    pub mode: InsertMode,
    /// The table or branch.
    pub table: Name,
    /// Write options of a hint, `/*+ OPTIONS('distribution-mode'='none') */`.
    pub options: PropertyList,
    /// PARTITION (…)
    pub partition: Vec<PartitionValue>,
    /// Where values go.
    pub target: InsertTarget,
    /// Where they come from.
    pub source: Box<Query>,
}

/// A column in PARTITION (…).
#[derive(Debug, Clone, PartialEq)]
pub struct PartitionValue {
    /// The column.
    pub column: String,
    /// Its value in all rows; `None`: the query gives it.
    pub value: Option<Expr>,
}

/// Which columns the values of an INSERT are for.
#[derive(Debug, Clone, PartialEq)]
pub enum InsertTarget {
    /// The table's, in order.
    ByPosition,
    /// These, in order.
    Columns(Vec<String>),
    /// Those of the same names.
    ByName,
}

/// CREATE TABLE
#[derive(Debug, Clone, PartialEq)]
pub struct CreateTable {
    /// Its name.
    pub name: Name,
    /// What happens when it exists.
    pub mode: CreateMode,
    /// The columns; empty when a query gives them.
    pub columns: Vec<ColumnDef>,
    /// USING
    pub provider: Option<String>,
    /// PARTITIONED BY
    pub partitioning: Vec<PartitionTerm>,
    /// COMMENT
    pub comment: Option<String>,
    /// LOCATION
    pub location: Option<String>,
    /// TBLPROPERTIES and OPTIONS
    pub properties: PropertyList,
    /// AS
    pub query: Option<Box<Query>>,
}

/// What CREATE TABLE does with a table of the same name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CreateMode {
    /// Fails.
    Create,
    /// Leaves it (IF NOT EXISTS).
    CreateIfNotExists,
    /// Replaces it (OR REPLACE).
    CreateOrReplace,
    /// Replaces it, and fails when there is none (REPLACE TABLE).
    Replace,
}

/// A column definition, or a field of a struct.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnDef {
    /// Its name.
    pub name: String,
    /// Its type.
    pub data_type: DataType,
    /// NOT NULL
    pub nullability: tarn_format::spec::types::Nullability,
    /// COMMENT
    pub comment: Option<String>,
    /// DEFAULT
    pub default: Option<Expr>,
}

/// A type as written.
#[derive(Debug, Clone, PartialEq)]
pub enum DataType {
    /// A primitive.
    Primitive(PrimitiveType),
    /// `variant`
    Variant,
    /// `struct<…>`
    Struct(Vec<ColumnDef>),
    /// `array<…>`
    Array(Box<DataType>),
    /// `map<…, …>`
    Map(Box<DataType>, Box<DataType>),
}

/// A transform of a column in PARTITIONED BY.
#[derive(Debug, Clone, PartialEq)]
pub struct PartitionTerm {
    /// The transform.
    pub transform: Transform,
    /// The column's name parts.
    pub column: Name,
    /// The column's type, where the clause declares it (`PARTITIONED BY (c int)`).
    pub declared: Option<ColumnDef>,
}

/// SHOW
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs)]
pub enum Show {
    Catalogs {
        pattern: Option<String>,
    },
    Namespaces {
        parent: Option<Name>,
        pattern: Option<String>,
    },
    Tables {
        namespace: Option<Name>,
        pattern: Option<String>,
    },
    Views {
        namespace: Option<Name>,
        pattern: Option<String>,
    },
    Columns {
        table: Name,
    },
    TableProperties {
        table: Name,
        key: Option<String>,
    },
    CreateTable {
        table: Name,
    },
    Snapshots {
        table: Name,
    },
    CurrentNamespace,
    Functions {
        namespace: Option<Name>,
        pattern: Option<String>,
    },
    Procedures {
        scope: Option<Name>,
        pattern: Option<String>,
    },
}

/// DESCRIBE
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs)]
pub enum Describe {
    Table {
        name: Name,
        extended: Extended,
        column: Option<Name>,
    },
    Namespace {
        name: Name,
        extended: Extended,
    },
    History {
        table: Name,
    },
    Procedure {
        name: Name,
    },
    Query(Box<Query>),
}

/// EXTENDED
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Extended {
    Given,
    Absent,
}

impl DataType {
    /// The Iceberg type, with ids from `next_id` upwards.
    pub fn to_iceberg(&self, next_id: &mut i32) -> Type {
        use tarn_format::spec::types::{ListType, MapType, StructType};
        match self {
            DataType::Primitive(p) => Type::Primitive(p.clone()),
            DataType::Variant => Type::Variant,
            DataType::Struct(fields) => Type::Struct(StructType {
                fields: fields
                    .iter()
                    .map(|f| std::sync::Arc::new(f.to_iceberg(next_id)))
                    .collect(),
            }),
            DataType::Array(element) => Type::List(ListType {
                element: nested(
                    "element",
                    element,
                    next_id,
                    tarn_format::spec::types::Nullability::Optional,
                ),
            }),
            DataType::Map(key, value) => Type::Map(MapType {
                key: nested("key", key, next_id, tarn_format::spec::types::Nullability::Required),
                value: nested("value", value, next_id, tarn_format::spec::types::Nullability::Optional),
            }),
        }
    }
}

fn nested(
    name: &str,
    data_type: &DataType,
    next_id: &mut i32,
    nullability: tarn_format::spec::types::Nullability,
) -> std::sync::Arc<tarn_format::spec::types::NestedField> {
    *next_id += 1;
    let id = *next_id;
    let field_type = data_type.to_iceberg(next_id);
    std::sync::Arc::new(tarn_format::spec::types::NestedField::new(
        id,
        name,
        field_type,
        nullability,
    ))
}

impl ColumnDef {
    /// The Iceberg field, with ids from `next_id` upwards.
    pub fn to_iceberg(&self, next_id: &mut i32) -> tarn_format::spec::types::NestedField {
        *next_id += 1;
        let id = *next_id;
        let field_type = self.data_type.to_iceberg(next_id);
        let mut field =
            tarn_format::spec::types::NestedField::new(id, self.name.as_str(), field_type, self.nullability);
        field.doc = self.comment.clone();
        field
    }
}
