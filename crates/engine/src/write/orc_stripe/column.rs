//! A column of a stripe at any depth: its values encoded into streams (ORC specification, "Column Encodings").

use arrow::array::{Array, ArrayRef, ArrowPrimitiveType, AsArray, BooleanArray, BooleanBufferBuilder, OffsetSizeTrait};
use arrow::buffer::OffsetBuffer;
use arrow::compute::{cast, filter};
use arrow::datatypes::{
    DataType, Date32Type, Decimal128Type, Float32Type, Float64Type, Int32Type, Int64Type, TimeUnit,
    TimestampMicrosecondType, TimestampNanosecondType,
};
use arrow::error::ArrowError;
use tarn_format::{Error, Result};

use super::byte_runs::bit_runs;
use super::integers::{IntegerRuns, Sign, append_varint};
use super::{Facts, Stream, StreamKind};
use crate::write::orc_schema::{OrcColumn, Stored};

/// Seconds from 1970 to 2015, from which timestamps are counted.
const EPOCH_SECONDS: i64 = 1_420_070_400;

const NANOS_PER_SECOND: i64 = 1_000_000_000;

/// How columns are encoded (`ColumnEncoding.Kind`).
const DIRECT: u64 = 0;
/// The same, with integers in runs of version 2.
const DIRECT_V2: u64 = 2;

/// The rows of a column so far.
pub(super) struct ColumnEncoder {
    name: String,
    /// Which rows have a value.
    present: BooleanBufferBuilder,
    values: u64,
    kind: Kind,
}

enum Kind {
    Boolean(BooleanBufferBuilder),
    Integer(IntegerRuns),
    Float(Vec<u8>),
    Double(Vec<u8>),
    Bytes {
        data_type: DataType,
        data: Vec<u8>,
        lengths: IntegerRuns,
    },
    Timestamp {
        data_type: DataType,
        seconds: IntegerRuns,
        nanos: IntegerRuns,
    },
    Decimal {
        scale: i64,
        unscaled: Vec<u8>,
        scales: IntegerRuns,
    },
    Struct(Vec<ColumnEncoder>),
    List {
        lengths: IntegerRuns,
        element: Box<ColumnEncoder>,
    },
    Map {
        lengths: IntegerRuns,
        pair: Box<[ColumnEncoder; 2]>,
    },
}

impl ColumnEncoder {
    pub(super) fn new(column: &OrcColumn) -> Self {
        let lengths = || IntegerRuns::new(Sign::Unsigned);
        let kind = match (column.stored, column.children.as_slice()) {
            (Stored::Boolean, _) => Kind::Boolean(BooleanBufferBuilder::new(0)),
            (Stored::Integer, _) => Kind::Integer(IntegerRuns::new(Sign::Signed)),
            (Stored::Float, _) => Kind::Float(Vec::new()),
            (Stored::Double, _) => Kind::Double(Vec::new()),
            (Stored::Text | Stored::Binary, _) => Kind::Bytes {
                data_type: match column.stored {
                    Stored::Text => DataType::Utf8,
                    _ => DataType::Binary,
                },
                data: Vec::new(),
                lengths: lengths(),
            },
            (Stored::Timestamp(unit), _) => Kind::Timestamp {
                data_type: DataType::Timestamp(unit, None),
                seconds: IntegerRuns::new(Sign::Signed),
                nanos: lengths(),
            },
            (Stored::Decimal { scale }, _) => Kind::Decimal {
                scale: i64::from(scale),
                unscaled: Vec::new(),
                scales: IntegerRuns::new(Sign::Signed),
            },
            (Stored::List, [element]) => Kind::List {
                lengths: lengths(),
                element: Box::new(Self::new(element)),
            },
            (Stored::Map, [key, value]) => Kind::Map {
                lengths: lengths(),
                pair: Box::new([Self::new(key), Self::new(value)]),
            },
            (Stored::Struct | Stored::List | Stored::Map, fields) => {
                Kind::Struct(fields.iter().map(Self::new).collect())
            }
        };
        ColumnEncoder {
            name: column.name.clone(),
            present: BooleanBufferBuilder::new(0),
            values: 0,
            kind,
        }
    }

    /// Appends rows.
    ///
    /// # Errors
    /// `InvalidInput` for values that the format cannot hold, and for arrays of other types than the column's.
    pub(super) fn write(&mut self, array: &ArrayRef) -> Result<()> {
        let dense;
        let array = match array.logical_nulls().filter(|nulls| nulls.null_count() > 0) {
            None => {
                self.present.append_n(array.len(), true);
                array
            }
            Some(nulls) => {
                self.present.append_buffer(nulls.inner());
                dense = filter(array, &BooleanArray::new(nulls.into_inner(), None)).map_err(|e| self.unfit(e))?;
                &dense
            }
        };
        self.values += array.len() as u64;
        match self.write_values(array) {
            Ok(()) => Ok(()),
            Err(Unwritable::Array(e)) => Err(self.unfit(e)),
            Err(Unwritable::Value(e)) => Err(e),
        }
    }

