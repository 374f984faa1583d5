//! Columns from directories named `column=value`, as Hive and Spark lay out files.

use std::sync::Arc;

use arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::ScalarValue;
use tarn_format::{Error, Result};

/// Stands for NULL in a directory's name.
const NULL_NAME: &str = "__HIVE_DEFAULT_PARTITION__";

/// The columns, and the values of each file.
#[derive(Debug, Default)]
pub(super) struct PartitionColumns {
    pub(super) fields: Vec<FieldRef>,
    pub(super) values: Vec<Vec<ScalarValue>>,
}

impl PartitionColumns {
    /// Reads the paths of files below the directory that is read; no columns when the first lies in none.
    ///
    /// # Errors
    /// `InvalidInput` when files lie in different kinds of directories.
    pub(super) fn of(paths: &[Vec<String>]) -> Result<Self> {
        let pairs: Vec<Vec<(String, Option<String>)>> = paths.iter().map(|p| pairs(p)).collect();
        let names = |of: &[(String, Option<String>)]| of.iter().map(|(n, _)| n.clone()).collect::<Vec<_>>();
        let Some(columns) = pairs.first().map(|p| names(p)) else {
            return Ok(PartitionColumns::default());
        };
        if let Some(other) = pairs.iter().map(|p| names(p)).find(|n| *n != columns) {
            return Err(Error::invalid(format!(
                "files lie in directories of different columns: [{}] and [{}]",
                columns.join(", "),
                other.join(", ")
            )));
        }
        let text = |row: &[(String, Option<String>)], i: usize| row.get(i).and_then(|(_, v)| v.clone());
        let types: Vec<DataType> = (0..columns.len())
            .map(|i| type_of(pairs.iter().filter_map(|row| text(row, i))))
            .collect();
        let value = |row: &[(String, Option<String>)], i: usize| {
            let typed = ScalarValue::Utf8(text(row, i)).cast_to(&types[i]);
            typed.map_err(|e| {
                Error::invalid(format!("the directory of column '{}' has no such value", columns[i])).with_source(e)
            })
        };
        let values: Result<Vec<Vec<ScalarValue>>> = pairs
            .iter()
            .map(|row| (0..columns.len()).map(|i| value(row, i)).collect())
            .collect();
        let fields = columns.iter().zip(&types);
        Ok(PartitionColumns {
            values: values?,
            fields: fields.map(|(n, t)| Arc::new(Field::new(n, t.clone(), true))).collect(),
        })
    }
}

fn pairs(path: &[String]) -> Vec<(String, Option<String>)> {
    let directories = path.split_last().map_or(&[][..], |(_, directories)| directories);
    directories
        .iter()
        .filter_map(|d| d.split_once('='))
        .map(|(name, value)| {
            let value = (value != NULL_NAME).then(|| unescaped(value));
            (unescaped(name), value)
        })
        .collect()
}

/// `%3A` is `:`. What is no escape stays.
fn unescaped(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let escaped = match (first, tail) {
            (b'%', [a, b, ..]) => std::str::from_utf8(&[*a, *b])
                .ok()
                .and_then(|hex| u8::from_str_radix(hex, 16).ok()),
            _ => None,
        };
        bytes.push(escaped.unwrap_or(*first));
        rest = if escaped.is_some() { &tail[2..] } else { tail };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// int, bigint or date where every value is one, else text (Spark: `PartitioningUtils.inferPartitionColumnValue`).
fn type_of(values: impl Iterator<Item = String> + Clone) -> DataType {
    let all = |test: fn(&str) -> bool| values.clone().all(|v| test(&v));
    if values.clone().next().is_none() {
        return DataType::Utf8;
    }
    if all(|v| v.parse::<i32>().is_ok()) {
        return DataType::Int32;
    }
    if all(|v| v.parse::<i64>().is_ok()) {
        return DataType::Int64;
    }
    let is_date = |v: &str| v.len() == 10 && ScalarValue::from(v).cast_to(&DataType::Date32).is_ok();
    if all(is_date) { DataType::Date32 } else { DataType::Utf8 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(all: &[&str]) -> Vec<Vec<String>> {
        all.iter().map(|p| p.split('/').map(str::to_string).collect()).collect()
    }

    #[test]
    fn directories_become_typed_columns() {
        let columns = PartitionColumns::of(&paths(&[
            "year=2024/day=2024-01-31/at=a%3Ab/f.csv",
            "year=2025/day=__HIVE_DEFAULT_PARTITION__/at=c/f.csv",
        ]));
        let columns = columns.unwrap();
        let types: Vec<&DataType> = columns.fields.iter().map(|f| f.data_type()).collect();
        assert_eq!(types, [&DataType::Int32, &DataType::Date32, &DataType::Utf8]);
        assert_eq!(columns.values[0][2], ScalarValue::from("a:b"));
        assert_eq!(columns.values[1][0], ScalarValue::Int32(Some(2025)));
        assert!(columns.values[1][1].is_null());
    }

    #[test]
    fn files_side_by_side_have_none_and_mixtures_are_refused() {
        assert!(
            PartitionColumns::of(&paths(&["a.csv", "b.csv"]))
                .unwrap()
                .fields
                .is_empty()
        );
        assert!(PartitionColumns::of(&paths(&["x=1/a.csv", "y=1/b.csv"])).is_err());
        assert!(PartitionColumns::of(&paths(&["x=1/a.csv", "b.csv"])).is_err());
    }
}
