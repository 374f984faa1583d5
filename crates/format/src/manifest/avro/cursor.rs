//! Reading Avro's binary encoding from a block.
//!
//! A cursor may load words past the end of the block, into its padding; whoever reads a whole record asks
//! [`Cursor::check`] once instead of every field.

use super::codec::BlockBuffer;
use crate::error::Error;

/// What is wrong with the bytes of a block. Small, because it is returned from the innermost loops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Malformed {
    /// The block ends inside a value.
    Truncated,
    /// A varint has more than ten bytes or sixty-four bits.
    Varint,
    /// A length or count is negative or larger than the block.
    Length,
    /// A union has no such branch.
    Branch,
    /// Text is not UTF-8.
    Utf8,
    /// A number does not fit where it belongs.
    Range,
    /// A required value is null.
    Null,
    /// A status, content or format that the spec does not know.
    Code,
    /// A column passes 4 GiB, or too many columns.
    TooLarge,
}

impl From<Malformed> for Error {
    fn from(malformed: Malformed) -> Self {
        Error::corrupt(match malformed {
            Malformed::Truncated => "an Avro block ends inside a value",
            Malformed::Varint => "an Avro block holds a number of more than 64 bits",
            Malformed::Length => "an Avro block holds an impossible length or count",
            Malformed::Branch => "an Avro block names a union branch that does not exist",
            Malformed::Utf8 => "an Avro block holds text that is not UTF-8",
            Malformed::Range => "an Avro block holds a number out of range",
            Malformed::Null => "an Avro record has no value for a required field",
            Malformed::Code => "an entry has an unknown status, content or file format",
            Malformed::TooLarge => "a column of the file passes its limit",
        })
    }
}

const HIGH_BITS: u64 = 0x8080_8080_8080_8080;
const ONES: u64 = 0x0101_0101_0101_0101;

/// A position in a block.
#[derive(Debug, Clone)]
pub struct Cursor<'a> {
    /// The block and its padding.
    padded: &'a [u8],
    end: usize,
    pos: usize,
}

impl<'a> Cursor<'a> {
    /// At the start of a block.
    pub fn new(buffer: &'a BlockBuffer) -> Self {
        Cursor {
            padded: buffer.padded(),
            end: buffer.block().len(),
            pos: 0,
        }
    }

    /// Bytes from the start of the block.
    #[inline]
    pub fn position(&self) -> usize {
        self.pos
    }

    /// Bytes left; 0 past the end.
    #[inline]
    pub fn remaining(&self) -> usize {
        self.end.saturating_sub(self.pos)
    }

    /// Whether nothing was read past the end of the block.
    #[inline]
    pub fn check(&self) -> Result<(), Malformed> {
        if self.pos <= self.end {
            Ok(())
        } else {
            Err(Malformed::Truncated)
        }
    }

