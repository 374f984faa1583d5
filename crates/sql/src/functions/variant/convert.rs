//! Variants as values of other types, with the casts that their own types have.

use std::sync::Arc;

use datafusion::arrow::array::{
    Array, ArrayRef, BinaryViewArray, BooleanArray, Date32Array, Decimal128Array, Float32Array, Float64Array,
    Int64Array, ListArray, MapArray, NullArray, StringArray, StringViewArray, StructArray, TimestampMicrosecondArray,
    TimestampNanosecondArray, new_null_array,
};
use datafusion::arrow::buffer::{NullBuffer, OffsetBuffer};
use datafusion::arrow::compute::interleave;
use datafusion::arrow::datatypes::{DataType, Date32Type, Field, TimeUnit};
use datafusion::common::exec_err;
use datafusion::error::Result;
use parquet_variant::Variant;
use parquet_variant_compute::VariantArrayBuilder;
use parquet_variant_json::VariantToJson;
use tarn_engine::arrow::variant::{as_column, is_variant_type};

use super::udfs::OnMisfit;
use crate::functions::{cast_array, type_name};

/// Variants of rows; `None` is NULL.
pub(super) type Values<'m, 'v> = Vec<Option<Variant<'m, 'v>>>;

/// The values as an array of this type. Variant nulls are NULL, except as variants.
///
/// # Errors
/// When a value does not fit and `on_misfit` says so.
pub(super) fn convert(values: Values<'_, '_>, target: &DataType, on_misfit: OnMisfit) -> Result<ArrayRef> {
    if is_variant_type(target) {
        return variants(values);
    }
    let values: Values<'_, '_> = values
        .into_iter()
        .map(|v| v.filter(|v| !matches!(v, Variant::Null)))
        .collect();
    match target {
        DataType::List(element) => list(values, element, on_misfit),
        DataType::Map(entries, sorted) => map(values, entries, *sorted, on_misfit),
        DataType::Struct(fields) => {
            let nulls = nulls(&values, |v| matches!(v, Variant::Object(_)), target, on_misfit)?;
            let column = |field: &Arc<Field>| {
                let parts = values.iter().map(|v| field_of(v.as_ref(), field.name()));
                convert(parts.collect(), field.data_type(), on_misfit)
            };
            let columns = fields.iter().map(column).collect::<Result<Vec<_>>>()?;
            Ok(Arc::new(StructArray::try_new_with_length(
                fields.clone(),
                columns,
                Some(nulls),
                values.len(),
            )?))
        }
        _ => scalars(&values, target, on_misfit),
    }
}

fn field_of<'m, 'v>(value: Option<&Variant<'m, 'v>>, name: &str) -> Option<Variant<'m, 'v>> {
    match value {
        Some(Variant::Object(object)) => object.get(name),
        _ => None,
    }
}

/// Which values are of the kind that is wanted; others are misfits.
fn nulls(
    values: &Values<'_, '_>,
    fits: impl Fn(&Variant<'_, '_>) -> bool,
    target: &DataType,
    on_misfit: OnMisfit,
) -> Result<NullBuffer> {
    let mut valid = Vec::with_capacity(values.len());
    for value in values {
        match value {
            Some(value) if !fits(value) => {
                valid.push(false);
                misfit(value, target, on_misfit)?;
            }
            other => valid.push(other.is_some()),
        }
    }
    Ok(NullBuffer::from(valid))
}

fn misfit(value: &Variant<'_, '_>, target: &DataType, on_misfit: OnMisfit) -> Result<()> {
    match on_misfit {
        OnMisfit::Null => Ok(()),
        OnMisfit::Fail => {
            let json = value.to_json_string()?;
            let shown: String = json.chars().take(60).collect();
            exec_err!(
                "the variant {shown} cannot be cast to {}: try_variant_get gives NULL instead",
                type_name(target)
            )
        }
    }
}

fn variants(values: Values<'_, '_>) -> Result<ArrayRef> {
    let mut builder = VariantArrayBuilder::new(values.len());
    for value in values {
        match value {
            Some(value) => builder.append_variant(value),
            None => builder.append_null(),
        }
    }
    Ok(as_column(&builder.build())?)
}

