//! Predicates by column name, before a schema is known.

use std::fmt;

use super::literal::Literal;
use crate::transform::Transform;

/// An operator without operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum UnaryOp {
    IsNull,
    NotNull,
    IsNan,
    NotNan,
}

/// An operator with one literal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum CompareOp {
    Lt,
    LtEq,
    Gt,
    GtEq,
    Eq,
    NotEq,
    StartsWith,
    NotStartsWith,
}

/// An operator with a set of literals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum SetOp {
    In,
    NotIn,
}

impl UnaryOp {
    /// The operator that is true where this one is false.
    #[must_use]
    pub fn negate(self) -> Self {
        match self {
            UnaryOp::IsNull => UnaryOp::NotNull,
            UnaryOp::NotNull => UnaryOp::IsNull,
            UnaryOp::IsNan => UnaryOp::NotNan,
            UnaryOp::NotNan => UnaryOp::IsNan,
        }
    }
}

impl CompareOp {
    /// The operator that is true where this one is false; both are unknown for null.
    #[must_use]
    pub fn negate(self) -> Self {
        match self {
            CompareOp::Lt => CompareOp::GtEq,
            CompareOp::LtEq => CompareOp::Gt,
            CompareOp::Gt => CompareOp::LtEq,
            CompareOp::GtEq => CompareOp::Lt,
            CompareOp::Eq => CompareOp::NotEq,
            CompareOp::NotEq => CompareOp::Eq,
            CompareOp::StartsWith => CompareOp::NotStartsWith,
            CompareOp::NotStartsWith => CompareOp::StartsWith,
        }
    }
}

impl SetOp {
    /// The operator that is true where this one is false; both are unknown for null.
    #[must_use]
    pub fn negate(self) -> Self {
        match self {
            SetOp::In => SetOp::NotIn,
            SetOp::NotIn => SetOp::In,
        }
    }
}

/// What a predicate is about: a column, or a transform of one.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Term {
    /// A column by its full name, such as `a.b`.
    Column(String),
    /// A transform of a column, such as `day(ts)`.
    Transform(Transform, String),
}

impl Term {
    /// The column's full name.
    pub fn column(&self) -> &str {
        match self {
            Term::Column(name) | Term::Transform(_, name) => name,
        }
    }
}

impl From<&str> for Term {
    fn from(name: &str) -> Self {
        Term::Column(name.to_string())
    }
}

impl From<String> for Term {
    fn from(name: String) -> Self {
        Term::Column(name)
    }
}

impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Term::Column(name) => f.write_str(name),
            Term::Transform(transform, name) => write!(f, "{transform}({name})"),
        }
    }
}

/// A predicate over the columns of a table, see the [module](super) on its meaning.
#[derive(Debug, Clone, PartialEq)]
pub enum Predicate {
    /// Matches every row.
    AlwaysTrue,
    /// Matches no row.
    AlwaysFalse,
    /// All of these; true when empty.
    And(Vec<Predicate>),
    /// Any of these; false when empty.
    Or(Vec<Predicate>),
    /// The opposite; unknown stays unknown.
    Not(Box<Predicate>),
    /// An operator without operand.
    Unary(UnaryOp, Term),
    /// A comparison with a literal.
    Compare(CompareOp, Term, Literal),
    /// Membership in a set of literals.
    Set(SetOp, Term, Vec<Literal>),
}

