//! JSON text as a variant (Java: Spark's `VariantBuilder.parseJson`): numbers without an exponent stay what is written, as
//! integers or decimals of up to 38 digits; others are floating-point numbers.

use std::borrow::Cow;

use datafusion::arrow::error::ArrowError;
use parquet_variant::{
    ObjectFieldBuilder, Variant, VariantBuilderExt, VariantDecimal4, VariantDecimal8, VariantDecimal16,
};
use serde_json::Value as Json;

/// Digits of the longest decimal, before and after the point.
const MOST_DIGITS: usize = 38;

/// Appends the value that the text describes.
///
/// # Errors
/// When it is no JSON.
pub(super) fn append_json(text: &str, builder: &mut impl VariantBuilderExt) -> Result<(), ArrowError> {
    // What follows only reads what is known to be JSON, of no more depth than that reader goes.
    serde_json::from_str::<Json>(text).map_err(|e| no_json(&e.to_string()))?;
    Reader { text, at: 0 }.append_value(builder)
}

fn no_json(why: &str) -> ArrowError {
    ArrowError::InvalidArgumentError(why.to_string())
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    /// The next byte that is no space.
    fn peek(&mut self) -> Result<u8, ArrowError> {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        let spaces = rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        self.at += spaces;
        rest.get(spaces).copied().ok_or_else(|| no_json("it ends too early"))
    }

    /// Takes bytes as long as they are such.
    fn take_while(&mut self, mut is_such: impl FnMut(u8) -> bool) -> &'a str {
        let start = self.at;
        let rest = self.text.as_bytes().get(start..).unwrap_or_default();
        self.at += rest.iter().take_while(|byte| is_such(**byte)).count();
        self.text.get(start..self.at).unwrap_or_default()
    }

    fn append_value(&mut self, builder: &mut impl VariantBuilderExt) -> Result<(), ArrowError> {
        match self.peek()? {
            b'{' => {
                self.at += 1;
                let mut object = builder.try_new_object()?;
                while self.has_more(b'}')? {
                    let key = self.string()?;
                    self.peek()?;
                    self.at += 1;
                    self.append_value(&mut ObjectFieldBuilder::new(&key, &mut object))?;
                }
                object.finish();
            }
            b'[' => {
                self.at += 1;
                let mut list = builder.try_new_list()?;
                while self.has_more(b']')? {
                    self.append_value(&mut list)?;
                }
                list.finish();
            }
            b'"' => {
                let text = self.string()?;
                builder.append_value(text.as_ref());
            }
            byte if byte.is_ascii_alphabetic() => match self.take_while(|byte| byte.is_ascii_alphabetic()) {
                "true" => builder.append_value(true),
                "false" => builder.append_value(false),
                _ => builder.append_value(Variant::Null),
            },
            _ => {
                let number = self.take_while(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
                builder.append_value(number_of(number)?);
            }
        }
        Ok(())
    }

    /// Whether another item follows; takes what stands before it, or the end.
    fn has_more(&mut self, end: u8) -> Result<bool, ArrowError> {
        let byte = self.peek()?;
        if byte == end || byte == b',' {
            self.at += 1;
        }
        if byte == b',' {
            self.peek()?;
        }
        Ok(byte != end)
    }

    fn string(&mut self) -> Result<Cow<'a, str>, ArrowError> {
        self.peek()?;
        let start = self.at;
        self.at += 1;
        let (mut is_escaped, mut has_escapes) = (false, false);
        let inner = self.take_while(|byte| {
            let ends = byte == b'"' && !is_escaped;
            is_escaped = byte == b'\\' && !is_escaped;
            has_escapes |= is_escaped;
            !ends
        });
        self.at += 1;
        if !has_escapes {
            return Ok(Cow::Borrowed(inner));
        }
        let quoted = self.text.get(start..self.at).unwrap_or_default();
        let text: String = serde_json::from_str(quoted).map_err(|e| no_json(&e.to_string()))?;
        Ok(Cow::Owned(text))
    }
}