    /// The bytes from `start` to here.
    #[inline]
    pub fn since(&self, start: usize) -> Result<&'a [u8], Malformed> {
        self.check()?;
        self.padded.get(start..self.pos).ok_or(Malformed::Truncated)
    }

    /// At another place of the same block.
    pub fn at(&self, pos: usize) -> Cursor<'a> {
        Cursor {
            pos: pos.min(self.end),
            ..*self
        }
    }

    #[inline(always)]
    fn word(&self) -> Result<u64, Malformed> {
        self.word_at(self.pos).ok_or(Malformed::Truncated)
    }

    #[inline(always)]
    fn word_at(&self, pos: usize) -> Option<u64> {
        let bytes = self.padded.get(pos..).and_then(<[u8]>::first_chunk::<8>);
        bytes.map(|b| u64::from_le_bytes(*b))
    }

    #[inline(always)]
    fn pair_at(&self, pos: usize) -> Option<[u8; 2]> {
        self.padded.get(pos..).and_then(<[u8]>::first_chunk::<2>).copied()
    }

    /// An int or long.
    #[inline(always)]
    pub fn long(&mut self) -> Result<i64, Malformed> {
        let byte = *self.padded.get(self.pos).ok_or(Malformed::Truncated)?;
        if byte < 0x80 {
            self.pos += 1;
            return Ok(zigzag(u64::from(byte)));
        }
        match self.word_at(self.pos) {
            // It ends within eight bytes: their low seven bits are drawn together by halves.
            Some(word) if !word & HIGH_BITS != 0 => {
                let ends = !word & HIGH_BITS;
                self.pos += (ends.trailing_zeros() / 8 + 1) as usize;
                let x = word & (ends ^ ends.wrapping_sub(1)) & !HIGH_BITS;
                let x = (x & 0x007f_007f_007f_007f) | (x & 0x7f00_7f00_7f00_7f00) >> 1;
                let x = (x & 0x0000_3fff_0000_3fff) | (x & 0x3fff_0000_3fff_0000) >> 2;
                Ok(zigzag((x & 0x0fff_ffff) | (x & 0x0fff_ffff_0000_0000) >> 4))
            }
            _ => self.long_of_many(),
        }
    }

    /// Byte by byte: longer ones, and the end of the padding.
    #[cold]
    fn long_of_many(&mut self) -> Result<i64, Malformed> {
        let mut value = 0_u64;
        let bytes = self.padded.get(self.pos..).unwrap_or_default();
        for (i, byte) in bytes.iter().take(10).enumerate() {
            let bits = u64::from(byte & 0x7f);
            if i == 9 && bits > 1 {
                return Err(Malformed::Varint);
            }
            value |= bits << (7 * i);
            if *byte < 0x80 {
                self.pos += i + 1;
                return Ok(zigzag(value));
            }
        }
        Err(if bytes.len() < 10 {
            Malformed::Truncated
        } else {
            Malformed::Varint
        })
    }

    /// An int: a long that fits.
    #[inline(always)]
    pub fn int(&mut self) -> Result<i32, Malformed> {
        i32::try_from(self.long()?).map_err(|_| Malformed::Range)
    }

    /// Skips one varint.
    #[inline(always)]
    pub fn skip_varint(&mut self) -> Result<(), Malformed> {
        let ends = !self.word()? & HIGH_BITS;
        if ends != 0 {
            self.pos += (ends.trailing_zeros() / 8 + 1) as usize;
            return Ok(());
        }
        self.long_of_many().map(drop)
    }

    /// Skips `n` varints, a word at a time.
    #[inline]
    pub fn skip_varints(&mut self, mut n: usize) -> Result<(), Malformed> {
        if n > self.remaining() {
            return Err(Malformed::Truncated);
        }
        // The loops of this file keep the position in a register.
        let mut pos = self.pos;
        while n > 0 {
            // A byte without its high bit ends a varint.
            let mut ends = !self.word_at(pos).ok_or(Malformed::Truncated)? & HIGH_BITS;
            let count = ((ends >> 7).wrapping_mul(ONES) >> 56) as usize;
            if count < n {
                n -= count;
                pos += 8;
                continue;
            }
            for _ in 1..n {
                ends &= ends.wrapping_sub(1);
            }
            pos += (ends.trailing_zeros() / 8 + 1) as usize;
            break;
        }
        self.pos = pos;
        Ok(())
    }

    /// Skips `n` bytes.
    #[inline]
    pub fn skip_bytes(&mut self, n: usize) -> Result<(), Malformed> {
        if n > self.remaining() {
            return Err(Malformed::Truncated);
        }
        self.pos += n;
        Ok(())
    }

    /// A length: not negative, and not more than the block has left.
    #[inline(always)]
    fn length(&mut self) -> Result<usize, Malformed> {
        let len = usize::try_from(self.long()?).map_err(|_| Malformed::Length)?;
        if len > self.remaining() {
            return Err(Malformed::Length);
        }
        Ok(len)
    }

    /// Skips bytes or a string.
    #[inline(always)]
    pub fn skip_sized(&mut self) -> Result<(), Malformed> {
        let len = self.length()?;
        self.pos += len;
        Ok(())
    }

    /// Bytes.
    #[inline(always)]
    pub fn bytes(&mut self) -> Result<&'a [u8], Malformed> {
        let len = self.length()?;
        self.take(len)
    }

    /// `n` bytes of a fixed.
    #[inline(always)]
    pub fn take(&mut self, n: usize) -> Result<&'a [u8], Malformed> {
        if n > self.remaining() {
            return Err(Malformed::Truncated);
        }
        let bytes = self.padded.get(self.pos..self.pos + n).ok_or(Malformed::Truncated)?;
        self.pos += n;
        Ok(bytes)
    }

    /// A string.
    pub fn string(&mut self) -> Result<&'a str, Malformed> {
        std::str::from_utf8(self.bytes()?).map_err(|_| Malformed::Utf8)
    }

    /// A boolean.
    pub fn boolean(&mut self) -> Result<bool, Malformed> {
        match self.take(1)? {
            [0] => Ok(false),
            [1] => Ok(true),
            _ => Err(Malformed::Range),
        }
    }

    /// The head of the next block of an array or map whose items take at least one byte each.
    #[inline(always)]
    pub fn items(&mut self) -> Result<Items, Malformed> {
        let count = self.long()?;
        if count > 0 {
            let count = usize::try_from(count).map_err(|_| Malformed::Length)?;
            if count > self.remaining() {
                return Err(Malformed::Length);
            }
            return Ok(Items { count, end: None });
        }
        if count == 0 {
            return Ok(Items { count: 0, end: None });
        }
        self.sized_items(count)
    }

    /// The count is negative: the size in bytes follows.
    #[cold]
    fn sized_items(&mut self, count: i64) -> Result<Items, Malformed> {
        let size_bytes = self.length()?;
        let count = usize::try_from(count.unsigned_abs()).map_err(|_| Malformed::Length)?;
        if count > size_bytes {
            return Err(Malformed::Length);
        }
        Ok(Items {
            count,
            end: Some(self.pos + size_bytes),
        })
    }

    /// Refuses a block of items that does not end where its head says, so that who reads the items and who skips
    /// them by their size come to the same place.
    #[inline(always)]
    pub fn end_items(&self, items: Items) -> Result<(), Malformed> {
        match items.end {
            Some(end) if end != self.pos => Err(Malformed::Length),
            _ => Ok(()),
        }
    }

    /// Skips the items of a block whose size is known; false, and nothing skipped, for others.
    pub fn skip_sized_items(&mut self, items: Items) -> bool {
        if let Some(end) = items.end {
            self.pos = end;
        }
        items.end.is_some()
    }
}

