//! The column containers of a decoded manifest: optional longs, optional bytes, lists, strings.
//!
//! Rows are appended in order and a row may be left out, which makes it null. A column that few rows have is
//! kept sparse (row numbers beside the values), so its memory is bounded by the values it holds and never by
//! rows × columns, however many field ids a hostile or very wide manifest names.

use std::mem::size_of;

use crate::error::{Error, ErrorKind, Result};

/// Where the rows of the values are: all present, dense with holes, or a sorted list.
#[derive(Debug, Clone, Default, PartialEq)]
enum Rows {
    /// Row `i` has value `i`; rows past the end are null.
    #[default]
    Prefix,
    /// One bit per row, least significant first, over a dense vector.
    Bitmap { bits: Vec<u64>, valid: usize },
    /// The sorted row numbers of the values.
    Sparse(Vec<u32>),
}

/// Where the next value goes.
enum Place {
    /// After the last value, once that many empty places have been filled.
    Append { holes: usize },
    /// The row has a value already: a key that occurs twice, the last one counts.
    Replace,
}

impl Rows {
    /// Makes room for a value of `row`, given `len` places in the dense vector.
    fn place(&mut self, row: usize, len: usize) -> Place {
        match self {
            Rows::Prefix if row == len => Place::Append { holes: 0 },
            Rows::Prefix if row < len => Place::Replace,
            Rows::Prefix => {
                if is_too_sparse(row, len) {
                    let mut rows: Vec<u32> = (0..len as u32).collect();
                    rows.push(row as u32);
                    *self = Rows::Sparse(rows);
                    return Place::Append { holes: 0 };
                }
                let mut bits = Vec::new();
                for i in 0..len {
                    set_bit(&mut bits, i);
                }
                set_bit(&mut bits, row);
                *self = Rows::Bitmap { bits, valid: len + 1 };
                Place::Append { holes: row - len }
            }
            Rows::Bitmap { .. } if row < len => Place::Replace,
            Rows::Bitmap { bits, valid } => {
                // A bitmap column that thins out stays dense while its holes are few per value.
                set_bit(bits, row);
                *valid += 1;
                Place::Append { holes: row - len }
            }
            Rows::Sparse(rows) => {
                if rows.last().is_some_and(|last| *last as usize >= row) {
                    return Place::Replace;
                }
                rows.push(row as u32);
                Place::Append { holes: 0 }
            }
        }
    }

    /// Whether a dense column must become sparse before it takes `row`.
    fn must_thin(&self, row: usize, len: usize) -> bool {
        matches!(self, Rows::Bitmap { valid, .. } if row > len && is_too_sparse(row, *valid))
    }

    /// The index of the value of `row`.
    #[inline]
    fn index(&self, row: usize, len: usize) -> Option<usize> {
        match self {
            Rows::Prefix => (row < len).then_some(row),
            Rows::Bitmap { bits, .. } => has_bit(bits, row).then_some(row),
            Rows::Sparse(rows) => rows.binary_search(&u32::try_from(row).ok()?).ok(),
        }
    }

    /// Takes the rows out of a sparse column that is better kept dense.
    fn take_if_dense(&mut self) -> Option<Vec<u32>> {
        let Rows::Sparse(rows) = self else { return None };
        let places = rows.last().map_or(0, |last| *last as usize + 1);
        if places > 2 * rows.len() {
            return None;
        }
        let rows = std::mem::take(rows);
        // Half of the places are taken, but the first value may come late: start as a bitmap that accepts this.
        *self = Rows::Bitmap {
            bits: Vec::new(),
            valid: rows.len(),
        };
        Some(rows)
    }

    fn valid_rows(&self, len: usize) -> Vec<u32> {
        match self {
            Rows::Prefix => (0..len as u32).collect(),
            Rows::Bitmap { bits, .. } => (0..len).filter(|i| has_bit(bits, *i)).map(|i| i as u32).collect(),
            Rows::Sparse(rows) => rows.clone(),
        }
    }

