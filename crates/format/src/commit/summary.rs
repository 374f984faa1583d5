//! The summary of a snapshot: counts of what a change added and removed, per partition on request, and totals
//! carried over from the previous snapshot (spec, "Snapshots"; field names of Java's `SnapshotSummary`).

use std::collections::BTreeMap;

use crate::error::{Error, Result};
use crate::manifest::data_file::{DataContent, DataFile};
use crate::spec::snapshot::Properties;

/// Counts of added or removed files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct FileCounts {
    bytes: i64,
    data_files: i64,
    records: i64,
    delete_files: i64,
    equality_delete_files: i64,
    position_delete_files: i64,
    deletion_vectors: i64,
    position_deletes: i64,
    equality_deletes: i64,
}

impl FileCounts {
    fn count(&mut self, file: &DataFile) {
        let one = |n: &mut i64| *n = n.saturating_add(1);
        let rows = |n: &mut i64| *n = n.saturating_add(file.record_count);
        // A deletion vector is one blob of a file that other vectors share.
        let bytes = match file.content_size_in_bytes {
            Some(bytes) if file.is_deletion_vector() => bytes,
            _ => file.file_size_in_bytes,
        };
        self.bytes = self.bytes.saturating_add(bytes);
        match file.content {
            DataContent::Data => {
                one(&mut self.data_files);
                rows(&mut self.records);
            }
            DataContent::PositionDeletes => {
                one(&mut self.delete_files);
                rows(&mut self.position_deletes);
                if file.is_deletion_vector() {
                    one(&mut self.deletion_vectors);
                } else {
                    one(&mut self.position_delete_files);
                }
            }
            DataContent::EqualityDeletes => {
                one(&mut self.delete_files);
                one(&mut self.equality_delete_files);
                rows(&mut self.equality_deletes);
            }
        }
    }

    fn merge(&mut self, other: &FileCounts) {
        let add = |n: &mut i64, m: i64| *n = n.saturating_add(m);
        add(&mut self.bytes, other.bytes);
        add(&mut self.data_files, other.data_files);
        add(&mut self.records, other.records);
        add(&mut self.delete_files, other.delete_files);
        add(&mut self.equality_delete_files, other.equality_delete_files);
        add(&mut self.position_delete_files, other.position_delete_files);
        add(&mut self.deletion_vectors, other.deletion_vectors);
        add(&mut self.position_deletes, other.position_deletes);
        add(&mut self.equality_deletes, other.equality_deletes);
    }
}

/// What was added to and removed from a table or a partition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Counts {
    added: FileCounts,
    removed: FileCounts,
}

impl Counts {
    /// The fields that are not zero, in Java's order.
    fn fields(&self) -> Vec<(&'static str, i64)> {
        let (a, r) = (&self.added, &self.removed);
        [
            ("added-data-files", a.data_files),
            ("deleted-data-files", r.data_files),
            ("added-equality-delete-files", a.equality_delete_files),
            ("removed-equality-delete-files", r.equality_delete_files),
            ("added-position-delete-files", a.position_delete_files),
            ("removed-position-delete-files", r.position_delete_files),
            ("added-delete-files", a.delete_files),
            ("removed-delete-files", r.delete_files),
            ("added-dvs", a.deletion_vectors),
            ("removed-dvs", r.deletion_vectors),
            ("added-records", a.records),
            ("deleted-records", r.records),
            ("added-files-size", a.bytes),
            ("removed-files-size", r.bytes),
            ("added-position-deletes", a.position_deletes),
            ("removed-position-deletes", r.position_deletes),
            ("added-equality-deletes", a.equality_deletes),
            ("removed-equality-deletes", r.equality_deletes),
        ]
        .into_iter()
        .filter(|(_, n)| *n > 0)
        .collect()
    }
}

/// Totals: the field, and the fields that raise and lower it.
const TOTALS: [(&str, &str, &str); 6] = [
    ("total-records", "added-records", "deleted-records"),
    ("total-files-size", "added-files-size", "removed-files-size"),
    ("total-data-files", "added-data-files", "deleted-data-files"),
    ("total-delete-files", "added-delete-files", "removed-delete-files"),
    (
        "total-position-deletes",
        "added-position-deletes",
        "removed-position-deletes",
    ),
    (
        "total-equality-deletes",
        "added-equality-deletes",
        "removed-equality-deletes",
    ),
];