    fn unfit(&self, error: ArrowError) -> Error {
        Error::invalid(format!(
            "column '{}' has rows that cannot be written to an ORC file",
            self.name
        ))
        .with_source(error)
    }

    /// Appends values of which none is null.
    fn write_values(&mut self, array: &ArrayRef) -> Result<(), Unwritable> {
        match &mut self.kind {
            Kind::Boolean(bits) => {
                let array = array.as_boolean_opt().ok_or_else(other_type)?;
                bits.append_buffer(array.values());
            }
            Kind::Integer(runs) => integers(array)?.into_iter().for_each(|v| runs.push(v)),
            Kind::Float(bytes) => {
                let array = array.as_primitive_opt::<Float32Type>().ok_or_else(other_type)?;
                array.values().iter().for_each(|v| bytes.extend(v.to_le_bytes()));
            }
            Kind::Double(bytes) => {
                let array = array.as_primitive_opt::<Float64Type>().ok_or_else(other_type)?;
                array.values().iter().for_each(|v| bytes.extend(v.to_le_bytes()));
            }
            Kind::Bytes {
                data_type,
                data,
                lengths,
            } => {
                let array = cast(array, data_type)?;
                match data_type {
                    DataType::Utf8 => {
                        let array = array.as_string::<i32>();
                        append_bytes(array.value_data(), array.offsets(), (data, lengths));
                    }
                    _ => {
                        let array = array.as_binary::<i32>();
                        append_bytes(array.value_data(), array.offsets(), (data, lengths));
                    }
                }
            }
            Kind::Timestamp {
                data_type,
                seconds,
                nanos,
            } => {
                for (second, nano) in timestamps(array, data_type)? {
                    seconds.push(stored_seconds(second, nano)?);
                    nanos.push(stored_nanos(nano));
                }
            }
            Kind::Decimal {
                scale,
                unscaled,
                scales,
            } => {
                let array = array.as_primitive_opt::<Decimal128Type>().ok_or_else(other_type)?;
                for value in array.values() {
                    append_varint((value << 1 ^ value >> 127) as u128, unscaled);
                    scales.push(*scale);
                }
            }
            Kind::Struct(children) => {
                let array = array.as_struct_opt().ok_or_else(other_type)?;
                for (child, values) in children.iter_mut().zip(array.columns()) {
                    child.write(values)?;
                }
            }
            Kind::List { lengths, element } => {
                let array = array.as_list_opt::<i32>().ok_or_else(other_type)?;
                let (start, len) = append_lengths(array.offsets(), lengths);
                element.write(&array.values().slice(start, len))?;
            }
            Kind::Map { lengths, pair } => {
                let array = array.as_map_opt().ok_or_else(other_type)?;
                let (start, len) = append_lengths(array.offsets(), lengths);
                let [key, value] = pair.as_mut();
                key.write(&array.keys().slice(start, len))?;
                value.write(&array.values().slice(start, len))?;
            }
        }
        Ok(())
    }

    /// Appends the column's streams and those of the columns below it, and what is known of each, in the order of types.
    /// `place` is that of the next type.
    pub(super) fn finish(self, place: &mut u64, streams: &mut Vec<Stream>, facts: &mut Vec<Facts>) {
        let column = *place;
        *place += 1;
        let has_null = self.values < self.present.len() as u64;
        let mut add = |kind, bytes| streams.push(Stream { kind, column, bytes });
        if has_null {
            add(StreamKind::Present, bit_runs(&self.present));
        }
        let mut fact = Facts {
            values: self.values,
            has_null,
            encoding: DIRECT_V2,
            bytes: 0,
        };
        let mut children = Vec::new();
        match self.kind {
            Kind::Boolean(bits) => {
                fact.encoding = DIRECT;
                add(StreamKind::Data, bit_runs(&bits));
            }
            Kind::Float(bytes) | Kind::Double(bytes) => {
                fact.encoding = DIRECT;
                add(StreamKind::Data, bytes);
            }
            Kind::Integer(runs) => add(StreamKind::Data, runs.finish()),
            Kind::Bytes { data, lengths, .. } => {
                add(StreamKind::Data, data);
                add(StreamKind::Length, lengths.finish());
            }
            Kind::Timestamp { seconds, nanos, .. } => {
                add(StreamKind::Data, seconds.finish());
                add(StreamKind::Secondary, nanos.finish());
            }
            Kind::Decimal { unscaled, scales, .. } => {
                add(StreamKind::Data, unscaled);
                add(StreamKind::Secondary, scales.finish());
            }
            Kind::Struct(own) => {
                fact.encoding = DIRECT;
                children.extend(own);
            }
            Kind::List { lengths, element } => {
                add(StreamKind::Length, lengths.finish());
                children.push(*element);
            }
            Kind::Map { lengths, pair } => {
                add(StreamKind::Length, lengths.finish());
                children.extend(*pair);
            }
        }
        facts.push(fact);
        children
            .into_iter()
            .for_each(|child| child.finish(place, streams, facts));
    }
}

/// Why rows cannot be written.
enum Unwritable {
    Array(ArrowError),
    /// Told already.
    Value(Error),
}

