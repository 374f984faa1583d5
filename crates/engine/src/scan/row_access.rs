//! Which rows of a Parquet file are read where some are deleted.

use std::ops::Range;

use datafusion::datasource::physical_plan::parquet::{ParquetAccessPlan, RowGroupAccess};
use parquet::arrow::arrow_reader::{RowSelection, RowSelector};
use parquet::file::metadata::RowGroupMetaData;
use tarn_format::deletes::deletion_vector::DeletionVector;

/// The rows of a file that are not deleted. Row counts are the footer's own, for selections must match them; deleted
/// positions beyond the last row delete nothing.
pub(super) fn access_plan(deleted: &DeletionVector, row_groups: &[RowGroupMetaData]) -> ParquetAccessPlan {
    let rows = row_groups
        .iter()
        .map(|group| u64::try_from(group.num_rows()).unwrap_or(0));
    ParquetAccessPlan::new(row_group_access(deleted, rows))
}

fn row_group_access(deleted: &DeletionVector, rows: impl Iterator<Item = u64>) -> Vec<RowGroupAccess> {
    let mut runs = deleted.ranges().peekable();
    let mut start = 0;
    rows.map(|rows| {
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
        selection.finish()
    })
    .collect()
}

/// The selection of one row group while it is made.
struct GroupSelection {
    group: Range<u64>,
    /// Rows before are decided.
    decided: u64,
    selected: u64,
    selectors: Vec<RowSelector>,
}

impl GroupSelection {
    fn new(group: Range<u64>) -> Self {
        GroupSelection {
            decided: group.start,
            selected: 0,
            selectors: Vec::new(),
            group,
        }
    }

    fn skip(&mut self, run: Range<u64>) {
        let start = run.start.max(self.group.start);
        self.select_until(start);
        self.selectors.push(RowSelector::skip((run.end - start) as usize));
        self.decided = run.end;
    }

    fn select_until(&mut self, end: u64) {
        if end > self.decided {
            self.selectors.push(RowSelector::select((end - self.decided) as usize));
            self.selected += end - self.decided;
        }
    }

    fn finish(mut self) -> RowGroupAccess {
        if self.selectors.is_empty() {
            return RowGroupAccess::Scan;
        }
        self.select_until(self.group.end);
        match self.selected {
            0 => RowGroupAccess::Skip,
            _ => RowGroupAccess::Selection(RowSelection::from(self.selectors)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(deleted: &[u64], rows: &[u64]) -> Vec<RowGroupAccess> {
        let deleted = DeletionVector::from_positions(deleted.iter().copied()).unwrap();
        row_group_access(&deleted, rows.iter().copied())
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
}
