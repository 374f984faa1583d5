//! Floating-point numbers as whole numbers and as text, and text as floating-point numbers, as Java does it.

use std::sync::Arc;

use datafusion::arrow::array::{
    Array, ArrayRef, ArrowPrimitiveType, AsArray, Int8Array, Int16Array, Int32Array, Int64Array, PrimitiveArray,
    StringViewArray,
};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Float32Type, Float64Type};
use datafusion::common::{exec_err, plan_err};
use datafusion::error::Result;

use super::unary::Kernel;

/// A number cut to a whole one: beyond the range the nearest value of int or bigint, NaN is 0, and smaller types get the
/// low bits of the int.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct FloatToWhole(pub(crate) DataType);

impl Kernel for FloatToWhole {
    fn name(&self) -> &str {
        "float_to_whole"
    }

    fn return_type(&self, argument: &DataType) -> Result<DataType> {
        if argument.is_floating() {
            Ok(self.0.clone())
        } else {
            plan_err!("float_to_whole takes a float or a double, not {argument}")
        }
    }

    fn evaluate(&self, array: &ArrayRef) -> Result<ArrayRef> {
        let doubles = cast(array, &DataType::Float64)?;
        let doubles = doubles.as_primitive::<Float64Type>().iter();
        // Rust's `as` cuts, saturates and takes NaN for 0, like Java's casts.
        Ok(match self.0 {
            DataType::Int8 => Arc::new(doubles.map(|v| v.map(|v| v as i32 as i8)).collect::<Int8Array>()),
            DataType::Int16 => Arc::new(doubles.map(|v| v.map(|v| v as i32 as i16)).collect::<Int16Array>()),
            DataType::Int32 => Arc::new(doubles.map(|v| v.map(|v| v as i32)).collect::<Int32Array>()),
            DataType::Int64 => Arc::new(doubles.map(|v| v.map(|v| v as i64)).collect::<Int64Array>()),
            _ => return exec_err!("{} is no whole number", self.0),
        })
    }
}

/// A number as Java writes it: `1.0`, `1.0E8`, `NaN`, `Infinity`.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct FloatText;

impl Kernel for FloatText {
    fn name(&self) -> &str {
        "float_text"
    }

    fn return_type(&self, _argument: &DataType) -> Result<DataType> {
        Ok(DataType::Utf8View)
    }

    fn evaluate(&self, array: &ArrayRef) -> Result<ArrayRef> {
        fn texts<T: ArrowPrimitiveType>(array: &PrimitiveArray<T>, text: impl Fn(T::Native) -> String) -> ArrayRef {
            let texts = array.iter().map(|v| v.map(&text));
            Arc::new(texts.collect::<StringViewArray>())
        }
        Ok(match array.data_type() {
            DataType::Float32 => texts(array.as_primitive::<Float32Type>(), |v| {
                java_text(f64::from(v), &format!("{v:e}"))
            }),
            DataType::Float64 => texts(array.as_primitive::<Float64Type>(), |v| java_text(v, &format!("{v:e}"))),
            other => return exec_err!("float_text takes a float or a double, not {other}"),
        })
    }
}

/// `scientific` is the value's shortest digits with an exponent, `1.5e-7`.
pub(crate) fn java_text(value: f64, scientific: &str) -> String {
    if value.is_nan() {
        return "NaN".to_string();
    }
    if value.is_infinite() {
        return if value > 0.0 { "Infinity" } else { "-Infinity" }.to_string();
    }
    if value == 0.0 {
        return if value.is_sign_negative() { "-0.0" } else { "0.0" }.to_string();
    }
    let Some((mantissa, exponent)) = scientific.split_once('e') else {
        return scientific.to_string();
    };
    let with_point = |digits: &str| match digits.contains('.') {
        true => digits.to_string(),
        false => format!("{digits}.0"),
    };
    // Java writes numbers from 0.001 up to 10 million without an exponent.
    let magnitude = value.abs();
    if !(1e-3..1e7).contains(&magnitude) {
        return format!("{}E{exponent}", with_point(mantissa));
    }
    let exponent: i32 = exponent.parse().unwrap_or_default();
    with_point(&shifted(mantissa, exponent))
}

/// A decimal number with its point moved to the right.
fn shifted(mantissa: &str, places: i32) -> String {
    let (sign, digits) = match mantissa.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", mantissa),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let all = format!("{whole}{fraction}");
    let point = i32::try_from(whole.len()).unwrap_or_default() + places;
    let Ok(point) = usize::try_from(point) else {
        let zeros = "0".repeat(usize::try_from(-point).unwrap_or_default());
        return format!("{sign}0.{zeros}{all}");
    };
    if point == 0 {
        return format!("{sign}0.{all}");
    }
    let padded = format!("{all:0<point$}");
    let (whole, fraction) = padded.split_at(point);
    if fraction.is_empty() {
        format!("{sign}{whole}")
    } else {
        format!("{sign}{whole}.{fraction}")
    }
}

