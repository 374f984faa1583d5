//! Which rows of a Parquet file are read where some are deleted.
//!
//! Selecting rows costs the decoder time for every run and column, so that deleted rows which lie scattered are cheaper
//! read and taken out of the batches (see [`super::deleted_rows`]); those that lie together are not read at all.

use std::ops::Range;

use datafusion::datasource::physical_plan::parquet::{ParquetAccessPlan, RowGroupAccess};
use parquet::arrow::arrow_reader::{RowSelection, RowSelector};
use parquet::file::metadata::RowGroupMetaData;
use tarn_format::deletes::deletion_vector::DeletionVector;

/// Where runs of rows are shorter on average, deleted rows are read: about where both ways cost the same.
const SCATTERED_RUN_ROWS: u64 = 256;
/// Runs of deleted rows that are left out even so: pages of them need not be decoded.
const LONG_RUN_ROWS: usize = 8192;

/// What is read of a file of which rows are deleted.
#[derive(Debug)]
pub(super) struct RowAccess {
    pub(super) plan: ParquetAccessPlan,
    pub(super) scattered: Scattered,
}

/// Whether deleted rows are among those that are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scattered {
    /// They are, and must be found by their positions.
    Read,
    /// They are not.
    LeftOut,
}

/// The rows of a file that are not deleted. Row counts are the footer's own, for selections must match them; deleted
/// positions beyond the last row delete nothing.
pub(super) fn row_access(deleted: &DeletionVector, row_groups: &[RowGroupMetaData]) -> RowAccess {
    let rows = row_groups
        .iter()
        .map(|group| u64::try_from(group.num_rows()).unwrap_or(0));
    let longest = match are_numbered(row_groups) {
        true => SCATTERED_RUN_ROWS,
        false => 0,
    };
    let (groups, scattered) = row_group_access(deleted, rows, longest);
    RowAccess {
        plan: ParquetAccessPlan::new(groups),
        scattered,
    }
}

/// Whether the footer numbers its row groups as they lie: the reader tells rows' positions by these numbers.
fn are_numbered(row_groups: &[RowGroupMetaData]) -> bool {
    let is_at = |(i, group): (usize, &RowGroupMetaData)| group.ordinal().is_some_and(|n| usize::try_from(n) == Ok(i));
    row_groups.iter().enumerate().all(is_at)
}

/// What is read of row groups of so many rows. In a group whose runs are shorter than `scattered_run_rows` on average,
/// only long runs are left out.
fn row_group_access(
    deleted: &DeletionVector,
    rows: impl Iterator<Item = u64>,
    scattered_run_rows: u64,
) -> (Vec<RowGroupAccess>, Scattered) {
    let mut runs = deleted.ranges().peekable();
    let mut start = 0;
    let mut scattered = Scattered::LeftOut;
    let access = rows.map(|rows| {
        let group = start..start + rows;
        start = group.end;
        let mut selection = GroupSelection::new(group.clone());
        while let Some(run) = runs.next_if(|run| run.end <= group.end) {
            selection.skip(run);
        }
        // A run that goes on in the next group.
        if let Some(run) = runs.peek().filter(|run| run.start < group.end) {
            selection.skip(run.start..group.end);
        }
        let is_scattered = selection.runs.saturating_mul(scattered_run_rows) > rows;
        if is_scattered && selection.read_short_runs() == Scattered::Read {
            scattered = Scattered::Read;
        }
        selection.finish()
    });
    (access.collect(), scattered)
}

/// The selection of one row group while it is made.
struct GroupSelection {
    group: Range<u64>,
    /// Rows before are decided.
    decided: u64,
    selected: u64,
    selectors: Vec<RowSelector>,
    /// How many runs of deleted rows there are.
    runs: u64,
}

impl GroupSelection {
    fn new(group: Range<u64>) -> Self {
        GroupSelection {
            decided: group.start,
            selected: 0,
            selectors: Vec::new(),
            runs: 0,
            group,
        }
    }

    fn skip(&mut self, run: Range<u64>) {
        let start = run.start.max(self.group.start);
        self.select_until(start);
        self.selectors.push(RowSelector::skip((run.end - start) as usize));
        self.decided = run.end;
        self.runs += 1;
    }

    fn select_until(&mut self, end: u64) {
        if end > self.decided {
            self.selectors.push(RowSelector::select((end - self.decided) as usize));
            self.selected += end - self.decided;
        }
    }

    /// Selects the deleted rows of short runs, unless nothing of the group is left.
    fn read_short_runs(&mut self) -> Scattered {
        let mut scattered = Scattered::LeftOut;
        self.select_until(self.group.end);
        self.decided = self.group.end;
        if self.selected == 0 {
            return scattered;
        }
        for selector in self
            .selectors
            .iter_mut()
            .filter(|s| s.skip && s.row_count < LONG_RUN_ROWS)
        {
            selector.skip = false;
            self.selected += selector.row_count as u64;
            scattered = Scattered::Read;
        }
        scattered
    }

