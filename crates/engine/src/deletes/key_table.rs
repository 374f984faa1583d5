//! The keys of deleted rows, each with the highest sequence number of the files that delete it.

use std::fmt;

use arrow::array::ArrayRef;
use arrow::buffer::BooleanBuffer;
use arrow::error::ArrowError;
use arrow::row::{RowConverter, SortField};
use datafusion::common::HashMap;

use super::key_column::KeyColumn;
use super::number_keys::{NumberKeys, is_number};

/// A hash table of keys. Null equals null (spec, "Equality Delete Files"), NaN equals NaN, the two zeros differ, as in
/// Java.
#[derive(Debug)]
pub(crate) enum KeyTable {
    /// Keys of one column whose values are numbers of 64 bits at most.
    Numbers(NumberKeys),
    /// Any others.
    Rows(RowKeys),
}

impl KeyTable {
    /// A table without keys.
    ///
    /// # Errors
    /// Arrow's, for types that have no order.
    pub(super) fn new(columns: &[KeyColumn]) -> Result<Self, ArrowError> {
        match columns {
            [column] if is_number(&column.data_type()) => Ok(KeyTable::Numbers(NumberKeys::default())),
            _ => Ok(KeyTable::Rows(RowKeys::new(columns)?)),
        }
    }

    /// Adds the keys of a file with this sequence number: an array per key column.
    ///
    /// # Errors
    /// Arrow's, for arrays of other types.
    pub(super) fn add(&mut self, keys: &[ArrayRef], sequence_number: i64) -> Result<(), ArrowError> {
        match (self, keys) {
            (KeyTable::Numbers(table), [keys]) => table.add(keys, sequence_number),
            (KeyTable::Numbers(_), _) => Err(not_one_column()),
            (KeyTable::Rows(table), keys) => table.add(keys, sequence_number),
        }
    }

    /// Gets ready for many look-ups after all keys are added, with at most so many bytes besides.
    pub(super) fn finish(&mut self, room_bytes: usize) {
        if let KeyTable::Numbers(table) = self {
            table.index(room_bytes);
        }
    }

    /// Memory in bytes, by estimate.
    pub(super) fn size_bytes(&self) -> usize {
        match self {
            KeyTable::Numbers(table) => table.size_bytes(),
            KeyTable::Rows(table) => table.size_bytes(),
        }
    }

    /// Which of the rows with these keys are deleted in a data file of this sequence number: deletes apply to older files
    /// only.
    ///
    /// # Errors
    /// Arrow's, for arrays of other types.
    pub(crate) fn deleted(&self, keys: &[ArrayRef], sequence_number: i64) -> Result<BooleanBuffer, ArrowError> {
        match (self, keys) {
            (KeyTable::Numbers(table), [keys]) => table.deleted(keys, sequence_number),
            (KeyTable::Numbers(_), _) => Err(not_one_column()),
            (KeyTable::Rows(table), keys) => table.deleted(keys, sequence_number),
        }
    }
}

fn not_one_column() -> ArrowError {
    ArrowError::InvalidArgumentError("keys of one column were expected".to_string())
}

/// Keys as bytes of Arrow's row format.
pub(crate) struct RowKeys {
    converter: RowConverter,
    sequence_numbers: HashMap<Box<[u8]>, i64>,
    key_bytes: usize,
}

impl fmt::Debug for RowKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RowKeys")
            .field("keys", &self.sequence_numbers.len())
            .finish_non_exhaustive()
    }
}

impl RowKeys {
    fn new(columns: &[KeyColumn]) -> Result<Self, ArrowError> {
        let fields = columns.iter().map(|column| SortField::new(column.data_type()));
        Ok(RowKeys {
            converter: RowConverter::new(fields.collect())?,
            sequence_numbers: HashMap::new(),
            key_bytes: 0,
        })
    }

    fn add(&mut self, keys: &[ArrayRef], sequence_number: i64) -> Result<(), ArrowError> {
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

    fn size_bytes(&self) -> usize {
        // What an allocator adds to each key.
        const PER_KEY: usize = 16;
        let entry = size_of::<(Box<[u8]>, i64)>() + 1;
        self.sequence_numbers.capacity() * entry + self.sequence_numbers.len() * PER_KEY + self.key_bytes
    }

    fn deleted(&self, keys: &[ArrayRef], sequence_number: i64) -> Result<BooleanBuffer, ArrowError> {
        let rows = self.converter.convert_columns(keys)?;
        let is_deleted = |i| {
            let by = self.sequence_numbers.get(rows.row(i).as_ref());
            by.is_some_and(|by| *by > sequence_number)
        };
        Ok(BooleanBuffer::collect_bool(rows.num_rows(), is_deleted))
    }
}
