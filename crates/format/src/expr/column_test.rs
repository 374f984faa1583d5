//! One leaf of a predicate against what is known of a column: bounds in bytes and null and NaN counts.
//!
//! Values are compared in four domains (integers, reals, decimals, bytes), so that loops over many files run
//! without allocating and without decoding more than the leaf needs. Bounds that do not decode are as good as none.

use std::cmp::Ordering;

use super::bound::{BoundPredicate, BoundTerm};
use super::predicate::{CompareOp, SetOp, UnaryOp};
use crate::spec::types::{FieldId, PrimitiveType, Type};
use crate::spec::value::Value;
use crate::spec::value_binary;
use crate::transform::Transform;

/// What is known of the values of a field in a file, or of a partition field in a manifest.
pub(super) trait FieldStats {
    /// Not above any value that is neither null nor NaN.
    fn lower(&self) -> Option<&[u8]>;
    /// Not below any value that is neither null nor NaN.
    fn upper(&self) -> Option<&[u8]>;
    /// Every value is known to be null.
    fn all_null(&self) -> bool;
    /// No value is null, for sure.
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
    never_null: bool,
    pub(super) floating: bool,
}

/// A domain of comparable values, owned as literals, borrowed from bytes as bounds.
pub(super) trait Domain: Sized {
    /// A decoded bound.
    type Bound<'a>: Copy + Ord;
    /// How bounds decode.
    type Form;
    /// Decodes a bound; `None` when the bytes make no sense or the order is unsure.
    fn decode<'a>(form: &Self::Form, bytes: &'a [u8]) -> Option<Self::Bound<'a>>;
    /// The literal for comparison.
    fn literal(&self) -> Self::Bound<'_>;
    /// Whether a bound that equals the literal proves nothing, such as a zero: engines disagree on -0 = +0.
    fn is_ambiguous(&self) -> bool {
        false
    }
    /// Whether a bound begins with this literal.
    fn is_prefix_of(&self, _bound: Self::Bound<'_>) -> bool {
        false
    }
    /// Whether a bound is exact when the lower equals the upper one. Text and bytes may have been cut.
    const EXACT: bool = true;
    /// Whether bounds are only to be believed when there are two and the lower is not above the upper one.
    const DISTRUSTED: bool = false;
}

/// A comparison of the column's values.
#[derive(Debug, Clone)]
pub(super) struct ValueTest<V: Domain> {
    op: ValueOp,
    /// One literal of a comparison, several of a set.
    literals: Vec<V>,
    form: V::Form,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ValueOp {
    Compare(CompareOp),
    Set(SetOp),
}

/// A leaf, ready to be evaluated.
#[derive(Debug, Clone)]
pub(super) struct Leaf {
    pub(super) column: Column,
    pub(super) kind: LeafKind,
}

#[derive(Debug, Clone)]
pub(super) enum LeafKind {
    Unary(UnaryOp),
    Long(ValueTest<i64>),
    Real(ValueTest<Real>),
    Decimal(ValueTest<i128>),
    Bytes(ValueTest<Vec<u8>>),
    Uuid(ValueTest<UuidHalf>),
    /// Nothing can be said.
    Opaque,
}

/// A floating-point number that is not NaN.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Real(f64);

impl Eq for Real {}

impl PartialOrd for Real {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Real {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.partial_cmp(&other.0).unwrap_or(Ordering::Equal)
    }
}

/// How integers lie in bytes.
#[derive(Debug, Clone)]
pub(super) enum LongForm {
    Boolean,
    /// 8 bytes, or 4 bytes of the type it was promoted from, in units of the given size.
    Long {
        int_unit: Option<i64>,
    },
    Int,
    /// Any of these under an order-preserving transform.
    Transformed(Transform, PrimitiveType),
}

/// How byte strings lie in bytes.
#[derive(Debug, Clone)]
pub(super) enum BytesForm {
    Text,
    Binary,
    TruncatedText(u32),
    TruncatedBinary(u32),
}

impl Domain for i64 {
    type Bound<'a> = i64;
    type Form = LongForm;

    #[inline]
    fn decode(form: &LongForm, bytes: &[u8]) -> Option<i64> {
        match form {
            LongForm::Long { int_unit } => match bytes.try_into() {
                Ok(b) => Some(i64::from_le_bytes(b)),
                Err(_) => i64::from(int(bytes)?).checked_mul((*int_unit)?),
            },
            LongForm::Int => int(bytes).map(i64::from),
            LongForm::Boolean => match bytes {
                [b] => Some(i64::from(*b != 0)),
                _ => None,
            },
            LongForm::Transformed(transform, source) => long_of(&transformed(transform, source, bytes)?),
        }
    }

    fn literal(&self) -> i64 {
        *self
    }
}

fn int(bytes: &[u8]) -> Option<i32> {
    bytes.try_into().ok().map(i32::from_le_bytes)
}

/// The transformed bound.
fn transformed(transform: &Transform, source: &PrimitiveType, bytes: &[u8]) -> Option<Value> {
    let value = value_binary::from_bytes(bytes, source).ok()?;
    transform.apply(Some(&value), source).ok()?
}

impl Domain for Real {
    type Bound<'a> = Real;
    type Form = ();