/// The head of a block of items; a count of 0 ends the array or map.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Items {
    /// Number of items.
    pub count: usize,
    /// The position behind them, where the writer gives their size; within the block.
    end: Option<usize>,
}

#[inline(always)]
fn zigzag(n: u64) -> i64 {
    (n >> 1) as i64 ^ -((n & 1) as i64)
}

impl Cursor<'_> {
    /// Skips pairs of an int and a long, at most `count`, up to the first whose key is wanted (bit `key` of
    /// `wanted`) or that does not have the usual form: a key of one byte, a value that ends within the next seven.
    /// Returns how many were skipped.
    #[inline]
    pub fn skip_unwanted_longs(&mut self, count: usize, wanted: u64) -> usize {
        let mut pos = self.pos;
        let mut skipped = 0;
        while skipped < count {
            let Some(word) = self.word_at(pos) else { break };
            let ends = !word & (HIGH_BITS - 0x80);
            if word & 0x81 != 0 || wanted >> (word >> 1 & 63) & 1 != 0 || ends == 0 {
                break;
            }
            pos += (ends.trailing_zeros() / 8 + 1) as usize;
            skipped += 1;
        }
        self.pos = pos;
        skipped
    }

    /// As [`Self::skip_unwanted_longs`] for pairs of an int and sized bytes.
    #[inline]
    pub fn skip_unwanted_sized(&mut self, count: usize, wanted: u64) -> usize {
        let mut pos = self.pos;
        let mut skipped = 0;
        while skipped < count {
            let Some([key, len]) = self.pair_at(pos) else { break };
            // An odd byte is a negative number.
            if (key | len) & 0x81 != 0 || wanted >> (key >> 1) & 1 != 0 {
                break;
            }
            pos += 2 + usize::from(len >> 1);
            skipped += 1;
        }
        self.pos = pos;
        skipped
    }

    /// Skips `count` pairs of an int and sized bytes: the items of a bounds map.
    #[inline]
    pub fn skip_int_and_sized(&mut self, count: usize) -> Result<(), Malformed> {
        let mut left = count;
        while left > 0 {
            left -= self.skip_unwanted_sized(left, 0);
            if left > 0 {
                self.skip_varint()?;
                self.skip_sized()?;
                left -= 1;
            }
        }
        self.check()
    }
}
