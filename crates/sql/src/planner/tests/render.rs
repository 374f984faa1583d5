//! Rows as the golden scenarios write them.

use arrow::array::{Array, AsArray};
use arrow::datatypes::{DataType, Float32Type, Float64Type, TimeUnit};
use arrow::record_batch::RecordBatch;
use arrow::util::display::{ArrayFormatter, FormatOptions};

pub(crate) fn rows(batch: &RecordBatch) -> Vec<String> {
    let row = |i: usize| {
        let cells = batch.columns().iter().map(|c| cell(c.as_ref(), i));
        cells.collect::<Vec<_>>().join(" ")
    };
    (0..batch.num_rows()).map(row).collect()
}

fn cell(array: &dyn Array, i: usize) -> String {
    if array.is_null(i) || array.data_type().is_null() {
        return "NULL".to_string();
    }
    match array.data_type() {
        DataType::Utf8View => text(array.as_string_view().value(i)),
        DataType::Utf8 => text(array.as_string::<i32>().value(i)),
        DataType::Float64 => double(
            array.as_primitive::<Float64Type>().value(i),
            &array.as_primitive::<Float64Type>().value(i).to_string(),
        ),
        DataType::Float32 => {
            let value = array.as_primitive::<Float32Type>().value(i);
            double(f64::from(value), &value.to_string())
        }
        DataType::Timestamp(..) => {
            let plain = arrow::compute::cast(array, &DataType::Timestamp(TimeUnit::Microsecond, None)).expect("a cast");
            let options = FormatOptions::new().with_timestamp_format(Some("%Y-%m-%d %H:%M:%S%.6f"));
            let formatter = ArrayFormatter::try_new(&plain, &options).expect("a formatter");
            let shown = formatter.value(i).to_string();
            shown.trim_end_matches('0').trim_end_matches('.').to_string()
        }
        DataType::Struct(fields) => {
            let columns = array.as_struct().columns().iter().zip(fields);
            let fields = columns.map(|(c, f)| format!("{}: {}", f.name(), cell(c.as_ref(), i)));
            format!("{{{}}}", fields.collect::<Vec<_>>().join(", "))
        }
        DataType::List(_) => {
            let values = array.as_list::<i32>().value(i);
            let cells = (0..values.len()).map(|j| cell(values.as_ref(), j));
            format!("[{}]", cells.collect::<Vec<_>>().join(", "))
        }
        DataType::Map(..) => {
            let entries = array.as_map().value(i);
            let (keys, values) = (entries.column(0), entries.column(1));
            let cells = (0..entries.len()).map(|j| format!("{}: {}", cell(keys, j), cell(values, j)));
            let mut cells: Vec<String> = cells.collect();
            cells.sort();
            format!("{{{}}}", cells.join(", "))
        }
        _ => {
            let options = FormatOptions::new();
            let formatter = ArrayFormatter::try_new(array, &options).expect("a formatter");
            formatter.value(i).to_string()
        }
    }
}

fn text(value: &str) -> String {
    if value.is_empty() {
        "(empty)".to_string()
    } else {
        value.to_string()
    }
}

fn double(value: f64, shown: &str) -> String {
    if value.is_infinite() {
        return if value > 0.0 { "Infinity" } else { "-Infinity" }.to_string();
    }
    if value.is_nan() || shown.contains(['.', 'e']) {
        return shown.to_string();
    }
    format!("{shown}.0")
}
