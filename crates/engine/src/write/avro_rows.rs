//! Rows of Arrow batches in Avro's encoding, as [`super::avro_schema`] describes them: optional fields are unions whose first
//! branch is null.

use arrow::array::{Array, ArrayRef, AsArray, FixedSizeBinaryArray, GenericByteArray, GenericByteViewArray};
use arrow::array::{BooleanArray, ListArray, MapArray, PrimitiveArray, RecordBatch};
use arrow::buffer::NullBuffer;
use arrow::datatypes::{
    BinaryType, BinaryViewType, DataType, Date32Type, Decimal128Type, Field, Float32Type, Float64Type, Int32Type,
    Int64Type, StringViewType, Time64MicrosecondType, TimeUnit, TimestampMicrosecondType, TimestampNanosecondType,
    Utf8Type,
};
use tarn_format::manifest::avro::encoder::Encoder;
use tarn_format::{Error, Result};

use super::parquet_schema::decimal_bytes;

/// A column whose rows can be encoded.
struct Column<'a> {
    is_optional: bool,
    nulls: Option<&'a NullBuffer>,
    values: Values<'a>,
}

enum Values<'a> {
    Boolean(&'a BooleanArray),
    Ints(&'a [i32]),
    Longs(&'a [i64]),
    Floats(&'a PrimitiveArray<Float32Type>),
    Doubles(&'a PrimitiveArray<Float64Type>),
    /// With the number of bytes that each takes.
    Decimals(&'a PrimitiveArray<Decimal128Type>, usize),
    Text(&'a GenericByteArray<Utf8Type>),
    TextViews(&'a GenericByteViewArray<StringViewType>),
    Bytes(&'a GenericByteArray<BinaryType>),
    ByteViews(&'a GenericByteViewArray<BinaryViewType>),
    Fixed(&'a FixedSizeBinaryArray),
    Struct(Vec<Column<'a>>),
    List(&'a ListArray, Box<Column<'a>>),
    Map(&'a MapArray, Box<[Column<'a>; 2]>),
}

/// The rows of a batch.
pub(super) struct Rows<'a> {
    columns: Vec<Column<'a>>,
}

impl<'a> Rows<'a> {
    /// The rows of a batch in its stored form.
    ///
    /// # Errors
    /// `Unsupported` for types that are not written in Avro.
    pub(super) fn new(batch: &'a RecordBatch) -> Result<Self> {
        let fields = batch.schema_ref().fields();
        let columns = batch.columns().iter().zip(fields).map(|(a, f)| Column::new(a, f));
        Ok(Rows {
            columns: columns.collect::<Result<_>>()?,
        })
    }

    /// Encodes a row.
    pub(super) fn encode(&self, row: usize, encoder: &mut Encoder) {
        self.columns.iter().for_each(|column| column.encode(row, encoder));
    }
}

impl<'a> Column<'a> {
    fn new(array: &'a ArrayRef, field: &Field) -> Result<Self> {
        Ok(Column {
            is_optional: field.is_nullable(),
            nulls: array.nulls(),
            values: Values::new(array, field)?,
        })
    }

    fn encode(&self, row: usize, encoder: &mut Encoder) {
        if self.is_optional {
            if self.nulls.is_some_and(|nulls| nulls.is_null(row)) {
                return encoder.long(0);
            }
            encoder.long(1);
        }
        self.values.encode(row, encoder);
    }
}

impl<'a> Values<'a> {
    fn new(array: &'a ArrayRef, field: &Field) -> Result<Self> {
        Ok(match array.data_type() {
            DataType::Boolean => Values::Boolean(array.as_boolean()),
            DataType::Int32 => Values::Ints(array.as_primitive::<Int32Type>().values()),
            DataType::Date32 => Values::Ints(array.as_primitive::<Date32Type>().values()),
            DataType::Int64 => Values::Longs(array.as_primitive::<Int64Type>().values()),
            DataType::Time64(TimeUnit::Microsecond) => {
                Values::Longs(array.as_primitive::<Time64MicrosecondType>().values())
            }
            DataType::Timestamp(TimeUnit::Microsecond, _) => {
                Values::Longs(array.as_primitive::<TimestampMicrosecondType>().values())
            }
            DataType::Timestamp(TimeUnit::Nanosecond, _) => {
                Values::Longs(array.as_primitive::<TimestampNanosecondType>().values())
            }
            DataType::Float32 => Values::Floats(array.as_primitive()),
            DataType::Float64 => Values::Doubles(array.as_primitive()),
            DataType::Decimal128(precision, _) => {
                let size = usize::try_from(decimal_bytes(*precision)).unwrap_or(16);
                Values::Decimals(array.as_primitive(), size)
            }
            DataType::Utf8 => Values::Text(array.as_string()),
            DataType::Utf8View => Values::TextViews(array.as_string_view()),
            DataType::Binary => Values::Bytes(array.as_binary()),
            DataType::BinaryView => Values::ByteViews(array.as_binary_view()),
            DataType::FixedSizeBinary(_) => Values::Fixed(array.as_fixed_size_binary()),
            DataType::Struct(fields) => {
                let columns = array.as_struct().columns().iter().zip(fields);
                Values::Struct(columns.map(|(a, f)| Column::new(a, f)).collect::<Result<_>>()?)
            }
            DataType::List(element) => {
                let list = array.as_list();
                Values::List(list, Box::new(Column::new(list.values(), element)?))
            }
            DataType::Map(..) => Self::map(array.as_map(), field)?,
            _ => return Err(unsupported(field)),
        })
    }

    fn map(map: &'a MapArray, field: &Field) -> Result<Self> {
        let DataType::Struct(pair) = map.entries().data_type() else {
            return Err(unsupported(field));
        };
        let [key, value] = pair.as_ref() else {
            return Err(unsupported(field));
        };
        let pair = [Column::new(map.keys(), key)?, Column::new(map.values(), value)?];
        Ok(Values::Map(map, Box::new(pair)))
    }

    fn encode(&self, row: usize, encoder: &mut Encoder) {
        match self {
            Values::Boolean(values) => encoder.boolean(values.value(row)),
            Values::Ints(values) => encoder.long(values[row].into()),
            Values::Longs(values) => encoder.long(values[row]),
            Values::Floats(values) => encoder.raw(&values.value(row).to_le_bytes()),
            Values::Doubles(values) => encoder.raw(&values.value(row).to_le_bytes()),
            Values::Decimals(values, size) => {
                let bytes = values.value(row).to_be_bytes();
                encoder.raw(&bytes[bytes.len().saturating_sub(*size)..]);
            }
            Values::Text(values) => encoder.sized(values.value(row).as_bytes()),
            Values::TextViews(values) => encoder.sized(values.value(row).as_bytes()),
            Values::Bytes(values) => encoder.sized(values.value(row)),
            Values::ByteViews(values) => encoder.sized(values.value(row)),
            Values::Fixed(values) => encoder.raw(values.value(row)),
            Values::Struct(children) => children.iter().for_each(|child| child.encode(row, encoder)),
            Values::List(list, items) => {
                let offsets = list.value_offsets();
                let items_of_row = offsets[row] as usize..offsets[row + 1] as usize;
                encoder.array(items_of_row, |encoder, i| items.encode(i, encoder));
            }
            Values::Map(map, pair) => {
                let offsets = map.value_offsets();
                let entries = offsets[row] as usize..offsets[row + 1] as usize;
                encoder.array(entries, |encoder, i| {
                    pair.iter().for_each(|column| column.encode(i, encoder))
                });
            }
        }
    }
}

fn unsupported(field: &Field) -> Error {
    Error::unsupported(format!(
        "column '{}' of type {} is not written in Avro yet",
        field.name(),
        field.data_type()
    ))
}
