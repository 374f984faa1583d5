//! How a table is read, besides which state of it.

use tarn_format::scan::range::SnapshotRange;
use tarn_format::scan::split::SplitOptions;
use tarn_format::spec::snapshot::Properties;

/// Whether answers may come from metadata (`aggregate-push-down-enabled`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AnswersFrom {
    /// Counts, minimum and maximum from manifests where they are exact.
    #[default]
    Metadata,
    /// Everything from data files.
    Data,
}

/// Choices of one read. The default leaves them to the table and the engine.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReadOptions {
    /// Bytes per group of files and per piece of a file (`split-size`).
    pub split_size_bytes: Option<u64>,
    /// Groups open at a time while packing (`lookback`).
    pub split_lookback: Option<usize>,
    /// Bytes that opening a file counts as (`file-open-cost`).
    pub open_file_cost_bytes: Option<u64>,
    /// Where counts and bounds come from.
    pub answers: AnswersFrom,
    /// Reads the rows that `append` snapshots of this range added, instead of one state.
    pub appended: Option<SnapshotRange>,
}

impl ReadOptions {
    /// How files are packed into groups when that was asked for; `None` leaves it to the engine, which cuts files into
    /// as many groups as run at a time.
    ///
    /// # Errors
    /// `InvalidInput` for table properties that are no sizes.
    pub(crate) fn split_options(&self, properties: &Properties) -> tarn_format::Result<Option<SplitOptions>> {
        let given =
            self.split_size_bytes.is_some() || self.split_lookback.is_some() || self.open_file_cost_bytes.is_some();
        if !given {
            return Ok(None);
        }
        let table = SplitOptions::from_properties(properties)?;
        Ok(Some(SplitOptions {
            target_size_bytes: self.split_size_bytes.unwrap_or(table.target_size_bytes),
            lookback: self.split_lookback.unwrap_or(table.lookback),
            open_file_cost_bytes: self.open_file_cost_bytes.unwrap_or(table.open_file_cost_bytes),
        }))
    }
}
