//! One value as text, as JSON, and how each kind of value is laid out.
//!
//! Text is what Spark shows: nested values in brackets, timestamps in the session's time zone. JSON is for programs:
//! nested values are objects and arrays, timestamps RFC 3339, decimals exact.

use tarn::datafusion::arrow::array::timezone::Tz;
use tarn::datafusion::arrow::array::{Array, AsArray, ListLikeArray, OffsetSizeTrait, RecordBatch};
use tarn::datafusion::arrow::datatypes::{
    ArrowPrimitiveType, DataType, Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type, Field, Float16Type,
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use tarn::datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};
use tarn::engine::arrow::variant::{is_variant_type, json_at};

use super::time;

/// Deepest nesting that is shown.
const MAX_DEPTH: usize = 64;

/// How a NULL inside a nested value is written in text.
const NULL: &str = "NULL";

/// Which of the two it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Notation {
    /// For people.
    Text,
    /// For programs.
    Json,
}

/// Which side of its column a value stands on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Alignment {
    Left,
    Right,
}

/// Numbers stand on the right, all else on the left.
pub fn alignment(data_type: &DataType) -> Alignment {
    match data_type {
        DataType::Dictionary(_, value) => alignment(value),
        t if t.is_numeric() => Alignment::Right,
        _ => Alignment::Left,
    }
}

/// Writes values of one session.
#[derive(Debug, Clone, Copy)]
pub struct Values {
    /// The zone that timestamps with a zone are shown in.
    pub zone: Tz,
}

impl Values {
    /// The text of a cell; `None` is NULL.
    pub fn text(&self, batch: &RecordBatch, column: usize, row: usize) -> Option<String> {
        let array = batch.column(column);
        if is_null(array, row) {
            return None;
        }
        let mut out = String::new();
        let mut writer = self.writer(&mut out, Notation::Text);
        writer.write(batch.schema_ref().field(column), array, row, 0);
        Some(out)
    }

    /// Writes a cell as JSON.
    pub fn json(&self, out: &mut String, batch: &RecordBatch, column: usize, row: usize) {
        let field = batch.schema_ref().field(column);
        let mut writer = self.writer(out, Notation::Json);
        writer.write(field, batch.column(column), row, 0);
    }

    fn writer<'a>(&self, out: &'a mut String, notation: Notation) -> Writer<'a> {
        let zone = self.zone;
        Writer { out, zone, notation }
    }
}

/// One value being written.
struct Writer<'a> {
    out: &'a mut String,
    zone: Tz,
    notation: Notation,
}

