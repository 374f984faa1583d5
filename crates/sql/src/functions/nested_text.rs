//! Arrays, maps and structs as text, as Spark's CAST writes them: `[1, null]`, `{a -> 1}`, `{1, x}`.

use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, AsArray, StringViewArray};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::exec_err;
use datafusion::error::Result;
use tarn_engine::arrow::variant::is_variant_type;

use super::cast_array;
use super::unary::Kernel;

/// A nested value as text.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct NestedText;

impl Kernel for NestedText {
    fn name(&self) -> &str {
        "nested_text"
    }

    fn return_type(&self, _argument: &DataType) -> Result<DataType> {
        Ok(DataType::Utf8View)
    }

    fn evaluate(&self, array: &ArrayRef) -> Result<ArrayRef> {
        let texts = texts(array)?.into_iter();
        Ok(Arc::new(texts.collect::<StringViewArray>()))
    }
}

/// Every value as text; `None` for NULL.
fn texts(array: &ArrayRef) -> Result<Vec<Option<String>>> {
    let shown = |text: &Option<String>| text.clone().unwrap_or_else(|| "null".to_string());
    match array.data_type() {
        DataType::List(_) => {
            let list = array.as_list::<i32>();
            let values = texts(list.values())?;
            let row = |i: usize| {
                let (from, to) = (list.value_offsets()[i] as usize, list.value_offsets()[i + 1] as usize);
                let items: Vec<String> = values[from..to].iter().map(shown).collect();
                format!("[{}]", items.join(", "))
            };
            Ok(rows(array, row))
        }
        DataType::Map(..) => {
            let map = array.as_map();
            let (keys, values) = (texts(map.keys())?, texts(map.values())?);
            let row = |i: usize| {
                let (from, to) = (map.value_offsets()[i] as usize, map.value_offsets()[i + 1] as usize);
                let pairs = (from..to).map(|j| format!("{} -> {}", shown(&keys[j]), shown(&values[j])));
                format!("{{{}}}", pairs.collect::<Vec<_>>().join(", "))
            };
            Ok(rows(array, row))
        }
        DataType::Struct(_) if !is_variant_type(array.data_type()) => {
            let columns: Result<Vec<_>> = array.as_struct().columns().iter().map(texts).collect();
            let columns = columns?;
            let row = |i: usize| {
                let fields: Vec<String> = columns.iter().map(|c| shown(&c[i])).collect();
                format!("{{{}}}", fields.join(", "))
            };
            Ok(rows(array, row))
        }
        DataType::Null => Ok(vec![None; array.len()]),
        _ => {
            let text = cast_array(array, &DataType::Utf8View)?;
            let text = cast(&text, &DataType::Utf8)?;
            let Some(text) = text.as_string_opt::<i32>() else {
                return exec_err!("{} cannot be written as text", array.data_type());
            };
            Ok(text.iter().map(|t| t.map(str::to_string)).collect())
        }
    }
}

fn rows(array: &ArrayRef, row: impl Fn(usize) -> String) -> Vec<Option<String>> {
    (0..array.len()).map(|i| array.is_valid(i).then(|| row(i))).collect()
}