    fn size_bytes(&self) -> usize {
        match self {
            Rows::Prefix => 0,
            Rows::Bitmap { bits, .. } => bits.capacity() * size_of::<u64>(),
            Rows::Sparse(rows) => rows.capacity() * size_of::<u32>(),
        }
    }

    fn shrink(&mut self) {
        match self {
            Rows::Prefix => {}
            Rows::Bitmap { bits, .. } => bits.shrink_to_fit(),
            Rows::Sparse(rows) => rows.shrink_to_fit(),
        }
    }
}

/// Dense storage is allowed up to four places per value.
fn is_too_sparse(row: usize, values: usize) -> bool {
    row > 4 * values + 4
}

fn set_bit(bits: &mut Vec<u64>, i: usize) {
    let word = i / 64;
    if bits.len() <= word {
        bits.resize(word + 1, 0);
    }
    if let Some(w) = bits.get_mut(word) {
        *w |= 1 << (i % 64);
    }
}

#[inline]
fn has_bit(bits: &[u64], i: usize) -> bool {
    bits.get(i / 64).is_some_and(|w| w >> (i % 64) & 1 == 1)
}

/// Optional 64-bit values, one per row. Empty when no row has one.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct OptionalLongs {
    values: Vec<i64>,
    rows: Rows,
}

impl OptionalLongs {
    /// The value of row `i`; `None` where it is null or past the end.
    #[inline]
    pub fn get(&self, i: usize) -> Option<i64> {
        self.rows
            .index(i, self.values.len())
            .and_then(|at| self.values.get(at).copied())
    }

    /// Whether no row has a value.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// All values, when the first `len` rows all have one: for loops without null checks.
    pub fn all_valid(&self, len: usize) -> Option<&[i64]> {
        match self.rows {
            Rows::Prefix => self.values.get(..len),
            _ => None,
        }
    }

    /// Sets the value of `row`, which must not come before an earlier one. Rows left out are null.
    #[inline]
    pub fn push_at(&mut self, row: usize, value: i64) {
        if matches!(self.rows, Rows::Prefix) && row == self.values.len() {
            self.values.push(value);
            return;
        }
        self.push_slow(row, value);
    }

    #[cold]
    fn thin(&mut self) {
        let rows = self.rows.valid_rows(self.values.len());
        self.values = rows
            .iter()
            .filter_map(|r| self.values.get(*r as usize).copied())
            .collect();
        self.rows = Rows::Sparse(rows);
    }

    fn push_slow(&mut self, row: usize, value: i64) {
        if self.rows.must_thin(row, self.values.len()) {
            self.thin();
        }
        match self.rows.place(row, self.values.len()) {
            Place::Append { holes } => {
                self.values.resize(self.values.len() + holes, 0);
                self.values.push(value);
            }
            Place::Replace => {
                if let Some(last) = self.values.last_mut() {
                    *last = value;
                }
            }
        }
    }

    /// Makes room for so many more rows when the `len` rows before all have a value.
    pub(super) fn reserve(&mut self, rows: usize, len: usize) {
        if self.values.len() == len {
            self.values.reserve_exact(rows);
        }
    }

    /// Gives back unused memory, and makes a column dense that began late.
    pub fn shrink(&mut self) {
        if let Some(rows) = self.rows.take_if_dense() {
            let sparse = std::mem::take(&mut self.values);
            rows.iter()
                .zip(sparse)
                .for_each(|(row, value)| self.push_at(*row as usize, value));
        }
        self.values.shrink_to_fit();
        self.rows.shrink();
    }

    /// Heap bytes.
    pub fn size_bytes(&self) -> usize {
        self.values.capacity() * size_of::<i64>() + self.rows.size_bytes()
    }
}

impl FromIterator<Option<i64>> for OptionalLongs {
    fn from_iter<T: IntoIterator<Item = Option<i64>>>(iter: T) -> Self {
        let mut column = OptionalLongs::default();
        for (row, value) in iter.into_iter().enumerate() {
            if let Some(value) = value {
                column.push_at(row, value);
            }
        }
        column.shrink();
        column
    }
}

