//! Rows as the golden files write them (`golden/README.md`, "Results").

use tarn::datafusion::arrow::array::{Array, AsArray, RecordBatch};
use tarn::datafusion::arrow::compute::cast;
use tarn::datafusion::arrow::datatypes::{DataType, Float32Type, Float64Type, TimeUnit};
use tarn::datafusion::arrow::error::ArrowError;
use tarn::datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};
use tarn::engine::arrow::variant::{is_variant_type, json_at};

/// The cells of every row.
///
/// # Errors
/// A value of a type that Arrow cannot show.
pub fn rows(batches: &[RecordBatch]) -> Result<Vec<Vec<String>>, ArrowError> {
    let mut rows = Vec::new();
    for batch in batches {
        for i in 0..batch.num_rows() {
            let cells = batch.columns().iter().map(|column| top_level(column.as_ref(), i));
            rows.push(cells.collect::<Result<_, _>>()?);
        }
    }
    Ok(rows)
}

/// A column's value; inside nested values an empty text is nothing at all.
fn top_level(array: &dyn Array, i: usize) -> Result<String, ArrowError> {
    let shown = cell(array, i)?;
    let is_text = matches!(
        array.data_type(),
        DataType::Utf8View | DataType::Utf8 | DataType::LargeUtf8
    );
    Ok(if is_text && shown.is_empty() {
        "(empty)".to_string()
    } else {
        shown
    })
}

fn cell(array: &dyn Array, i: usize) -> Result<String, ArrowError> {
    if array.is_null(i) {
        return Ok("NULL".to_string());
    }
    Ok(match array.data_type() {
        DataType::Utf8View => text(array.as_string_view().value(i)),
        DataType::Utf8 => text(array.as_string::<i32>().value(i)),
        DataType::LargeUtf8 => text(array.as_string::<i64>().value(i)),
        DataType::Float64 => float(array.as_primitive::<Float64Type>().value(i), None),
        DataType::Float32 => {
            let value = array.as_primitive::<Float32Type>().value(i);
            float(f64::from(value), Some(value))
        }
        DataType::Timestamp(unit, _) => timestamp(array, *unit, i)?,
        variant if is_variant_type(variant) => json_at(array.as_struct(), i)?.unwrap_or_else(|| "NULL".to_string()),
        DataType::Struct(fields) => {
            let columns = array.as_struct().columns().iter().zip(fields);
            let cells = columns.map(|(column, f)| Ok(format!("{}: {}", f.name(), cell(column.as_ref(), i)?)));
            format!("{{{}}}", joined(cells)?)
        }
        DataType::List(_) => list(array.as_list::<i32>().value(i).as_ref())?,
        DataType::LargeList(_) => list(array.as_list::<i64>().value(i).as_ref())?,
        DataType::Map(..) => {
            let entries = array.as_map().value(i);
            let (keys, values) = (entries.column(0), entries.column(1));
            let pair = |j| Ok((cell(keys, j)?, cell(values, j)?));
            let mut pairs = (0..entries.len()).map(pair).collect::<Result<Vec<_>, ArrowError>>()?;
            pairs.sort();
            let shown: Vec<String> = pairs.iter().map(|(key, value)| format!("{key}: {value}")).collect();
            format!("{{{}}}", shown.join(", "))
        }
        _ => ArrayFormatter::try_new(array, &FormatOptions::new())?
            .value(i)
            .to_string(),
    })
}

fn list(values: &dyn Array) -> Result<String, ArrowError> {
    let cells = (0..values.len()).map(|j| cell(values, j));
    Ok(format!("[{}]", joined(cells)?))
}

fn joined(cells: impl Iterator<Item = Result<String, ArrowError>>) -> Result<String, ArrowError> {
    Ok(cells.collect::<Result<Vec<_>, _>>()?.join(", "))
}

fn text(value: &str) -> String {
    value.replace('\n', "\\n")
}

fn float(value: f64, narrow: Option<f32>) -> String {
    match value {
        v if v.is_nan() => "NaN".to_string(),
        v if v.is_infinite() => if v > 0.0 { "Infinity" } else { "-Infinity" }.to_string(),
        v => shortest(v, narrow),
    }
}

/// The shortest digits that give a finite number back (as a float where it is one), with an exponent below 1e-4 and from
/// 1e16 on.
pub fn shortest(value: f64, narrow: Option<f32>) -> String {
    let scientific = narrow.map_or_else(|| format!("{value:e}"), |v| format!("{v:e}"));
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if value != 0.0 && !(-4..16).contains(&exponent) {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{digits}e{sign}{:02}", exponent.abs());
    }
    let plain = narrow.map_or_else(|| value.to_string(), |v| v.to_string());
    if plain.contains('.') {
        plain
    } else {
        format!("{plain}.0")
    }
}

/// In UTC, trailing zeros of the fraction cut.
fn timestamp(array: &dyn Array, unit: TimeUnit, i: usize) -> Result<String, ArrowError> {
    let format = if unit == TimeUnit::Nanosecond {
        "%Y-%m-%d %H:%M:%S%.9f"
    } else {
        "%Y-%m-%d %H:%M:%S%.6f"
    };
    let plain = cast(&array.slice(i, 1), &DataType::Timestamp(unit, None))?;
    let options = FormatOptions::new().with_timestamp_format(Some(format));
    let shown = ArrayFormatter::try_new(&plain, &options)?.value(0).to_string();
    Ok(shown.trim_end_matches('0').trim_end_matches('.').to_string())
}
