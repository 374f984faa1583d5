//! Messages of Protocol Buffers, field by field: what describes an ORC file is made of them.
//!
//! Fields that are not known are passed over, as the format asks.

use tarn_format::{Error, Result};

/// A value of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Value<'a> {
    /// A number, a boolean or an enum.
    Number(u64),
    /// Text, bytes, a message, or packed numbers.
    Bytes(&'a [u8]),
    /// A number of four or eight bytes: ORC's metadata that is read here has none.
    Fixed,
}

impl<'a> Value<'a> {
    /// A number; 0 when it is none, as readers of a field that changed its type see it.
    pub(crate) fn number(self) -> u64 {
        match self {
            Value::Number(number) => number,
            _ => 0,
        }
    }

    /// Text, bytes or a message; empty when it is none.
    pub(crate) fn bytes(self) -> &'a [u8] {
        match self {
            Value::Bytes(bytes) => bytes,
            _ => &[],
        }
    }

    /// Text; bytes that are not UTF-8 are replaced.
    pub(crate) fn text(self) -> String {
        String::from_utf8_lossy(self.bytes()).into_owned()
    }

    /// Adds what a repeated field of numbers holds here: one number, or several packed ones.
    pub(crate) fn append_numbers(self, numbers: &mut Vec<u64>) -> Result<()> {
        match self {
            Value::Number(number) => numbers.push(number),
            Value::Bytes(mut packed) => {
                while !packed.is_empty() {
                    numbers.push(varint(&mut packed)?);
                }
            }
            Value::Fixed => {}
        }
        Ok(())
    }
}

/// The fields of a message in the order of its bytes.
#[derive(Debug, Clone)]
pub(crate) struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    pub(crate) fn of(message: &'a [u8]) -> Self {
        Fields(message)
    }

    /// The next field's number and value; `None` at the end.
    ///
    /// # Errors
    /// `Corrupt` when the bytes are no message.
    pub(crate) fn next_field(&mut self) -> Result<Option<(u64, Value<'a>)>> {
        if self.0.is_empty() {
            return Ok(None);
        }
        let key = varint(&mut self.0)?;
        let value = match key & 7 {
            0 => Value::Number(varint(&mut self.0)?),
            1 => self.take(8).map(|_| Value::Fixed)?,
            2 => {
                let len = varint(&mut self.0)?;
                Value::Bytes(self.take(usize::try_from(len).unwrap_or(usize::MAX))?)
            }
            5 => self.take(4).map(|_| Value::Fixed)?,
            _ => return Err(broken()),
        };
        Ok(Some((key >> 3, value)))
    }

    fn take(&mut self, len: usize) -> Result<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(len).ok_or_else(broken)?;
        self.0 = rest;
        Ok(taken)
    }
}

/// Takes a number of up to 64 bits from the front.
fn varint(bytes: &mut &[u8]) -> Result<u64> {
    let mut value = 0_u64;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = bytes.split_first().ok_or_else(broken)?;
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Ok(value);
        }
    }
    Err(broken())
}

/// Adds a field that is a number.
pub(crate) fn put_number(message: &mut Vec<u8>, field: u64, value: u64) {
    put_varint(message, field << 3);
    put_varint(message, value);
}

/// Adds a field that is text, bytes or a message.
pub(crate) fn put_bytes(message: &mut Vec<u8>, field: u64, value: &[u8]) {
    put_varint(message, field << 3 | 2);
    put_varint(message, value.len() as u64);
    message.extend_from_slice(value);
}

fn put_varint(message: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        message.push(value as u8 | 0x80);
        value >>= 7;
    }
    message.push(value as u8);
}

fn broken() -> Error {
    Error::corrupt("the ORC file's metadata is broken")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(message: &[u8]) -> Result<Vec<(u64, Value<'_>)>> {
        let mut fields = Fields::of(message);
        let mut found = Vec::new();
        while let Some(field) = fields.next_field()? {
            found.push(field);
        }
        Ok(found)
    }

    /// The examples of the encoding's documentation: `a: 150`, `b: "testing"`, and `f: [3, 270, 86942]` packed.
    #[test]
    fn fields_are_read() {
        let message = [
            0x08, 0x96, 0x01, 0x12, 0x07, 0x74, 0x65, 0x73, 0x74, 0x69, 0x6e, 0x67, 0x32, 0x06, 0x03, 0x8e, 0x02, 0x9e,
            0xa7, 0x05, 0x1d, 1, 2, 3, 4,
        ];
        let fields = all(&message).unwrap();
        assert_eq!(fields[0], (1, Value::Number(150)));
        assert_eq!((fields[1].0, fields[1].1.text()), (2, "testing".to_string()));
        let mut numbers = vec![1];
        fields[2].1.append_numbers(&mut numbers).unwrap();
        fields[0].1.append_numbers(&mut numbers).unwrap();
        assert_eq!(numbers, [1, 3, 270, 86942, 150]);
        assert_eq!(fields[3], (3, Value::Fixed));
    }

    #[test]
    fn fields_are_written() {
        let mut message = Vec::new();
        put_number(&mut message, 1, 150);
        put_bytes(&mut message, 2, b"testing");
        assert_eq!(
            message,
            [0x08, 0x96, 0x01, 0x12, 0x07, 0x74, 0x65, 0x73, 0x74, 0x69, 0x6e, 0x67]
        );
        let mut message = Vec::new();
        put_number(&mut message, 8000, u64::MAX);
        assert_eq!(all(&message).unwrap(), [(8000, Value::Number(u64::MAX))]);
    }

    #[test]
    fn broken_messages_are_refused() {
        let unended = [0x08, 0xff];
        let too_long = [0x12, 0x05, 1];
        let too_large = [0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01];
        let group = [0x0b];
        for message in [&unended[..], &too_long, &too_large, &group] {
            let error = all(message).unwrap_err();
            assert_eq!(error.kind(), tarn_format::ErrorKind::Corrupt, "{message:?}");
        }
    }
}