fn list(values: Values<'_, '_>, element: &Arc<Field>, on_misfit: OnMisfit) -> Result<ArrayRef> {
    let target = DataType::List(Arc::clone(element));
    let nulls = nulls(&values, |v| matches!(v, Variant::List(_)), &target, on_misfit)?;
    let mut elements = Vec::new();
    let lengths = values.iter().map(|value| match value {
        Some(Variant::List(list)) => {
            elements.extend(list.iter().map(Some));
            list.len()
        }
        _ => 0,
    });
    let offsets = OffsetBuffer::from_lengths(lengths);
    let elements = convert(elements, element.data_type(), on_misfit)?;
    Ok(Arc::new(ListArray::try_new(
        Arc::clone(element),
        offsets,
        elements,
        Some(nulls),
    )?))
}

fn map(values: Values<'_, '_>, entries: &Arc<Field>, sorted: bool, on_misfit: OnMisfit) -> Result<ArrayRef> {
    let target = DataType::Map(Arc::clone(entries), sorted);
    let DataType::Struct(pair) = entries.data_type() else {
        return exec_err!("a map has no entries");
    };
    let nulls = nulls(&values, |v| matches!(v, Variant::Object(_)), &target, on_misfit)?;
    let (mut keys, mut held) = (Vec::new(), Vec::new());
    let lengths = values.iter().map(|value| match value {
        Some(Variant::Object(object)) => {
            for (key, value) in object.iter() {
                keys.push(key);
                held.push(Some(value));
            }
            object.len()
        }
        _ => 0,
    });
    let offsets = OffsetBuffer::from_lengths(lengths);
    let keys: ArrayRef = Arc::new(StringArray::from_iter_values(keys));
    let columns = vec![
        cast_array(&keys, pair[0].data_type())?,
        convert(held, pair[1].data_type(), on_misfit)?,
    ];
    let entries_array = StructArray::try_new(pair.clone(), columns, None)?;
    let map = MapArray::try_new(Arc::clone(entries), offsets, entries_array, Some(nulls), sorted)?;
    Ok(Arc::new(map))
}

/// Values that hold no others: those of each type are cast together, and put into their rows again.
fn scalars(values: &Values<'_, '_>, target: &DataType, on_misfit: OnMisfit) -> Result<ArrayRef> {
    let mut groups: Vec<(DataType, Vec<usize>)> = Vec::new();
    for (row, value) in values.iter().enumerate() {
        let Some(value) = value else { continue };
        let natural = natural_type(value, target);
        match groups.iter_mut().find(|(t, _)| *t == natural) {
            Some((_, rows)) => rows.push(row),
            None => groups.push((natural, vec![row])),
        }
    }
    let mut places = vec![(0, 0); values.len()];
    let mut arrays = vec![new_null_array(target, 1)];
    for (natural, rows) in groups {
        let members: Vec<&Variant<'_, '_>> = rows.iter().filter_map(|row| values[*row].as_ref()).collect();
        let own = array_of(&members, &natural)?;
        let cast = match own.data_type() {
            DataType::Null => new_null_array(target, own.len()),
            _ => cast_array(&own, target)?,
        };
        for (at, row) in rows.into_iter().enumerate() {
            if cast.is_null(at) {
                misfit(members[at], target, on_misfit)?;
            }
            places[row] = (arrays.len(), at);
        }
        arrays.push(cast);
    }
    let arrays: Vec<&dyn Array> = arrays.iter().map(AsRef::as_ref).collect();
    Ok(interleave(&arrays, &places)?)
}

