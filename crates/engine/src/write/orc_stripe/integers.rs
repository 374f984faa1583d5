//! Run lengths of integers, version 2 (ORC specification, "Integer Run Length Encoding, version 2").
//!
//! Runs are short repeats, deltas and packed values. Patched ones, which save a little where few values are large, are not
//! written.

/// Integers of a run, at most.
const MAX_RUN: usize = 512;
const MIN_REPEAT: usize = 3;
const MAX_SHORT_REPEAT: usize = 10;
/// Integers of equal distance that are worth a run of their own.
const MIN_STEPS: usize = 6;

const DIRECT: u8 = 1;
const DELTA: u8 = 3;

/// Whether integers may be negative.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sign {
    Signed,
    Unsigned,
}

/// Zigzag: small numbers of either sign become small ones.
fn zigzag(value: i64) -> u64 {
    (value << 1 ^ value >> 63) as u64
}

/// Appends a number of seven bits a byte, the lowest first.
pub(super) fn append_varint(mut value: u128, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Integers in runs, and those that wait for one.
#[derive(Debug)]
pub(super) struct IntegerRuns {
    sign: Sign,
    waiting: Vec<i64>,
    out: Vec<u8>,
}

impl IntegerRuns {
    pub(super) fn new(sign: Sign) -> Self {
        IntegerRuns {
            sign,
            waiting: Vec::with_capacity(MAX_RUN),
            out: Vec::new(),
        }
    }

    pub(super) fn push(&mut self, value: i64) {
        self.waiting.push(value);
        if self.waiting.len() == MAX_RUN {
            self.end_runs();
        }
    }

    /// The stream.
    pub(super) fn finish(mut self) -> Vec<u8> {
        self.end_runs();
        self.out
    }

    fn end_runs(&mut self) {
        let waiting = std::mem::take(&mut self.waiting);
        let (mut packed, mut at) = (0, 0);
        while at < waiting.len() {
            let rest = waiting.get(at..).unwrap_or_default();
            let equal = steps(rest, Some(0));
            let stepped = steps(rest, step(rest));
            let len = match equal >= MIN_REPEAT {
                true => equal,
                false if stepped >= MIN_STEPS => stepped,
                false => {
                    at += 1;
                    continue;
                }
            };
            self.append_packed(waiting.get(packed..at).unwrap_or_default());
            self.append_steps(rest.get(..len).unwrap_or_default());
            at += len;
            packed = at;
        }
        self.append_packed(waiting.get(packed..).unwrap_or_default());
        self.waiting = waiting;
        self.waiting.clear();
    }

    fn encoded(&self, value: i64) -> u64 {
        match self.sign {
            Sign::Signed => zigzag(value),
            Sign::Unsigned => value as u64,
        }
    }

    /// Values of equal distance.
    fn append_steps(&mut self, run: &[i64]) {
        let Some(first) = run.first() else { return };
        let step = step(run).unwrap_or(0);
        if step == 0 && run.len() <= MAX_SHORT_REPEAT {
            let value = self.encoded(*first);
            let width = (64 - value.leading_zeros()).div_ceil(8).max(1) as usize;
            self.out.push((width as u8 - 1) << 3 | (run.len() - MIN_REPEAT) as u8);
            let bytes = value.to_be_bytes();
            self.out.extend_from_slice(bytes.get(8 - width..).unwrap_or_default());
            return;
        }
        self.append_header(DELTA, 0, run.len());
        append_varint(u128::from(self.encoded(*first)), &mut self.out);
        append_varint(u128::from(zigzag(step)), &mut self.out);
    }

    /// Values of any kind.
    fn append_packed(&mut self, values: &[i64]) {
        if values.is_empty() {
            return;
        }
        let encoded: Vec<u64> = values.iter().map(|v| self.encoded(*v)).collect();
        let width = width(bits(&encoded));
        if let Some(deltas) = deltas(values) {
            // One bit is what a width of none is written as.
            let narrow = self::width(bits(deltas.get(1..).unwrap_or_default()).max(2));
            if narrow.bits < width.bits {
                return self.append_deltas(values, &deltas, narrow);
            }
        }
        self.append_header(DIRECT, width.code, values.len());
        pack(&encoded, width.bits, &mut self.out);
    }

    fn append_deltas(&mut self, values: &[i64], deltas: &[u64], width: Width) {
        let (Some(first), Some(second)) = (values.first(), values.get(1)) else {
            return;
        };
        self.append_header(DELTA, width.code, values.len());
        append_varint(u128::from(self.encoded(*first)), &mut self.out);
        append_varint(u128::from(zigzag(second.wrapping_sub(*first))), &mut self.out);
        pack(deltas.get(1..).unwrap_or_default(), width.bits, &mut self.out);
    }

    fn append_header(&mut self, kind: u8, width: u8, len: usize) {
        let len = len - 1;
        self.out.push(kind << 6 | width << 1 | (len >> 8) as u8);
        self.out.push(len as u8);
    }
}

/// The distance of the first two values; `None` where it has no 64 bits, or there are no two.
fn step(values: &[i64]) -> Option<i64> {
    values.get(1)?.checked_sub(*values.first()?)
}

/// How many of the first values are at this distance of each other.
fn steps(values: &[i64], step: Option<i64>) -> usize {
    let Some(step) = step else { return 1 };
    let pairs = values.windows(2);
    1 + pairs.take_while(|pair| self::step(pair) == Some(step)).count()
}

/// Distances of values that never go up, or never down; `None` for others, and for fewer than three.
fn deltas(values: &[i64]) -> Option<Vec<u64>> {
    let first = step(values).filter(|_| values.len() > 2)?;
    let deltas = values.windows(2).map(|pair| {
        let delta = step(pair)?;
        let is_on_course = delta == 0 || (delta < 0) == (first < 0);
        is_on_course.then(|| delta.unsigned_abs())
    });
    deltas.collect()
}

/// Bits of the largest.
fn bits(values: &[u64]) -> u32 {
    64 - values.iter().fold(0, |all, v| all | v).leading_zeros()
}

/// A width that runs can have.
#[derive(Debug, Clone, Copy)]
struct Width {
    bits: u32,
    code: u8,
}

/// The least that holds so many bits.
fn width(bits: u32) -> Width {
    let (bits, code) = match bits {
        0 | 1 => (1, 0),
        2..=24 => (bits, bits as u8 - 1),
        25..=26 => (26, 24),
        27..=28 => (28, 25),
        29..=30 => (30, 26),
        31..=32 => (32, 27),
        33..=40 => (40, 28),
        41..=48 => (48, 29),
        49..=56 => (56, 30),
        _ => (64, 31),
    };
    Width { bits, code }
}

/// Appends values of so many bits each, the highest first.
fn pack(values: &[u64], bits: u32, out: &mut Vec<u8>) {
    let (mut pending, mut have) = (0_u128, 0);
    for value in values {
        pending = pending << bits | u128::from(*value);
        have += bits;
        while have >= 8 {
            have -= 8;
            out.push((pending >> have) as u8);
        }
        pending &= (1 << have) - 1;
    }
    if have > 0 {
        out.push((pending << (8 - have)) as u8);
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use proptest::prelude::*;

    use super::*;
    use crate::scan::orc::decoded_integers;

    fn runs(values: &[i64], sign: Sign) -> Vec<u8> {
        let mut runs = IntegerRuns::new(sign);
        values.iter().for_each(|v| runs.push(*v));
        runs.finish()
    }

    /// The specification's examples.
    #[test]
    fn examples_of_the_specification() {
        assert_eq!(runs(&[10000; 5], Sign::Unsigned), [0x0a, 0x27, 0x10]);
        let direct = [23713, 43806, 57005, 48879];
        let bytes = [0x5e, 0x03, 0x5c, 0xa1, 0xab, 0x1e, 0xde, 0xad, 0xbe, 0xef];
        assert_eq!(runs(&direct, Sign::Unsigned), bytes);
        let primes = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29];
        // Java takes eight bytes for them: it packs by widths that divide bytes.
        let packed = [0xc4, 0x09, 0x02, 0x02, 0b01001010, 0b00101000, 0b10100110];
        assert_eq!(runs(&primes, Sign::Unsigned), packed);
    }

    #[test]
    fn steps_take_few_bytes() {
        let numbers: Vec<i64> = (-1000..9240).collect();
        assert!(runs(&numbers, Sign::Signed).len() < 20 * 8);
        assert_eq!(runs(&[i64::MIN; 512], Sign::Signed).len(), 2 + 10 + 1);
    }

    fn values() -> impl Strategy<Value = Vec<i64>> {
        let part = prop_oneof![
            prop::collection::vec(any::<i64>(), 0..40),
            prop::collection::vec(-300_i64..300, 0..700),
            (any::<i64>(), 0_usize..700).prop_map(|(v, n)| vec![v; n]),
            (any::<i64>(), -9_i64..9, 0_i64..700)
                .prop_map(|(v, step, n)| (0..n).map(|i| v.wrapping_add(step.wrapping_mul(i))).collect()),
            (any::<i32>(), prop::collection::vec(0_i64..5000, 0..600)).prop_map(|(start, deltas)| {
                let mut at = i64::from(start);
                deltas
                    .iter()
                    .map(|d| {
                        at -= d;
                        at
                    })
                    .collect()
            }),
        ];
        prop::collection::vec(part, 0..6).prop_map(|parts| parts.concat())
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(values in values()) {
            let read = decoded_integers(Bytes::from(runs(&values, Sign::Signed)), values.len());
            prop_assert_eq!(read.unwrap(), values);
        }
    }
}
