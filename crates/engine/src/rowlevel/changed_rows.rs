//! Which rows of which files a statement changes, gathered while it runs.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use tarn_format::Result;
use tarn_format::deletes::deletion_vector::DeletionVector;

use super::target::RowStatement;

/// Positions of rows that go, by the location of their file.
pub(super) type RowsByFile = BTreeMap<Arc<str>, DeletionVector>;

/// Rows of one file.
#[derive(Debug, Default)]
struct FileRows {
    /// Rows that go.
    gone: DeletionVector,
    /// Rows that were met; empty where rows may come again.
    met: DeletionVector,
}

/// What a statement did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct RowCounts {
    pub(super) deleted: u64,
    pub(super) updated: u64,
    pub(super) inserted: u64,
}

/// The rows that are changed. Streams of one execution share it.
#[derive(Debug)]
pub(super) struct ChangedRows {
    statement: RowStatement,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    files: HashMap<Arc<str>, FileRows>,
    counts: RowCounts,
}

impl ChangedRows {
    pub(super) fn new(statement: RowStatement) -> Self {
        ChangedRows {
            statement,
            state: Mutex::default(),
        }
    }

    /// Takes down the rows of one file among those of a batch: position, and whether the row goes. The first row that was
    /// met before, where that matters, ends it.
    pub(super) fn add(&self, file: &str, rows: impl Iterator<Item = (usize, u64, Fate)>) -> Result<Option<usize>> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let State { files, counts } = &mut *state;
        if !files.contains_key(file) {
            files.insert(Arc::from(file), FileRows::default());
        }
        let Some(of_file) = files.get_mut(file) else {
            return Ok(None);
        };
        for (row, position, fate) in rows {
            if !self.statement.may_repeat() && !of_file.met.insert(position)? {
                return Ok(Some(row));
            }
            match fate {
                Fate::Stays => {}
                Fate::Goes => counts.deleted += u64::from(of_file.gone.insert(position)?),
                Fate::Changes => counts.updated += u64::from(of_file.gone.insert(position)?),
            }
        }
        Ok(None)
    }

    pub(super) fn add_inserted(&self, rows: u64) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.counts.inserted += rows;
    }

    /// What was gathered; nothing is left.
    pub(super) fn take(&self) -> (RowsByFile, RowCounts) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let State { files, counts } = std::mem::take(&mut *state);
        let gone = files.into_iter().map(|(path, rows)| (path, rows.gone));
        (gone.filter(|(_, gone)| !gone.is_empty()).collect(), counts)
    }
}

/// What becomes of a row of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    Stays,
    Goes,
    Changes,
}