/// The snapshot whose totals are carried on.
#[derive(Debug, Clone, Copy)]
pub(crate) enum PreviousTotals<'a> {
    /// The branch has no snapshot: totals start at 0.
    Empty,
    /// The summary of the branch's snapshot; a total that is missing or unusable there stays away.
    Summary(&'a Properties),
}

/// Collects a summary.
#[derive(Debug, Clone, Default)]
pub(crate) struct SummaryBuilder {
    counts: Counts,
    partitions: BTreeMap<String, Counts>,
    duplicate_deletes: i64,
}

impl SummaryBuilder {
    /// Counts an added file; `partition_path` is its partition as a path, empty when unpartitioned.
    pub(crate) fn added(&mut self, file: &DataFile, partition_path: &str) {
        self.counts.added.count(file);
        self.partition(partition_path).added.count(file);
    }

    /// Counts a removed file.
    pub(crate) fn removed(&mut self, file: &DataFile, partition_path: &str) {
        self.counts.removed.count(file);
        self.partition(partition_path).removed.count(file);
    }

    /// Counts entries that listed an already removed file once more.
    pub(crate) fn duplicate_deletes(&mut self, count: i64) {
        self.duplicate_deletes = self.duplicate_deletes.saturating_add(count);
    }

    /// Adds what another builder counted.
    pub(crate) fn merge(&mut self, other: &SummaryBuilder) {
        self.counts.added.merge(&other.counts.added);
        self.counts.removed.merge(&other.counts.removed);
        for (path, counts) in &other.partitions {
            let mine = self.partition(path);
            mine.added.merge(&counts.added);
            mine.removed.merge(&counts.removed);
        }
        self.duplicate_deletes(other.duplicate_deletes);
    }

    /// Rows added and removed so far.
    pub(crate) fn records(&self) -> (i64, i64) {
        (self.counts.added.records, self.counts.removed.records)
    }

    fn partition(&mut self, path: &str) -> &mut Counts {
        if !self.partitions.contains_key(path) {
            self.partitions.insert(path.to_string(), Counts::default());
        }
        self.partitions.entry(path.to_string()).or_default()
    }

    /// The finished summary: counts, partitions when at most `partition_limit` changed, totals.
    pub(crate) fn build(&self, partition_limit: usize, previous: PreviousTotals<'_>) -> Properties {
        let mut summary = Properties::new();
        for (field, count) in self.counts.fields() {
            summary.insert(field.to_string(), count.to_string());
        }
        if self.duplicate_deletes > 0 {
            summary.insert("deleted-duplicate-files".into(), self.duplicate_deletes.to_string());
        }
        summary.insert("changed-partition-count".into(), self.partitions.len().to_string());
        if !self.partitions.is_empty() && self.partitions.len() <= partition_limit {
            summary.insert("partition-summaries-included".into(), "true".into());
            for (path, counts) in self.partitions.iter().filter(|(path, _)| !path.is_empty()) {
                let fields: Vec<String> = counts.fields().iter().map(|(f, n)| format!("{f}={n}")).collect();
                summary.insert(format!("partitions.{path}"), fields.join(","));
            }
        }
        self.add_totals(&mut summary, previous);
        summary
    }

    fn add_totals(&self, summary: &mut Properties, previous: PreviousTotals<'_>) {
        for (total, added, removed) in TOTALS {
            let before = match previous {
                PreviousTotals::Empty => Some(0),
                PreviousTotals::Summary(old) => old.get(total).and_then(|t| t.parse::<i64>().ok()),
            };
            let change = |field: &str| summary.get(field).and_then(|n| n.parse::<i64>().ok()).unwrap_or(0);
            let after = before
                .filter(|n| *n >= 0)
                .and_then(|n| n.checked_add(change(added)))
                .and_then(|n| n.checked_sub(change(removed)))
                .filter(|n| *n >= 0);
            if let Some(after) = after {
                summary.insert(total.to_string(), after.to_string());
            }
        }
    }
}

