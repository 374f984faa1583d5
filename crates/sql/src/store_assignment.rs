//! What may be stored in what: Spark's ANSI store assignment (`spark.sql.storeAssignmentPolicy=ANSI`).
//!
//! Numbers go into numbers, everything atomic into text, dates and timestamps into each other; a value that does not fit
//! fails the statement when it runs. Nothing else is cast silently.

use datafusion::arrow::datatypes::{DataType, Field};
use datafusion::logical_expr::{Expr, cast};
use tarn_format::{Error, Result};

/// The expression as a value of the column.
///
/// # Errors
/// `InvalidInput` naming column and types when the one may not be stored in the other.
pub(crate) fn assign(value: Expr, from: &DataType, column: &Field) -> Result<Expr> {
    let to = column.data_type();
    if from == to {
        return Ok(value);
    }
    if !storable(from, to) {
        return Err(Error::invalid(format!(
            "a value of type {from} cannot be stored in column '{}' of type {to}: cast it",
            column.name()
        )));
    }
    if is_text(to) && from.is_temporal() && !matches!(from, DataType::Date32 | DataType::Date64) {
        return Ok(cast(crate::functions::timestamp_text(value), to.clone()));
    }
    Ok(cast(value, to.clone()))
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
fn storable(from: &DataType, to: &DataType) -> bool {
    match (from, to) {
        (DataType::Null, _) => true,
        (from, to) if from == to => true,
        (DataType::Dictionary(_, values), to) => storable(values, to),
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
        ) => storable(a.data_type(), b.data_type()),
        (DataType::Map(a, _), DataType::Map(b, _)) => storable(a.data_type(), b.data_type()),
        (DataType::Struct(a), DataType::Struct(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(x, y)| storable(x.data_type(), y.data_type()))
        }
        _ => false,
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
            assert!(storable(&from, &to), "{from} -> {to}");
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
            assert!(!storable(&from, &to), "{from} -> {to}");
        }
    }
}
