//! One leaf of a predicate against what is known of a column: bounds in bytes and null and NaN counts.
//!
//! Tests are generic over the [domain](super::column_domain) of the values, so that loops over many files run without
//! allocating and without decoding more than the leaf needs. Bounds that do not decode are as good as none.

use super::column_domain::Domain;
use super::predicate::{CompareOp, SetOp, UnaryOp};
use crate::spec::types::FieldId;

/// What is known of the values of a field in a file, or of a partition field in a manifest.
pub(super) trait FieldStats {
    /// Not above any value that is neither null nor NaN.
    fn lower(&self) -> Option<&[u8]>;
    /// Not below any value that is neither null nor NaN.
    fn upper(&self) -> Option<&[u8]>;
    /// Every value that is counted is known to be null.
    fn all_null(&self) -> bool;
    /// No value that is counted is null, for sure.
    fn no_null(&self) -> bool;
    /// Every value is known to be NaN.
    fn all_nan(&self) -> bool;
    /// No value is NaN, for sure.
    fn no_nan(&self) -> bool;
}

/// Nothing is known.
#[derive(Debug, Clone, Copy)]
pub(super) struct NoStats;

impl FieldStats for NoStats {
    fn lower(&self) -> Option<&[u8]> {
        None
    }
    fn upper(&self) -> Option<&[u8]> {
        None
    }
    fn all_null(&self) -> bool {
        false
    }
    fn no_null(&self) -> bool {
        false
    }
    fn all_nan(&self) -> bool {
        false
    }
    fn no_nan(&self) -> bool {
        false
    }
}

/// Which question is asked of the statistics.
pub(super) trait Question {
    /// Whether `test` holds, as far as this question goes.
    fn ask<V: Domain, S: FieldStats>(test: &ValueTest<V>, column: &Column, stats: &S) -> bool;
    /// The same for a test of null or NaN.
    fn ask_unary<S: FieldStats>(op: UnaryOp, column: &Column, stats: &S) -> bool;
    /// The answer where values cannot be compared.
    const UNKNOWN: bool;
}

/// May some row match? "Yes" when in doubt.
#[derive(Debug, Clone, Copy)]
pub(super) struct May;

/// Do all rows match? "No" when in doubt.
#[derive(Debug, Clone, Copy)]
pub(super) struct Must;

/// What the schema says of the column.
#[derive(Debug, Clone)]
pub(super) struct Column {
    pub(super) field_id: FieldId,
    /// Nulls are impossible: the column and all that holds it are required.
    pub(super) never_null: bool,
    /// A struct that holds the column may be null, and with it the column. Some writers' counts (Java's of ORC files,
    /// DuckDB's) leave such rows out.
    pub(super) optional_holder: bool,
    pub(super) floating: bool,
}

impl Column {
    /// No row is null, for sure.
    #[inline]
    fn no_null<S: FieldStats>(&self, stats: &S) -> bool {
        self.never_null || (!self.optional_holder && stats.no_null())
    }

    /// Every row is known to be NaN.
    #[inline]
    fn all_nan<S: FieldStats>(&self, stats: &S) -> bool {
        !self.optional_holder && stats.all_nan()
    }
}

/// A comparison of the column's values.
#[derive(Debug, Clone)]
pub(super) struct ValueTest<V: Domain> {
    pub(super) op: ValueOp,
    /// One literal of a comparison, several of a set.
    pub(super) literals: Vec<V>,
    pub(super) form: V::Form,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ValueOp {
    Compare(CompareOp),
    Set(SetOp),
}

impl<V: Domain> ValueTest<V> {
    #[inline]
    fn bounds<'s, S: FieldStats>(&self, stats: &'s S) -> (Option<V::Bound<'s>>, Option<V::Bound<'s>>) {
        let lower = stats.lower().and_then(|b| V::decode(&self.form, b));
        let upper = stats.upper().and_then(|b| V::decode(&self.form, b));
        match (lower, upper) {
            (Some(l), Some(u)) if l <= u => (lower, upper),
            _ if V::DISTRUSTED => (None, None),
            bounds => bounds,
        }
    }

    #[inline]
    fn lower<'s, S: FieldStats>(&self, stats: &'s S) -> Option<V::Bound<'s>> {
        if V::DISTRUSTED {
            return self.bounds(stats).0;
        }
        stats.lower().and_then(|b| V::decode(&self.form, b))
    }

    #[inline]
    fn upper<'s, S: FieldStats>(&self, stats: &'s S) -> Option<V::Bound<'s>> {
        if V::DISTRUSTED {
            return self.bounds(stats).1;
        }
        stats.upper().and_then(|b| V::decode(&self.form, b))
    }

    /// The literal of a comparison. Sets hold at least one too.
    #[inline]
    fn first(&self) -> Option<&V> {
        self.literals.first()
    }
}

impl Question for May {
    const UNKNOWN: bool = true;

