//! Which arguments the partition transforms take, and columns as values.

use datafusion::arrow::datatypes::{DataType, TimeUnit};
use datafusion::common::plan_err;
use datafusion::error::Result;
use tarn_format::spec::types::PrimitiveType;

/// What a transform can be applied to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Accepted {
    /// bucket
    Hashable,
    /// truncate
    Truncatable,
    /// years, months, days
    DateOrTimestamp,
    /// hours
    Timestamp,
}

/// The Iceberg type that a column is transformed as.
pub(crate) fn source_type(function: &str, accepted: Accepted, data_type: &DataType) -> Result<PrimitiveType> {
    use PrimitiveType as P;
    let source = match data_type {
        DataType::Int8 | DataType::Int16 | DataType::Int32 => P::Int,
        DataType::Int64 => P::Long,
        DataType::Date32 => P::Date,
        DataType::Timestamp(TimeUnit::Nanosecond, None) => P::TimestampNs,
        DataType::Timestamp(TimeUnit::Nanosecond, Some(_)) => P::TimestamptzNs,
        DataType::Timestamp(_, None) => P::Timestamp,
        DataType::Timestamp(_, Some(_)) => P::Timestamptz,
        DataType::Decimal128(precision, scale) => P::Decimal {
            precision: *precision,
            scale: u8::try_from(*scale).unwrap_or_default(),
        },
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => P::String,
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => P::Binary,
        DataType::FixedSizeBinary(_) => P::Binary,
        DataType::Time64(TimeUnit::Microsecond) => P::Time,
        other => return plan_err!("{function} does not take {other}, but {}", accepted.description()),
    };
    let is_time = matches!(
        source,
        P::Timestamp | P::Timestamptz | P::TimestampNs | P::TimestamptzNs
    );
    let fits = match accepted {
        Accepted::Hashable => true,
        Accepted::Truncatable => {
            matches!(source, P::Int | P::Long | P::Decimal { .. } | P::String | P::Binary)
        }
        Accepted::DateOrTimestamp => is_time || source == P::Date,
        Accepted::Timestamp => is_time,
    };
    if !fits {
        return plan_err!("{function} does not take {source}, but {}", accepted.description());
    }
    Ok(source)
}

impl Accepted {
    fn description(self) -> &'static str {
        match self {
            Accepted::Hashable => "date, tinyint, smallint, int, bigint, decimal, timestamp, string or binary",
            Accepted::Truncatable => "tinyint, smallint, int, bigint, decimal, string or binary",
            Accepted::DateOrTimestamp => "date or timestamp",
            Accepted::Timestamp => "timestamp",
        }
    }
}

/// Whether a type can be the number of buckets or the width.
pub(crate) fn is_parameter(data_type: &DataType) -> bool {
    matches!(
        data_type,
        DataType::Int8 | DataType::Int16 | DataType::Int32 | DataType::Null
    )
}
