//! What procedures declare of their arguments and output.

use std::fmt;

use datafusion::arrow::datatypes::DataType;
use tarn_format::spec::types::Nullability;

/// A parameter.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Parameter {
    /// Its name.
    pub(crate) name: &'static str,
    /// Its type.
    pub(crate) parameter_type: ParameterType,
    /// Whether it may be left out.
    pub(crate) presence: Presence,
    /// What it is for.
    pub(crate) description: &'static str,
}

/// Whether an argument may be left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Presence {
    /// It may not.
    Required,
    /// It may.
    Optional,
}

/// The type of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(dead_code)] // Some are for procedures that are still to come.
pub(crate) enum ParameterType {
    /// `string`
    String,
    /// `boolean`
    Boolean,
    /// `int`
    Int,
    /// `bigint`
    Long,
    /// `timestamp`
    Timestamp,
    /// `array<bigint>`
    Longs,
    /// `array<string>`
    Strings,
    /// `map<string,string>`
    Map,
}

impl fmt::Display for ParameterType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ParameterType::String => "string",
            ParameterType::Boolean => "boolean",
            ParameterType::Int => "int",
            ParameterType::Long => "bigint",
            ParameterType::Timestamp => "timestamp",
            ParameterType::Longs => "array<bigint>",
            ParameterType::Strings => "array<string>",
            ParameterType::Map => "map<string,string>",
        })
    }
}

impl Parameter {
    /// One that must be given.
    pub(crate) const fn required(name: &'static str, parameter_type: ParameterType, description: &'static str) -> Self {
        Parameter {
            name,
            parameter_type,
            presence: Presence::Required,
            description,
        }
    }

    /// One that may be left out.
    pub(crate) const fn optional(name: &'static str, parameter_type: ParameterType, description: &'static str) -> Self {
        Parameter {
            name,
            parameter_type,
            presence: Presence::Optional,
            description,
        }
    }
}

/// The type of a column of output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ColumnType {
    /// `bigint`
    Long,
    /// `string`
    Text,
}

impl ColumnType {
    /// The type as DataFusion has it.
    pub(crate) fn arrow(self) -> DataType {
        match self {
            ColumnType::Long => DataType::Int64,
            ColumnType::Text => DataType::Utf8,
        }
    }
}

/// A column of a procedure's output.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct OutputColumn {
    /// Its name.
    pub(crate) name: &'static str,
    /// Its type.
    pub(crate) column_type: ColumnType,
    /// Whether it may be NULL.
    pub(crate) nullability: Nullability,
    /// What it holds.
    pub(crate) description: &'static str,
}

impl OutputColumn {
    /// A whole number that is always there.
    pub(crate) const fn long(name: &'static str, description: &'static str) -> Self {
        OutputColumn {
            name,
            column_type: ColumnType::Long,
            nullability: Nullability::Required,
            description,
        }
    }

    /// A text that is always there.
    pub(crate) const fn text(name: &'static str, description: &'static str) -> Self {
        OutputColumn {
            name,
            column_type: ColumnType::Text,
            nullability: Nullability::Required,
            description,
        }
    }

    /// A whole number, or NULL.
    pub(crate) const fn long_or_null(name: &'static str, description: &'static str) -> Self {
        OutputColumn {
            name,
            column_type: ColumnType::Long,
            nullability: Nullability::Optional,
            description,
        }
    }
}