impl From<ArrowError> for Unwritable {
    fn from(error: ArrowError) -> Self {
        Unwritable::Array(error)
    }
}

impl From<Error> for Unwritable {
    fn from(error: Error) -> Self {
        Unwritable::Value(error)
    }
}

fn other_type() -> ArrowError {
    ArrowError::SchemaError("the rows are of another type than the file's column".to_string())
}

/// Numbers, days and times.
fn integers(array: &ArrayRef) -> Result<Vec<i64>, ArrowError> {
    fn narrow<T: ArrowPrimitiveType<Native = i32>>(array: &ArrayRef) -> Vec<i64> {
        let values = array.as_primitive::<T>().values();
        values.iter().map(|v| i64::from(*v)).collect()
    }
    Ok(match array.data_type() {
        DataType::Int32 => narrow::<Int32Type>(array),
        DataType::Date32 => narrow::<Date32Type>(array),
        _ => cast(array, &DataType::Int64)?
            .as_primitive::<Int64Type>()
            .values()
            .to_vec(),
    })
}

fn append_bytes<O: OffsetSizeTrait>(
    bytes: &[u8],
    offsets: &OffsetBuffer<O>,
    (data, lengths): (&mut Vec<u8>, &mut IntegerRuns),
) {
    let (start, len) = append_lengths(offsets, lengths);
    data.extend_from_slice(bytes.get(start..start + len).unwrap_or_default());
}

/// Appends the lengths of items; returns where the first begins and how long all are.
fn append_lengths<O: OffsetSizeTrait>(offsets: &OffsetBuffer<O>, lengths: &mut IntegerRuns) -> (usize, usize) {
    offsets.lengths().for_each(|length| lengths.push(length as i64));
    let at = |offset: Option<&O>| offset.map_or(0, |offset| offset.as_usize());
    let start = at(offsets.first());
    (start, at(offsets.last()) - start)
}

/// Whole seconds from 1970 and the nanoseconds after them.
fn timestamps(array: &ArrayRef, data_type: &DataType) -> Result<Vec<(i64, i64)>, ArrowError> {
    let split = |value: i64, per_second: i64| {
        let nanos = value.rem_euclid(per_second) * (NANOS_PER_SECOND / per_second);
        (value.div_euclid(per_second), nanos)
    };
    Ok(match (array.data_type(), data_type) {
        (DataType::Timestamp(TimeUnit::Microsecond, _), DataType::Timestamp(TimeUnit::Microsecond, _)) => {
            let values = array.as_primitive::<TimestampMicrosecondType>().values();
            values.iter().map(|v| split(*v, 1_000_000)).collect()
        }
        (DataType::Timestamp(TimeUnit::Nanosecond, _), DataType::Timestamp(TimeUnit::Nanosecond, _)) => {
            let values = array.as_primitive::<TimestampNanosecondType>().values();
            values.iter().map(|v| split(*v, NANOS_PER_SECOND)).collect()
        }
        _ => return Err(other_type()),
    })
}

/// Seconds as Java's `TimestampTreeWriter` stores them: before 1970 those after the moment, unless it has no milliseconds
/// (ORC-763).
fn stored_seconds(second: i64, nanos: i64) -> Result<i64> {
    let has_millis = nanos > 999_999;
    if second == -1 && has_millis {
        return Err(Error::invalid(
            "the last second before 1970 has no place in ORC files, whose readers take it for the first one after: \
             write Parquet or Avro (property 'write.format.default')",
        ));
    }
    Ok(second + i64::from(second < 0 && has_millis) - EPOCH_SECONDS)
}

/// Nanoseconds without the zeros at their end: the last three bits tell their number, one fewer than it is.
fn stored_nanos(nanos: i64) -> i64 {
    if nanos == 0 || nanos % 100 != 0 {
        return nanos << 3;
    }
    let (mut rest, mut zeros) = (nanos / 100, 1);
    while rest % 10 == 0 && zeros < 7 {
        rest /= 10;
        zeros += 1;
    }
    rest << 3 | zeros
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The specification's examples: 1000 nanoseconds are stored as 0x0a, 100000 as 0x0c.
    #[test]
    fn nanoseconds_lose_their_zeros() {
        let stored = [0, 7, 1000, 100_000, 900_000_000].map(stored_nanos);
        assert_eq!(stored, [0, 56, 0x0a, 0x0c, 9 << 3 | 7]);
    }

    /// What a reader makes of them is in `scan::orc::timestamp`.
    #[test]
    fn seconds_before_1970_are_those_after() {
        let stored = |second, nanos| stored_seconds(second, nanos).map(|s| s + EPOCH_SECONDS);
        assert_eq!(stored(-2, 500_000_000).unwrap(), -1);
        assert_eq!(stored(-2, 999_999).unwrap(), -2);
        assert_eq!(stored(-1, 0).unwrap(), -1);
        assert_eq!(stored(0, 500_000_000).unwrap(), 0);
        assert!(stored(-1, 1_000_000).is_err());
    }
}
