//! One column of a stripe while it is decoded into arrays.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, ListArray, MapArray, PrimitiveArray, StringArray, StructArray,
};
use arrow::buffer::{BooleanBuffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow::compute::take;
use arrow::datatypes::{
    ArrowPrimitiveType, DataType, Date32Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    Time64MicrosecondType,
};
use arrow::error::ArrowError;
use tarn_format::{Error, ErrorKind, Result};

use super::decimal::Decimals;
use super::file_schema::Node;
use super::integers::{IntegerRuns, Sign};
use super::run_length::{BooleanRuns, ByteRuns};
use super::sized::{self, Sized};
use super::stream::Stream;
use super::stripe::{StreamKind, Stripe};
use super::timestamp::Timestamps;
use super::types::Kind;

/// What the values of a batch may take at most, in bytes: a run of many thousands takes few bytes in a file.
const MAX_BATCH_BYTES: usize = 1 << 30;

/// Memory that a batch may still take.
#[derive(Debug)]
pub(super) struct Room(usize);

impl Room {
    pub(super) fn new() -> Self {
        Room(MAX_BATCH_BYTES)
    }

    /// Takes memory for so many values of so many bytes.
    ///
    /// # Errors
    /// `ResourcesExhausted` when the batch would take more than it may.
    pub(super) fn take(&mut self, values: usize, width_bytes: usize) -> Result<()> {
        let left = self.0.checked_sub(values.saturating_mul(width_bytes));
        self.0 = left.ok_or_else(|| {
            Error::new(
                ErrorKind::ResourcesExhausted,
                format!("the ORC file has rows that take more than {MAX_BATCH_BYTES} bytes together"),
            )
        })?;
        Ok(())
    }
}

/// A column, and where its reader is.
pub(super) struct Column {
    /// Which values are there; `None` when all are.
    present: Option<BooleanRuns>,
    data_type: DataType,
    values: Values,
}

enum Values {
    Booleans(BooleanRuns),
    Bytes(ByteRuns),
    Integers(IntegerRuns),
    Floats(Stream),
    Doubles(Stream),
    Sized(Sized),
    /// Text that is padded by spaces.
    Padded(Sized),
    Dictionary(IntegerRuns, ArrayRef),
    Decimals(Decimals),
    Timestamps(Timestamps),
    Struct(Vec<Column>),
    List(IntegerRuns, Box<Column>),
    Map(IntegerRuns, Box<(Column, Column)>),
}

impl Column {
    /// # Errors
    /// `Corrupt` when the stripe's streams don't fit the column, `Unsupported` for what is not known.
    pub(super) fn new(stripe: &Stripe, node: &Node) -> Result<Self> {
        let present = stripe.own_stream(node.column, StreamKind::Present);
        Ok(Column {
            present: present.map(BooleanRuns::new),
            data_type: node.field.data_type().clone(),
            values: Values::new(stripe, node)?,
        })
    }

    /// The next rows. Those whose parent is null are not stored, and are null here.
    pub(super) fn read(&mut self, rows: usize, parents: Option<&NullBuffer>, room: &mut Room) -> Result<ArrayRef> {
        let nulls = nulls(self.present.as_mut(), rows, parents)?;
        let nulls = nulls.as_ref();
        match &mut self.values {
            Values::Booleans(runs) => {
                room.take(rows, 1)?;
                let stored = runs.read(rows - null_count(nulls))?;
                let spread = match nulls {
                    None => stored,
                    Some(nulls) => spread_bits(&stored, nulls),
                };
                Ok(Arc::new(BooleanArray::new(spread, nulls.cloned())))
            }
            Values::Bytes(runs) => {
                room.take(rows, 1)?;
                let mut bytes = Vec::new();
                runs.read(rows - null_count(nulls), &mut bytes)?;
                primitive::<Int8Type>(bytes.into_iter().map(|b| b as i8), nulls, rows)
            }
            Values::Integers(runs) => {
                room.take(rows, 16)?;
                let mut stored = Vec::new();
                runs.read(rows - null_count(nulls), &mut stored)?;
                integers(&stored, &self.data_type, nulls, rows)
            }
            Values::Floats(stream) => {
                let bytes = fixed_width(stream, rows - null_count(nulls), 4, room)?;
                let values = bytes.as_chunks().0.iter().map(|b| f32::from_le_bytes(*b));
                primitive::<Float32Type>(values, nulls, rows)
            }
            Values::Doubles(stream) => {
                let bytes = fixed_width(stream, rows - null_count(nulls), 8, room)?;
                let values = bytes.as_chunks().0.iter().map(|b| f64::from_le_bytes(*b));
                primitive::<Float64Type>(values, nulls, rows)
            }
            Values::Sized(sized) => sized.read(&self.data_type, rows, nulls, room),
            Values::Padded(sized) => Ok(trimmed(&sized.read(&self.data_type, rows, nulls, room)?)),
            Values::Dictionary(indexes, dictionary) => from_dictionary(indexes, dictionary, (rows, nulls), room),
            Values::Decimals(decimals) => {
                room.take(rows, 48)?;
                decimals.read(&self.data_type, rows, nulls)
            }
            Values::Timestamps(timestamps) => {
                room.take(rows, 32)?;
                timestamps.read(&self.data_type, rows, nulls)
            }
            Values::Struct(children) => {
                let DataType::Struct(fields) = &self.data_type else {
                    return Err(mismatch());
                };
                let arrays: Result<Vec<ArrayRef>> = children.iter_mut().map(|c| c.read(rows, nulls, room)).collect();
                let array = StructArray::try_new_with_length(fields.clone(), arrays?, nulls.cloned(), rows);
                Ok(Arc::new(array.map_err(bad_values)?))
            }
            Values::List(lengths, element) => {
                let DataType::List(field) = &self.data_type else {
                    return Err(mismatch());
                };
                let (offsets, items) = offsets(lengths, rows, nulls, room)?;
                let items = element.read(items, None, room)?;
                let array = ListArray::try_new(Arc::clone(field), offsets, items, nulls.cloned());
                Ok(Arc::new(array.map_err(bad_values)?))
            }
            Values::Map(lengths, pair) => {
                let DataType::Map(field, _) = &self.data_type else {
                    return Err(mismatch());
                };
                let DataType::Struct(fields) = field.data_type() else {
                    return Err(mismatch());
                };
                let (offsets, items) = offsets(lengths, rows, nulls, room)?;
                let arrays = vec![pair.0.read(items, None, room)?, pair.1.read(items, None, room)?];
                let entries = StructArray::try_new(fields.clone(), arrays, None).map_err(bad_values)?;
                let array = MapArray::try_new(Arc::clone(field), offsets, entries, nulls.cloned(), false);
                Ok(Arc::new(array.map_err(bad_values)?))
            }
        }
    }
}

impl Values {
    fn new(stripe: &Stripe, node: &Node) -> Result<Self> {
        let encoding = stripe.encoding(node.column)?;
        let stream = |kind| stripe.stream(node.column, kind);
        let runs = |kind, sign| IntegerRuns::new(stream(kind), encoding.integers, sign);
        let lengths = || runs(StreamKind::Length, Sign::Unsigned);
        Ok(match node.kind {
            Kind::Boolean => Values::Booleans(BooleanRuns::new(stream(StreamKind::Data))),
            Kind::Byte => Values::Bytes(ByteRuns::new(stream(StreamKind::Data))),
            Kind::Short | Kind::Int | Kind::Long | Kind::Date => Values::Integers(runs(StreamKind::Data, Sign::Signed)),
            Kind::Float => Values::Floats(stream(StreamKind::Data)),
            Kind::Double => Values::Doubles(stream(StreamKind::Data)),
            Kind::String | Kind::Varchar | Kind::Char => match encoding.dictionary {
                Some(size) => {
                    let size = usize::try_from(size).unwrap_or(usize::MAX);
                    let mut stored = Sized::new(lengths(), stream(StreamKind::DictionaryData));
                    let mut values = stored.read(&DataType::Utf8, size, None, &mut Room::new())?;
                    if node.kind == Kind::Char {
                        values = trimmed(&values);
                    }
                    Values::Dictionary(runs(StreamKind::Data, Sign::Unsigned), values)
                }
                None => {
                    let sized = Sized::new(lengths(), stream(StreamKind::Data));
                    match node.kind {
                        Kind::Char => Values::Padded(sized),
                        _ => Values::Sized(sized),
                    }
                }
            },
            Kind::Binary => Values::Sized(Sized::new(lengths(), stream(StreamKind::Data))),
            Kind::Decimal => Values::Decimals(Decimals {
                values: stream(StreamKind::Data),
                scales: runs(StreamKind::Secondary, Sign::Signed),
            }),
            Kind::Timestamp | Kind::TimestampInstant => {
                let seconds = runs(StreamKind::Data, Sign::Signed);
                let nanos = runs(StreamKind::Secondary, Sign::Unsigned);
                let zone = stripe.time_zone().filter(|_| node.kind == Kind::Timestamp);
                Values::Timestamps(Timestamps::new(seconds, nanos, zone.map(|zone| zone.as_ref()))?)
            }
            Kind::Struct => {
                let children: Result<_> = node.children.iter().map(|child| Column::new(stripe, child)).collect();
                Values::Struct(children?)
            }
            Kind::List | Kind::Map => match node.children.as_slice() {
                [element] => Values::List(lengths(), Box::new(Column::new(stripe, element)?)),
                [key, value] => {
                    let pair = (Column::new(stripe, key)?, Column::new(stripe, value)?);
                    Values::Map(lengths(), Box::new(pair))
                }
                _ => return Err(mismatch()),
            },
            Kind::Union => return Err(mismatch()),
        })
    }
}

/// Which of the rows are null; `None` when none is.
pub(super) fn nulls(
    present: Option<&mut BooleanRuns>,
    rows: usize,
    parents: Option<&NullBuffer>,
) -> Result<Option<NullBuffer>> {
    let own = match (present, parents) {
        (None, parents) => parents.cloned(),
        (Some(present), None) => Some(NullBuffer::new(present.read(rows)?)),
        (Some(present), Some(parents)) => {
            let stored = present.read(rows - parents.null_count())?;
            Some(NullBuffer::new(spread_bits(&stored, parents)))
        }
    };
    Ok(own.filter(|nulls| nulls.null_count() > 0))
}

pub(super) fn null_count(nulls: Option<&NullBuffer>) -> usize {
    nulls.map_or(0, NullBuffer::null_count)
}

/// Bits of the rows that are there; false for the others.
fn spread_bits(stored: &BooleanBuffer, nulls: &NullBuffer) -> BooleanBuffer {
    let mut next = 0;
    BooleanBuffer::collect_bool(nulls.len(), |row| {
        let is_there = nulls.is_valid(row);
        let bit = is_there && next < stored.len() && stored.value(next);
        next += usize::from(is_there);
        bit
    })
}

/// Values of the rows that are there; the type's default for the others.
pub(super) fn spread<T: Copy + Default>(
    mut stored: impl Iterator<Item = T>,
    nulls: Option<&NullBuffer>,
    rows: usize,
) -> Vec<T> {
    match nulls {
        None => stored.collect(),
        Some(nulls) => (0..rows)
            .map(|row| match nulls.is_valid(row) {
                true => stored.next().unwrap_or_default(),
                false => T::default(),
            })
            .collect(),
    }
}

fn primitive<T: ArrowPrimitiveType>(
    stored: impl Iterator<Item = T::Native>,
    nulls: Option<&NullBuffer>,
    rows: usize,
) -> Result<ArrayRef> {
    let values = ScalarBuffer::from(spread(stored, nulls, rows));
    let array = PrimitiveArray::<T>::try_new(values, nulls.cloned());
    Ok(Arc::new(array.map_err(bad_values)?))
}

fn integers(stored: &[i64], data_type: &DataType, nulls: Option<&NullBuffer>, rows: usize) -> Result<ArrayRef> {
    let all = stored.iter().copied();
    match data_type {
        DataType::Int16 => primitive::<Int16Type>(narrow::<i16>(stored)?.into_iter(), nulls, rows),
        DataType::Int32 => primitive::<Int32Type>(narrow::<i32>(stored)?.into_iter(), nulls, rows),
        DataType::Date32 => primitive::<Date32Type>(narrow::<i32>(stored)?.into_iter(), nulls, rows),
        DataType::Int64 => primitive::<Int64Type>(all, nulls, rows),
        DataType::Time64(_) => primitive::<Time64MicrosecondType>(all, nulls, rows),
        _ => Err(mismatch()),
    }
}

fn narrow<T: TryFrom<i64>>(stored: &[i64]) -> Result<Vec<T>> {
    let fitting = |value: &i64| {
        let narrow = T::try_from(*value).ok();
        narrow.ok_or_else(|| Error::corrupt(format!("the ORC file holds {value} where it is out of range")))
    };
    stored.iter().map(fitting).collect()
}

fn fixed_width(stream: &mut Stream, count: usize, width_bytes: usize, room: &mut Room) -> Result<Vec<u8>> {
    room.take(count, 2 * width_bytes)?;
    let mut bytes = Vec::new();
    stream.read(count * width_bytes, &mut bytes)?;
    Ok(bytes)
}

/// Where the items of each row end, and how many there are.
fn offsets(
    lengths: &mut IntegerRuns,
    rows: usize,
    nulls: Option<&NullBuffer>,
    room: &mut Room,
) -> Result<(OffsetBuffer<i32>, usize)> {
    room.take(rows, 24)?;
    let mut stored = Vec::new();
    lengths.read(rows - null_count(nulls), &mut stored)?;
    let offsets = sized::offsets(spread(stored.into_iter(), nulls, rows))?;
    let items = offsets.last().copied().unwrap_or_default();
    Ok((offsets, usize::try_from(items).unwrap_or_default()))
}

fn from_dictionary(
    indexes: &mut IntegerRuns,
    dictionary: &ArrayRef,
    (rows, nulls): (usize, Option<&NullBuffer>),
    room: &mut Room,
) -> Result<ArrayRef> {
    room.take(rows, 24)?;
    let mut stored = Vec::new();
    indexes.read(rows - null_count(nulls), &mut stored)?;
    let values = dictionary.as_string::<i32>();
    let mut total = 0;
    for index in &stored {
        let index = usize::try_from(*index).ok().filter(|index| *index < values.len());
        let index =
            index.ok_or_else(|| Error::corrupt("the ORC file names a value that its dictionary does not have"))?;
        total += values.value(index).len();
    }
    room.take(total, 1)?;
    let indexes = primitive::<Int64Type>(stored.into_iter(), nulls, rows)?;
    take(values, &indexes, None).map_err(bad_values)
}

/// Text without the spaces that a `char` is padded by (Java: `CharTreeReader`).
fn trimmed(padded: &ArrayRef) -> ArrayRef {
    let texts = padded.as_string::<i32>().iter();
    Arc::new(StringArray::from_iter(
        texts.map(|text| text.map(|text| text.trim_end_matches(' '))),
    ))
}

pub(super) fn mismatch() -> Error {
    Error::corrupt("a column of the ORC file is not of its type")
}

pub(super) fn bad_values(error: ArrowError) -> Error {
    Error::corrupt("the ORC file holds values that are not of their type").with_source(error)
}
