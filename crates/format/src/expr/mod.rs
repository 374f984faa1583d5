//! Predicates over rows, and what can be said of them without reading rows.
//!
//! A [`Predicate`] names columns; [`Predicate::bind`] resolves it against a schema to a [`BoundPredicate`].
//! From there it is [projected](project) through partition transforms, evaluated on manifest summaries
//! ([`manifest_evaluator`]), partition tuples ([`partition_evaluator`]) and column bounds
//! ([`inclusive_metrics`], [`strict_metrics`]), or reduced to what is left of it inside a partition ([`residual`]).
//!
//! # Meaning
//!
//! A row matches when the predicate is true; in SQL's three-valued logic unknown does not match. So
//! `n <> 5`, `n NOT IN (…)` and `NOT (n > 0)` do not match a null `n`. Java's evaluators differ: they let
//! `notEq`, `notIn` and `notStartsWith` match null, which is harmless when files are skipped but deletes null
//! rows when whole files are dropped. Here both readings are served safely:
//!
//! - *Inclusive* evaluation (may some row match?) treats null as a possible match of the negative operators.
//! - *Strict* evaluation (does every row match?) never claims a file in which a compared column may be null.
//!
//! Floating-point comparison follows [`crate::spec::value_order`] (the total order: NaN above every number, -0
//! below +0), as DataFusion compares. Engines that compare by IEEE 754 are served as well: where the two
//! disagree (NaN, zeros of either sign) inclusive evaluation says "perhaps" and strict evaluation says "no".

pub mod bind;
pub mod bound;
mod column_domain;
mod column_leaf;
mod column_test;
mod column_tree;
mod display;
pub mod evaluator;
pub mod inclusive_metrics;
mod json;
pub mod literal;
pub mod manifest_evaluator;
pub mod partition_evaluator;
pub mod predicate;
pub mod project;
pub mod residual;
pub mod rewrite_not;
pub mod sanitize;
pub mod strict_metrics;

pub use bind::CaseSensitivity;
pub use bound::{BoundPredicate, BoundTerm};
pub use literal::Literal;
pub use predicate::{CompareOp, Predicate, SetOp, Term, UnaryOp};

#[cfg(test)]
mod tests;
