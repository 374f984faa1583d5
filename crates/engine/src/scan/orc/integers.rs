//! Run lengths of integers, both versions (ORC specification, "Integer Run Length Encoding").

use tarn_format::{Error, Result};

use super::stream::Stream;

/// How runs are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Version {
    One,
    Two,
}

/// Whether integers may be negative: those that may are zigzag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sign {
    Signed,
    Unsigned,
}

impl Sign {
    fn decode(self, value: u64) -> i64 {
        match self {
            Sign::Signed => zigzag(value),
            Sign::Unsigned => value as i64,
        }
    }
}

fn zigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

/// Integers in runs.
pub(super) struct IntegerRuns {
    stream: Stream,
    version: Version,
    sign: Sign,
    /// A run: no more than 512 integers.
    run: Vec<i64>,
    /// Where the run is read.
    next: usize,
    /// Packed integers.
    packed: Vec<u8>,
}

impl IntegerRuns {
    pub(super) fn new(stream: Stream, version: Version, sign: Sign) -> Self {
        IntegerRuns {
            stream,
            version,
            sign,
            run: Vec::new(),
            next: 0,
            packed: Vec::new(),
        }
    }

    /// Appends so many integers.
    pub(super) fn read(&mut self, mut count: usize, out: &mut Vec<i64>) -> Result<()> {
        while count > 0 {
            let rest = self.run.get(self.next..).unwrap_or_default();
            if rest.is_empty() {
                self.next_run()?;
                continue;
            }
            let taken = rest.get(..count).unwrap_or(rest);
            out.extend_from_slice(taken);
            self.next += taken.len();
            count -= taken.len();
        }
        Ok(())
    }

    fn next_run(&mut self) -> Result<()> {
        self.run.clear();
        self.next = 0;
        let header = self.stream.byte()?;
        match (self.version, header >> 6) {
            (Version::One, _) => self.version_one(header),
            (Version::Two, 0) => self.short_repeat(header),
            (Version::Two, 1) => self.direct(header),
            (Version::Two, 2) => self.patched_base(header),
            (Version::Two, _) => self.delta(header),
        }
    }

    fn integer(&mut self) -> Result<i64> {
        Ok(self.sign.decode(self.stream.varint()?))
    }

    fn version_one(&mut self, header: u8) -> Result<()> {
        if header < 0x80 {
            let delta = i64::from(self.stream.byte()? as i8);
            let mut value = self.integer()?;
            for _ in 0..usize::from(header) + 3 {
                self.run.push(value);
                value = value.wrapping_add(delta);
            }
            return Ok(());
        }
        for _ in 0..0x100 - usize::from(header) {
            let value = self.integer()?;
            self.run.push(value);
        }
        Ok(())
    }

    fn short_repeat(&mut self, header: u8) -> Result<()> {
        let width = usize::from(header >> 3 & 7) + 1;
        let value = self.big_endian(width)?;
        let count = usize::from(header & 7) + 3;
        self.run.resize(count, self.sign.decode(value));
        Ok(())
    }

    /// A number of up to eight bytes.
    fn big_endian(&mut self, width: usize) -> Result<u64> {
        let mut value = 0;
        for _ in 0..width {
            value = value << 8 | u64::from(self.stream.byte()?);
        }
        Ok(value)
    }

    /// The count that the header of a long run begins, 1 to 512.
    fn count(&mut self, header: u8) -> Result<usize> {
        Ok((usize::from(header & 1) << 8 | usize::from(self.stream.byte()?)) + 1)
    }

    fn direct(&mut self, header: u8) -> Result<()> {
        let width = width(header >> 1);
        let count = self.count(header)?;
        self.unpack(width, count)?;
        let sign = self.sign;
        self.run
            .iter_mut()
            .for_each(|value| *value = sign.decode(*value as u64));
        Ok(())
    }

    fn patched_base(&mut self, header: u8) -> Result<()> {
        let value_width = width(header >> 1);
        let count = self.count(header)?;
        let (third, fourth) = (self.stream.byte()?, self.stream.byte()?);
        let base_width = usize::from(third >> 5) + 1;
        let patch_width = width(third);
        let gap_width = u32::from(fourth >> 5) + 1;
        let patches = usize::from(fourth & 0x1f);
        // The base's highest bit is its sign.
        let base = self.big_endian(base_width)?;
        let sign = 1_u64 << (base_width * 8 - 1);
        let base = match base & sign {
            0 => base as i64,
            _ => ((base & !sign) as i64).wrapping_neg(),
        };
        self.unpack(value_width, count)?;
        let mut values = std::mem::take(&mut self.run);
        self.unpack(next_width(patch_width + gap_width), patches)?;
        let mask = (1_u64.checked_shl(patch_width)).map_or(u64::MAX, |bit| bit - 1);
        let mut place = 0_usize;
        for patch in &self.run {
            let patch = *patch as u64;
            place += patch.checked_shr(patch_width).unwrap_or(0) as usize;
            let high = (patch & mask).checked_shl(value_width).unwrap_or(0);
            match values.get_mut(place) {
                Some(value) => *value |= high as i64,
                // An empty patch bridges a gap that is too wide for one.
                None if high == 0 => {}
                None => return Err(Error::corrupt("a run of the ORC file patches what it does not have")),
            }
        }
        values.iter_mut().for_each(|value| *value = value.wrapping_add(base));
        self.run = values;
        Ok(())
    }

    fn delta(&mut self, header: u8) -> Result<()> {
        let width = match header >> 1 & 0x1f {
            0 => 0,
            code => width(code),
        };
        let count = self.count(header)?;
        let base = self.integer()?;
        let first = zigzag(self.stream.varint()?);
        if width == 0 {
            let steps = (0..count as i64).map(|i| base.wrapping_add(first.wrapping_mul(i)));
            self.run.extend(steps);
            return Ok(());
        }
        self.unpack(width, count.saturating_sub(2))?;
        let deltas = std::mem::take(&mut self.run);
        let mut value = base.wrapping_add(first);
        self.run.push(base);
        if count > 1 {
            self.run.push(value);
        }
        for delta in deltas {
            value = match first < 0 {
                true => value.wrapping_sub(delta),
                false => value.wrapping_add(delta),
            };
            self.run.push(value);
        }
        Ok(())
    }

    /// Makes the run of so many packed integers of `width` bits, the highest bit first.
    fn unpack(&mut self, width: u32, count: usize) -> Result<()> {
        self.run.clear();
        self.packed.clear();
        self.stream
            .read((count * width as usize).div_ceil(8), &mut self.packed)?;
        let mut bytes = self.packed.iter();
        // Up to seven bits are left of the byte before: a number needs at most nine bytes.
        let (mut bits, mut left) = (0_u128, 0_u32);
        for _ in 0..count {
            while left < width {
                bits = bits << 8 | u128::from(bytes.next().copied().unwrap_or_default());
                left += 8;
            }
            left -= width;
            self.run.push((bits >> left) as u64 as i64);
            bits &= (1 << left) - 1;
        }
        Ok(())
    }
}

/// The width that five bits stand for.
fn width(code: u8) -> u32 {
    match code & 0x1f {
        code @ 0..=23 => u32::from(code) + 1,
        24 => 26,
        25 => 28,
        26 => 30,
        27 => 32,
        28 => 40,
        29 => 48,
        30 => 56,
        _ => 64,
    }
}

/// The smallest width that can be written and holds so many bits.
fn next_width(bits: u32) -> u32 {
    (0..=31).map(width).find(|width| *width >= bits).unwrap_or(64)
}

#[cfg(test)]
mod tests;