/// Adds the caller's properties to a finished summary.
///
/// # Errors
/// `InvalidInput` when a property would replace a counted field or the operation, which metadata keeps beside them.
pub(crate) fn add_properties(summary: &mut Properties, properties: &Properties) -> Result<()> {
    for (key, value) in properties {
        if summary.contains_key(key) || key == "operation" {
            return Err(Error::invalid(format!(
                "snapshot property '{key}' is reserved for the commit itself"
            )));
        }
        summary.insert(key.clone(), value.clone());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::data_file::FileFormat;

    fn data(records: i64, bytes: i64) -> DataFile {
        DataFile {
            record_count: records,
            file_size_in_bytes: bytes,
            ..DataFile::new(DataContent::Data, "f", FileFormat::Parquet)
        }
    }

    fn text(summary: &Properties, key: &str) -> Option<String> {
        summary.get(key).cloned()
    }

    #[test]
    fn counts_by_kind_of_file() {
        let mut builder = SummaryBuilder::default();
        builder.added(&data(10, 100), "");
        let vector = DataFile {
            record_count: 3,
            file_size_in_bytes: 1_000,
            content_size_in_bytes: Some(40),
            ..DataFile::new(DataContent::PositionDeletes, "v", FileFormat::Puffin)
        };
        builder.added(&vector, "");
        let positions = DataFile {
            record_count: 4,
            file_size_in_bytes: 7,
            ..DataFile::new(DataContent::PositionDeletes, "p", FileFormat::Parquet)
        };
        builder.removed(&positions, "");
        let keys = DataFile {
            record_count: 5,
            file_size_in_bytes: 8,
            ..DataFile::new(DataContent::EqualityDeletes, "e", FileFormat::Parquet)
        };
        builder.removed(&keys, "");
        let summary = builder.build(0, PreviousTotals::Summary(&Properties::new()));
        let expected = [
            ("added-data-files", "1"),
            ("added-delete-files", "1"),
            ("added-dvs", "1"),
            ("added-files-size", "140"),
            ("added-position-deletes", "3"),
            ("added-records", "10"),
            ("changed-partition-count", "1"),
            ("removed-delete-files", "2"),
            ("removed-equality-delete-files", "1"),
            ("removed-equality-deletes", "5"),
            ("removed-files-size", "15"),
            ("removed-position-delete-files", "1"),
            ("removed-position-deletes", "4"),
        ];
        let expected: Properties = expected.map(|(k, v)| (k.to_string(), v.to_string())).into();
        assert_eq!(summary, expected);
    }

    #[test]
    fn totals_start_at_zero_and_are_dropped_when_they_cannot_be_right() {
        let mut builder = SummaryBuilder::default();
        builder.removed(&data(10, 100), "");
        let first = builder.build(0, PreviousTotals::Empty);
        assert_eq!(text(&first, "total-records"), None);
        assert_eq!(text(&first, "total-delete-files"), Some("0".into()));

        let previous = Properties::from([
            ("total-records".to_string(), "25".to_string()),
            ("total-data-files".to_string(), "x".to_string()),
        ]);
        let next = builder.build(0, PreviousTotals::Summary(&previous));
        assert_eq!(text(&next, "total-records"), Some("15".into()));
        assert_eq!(text(&next, "total-data-files"), None);
        assert_eq!(text(&next, "total-files-size"), None);
    }

    #[test]
    fn partitions_are_listed_up_to_the_limit() {
        let mut builder = SummaryBuilder::default();
        builder.added(&data(1, 10), "a=1");
        builder.removed(&data(2, 20), "a=1");
        builder.added(&data(3, 30), "a=2");
        let listed = builder.build(2, PreviousTotals::Empty);
        assert_eq!(text(&listed, "partition-summaries-included"), Some("true".into()));
        assert_eq!(
            text(&listed, "partitions.a=1"),
            Some(
                "added-data-files=1,deleted-data-files=1,added-records=1,deleted-records=2,added-files-size=10,\
                 removed-files-size=20"
                    .into()
            )
        );
        let omitted = builder.build(1, PreviousTotals::Empty);
        assert_eq!(text(&omitted, "partition-summaries-included"), None);
        assert_eq!(text(&omitted, "partitions.a=2"), None);
        assert_eq!(text(&omitted, "changed-partition-count"), Some("2".into()));
    }

    #[test]
    fn counted_fields_cannot_be_replaced() {
        let mut summary = SummaryBuilder::default().build(0, PreviousTotals::Empty);
        let lie = Properties::from([("total-records".to_string(), "7".to_string())]);
        assert!(add_properties(&mut summary, &lie).is_err());
        let lie = Properties::from([("operation".to_string(), "append".to_string())]);
        assert!(add_properties(&mut summary, &lie).is_err());
        let fine = Properties::from([("wap.id".to_string(), "w1".to_string())]);
        add_properties(&mut summary, &fine).unwrap();
        assert_eq!(text(&summary, "wap.id"), Some("w1".into()));
    }
}