    #[inline]
    fn decode((): &(), bytes: &[u8]) -> Option<Real> {
        let value = match bytes.try_into() {
            Ok(b) => f64::from_le_bytes(b),
            Err(_) => f64::from(f32::from_le_bytes(bytes.try_into().ok()?)),
        };
        (!value.is_nan()).then_some(Real(value))
    }

    fn literal(&self) -> Real {
        *self
    }

    fn is_ambiguous(&self) -> bool {
        self.0 == 0.0
    }
}

impl Domain for i128 {
    type Bound<'a> = i128;
    /// A transform, if the term has one.
    type Form = Option<(Transform, PrimitiveType)>;

    #[inline]
    fn decode(form: &Self::Form, bytes: &[u8]) -> Option<i128> {
        match form {
            None => value_binary::decimal_from_bytes(bytes),
            Some((transform, source)) => match transformed(transform, source, bytes)? {
                Value::Decimal(v) => Some(v),
                _ => None,
            },
        }
    }

    fn literal(&self) -> i128 {
        *self
    }
}

impl Domain for Vec<u8> {
    type Bound<'a> = &'a [u8];
    type Form = BytesForm;

    #[inline]
    fn decode<'a>(form: &BytesForm, bytes: &'a [u8]) -> Option<&'a [u8]> {
        match form {
            BytesForm::Text | BytesForm::Binary => Some(bytes),
            BytesForm::TruncatedBinary(width) => Some(bytes.get(..*width as usize).unwrap_or(bytes)),
            BytesForm::TruncatedText(width) => {
                let text = std::str::from_utf8(bytes).ok()?;
                let end = text
                    .char_indices()
                    .nth(*width as usize)
                    .map_or(text.len(), |(at, _)| at);
                text.get(..end).map(str::as_bytes)
            }
        }
    }

    fn literal(&self) -> &[u8] {
        self
    }

    fn is_prefix_of(&self, bound: &[u8]) -> bool {
        bound.starts_with(self)
    }

    const EXACT: bool = false;
}

/// The first half of a uuid.
///
/// Uuids order by unsigned bytes, but old Java versions ordered them as two signed longs, and their partition summaries
/// remain. In that order the first halves are still right within one sign; bounds of both signs are the wrong way round
/// and not believed. Random uuids hardly ever share a first half, so little is lost.
#[derive(Debug, Clone, Copy)]
pub(super) struct UuidHalf(u64);

impl Domain for UuidHalf {
    type Bound<'a> = u64;
    type Form = ();

    #[inline]
    fn decode((): &(), bytes: &[u8]) -> Option<u64> {
        let whole: [u8; 16] = bytes.try_into().ok()?;
        Some((u128::from_be_bytes(whole) >> 64) as u64)
    }

    fn literal(&self) -> u64 {
        self.0
    }

    fn is_ambiguous(&self) -> bool {
        true
    }

    const EXACT: bool = false;
    const DISTRUSTED: bool = true;
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
                let constant = V::EXACT && !first.is_ambiguous() && stats.no_null() && ordered();
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
                    !(first.is_prefix_of(lower) && first.is_prefix_of(upper) && stats.no_null())
                }
                _ => true,
            },
            ValueOp::Set(SetOp::NotIn) => true,
        }
    }

    fn ask_unary<S: FieldStats>(op: UnaryOp, column: &Column, stats: &S) -> bool {
        match op {
            UnaryOp::IsNull => !column.never_null && !stats.no_null(),
            UnaryOp::NotNull => !stats.all_null(),
            UnaryOp::IsNan => !stats.no_nan() && !stats.all_null(),
            UnaryOp::NotNan => !stats.all_nan(),
        }
    }
}

impl Question for Must {
    const UNKNOWN: bool = false;

    #[inline]
    fn ask<V: Domain, S: FieldStats>(test: &ValueTest<V>, column: &Column, stats: &S) -> bool {
        use CompareOp as C;
        if !column.never_null && !stats.no_null() {
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
        let no_null = column.never_null || stats.no_null();
        match op {
            UnaryOp::IsNull => stats.all_null(),
            UnaryOp::NotNull => no_null,
            UnaryOp::IsNan => stats.all_nan(),
            // A null is not NaN, but engines disagree on whether "not NaN" is then true.
            UnaryOp::NotNan => no_null && stats.no_nan(),
        }
    }
}

impl Leaf {
    /// Prepares a leaf; `None` when `predicate` is not one.
    pub(super) fn new(predicate: &BoundPredicate) -> Option<Leaf> {
        let term = predicate.term()?;
        let column = Column {
            field_id: term.field_id,
            never_null: !term.nullable,
            floating: matches!(term.result_type, PrimitiveType::Float | PrimitiveType::Double),
        };
        let kind = match predicate {
            BoundPredicate::Unary(op, _) => unary_kind(*op, term),
            BoundPredicate::Compare(op, _, literal) => {
                value_kind(ValueOp::Compare(*op), term, std::slice::from_ref(literal))
            }
            BoundPredicate::Set(op, _, literals) => value_kind(ValueOp::Set(*op), term, literals),
            _ => None,
        };
        Some(Leaf {
            column,
            kind: kind.unwrap_or(LeafKind::Opaque),
        })
    }

