//! Equality deletes of one partition, or of the whole table, with one list of key columns: the contents of one table of
//! keys.

use std::sync::Arc;

use arrow::datatypes::DataType;
use tarn_format::Result;
use tarn_format::deletes::DeleteTask;
use tarn_format::io::{FileIo, ObjectId};
use tarn_format::spec::types::FieldId;

use super::key_column::KeyColumn;

/// What tells sets apart in a cache: the files with their sequence numbers, the key columns and their types.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct KeySetId {
    files: Vec<(ObjectId, i64)>,
    columns: Vec<(FieldId, DataType)>,
}

/// A set of equality deletes.
#[derive(Debug, Clone)]
pub(crate) struct KeySet {
    pub(crate) columns: Vec<KeyColumn>,
    pub(super) deletes: Vec<DeleteTask>,
    pub(super) id: Arc<KeySetId>,
}

impl KeySet {
    /// The set of these deletes, each listed once or more.
    ///
    /// # Errors
    /// Those of [`FileIo::object_id`].
    pub(crate) fn new(io: &FileIo, columns: Vec<KeyColumn>, mut deletes: Vec<DeleteTask>) -> Result<Self> {
        deletes.sort_by(|a, b| (a.path(), a.sequence_number()).cmp(&(b.path(), b.sequence_number())));
        deletes.dedup_by(|a, b| a == b && a.sequence_number() == b.sequence_number());
        let file = |delete: &DeleteTask| Ok((io.object_id(delete.path())?, delete.sequence_number()));
        let id = KeySetId {
            files: deletes.iter().map(file).collect::<Result<_>>()?,
            columns: columns.iter().map(|c| (c.id, c.data_type())).collect(),
        };
        Ok(KeySet {
            columns,
            deletes,
            id: Arc::new(id),
        })
    }
}

impl KeySetId {
    pub(super) fn size_bytes(&self) -> usize {
        let paths: usize = self.files.iter().map(|(id, _)| id.path.as_ref().len()).sum();
        paths + self.files.len() * size_of::<(ObjectId, i64)>()
    }
}