    fn finish(mut self) -> RowGroupAccess {
        self.select_until(self.group.end);
        match self.selected {
            0 if !self.selectors.is_empty() => RowGroupAccess::Skip,
            selected if selected == self.group.end - self.group.start => RowGroupAccess::Scan,
            // Selectors of one kind in a row become one.
            _ => RowGroupAccess::Selection(RowSelection::from(self.selectors)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(deleted: &[u64], rows: &[u64]) -> Vec<RowGroupAccess> {
        let deleted = DeletionVector::from_positions(deleted.iter().copied()).unwrap();
        row_group_access(&deleted, rows.iter().copied(), 0).0
    }

    fn selection(selectors: Vec<RowSelector>) -> RowGroupAccess {
        RowGroupAccess::Selection(selectors.into())
    }

    #[test]
    fn groups_without_deletes_are_read_whole_and_deleted_ones_not_at_all() {
        use RowGroupAccess::{Scan, Skip};
        assert_eq!(access(&[3, 4, 5, 6, 7], &[3, 5, 2]), [Scan, Skip, Scan]);
        assert_eq!(access(&[], &[3, 5]), [Scan, Scan]);
        assert_eq!(access(&[10, 11, 99], &[3, 5]), [Scan, Scan]);
    }

    #[test]
    fn runs_are_cut_where_groups_end() {
        let expected = [
            selection(vec![RowSelector::select(2), RowSelector::skip(2)]),
            RowGroupAccess::Skip,
            selection(vec![RowSelector::skip(1), RowSelector::select(1), RowSelector::skip(1)]),
        ];
        assert_eq!(access(&[2, 3, 4, 5, 6, 8, 9], &[4, 2, 3]), expected);
    }

    #[test]
    fn every_selection_has_as_many_rows_as_its_group() {
        let deleted: Vec<u64> = (0..1000).filter(|i| i % 7 < 3 || i % 31 == 0).collect();
        let groups = [1, 99, 0, 400, 250, 300];
        let mut start = 0;
        for (access, rows) in access(&deleted, &groups).into_iter().zip(groups) {
            let live = (start..start + rows).filter(|i| !deleted.contains(i)).count();
            match access {
                RowGroupAccess::Skip => assert_eq!(live, 0),
                RowGroupAccess::Scan => assert_eq!(live as u64, rows),
                RowGroupAccess::Selection(selection) => {
                    assert_eq!(selection.row_count(), live);
                    assert_eq!(selection.iter().map(|s| s.row_count as u64).sum::<u64>(), rows);
                }
            }
            start += rows;
        }
    }

    #[test]
    fn scattered_rows_are_read_and_long_runs_are_not() {
        let rows = 4 * LONG_RUN_ROWS as u64;
        let long = rows / 2..rows / 2 + LONG_RUN_ROWS as u64;
        let mut deleted = DeletionVector::from_positions((0..rows).step_by(100)).unwrap();
        deleted.insert_range(long.clone()).unwrap();
        // The second group has three runs only.
        for position in [rows + 5, rows + 77, 2 * rows - 1] {
            deleted.insert(position).unwrap();
        }
        let (access, scattered) = row_group_access(&deleted, [rows, rows, 0].into_iter(), SCATTERED_RUN_ROWS);
        assert_eq!(scattered, Scattered::Read);
        let [
            RowGroupAccess::Selection(first),
            RowGroupAccess::Selection(second),
            RowGroupAccess::Scan,
        ] = access.as_slice()
        else {
            panic!("{access:?}");
        };
        // Rows deleted next to the long run belong to it.
        let around = (0..rows)
            .step_by(100)
            .filter(|p| *p == long.start.wrapping_sub(1) || *p == long.end);
        let left_out = LONG_RUN_ROWS + around.count();
        assert_eq!(first.row_count(), rows as usize - left_out);
        assert_eq!(first.iter().filter(|s| s.skip).count(), 1);
        assert_eq!(second.row_count(), rows as usize - 3);
    }

    #[test]
    fn few_runs_and_whole_groups_leave_no_deleted_rows_to_be_found() {
        let deleted = DeletionVector::from_positions(0..300).unwrap();
        let (access, scattered) = row_group_access(&deleted, [300, 1000].into_iter(), SCATTERED_RUN_ROWS);
        assert_eq!(
            (access, scattered),
            (vec![RowGroupAccess::Skip, RowGroupAccess::Scan], Scattered::LeftOut)
        );
        let deleted = DeletionVector::from_positions([10, 700]).unwrap();
        let (_, scattered) = row_group_access(&deleted, [1000].into_iter(), SCATTERED_RUN_ROWS);
        assert_eq!(scattered, Scattered::LeftOut);
        let deleted = DeletionVector::from_positions([1000]).unwrap();
        let (access, scattered) = row_group_access(&deleted, [1000].into_iter(), SCATTERED_RUN_ROWS);
        assert_eq!((access, scattered), (vec![RowGroupAccess::Scan], Scattered::LeftOut));
    }
}