    /// The answer for one set of statistics.
    pub(super) fn ask<Q: Question, S: FieldStats>(&self, stats: &S) -> bool {
        match &self.kind {
            LeafKind::Unary(op) => Q::ask_unary(*op, &self.column, stats),
            LeafKind::Long(test) => Q::ask(test, &self.column, stats),
            LeafKind::Real(test) => Q::ask(test, &self.column, stats),
            LeafKind::Decimal(test) => Q::ask(test, &self.column, stats),
            LeafKind::Bytes(test) => Q::ask(test, &self.column, stats),
            LeafKind::Uuid(test) => Q::ask(test, &self.column, stats),
            LeafKind::Opaque => Q::UNKNOWN,
        }
    }
}

/// Transforms of this crate give null exactly for null, so null counts hold for their terms too.
fn unary_kind(op: UnaryOp, term: &BoundTerm) -> Option<LeafKind> {
    match term.transform {
        Some(Transform::Void | Transform::Unknown(_)) => None,
        _ => Some(LeafKind::Unary(op)),
    }
}

/// `None` where bounds say nothing: types without order, transforms that do not keep it, NaN literals.
fn value_kind(op: ValueOp, term: &BoundTerm, literals: &[Value]) -> Option<LeafKind> {
    use PrimitiveType as T;
    const DAY_MICROS: i64 = 86_400_000_000;
    let Type::Primitive(source) = &term.source_type else {
        return None;
    };
    let transform = match (&term.transform, source) {
        // The smallest integers wrap around to a large result, so the bounds of the column bound nothing.
        (Some(Transform::Truncate(_)), T::Int | T::Long) => return None,
        (Some(transform), _) if !transform.preserves_order() => return None,
        (other, _) => other.clone(),
    };
    let long = |form: LongForm| {
        let form = match transform.clone() {
            Some(transform) => LongForm::Transformed(transform, source.clone()),
            None => form,
        };
        Some(LeafKind::Long(value_test(op, literals, form, long_of)?))
    };
    let bytes = |form| Some(LeafKind::Bytes(value_test(op, literals, form, bytes_of)?));
    match source {
        T::Boolean => long(LongForm::Boolean),
        T::Int | T::Date => long(LongForm::Int),
        T::Long => long(LongForm::Long { int_unit: Some(1) }),
        T::Timestamp => long(LongForm::Long {
            int_unit: Some(DAY_MICROS),
        }),
        T::TimestampNs => long(LongForm::Long {
            int_unit: Some(DAY_MICROS * 1000),
        }),
        T::Time | T::Timestamptz | T::TimestamptzNs => long(LongForm::Long { int_unit: None }),
        T::Float | T::Double => Some(LeafKind::Real(value_test(op, literals, (), real_of)?)),
        T::Decimal { .. } => {
            let form = transform.map(|t| (t, source.clone()));
            let decimal = |v: &Value| match v {
                Value::Decimal(v) => Some(*v),
                _ => None,
            };
            Some(LeafKind::Decimal(value_test(op, literals, form, decimal)?))
        }
        T::String => bytes(match transform {
            Some(Transform::Truncate(width)) => BytesForm::TruncatedText(width),
            _ => BytesForm::Text,
        }),
        T::Binary | T::Fixed(_) => bytes(match transform {
            Some(Transform::Truncate(width)) => BytesForm::TruncatedBinary(width),
            _ => BytesForm::Binary,
        }),
        T::Uuid => {
            let half = |v: &Value| match v {
                Value::Uuid(b) => UuidHalf::decode(&(), b).map(UuidHalf),
                _ => None,
            };
            Some(LeafKind::Uuid(value_test(op, literals, (), half)?))
        }
        T::Unknown | T::Geometry { .. } | T::Geography { .. } => None,
    }
}

fn value_test<V: Domain>(
    op: ValueOp,
    literals: &[Value],
    form: V::Form,
    take: impl Fn(&Value) -> Option<V>,
) -> Option<ValueTest<V>> {
    let literals = literals.iter().map(take).collect::<Option<Vec<V>>>()?;
    Some(ValueTest { op, literals, form })
}

fn long_of(value: &Value) -> Option<i64> {
    match value {
        Value::Boolean(v) => Some(i64::from(*v)),
        Value::Int(v) => Some(i64::from(*v)),
        Value::Long(v) => Some(*v),
        _ => None,
    }
}

fn real_of(value: &Value) -> Option<Real> {
    let value = match value {
        Value::Float(v) => f64::from(*v),
        Value::Double(v) => *v,
        _ => return None,
    };
    (!value.is_nan()).then_some(Real(value))
}

fn bytes_of(value: &Value) -> Option<Vec<u8>> {
    match value {
        Value::String(s) => Some(s.as_bytes().to_vec()),
        Value::Binary(b) => Some(b.to_vec()),
        _ => None,
    }
}