/// The type of arrays that hold such values. Lists and objects are text of JSON where text is wanted, else nothing.
fn natural_type(value: &Variant<'_, '_>, target: &DataType) -> DataType {
    let zone = || Some(Arc::from("UTC"));
    match value {
        Variant::Null => DataType::Null,
        Variant::BooleanTrue | Variant::BooleanFalse => DataType::Boolean,
        Variant::Int8(_) | Variant::Int16(_) | Variant::Int32(_) | Variant::Int64(_) => DataType::Int64,
        Variant::Decimal4(d) => DataType::Decimal128(38, d.scale() as i8),
        Variant::Decimal8(d) => DataType::Decimal128(38, d.scale() as i8),
        Variant::Decimal16(d) => DataType::Decimal128(38, d.scale() as i8),
        Variant::Float(_) => DataType::Float32,
        Variant::Double(_) => DataType::Float64,
        Variant::Date(_) => DataType::Date32,
        Variant::TimestampMicros(_) => DataType::Timestamp(TimeUnit::Microsecond, zone()),
        Variant::TimestampNtzMicros(_) => DataType::Timestamp(TimeUnit::Microsecond, None),
        Variant::TimestampNanos(_) => DataType::Timestamp(TimeUnit::Nanosecond, zone()),
        Variant::TimestampNtzNanos(_) => DataType::Timestamp(TimeUnit::Nanosecond, None),
        Variant::Binary(_) => DataType::BinaryView,
        Variant::String(_) | Variant::ShortString(_) | Variant::Time(_) | Variant::Uuid(_) => DataType::Utf8View,
        Variant::Object(_) | Variant::List(_) => match target {
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => DataType::Utf8View,
            _ => DataType::Null,
        },
    }
}

fn array_of(values: &[&Variant<'_, '_>], natural: &DataType) -> Result<ArrayRef> {
    let values = values.iter();
    Ok(match natural {
        DataType::Boolean => Arc::new(values.map(|v| v.as_boolean()).collect::<BooleanArray>()),
        DataType::Int64 => Arc::new(values.map(|v| v.as_int64()).collect::<Int64Array>()),
        DataType::Float32 => Arc::new(values.map(|v| v.as_f32()).collect::<Float32Array>()),
        DataType::Float64 => Arc::new(values.map(|v| v.as_f64()).collect::<Float64Array>()),
        DataType::Decimal128(digits, scale) => {
            let numbers: Decimal128Array = values.map(|v| digits_of(v)).collect();
            Arc::new(numbers.with_precision_and_scale(*digits, *scale)?)
        }
        DataType::Date32 => {
            let day = |v: &&Variant<'_, '_>| v.as_naive_date().map(Date32Type::from_naive_date);
            Arc::new(values.map(day).collect::<Date32Array>())
        }
        DataType::Timestamp(TimeUnit::Microsecond, zone) => {
            let micros = |v: &&Variant<'_, '_>| match v {
                Variant::TimestampMicros(t) => Some(t.timestamp_micros()),
                Variant::TimestampNtzMicros(t) => Some(t.and_utc().timestamp_micros()),
                _ => None,
            };
            let array: TimestampMicrosecondArray = values.map(micros).collect();
            Arc::new(array.with_timezone_opt(zone.clone()))
        }
        DataType::Timestamp(_, zone) => {
            let nanos = |v: &&Variant<'_, '_>| match v {
                Variant::TimestampNanos(t) => t.timestamp_nanos_opt(),
                Variant::TimestampNtzNanos(t) => t.and_utc().timestamp_nanos_opt(),
                _ => None,
            };
            let array: TimestampNanosecondArray = values.map(nanos).collect();
            Arc::new(array.with_timezone_opt(zone.clone()))
        }
        DataType::BinaryView => {
            let bytes = values.map(|v| match v {
                Variant::Binary(bytes) => Some(*bytes),
                _ => None,
            });
            Arc::new(bytes.collect::<BinaryViewArray>())
        }
        DataType::Utf8View => {
            let texts = values.map(|v| text_of(v)).collect::<Result<Vec<_>>>()?;
            Arc::new(StringViewArray::from_iter_values(texts))
        }
        _ => Arc::new(NullArray::new(values.len())),
    })
}

fn digits_of(value: &Variant<'_, '_>) -> Option<i128> {
    match value {
        Variant::Decimal4(d) => Some(i128::from(d.integer())),
        Variant::Decimal8(d) => Some(i128::from(d.integer())),
        Variant::Decimal16(d) => Some(d.integer()),
        _ => None,
    }
}

/// Text as it is; of others the JSON, without quotes.
fn text_of(value: &Variant<'_, '_>) -> Result<String> {
    Ok(match value {
        Variant::String(text) => (*text).to_string(),
        Variant::ShortString(text) => text.as_str().to_string(),
        Variant::Object(_) | Variant::List(_) => value.to_json_string()?,
        other => other.to_json_string()?.trim_matches('"').to_string(),
    })
}
