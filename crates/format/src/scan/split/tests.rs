//! Splits and groups, by the rules of Java's `BaseContentScanTask` and `TableScanUtil`.

use super::*;
use crate::manifest::data_file::DataFile;
use crate::manifest::manifest_file::ManifestContent;
use crate::scan::table_scan::{Statistics, TableScan};
use crate::scan::testing::{MemoryTable, data};
use crate::spec::snapshot::Operation;

const MB: u64 = 1024 * 1024;

async fn tasks(files: Vec<DataFile>) -> Vec<FileScanTask> {
    let mut table = MemoryTable::new();
    table.added(ManifestContent::Data, 0, files).await;
    table.commit(Operation::Append).await;
    let scan = TableScan::new(table.setup().statistics(Statistics::All));
    scan.plan().await.unwrap().tasks
}

fn sized(path: &str, size: u64, offsets: &[i64]) -> DataFile {
    DataFile {
        file_size_in_bytes: size as i64,
        split_offsets: offsets.to_vec(),
        ..data(path)
    }
}

async fn ranges(size: u64, offsets: &[i64], target: u64) -> Vec<(u64, u64)> {
    let tasks = tasks(vec![sized("f", size, offsets)]).await;
    let splits = split_file(&tasks[0], target);
    splits.iter().map(|s| (s.start, s.length)).collect()
}

#[tokio::test]
async fn files_split_at_their_offsets_whatever_the_target() {
    assert_eq!(ranges(100, &[4, 40, 90], 1000).await, [(4, 36), (40, 50), (90, 10)]);
    assert_eq!(ranges(100, &[4], 10).await, [(4, 96)]);
    // Rows that no offset tells of are in the first piece.
    assert_eq!(ranges(100, &[40, 90], 1000).await, [(0, 90), (90, 10)]);
}

#[tokio::test]
async fn files_without_usable_offsets_split_by_size() {
    let expected = [(0, 40), (40, 40), (80, 20)];
    assert_eq!(ranges(100, &[], 40).await, expected);
    // Out of order, equal, beyond the end, negative.
    for offsets in [&[50i64, 4][..], &[4, 4], &[4, 100], &[-4, 50]] {
        assert_eq!(ranges(100, offsets, 40).await, expected, "{offsets:?}");
    }
    assert_eq!(ranges(80, &[], 40).await, [(0, 40), (40, 40)]);
    assert_eq!(ranges(0, &[], 40).await, [(0, 0)]);
}

#[tokio::test]
async fn a_file_that_claims_an_absurd_size_gives_bounded_pieces() {
    for (size, target) in [(i64::MAX as u64, 1), (i64::MAX as u64, 128 * MB), (MAX_PIECES, 1)] {
        let pieces = ranges(size, &[], target).await;
        assert_eq!(
            pieces.len() as u64,
            MAX_PIECES.min(size.div_ceil(target)),
            "{size} {target}"
        );
        let ends: Vec<u64> = pieces.iter().map(|(start, length)| start + length).collect();
        assert!(
            pieces
                .iter()
                .skip(1)
                .map(|(start, _)| *start)
                .eq(ends[..ends.len() - 1].iter().copied())
        );
        assert_eq!(ends.last(), Some(&size));
    }
}

#[tokio::test]
async fn groups_weigh_bytes_or_the_cost_of_opening() {
    let files = (0..4).map(|i| sized(&format!("f{i}"), MB, &[])).collect();
    let tasks = tasks(files).await;
    let options = SplitOptions {
        target_size_bytes: 8 * MB,
        lookback: 10,
        open_file_cost_bytes: 4 * MB,
    };
    let sizes =
        |options: &SplitOptions| -> Vec<usize> { plan_groups(&tasks, options).unwrap().iter().map(Vec::len).collect() };
    assert_eq!(sizes(&options), [2, 2]);
    let free = SplitOptions {
        open_file_cost_bytes: 0,
        ..options
    };
    assert_eq!(sizes(&free), [4]);
}

#[tokio::test]
async fn neighbouring_splits_of_a_group_are_joined() {
    let tasks = tasks(vec![sized("f", 100, &[4, 20, 40, 90])]).await;
    let options = SplitOptions {
        target_size_bytes: 60,
        lookback: 1,
        open_file_cost_bytes: 0,
    };
    let groups = plan_groups(&tasks, &options).unwrap();
    let ranges: Vec<Vec<(u64, u64)>> = groups
        .iter()
        .map(|g| g.iter().map(|s| (s.start, s.length)).collect())
        .collect();
    // The third split opens a heavier group, which is closed first.
    assert_eq!(ranges, [vec![(40, 50)], vec![(4, 36), (90, 10)]]);
}

#[test]
fn options_are_read_from_table_properties() {
    let properties = |pairs: &[(&str, &str)]| pairs.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
    let defaults = SplitOptions::from_properties(&properties(&[])).unwrap();
    assert_eq!(defaults, SplitOptions::default());
    assert_eq!((defaults.target_size_bytes, defaults.lookback), (134_217_728, 10));
    let set = properties(&[("read.split.target-size", "1000"), ("read.split.open-file-cost", "0")]);
    let set = SplitOptions::from_properties(&set).unwrap();
    assert_eq!((set.target_size_bytes, set.open_file_cost_bytes), (1000, 0));
    for (key, value) in [
        ("read.split.target-size", "0"),
        ("read.split.target-size", "-1"),
        ("read.split.planning-lookback", "0"),
        ("read.split.open-file-cost", "much"),
    ] {
        assert!(
            SplitOptions::from_properties(&properties(&[(key, value)])).is_err(),
            "{key}={value}"
        );
    }
}

#[test]
fn small_scans_are_split_finer_but_not_too_fine() {
    let options = SplitOptions::default();
    let adjusted = |scan: u64, slots: u64| options.adjusted(scan, slots).target_size_bytes;
    assert_eq!(adjusted(1024 * MB, 8), 128 * MB);
    assert_eq!(adjusted(1024 * MB, 16), 64 * MB);
    assert_eq!(adjusted(64 * MB, 16), 16 * MB);
    assert_eq!(adjusted(10_000 * MB, 4), 128 * MB);
}
