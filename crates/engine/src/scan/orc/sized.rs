//! Text and bytes: lengths in one stream, all bytes in another.

use std::sync::Arc;

use arrow::array::{ArrayRef, BinaryArray, FixedSizeBinaryArray, StringArray};
use arrow::buffer::{Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow::datatypes::DataType;
use tarn_format::{Error, Result};

use super::column::{Room, bad_values, mismatch, null_count, spread};
use super::integers::IntegerRuns;
use super::stream::Stream;

/// Values that each say their length.
pub(super) struct Sized {
    lengths: IntegerRuns,
    bytes: Stream,
}

impl Sized {
    pub(super) fn new(lengths: IntegerRuns, bytes: Stream) -> Self {
        Sized { lengths, bytes }
    }

    pub(super) fn read(
        &mut self,
        data_type: &DataType,
        rows: usize,
        nulls: Option<&NullBuffer>,
        room: &mut Room,
    ) -> Result<ArrayRef> {
        room.take(rows, 24)?;
        let mut stored = Vec::new();
        self.lengths.read(rows - null_count(nulls), &mut stored)?;
        if let DataType::FixedSizeBinary(len) = data_type {
            return self.read_fixed(&stored, *len, (rows, nulls), room);
        }
        let offsets = offsets(spread(stored.into_iter(), nulls, rows))?;
        let total = usize::try_from(offsets.last().copied().unwrap_or_default()).unwrap_or_default();
        room.take(total, 1)?;
        let mut bytes = Vec::new();
        self.bytes.read(total, &mut bytes)?;
        let bytes = Buffer::from_vec(bytes);
        match data_type {
            DataType::Utf8 => {
                let not_utf8 = |e| Error::corrupt("the ORC file holds text that is not UTF-8").with_source(e);
                let array = StringArray::try_new(offsets, bytes, nulls.cloned());
                Ok(Arc::new(array.map_err(not_utf8)?))
            }
            DataType::Binary => {
                let array = BinaryArray::try_new(offsets, bytes, nulls.cloned());
                Ok(Arc::new(array.map_err(bad_values)?))
            }
            _ => Err(mismatch()),
        }
    }

    fn read_fixed(
        &mut self,
        lengths: &[i64],
        len: i32,
        (rows, nulls): (usize, Option<&NullBuffer>),
        room: &mut Room,
    ) -> Result<ArrayRef> {
        if let Some(other) = lengths.iter().find(|own| **own != i64::from(len)) {
            return Err(Error::corrupt(format!(
                "the ORC file holds {other} bytes in a column of {len}"
            )));
        }
        let width = usize::try_from(len).unwrap_or_default();
        room.take(rows, width)?;
        let mut stored = Vec::new();
        let mut bytes = Vec::new();
        for row in 0..rows {
            match nulls.is_none_or(|nulls| nulls.is_valid(row)) {
                true => {
                    stored.clear();
                    self.bytes.read(width, &mut stored)?;
                    bytes.extend_from_slice(&stored);
                }
                false => bytes.resize(bytes.len() + width, 0),
            }
        }
        let array = FixedSizeBinaryArray::try_new(len, Buffer::from_vec(bytes), nulls.cloned());
        Ok(Arc::new(array.map_err(bad_values)?))
    }
}

/// Where each of so long values ends.
///
/// # Errors
/// `Corrupt` for lengths below 0, and when all are more than an array can hold.
pub(super) fn offsets(lengths: Vec<i64>) -> Result<OffsetBuffer<i32>> {
    let mut end = 0_i32;
    let mut offsets = Vec::with_capacity(lengths.len() + 1);
    offsets.push(0);
    for len in lengths {
        let next = i32::try_from(len).ok().filter(|len| *len >= 0);
        let next = next.and_then(|len| end.checked_add(len));
        end = next.ok_or_else(|| Error::corrupt(format!("the ORC file holds an impossible length of {len}")))?;
        offsets.push(end);
    }
    Ok(OffsetBuffer::new(ScalarBuffer::from(offsets)))
}
