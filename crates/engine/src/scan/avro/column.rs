//! One column while an Avro file is decoded.

use std::sync::Arc;

use arrow::array::{
    ArrayData, ArrayRef, BooleanArray, BooleanBufferBuilder, FixedSizeBinaryArray, ListArray, MapArray, NullArray,
    NullBufferBuilder, StructArray, make_array,
};
use arrow::buffer::{Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow::datatypes::{ArrowNativeType, DataType, Field, FieldRef};
use arrow::error::ArrowError;
use tarn_format::manifest::avro::cursor::{Cursor, Malformed};
use tarn_format::manifest::avro::schema::{AvroSchema, AvroType, Logical};
use tarn_format::{Error, Result};

/// What the items of arrays and maps in one batch may take at least, in bytes: an item may stand in one byte of the file.
const MAX_ITEMS_BYTES: usize = 1 << 30;

/// A column and what it holds so far.
#[derive(Debug)]
pub(super) struct Column {
    data_type: DataType,
    /// The branch of null where the column may be null.
    null_branch: Option<u8>,
    nulls: NullBufferBuilder,
    values: Values,
    /// What a value takes at least, in bytes.
    width_bytes: usize,
}

#[derive(Debug)]
enum Values {
    Null,
    Booleans(BooleanBufferBuilder),
    Ints(Vec<i32>),
    /// Longs, and ints that become longs, times this.
    Longs(Vec<i64>, i64),
    Floats(Vec<f32>),
    Doubles(Vec<f64>),
    /// Text or bytes: where each ends, and all of them.
    Sized(Vec<i32>, Vec<u8>),
    /// Of so many bytes each.
    Fixed(usize, Vec<u8>),
    /// Uuids written as text.
    UuidText(Vec<u8>),
    /// Of so many bytes each; `None` where each says its own length.
    Decimals(Option<usize>, Vec<i128>),
    Struct(Vec<Column>),
    /// Where each ends, and the items.
    List(Vec<i32>, Box<Column>),
    /// Where each ends, and keys and values.
    Map(Vec<i32>, Box<(Column, Column)>),
}

impl Column {
    /// A column of the type that [`super::file_schema`] gave a field.
    ///
    /// # Errors
    /// `Unsupported` where the two don't belong together.
    pub(super) fn new(field: &Field, schema: &Arc<AvroSchema>) -> Result<Self> {
        let nullable = schema.nullable().ok_or_else(|| mismatch(field))?;
        Ok(Self::of(
            field.data_type(),
            nullable.null_branch,
            Values::new(field, nullable.schema)?,
        ))
    }

    fn of(data_type: &DataType, null_branch: Option<u8>, values: Values) -> Self {
        Column {
            data_type: data_type.clone(),
            null_branch,
            nulls: NullBufferBuilder::new(0),
            width_bytes: values.width_bytes(),
            values,
        }
    }

    /// What a value takes at least, in bytes: also one that takes a single byte in the file.
    pub(super) fn width_bytes(&self) -> usize {
        self.width_bytes
    }

    /// Refuses more items than memory should be given for.
    fn check_items(&self) -> Result<(), Malformed> {
        match self.nulls.len().saturating_mul(self.width_bytes) > MAX_ITEMS_BYTES {
            true => Err(Malformed::TooLarge),
            false => Ok(()),
        }
    }

    /// Decodes one value.
    pub(super) fn decode(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Malformed> {
        if let Some(null_branch) = self.null_branch {
            match cursor.long()? {
                branch if branch == i64::from(null_branch) => {
                    self.push_null();
                    return Ok(());
                }
                0 | 1 => {}
                _ => return Err(Malformed::Branch),
            }
        }
        self.values.decode(cursor)?;
        self.nulls.append_non_null();
        Ok(())
    }

    /// Adds a null, or where the column has none, what stands below the null of a struct around it.
    fn push_null(&mut self) {
        match self.null_branch {
            Some(_) => self.nulls.append_null(),
            None => self.nulls.append_non_null(),
        }
        self.values.push_default();
    }

    /// The values so far; the column is empty after.
    ///
    /// # Errors
    /// Arrow's, for values that are not of their type.
    pub(super) fn finish(&mut self) -> Result<ArrayRef, ArrowError> {
        let len = self.nulls.len();
        let nulls = self.nulls.finish();
        self.values.finish(&self.data_type, len, nulls)
    }
}

impl Values {
    fn new(field: &Field, schema: &AvroSchema) -> Result<Self> {
        let milliseconds = matches!(schema.logical, Logical::TimestampMillis(_) | Logical::TimeMillis);
        let factor = if milliseconds { 1000 } else { 1 };
        Ok(match (&schema.avro_type, field.data_type()) {
            (AvroType::Null, _) => Values::Null,
            (AvroType::Boolean, _) => Values::Booleans(BooleanBufferBuilder::new(0)),
            (AvroType::Int, DataType::Time64(_)) | (AvroType::Long, _) => Values::Longs(Vec::new(), factor),
            (AvroType::Int, _) => Values::Ints(Vec::new()),
            (AvroType::Float, _) => Values::Floats(Vec::new()),
            (AvroType::Double, _) => Values::Doubles(Vec::new()),
            (AvroType::Fixed(size), DataType::Decimal128(..)) => Values::Decimals(Some(*size), Vec::new()),
            (AvroType::Bytes, DataType::Decimal128(..)) => Values::Decimals(None, Vec::new()),
            (AvroType::String, DataType::FixedSizeBinary(_)) => Values::UuidText(Vec::new()),
            (AvroType::Bytes | AvroType::String, _) => Values::Sized(vec![0], Vec::new()),
            (AvroType::Fixed(size), _) => Values::Fixed(*size, Vec::new()),
            (AvroType::Record(fields), DataType::Struct(types)) => {
                let children = types.iter().zip(fields).map(|(t, f)| Column::new(t, &f.schema));
                Values::Struct(children.collect::<Result<_>>()?)
            }
            (AvroType::Array(items), DataType::List(element)) => {
                Values::List(vec![0], Box::new(Column::new(element, items)?))
            }
            (AvroType::Array(entries), DataType::Map(of, _)) => {
                let (key, value) = pair_of(of)?;
                let pair = entries.record_fields().unwrap_or_default();
                let [key_schema, value_schema] = pair else {
                    return Err(mismatch(field));
                };
                let pair = (
                    Column::new(key, &key_schema.schema)?,
                    Column::new(value, &value_schema.schema)?,
                );
                Values::Map(vec![0], Box::new(pair))
            }
            (AvroType::Map(values), DataType::Map(of, _)) => {
                let (key, value) = pair_of(of)?;
                let key = Column::of(key.data_type(), None, Values::Sized(vec![0], Vec::new()));
                Values::Map(vec![0], Box::new((key, Column::new(value, values)?)))
            }
            _ => return Err(mismatch(field)),
        })
    }

    fn width_bytes(&self) -> usize {
        match self {
            Values::Null | Values::Booleans(_) => 1,
            Values::Ints(_) | Values::Floats(_) | Values::Sized(..) | Values::List(..) | Values::Map(..) => 4,
            Values::Longs(..) | Values::Doubles(_) => 8,
            Values::UuidText(_) | Values::Decimals(..) => 16,
            Values::Fixed(size, _) => *size,
            Values::Struct(children) => children
                .iter()
                .fold(1, |sum, child| sum.saturating_add(child.width_bytes)),
        }
    }

    fn decode(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Malformed> {
        match self {
            Values::Null => {}
            Values::Booleans(values) => values.append(cursor.boolean()?),
            Values::Ints(values) => values.push(cursor.int()?),
            Values::Longs(values, factor) => values.push(cursor.long()?.checked_mul(*factor).ok_or(Malformed::Range)?),
            Values::Floats(values) => values.push(f32::from_le_bytes(fixed(cursor)?)),
            Values::Doubles(values) => values.push(f64::from_le_bytes(fixed(cursor)?)),
            Values::Sized(ends, bytes) => {
                bytes.extend_from_slice(cursor.bytes()?);
                ends.push(offset(bytes.len())?);
            }
            Values::Fixed(size, bytes) => bytes.extend_from_slice(cursor.take(*size)?),
            Values::UuidText(bytes) => {
                let uuid = uuid::Uuid::try_parse(cursor.string()?).map_err(|_| Malformed::Range)?;
                bytes.extend_from_slice(uuid.as_bytes());
            }
            Values::Decimals(size, values) => {
                let bytes = match size {
                    Some(size) => cursor.take(*size)?,
                    None => cursor.bytes()?,
                };
                values.push(decimal(bytes)?);
            }
            Values::Struct(children) => children.iter_mut().try_for_each(|child| child.decode(cursor))?,
            Values::List(ends, items) => {
                each_item(cursor, |cursor| {
                    items.check_items()?;
                    items.decode(cursor)
                })?;
                ends.push(offset(items.nulls.len())?);
            }
            Values::Map(ends, pair) => {
                let (keys, values) = pair.as_mut();
                each_item(cursor, |cursor| {
                    values.check_items()?;
                    keys.decode(cursor)?;
                    values.decode(cursor)
                })?;
                ends.push(offset(keys.nulls.len())?);
            }
        }
        Ok(())
    }

    fn push_default(&mut self) {
        match self {
            Values::Null => {}
            Values::Booleans(values) => values.append(false),
            Values::Ints(values) => values.push(0),
            Values::Longs(values, _) => values.push(0),
            Values::Floats(values) => values.push(0.0),
            Values::Doubles(values) => values.push(0.0),
            Values::Fixed(size, bytes) => bytes.resize(bytes.len() + *size, 0),
            Values::UuidText(bytes) => bytes.resize(bytes.len() + 16, 0),
            Values::Decimals(_, values) => values.push(0),
            Values::Struct(children) => children.iter_mut().for_each(Column::push_null),
            Values::Sized(ends, _) | Values::List(ends, _) | Values::Map(ends, _) => {
                ends.push(ends.last().copied().unwrap_or(0));
            }
        }
    }

    fn finish(&mut self, data_type: &DataType, len: usize, nulls: Option<NullBuffer>) -> Result<ArrayRef, ArrowError> {
        match self {
            Values::Null => Ok(Arc::new(NullArray::new(len))),
            Values::Booleans(values) => Ok(Arc::new(BooleanArray::new(values.finish(), nulls))),
            Values::Ints(values) => primitive(data_type, std::mem::take(values), nulls),
            Values::Longs(values, _) => primitive(data_type, std::mem::take(values), nulls),
            Values::Floats(values) => primitive(data_type, std::mem::take(values), nulls),
            Values::Doubles(values) => primitive(data_type, std::mem::take(values), nulls),
            Values::Decimals(_, values) => primitive(data_type, std::mem::take(values), nulls),
            Values::Sized(ends, bytes) => {
                let ends = std::mem::replace(ends, vec![0]);
                let data = ArrayData::builder(data_type.clone())
                    .len(len)
                    .nulls(nulls)
                    .add_buffer(Buffer::from_vec(ends))
                    .add_buffer(Buffer::from_vec(std::mem::take(bytes)));
                // Checks that text is UTF-8.
                Ok(make_array(data.build()?))
            }
            Values::Fixed(_, bytes) | Values::UuidText(bytes) => {
                let DataType::FixedSizeBinary(size) = data_type else {
                    return Err(ArrowError::SchemaError(format!("a fixed is no {data_type}")));
                };
                let bytes = Buffer::from_vec(std::mem::take(bytes));
                Ok(Arc::new(FixedSizeBinaryArray::try_new(*size, bytes, nulls)?))
            }
            Values::Struct(children) => {
                let DataType::Struct(fields) = data_type else {
                    return Err(ArrowError::SchemaError(format!("a record is no {data_type}")));
                };
                let columns = children.iter_mut().map(Column::finish).collect::<Result<Vec<_>, _>>()?;
                let array = StructArray::try_new_with_length(fields.clone(), columns, nulls, len)?;
                Ok(Arc::new(array))
            }
            Values::List(ends, items) => {
                let DataType::List(element) = data_type else {
                    return Err(ArrowError::SchemaError(format!("an array is no {data_type}")));
                };
                let items = items.finish()?;
                let array = ListArray::try_new(Arc::clone(element), offsets(ends), items, nulls)?;
                Ok(Arc::new(array))
            }
            Values::Map(ends, pair) => {
                let DataType::Map(entries, sorted) = data_type else {
                    return Err(ArrowError::SchemaError(format!("a map is no {data_type}")));
                };
                let DataType::Struct(fields) = entries.data_type() else {
                    return Err(ArrowError::SchemaError("a map has no entries".to_string()));
                };
                let columns = vec![pair.0.finish()?, pair.1.finish()?];
                let pairs = StructArray::try_new(fields.clone(), columns, None)?;
                let array = MapArray::try_new(Arc::clone(entries), offsets(ends), pairs, nulls, *sorted)?;
                Ok(Arc::new(array))
            }
        }
    }
}

/// Decodes the items of an array or map. Each takes at least a byte: types that take none are refused before.
fn each_item<'a>(
    cursor: &mut Cursor<'a>,
    mut decode: impl FnMut(&mut Cursor<'a>) -> Result<(), Malformed>,
) -> Result<(), Malformed> {
    loop {
        let items = cursor.items()?;
        if items.count == 0 {
            return Ok(());
        }
        for _ in 0..items.count {
            decode(cursor)?;
            cursor.check()?;
        }
        cursor.end_items(items)?;
    }
}

fn primitive<T: ArrowNativeType>(
    data_type: &DataType,
    values: Vec<T>,
    nulls: Option<NullBuffer>,
) -> Result<ArrayRef, ArrowError> {
    let data = ArrayData::builder(data_type.clone()).len(values.len()).nulls(nulls);
    Ok(make_array(data.add_buffer(Buffer::from_vec(values)).build()?))
}

fn offsets(ends: &mut Vec<i32>) -> OffsetBuffer<i32> {
    OffsetBuffer::new(ScalarBuffer::from(std::mem::replace(ends, vec![0])))
}

fn offset(len: usize) -> Result<i32, Malformed> {
    i32::try_from(len).map_err(|_| Malformed::TooLarge)
}

fn fixed<const N: usize>(cursor: &mut Cursor<'_>) -> Result<[u8; N], Malformed> {
    cursor.take(N)?.try_into().map_err(|_| Malformed::Truncated)
}

/// An unscaled value: big-endian, of any length, as long as it fits.
fn decimal(bytes: &[u8]) -> Result<i128, Malformed> {
    let Some(first) = bytes.first() else { return Ok(0) };
    let sign: u8 = if first & 0x80 == 0 { 0 } else { 0xff };
    let mut value = [sign; 16];
    let skipped = bytes.len().saturating_sub(16);
    let (extra, rest) = bytes.split_at(skipped);
    let keeps_sign = rest
        .first()
        .is_none_or(|first| skipped == 0 || (first & 0x80 == 0) == (sign == 0));
    if !keeps_sign || extra.iter().any(|b| *b != sign) {
        return Err(Malformed::Range);
    }
    if let Some(place) = value.get_mut(16 - rest.len()..) {
        place.copy_from_slice(rest);
    }
    Ok(i128::from_be_bytes(value))
}

fn pair_of(entries: &FieldRef) -> Result<(&FieldRef, &FieldRef)> {
    match entries.data_type() {
        DataType::Struct(pair) => match pair.as_ref() {
            [key, value] => Ok((key, value)),
            _ => Err(mismatch(entries)),
        },
        _ => Err(mismatch(entries)),
    }
}

fn mismatch(field: &Field) -> Error {
    Error::unsupported(format!("'{}' in the Avro file cannot be read", field.name()))
}
