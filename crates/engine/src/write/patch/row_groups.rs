//! What becomes of each row group of a file, and of each of its columns.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::BooleanBufferBuilder;
use arrow::buffer::BooleanBuffer;

use super::FilePatch;
use super::source::SourceFile;

/// What becomes of a row group.
#[derive(Debug, Clone)]
pub(super) struct GroupPlan {
    /// Its index in the old file.
    pub(super) at: usize,
    /// The positions of its rows.
    pub(super) rows: Range<u64>,
    /// Its updated rows, as indexes of [`super::UpdatedRows`].
    pub(super) updated: Range<usize>,
    /// Which rows stay; `None` where all do.
    pub(super) kept: Option<Arc<BooleanBuffer>>,
    /// How many rows stay.
    pub(super) rows_kept: u64,
}

impl GroupPlan {
    /// Whether no row changes.
    pub(super) fn is_unchanged(&self) -> bool {
        self.kept.is_none() && self.updated.is_empty()
    }

    /// Whether every row gets new values.
    pub(super) fn is_replaced(&self) -> bool {
        self.updated.len() as u64 == self.rows.end - self.rows.start
    }
}

/// Plans all row groups that have rows left.
pub(super) fn plan(source: &SourceFile, patch: &FilePatch) -> Vec<GroupPlan> {
    let mut runs = patch.removed.ranges().peekable();
    let groups = source.row_groups().map(|(at, rows)| {
        let removed = patch.removed.cardinality_in(rows.clone());
        GroupPlan {
            at,
            updated: patch.updated.within(&rows),
            kept: (removed > 0).then(|| Arc::new(kept_rows(&rows, &mut runs))),
            rows_kept: (rows.end - rows.start) - removed,
            rows,
        }
    });
    groups.filter(|group| group.rows_kept > 0).collect()
}

/// The rows of a group that are in no run. Runs before the group may be left over; one that goes on behind it stays.
fn kept_rows(group: &Range<u64>, runs: &mut std::iter::Peekable<impl Iterator<Item = Range<u64>>>) -> BooleanBuffer {
    let rows = usize::try_from(group.end - group.start).unwrap_or(0);
    let mut kept = BooleanBufferBuilder::new(rows);
    let mut decided = group.start;
    while let Some(run) = runs.peek() {
        if run.start >= group.end {
            break;
        }
        let (start, end) = (run.start.max(decided), run.end.min(group.end));
        if start < end {
            kept.append_n((start - decided) as usize, true);
            kept.append_n((end - start) as usize, false);
            decided = end;
        }
        if run.end > group.end {
            break;
        }
        runs.next();
    }
    kept.append_n((group.end - decided) as usize, true);
    kept.finish()
}
