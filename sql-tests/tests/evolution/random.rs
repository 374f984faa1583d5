//! Numbers that look random and are the same for a seed on every machine (SplitMix64, as published by Steele, Lea and
//! Flood, 2014).

/// A stream of numbers.
#[derive(Debug)]
pub struct Random(u64);

impl Random {
    /// The stream of a seed.
    pub fn new(seed: u64) -> Self {
        Random(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `end`, which is not 0.
    pub fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    /// Whether something happens that happens `percent` times of a hundred.
    pub fn happens(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// One of the items; `None` of none.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        match items.len() {
            0 => None,
            n => items.get(self.below(n)),
        }
    }
}
