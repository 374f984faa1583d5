//! What may be stored in what: Spark's ANSI store assignment (`spark.sql.storeAssignmentPolicy=ANSI`).
//!
//! Numbers go into numbers, everything atomic into text, dates and timestamps into each other; a value that does not fit
//! fails the statement when it runs. Nothing else is cast silently.

mod nested;

use datafusion::arrow::datatypes::{DataType, Field, Fields};
use datafusion::logical_expr::{Expr, cast};
use tarn_format::spec::schema::CaseSensitivity;
use tarn_format::{Error, Result};

/// How the fields of a struct find those of the struct that they are stored in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Matching {
    /// By their place.
    Position,
    /// By their names.
    Name(CaseSensitivity),
}

impl Matching {
    pub(crate) fn same(self, a: &str, b: &str) -> bool {
        match self {
            Matching::Name(CaseSensitivity::Insensitive) => a.to_lowercase() == b.to_lowercase(),
            _ => a == b,
        }
    }
}

/// The expression as a value of the column.
///
/// # Errors
/// `InvalidInput` naming column and types when the one may not be stored in the other.
pub(crate) fn assign(value: Expr, from: &DataType, column: &Field, matching: Matching) -> Result<Expr> {
    let to = column.data_type();
    if from == to {
        return Ok(value);
    }
    if !storable(from, to, matching) {
        return Err(Error::invalid(format!(
            "a value of type {from} cannot be stored in column '{}' of type {to}: cast it",
            column.name()
        )));
    }
    if to.is_nested() && !from.is_null() {
        return Ok(nested::convert(value, to, matching));
    }
    if is_text(to) && from.is_temporal() && !matches!(from, DataType::Date32 | DataType::Date64) {
        return Ok(cast(crate::functions::timestamp_text(value), to.clone()));
    }
    Ok(cast(value, to.clone()))
}

/// The column with NULLs allowed in it, at every depth: the type that [`assign`] gives to nested values.
pub(crate) fn with_nulls(column: &Field) -> Field {
    let column = column.clone().with_nullable(true);
    let data_type = nested::nullable(column.data_type());
    column.with_data_type(data_type)
}

fn is_text(t: &DataType) -> bool {
    matches!(t, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
}

fn is_bytes(t: &DataType) -> bool {
    matches!(t, DataType::Binary | DataType::LargeBinary | DataType::BinaryView)
}

fn is_instant(t: &DataType) -> bool {
    matches!(t, DataType::Date32 | DataType::Date64 | DataType::Timestamp(..))
}

/// Whether a type may be stored in another, at every depth.
fn storable(from: &DataType, to: &DataType, matching: Matching) -> bool {
    match (from, to) {
        (DataType::Null, _) => true,
        (from, to) if from == to => true,
        (DataType::Dictionary(_, values), to) => storable(values, to, matching),
        (from, to) if from.is_numeric() && to.is_numeric() => true,
        (from, to) if is_text(to) => {
            !from.is_nested() && !is_bytes(from) && !matches!(from, DataType::FixedSizeBinary(_))
        }
        (from, to) if is_instant(from) && is_instant(to) => true,
        (DataType::Time64(_) | DataType::Time32(_), DataType::Time64(_)) => true,
        (from, to) if is_bytes(from) && is_bytes(to) => true,
        (from, DataType::FixedSizeBinary(_)) => is_bytes(from) || matches!(from, DataType::FixedSizeBinary(_)),
        (
            DataType::List(a) | DataType::LargeList(a) | DataType::FixedSizeList(a, _) | DataType::ListView(a),
            DataType::List(b),
        ) => storable(a.data_type(), b.data_type(), matching),
        (DataType::Map(a, _), DataType::Map(b, _)) => match (a.data_type(), b.data_type()) {
            (DataType::Struct(a), DataType::Struct(b)) => fields_storable(a, b, matching, Matching::Position),
            _ => false,
        },
        (DataType::Struct(a), DataType::Struct(b)) => fields_storable(a, b, matching, matching),
        _ => false,
    }
}

/// Whether fields that find each other one way may be stored in each other, when what is in them finds itself another.
fn fields_storable(from: &Fields, to: &Fields, inside: Matching, matching: Matching) -> bool {
    let storable = |a: &Field, b: &Field| storable(a.data_type(), b.data_type(), inside);
    from.len() == to.len()
        && match matching {
            Matching::Position => from.iter().zip(to).all(|(a, b)| storable(a, b)),
            Matching::Name(_) => to.iter().all(|b| {
                let mut same = from.iter().filter(|a| matching.same(a.name(), b.name()));
                same.next().is_some_and(|a| storable(a, b)) && same.next().is_none()
            }),
        }
}

#[cfg(test)]
mod tests {
    use datafusion::arrow::datatypes::TimeUnit;

    use super::*;

    #[test]
    fn the_matrix_is_sparks() {
        use DataType as T;
        let timestamp = T::Timestamp(TimeUnit::Microsecond, None);
        for (from, to) in [
            (T::Null, T::Int32),
            (T::Int64, T::Int32),
            (T::Float64, T::Int64),
            (T::Int32, T::Decimal128(6, 2)),
            (T::Boolean, T::Utf8View),
            (T::Date32, T::Utf8View),
            (T::Date32, timestamp.clone()),
            (timestamp.clone(), T::Date32),
        ] {
            assert!(storable(&from, &to, Matching::Position), "{from} -> {to}");
        }
        for (from, to) in [
            (T::Utf8, T::Int32),
            (T::Utf8, T::Boolean),
            (T::Utf8, T::Date32),
            (T::Int32, T::Boolean),
            (T::Boolean, T::Int64),
            (T::Date32, T::Int32),
            (timestamp, T::Int64),
            (T::Int32, T::Date32),
            (T::Int32, T::BinaryView),
        ] {
            assert!(!storable(&from, &to, Matching::Position), "{from} -> {to}");
        }
    }
}
