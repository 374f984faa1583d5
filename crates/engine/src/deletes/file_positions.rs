//! The contents of one file of position deletes: which rows of which data files it deletes.

use std::collections::HashMap;

use arrow::array::AsArray;
use arrow::datatypes::Int64Type;
use futures::StreamExt;
use futures::stream::BoxStream;
use tarn_format::deletes::deletion_vector::DeletionVector;
use tarn_format::io::location::{path_key, spelling};
use tarn_format::{Error, Result};

use super::cache::{DeleteCache, vector_size_bytes};
use super::position_reader::DeletedRows;
use crate::format_error;

/// What one data file costs besides its positions, in bytes.
const PER_FILE_BYTES: usize = 160;
/// Positions after which the budget is looked at again: 2 MiB of them at most.
const CHECK_EVERY: usize = 1 << 20;

/// Deleted positions by data file.
#[derive(Debug, Default)]
pub(crate) struct FilePositions {
    /// By the path without its store, see [`path_key`]: as it is spelled, and its positions.
    files: HashMap<Box<str>, Vec<(Box<str>, DeletionVector)>>,
    size_bytes: usize,
}

impl FilePositions {
    /// Reads a file of position deletes to its end.
    ///
    /// # Errors
    /// Those of reading, `Corrupt` for a negative position, `ResourcesExhausted` beyond the cache's budget.
    pub(super) async fn read(
        mut rows: BoxStream<'static, datafusion::error::Result<DeletedRows>>,
        cache: &DeleteCache,
    ) -> Result<Self> {
        let mut read = FilePositions::default();
        let mut unchecked = 0;
        while let Some(rows) = rows.next().await {
            let rows = rows.map_err(format_error)?;
            read.add(&rows)?;
            unchecked += rows.len();
            if unchecked >= CHECK_EVERY {
                unchecked = 0;
                cache.check(read.measure())?;
            }
        }
        read.size_bytes = read.measure();
        cache.check(read.size_bytes)?;
        Ok(read)
    }

    fn add(&mut self, rows: &DeletedRows) -> Result<()> {
        let paths = rows.paths.as_string_view();
        let positions = rows.positions.as_primitive::<Int64Type>();
        let mut start = 0;
        // Files are sorted by path as a rule: one look-up serves a run of rows.
        while start < rows.len() {
            let path = paths.value(start);
            let end = (start + 1..rows.len()).find(|i| paths.value(*i) != path);
            let end = end.unwrap_or(rows.len());
            let vector = self.vector_of(path);
            for position in positions.values().get(start..end).unwrap_or_default() {
                let position =
                    u64::try_from(*position).map_err(|_| Error::corrupt(format!("position {position} is negative")))?;
                vector.insert(position)?;
            }
            start = end;
        }
        Ok(())
    }

    fn vector_of(&mut self, path: &str) -> &mut DeletionVector {
        let spelled = self.files.entry(path_key(path).into()).or_default();
        let index = spelled.iter().position(|(known, _)| known.as_ref() == path);
        let index = index.unwrap_or_else(|| {
            spelled.push((path.into(), DeletionVector::new()));
            spelled.len() - 1
        });
        &mut spelled[index].1
    }

    fn measure(&self) -> usize {
        let of =
            |(path, vector): &(Box<str>, DeletionVector)| PER_FILE_BYTES + 2 * path.len() + vector_size_bytes(vector);
        self.files.values().flatten().map(of).sum()
    }

    /// Memory in bytes, by estimate.
    pub(super) fn size_bytes(&self) -> usize {
        self.size_bytes
    }

    /// The deleted positions of a data file, under all spellings of its path that name it (see [`spelling`]).
    pub(super) fn of(&self, path: &str) -> impl Iterator<Item = &DeletionVector> {
        let spelled = self.files.get(path_key(path)).map(Vec::as_slice).unwrap_or_default();
        let close = move |known: &str| spelling(known, path);
        let best = spelled.iter().filter_map(|(known, _)| close(known)).max();
        let is_meant = move |known: &str| best.is_some_and(|best| close(known) >= Some(best.farthest_beside()));
        spelled
            .iter()
            .filter(move |(known, _)| is_meant(known))
            .map(|(_, vector)| vector)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{Int64Array, StringViewArray};
    use futures::stream;
    use tarn_format::ErrorKind;

    use super::*;

    async fn read(rows: &[(&str, i64)], budget_bytes: u64) -> Result<FilePositions> {
        let batches: Vec<_> = rows
            .chunks(2)
            .map(|rows| {
                Ok(DeletedRows {
                    paths: Arc::new(StringViewArray::from_iter_values(rows.iter().map(|r| r.0))),
                    positions: Arc::new(Int64Array::from_iter_values(rows.iter().map(|r| r.1))),
                    rows: None,
                })
            })
            .collect();
        FilePositions::read(stream::iter(batches).boxed(), &DeleteCache::new(budget_bytes)).await
    }

    fn positions(of: &FilePositions, path: &str) -> Vec<u64> {
        let mut all = DeletionVector::new();
        of.of(path).for_each(|vector| all.union_with(vector));
        all.iter().collect()
    }

    #[tokio::test]
    async fn positions_are_kept_by_file_in_any_order() {
        let rows = [("/t/a", 7), ("/t/b", 1), ("/t/a", 3), ("/t/a", 7), ("/t/a", 4)];
        let read = read(&rows, 1 << 20).await.unwrap();
        assert_eq!(positions(&read, "/t/a"), [3, 4, 7]);
        assert_eq!(positions(&read, "/t/b"), [1]);
        assert_eq!(positions(&read, "/t/c"), [0_u64; 0]);
    }

    #[tokio::test]
    async fn a_file_is_found_under_other_spellings_of_its_path() {
        let rows = [
            ("s3a://b/t/a", 1),
            ("s3://b/t/a", 2),
            ("s3://other/t/a", 3),
            ("/t/a", 4),
        ];
        let read = read(&rows, 1 << 20).await.unwrap();
        assert_eq!(positions(&read, "s3://b/t/a"), [1, 2, 4]);
        let hosts = [("hdfs://nn1/t/a", 1), ("hdfs://nn2/t/a", 2)];
        let read = self::read(&hosts, 1 << 20).await.unwrap();
        assert_eq!(positions(&read, "hdfs://nn2/t/a"), [2]);
        assert_eq!(positions(&read, "hdfs://nn3/t/a"), [1, 2]);
    }

    #[tokio::test]
    async fn negative_positions_and_too_many_are_refused() {
        let error = read(&[("/t/a", -1)], 1 << 20).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt);
        let error = read(&[("/t/a", 1), ("/t/b", 1)], 200).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ResourcesExhausted);
    }
}
