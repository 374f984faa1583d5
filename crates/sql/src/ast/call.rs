//! CALL.

use sqlparser::ast::Expr;

use super::Name;

/// `CALL catalog.system.procedure(arguments)`
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// The procedure.
    pub procedure: Name,
    /// What it is given.
    pub arguments: Vec<CallArgument>,
}

/// An argument.
#[derive(Debug, Clone, PartialEq)]
pub struct CallArgument {
    /// The parameter's name; `None`: its place tells.
    pub name: Option<String>,
    /// The value, an expression over no columns.
    pub value: Expr,
}
