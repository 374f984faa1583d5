//! Which rows of which table a statement changes.

use std::collections::BTreeSet;
use std::sync::Arc;

use datafusion::physical_plan::ExecutionPlan;
use tarn_format::expr::Predicate;
use tarn_format::spec::types::FieldId;

use super::options::RowLevelOptions;
use crate::provider::IcebergTable;
use crate::write::WriteTarget;
use crate::write::row_lineage::RowLineage;

/// Columns of the input before those of the table: `_file`, `_pos` (both NULL for new rows) and the [`RowAction`].
pub const LEADING_COLUMNS: usize = 3;

/// What becomes of a row; the input's third column, a 32-bit integer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum RowAction {
    /// It stays as it is: it only counts as met.
    Keep = 0,
    /// It goes.
    Delete = 1,
    /// It goes, and the row's values come in its place.
    Update = 2,
    /// The row's values are new.
    Insert = 3,
}

impl RowAction {
    pub(super) fn from_number(number: i32) -> Option<Self> {
        [Self::Keep, Self::Delete, Self::Update, Self::Insert]
            .into_iter()
            .find(|action| *action as i32 == number)
    }
}

/// A statement that changes rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowStatement {
    /// Its input has the leading columns only. A row may come several times.
    Delete,
    /// A row comes once.
    Update,
    /// A row that comes several times was matched by several rows of the source: refused.
    Merge,
    /// A MERGE whose matched rows are only deleted, whatever the source row: they may come several times.
    MergeDeleting,
}

impl RowStatement {
    /// Its name in `write.*` properties.
    pub(crate) fn property_word(self) -> &'static str {
        match self {
            RowStatement::Delete => "delete",
            RowStatement::Update => "update",
            RowStatement::Merge | RowStatement::MergeDeleting => "merge",
        }
    }

    /// Whether a row may come several times.
    pub(super) fn may_repeat(self) -> bool {
        matches!(self, RowStatement::Delete | RowStatement::MergeDeleting)
    }
}

/// What a statement changes, and how.
#[derive(Debug, Clone)]
pub struct RowTarget {
    /// The table to be written, which is also the one that was read.
    pub write: WriteTarget,
    /// The state of it that the input reads, without metadata columns and in UTC.
    pub read: IcebergTable,
    /// The statement.
    pub statement: RowStatement,
    /// How it changes rows.
    pub options: RowLevelOptions,
    /// Matches every row that the statement may read: what others do to other rows is no conflict.
    pub conflict_filter: Predicate,
    /// The columns, by field id, that updates may change; `None` is all. Of others, updated rows bring the old values.
    pub updated_columns: Option<BTreeSet<FieldId>>,
    /// The same changes of rows with values of the updated columns alone, in the table's order and without lineage: all
    /// that copy-on-write needs where every row is updated in its place. `None` where there is more to change.
    pub updates: Option<Arc<dyn ExecutionPlan>>,
    /// What the last columns of the input are called, by which an error shows a row.
    pub keys: Vec<String>,
}

impl RowTarget {
    /// Where rows that are written have their lineage from. Where they bring it, the input has a column behind the table's,
    /// for all but DELETE: `_row_id` of the row that changes, NULL for new rows.
    pub(crate) fn lineage(&self) -> RowLineage {
        RowLineage::of_changes(&self.write.table.metadata)
    }
}