/// Optional byte strings, one per row, in one buffer. Empty when no row has one.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct OptionalBytes {
    /// End of each value in `data`; it starts where the one before ends.
    ends: Vec<u32>,
    data: Vec<u8>,
    rows: Rows,
}

impl OptionalBytes {
    /// The value of row `i`; `None` where it is null or past the end.
    #[inline]
    pub fn get(&self, i: usize) -> Option<&[u8]> {
        let at = self.rows.index(i, self.ends.len())?;
        let end = *self.ends.get(at)? as usize;
        self.data.get(self.start(at)..end)
    }

    fn start(&self, at: usize) -> usize {
        match at.checked_sub(1) {
            Some(before) => self.ends.get(before).map_or(0, |end| *end as usize),
            None => 0,
        }
    }

    /// Whether no row has a value.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Sets the value of `row`, which must not come before an earlier one. Rows left out are null.
    ///
    /// # Errors
    /// `ResourcesExhausted` when the column would pass 4 GiB.
    #[inline]
    pub fn push_at(&mut self, row: usize, value: &[u8]) -> Result<()> {
        if !(matches!(self.rows, Rows::Prefix) && row == self.ends.len()) {
            self.make_place(row);
        }
        self.data.extend_from_slice(value);
        let end = u32::try_from(self.data.len()).map_err(|_| too_long())?;
        self.ends.push(end);
        Ok(())
    }

    fn make_place(&mut self, row: usize) {
        if self.rows.must_thin(row, self.ends.len()) {
            let rows = self.rows.valid_rows(self.ends.len());
            // Holes are empty, so the ends of the values that remain still delimit them.
            self.ends = rows
                .iter()
                .filter_map(|r| self.ends.get(*r as usize).copied())
                .collect();
            self.rows = Rows::Sparse(rows);
        }
        match self.rows.place(row, self.ends.len()) {
            Place::Append { holes } => {
                let end = self.ends.last().copied().unwrap_or(0);
                self.ends.resize(self.ends.len() + holes, end);
            }
            Place::Replace => {
                self.ends.pop();
                let end = self.ends.last().copied().unwrap_or(0);
                self.data.truncate(end as usize);
            }
        }
    }

    /// As [`OptionalLongs::reserve`], for values of the same length on average.
    pub(super) fn reserve(&mut self, rows: usize, len: usize) {
        if self.ends.len() == len {
            self.ends.reserve_exact(rows);
            self.data.reserve_exact(bytes_to_come(self.data.len(), rows, len));
        }
    }

    /// Gives back unused memory, and makes a column dense that began late.
    pub fn shrink(&mut self) {
        if let Some(rows) = self.rows.take_if_dense() {
            // The bytes stay where they are: holes are empty.
            let sparse = std::mem::take(&mut self.ends);
            for (row, end) in rows.iter().zip(sparse) {
                self.make_place(*row as usize);
                self.ends.push(end);
            }
        }
        self.ends.shrink_to_fit();
        self.data.shrink_to_fit();
        self.rows.shrink();
    }

    /// Heap bytes.
    pub fn size_bytes(&self) -> usize {
        self.ends.capacity() * size_of::<u32>() + self.data.capacity() + self.rows.size_bytes()
    }
}

impl<B: AsRef<[u8]>> FromIterator<Option<B>> for OptionalBytes {
    /// Values past 4 GiB in total become null.
    fn from_iter<T: IntoIterator<Item = Option<B>>>(iter: T) -> Self {
        let mut column = OptionalBytes::default();
        for (row, value) in iter.into_iter().enumerate() {
            if let Some(value) = value
                && column.push_at(row, value.as_ref()).is_err()
            {
                break;
            }
        }
        column.shrink();
        column
    }
}

/// Lists of 64-bit values, one per row, in one buffer. Empty when every list is empty or absent.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LongLists {
    /// End of each list in `values`, as [`OptionalBytes`].
    ends: Vec<u32>,
    values: Vec<i64>,
}