/// Text as a whole number: a fraction is cut off, and what does not fit the type is NULL.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct TextToWhole(pub(crate) DataType);

impl Kernel for TextToWhole {
    fn name(&self) -> &str {
        "text_to_whole"
    }

    fn return_type(&self, _argument: &DataType) -> Result<DataType> {
        Ok(self.0.clone())
    }

    fn evaluate(&self, array: &ArrayRef) -> Result<ArrayRef> {
        let texts = cast(array, &DataType::Utf8)?;
        let numbers: Int64Array = texts.as_string::<i32>().iter().map(|t| parse_whole(t?)).collect();
        // What does not fit becomes NULL.
        Ok(cast(&numbers, &self.0)?)
    }
}

fn parse_whole(text: &str) -> Option<i64> {
    let text = text.trim_matches(|c: char| c <= ' ');
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = whole.strip_prefix(['+', '-']).unwrap_or(whole);
    let all_digits = |t: &str| t.bytes().all(|b| b.is_ascii_digit());
    if !all_digits(digits) || !all_digits(fraction) || (digits.is_empty() && fraction.is_empty()) {
        return None;
    }
    if digits.is_empty() {
        return Some(0);
    }
    whole.parse().ok()
}

/// Text as a double: what Java reads, which allows a trailing `d` or `f`.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct TextToDouble;

impl Kernel for TextToDouble {
    fn name(&self) -> &str {
        "text_to_double"
    }

    fn return_type(&self, _argument: &DataType) -> Result<DataType> {
        Ok(DataType::Float64)
    }

    fn evaluate(&self, array: &ArrayRef) -> Result<ArrayRef> {
        let texts = cast(array, &DataType::Utf8)?;
        let doubles = texts.as_string::<i32>().iter().map(|t| parse_double(t?));
        Ok(Arc::new(doubles.collect::<PrimitiveArray<Float64Type>>()))
    }
}

fn parse_double(text: &str) -> Option<f64> {
    let text = text.trim_matches(|c: char| c <= ' ');
    let (sign, word) = match text.as_bytes().first()? {
        b'-' => (-1.0, &text[1..]),
        b'+' => (1.0, &text[1..]),
        _ => (1.0, text),
    };
    match word.to_ascii_lowercase().as_str() {
        "inf" | "infinity" => return Some(sign * f64::INFINITY),
        "nan" if word.len() == text.len() => return Some(f64::NAN),
        _ => {}
    }
    let number = word.strip_suffix(['d', 'D', 'f', 'F']).unwrap_or(word);
    let is_number = number.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        && number.ends_with(|c: char| c.is_ascii_digit() || c == '.');
    let value: f64 = is_number.then(|| number.parse().ok()).flatten()?;
    Some(sign * value)
}

#[cfg(test)]
mod tests {
    use super::*;

    // Java: Double.toString.
    #[test]
    fn doubles_are_written_as_java_writes_them() {
        let text = |v: f64| java_text(v, &format!("{v:e}"));
        for (value, expected) in [
            (1.0, "1.0"),
            (-1.5, "-1.5"),
            (1e20, "1.0E20"),
            (1.5e-7, "1.5E-7"),
            (1e8, "1.0E8"),
            (9_999_999.5, "9999999.5"),
            (1e7, "1.0E7"),
            (123_456.0, "123456.0"),
            (0.001, "0.001"),
            (0.000_99, "9.9E-4"),
            (-0.0, "-0.0"),
            (f64::NAN, "NaN"),
            (f64::NEG_INFINITY, "-Infinity"),
            (0.1, "0.1"),
        ] {
            assert_eq!(text(value), expected);
        }
        assert_eq!(java_text(f64::from(0.1_f32), &format!("{:e}", 0.1_f32)), "0.1");
    }

    #[test]
    fn whole_numbers_are_cut() {
        for (text, expected) in [("12.7", 12), (" 12 ", 12), ("-3.", -3), ("+4", 4), (".5", 0)] {
            assert_eq!(parse_whole(text), Some(expected), "{text}");
        }
        for bad in ["1e3", "", ".", "1.x", "9223372036854775808", "x"] {
            assert_eq!(parse_whole(bad), None, "{bad}");
        }
    }

    #[test]
    fn text_is_read_as_java_reads_it() {
        for (text, expected) in [
            ("1e3", 1000.0),
            ("1.5f", 1.5),
            ("1d", 1.0),
            (" -2. ", -2.0),
            (".5", 0.5),
        ] {
            assert_eq!(parse_double(text), Some(expected), "{text}");
        }
        assert_eq!(parse_double("-Infinity"), Some(f64::NEG_INFINITY));
        assert!(parse_double("nan").is_some_and(f64::is_nan));
        for bad in ["abc", "", "1x", "d", "--1", "1 2"] {
            assert_eq!(parse_double(bad), None, "{bad}");
        }
    }
}