impl Writer<'_> {
    fn write(&mut self, field: &Field, array: &dyn Array, row: usize, depth: usize) {
        if is_null(array, row) {
            self.out
                .push_str(if self.notation == Notation::Text { NULL } else { "null" });
            return;
        }
        if depth > MAX_DEPTH {
            return self.quoted("…");
        }
        match array.data_type() {
            variant if is_variant_type(variant) => self.variant(array, row),
            DataType::Struct(_) => self.structure(array, row, depth),
            DataType::Map(..) => self.map(array, row, depth),
            DataType::List(item) => self.list(item, &array.as_list::<i32>().value(row), depth),
            DataType::LargeList(item) => self.list(item, &array.as_list::<i64>().value(row), depth),
            DataType::FixedSizeList(item, _) => {
                self.list(item, &array.as_fixed_size_list().value(row), depth);
            }
            DataType::ListView(item) => self.list(item, &view::<i32>(array, row), depth),
            DataType::LargeListView(item) => self.list(item, &view::<i64>(array, row), depth),
            DataType::Dictionary(..) => {
                if let Some(key) = dictionary_key(array, row) {
                    self.write(field, array.as_any_dictionary().values(), key, depth + 1);
                }
            }
            _ => self.scalar(field, array, row),
        }
    }

    /// JSON in both notations.
    fn variant(&mut self, array: &dyn Array, row: usize) {
        match json_at(array.as_struct(), row) {
            Ok(json) => self.out.push_str(json.as_deref().unwrap_or("null")),
            Err(_) => self.quoted("not a variant"),
        }
    }

    fn structure(&mut self, array: &dyn Array, row: usize, depth: usize) {
        let array = array.as_struct();
        self.out.push('{');
        for (i, (field, column)) in array.fields().iter().zip(array.columns()).enumerate() {
            self.separate(i);
            self.quoted(field.name());
            self.colon();
            self.write(field, column, row, depth + 1);
        }
        self.out.push('}');
    }

    fn map(&mut self, array: &dyn Array, row: usize, depth: usize) {
        let map = array.as_map();
        let entries = map.value(row);
        let (Some(key_field), Some(value_field)) = (entries.fields().first(), entries.fields().get(1)) else {
            return;
        };
        self.out.push('{');
        for i in 0..entries.len() {
            self.separate(i);
            // Keys of JSON are text whatever their type.
            let mut key = String::new();
            let mut writer = Writer {
                out: &mut key,
                zone: self.zone,
                notation: Notation::Text,
            };
            writer.write(key_field, entries.column(0), i, depth + 1);
            self.quoted(&key);
            self.colon();
            self.write(value_field, entries.column(1), i, depth + 1);
        }
        self.out.push('}');
    }

    fn list(&mut self, item: &Field, values: &dyn Array, depth: usize) {
        self.out.push('[');
        for i in 0..values.len() {
            self.separate(i);
            self.write(item, values, i, depth + 1);
        }
        self.out.push(']');
    }

    fn scalar(&mut self, field: &Field, array: &dyn Array, row: usize) {
        use std::fmt::Write;
        // Writing into a string does not fail.
        let _ = match array.data_type() {
            DataType::Boolean => write!(self.out, "{}", array.as_boolean().value(row)),
            DataType::Int8 => write!(self.out, "{}", native::<Int8Type>(array, row)),
            DataType::Int16 => write!(self.out, "{}", native::<Int16Type>(array, row)),
            DataType::Int32 => write!(self.out, "{}", native::<Int32Type>(array, row)),
            DataType::Int64 => write!(self.out, "{}", native::<Int64Type>(array, row)),
            DataType::UInt8 => write!(self.out, "{}", native::<UInt8Type>(array, row)),
            DataType::UInt16 => write!(self.out, "{}", native::<UInt16Type>(array, row)),
            DataType::UInt32 => write!(self.out, "{}", native::<UInt32Type>(array, row)),
            DataType::UInt64 => write!(self.out, "{}", native::<UInt64Type>(array, row)),
            DataType::Decimal32(..) => write!(self.out, "{}", decimal::<Decimal32Type>(array, row)),
            DataType::Decimal64(..) => write!(self.out, "{}", decimal::<Decimal64Type>(array, row)),
            DataType::Decimal128(..) => write!(self.out, "{}", decimal::<Decimal128Type>(array, row)),
            DataType::Decimal256(..) => write!(self.out, "{}", decimal::<Decimal256Type>(array, row)),
            DataType::Float16 => {
                let value = native::<Float16Type>(array, row).to_f32();
                return self.float(f64::from(value), format!("{value:?}"));
            }
            DataType::Float32 => {
                let value = native::<Float32Type>(array, row);
                return self.float(f64::from(value), format!("{value:?}"));
            }
            DataType::Float64 => {
                let value = native::<Float64Type>(array, row);
                return self.float(value, format!("{value:?}"));
            }
            DataType::Utf8 => return self.quoted(array.as_string::<i32>().value(row)),
            DataType::LargeUtf8 => return self.quoted(array.as_string::<i64>().value(row)),
            DataType::Utf8View => return self.quoted(array.as_string_view().value(row)),
            DataType::Binary => return self.quoted(&hex(array.as_binary::<i32>().value(row))),
            DataType::LargeBinary => return self.quoted(&hex(array.as_binary::<i64>().value(row))),
            DataType::BinaryView => return self.quoted(&hex(array.as_binary_view().value(row))),
            DataType::FixedSizeBinary(_) => {
                let bytes = array.as_fixed_size_binary().value(row);
                let shown = if is_uuid(field) { uuid(bytes) } else { hex(bytes) };
                return self.quoted(&shown);
            }
            data_type => {
                let moment = time::text(data_type, array, row, self.zone, self.notation);
                return self.quoted(&moment.unwrap_or_else(|| fallback(array, row)));
            }
        };
    }

    /// The shortest digits that give the number back. JSON has no words for what is no number.
    fn float(&mut self, value: f64, digits: String) {
        match value {
            v if v.is_nan() => self.quoted("NaN"),
            f64::INFINITY => self.quoted("Infinity"),
            f64::NEG_INFINITY => self.quoted("-Infinity"),
            _ => self.out.push_str(&digits),
        }
    }

    fn quoted(&mut self, text: &str) {
        quoted(self.out, text, self.notation);
    }

    fn separate(&mut self, i: usize) {
        if i > 0 {
            self.out
                .push_str(if self.notation == Notation::Text { ", " } else { "," });
        }
    }

    fn colon(&mut self) {
        self.out
            .push_str(if self.notation == Notation::Text { ": " } else { ":" });
    }
}

