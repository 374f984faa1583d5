//! Splitting files and packing the pieces into groups of about one size (Java: `TableScanUtil`, `BaseFileScanTask`).

use super::bin_packing::{BinPacking, CloseFirst};
use super::task::FileScanTask;
use crate::error::{Error, Result};
use crate::manifest::data_file::FileFormat;
use crate::spec::snapshot::Properties;

/// No adjusted split is smaller.
const MIN_SPLIT_SIZE_BYTES: u64 = 16 * 1024 * 1024;

/// No file without offsets is split into more pieces: at the default target size that is 1.25 TiB.
pub const MAX_PIECES: u64 = 10_000;

/// How files are split and grouped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SplitOptions {
    /// Bytes per group, and per split where a file tells no offsets (`read.split.target-size`); not 0.
    pub target_size_bytes: u64,
    /// Groups open at a time (`read.split.planning-lookback`); not 0.
    pub lookback: usize,
    /// Bytes that opening a file counts as (`read.split.open-file-cost`).
    pub open_file_cost_bytes: u64,
}

impl Default for SplitOptions {
    fn default() -> Self {
        SplitOptions {
            target_size_bytes: 128 * 1024 * 1024,
            lookback: 10,
            open_file_cost_bytes: 4 * 1024 * 1024,
        }
    }
}

impl SplitOptions {
    /// The options a table's properties ask for.
    ///
    /// # Errors
    /// `InvalidInput` for a value that is no number or out of range.
    pub fn from_properties(properties: &Properties) -> Result<Self> {
        let read = |key: &str, default: u64| match properties.get(key) {
            None => Ok(default),
            Some(text) => text
                .parse::<u64>()
                .map_err(|e| Error::invalid(format!("table property {key} is no size: '{text}'")).with_source(e)),
        };
        let default = SplitOptions::default();
        let lookback = read("read.split.planning-lookback", default.lookback as u64)?;
        let options = SplitOptions {
            target_size_bytes: read("read.split.target-size", default.target_size_bytes)?,
            lookback: usize::try_from(lookback).unwrap_or(usize::MAX),
            open_file_cost_bytes: read("read.split.open-file-cost", default.open_file_cost_bytes)?,
        };
        options.check()?;
        Ok(options)
    }

    fn check(&self) -> Result<()> {
        if self.target_size_bytes == 0 {
            return Err(Error::invalid("split size must be > 0"));
        }
        if self.lookback == 0 {
            return Err(Error::invalid("split planning lookback must be > 0"));
        }
        Ok(())
    }

    /// A split size that gives every one of `parallelism` slots work, where the scan is large enough.
    #[must_use]
    pub fn adjusted(mut self, scan_size_bytes: u64, parallelism: u64) -> Self {
        let parallelism = parallelism.max(1);
        let size = self.target_size_bytes.max(1);
        if scan_size_bytes.div_ceil(size) < parallelism {
            self.target_size_bytes = (scan_size_bytes / parallelism).max(size.min(MIN_SPLIT_SIZE_BYTES));
        }
        self
    }
}

/// A range of bytes of a file to read: the row groups, stripes or blocks that start in it.
#[derive(Debug, Clone)]
pub struct FileSplit {
    /// The file.
    pub task: FileScanTask,
    /// First byte.
    pub start: u64,
    /// Number of bytes.
    pub length: u64,
}

impl FileSplit {
    fn weight(&self, open_file_cost_bytes: u64) -> u64 {
        let bytes = self.length.saturating_add(self.task.delete_size_in_bytes());
        let files = 1 + self.task.deletes().len() as u64;
        bytes.max(files.saturating_mul(open_file_cost_bytes))
    }

    fn continues(&self, next: &FileSplit) -> bool {
        let is_same_file =
            std::sync::Arc::ptr_eq(&self.task.entries, &next.task.entries) && self.task.row == next.task.row;
        is_same_file && self.start.checked_add(self.length) == Some(next.start)
    }
}

/// What files begin with: rows begin behind it.
const MAGIC_BYTES: u64 = 4;

/// Splits a file at its offsets, or into pieces of `target_size_bytes` where it tells none. Pieces of a file so large
/// that there would be more than [`MAX_PIECES`] are larger: sizes are what metadata claims, and memory is ours.
pub fn split_file(task: &FileScanTask, target_size_bytes: u64) -> Vec<FileSplit> {
    let size = u64::try_from(task.file_size_in_bytes()).unwrap_or(0);
    let piece = |start: u64, length: u64| FileSplit {
        task: task.clone(),
        start,
        length,
    };
    // In Avro, rows' positions are counted from the first on: such a file is read in one piece.
    let is_splittable = matches!(task.file_format(), FileFormat::Parquet | FileFormat::Orc);
    if !is_splittable || size == 0 {
        return vec![piece(0, size)];
    }
    if let Some(mut offsets) = usable_offsets(task.split_offsets(), size) {
        // Rows before the first offset belong to no piece otherwise.
        if let Some(first) = offsets.first_mut().filter(|first| **first > MAGIC_BYTES) {
            *first = 0;
        }
        let ends = offsets.iter().skip(1).copied().chain([size]);
        return offsets.iter().zip(ends).map(|(s, end)| piece(*s, end - s)).collect();
    }
    let step = target_size_bytes.max(size.div_ceil(MAX_PIECES)).max(1);
    (0..size.div_ceil(step))
        .map(|i| i * step)
        .map(|start| piece(start, step.min(size - start)))
        .collect()
}

/// Offsets that ascend strictly and lie in the file; `None` otherwise.
fn usable_offsets(offsets: &[i64], size: u64) -> Option<Vec<u64>> {
    let offsets: Vec<u64> = offsets.iter().map(|o| u64::try_from(*o).ok()).collect::<Option<_>>()?;
    let is_ascending = offsets.windows(2).all(|pair| pair[0] < pair[1]);
    (is_ascending && *offsets.last()? < size).then_some(offsets)
}

/// Splits files and packs the pieces into groups, each for one reader. Neighbouring pieces of a file that land in one
/// group are joined again.
///
/// # Errors
/// `InvalidInput` for a size or lookback of 0.
pub fn plan_groups(tasks: &[FileScanTask], options: &SplitOptions) -> Result<Vec<Vec<FileSplit>>> {
    options.check()?;
    let splits = tasks
        .iter()
        .flat_map(|task| split_file(task, options.target_size_bytes));
    let packing = BinPacking::new(options.target_size_bytes, options.lookback, CloseFirst::Heaviest)?;
    let groups = packing.pack(splits, |split| split.weight(options.open_file_cost_bytes));
    Ok(groups.into_iter().map(join_neighbours).collect())
}

fn join_neighbours(splits: Vec<FileSplit>) -> Vec<FileSplit> {
    let mut joined: Vec<FileSplit> = Vec::with_capacity(splits.len());
    for split in splits {
        match joined.last_mut() {
            Some(last) if last.continues(&split) => last.length = last.length.saturating_add(split.length),
            _ => joined.push(split),
        }
    }
    joined
}

#[cfg(test)]
mod tests;
