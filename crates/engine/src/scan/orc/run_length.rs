//! Run lengths of bytes, and of booleans in their bits (ORC specification, "Byte Run Length Encoding" and "Boolean Run
//! Length Encoding").

use arrow::buffer::BooleanBuffer;
use tarn_format::Result;

use super::stream::{Stream, ends_early};

/// Bytes in runs.
pub(super) struct ByteRuns {
    stream: Stream,
    run: Run,
}

enum Run {
    /// A byte that is so many times yet to come.
    Repeated(u8, usize),
    /// So many bytes that follow in the stream.
    Literal(usize),
}

impl ByteRuns {
    pub(super) fn new(stream: Stream) -> Self {
        ByteRuns {
            stream,
            run: Run::Literal(0),
        }
    }

    /// Appends so many bytes. A run may be longer than what is asked for: it goes on with the next call.
    pub(super) fn read(&mut self, mut count: usize, out: &mut Vec<u8>) -> Result<()> {
        while count > 0 {
            let taken = match &mut self.run {
                Run::Repeated(_, 0) | Run::Literal(0) => {
                    self.next_run()?;
                    continue;
                }
                Run::Repeated(byte, left) => {
                    let taken = count.min(*left);
                    out.resize(out.len() + taken, *byte);
                    *left -= taken;
                    taken
                }
                Run::Literal(left) => {
                    let taken = count.min(*left);
                    self.stream.read(taken, out)?;
                    *left -= taken;
                    taken
                }
            };
            count -= taken;
        }
        Ok(())
    }

    fn next_run(&mut self) -> Result<()> {
        let header = self.stream.byte()?;
        self.run = match header {
            0..=0x7f => Run::Repeated(self.stream.byte()?, usize::from(header) + 3),
            _ => Run::Literal(0x100 - usize::from(header)),
        };
        Ok(())
    }
}

/// Booleans, the highest bit of a byte first.
pub(super) struct BooleanRuns {
    bytes: ByteRuns,
    /// Bits that were read with others: so many, the highest ones.
    left: (u8, usize),
    buffer: Vec<u8>,
}

impl BooleanRuns {
    pub(super) fn new(stream: Stream) -> Self {
        BooleanRuns {
            bytes: ByteRuns::new(stream),
            left: (0, 0),
            buffer: Vec::new(),
        }
    }

    /// So many booleans.
    pub(super) fn read(&mut self, count: usize) -> Result<BooleanBuffer> {
        let (first, bits) = self.left;
        let more = count.saturating_sub(bits).div_ceil(8);
        self.buffer.clear();
        self.buffer.push(if bits == 0 { 0 } else { first >> (8 - bits) });
        self.bytes.read(more, &mut self.buffer)?;
        // The bits that were left lie at the end of the first byte now: all are in a row.
        let start = 8 - bits;
        let bits_at = |i: usize| {
            let at = start + i;
            let byte = self.buffer.get(at / 8).copied().unwrap_or_default();
            byte >> (7 - at % 8) & 1 == 1
        };
        let read = BooleanBuffer::collect_bool(count, bits_at);
        let end = start + count;
        let last = *self.buffer.get(end.div_ceil(8).max(1) - 1).ok_or_else(ends_early)?;
        let unread = end.div_ceil(8).max(1) * 8 - end;
        self.left = match unread {
            0 | 8 => (0, 0),
            unread => (last << (8 - unread), unread),
        };
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::super::stream::Compression;
    use super::*;

    fn stream(bytes: &[u8]) -> Stream {
        let compression = Compression {
            codec: None,
            chunk_bytes: 0,
        };
        Stream::new(Some(Bytes::copy_from_slice(bytes)), compression)
    }

    /// The specification's examples: a hundred zeros, and the bytes 0x44 and 0x45.
    #[test]
    fn runs_of_bytes() {
        let mut runs = ByteRuns::new(stream(&[0x61, 0x00, 0xfe, 0x44, 0x45]));
        let mut out = Vec::new();
        runs.read(99, &mut out).unwrap();
        runs.read(2, &mut out).unwrap();
        assert_eq!(out, [vec![0; 100], vec![0x44]].concat());
        runs.read(1, &mut out).unwrap();
        assert_eq!(out.last(), Some(&0x45));
        assert!(runs.read(1, &mut out).is_err());
    }

    /// The specification's example: a true and seven falses. Then bits in pieces of every length.
    #[test]
    fn booleans_are_bits() {
        let mut runs = BooleanRuns::new(stream(&[0xff, 0x80]));
        let read: Vec<bool> = runs.read(8).unwrap().iter().collect();
        assert_eq!(read, [true, false, false, false, false, false, false, false]);

        let bytes = [0b1011_0001, 0b0110_1110, 0b1111_0000, 0b0000_1010, 0b1100_1100];
        let stored = [&[0x100_u16.wrapping_sub(5) as u8][..], &bytes].concat();
        let expected: Vec<bool> = (0..40).map(|i| bytes[i / 8] >> (7 - i % 8) & 1 == 1).collect();
        for piece in 1..=40 {
            let mut runs = BooleanRuns::new(stream(&stored));
            let mut read: Vec<bool> = Vec::new();
            while read.len() < 40 {
                let bits = runs.read(piece.min(40 - read.len())).unwrap();
                read.extend(bits.iter());
            }
            assert_eq!(read, expected, "in pieces of {piece}");
            assert!(runs.read(1).is_err());
        }
    }
}