/// What Arrow makes of a type that is not ours.
fn fallback(array: &dyn Array, row: usize) -> String {
    let options = FormatOptions::new().with_null(NULL);
    match ArrayFormatter::try_new(array, &options) {
        Ok(formatter) => formatter.value(row).try_to_string().unwrap_or_else(|e| e.to_string()),
        Err(e) => e.to_string(),
    }
}

/// Whether a value is NULL, by its own mask or by what its dictionary says.
fn is_null(array: &dyn Array, row: usize) -> bool {
    match array.data_type() {
        DataType::Null => true,
        DataType::Dictionary(..) if array.is_valid(row) => {
            let values = array.as_any_dictionary().values();
            dictionary_key(array, row).is_none_or(|key| values.is_null(key))
        }
        _ => array.is_null(row),
    }
}

/// Where a dictionary's value is.
fn dictionary_key(array: &dyn Array, row: usize) -> Option<usize> {
    // All keys are normalized at once: of one row there is one.
    let one = array.slice(row, 1);
    one.as_any_dictionary().normalized_keys().first().copied()
}

fn native<T: ArrowPrimitiveType>(array: &dyn Array, row: usize) -> T::Native {
    array.as_primitive::<T>().value(row)
}

fn decimal<T: tarn::datafusion::arrow::datatypes::DecimalType>(array: &dyn Array, row: usize) -> String {
    array.as_primitive::<T>().value_as_string(row)
}

fn view<O: OffsetSizeTrait>(array: &dyn Array, row: usize) -> tarn::datafusion::arrow::array::ArrayRef {
    let views = array.as_list_view::<O>();
    let range = views.element_range(row);
    views.values().slice(range.start, range.len())
}

/// Text as it is, or as a JSON string.
pub fn quoted(out: &mut String, text: &str, notation: Notation) {
    match notation {
        Notation::Text => out.push_str(text),
        Notation::Json => out.push_str(&serde_json::Value::from(text).to_string()),
    }
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    let mut out = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        // Writing into a string does not fail.
        let _ = write!(out, "{byte:02x}");
    }
    out
}

fn is_uuid(field: &Field) -> bool {
    field
        .metadata()
        .get("ARROW:extension:name")
        .is_some_and(|n| n == "arrow.uuid")
}

fn uuid(bytes: &[u8]) -> String {
    let digits = hex(bytes);
    let part = |from: usize, to: usize| digits.get(from..to).unwrap_or_default();
    let parts = [part(0, 8), part(8, 12), part(12, 16), part(16, 20), part(20, 32)];
    parts.join("-")
}

#[cfg(test)]
mod tests;