fn number_of(text: &str) -> Result<Variant<'static, 'static>, ArrowError> {
    if let Ok(integer) = text.parse::<i64>() {
        let narrow = i8::try_from(integer).map(Variant::from);
        let narrow = narrow.or_else(|_| i16::try_from(integer).map(Variant::from));
        let narrow = narrow.or_else(|_| i32::try_from(integer).map(Variant::from));
        return Ok(narrow.unwrap_or_else(|_| Variant::from(integer)));
    }
    if let Some(decimal) = decimal_of(text) {
        return Ok(decimal);
    }
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() => Ok(Variant::from(number)),
        _ => Err(no_json(&format!("{text} is no number of 64 bits"))),
    }
}

/// `None` for what has an exponent, or more digits than decimals have.
fn decimal_of(text: &str) -> Option<Variant<'static, 'static>> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = whole.trim_start_matches('-');
    let is_plain = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if !is_plain(digits) || !is_plain(fraction) || fraction.len() > MOST_DIGITS {
        return None;
    }
    let all = [digits, fraction].concat();
    let significant = all.trim_start_matches('0').len();
    if significant > MOST_DIGITS {
        return None;
    }
    let unscaled: i128 = all.parse().ok()?;
    let unscaled = if text.starts_with('-') { -unscaled } else { unscaled };
    let scale = fraction.len() as u8;
    Some(match significant.max(fraction.len()) {
        ..=9 => Variant::from(VariantDecimal4::try_new(i32::try_from(unscaled).ok()?, scale).ok()?),
        10..=18 => Variant::from(VariantDecimal8::try_new(i64::try_from(unscaled).ok()?, scale).ok()?),
        _ => Variant::from(VariantDecimal16::try_new(unscaled, scale).ok()?),
    })
}

#[cfg(test)]
mod tests {
    use parquet_variant::VariantBuilder;
    use parquet_variant_json::VariantToJson;

    use super::*;

    fn parsed(text: &str) -> Result<(Vec<u8>, Vec<u8>), ArrowError> {
        let mut builder = VariantBuilder::new();
        append_json(text, &mut builder)?;
        Ok(builder.finish())
    }

    #[test]
    fn numbers_stay_what_is_written() {
        let decimal4 = |n, scale| Variant::from(VariantDecimal4::try_new(n, scale).unwrap());
        let decimal16 = |n, scale| Variant::from(VariantDecimal16::try_new(n, scale).unwrap());
        for (text, expected) in [
            ("7", Variant::Int8(7)),
            ("-128", Variant::Int8(-128)),
            ("9223372036854775807", Variant::Int64(i64::MAX)),
            ("9223372036854775808", decimal16(1 << 63, 0)),
            ("1.50", decimal4(150, 2)),
            ("-0.25", decimal4(-25, 2)),
            ("0.0000000001", Variant::from(VariantDecimal8::try_new(1, 10).unwrap())),
            ("12345678901234567890.5", decimal16(123_456_789_012_345_678_905, 1)),
            ("1e2", Variant::Double(100.0)),
            ("2.5E-1", Variant::Double(0.25)),
        ] {
            let (metadata, value) = parsed(text).unwrap();
            assert_eq!(Variant::new(&metadata, &value), expected, "{text}");
        }
        let long = "0.123456789012345678901234567890123456789";
        let (metadata, value) = parsed(long).unwrap();
        assert!(matches!(Variant::new(&metadata, &value), Variant::Double(_)));
    }

    #[test]
    fn structure_and_text_come_back() {
        for text in [
            r#"{"a":[1,{"b":null},[]],"c":{},"d":"x\"y\\\n水","e":[true,false]}"#,
            r#"[]"#,
            r#""\u00e9""#,
        ] {
            let (metadata, value) = parsed(&format!(" {} ", text.replace(',', " ,\t"))).unwrap();
            let shown = Variant::new(&metadata, &value).to_json_string().unwrap();
            let json = |text: &str| serde_json::from_str::<Json>(text).unwrap();
            assert_eq!(json(&shown), json(text));
        }
        for broken in ["", "{", "[1,]", "01", "1 2", "nul", "{\"a\" 1}", &"[".repeat(100_000)] {
            assert!(parsed(broken).is_err(), "{broken:.20}");
        }
    }
}
