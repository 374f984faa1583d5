//! What is asked of a schema update: columns to add, places to move them to.

use crate::spec::types::{Nullability, Type};
use crate::spec::value::Value;

/// Whether changes that break readers of older rows are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IncompatibleChanges {
    /// Refused: the default.
    Refuse,
    /// Made: a required column without default, an optional column made required.
    Allow,
}

/// Where a column goes among its siblings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ColumnPosition {
    /// Before all others.
    First,
    /// Before this one.
    Before(String),
    /// After this one.
    After(String),
}

/// A column to add.
#[derive(Debug, Clone)]
pub struct NewColumn {
    /// Full name of the struct (or list of structs, or map to structs) it goes into; `None` is the table itself.
    pub parent: Option<String>,
    /// Its own name; dots are part of it.
    pub name: String,
    /// Its type; ids in it don't matter.
    pub column_type: Type,
    /// Whether it refuses null. A required column needs a default.
    pub nullability: Nullability,
    /// Comment.
    pub doc: Option<String>,
    /// Its value in older rows, and for writers that give none (v3).
    pub default: Option<Value>,
}

impl NewColumn {
    /// A column that allows null.
    pub fn optional(name: impl Into<String>, column_type: impl Into<Type>) -> Self {
        NewColumn {
            parent: None,
            name: name.into(),
            column_type: column_type.into(),
            nullability: Nullability::Optional,
            doc: None,
            default: None,
        }
    }

    /// A column that refuses null; it needs a default.
    pub fn required(name: impl Into<String>, column_type: impl Into<Type>) -> Self {
        NewColumn {
            nullability: Nullability::Required,
            ..Self::optional(name, column_type)
        }
    }

    /// Puts it into a struct.
    #[must_use]
    pub fn inside(mut self, parent: impl Into<String>) -> Self {
        self.parent = Some(parent.into());
        self
    }

    /// Gives it a comment.
    #[must_use]
    pub fn with_doc(mut self, doc: impl Into<String>) -> Self {
        self.doc = Some(doc.into());
        self
    }

    /// Gives it a default.
    #[must_use]
    pub fn with_default(mut self, default: Value) -> Self {
        self.default = Some(default);
        self
    }
}