impl LongLists {
    /// The list of row `i`; empty where it is absent or past the end.
    pub fn get(&self, i: usize) -> &[i64] {
        let Some(end) = self.ends.get(i) else { return &[] };
        let start = i.checked_sub(1).and_then(|b| self.ends.get(b)).copied().unwrap_or(0);
        self.values.get(start as usize..*end as usize).unwrap_or(&[])
    }

    /// Whether every list is empty.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Appends one value to the list of `row`; rows must not go down.
    ///
    /// # Errors
    /// `ResourcesExhausted` when the column would pass 2^32 values.
    pub fn push_at(&mut self, row: usize, value: i64) -> Result<()> {
        let before = u32::try_from(self.values.len()).map_err(|_| too_long())?;
        let end = before.checked_add(1).ok_or_else(too_long)?;
        if self.ends.len() <= row {
            self.ends.resize(row + 1, before);
        }
        self.values.push(value);
        if let Some(last) = self.ends.get_mut(row) {
            *last = end;
        }
        Ok(())
    }

    /// Gives back unused memory.
    pub fn shrink(&mut self) {
        self.ends.shrink_to_fit();
        self.values.shrink_to_fit();
    }

    /// Heap bytes.
    pub fn size_bytes(&self) -> usize {
        self.ends.capacity() * size_of::<u32>() + self.values.capacity() * size_of::<i64>()
    }
}

/// Optional strings, one per row, each distinct neighbour kept once. Empty when no row has one.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Strings {
    /// Start and end in `data`; start past end is null.
    spans: Vec<(u32, u32)>,
    data: String,
}

const NULL_SPAN: (u32, u32) = (1, 0);

impl Strings {
    /// The value of row `i`; `None` where it is null or past the end.
    #[inline]
    pub fn get(&self, i: usize) -> Option<&str> {
        let (start, end) = *self.spans.get(i)?;
        self.data.get(start as usize..end as usize)
    }

    /// Whether no row has a value.
    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// Sets the value of `row`, which must come after every other. Rows left out are null.
    ///
    /// # Errors
    /// `ResourcesExhausted` when the column would pass 4 GiB.
    pub fn push_at(&mut self, row: usize, value: &str) -> Result<()> {
        if let Some((start, end)) = self.spans.last().copied() {
            // Deletion vectors of one puffin file follow each other and share its path.
            if self.data.get(start as usize..end as usize) == Some(value) {
                return self.push_span(row, (start, end));
            }
        }
        let start = self.data.len();
        let end = u32::try_from(start.saturating_add(value.len())).map_err(|_| too_long())?;
        self.data.push_str(value);
        self.push_span(row, (start as u32, end))
    }

    /// As [`Self::push_at`] with the place of an equal value.
    fn push_span(&mut self, row: usize, span: (u32, u32)) -> Result<()> {
        if self.spans.len() < row {
            self.spans.resize(row, NULL_SPAN);
        }
        self.spans.push(span);
        Ok(())
    }

    /// As [`OptionalLongs::reserve`], for values of the same length on average.
    pub(super) fn reserve(&mut self, rows: usize, len: usize) {
        if self.spans.len() == len {
            self.spans.reserve_exact(rows);
            self.data.reserve_exact(bytes_to_come(self.data.len(), rows, len));
        }
    }

    /// Gives back unused memory.
    pub fn shrink(&mut self) {
        self.spans.shrink_to_fit();
        self.data.shrink_to_fit();
    }

    /// Heap bytes.
    pub fn size_bytes(&self) -> usize {
        self.spans.capacity() * size_of::<(u32, u32)>() + self.data.capacity()
    }
}

/// At most 256 bytes a row: more is made room for when it comes.
fn bytes_to_come(bytes: usize, rows: usize, len: usize) -> usize {
    (bytes.saturating_mul(rows) / len.max(1)).min(rows.saturating_mul(256))
}

fn too_long() -> Error {
    Error::new(ErrorKind::ResourcesExhausted, "a column of the manifest passes 4 GiB")
}

#[cfg(test)]
mod tests;
