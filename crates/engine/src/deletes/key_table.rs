//! The keys of deleted rows, each with the highest sequence number of the files that delete it.

use std::fmt;

use arrow::array::ArrayRef;
use arrow::buffer::BooleanBuffer;
use arrow::error::ArrowError;
use arrow::row::{RowConverter, SortField};
use datafusion::common::HashMap;

use super::key_column::KeyColumn;

/// A hash table of keys. Null equals null (spec, "Equality Delete Files"), NaN equals NaN, the two zeros differ, as in
/// Java.
pub(crate) struct KeyTable {
    converter: RowConverter,
    sequence_numbers: HashMap<Box<[u8]>, i64>,
    key_bytes: usize,
}

impl fmt::Debug for KeyTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyTable")
            .field("keys", &self.sequence_numbers.len())
            .finish_non_exhaustive()
    }
}

impl KeyTable {
    /// A table without keys.
    ///
    /// # Errors
    /// Arrow's, for types that have no order.
    pub(super) fn new(columns: &[KeyColumn]) -> Result<Self, ArrowError> {
        let fields = columns.iter().map(|column| SortField::new(column.data_type()));
        Ok(KeyTable {
            converter: RowConverter::new(fields.collect())?,
            sequence_numbers: HashMap::new(),
            key_bytes: 0,
        })
    }

    /// Adds the keys of a file with this sequence number: an array per key column.
    ///
    /// # Errors
    /// Arrow's, for arrays of other types.
    pub(super) fn add(&mut self, keys: &[ArrayRef], sequence_number: i64) -> Result<(), ArrowError> {
        for key in &self.converter.convert_columns(keys)? {
            let key: &[u8] = key.as_ref();
            match self.sequence_numbers.get_mut(key) {
                Some(known) => *known = sequence_number.max(*known),
                None => {
                    self.key_bytes += key.len();
                    self.sequence_numbers.insert(key.into(), sequence_number);
                }
            }
        }
        Ok(())
    }

    /// Memory in bytes, by estimate.
    pub(super) fn size_bytes(&self) -> usize {
        // What an allocator adds to each key.
        const PER_KEY: usize = 16;
        let entry = size_of::<(Box<[u8]>, i64)>() + 1;
        self.sequence_numbers.capacity() * entry + self.sequence_numbers.len() * PER_KEY + self.key_bytes
    }

    /// Which of the rows with these keys are deleted in a data file of this sequence number: deletes apply to older files
    /// only.
    ///
    /// # Errors
    /// Arrow's, for arrays of other types.
    pub(crate) fn deleted(&self, keys: &[ArrayRef], sequence_number: i64) -> Result<BooleanBuffer, ArrowError> {
        let rows = self.converter.convert_columns(keys)?;
        let is_deleted = |i| {
            let by = self.sequence_numbers.get(rows.row(i).as_ref());
            by.is_some_and(|by| *by > sequence_number)
        };
        Ok(BooleanBuffer::collect_bool(rows.num_rows(), is_deleted))
    }
}
