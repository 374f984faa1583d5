//! Names of new files, as Java's writers choose them.

use std::sync::atomic::{AtomicU32, Ordering};

use uuid::Uuid;

use crate::manifest::data_file::FileFormat;

/// `snap-<snapshot id>-<attempt>-<commit uuid>.avro`: a manifest list. Attempts of one commit count from 1.
pub fn manifest_list_name(snapshot_id: i64, attempt: u32, commit: Uuid) -> String {
    format!("snap-{snapshot_id}-{attempt}-{commit}.avro")
}

/// `<commit uuid>-m<index>.avro`: a manifest of a commit.
pub fn manifest_name(commit: Uuid, index: u32) -> String {
    format!("{commit}-m{index}.avro")
}

/// The extension of data files of this format, with its dot.
pub fn extension(format: FileFormat) -> &'static str {
    match format {
        FileFormat::Parquet => ".parquet",
        FileFormat::Avro => ".avro",
        FileFormat::Orc => ".orc",
        FileFormat::Puffin => ".puffin",
    }
}

/// Names the data and delete files of one writing task (Java `OutputFileFactory`):
/// `<partition>-<task>-<operation>-<count>[-suffix].<ext>`.
#[derive(Debug)]
pub struct DataFileNames {
    partition_id: u32,
    task_id: u64,
    operation_id: String,
    suffix: Option<String>,
    count: AtomicU32,
}

impl DataFileNames {
    /// Names for one task. `operation_id` must be unique to the statement: a UUID.
    pub fn new(partition_id: u32, task_id: u64, operation_id: impl Into<String>) -> Self {
        DataFileNames {
            partition_id,
            task_id,
            operation_id: operation_id.into(),
            suffix: None,
            count: AtomicU32::new(0),
        }
    }

    /// The same with a suffix before the extension, such as `deletes`.
    #[must_use]
    pub fn with_suffix(mut self, suffix: impl Into<String>) -> Self {
        self.suffix = Some(suffix.into());
        self
    }

    /// The next name; counts from 1.
    pub fn next_name(&self, format: FileFormat) -> String {
        let count = self.count.fetch_add(1, Ordering::Relaxed) + 1;
        let suffix = match &self.suffix {
            Some(suffix) => format!("-{suffix}"),
            None => String::new(),
        };
        format!(
            "{:05}-{}-{}-{count:05}{suffix}{}",
            self.partition_id,
            self.task_id,
            self.operation_id,
            extension(format)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files() {
        let uuid = Uuid::from_u128(1);
        let text = "00000000-0000-0000-0000-000000000001";
        assert_eq!(manifest_list_name(-3, 1, uuid), format!("snap--3-1-{text}.avro"));
        assert_eq!(manifest_name(uuid, 0), format!("{text}-m0.avro"));
        let names = DataFileNames::new(3, 41, "op");
        assert_eq!(names.next_name(FileFormat::Parquet), "00003-41-op-00001.parquet");
        assert_eq!(names.next_name(FileFormat::Orc), "00003-41-op-00002.orc");
        let names = DataFileNames::new(0, 0, "op").with_suffix("deletes");
        assert_eq!(names.next_name(FileFormat::Puffin), "00000-0-op-00001-deletes.puffin");
    }
}