    #[inline]
    fn ask<V: Domain, S: FieldStats>(test: &ValueTest<V>, column: &Column, stats: &S) -> bool {
        use CompareOp as C;
        let Some(first) = test.first() else { return true };
        let literal = first.literal();
        // A NaN sorts above every number, one with a sign below: it may match any ordering comparison.
        let ordered = || !column.floating || stats.no_nan();
        match test.op {
            ValueOp::Compare(C::Lt) if ordered() => match test.lower(stats) {
                Some(lower) => lower < literal || (lower == literal && first.is_ambiguous()),
                None => !stats.all_null(),
            },
            ValueOp::Compare(C::LtEq) if ordered() => match test.lower(stats) {
                Some(lower) => lower <= literal,
                None => !stats.all_null(),
            },
            ValueOp::Compare(C::Gt) if ordered() => match test.upper(stats) {
                Some(upper) => upper > literal || (upper == literal && first.is_ambiguous()),
                None => !stats.all_null(),
            },
            ValueOp::Compare(C::GtEq) if ordered() => match test.upper(stats) {
                Some(upper) => upper >= literal,
                None => !stats.all_null(),
            },
            ValueOp::Compare(C::Lt | C::LtEq | C::Gt | C::GtEq) => !stats.all_null(),
            ValueOp::Compare(C::Eq) | ValueOp::Set(SetOp::In) => match test.bounds(stats) {
                (None, None) => !stats.all_null() && !stats.all_nan(),
                (lower, upper) => test
                    .literals
                    .iter()
                    .any(|l| lower.is_none_or(|b| b <= l.literal()) && upper.is_none_or(|b| l.literal() <= b)),
            },
            ValueOp::Compare(C::NotEq) => {
                let constant = V::EXACT && !first.is_ambiguous() && column.no_null(stats) && ordered();
                !(constant && test.bounds(stats) == (Some(literal), Some(literal)))
            }
            ValueOp::Compare(C::StartsWith) => match test.bounds(stats) {
                (None, None) => !stats.all_null(),
                (lower, upper) => {
                    lower.is_none_or(|b| b <= literal || first.is_prefix_of(b)) && upper.is_none_or(|b| b >= literal)
                }
            },
            ValueOp::Compare(C::NotStartsWith) => match test.bounds(stats) {
                (Some(lower), Some(upper)) => {
                    !(first.is_prefix_of(lower) && first.is_prefix_of(upper) && column.no_null(stats))
                }
                _ => true,
            },
            ValueOp::Set(SetOp::NotIn) => true,
        }
    }

    fn ask_unary<S: FieldStats>(op: UnaryOp, column: &Column, stats: &S) -> bool {
        match op {
            UnaryOp::IsNull => !column.no_null(stats),
            UnaryOp::NotNull => !stats.all_null(),
            UnaryOp::IsNan => !stats.no_nan() && !stats.all_null(),
            UnaryOp::NotNan => !column.all_nan(stats),
        }
    }
}

impl Question for Must {
    const UNKNOWN: bool = false;

    #[inline]
    fn ask<V: Domain, S: FieldStats>(test: &ValueTest<V>, column: &Column, stats: &S) -> bool {
        use CompareOp as C;
        if !column.no_null(stats) {
            return false;
        }
        let Some(first) = test.first() else { return false };
        let literal = first.literal();
        let sure = !first.is_ambiguous();
        let numbers = !column.floating || stats.no_nan();
        match test.op {
            ValueOp::Compare(C::NotEq) | ValueOp::Set(SetOp::NotIn) => {
                let (lower, upper) = test.bounds(stats);
                stats.all_nan()
                    || test
                        .literals
                        .iter()
                        .all(|l| lower.is_some_and(|b| l.literal() < b) || upper.is_some_and(|b| l.literal() > b))
            }
            _ if !numbers => false,
            ValueOp::Compare(C::Lt) => test.upper(stats).is_some_and(|b| b < literal),
            ValueOp::Compare(C::LtEq) => test.upper(stats).is_some_and(|b| b < literal || (b == literal && sure)),
            ValueOp::Compare(C::Gt) => test.lower(stats).is_some_and(|b| b > literal),
            ValueOp::Compare(C::GtEq) => test.lower(stats).is_some_and(|b| b > literal || (b == literal && sure)),
            ValueOp::Compare(C::Eq) | ValueOp::Set(SetOp::In) => match test.bounds(stats) {
                (Some(lower), Some(upper)) if lower == upper => {
                    test.literals.iter().any(|l| l.literal() == lower && !l.is_ambiguous())
                }
                _ => false,
            },
            ValueOp::Compare(C::StartsWith) => match test.bounds(stats) {
                (Some(lower), Some(upper)) => first.is_prefix_of(lower) && first.is_prefix_of(upper),
                _ => false,
            },
            ValueOp::Compare(C::NotStartsWith) => {
                let (lower, upper) = test.bounds(stats);
                upper.is_some_and(|b| b < literal) || lower.is_some_and(|b| b > literal && !first.is_prefix_of(b))
            }
        }
    }

    fn ask_unary<S: FieldStats>(op: UnaryOp, column: &Column, stats: &S) -> bool {
        let no_null = column.no_null(stats);
        match op {
            UnaryOp::IsNull => stats.all_null(),
            UnaryOp::NotNull => no_null,
            UnaryOp::IsNan => column.all_nan(stats),
            // A null is not NaN, but engines disagree on whether "not NaN" is then true.
            UnaryOp::NotNan => no_null && stats.no_nan(),
        }
    }
}
