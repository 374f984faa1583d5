//! The columns of files in the types that Spark reads them as.

use std::sync::Arc;

use arrow::datatypes::{DataType, Field, Schema, SchemaRef, TimeUnit};

use super::nullable::nullable;

/// Digits of the largest unsigned 64-bit number.
const UINT64_DIGITS: u8 = 20;

/// The schema as Spark reads it: unsigned numbers in the next larger signed type, times in microseconds, everything
/// nullable at every depth. Otherwise only top-level columns change; ids and annotations of writers are dropped there.
pub(super) fn as_spark_reads(schema: &Schema, zone: &Arc<str>) -> SchemaRef {
    let fields = schema.fields().iter().map(|field| {
        let data_type = top_level(field.data_type(), zone);
        Field::new(field.name(), nullable(&data_type), true)
    });
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}

fn top_level(data_type: &DataType, zone: &Arc<str>) -> DataType {
    match data_type {
        DataType::UInt8 => DataType::Int16,
        DataType::UInt16 => DataType::Int32,
        DataType::UInt32 => DataType::Int64,
        DataType::UInt64 => DataType::Decimal128(UINT64_DIGITS, 0),
        DataType::Float16 => DataType::Float32,
        DataType::Date64 => DataType::Date32,
        DataType::Time32(_) | DataType::Time64(_) => DataType::Time64(TimeUnit::Microsecond),
        DataType::Timestamp(_, None) => DataType::Timestamp(TimeUnit::Microsecond, None),
        DataType::Timestamp(_, Some(_)) => DataType::Timestamp(TimeUnit::Microsecond, Some(Arc::clone(zone))),
        DataType::LargeUtf8 => DataType::Utf8View,
        DataType::LargeBinary => DataType::BinaryView,
        DataType::Dictionary(_, values) => top_level(values, zone),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Spark 3.5, ParquetToSparkSchemaConverter: UINT_8 is smallint, UINT_16 int, UINT_32 bigint, UINT_64 decimal(20,0).
    #[test]
    fn types_that_spark_lacks_become_its_own() {
        let zone: Arc<str> = Arc::from("Europe/Oslo");
        let micros = DataType::Timestamp(TimeUnit::Microsecond, Some(Arc::clone(&zone)));
        for (stored, read) in [
            (DataType::UInt8, DataType::Int16),
            (DataType::UInt16, DataType::Int32),
            (DataType::UInt32, DataType::Int64),
            (DataType::UInt64, DataType::Decimal128(20, 0)),
            (DataType::Timestamp(TimeUnit::Nanosecond, Some("UTC".into())), micros),
            (
                DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8)),
                DataType::Utf8,
            ),
            (DataType::Int64, DataType::Int64),
        ] {
            let schema = Schema::new(vec![Field::new("c", stored.clone(), false)]);
            let columns = as_spark_reads(&schema, &zone);
            assert_eq!(columns.field(0), &Field::new("c", read, true), "{stored}");
        }
    }
}