macro_rules! compare_builders {
    ($($(#[$doc:meta])* $name:ident => $op:ident;)*) => {$(
        $(#[$doc])*
        pub fn $name(term: impl Into<Term>, literal: impl Into<Literal>) -> Self {
            Predicate::Compare(CompareOp::$op, term.into(), literal.into())
        }
    )*};
}

impl Predicate {
    compare_builders! {
        /// `term < literal`
        lt => Lt;
        /// `term <= literal`
        lt_eq => LtEq;
        /// `term > literal`
        gt => Gt;
        /// `term >= literal`
        gt_eq => GtEq;
        /// `term = literal`
        eq => Eq;
        /// `term <> literal`: does not match null.
        not_eq => NotEq;
        /// Text that begins with the literal.
        starts_with => StartsWith;
        /// Text that does not begin with the literal: does not match null.
        not_starts_with => NotStartsWith;
    }

    /// `term IS NULL`: also true inside a null struct.
    pub fn is_null(term: impl Into<Term>) -> Self {
        Predicate::Unary(UnaryOp::IsNull, term.into())
    }

    /// `term IS NOT NULL`
    pub fn not_null(term: impl Into<Term>) -> Self {
        Predicate::Unary(UnaryOp::NotNull, term.into())
    }

    /// NaN; null is not NaN.
    pub fn is_nan(term: impl Into<Term>) -> Self {
        Predicate::Unary(UnaryOp::IsNan, term.into())
    }

    /// Not NaN; null is not NaN, so it matches.
    pub fn not_nan(term: impl Into<Term>) -> Self {
        Predicate::Unary(UnaryOp::NotNan, term.into())
    }

    /// `term IN (literals)`
    pub fn is_in<L: Into<Literal>>(term: impl Into<Term>, literals: impl IntoIterator<Item = L>) -> Self {
        Predicate::Set(SetOp::In, term.into(), literals.into_iter().map(Into::into).collect())
    }

    /// `term NOT IN (literals)`: does not match null.
    pub fn not_in<L: Into<Literal>>(term: impl Into<Term>, literals: impl IntoIterator<Item = L>) -> Self {
        Predicate::Set(
            SetOp::NotIn,
            term.into(),
            literals.into_iter().map(Into::into).collect(),
        )
    }

    /// Both.
    #[must_use]
    pub fn and(self, other: Predicate) -> Self {
        match (self, other) {
            (Predicate::AlwaysTrue, p) | (p, Predicate::AlwaysTrue) => p,
            (Predicate::AlwaysFalse, _) | (_, Predicate::AlwaysFalse) => Predicate::AlwaysFalse,
            (Predicate::And(mut all), Predicate::And(more)) => {
                all.extend(more);
                Predicate::And(all)
            }
            (Predicate::And(mut all), p) => {
                all.push(p);
                Predicate::And(all)
            }
            (a, b) => Predicate::And(vec![a, b]),
        }
    }

    /// Either.
    #[must_use]
    pub fn or(self, other: Predicate) -> Self {
        match (self, other) {
            (Predicate::AlwaysFalse, p) | (p, Predicate::AlwaysFalse) => p,
            (Predicate::AlwaysTrue, _) | (_, Predicate::AlwaysTrue) => Predicate::AlwaysTrue,
            (Predicate::Or(mut any), Predicate::Or(more)) => {
                any.extend(more);
                Predicate::Or(any)
            }
            (Predicate::Or(mut any), p) => {
                any.push(p);
                Predicate::Or(any)
            }
            (a, b) => Predicate::Or(vec![a, b]),
        }
    }

    /// The names of the columns it is about, in order of appearance, each once.
    pub fn columns(&self) -> Vec<&str> {
        let mut names = Vec::new();
        let mut pending = vec![self];
        while let Some(predicate) = pending.pop() {
            match predicate {
                Predicate::AlwaysTrue | Predicate::AlwaysFalse => {}
                Predicate::And(children) | Predicate::Or(children) => pending.extend(children.iter().rev()),
                Predicate::Not(child) => pending.push(child),
                Predicate::Unary(_, term) | Predicate::Compare(_, term, _) | Predicate::Set(_, term, _) => {
                    if !names.contains(&term.column()) {
                        names.push(term.column());
                    }
                }
            }
        }
        names
    }
}

impl std::ops::Not for Predicate {
    type Output = Predicate;

    fn not(self) -> Predicate {
        match self {
            Predicate::Not(inner) => *inner,
            other => Predicate::Not(Box::new(other)),
        }
    }
}
