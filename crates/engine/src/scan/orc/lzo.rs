//! LZO1X, which some old ORC files are compressed by. Libraries for it trust their input; this decoder does not.

use tarn_format::{Error, Result};

/// Decompresses a chunk into `out`, which holds no more than `most_bytes` then.
///
/// # Errors
/// `Corrupt` when the bytes are not LZO1X, or hold more than that.
pub(super) fn decompress(chunk: &[u8], most_bytes: usize, out: &mut Vec<u8>) -> Result<()> {
    out.clear();
    let mut decoder = Decoder {
        input: chunk,
        out,
        most_bytes,
    };
    decoder
        .run()
        .ok_or_else(|| Error::corrupt("a chunk of the ORC file is not LZO, or holds more than a chunk of the file may"))
}

struct Decoder<'a> {
    input: &'a [u8],
    out: &'a mut Vec<u8>,
    most_bytes: usize,
}

/// A copy of what was decompressed before.
struct Copy {
    distance: usize,
    len: usize,
    /// Literals that follow it.
    literals: usize,
}

impl Decoder<'_> {
    /// `None` when the input is broken.
    fn run(&mut self) -> Option<()> {
        // How many literals the last instruction copied; 4 stands for all above 3. Short instructions depend on it.
        let mut state = 0;
        if let Some(&first) = self.input.first()
            && first > 17
        {
            self.byte()?;
            let len = usize::from(first - 17);
            self.literals(len)?;
            state = len.min(4);
        }
        loop {
            let instruction = usize::from(self.byte()?);
            let copy = match instruction {
                64.. => Copy {
                    distance: (usize::from(self.byte()?) << 3) + ((instruction >> 2) & 7) + 1,
                    len: (instruction >> 5) + 1,
                    literals: instruction & 3,
                },
                16..64 => match self.far_copy(instruction)? {
                    Some(copy) => copy,
                    None => return Some(()),
                },
                _ if state == 0 => {
                    let len = self.length(instruction, 15)?.checked_add(3)?;
                    self.literals(len)?;
                    state = 4;
                    continue;
                }
                _ => {
                    let near = (instruction >> 2) + (usize::from(self.byte()?) << 2);
                    let (past, len) = if state == 4 { (2049, 3) } else { (1, 2) };
                    Copy {
                        distance: near + past,
                        len,
                        literals: instruction & 3,
                    }
                }
            };
            self.copy(&copy)?;
            self.literals(copy.literals)?;
            state = copy.literals;
        }
    }

    /// An instruction with a distance of two bytes; the inner `None` is the end of the chunk.
    fn far_copy(&mut self, instruction: usize) -> Option<Option<Copy>> {
        let is_near = instruction >= 32;
        let mask = if is_near { 31 } else { 7 };
        let len = self.length(instruction & mask, mask)?.checked_add(2)?;
        let word = usize::from(self.byte()?) | usize::from(self.byte()?) << 8;
        let distance = match is_near {
            true => (word >> 2) + 1,
            false => match ((instruction & 8) << 11) + (word >> 2) {
                0 => return Some(None),
                distance => distance + 16384,
            },
        };
        let literals = word & 3;
        Some(Some(Copy {
            distance,
            len,
            literals,
        }))
    }

    /// A length that, when its bits are 0, goes on in bytes: 255 for each zero byte, then the last.
    fn length(&mut self, bits: usize, most: usize) -> Option<usize> {
        if bits > 0 {
            return Some(bits);
        }
        let mut len = most;
        loop {
            match self.byte()? {
                0 => len = len.checked_add(255)?,
                last => return len.checked_add(usize::from(last)),
            }
        }
    }

    fn byte(&mut self) -> Option<u8> {
        let (byte, rest) = self.input.split_first()?;
        self.input = rest;
        Some(*byte)
    }

    fn literals(&mut self, len: usize) -> Option<()> {
        let (literals, rest) = self.input.split_at_checked(len)?;
        self.room(len)?;
        self.out.extend_from_slice(literals);
        self.input = rest;
        Some(())
    }

    fn copy(&mut self, copy: &Copy) -> Option<()> {
        self.room(copy.len)?;
        let start = self.out.len().checked_sub(copy.distance)?;
        // The copy may overlap what it makes.
        for i in start..start + copy.len {
            let byte = *self.out.get(i)?;
            self.out.push(byte);
        }
        Some(())
    }

    fn room(&self, len: usize) -> Option<()> {
        (len <= self.most_bytes.saturating_sub(self.out.len())).then_some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const END: [u8; 3] = [0x11, 0, 0];

    fn decompressed(chunk: &[u8], most_bytes: usize) -> Result<Vec<u8>> {
        let mut out = vec![9];
        decompress(chunk, most_bytes, &mut out).map(|()| out)
    }

    /// Instructions as the format's description in the Linux kernel has them.
    #[test]
    fn instructions_are_followed() {
        // Four literals, a copy of 5 bytes at distance 4 with 1 literal after it, the end.
        let chunk = [&[17 + 4, b'a', b'b', b'c', b'd', 0x8d, 0, b'!'][..], &END].concat();
        assert_eq!(decompressed(&chunk, 10).unwrap(), b"abcdabcda!");
        // A copy of 2 + 31 + 255 + 2 bytes, one byte back.
        let chunk = [&[17 + 4, b'x', b'x', b'x', b'x', 32, 0, 2, 0, 0][..], &END].concat();
        assert_eq!(decompressed(&chunk, 1000).unwrap(), vec![b'x'; 294]);
        // 3 + 15 + 1 literals from the long form.
        let chunk = [&[0, 1][..], &[b'y'; 19], &END].concat();
        assert_eq!(decompressed(&chunk, 1000).unwrap(), vec![b'y'; 19]);
        // After two literals a short copy is two bytes long.
        let chunk = [&[17 + 2, b'p', b'q', 0x04, 0][..], &END].concat();
        assert_eq!(decompressed(&chunk, 1000).unwrap(), b"pqpq");
    }

    #[test]
    fn broken_chunks_are_refused() {
        let beyond = [&[17 + 1, b'a', 0x8c, 9][..], &END].concat();
        let too_much = [&[17 + 4, b'x', b'x', b'x', b'x', 32, 0, 0, 0, 0, 9, 0, 0][..], &END].concat();
        let unended = [17 + 4, b'a'];
        for chunk in [&beyond[..], &too_much, &unended, &[]] {
            assert!(decompressed(chunk, 256).is_err(), "{chunk:?}");
        }
    }
}
